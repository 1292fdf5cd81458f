package cli

import (
	"errors"
	"io"
	"os"

	"github.com/conclave-bench/conclave/internal/files"
	"github.com/conclave-bench/conclave/internal/report"
)

// output writes text to the file at path, or to standard output if path is empty.
func (s *streams) output(path string, text []byte) error {
	if path == "" {
		_, err := s.out.Write(text)
		return err
	}
	return files.Write(path, text)
}

// writeJSON writes v for programs.
func writeJSON(w io.Writer, v any) error {
	b, err := report.JSON(v)
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// writeNew makes a file that is not there yet, else the error is fs.ErrExist.
func writeNew(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
