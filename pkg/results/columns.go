package results

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// columns are the figures of the trials of a table, column by column, a block of trials at a time.
type columns struct {
	index map[string]int // of names, in columns
	all   []column
	rows  int
}

type column struct {
	blocks []*block // nil: none of these trials names the metric
	last   []float64
	cut    bool // trials that timed out name the metric, too
}

// rowsOfBlock is how many trials a block has but for the last of a column. Cells are contiguous,
// so within a block counts have few different values.
const rowsOfBlock = 4096

// A block is a column of rowsOfBlock trials: their values, or, of few different ones, these
// and which of them each trial has.
type block struct {
	values []float64
	codes  []uint8
}

// unnamed is the figure of a trial that does not name the metric: a NaN unlike that of one that does.
var unnamed = math.Float64frombits(0x7ff8_0000_0000_0c0c)

// add takes the figures of t over, so that t needs none of its own.
func (f *columns) add(t *Trial) {
	for _, m := range t.own {
		i, known := f.index[m.Name]
		if !known {
			i = len(f.all)
			f.index[strings.Clone(m.Name)] = i
			f.all = append(f.all, column{blocks: make([]*block, f.rows/rowsOfBlock)})
		}
		v := m.Value
		if math.IsNaN(v) {
			v = math.NaN() // named
		}
		c := &f.all[i]
		if c.fill(f.rows % rowsOfBlock); len(c.last) == f.rows%rowsOfBlock { // the first of its name
			c.last = append(c.last, v)
		}
	}
	t.own, t.held, t.row = nil, f, int32(f.rows)
	if f.rows++; f.rows%rowsOfBlock == 0 {
		f.seal(rowsOfBlock)
	}
}

// fill has the last block begin with so many trials.
func (c *column) fill(trials int) {
	for len(c.last) < trials {
		c.last = append(c.last, unnamed)
	}
}

// end is for when no further trial comes.
func (f *columns) end() {
	if n := f.rows % rowsOfBlock; n > 0 {
		f.seal(n)
	}
	for i := range f.all {
		f.all[i].last = nil
	}
}

// seal packs the last block of each column, of so many trials.
func (f *columns) seal(trials int) {
	for i := range f.all {
		c := &f.all[i]
		var b *block
		if len(c.last) > 0 {
			c.fill(trials)
			b = blockOf(c.last)
			for _, other := range f.all[:i] { // several definitions of a time often agree
				if o := other.blocks[len(c.blocks)]; o != nil && o.equal(b) {
					b = o
				}
			}
		}
		c.blocks, c.last = append(c.blocks, b), c.last[:0]
	}
}

func blockOf(values []float64) *block {
	codes := make([]uint8, len(values))
	var few []float64
	index := map[uint64]uint8{} // by bits, for NaN equals nothing
	for i, v := range values {
		code, known := index[math.Float64bits(v)]
		if !known {
			if len(few) > math.MaxUint8 {
				return &block{values: slices.Clone(values)}
			}
			code = uint8(len(few))
			index[math.Float64bits(v)], few = code, append(few, v)
		}
		codes[i] = code
	}
	if len(few) == 1 {
		codes = nil
	}
	return &block{slices.Clip(few), codes}
}

func (b *block) at(i int) float64 {
	switch {
	case b == nil:
		return unnamed
	case b.codes != nil:
		i = int(b.codes[i])
	case len(b.values) == 1:
		i = 0
	}
	return b.values[i]
}

func (b *block) equal(o *block) bool {
	return slices.Equal(b.codes, o.codes) && slices.EqualFunc(b.values, o.values, func(v, w float64) bool {
		return math.Float64bits(v) == math.Float64bits(w)
	})
}

// nameCensored has trials that timed out name the times that others have: those are what the
// time limit cut off.
func (f *columns) nameCensored() {
	for name, i := range f.index {
		f.all[i].cut = metric.Named(name).Kind.Censored()
	}
}

// of returns the figure of a trial, and says whether the trial names the metric at all.
func (f *columns) of(t *Trial, name string) (float64, bool) {
	i, known := f.index[name]
	if !known {
		return 0, false
	}
	c := &f.all[i]
	v := c.blocks[t.row/rowsOfBlock].at(int(t.row % rowsOfBlock))
	if math.Float64bits(v) == math.Float64bits(unnamed) {
		if c.cut && t.Status == trace.TimedOut {
			return math.NaN(), true
		}
		return 0, false
	}
	return v, true
}

// shared are values that many trials have, each of which is in memory once.
type shared struct {
	columns *columns
	texts   map[string]string
	designs map[string]Design
	kinds   map[string][]trace.MessageCount
	key     []byte // reused
}

func newShared() *shared {
	return &shared{texts: map[string]string{}, designs: map[string]Design{},
		kinds: map[string][]trace.MessageCount{}, columns: &columns{index: map[string]int{}}}
}

// take makes t share what trials before it have, and gives its figures to the columns. What t holds can
// be used again.
func (s *shared) take(t *Trial) {
	t.Host, t.Reason, t.Status = s.text(t.Host), s.text(t.Reason), trace.Status(s.text(string(t.Status)))
	t.Design, t.Kinds = s.design(t.Design), s.counted(t.Kinds)
	s.columns.add(t)
}

// text is t, which may be a part of a row that need not stay in memory.
func (s *shared) text(t string) string {
	one, known := s.texts[t]
	if !known {
		one = strings.Clone(t)
		s.texts[one] = one
	}
	return one
}

func (s *shared) design(of Design) Design {
	s.key = s.key[:0]
	for _, f := range of {
		s.key = append(append(s.key, f.Value...), 0)
	}
	one, known := s.designs[string(s.key)]
	if !known {
		for _, f := range of {
			one = append(one, metric.Field{Name: f.Name, Value: s.text(f.Value)})
		}
		one = slices.Clip(one)
		s.designs[string(s.key)] = one
	}
	return one
}

// mostShared is how many different lists of messages are looked for: where there are more, trials
// differ in nearly all of theirs.
const mostShared = 1 << 14

// counted is the same messages as in list, which is used again.
func (s *shared) counted(list []trace.MessageCount) []trace.MessageCount {
	if len(list) == 0 {
		return nil
	}
	s.key = s.key[:0]
	for _, k := range list {
		s.key = append(append(s.key, k.Name...), 0)
		for _, n := range []int64{k.Sent, k.Delivered, k.Lost, k.Bytes} {
			s.key = binary.AppendVarint(s.key, n)
		}
	}
	one, known := s.kinds[string(s.key)]
	if !known {
		one = slices.Clip(slices.Clone(list))
		for i := range one {
			one[i].Name = s.text(one[i].Name)
		}
		if len(s.kinds) < mostShared {
			s.kinds[string(s.key)] = one
		}
	}
	return one
}

// linesOf is how many lines the file at path has, or a few more.
func linesOf(path string) (n int, err error) {
	file, err := files.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close() // opened for reading: nothing can be lost
	for part := make([]byte, 1<<16); err == nil; {
		var size int
		size, err = file.Read(part)
		n += bytes.Count(part[:size], []byte("\n"))
	}
	if err != io.EOF {
		return n, err
	}
	return n, nil
}
