package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// inSpace is the states of the processes in the PID namespace of which pid is the first, by the letters of /proc.
func inSpace(pid int) (states string) {
	space, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if of, err := os.Readlink(filepath.Join(dir, "ns/pid")); err != nil || of != space {
			continue
		}
		if b, err := os.ReadFile(filepath.Join(dir, "stat")); err == nil {
			_, rest, _ := strings.Cut(string(b), ") ")
			states += rest[:1]
		}
	}
	return states
}

// TestApart: a child that is apart stops, goes on and ends with all that it has started, also in other sessions.
func TestApart(t *testing.T) {
	t.Parallel()
	s := NewSpawner()
	defer func() { _ = s.Close() }()
	child, err := s.Start(Command{Path: "/bin/sh", Apart: true, Args: []string{"-c",
		"setsid sh -c 'sleep 600; :' & sleep 600; :"}})
	if err != nil && os.Getenv("CI") != "true" {
		t.Skipf("no namespaces: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	until := func(what string, holds func(states string) bool) {
		t.Helper()
		for begun := time.Now(); !holds(inSpace(child.Pid())); time.Sleep(5 * time.Millisecond) {
			if time.Since(begun) > 20*time.Second {
				t.Fatalf("%s: %q", what, inSpace(child.Pid()))
			}
		}
	}
	const all = 4 // two shells, each with a program
	// A shell that waits for its child to become a program does not stop before that has.
	until("not all have started", func(states string) bool { return strings.Count(states, "S") == all })
	if _, err := child.Pause(); err != nil {
		t.Fatal(err)
	}
	until("paused, but not all stand still", func(states string) bool { return strings.Count(states, "T") == all })
	if _, err := child.Resume(); err != nil {
		t.Fatal(err)
	}
	until("resumed, but some stand still", func(states string) bool { return len(states) == all && !strings.Contains(states, "T") })
	pid := child.Pid()
	first, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
	child.Close()
	dirs, _ := filepath.Glob("/proc/[0-9]*/ns/pid")
	for _, dir := range dirs {
		if of, err := os.Readlink(dir); err == nil && of == first {
			t.Errorf("%s is left", dir)
		}
	}
}
