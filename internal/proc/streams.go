package proc

import (
	"io"
	"os"
)

// Streams are in and out of a child for its own use: it waits for in as for a socket,
// and whatever else writes to standard output, as a plugin may, writes to standard
// error from now on. Reports then are the child's alone, and printing does no harm.
func Streams(in io.Reader, out io.Writer) (io.Reader, io.Writer) {
	if out == io.Writer(os.Stdout) {
		// If that fails, what a plugin prints spoils the trial, as a report that is none.
		if own, err := takeOver(os.Stdout, os.Stderr); err == nil {
			out = own
		}
	}
	return pollable(in), out
}
