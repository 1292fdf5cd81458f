package fault

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/systems/service"
)

// A Clock is the calendar's clock of programs that ask the C library for the time, as libfaketime tells it.
// Time-outs of most programs follow another clock, which stays right, as when somebody sets the time of a
// machine.
type Clock struct {
	library string // of LD_PRELOAD
	file    string // what the library reads, each time that it is asked
}

// NewClock is a clock that is right at first. It needs a file of its own in folder.
func NewClock(folder string) (*Clock, error) {
	// It is below lib, in a folder for the processor, or below local/lib.
	library, err := service.Find("/usr/l*/*/faketime/libfaketimeMT.so.1", "libfaketime")
	if err != nil {
		return nil, err
	}
	// libfaketime never ends for an allocator that asks for the time before it is ready, as Redis's does.
	// The C library before it has programs take its own.
	if c, err := service.Find("/lib/*/libc.so.6", "libc6"); err == nil {
		library += " " + c
	}
	c := &Clock{library, filepath.Join(folder, "faketime")}
	return c, c.Set(0, 1)
}

// Wrap has a program go by the clock from its start on. The program gets a folder of its own for shared
// memory: libfaketime leaves files there when the program is killed, and names them after its PID alone,
// which a program in another namespace may have, too.
func (c *Clock) Wrap(of service.Command) service.Command {
	env := []string{"LD_PRELOAD=" + c.library, "FAKETIME_TIMESTAMP_FILE=" + c.file, "FAKETIME_NO_CACHE=1",
		"DONT_FAKE_MONOTONIC=1"}
	return ownMemory(of, env)
}

// Set has the clock be ahead of the right time (negative: behind), and, from when the program began, run
// speed times as fast.
func (c *Clock) Set(ahead time.Duration, speed float64) error {
	text := fmt.Sprintf("%+.6f", ahead.Seconds())
	if speed != 1 && speed != 0 {
		text += fmt.Sprintf(" x%g", speed)
	}
	next := c.file + ".new" // the library never sees a part of it
	if err := os.WriteFile(next, []byte(text+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(next, c.file)
}

// Deaf says which of the commands do not listen to a Clock, and why: nil, if all do. Programs in Go ask the
// kernel for the time, without the C library.
func Deaf(commands []service.Command) error {
	var deaf []string
	for _, c := range commands {
		path, err := service.Find(c.Path, c.Path)
		if err != nil {
			return err
		}
		if len(c.Env) > 0 && len(c.Args) > 0 && strings.HasPrefix(c.Args[0], "/") {
			path = c.Args[0] // what a program of ours becomes
		}
		if _, err := buildinfo.ReadFile(path); err == nil {
			deaf = append(deaf, c.Name)
		}
	}
	if deaf == nil {
		return nil
	}
	return fmt.Errorf("%s: a program in Go, whose runtime asks the kernel for the time, so that its clock "+
		"cannot be set alone", strings.Join(deaf, ", "))
}
