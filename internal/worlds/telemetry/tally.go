package telemetry

import (
	"fmt"
	"os"
	"sync/atomic"
)

// A Tally is a few numbers that the nodes of a trial count together, in a mapped
// file: which message is the k-th of a kind, all nodes have to agree on at once.
type Tally struct {
	file  *os.File
	bytes []byte
}

// OpenTally maps the file at path, which is made if it does not exist, for up to n
// numbers.
func OpenTally(path string, n int) (*Tally, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open tally: %w", err)
	}
	page := os.Getpagesize()
	t := &Tally{file: file}
	if t.bytes, err = reserve(file, 0, (8*n+page-1)/page*page); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("open tally: %s: %w", path, err)
	}
	return t, nil
}

// Number is number i.
func (t *Tally) Number(i int) *atomic.Uint64 { return wordAt(t.bytes, 8*i) }

func (t *Tally) Close() {
	_ = Unmap(t.bytes)
	_ = t.file.Close()
}
