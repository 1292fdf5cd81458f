package cli

import (
	"io"

	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/base/files"
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
