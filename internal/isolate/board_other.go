//go:build !linux && !darwin

package isolate

import (
	"errors"
	"os"
)

type board struct {
	file   *os.File
	memory []byte
}

func newBoard() (*board, error) { return nil, errors.ErrUnsupported }

func (b *board) close() {}

func show(*os.File) error { return errors.ErrUnsupported }
