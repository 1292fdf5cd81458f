package guard

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestFiles_Holds: to look has the system make no room for more files, which would hold the process up
// in the middle of what is measured.
func TestFiles_Holds(t *testing.T) {
	before := room(t)
	if err := Files(0); err != nil {
		t.Fatal(err)
	}
	if after := room(t); after != before {
		t.Errorf("there was room for %d files, and is for %d", before, after)
	}
}

// TestFiles: dozens of open files are not a process's own. One that was closed again counts no more,
// wherever its number is.
func TestFiles(t *testing.T) {
	var open []*os.File
	for range mostFiles + 1 {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Skip("this process may not open so many:", err)
		}
		open = append(open, f)
	}
	_ = open[0].Close()
	if Files(0) == nil {
		t.Errorf("%d files are open, and that is fine", len(open)-1)
	}
	if err := Files(len(open)); err != nil { // they may be connections of the process itself
		t.Error(err)
	}
	for _, f := range open[1:] {
		_ = f.Close()
	}
	if err := Files(0); err != nil {
		t.Error(err)
	}
}

// room is for how many files the system has room in this process at present.
func room(t *testing.T) (n int) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	_, rest, _ := strings.Cut(string(b), "\nFDSize:")
	if _, err := fmt.Sscan(rest, &n); err != nil {
		t.Skip("the system does not say:", err)
	}
	return n
}
