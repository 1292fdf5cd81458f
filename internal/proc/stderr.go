package proc

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// How much of a child's standard error is kept: the first words usually say what
// went wrong, and the last ones how it ended.
const (
	excerptHead = 4 << 10
	excerptTail = 64 << 10

	// A process that the child started and that left its group may hold the pipe
	// open for ever.
	stderrPatience = 200 * time.Millisecond
)

// An excerpt reads a pipe to its end, as fast as it fills, and keeps little of it.
type excerpt struct {
	pipe     *os.File
	complete chan struct{} // closed at the pipe's end

	mu   sync.Mutex
	head []byte
	tail []byte // a ring once it is full: its oldest byte is at next
	next int
	cut  uint64 // bytes dropped between head and tail
}

func newExcerpt(pipe *os.File) *excerpt {
	e := &excerpt{pipe: pipe, complete: make(chan struct{})}
	go e.read()
	return e
}

func (e *excerpt) read() {
	defer close(e.complete)
	defer func() { _ = e.pipe.Close() }() // nothing was written that could get lost
	b := make([]byte, 8<<10)
	for {
		n, err := e.pipe.Read(b)
		e.add(b[:n])
		if err != nil {
			return
		}
	}
}

// finish gives the pipe a little time to reach its end, now that the child has.
func (e *excerpt) finish() {
	_ = e.pipe.SetReadDeadline(time.Now().Add(stderrPatience)) // closed already, perhaps
}

func (e *excerpt) add(b []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := min(len(b), excerptHead-len(e.head))
	e.head, b = append(e.head, b[:n]...), b[n:]
	n = min(len(b), excerptTail-len(e.tail))
	e.tail, b = append(e.tail, b[:n]...), b[n:]
	e.cut += uint64(len(b))
	for len(b) > 0 {
		n = copy(e.tail[e.next:], b)
		e.next, b = (e.next+n)%excerptTail, b[n:]
	}
}

func (e *excerpt) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := string(e.head)
	if e.cut > 0 {
		s += fmt.Sprintf("\n... (%d bytes dropped)\n", e.cut)
	}
	return s + string(e.tail[e.next:]) + string(e.tail[:e.next])
}
