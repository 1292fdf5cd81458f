package proc

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// RoomLeft reads what is left: the least of what the machine, each control group around this process,
// and the limits of its user allow.
func RoomLeft() Room { return roomIn("/") }

// roomIn is RoomLeft with the files of the system below a folder, for tests.
func roomIn(root string) Room {
	r := Room{Memory: Endless, Tasks: Endless}
	if kib, known := field(filepath.Join(root, "proc/meminfo"), "MemAvailable"); known {
		r.Memory = kib << 10
	}
	if most, known := number(filepath.Join(root, "proc/sys/kernel/threads-max")); known {
		r.Tasks = most
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &limit) == nil && os.Geteuid() != 0 { // root has no such limit
		r.Tasks = min(r.Tasks, limit.Cur)
	}
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return r
	}
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		// A group of version 2 has no controllers in its line, one of version 1 a tree of its own for each.
		for _, of := range strings.Split(parts[1], ",") {
			for at := path.Clean(parts[2]); ; at = path.Dir(at) {
				r.within(filepath.Join(root, "sys/fs/cgroup", of, at))
				if at == "/" || at == "." {
					break
				}
			}
		}
	}
	return r
}

// within bounds r by what a control group has left.
func (r *Room) within(group string) {
	limits := []struct {
		figure            *uint64
		most, used, spare string // spare: a field of memory.stat whose bytes the group gives back
	}{
		{&r.Memory, "memory.max", "memory.current", "inactive_file"},
		{&r.Memory, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
		{&r.Tasks, "pids.max", "pids.current", ""},
	}
	for _, l := range limits {
		most, limited := number(filepath.Join(group, l.most)) // "max" is no number
		used, known := number(filepath.Join(group, l.used))
		if !limited || !known {
			continue
		}
		spare := uint64(0)
		if l.spare != "" {
			spare, _ = field(filepath.Join(group, "memory.stat"), l.spare)
		}
		used -= min(used, spare)
		*l.figure = min(*l.figure, most-min(most, used))
	}
}

// number is what a file of the system holds.
func number(path string) (uint64, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
	return n, err == nil
}

// field is the number behind a name that begins a line of a file of the system.
func field(path, name string) (uint64, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(b)) {
		if words := strings.Fields(line); len(words) > 1 && strings.TrimSuffix(words[0], ":") == name {
			n, err := strconv.ParseUint(words[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// FootprintOf is what process pid holds; zero once it has ended.
func FootprintOf(pid int) (f Footprint) {
	if kib, known := field(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss"); known {
		f.Memory = kib << 10
	} else {
		f.Memory = Memory(pid)
	}
	f.Tasks, _ = field(fmt.Sprintf("/proc/%d/status", pid), "Threads")
	return f
}
