package clock

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ReadThrottled is for how long the control groups of this process, its own and those
// above it, have been kept from running by a quota since they were made, summed over
// groups and processors. It is 0 where there are none that this process can see.
func ReadThrottled() (total time.Duration, err error) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0, fmt.Errorf("read throttling: %w", err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return 0, fmt.Errorf("read throttling: %w", err)
	}
	for _, dir := range cpuGroups(groups, mounts) {
		stat, err := os.ReadFile(filepath.Join(dir, "cpu.stat"))
		if err != nil {
			continue // the controller is not on in this group
		}
		d, err := parseThrottled(stat)
		if err != nil {
			return 0, fmt.Errorf("read throttling: %s: %w", dir, err)
		}
		total += d
	}
	return total, nil
}

// cpuGroups are the folders of the control groups that may have a quota of processor
// time, from /proc/self/cgroup and /proc/self/mountinfo: of version 1 those of the
// controller cpu, of version 2 all. Each with those above it, up to the mount.
func cpuGroups(groups, mounts []byte) (dirs []string) {
	for line := range strings.Lines(string(groups)) {
		// hierarchy:controllers:path; of version 2 no controllers.
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 || parts[1] != "" && !hasWord(parts[1], "cpu") {
			continue
		}
		root, mount := cgroupMount(mounts, parts[1] == "")
		if mount == "" {
			continue
		}
		dir := mount // what there is to see of a group outside of this namespace
		below, err := filepath.Rel(root, parts[2])
		if err == nil && filepath.IsLocal(below) && !strings.HasPrefix(parts[2], "/..") {
			dir = filepath.Join(mount, below)
		}
		for ; len(dir) > len(mount); dir = filepath.Dir(dir) {
			dirs = append(dirs, dir)
		}
		dirs = append(dirs, mount)
	}
	return dirs
}

// cgroupMount is where the hierarchy of version 2, or that of version 1 which has the
// controller cpu, is mounted, and which of its groups stands there; "" if it is not.
func cgroupMount(mounts []byte, second bool) (root, mount string) {
	for line := range strings.Lines(string(mounts)) {
		// id parent device root mount options ... - type source options
		before, after, _ := strings.Cut(line, " - ")
		head, tail := strings.Fields(before), strings.Fields(after)
		if len(head) < 5 || len(tail) < 3 {
			continue
		}
		if second && tail[0] == "cgroup2" || !second && tail[0] == "cgroup" && hasWord(tail[2], "cpu") {
			return head[3], head[4]
		}
	}
	return "", ""
}

// hasWord says whether a list with commas has such a word.
func hasWord(list, word string) bool {
	return slices.Contains(strings.Split(list, ","), word)
}

// parseThrottled reads a cpu.stat: throttled_time in ns of version 1, throttled_usec
// of version 2. A group that has no quota may have neither.
func parseThrottled(stat []byte) (time.Duration, error) {
	for line := range bytes.Lines(stat) {
		fields := bytes.Fields(line)
		if len(fields) != 2 {
			continue
		}
		unit := map[string]time.Duration{
			"throttled_time": time.Nanosecond, "throttled_usec": time.Microsecond,
		}[string(fields[0])]
		if unit == 0 {
			continue
		}
		n, err := strconv.ParseInt(string(fields[1]), 10, 64)
		return time.Duration(n) * unit, err
	}
	return 0, nil
}
