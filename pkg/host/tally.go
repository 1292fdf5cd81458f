package host

import (
	"fmt"
	"os"
	"sync/atomic"
)

// A tally is a few numbers that the nodes of a trial count together, in a mapped
// file: which message is the k-th of a kind, all nodes have to agree on at once.
type tally struct {
	file  *os.File
	bytes []byte
}

// openTally maps the file at path, which is made if it does not exist, for up to n
// numbers.
func openTally(path string, n int) (*tally, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open tally: %w", err)
	}
	page := os.Getpagesize()
	t := &tally{file: file}
	if t.bytes, err = reserve(file, 0, (8*n+page-1)/page*page); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("open tally: %s: %w", path, err)
	}
	return t, nil
}

// number is number i.
func (t *tally) number(i int) *atomic.Uint64 { return wordAt(t.bytes, 8*i) }

func (t *tally) close() {
	_ = unmap(t.bytes)
	_ = t.file.Close()
}
