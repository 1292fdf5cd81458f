package cli

import (
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
