package prove

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"time"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/base/program"
)

// A Checkpoint is where a search that ends early is kept, and by which program. The same program continues
// it: a search visits states by numbers that follow from what was met before.
type Checkpoint struct {
	Path    string // "": nowhere
	Version string // of the program, in words
	Program program.Build
}

// A CheckpointError says why a search cannot go on from a file.
type CheckpointError struct{ Path, Why string }

func (e *CheckpointError) Error() string { return e.Path + " " + e.Why }

// The first line of a checkpoint. The second is its header in JSON. Then comes the search, in numbers, and
// last the SHA-256 of all before.
const checkpointed = "conclave prove checkpoint 1"

// A header says what a checkpoint is of.
type checkpointHeader struct {
	Algorithm string
	System    System
	Live      bool
	Version   string // of the program
	Program   program.Build

	Clocks    bool // are part of states
	Tells     bool // a process tells nil from empty
	Depth     int
	Levels    []int
	Elapsed   time.Duration
	Processes string // the SHA-256 of what processes can be, and of their messages
}

// world is what a search is of, as a text that is the same for the same.
func (h *checkpointHeader) world() string {
	b, err := json.Marshal([]any{h.Algorithm, h.System, h.Live})
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// A performed is a call that was carried out, in the order of all: the book follows from them.
type performed struct {
	k    uint8
	at   uint32
	call call
}

// header is that of the search.
func (s *search) header() checkpointHeader {
	c := &s.limits.Checkpoint
	return checkpointHeader{
		Algorithm: s.setup.Algorithm, System: s.system, Live: s.limits.Live, Version: c.Version,
		Program: c.Program, Clocks: s.system.clocks, Tells: s.system.tells,
		Depth: s.space.Depth, Levels: s.space.Levels, Elapsed: s.elapsed(), Processes: s.digest(),
	}
}

// digest stands for all that processes can be, and for their messages.
func (s *search) digest() string {
	h, b := sha256.New(), []byte(nil)
	for _, l := range s.locals.all {
		b = l.key(b[:0])
		h.Write(b)
	}
	for _, m := range s.msgs.all {
		fmt.Fprint(h, m.from, m.plane, m.kind, m.known, m.body)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// opened is the file of a checkpoint, behind its header, if its bytes are what was written; nil: there is
// none.
func opened(path string) (*checkpointHeader, *decoder, error) {
	bad := func(format string, args ...any) error {
		return &CheckpointError{path, fmt.Sprintf(format, args...)}
	}
	f, err := files.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, bad("cannot be read: %v", err)
	}
	whole := sha256.New()
	info, err := f.Stat()
	if err == nil && info.Size() > sha256.Size {
		_, err = io.CopyN(whole, f, info.Size()-sha256.Size)
	}
	sum, more := io.ReadAll(io.LimitReader(f, sha256.Size+1))
	_, back := f.Seek(0, io.SeekStart)
	if err := errors.Join(err, more, back); err != nil {
		return nil, nil, errors.Join(bad("cannot be read: %v", err), f.Close())
	}
	d := &decoder{r: bufio.NewReaderSize(f, 1<<20), file: f}
	head := make([]byte, len(checkpointed)+1)
	if _, err := io.ReadFull(d.r, head); err != nil || string(head) != checkpointed+"\n" {
		return nil, nil, errors.Join(bad("is no search of bench prove; name another file"), f.Close())
	}
	if !bytes.Equal(sum, whole.Sum(nil)) {
		return nil, nil, errors.Join(bad("is damaged: its checksum does not match; remove it to start anew"),
			f.Close())
	}
	line, err := d.r.ReadBytes('\n')
	h := &checkpointHeader{}
	if err = errors.Join(err, json.Unmarshal(line, h)); err != nil {
		return nil, nil, errors.Join(bad("is damaged: %v", err), f.Close())
	}
	return h, d, nil
}

// resumed is the checkpoint that a search is to go on from; nil: there is none.
func resumed(id string, w *System, l *Limits) (*checkpointHeader, *decoder, error) {
	c := &l.Checkpoint
	if c.Path == "" {
		return nil, nil, nil
	}
	h, d, err := opened(c.Path)
	if h == nil {
		return nil, nil, err
	}
	mine := checkpointHeader{Algorithm: id, System: *w, Live: l.Live}
	why := ""
	switch {
	case !h.Program.Same(c.Program):
		why = fmt.Sprintf("was written by another program, bench %s; this is %s", h.Version, c.Version)
	case h.world() != mine.world():
		why = fmt.Sprintf("holds another search: of %s, %s", h.Algorithm, &h.System)
		if h.Algorithm == id && h.System.String() == w.String() {
			why = "holds a search of the same system with other parameters or other checks"
		}
	default:
		return h, d, nil
	}
	return nil, nil, errors.Join(&CheckpointError{c.Path, why}, d.file.Close())
}

// An encoder writes numbers.
type encoder struct {
	w   *bufio.Writer
	sum hash.Hash
	b   []byte
}

func (e *encoder) write(b []byte) { // a bufio.Writer keeps its first error
	_, _ = e.w.Write(b)
	e.sum.Write(b)
}

func (e *encoder) number(x uint64) {
	e.b = binary.AppendUvarint(e.b[:0], x)
	e.write(e.b)
}

// words are numbers of 8 bytes each.
func (e *encoder) words(list []uint64) {
	const most = 1 << 12
	for len(list) > 0 {
		part := list[:min(len(list), most)]
		e.b = e.b[:0]
		for _, x := range part {
			e.b = binary.LittleEndian.AppendUint64(e.b, x)
		}
		e.write(e.b)
		list = list[len(part):]
	}
}

// save writes the search, as it is, into its file.
func (s *search) save() error {
	return files.Replace(s.limits.Checkpoint.Path, func(w io.Writer) error {
		e := &encoder{w: bufio.NewWriterSize(w, 1<<20), sum: sha256.New()}
		head, err := json.Marshal(s.header())
		if err != nil {
			return err
		}
		e.write([]byte(checkpointed + "\n"))
		e.write(append(head, '\n'))
		s.book.save(e)
		s.seen.save(e)
		e.number(uint64(len(s.workers)))
		for _, w := range s.workers {
			w.save(e)
		}
		e.batches(s.rest)
		if _, err := e.w.Write(e.sum.Sum(nil)); err != nil {
			return err
		}
		return e.w.Flush()
	})
}

func (e *book) save(out *encoder) {
	out.number(uint64(len(e.order)))
	for _, p := range e.order {
		out.number(uint64(p.k)<<8 | uint64(p.call.do))
		out.number(uint64(p.at))
		out.number(uint64(p.call.msg))
		out.number(uint64(p.call.at))
		out.number(uint64(p.call.span))
	}
	out.number(uint64(len(e.queues.all)))
	for _, q := range e.queues.all {
		out.number(uint64(len(q.msgs)))
		for _, m := range q.msgs {
			out.number(uint64(m))
		}
	}
	out.number(uint64(len(e.reigns.all)))
	for _, list := range e.reigns.all {
		out.number(uint64(len(list)))
		for _, l := range list {
			out.number(uint64(l.of))
			out.number(l.term)
		}
	}
}

func (s *set) save(out *encoder) {
	for i := range s.shards {
		h := &s.shards[i]
		out.number(uint64(len(h.slots)))
		out.number(uint64(h.n))
		out.words(h.slots)
	}
}

func (w *seeker) save(out *encoder) {
	for _, n := range []int{w.steps, w.terminal, w.cut, w.served, w.trail.n} {
		out.number(uint64(n))
	}
	for _, b := range w.trail.blocks {
		out.words(b)
	}
	out.batches(w.found)
	if w.memory == nil {
		out.number(0)
		return
	}
	out.number(1)
	out.number(uint64(len(w.memory.prints)))
	out.words(w.memory.prints)
	out.number(uint64(len(w.memory.good)))
	out.words(w.memory.good)
	out.number(uint64(len(w.memory.steps)))
	pairs := make([]uint64, 0, 2*len(w.memory.steps))
	for _, s := range w.memory.steps {
		pairs = append(pairs, s.from, s.to)
	}
	out.words(pairs)
}

func (e *encoder) batches(list []batch) {
	e.number(uint64(len(list)))
	for _, b := range list {
		e.number(uint64(b.n))
		e.number(uint64(len(b.b)))
		e.write(b.b)
	}
}
