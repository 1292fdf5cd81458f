package guard

import (
	"math/bits"
	"slices"
)

// A board is memory that outlives the process that writes on it: what trials it runs, a
// cell for each.
const (
	cells    = 64
	cellSize = 128

	// BoardSize is the size of a board, in bytes.
	BoardSize = cells * cellSize
)

// board is that of this process, under the guard's lock.
var board struct {
	memory []byte // nil: there is none
	taken  uint64 // cells, a bit each
}

// Show has the names of the trials that this process runs written into memory of
// BoardSize bytes. Whoever shares that memory learns from Shown what ran when the
// process died.
func Show(memory []byte) {
	guard.mu.Lock()
	defer guard.mu.Unlock()
	board.memory, board.taken = memory[:BoardSize], 0
}

// write takes a cell for name, and returns its place; -1: there is no board, or no room.
func write(name string) int {
	place := bits.TrailingZeros64(^board.taken)
	if board.memory == nil || place == cells {
		return -1
	}
	board.taken |= 1 << place
	cell := board.memory[place*cellSize:][:cellSize]
	cell[0] = byte(copy(cell[1:], name))
	return place
}

func erase(place int) {
	if place >= 0 {
		board.taken &^= 1 << place
		board.memory[place*cellSize] = 0
	}
}

// Shown is what stands on a board, in order and each once.
func Shown(memory []byte) (names []string) {
	for place := range cells {
		cell := memory[place*cellSize:][:cellSize]
		if n := min(int(cell[0]), cellSize-1); n > 0 {
			names = append(names, string(cell[1:][:n]))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
