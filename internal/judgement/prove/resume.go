package prove

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A decoder reads what an encoder wrote. The checksum was right, so that its numbers make sense.
type decoder struct {
	r    *bufio.Reader
	file *os.File
	b    []byte
	err  error
}

func (d *decoder) number() int { return int(d.number64()) }

func (d *decoder) number64() uint64 {
	x, err := binary.ReadUvarint(d.r)
	if d.err == nil {
		d.err = err
	}
	return x
}

// words are n numbers of 8 bytes each.
func (d *decoder) words(n int) []uint64 {
	if d.b == nil {
		d.b = make([]byte, 1<<15)
	}
	out := make([]uint64, 0, n)
	for len(out) < n && d.err == nil {
		part := d.b[:min(len(d.b), 8*(n-len(out)))]
		if _, err := io.ReadFull(d.r, part); err != nil {
			d.err = err
			return out
		}
		for ; len(part) > 0; part = part[8:] {
			out = append(out, binary.LittleEndian.Uint64(part))
		}
	}
	return out
}

func (d *decoder) batches() (list []batch) {
	for range d.number() {
		b := batch{n: d.number()}
		b.b = make([]byte, d.number(), batched)
		if _, err := io.ReadFull(d.r, b.b); d.err == nil {
			d.err = err
		}
		if list = append(list, b); d.err != nil {
			return nil
		}
	}
	return list
}

// errOther is of a checkpoint of an algorithm that does something else now.
var errOther = errors.New("is of no use: the algorithm has changed since; remove it to start anew")

// resume makes the search what it was when it was saved.
func (s *search) resume(h *checkpointHeader, d *decoder) error {
	s.workers[0].begin()
	if err := s.book.resume(d); err != nil {
		return err
	}
	if s.digest() != h.Processes {
		return errOther
	}
	s.seen.resume(d)
	remembers := true
	for i := range d.number() {
		if i == len(s.workers) {
			s.workers = append(s.workers, s.seeker(i)) // which has found states, and looks for none
		}
		w := s.workers[i]
		w.resume(d)
		s.states.Add(int64(w.trail.n))
		remembers = remembers && w.memory != nil
	}
	for _, w := range s.workers {
		switch {
		case !remembers:
			w.memory = nil
		case w.memory == nil:
			w.memory = &memory{}
		}
	}
	s.level = d.batches()
	s.before, s.known = h.Elapsed, int(s.states.Load())
	s.space.Depth, s.space.Levels = h.Depth, h.Levels
	if d.err != nil {
		return fmt.Errorf("cannot be read: %w", d.err)
	}
	return nil
}

// resume carries out what was carried out before, in the same order, so that all has its number again.
func (e *book) resume(d *decoder) error {
	for range d.number() {
		who, at := d.number(), uint32(d.number())
		c := call{do: action(who & 255), msg: uint32(d.number()), at: d.number()}
		c.span = time.Duration(d.number())
		switch {
		case d.err != nil:
			return d.err
		case int(at) >= len(e.locals.all), c.do == delivery && int(c.msg) >= len(e.msgs.all):
			return errOther
		}
		e.do(who>>8, at, c)
	}
	for range d.number() {
		list := make([]uint32, d.number())
		for i := range list {
			list[i] = uint32(d.number())
		}
		e.queue(list)
	}
	for range d.number() {
		list := make([]leadership, d.number())
		for i := range list {
			list[i].of, list[i].term = algo.ID(d.number()), d.number64()
		}
		e.led(list)
	}
	return errors.Join(d.err, e.err)
}

func (s *set) resume(d *decoder) {
	for i := range s.shards {
		h := &s.shards[i]
		size := d.number()
		h.n = d.number()
		h.slots = d.words(size)
	}
}

func (w *seeker) resume(d *decoder) {
	for _, n := range []*int{&w.steps, &w.terminal, &w.cut, &w.served, &w.trail.n} {
		*n = d.number()
	}
	for left := w.trail.n; left > 0 && d.err == nil; left -= block {
		n := min(left, block)
		w.trail.blocks = append(w.trail.blocks, slices.Grow(d.words(n), block-n))
	}
	w.found = d.batches()
	w.memory = nil
	if d.number() == 0 {
		return
	}
	w.memory = &memory{prints: d.words(d.number()), good: d.words(d.number())}
	for pair := range slices.Chunk(d.words(2*d.number()), 2) {
		w.memory.steps = append(w.memory.steps, edge{pair[0], pair[1]})
	}
}
