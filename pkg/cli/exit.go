package cli

import (
	"fmt"
	"os"
	"syscall"

	"github.com/conclave-bench/conclave/internal/answers/answer"
)

// The exit codes.
const (
	Good        = answer.Good
	CouldNotRun = answer.CouldNotRun
	Usage       = answer.Usage
	Violated    = answer.Violated
	Missed      = answer.Missed
	Incomplete  = answer.Incomplete
)

// An exit ends a command that has said everything with a code.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// usage is the error of a mistake on the command line.
func usage(format string, args ...any) error { return answer.Mistaken(format, args...) }

// An interruption is the cause by which a signal ends a run.
type interruption struct{ signal os.Signal }

func (i *interruption) Error() string {
	if i.signal == syscall.SIGTERM {
		return "interrupted by SIGTERM"
	}
	return "interrupted by SIGINT"
}

// Exit is 128 and the signal's number, as shells have it.
func (i *interruption) Exit() int {
	if s, ok := i.signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return CouldNotRun
}
