package cli

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/conclave-bench/conclave/pkg/experiment"
)

// The exit codes.
const (
	Good        = 0
	CouldNotRun = 1
	Usage       = 2 // of the command, or a mistake in the configuration
	Violated    = 3 // a promise was broken within the model
	Missed      = 4 // a threshold, or a regression
	Incomplete  = 5 // invalid, timed-out or undecided trials beyond what is allowed
)

// An exit ends a command that has said everything with a code.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// A usageError is a mistake on the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usage(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// classify is the exit code of a command that ended in err.
func classify(err error) int {
	var (
		config  *experiment.Error
		mistake *usageError
		stopped *interruption
	)
	switch {
	case errors.As(err, &stopped):
		return stopped.code()
	case errors.As(err, &config), errors.As(err, &mistake):
		return Usage
	}
	return CouldNotRun
}

// An interruption is the cause by which a signal ends a run.
type interruption struct{ signal os.Signal }

func (i *interruption) Error() string {
	if i.signal == syscall.SIGTERM {
		return "interrupted by SIGTERM"
	}
	return "interrupted by SIGINT"
}

// code is 128 and the signal's number, as shells have it.
func (i *interruption) code() int {
	if s, ok := i.signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return CouldNotRun
}

// A tally is what the exit code of a run follows from.
type tally struct {
	err        error // that ended the run before its time
	errors     int   // trials that could not be run
	violations int   // within the model
	missed     int   // thresholds
	timeouts   int   // within the model, of algorithms that promise an end
	invalid    int
	unknown    int
	allow      experiment.Allow
}

// code weighs what happened: an interruption hides everything else, since
// nothing is complete; then what could not be run, what is wrong, what is worse
// than it should be, and what is missing.
func (t *tally) code() int {
	var stopped *interruption
	switch {
	case errors.As(t.err, &stopped):
		return stopped.code()
	case t.err != nil, t.errors > 0:
		return CouldNotRun
	case t.violations > 0:
		return Violated
	case t.missed > 0:
		return Missed
	case t.invalid > t.allow.Invalid, t.timeouts > t.allow.Timeout, t.unknown > 0:
		return Incomplete
	}
	return Good
}
