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

// Inherited are the files of a child beside its streams, as its Command had them, called by
// names. What the child starts does not get them.
func Inherited(names ...string) (list []*os.File, err error) {
	for i, name := range names {
		f := os.NewFile(uintptr(firstFile+i), name)
		if _, err := f.Stat(); err != nil {
			return nil, err
		}
		closeOnExec(f)
		list = append(list, f)
	}
	return list, nil
}

// firstFile is the number of the first file behind the three streams.
const firstFile = 3
