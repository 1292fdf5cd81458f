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
// BoardSize bytes. A process that shares that memory learns from Shown what ran when
// this one died.
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

// over marks the length of the name of a trial that has ended.
const over = 0x80

func erase(place int) {
	if place >= 0 {
		board.taken &^= 1 << place
		board.memory[place*cellSize] |= over
	}
}

// Shown are the trials on a board that run, in order and each once; if none does, those that ran
// last.
func Shown(memory []byte) (names []string, run bool) {
	ended := map[bool][]string{}
	for place := range cells {
		cell := memory[place*cellSize:][:cellSize]
		if n := int(cell[0] &^ over); n > 0 {
			is := cell[0]&over != 0
			ended[is] = append(ended[is], string(cell[1:][:n]))
		}
	}
	if names, run = ended[false], true; names == nil {
		names, run = ended[true], false
	}
	slices.Sort(names)
	return slices.Compact(names), run
}
