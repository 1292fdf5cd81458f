package agent

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
)

// TestComparer_Services: an agent compares its clock with what the time services of its machine say, by samples that
// make a course; a service that has ended says nothing, and is not waited for.
func TestComparer_Services(t *testing.T) {
	text, err := os.ReadFile("../../../base/timeservice/testdata/recorded-chronyc-4.3-synchronised.csv")
	must(t, err)
	dir := t.TempDir()
	program := filepath.Join(dir, "chronyc")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\ncat <<'E'\n"+string(text)+"E\n"), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	var c Comparer
	defer c.Close()
	chrony := func() (found *Service) {
		now := clock.Monotonic()
		for _, s := range c.Compared(now, now).Services {
			if s.Name == "chrony" {
				found = &s
			}
		}
		return found
	}
	var s *Service
	for range 10 { // a machine may be too busy to start a program
		must(t, c.Compare(nil, nil))
		if s = chrony(); s != nil && len(s.Samples) > 0 {
			break
		}
		if s == nil {
			c.Close()
		}
	}
	if s == nil || s.Reference != "UTC" || len(s.Samples) == 0 {
		t.Fatalf("%+v", s)
	}
	last := s.Samples[len(s.Samples)-1].Got
	course, err := clock.Fit(s.Samples, last)
	must(t, err)
	if off := course.Theirs(last) - clock.Wall(); off.Abs() > time.Minute || course.Best() > time.Second {
		t.Errorf("the reference is %v off the wall clock, known to %v", off, course.Best())
	}
	must(t, os.Remove(program))
	for deadline := time.Now().Add(time.Minute); len(s.Samples) > 0; s = chrony() {
		if time.Now().After(deadline) {
			t.Fatal("a service that has ended goes on")
		}
	}
}
