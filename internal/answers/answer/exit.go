package answer

import (
	"errors"
	"fmt"
)

// The exit codes of commands.
const (
	Good        = 0
	CouldNotRun = 1
	Usage       = 2 // of the command, or a mistake in the configuration
	Violated    = 3 // a promise was broken within the model
	Missed      = 4 // a threshold, or a regression
	Incomplete  = 5 // invalid, timed-out or undecided trials beyond what is allowed; nothing proved
)

// ExitOf is the exit code of a command that ended in an error, which may have a method Exit that
// says it.
func ExitOf(err error) int {
	var knows interface {
		error
		Exit() int
	}
	switch {
	case err == nil:
		return Good
	case errors.As(err, &knows):
		return knows.Exit()
	}
	return CouldNotRun
}

// A mistake is an error on the command line.
type mistake string

func (m mistake) Error() string { return string(m) }
func (mistake) Exit() int       { return Usage }

// Mistaken is the error of a mistake on the command line.
func Mistaken(format string, args ...any) error { return mistake(fmt.Sprintf(format, args...)) }
