package isolate

import (
	"fmt"
	"os"

	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/internal/worlds/telemetry"
)

// A board is memory that this process shares with the one that does the work, in a file that is gone when
// nobody has it open any more.
type board struct {
	file   *os.File
	memory []byte
}

func newBoard() (b *board, err error) {
	b = &board{}
	if b.file, err = os.CreateTemp(telemetry.Dir(guard.BoardSize), "bench-board-"); err == nil {
		if b.memory, err = telemetry.Map(b.file, guard.BoardSize); err == nil {
			err = os.Remove(b.file.Name())
		}
	}
	if err != nil {
		b.close()
		return nil, fmt.Errorf("share memory with a process: %w", err)
	}
	return b, nil
}

func (b *board) close() {
	_ = telemetry.Unmap(b.memory)
	_ = b.file.Close() // nothing is to be kept
}
