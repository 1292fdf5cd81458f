package proc

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRoomIn: the least limit counts: of the machine, of the group, or of a group around it, in both versions of
// control groups; what a group gives back under pressure is not taken.
func TestRoomIn(t *testing.T) {
	t.Parallel()
	machine := map[string]string{
		"proc/meminfo":                "MemTotal: 9000 kB\nMemAvailable:    8000 kB\n",
		"proc/sys/kernel/threads-max": "5000\n",
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  Room
	}{
		"nothing is known": {nil, Room{Memory: Endless, Tasks: Endless}},
		"no group":         {machine, Room{Memory: 8000 << 10, Tasks: 5000}},
		"version 2, the group around it": {map[string]string{
			"proc/self/cgroup":                  "0::/a/b\n",
			"sys/fs/cgroup/a/memory.max":        "3000000\n",
			"sys/fs/cgroup/a/memory.current":    "2500000\n",
			"sys/fs/cgroup/a/memory.stat":       "anon 1\ninactive_file 400000\n",
			"sys/fs/cgroup/a/b/memory.max":      "max\n",
			"sys/fs/cgroup/a/b/memory.current":  "2500000\n",
			"sys/fs/cgroup/a/b/pids.max":        "100\n",
			"sys/fs/cgroup/a/b/pids.current":    "30\n",
			"sys/fs/cgroup/a/b/unrelated.files": "",
		}, Room{Memory: 900000, Tasks: 70}},
		"version 1": {map[string]string{
			"proc/self/cgroup": "8:pids:/\n4:memory:/x\n0::/\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "3000000\n",
			"sys/fs/cgroup/memory/x/memory.usage_in_bytes": "3500000\n",
			"sys/fs/cgroup/pids/pids.max":                  "max\n",
		}, Room{Memory: 0, Tasks: 5000}},
	} {
		root := t.TempDir()
		for _, files := range []map[string]string{machine, c.files} {
			if c.files == nil {
				break
			}
			for path, text := range files {
				path = filepath.Join(root, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		got := roomIn(root)
		if os.Geteuid() != 0 {
			got.Tasks = min(got.Tasks, c.want.Tasks) // and that of this user
		}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestFootprintOf: a process holds memory and a thread at least; one that is not there, nothing.
func TestFootprintOf(t *testing.T) {
	t.Parallel()
	if f := FootprintOf(os.Getpid()); f.Memory < 1<<20 || f.Tasks < 1 {
		t.Errorf("%+v", f)
	}
	if f := FootprintOf(-1); f != (Footprint{}) {
		t.Errorf("%+v", f)
	}
}
