//go:build linux || darwin

package isolate

import (
	"fmt"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/conclave-bench/conclave/internal/guard"
)

// A board is memory that this process shares with the one that does the work.
type board struct {
	file   *os.File
	memory []byte
}

func newBoard() (*board, error) {
	f, err := nameless()
	if err != nil {
		return nil, fmt.Errorf("share memory with a process: %w", err)
	}
	// Space that is only promised would end the process that writes there.
	_, err = f.Write(make([]byte, guard.BoardSize))
	b := &board{file: f}
	if err == nil {
		b.memory, err = mapped(f)
	}
	if err != nil {
		b.close()
		return nil, fmt.Errorf("share memory with a process: %w", err)
	}
	return b, nil
}

func mapped(f *os.File) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, guard.BoardSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

func (b *board) close() {
	if b.memory != nil {
		_ = unix.Munmap(b.memory) // it was mapped
	}
	_ = b.file.Close() // nothing is to be kept
}

// show has the trials of this process written into f.
func show(f *os.File) error {
	memory, err := mapped(f)
	if err == nil {
		guard.Show(memory)
	}
	// This process is in the background of a terminal, and may write to it.
	signal.Ignore(unix.SIGTTOU)
	return err
}
