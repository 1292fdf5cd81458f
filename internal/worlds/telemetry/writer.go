// Package telemetry is what a node writes down, in a mapped file that outlives it.
package telemetry

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A telemetry file is what one incarnation of a node reports: a header, a block
// of words that change in place, and slots of trace.Size bytes that only grow in
// number. The node maps it into memory, so that a report costs no system call and
// outlives a SIGKILL; the host process reads it while the node runs or after.
//
//	byte  0  magic       16  process       24  words, how many
//	      8  version     20  incarnation   28  header size in bytes, words and all
//	     32  limit in slots
//	     64  committed slots, stored after the slots themselves
//	    128  1 if a record was refused
//	    256  the words; then up to a whole page, then the slots
//
// Numbers are little-endian, except that the words, the count and the flag are
// the machine's own: both ends of the file are on one machine.
const (
	fileMagic   = 0x656c655465766c43 // "ClveTele"
	fileVersion = 1

	atMagic, atVersion, atProcess, atIncarnation = 0, 8, 16, 20
	atWordCount, atHeaderSize, atLimit           = 24, 28, 32
	atCount, atRefused, atWords                  = 64, 128, 256

	maxWords = 1 << 20

	// The file grows by segments. Reserving one takes some 100 µs, most of it to
	// clear the memory, and is done ahead, off the node's own goroutine.
	segmentSlots = 2048
	segmentSmall = 1024 // a multiple of all sizes of pages, in bytes
)

// DefaultLimit is how many bytes of records a node may write unless told
// otherwise.
const DefaultLimit = 256 << 20

// MaxText is how many bytes of a text Append keeps: all that a plugin may write.
const MaxText = max(algo.MaxLine, algo.MaxMessage)

// ErrFull means that the limit of a telemetry file is reached.
var ErrFull = errors.New("telemetry full")

// A Config says whose telemetry it is and how much of it there may be.
type Config struct {
	Process     uint32
	Incarnation uint32
	Words       int   // how many words there are beside the records
	Many        bool  // there are many: reserve less ahead
	Limit       int64 // bytes of records; 0: DefaultLimit
}

// A Writer is the node's end of a telemetry file. Append and Close belong to
// one goroutine; words may be used by any.
type Writer struct {
	file    *os.File
	header  []byte
	words   []atomic.Uint64
	count   *atomic.Uint64
	refused *atomic.Uint64

	n, limit uint64 // slots
	slots    uint64 // of a segment
	segment  []byte // holds slot n, or ends right before it
	ahead    chan reservation
	err      error // sticky: behind a gap nothing is written
}

type reservation struct {
	segment []byte
	err     error
}

// Create makes a telemetry file at path, which must not exist.
func Create(path string, c Config) (*Writer, error) {
	if c.Limit == 0 {
		c.Limit = DefaultLimit
	}
	if c.Words < 0 || c.Words > maxWords || c.Limit < trace.Size {
		return nil, fmt.Errorf("create telemetry: %d words and %d bytes of records: "+
			"expected up to %d words and at least %d bytes", c.Words, c.Limit, maxWords, trace.Size)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create telemetry: %w", err)
	}
	t := &Writer{file: file, limit: uint64(c.Limit) / trace.Size, slots: segmentSlots}
	if c.Many {
		t.slots = segmentSmall
	}
	if err := t.init(c); err != nil {
		_ = t.release()
		_ = os.Remove(path)
		return nil, fmt.Errorf("create telemetry: %s: %w", path, err)
	}
	return t, nil
}

func (t *Writer) init(c Config) error {
	page := os.Getpagesize()
	size := (atWords + 8*c.Words + page - 1) / page * page
	header, err := reserve(t.file, 0, size)
	if err != nil {
		return err
	}
	t.header = header
	if t.segment, err = reserve(t.file, int64(size), t.segmentSize()); err != nil {
		return err
	}
	t.count, t.refused = wordAt(header, atCount), wordAt(header, atRefused)
	t.words = wordsAt(header, c.Words)

	le := binary.LittleEndian
	le.PutUint32(header[atVersion:], fileVersion)
	le.PutUint32(header[atProcess:], c.Process)
	le.PutUint32(header[atIncarnation:], c.Incarnation)
	le.PutUint32(header[atWordCount:], uint32(c.Words))
	le.PutUint32(header[atHeaderSize:], uint32(size))
	le.PutUint64(header[atLimit:], t.limit)
	wordAt(header, atMagic).Store(fileMagic) // last: a reader that sees it sees the rest
	return nil
}

func (t *Writer) segmentSize() int { return int(t.slots) * trace.Size }

// wordAt is the eight bytes of a mapping at offset, which is a multiple of eight.
func wordAt(mapping []byte, offset int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&mapping[offset : offset+8][0]))
}

// wordsAt is the block of n words in a mapped header.
func wordsAt(header []byte, n int) []atomic.Uint64 {
	block := header[atWords : atWords+8*n]
	return unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(unsafe.SliceData(block))), n)
}

// Word is word i, shared with the host process.
func (t *Writer) Word(i int) *atomic.Uint64 { return &t.words[i] }

// Words is how many words there are.
func (t *Writer) Words() int { return len(t.words) }

// Len is how many slots have been written.
func (t *Writer) Len() uint64 { return t.n }

// Append writes r and, if its type has one, its Text, in slots of its own behind it: the
// Arg becomes its length in bytes. A text of more than MaxText bytes is cut. Once Append
// has failed, with ErrFull or because the disk is full, it always fails: what was written
// has no gap, and the file tells the host that something is missing at its end.
func (t *Writer) Append(r *trace.Record) error {
	text, slots := "", uint64(1)
	if r.Type.HasText() {
		if text = r.Text; len(text) > MaxText {
			const note = "... (cut)"
			text = text[:MaxText-len(note)] + note
		}
		r.Arg = uint64(len(text))
		slots += textSlots(r.Arg)
	}
	if t.err != nil || slots > t.limit-t.n {
		return t.refuse(ErrFull)
	}
	for i := range slots {
		slot, err := t.slot(t.n + i)
		if err != nil {
			return t.refuse(err)
		}
		if i == 0 {
			r.Put(slot)
		} else {
			text = text[copy(slot, text):]
		}
	}
	t.n += slots
	t.count.Store(t.n)
	return nil
}

// textSlots is how many slots a text of n bytes takes.
func textSlots(n uint64) uint64 { return (n + trace.Size - 1) / trace.Size }

func (t *Writer) refuse(err error) error {
	if t.err == nil {
		t.err = fmt.Errorf("append to telemetry: %s: after %d records: %w",
			t.file.Name(), t.n, err)
	}
	if t.header != nil { // else closed, and no longer mapped
		t.refused.Store(1)
	}
	return t.err
}

// slot is the memory of slot i, which is at most as far as the segment after the
// current one, and never before the last slot asked for.
func (t *Writer) slot(i uint64) ([]byte, error) {
	in := i % t.slots
	switch {
	case in == t.slots/2:
		t.reserveAhead(i/t.slots + 1)
	case in == 0 && i > 0:
		if err := t.advance(); err != nil {
			return nil, err
		}
	}
	return t.segment[in*trace.Size:][:trace.Size:trace.Size], nil
}

// reserveAhead starts to reserve a segment, unless the limit falls before it.
func (t *Writer) reserveAhead(segment uint64) {
	if segment*t.slots >= t.limit || t.ahead != nil {
		return
	}
	offset := int64(len(t.header)) + int64(segment)*int64(t.segmentSize())
	ahead := make(chan reservation, 1)
	t.ahead = ahead
	go func() {
		m, err := reserve(t.file, offset, t.segmentSize())
		ahead <- reservation{m, err}
	}()
}

// advance goes on to the segment that was reserved.
func (t *Writer) advance() error {
	next := <-t.ahead
	t.ahead = nil
	if next.err != nil {
		return next.err
	}
	old := t.segment
	t.segment = next.segment
	return Unmap(old)
}

// Close gives up the node's end; the file stays.
func (t *Writer) Close() error {
	if t.ahead != nil {
		next := <-t.ahead
		t.ahead = nil
		_ = Unmap(next.segment) // it holds nothing
	}
	t.err = fmt.Errorf("append to telemetry: %s: %w", t.file.Name(), os.ErrClosed)
	return t.release()
}

func (t *Writer) release() error {
	err := errors.Join(Unmap(t.segment), Unmap(t.header), t.file.Close())
	t.segment, t.header, t.words = nil, nil, nil
	return err
}
