package host

import "testing"

func TestParseCPU(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, stat string
		want       CPUTimes
		bad        bool
	}{
		{"today's kernels", "cpu  1 2 3 100 50 4 5 6 7 8\ncpu0 9\n", CPUTimes{21, 171}, false},
		{"oldest kernels", "cpu 1 2 3 100", CPUTimes{6, 106}, false},
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
