package telemetry

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Reader is the host's end of a telemetry file. It may be read while
// the node writes. Nothing that the file says is believed before it is checked.
type Reader struct {
	Process     uint32
	Incarnation uint32

	file   *os.File
	header []byte
	words  []atomic.Uint64
	count  *atomic.Uint64
	refuse *atomic.Uint64
	limit  uint64
}

// Open opens a file that Create has finished to make.
func Open(path string) (*Reader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open telemetry: %w", err)
	}
	r := &Reader{file: file}
	if err := r.init(); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("open telemetry: %s: %w", path, err)
	}
	return r, nil
}

func (r *Reader) init() error {
	var b [atWords]byte
	if _, err := r.file.ReadAt(b[:], 0); err != nil {
		return fmt.Errorf("read header: %w", err)
	}
	le, ne := binary.LittleEndian, binary.NativeEndian
	if got := ne.Uint64(b[atMagic:]); got != fileMagic {
		return fmt.Errorf("begins with %#x, expected %#x: not a telemetry file, or not finished",
			got, uint64(fileMagic))
	}
	if v := le.Uint32(b[atVersion:]); v != fileVersion {
		return fmt.Errorf("version %d, expected %d: were host and node built together?",
			v, fileVersion)
	}
	words, size := int64(le.Uint32(b[atWordCount:])), int64(le.Uint32(b[atHeaderSize:]))
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	page := int64(os.Getpagesize())
	if want := (atWords + 8*words + page - 1) / page * page; words > maxWords || size != want ||
		info.Size() < size {
		return fmt.Errorf("header of %d bytes with %d words in a file of %d bytes: damaged",
			size, words, info.Size())
	}
	if r.header, err = mapReadOnly(r.file, int(size)); err != nil {
		return err
	}
	r.Process = le.Uint32(b[atProcess:])
	r.Incarnation = le.Uint32(b[atIncarnation:])
	r.limit = le.Uint64(b[atLimit:])
	r.words = wordsAt(r.header, int(words))
	r.count, r.refuse = wordAt(r.header, atCount), wordAt(r.header, atRefused)
	return nil
}

// Words is how many words there are.
func (r *Reader) Words() int { return len(r.words) }

// Word is the present value of word i.
func (r *Reader) Word(i int) uint64 { return r.words[i].Load() }

// Len is how many slots the node has written.
func (r *Reader) Len() uint64 { return r.count.Load() }

// Full says whether the node had to refuse a record, because the limit was
// reached or the disk full: what it did after its last record is not known.
func (r *Reader) Full() bool { return r.refuse.Load() != 0 }

// Each calls visit with every record, as EachFrom does from slot 0.
func (r *Reader) Each(visit func(rec *trace.Record) error) error {
	_, err := r.EachFrom(0, visit)
	return err
}

// EachFrom calls visit with every record from slot i on that had been written
// when it was called, and returns the slot to go on from. The record is valid during
// the call alone. EachFrom stops at the first error of visit, and returns it as it is,
// and at the first slot that does not hold what it must.
func (r *Reader) EachFrom(i uint64, visit func(rec *trace.Record) error) (next uint64, err error) {
	n, err := r.readable()
	if err != nil {
		return i, err
	}
	if i > n {
		return i, fmt.Errorf("read telemetry: %s: slot %d of %d: out of range", r.file.Name(), i, n)
	}
	at := func(slot uint64) int64 { return int64(len(r.header)) + int64(slot)*trace.Size }
	in := bufio.NewReaderSize(io.NewSectionReader(r.file, at(i), at(n)-at(i)), 32<<10)
	var (
		slot [trace.Size]byte
		rec  trace.Record
	)
	for i < n {
		if _, err := io.ReadFull(in, slot[:]); err != nil {
			return i, r.damaged(i, err)
		}
		if err := rec.Get(slot[:]); err != nil {
			return i, r.damaged(i, err)
		}
		slots := uint64(1)
		if rec.Type.HasText() {
			if rec.Text, err = readText(in, rec.Arg, n-i-1); err != nil {
				return i, r.damaged(i, err)
			}
			slots += textSlots(rec.Arg)
		}
		if err := visit(&rec); err != nil {
			return i, err
		}
		i += slots
	}
	return i, nil
}

// readText reads a text of size bytes and the rest of its last slot. At most left
// slots are there.
func readText(in io.Reader, size, left uint64) (string, error) {
	if size > MaxText || textSlots(size) > left {
		return "", fmt.Errorf("text of %d bytes with %d slots left: expected at most %d bytes",
			size, left, MaxText)
	}
	text := make([]byte, textSlots(size)*trace.Size)
	if _, err := io.ReadFull(in, text); err != nil {
		return "", err
	}
	return string(text[:size]), nil
}

// readable is the number of slots that the node has written, if they can be there.
func (r *Reader) readable() (uint64, error) {
	n := r.Len()
	info, err := r.file.Stat()
	if err != nil {
		return 0, fmt.Errorf("read telemetry: %w", err)
	}
	room := uint64(max(0, info.Size()-int64(len(r.header)))) / trace.Size
	if n > r.limit || n > room {
		return 0, fmt.Errorf("read telemetry: %s: %d records counted, but there is room for %d "+
			"and the limit is %d: damaged", r.file.Name(), n, room, r.limit)
	}
	return n, nil
}

func (r *Reader) damaged(slot uint64, err error) error {
	return fmt.Errorf("read telemetry: %s: slot %d: damaged: %w", r.file.Name(), slot, err)
}

// Close gives up the host's end; the file stays.
func (r *Reader) Close() error {
	err := Unmap(r.header)
	r.header, r.words = nil, nil
	if closeErr := r.file.Close(); err == nil {
		err = closeErr
	}
	return err
}
