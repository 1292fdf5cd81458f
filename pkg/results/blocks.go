package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A run of more than textRows planned trials has blocks in its journal: attempts that are appended
// together are one line, column by column and compressed, if they are at least leastBlock.
const (
	textRows   = 10_000
	leastBlock = 8
)

// blocks says whether the journal of the run has blocks.
func (h *Header) blocks() bool { return h.Planned > textRows }

// What a block holds, before it is compressed, is two JSON objects in a line each: the columns in front
// of the figures, which the index needs, and everything else.
var blockFields = sync.OnceValue(func() []field[Trial] {
	out := slices.Concat(outcome, identity, []field[Trial]{host})
	for i := range out {
		out[i].seldom = out[i].name == "reason" || out[i].name == HostColumn
	}
	return out
})

// A blockRest is the second object.
type blockRest struct {
	Designs []Design `json:"designs"` // the different ones
	Design  []int    `json:"design"`  // which of them each attempt has
	// Figures has a number for each attempt, null for a figure without a value, and false where the
	// attempt does not name the metric.
	Figures    []blockFigure   `json:"figures"`
	Unseen     []int           `json:"unseen,omitempty"` // attempts whose messages are not seen, from 0
	Kinds      json.RawMessage `json:"kinds"`
	Operations json.RawMessage `json:"operations"`
	Outages    json.RawMessage `json:"outages"`
	Spec       []string        `json:"spec"` // definition of the outages that the Spec names
}

type blockFigure struct {
	Name   string          `json:"name"`
	Values json.RawMessage `json:"values"`
}

// coder compresses blocks; one of each is enough for all goroutines.
var coder = sync.OnceValues(func() (*zstd.Encoder, *zstd.Decoder) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	d, bad := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostLine))
	if err = errors.Join(err, bad); err != nil {
		panic(err) // the options are constants
	}
	return e, d
})

func squeeze(b []byte) []byte {
	e, _ := coder()
	return e.EncodeAll(b, nil)
}

func unsqueeze(b []byte) ([]byte, error) {
	_, d := coder()
	return d.DecodeAll(b, nil)
}

// encodeBlock is attempts as a block, with their texts cleaned.
func encodeBlock(trials []Trial) ([]byte, error) {
	all := make([]Trial, len(trials))
	for i := range trials {
		all[i] = trials[i].cleaned()
	}
	b, err := appendColumns([]byte("{"), blockFields(), len(all), func(i int) *Trial { return &all[i] })
	if err != nil {
		return nil, err
	}
	var rest blockRest
	rest.design(all)
	rest.figures(all)
	if rest.Kinds, err = listColumns(all, messages, func(t *Trial) []message {
		return rowsOf(t.Kinds, func(k trace.MessageCount) message { return message{MessageCount: k} })
	}); err != nil {
		return nil, err
	}
	if rest.Operations, err = listColumns(all, operations, func(t *Trial) []operation {
		return rowsOf(t.Ops, func(o trace.Operation) operation { return operation{Operation: o} })
	}); err != nil {
		return nil, err
	}
	if rest.Outages, err = listColumns(all, outages, func(t *Trial) []outage {
		return rowsOf(t.Outages, func(o trace.Outage) outage { return outage{Outage: o} })
	}); err != nil {
		return nil, err
	}
	for i := range all {
		rest.Spec = append(rest.Spec, specOf(all[i].Outages))
	}
	second, err := json.Marshal(rest)
	if err != nil {
		return nil, err
	}
	return squeeze(append(append(b, '\n'), second...)), nil
}

func rowsOf[A, B any](list []A, of func(A) B) []B {
	if len(list) == 0 {
		return nil
	}
	out := make([]B, len(list))
	for i := range list {
		out[i] = of(list[i])
	}
	return out
}

func (r *blockRest) design(all []Trial) {
	index := map[string]int{}
	for i := range all {
		key := designKey(all[i].Design)
		at, known := index[key]
		if !known {
			at = len(r.Designs)
			index[key], r.Designs = at, append(r.Designs, all[i].Design)
		}
		r.Design = append(r.Design, at)
	}
}

// figures collects the figures in the order in which they first appear.
func (r *blockRest) figures(all []Trial) {
	index, columns := map[string]int{}, [][]byte(nil)
	filled := []int(nil)
	add := func(row int, name string, v float64) {
		at, known := index[name]
		if !known {
			at = len(columns)
			index[name] = at
			columns, filled = append(columns, []byte{'['}), append(filled, 0)
			r.Figures = append(r.Figures, blockFigure{Name: name})
		}
		for ; filled[at] < row; filled[at]++ {
			columns[at] = append(columns[at], "false,"...)
		}
		columns[at], filled[at] = append(appendNumber(columns[at], v), ','), row+1
	}
	for i := range all {
		t := &all[i]
		if t.Unseen {
			r.Unseen = append(r.Unseen, i)
		}
		for _, m := range fixed {
			v, _ := t.figure(m.Name)
			add(i, m.Name, v)
		}
		for _, v := range t.Metrics() {
			add(i, v.Name, v.Value)
		}
	}
	for at := range columns {
		for ; filled[at] < len(all); filled[at]++ {
			columns[at] = append(columns[at], "false,"...)
		}
		columns[at][len(columns[at])-1] = ']'
		r.Figures[at].Values = columns[at]
	}
}

// listColumns are the columns of what trials have several of, behind how many each has.
func listColumns[R any](all []Trial, fields []field[R], of func(*Trial) []R) (json.RawMessage, error) {
	b, rows := []byte(`{"of":[`), []R(nil)
	for i := range all {
		list := of(&all[i])
		rows = append(rows, list...)
		b = append(strconv.AppendInt(b, int64(len(list)), 10), ',')
	}
	b[len(b)-1] = ']'
	return appendColumns(append(b, ','), fields, len(rows), func(i int) *R { return &rows[i] })
}

// parseLists is the inverse of listColumns, for so many trials. What names the rows.
func parseLists[R any](b []byte, fields []field[R], what string, trials int) ([][]R, error) {
	var counts struct{ Of []int }
	if err := json.Unmarshal(b, &counts); err != nil {
		return nil, err
	}
	rows, err := readColumns(b, fields, what)
	if err != nil {
		return nil, err
	}
	out := make([][]R, len(counts.Of))
	for i, n := range counts.Of {
		if n < 0 || n > len(rows) {
			return nil, fmt.Errorf("%s: a trial has %d of %d that are left", what, n, len(rows))
		}
		out[i], rows = rows[:n:n], rows[n:]
	}
	if len(out) != trials || len(rows) > 0 {
		return nil, fmt.Errorf("%s of %d trials, expected %d; %d belong to none", what, len(out), trials,
			len(rows))
	}
	return out, nil
}

// headsOf is what the index needs of the attempts of a block.
func headsOf(block []byte) (heads []head, err error) {
	text, err := unsqueeze(block)
	if err != nil {
		return nil, err
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	trials, err := readColumns(first, blockFields(), "trials")
	for i := range trials {
		t := &trials[i]
		heads = append(heads, head{t.Trial, t.Status, t.Reason, t.Attempts})
	}
	return heads, err
}

// decodeBlock is the attempts of a block, for a run with these columns of the design.
func decodeBlock(block []byte, design []string) ([]Trial, error) {
	text, err := unsqueeze(block)
	if err != nil {
		return nil, err
	}
	first, second, _ := bytes.Cut(text, []byte("\n"))
	trials, err := readColumns(first, blockFields(), "trials")
	if err != nil {
		return nil, err
	}
	var rest blockRest
	if err := json.Unmarshal(second, &rest); err != nil {
		return nil, err
	}
	for _, step := range []func([]Trial) error{
		func(all []Trial) error { return rest.setDesign(all, design) }, rest.setFigures, rest.setLists,
	} {
		if err := step(trials); err != nil {
			return nil, err
		}
	}
	for i := range trials {
		trials[i].Round = max(trials[i].Round, 1)
	}
	return trials, nil
}

func (r *blockRest) setDesign(all []Trial, names []string) error {
	for _, d := range r.Designs {
		if err := d.name(names); err != nil {
			return err
		}
	}
	if len(r.Design) != len(all) || len(r.Spec) != len(all) {
		return fmt.Errorf("designs of %d attempts, expected %d", len(r.Design), len(all))
	}
	for i, at := range r.Design {
		if at < 0 || at >= len(r.Designs) {
			return fmt.Errorf("design %d of %d", at, len(r.Designs))
		}
		all[i].Design = r.Designs[at]
	}
	return nil
}

func (r *blockRest) setFigures(all []Trial) error {
	room := make([]metric.Value, 0, len(all)*len(r.Figures))
	columns := make([][]float64, len(r.Figures))
	for i, f := range r.Figures {
		values, err := parseNumbers(f.Values)
		if err == nil && len(values) != len(all) {
			err = fmt.Errorf("%d values, expected %d", len(values), len(all))
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", f.Name, err)
		}
		columns[i] = values
	}
	for i := range all {
		begin := len(room)
		for k, f := range r.Figures {
			if v := columns[k][i]; math.Float64bits(v) != math.Float64bits(unnamed) {
				room = append(room, metric.Value{Name: f.Name, Value: v})
			}
		}
		all[i].own = room[begin:len(room):len(room)]
	}
	for _, i := range r.Unseen {
		if i < 0 || i >= len(all) {
			return fmt.Errorf("unseen: attempt %d of %d", i, len(all))
		}
		all[i].Unseen = true
	}
	return nil
}

func (r *blockRest) setLists(all []Trial) error {
	kinds, err := parseLists(r.Kinds, messages, "messages", len(all))
	if err != nil {
		return err
	}
	ops, err := parseLists(r.Operations, operations, "operations", len(all))
	if err != nil {
		return err
	}
	outs, err := parseLists(r.Outages, outages, "outages", len(all))
	if err != nil {
		return err
	}
	for i := range all {
		t := &all[i]
		t.Kinds = rowsOf(kinds[i], func(m message) trace.MessageCount { return m.MessageCount })
		t.Ops = rowsOf(ops[i], func(o operation) trace.Operation { return o.Operation })
		t.Outages = rowsOf(outs[i], func(o outage) trace.Outage {
			o.Spec = o.Definition == r.Spec[i]
			return o.Outage
		})
	}
	return nil
}
