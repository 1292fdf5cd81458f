// Package isolate has work done in a process of its own that runs code of plugins. Such
// code may exit, overflow its stack or take all memory, and Go can catch none of that. The
// process is watched and limited as those of a simulated run are. It ends by saying what it
// came to; if it ends without that, the work has failed, whatever its exit code is.
package isolate

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/internal/worlds/telemetry"
)

// Work is what a process of its own does.
type Work struct {
	Exe  string   // the program, whose main function calls Do with these arguments
	Args []string // without its own name
	Name string   // that it finds as its own
	// Called is what errors call the work if nobody knows which trial ran, as "bench verify bully".
	Called string
	// Out and Err are what the work writes to; nil: nothing.
	Out, Err *os.File
	// Signals are passed on; nil: there are none.
	Signals <-chan os.Signal
}

// A Result is what work came to.
type Result struct {
	Code   int    // exit code
	Output []byte // as Do's function returned it
	// Said is what plugins wrote to their standard output and error, or of much its beginning
	// and its end.
	Said string
}

// A Death is the error of work whose process ended without a result.
type Death struct {
	Trials []string // that ran then, by their names; one of them is to blame
	Over   bool     // none ran any more: these were the last
	Called string   // the work; it stands for them if there are none
	Why    string
	Stderr string // what the process wrote last
}

func (d *Death) Error() string {
	const most = 2
	who := strings.Join(d.Trials[:min(most, len(d.Trials))], ", or ")
	if more := len(d.Trials) - most; more > 0 {
		who += fmt.Sprintf(", or one of %d more", more)
	}
	switch {
	case who == "":
		who = d.Called
	case d.Over:
		who = d.Called + ", after " + who
	}
	return proc.Harmless(who + ": " + d.Why)
}

// A closing is the last word of a process that does work.
type closing struct {
	Code   int
	Output []byte
	Left   string // whose goroutine is left behind, and where it was started; empty: none is
}

// Possible says whether this process can have work done by another one. One that does such
// work itself need not.
func Possible() bool { return proc.CanSpawn() == nil && door.closing == nil }

// The files of the process that does the work, from 3 on.
const (
	outFile = iota
	errFile
	boardFile
	files
)

// Run has the work done.
func (w *Work) Run() (*Result, error) {
	names, err := newBoard()
	if err != nil {
		return nil, err
	}
	defer names.close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	inherited := [files]*os.File{outFile: w.Out, errFile: w.Err, boardFile: names.file}
	for i, f := range inherited {
		if f == nil {
			inherited[i] = null
		}
	}
	spawner := proc.NewSpawner()
	defer func() { _ = spawner.Close() }() // its children have ended
	child, err := spawner.Start(proc.Command{
		Path: w.Exe, Args: w.Args, Name: w.Name, Files: inherited[:], Sweep: true,
	})
	if err != nil {
		return nil, err
	}
	defer child.Close()
	var passed atomic.Int64 // the number of the last signal
	go func() {
		for {
			select {
			case s := <-w.Signals:
				if number, ok := s.(syscall.Signal); ok {
					passed.Store(int64(number))
				}
				child.Signal(s)
			case <-child.Done():
				return
			}
		}
	}()
	var last closing
	err = gob.NewDecoder(child.Stdout).Decode(&last)
	select {
	case <-child.Done():
	case <-time.After(patience):
		child.Kill() // without its last word, it has closed the pipe for that
	}
	end := child.Exit()
	switch {
	case err == nil && last.Left != "":
		return nil, errors.New(proc.Harmless(last.Left))
	case err == nil:
		return &Result{last.Code, last.Output, child.Stderr()}, nil
	case passed.Load() > 0:
		return &Result{Code: 128 + int(passed.Load())}, nil
	}
	why, _ := child.Obituary()
	if end.Signal != "" {
		why = end.Signal + " ended the process that ran it: by its own code, for lack of memory, or from " +
			"outside"
	}
	trials, run := guard.Shown(names.memory)
	return nil, &Death{Trials: trials, Over: !run, Called: w.Called, Why: why, Stderr: child.Stderr()}
}

// patience is how long a process may take to end that has said its last word.
const patience = 2 * time.Second

// door is what this process needs to say its last word, if it does work.
var door struct {
	once    sync.Once
	closing io.Writer
}

// Do is the life of a process that Run has started: it does the work with what it writes to.
// It returns the exit code.
func Do(work func(out, err *os.File) (code int, output []byte)) int {
	inherited, err := proc.Inherited(os.Stdout.Name(), os.Stderr.Name(), "board")
	var memory []byte
	if err == nil {
		memory, err = telemetry.Map(inherited[boardFile], guard.BoardSize)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench starts this process itself; do not start it by hand: %v\n", err)
		return 1
	}
	guard.Show(memory)
	proc.InBackground()
	in, out := proc.Streams(os.Stdin, os.Stdout)
	door.closing = out
	go func() {
		_, _ = io.Copy(io.Discard, in) // it ends with the process that waits for this one
		os.Exit(1)
	}()
	guard.Confine(guard.Share(1))
	code, output := work(inherited[outFile], inherited[errFile])
	left := ""
	if name, err := idlers(); err != nil {
		left = fmt.Sprintf("%s: %v", name, err)
	}
	last(closing{code, output, left})
	return code
}

// idlers says which algorithm has left a goroutine behind, after a little time for those
// that are about to end.
func idlers() (name string, err error) {
	for range 20 {
		if name, err = guard.Idlers(); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return name, err
}

// last says the last word, once.
func last(word closing) {
	door.once.Do(func() {
		if door.closing != nil {
			_ = gob.NewEncoder(door.closing).Encode(word) // nobody may wait for it any more
		}
	})
}

// Exit is os.Exit of a process that may do work, whose last word this is then.
func Exit(code int) {
	last(closing{Code: code})
	os.Exit(code)
}
