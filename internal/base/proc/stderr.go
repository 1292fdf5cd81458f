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
	// open.
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

	written uint64 // bytes since they were last forgiven
	limit   uint64 // of them; 0: none
	flooded bool
	flood   func() // is called once, when there are more
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
	e.written += uint64(len(b))
	if e.limit > 0 && e.written > e.limit && !e.flooded {
		e.flooded = true
		go e.flood()
	}
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

// MostOutput is how many bytes a process with a plugin may write to its standard output and error in a
// trial. With more, it and who reads that are busy with nothing else.
const MostOutput = 16 << 20

// LimitOutput kills the child when it writes more than so many bytes to its standard error from now
// on. It is called again for each piece of work. Obituary says that it was so.
func (c *Child) LimitOutput(bytes uint64) {
	c.stderr.mu.Lock()
	defer c.stderr.mu.Unlock()
	c.stderr.written, c.stderr.limit = 0, bytes
	c.stderr.flood = func() { c.Kill() }
}

// flood is how much the child wrote that was too much, in bytes; 0: it did not.
func (c *Child) flood() uint64 {
	c.stderr.mu.Lock()
	defer c.stderr.mu.Unlock()
	if !c.stderr.flooded {
		return 0
	}
	return c.stderr.limit
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
