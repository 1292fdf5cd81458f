package clock

import (
	"slices"
	"testing"
	"time"
)

func TestParseCPU(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, stat string
		want       CPUTimes
		bad        bool
	}{
		{"today's kernels", "cpu  1 2 3 100 50 4 5 6 7 8\ncpu0 9\n", CPUTimes{21, 171, 6}, false},
		{"oldest kernels", "cpu 1 2 3 100", CPUTimes{6, 106, 0}, false},
		{"empty", "", CPUTimes{}, true},
		{"short", "cpu 1 2 3", CPUTimes{}, true},
		{"not numbers", "cpu a b c d", CPUTimes{}, true},
		{"something else", "intr 1 2 3 4 5", CPUTimes{}, true},
	} {
		got, err := parseCPU([]byte(c.stat))
		if got != c.want || (err != nil) != c.bad {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	if now, err := ReadCPU(); err != nil || now.Total == 0 || now.Busy > now.Total {
		t.Errorf("this machine: %+v, %v", now, err)
	}
}

func TestParseThrottled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, stat string
		want       time.Duration
		bad        bool
	}{
		{"version 1", "nr_periods 9\nnr_throttled 4\nthrottled_time 1500\nnr_bursts 0\n", 1500, false},
		{"version 2", "usage_usec 77\nnr_throttled 4\nthrottled_usec 1500\n", 1500 * time.Microsecond, false},
		{"no quota", "usage_usec 77\nuser_usec 60\n", 0, false},
		{"nothing", "", 0, false},
		{"no number", "throttled_time much", 0, true},
	} {
		got, err := parseThrottled([]byte(c.stat))
		if got != c.want || (err != nil) != c.bad {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
	if now, err := ReadThrottled(); err != nil || now < 0 {
		t.Errorf("this process: %v, %v", now, err)
	}
}

func TestCPUGroups(t *testing.T) {
	t.Parallel()
	const second = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	const first = "30 23 0:27 / /cg/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" +
		"31 23 0:28 / /cg/memory rw - cgroup cgroup rw,memory\n"
	for _, c := range []struct {
		name, groups, mounts string
		want                 []string
	}{
		{"version 2", "0::/user/a\n", second,
			[]string{"/sys/fs/cgroup/user/a", "/sys/fs/cgroup/user", "/sys/fs/cgroup"}},
		{"version 1", "4:memory:/x\n3:cpu,cpuacct:/job\n0::/\n", first, []string{"/cg/cpu,cpuacct/job", "/cg/cpu,cpuacct"}},
		{"a group of its own", "0::/\n", second, []string{"/sys/fs/cgroup"}},
		{"a container", "3:cpu,cpuacct:/docker/7/sub\n", "30 23 0:27 /docker/7 /cg/cpu rw - cgroup cgroup rw,cpu\n",
			[]string{"/cg/cpu/sub", "/cg/cpu"}},
		{"out of sight", "0::/../../other\n", second, []string{"/sys/fs/cgroup"}},
		{"not mounted", "0::/a\n", first, nil},
		{"not to be read", "a\n", "b\n", nil},
	} {
		if got := cpuGroups([]byte(c.groups), []byte(c.mounts)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
