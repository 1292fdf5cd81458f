package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/conclave-bench/conclave/internal/report"
)

// output writes text to the file at path, or to standard output if path is empty.
func (s *streams) output(path string, text []byte) error {
	if path == "" {
		_, err := s.out.Write(text)
		return err
	}
	return writeWhole(path, text)
}

// writeWhole makes or replaces a file so that nobody sees half of it. What is no file,
// such as a pipe or a device, cannot be replaced and is written to; a link stays one.
func writeWhole(path string, text []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, text, 0o644)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".bench-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // gone already if all went well
	_, err = file.Write(text)
	if err = errors.Join(err, file.Chmod(0o644), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// writeJSON writes v for programs.
func writeJSON(w io.Writer, v any) error {
	b, err := report.JSON(v)
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}
