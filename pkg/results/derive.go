package results

import (
	"bufio"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"math"
	"slices"

	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// A sheet is a table on its way to the disk, under another name until all the
// tables of the run are there.
type sheet struct {
	name string
	file draft
	sum  hash.Hash
	buf  *bufio.Writer
	csv  *csv.Writer
	row  []string // reused
}

func newSheet(to store, name string, header []string) (*sheet, error) {
	file, err := to.create(name)
	if err != nil {
		return nil, err
	}
	s := &sheet{name: name, file: file, sum: sha256.New()}
	s.buf = bufio.NewWriterSize(io.MultiWriter(file, s.sum), 1<<16)
	s.csv = csv.NewWriter(s.buf)
	return s, s.csv.Write(header)
}

// settle brings the whole table to the disk. A full disk shows in Flush, not in
// Write, and may show in Sync alone.
func (s *sheet) settle() error {
	s.csv.Flush() // csv.Writer has taken buf for its own buffer, which is large enough
	if err := s.csv.Error(); err != nil {
		return err
	}
	return s.file.Sync()
}

func (s *sheet) digest() string { return hex.EncodeToString(s.sum.Sum(nil)) }

// tables are those of a run.
type tables struct {
	trials, operations, outages, messages, summary *sheet
	routes                                         *sheet         // nil: no network was measured
	first                                          []field[Trial] // columns in front of the design
	metrics                                        []string
}

func (t *tables) all() []*sheet {
	return slices.DeleteFunc([]*sheet{t.trials, t.operations, t.outages, t.messages, t.summary, t.routes},
		func(s *sheet) bool { return s == nil })
}

func (t *tables) discard() {
	for _, s := range t.all() {
		s.file.discard()
	}
}

// derive writes the tables of the journal beside the old ones.
func (f *Folder) derive(network *link.Matrix) (_ *tables, err error) {
	h := &f.log.header
	t := &tables{metrics: h.Metrics, first: identity}
	if h.hosts() {
		t.first = append(slices.Clip(identity), host)
	}
	defer func() {
		if err != nil {
			t.discard()
		}
	}()
	for _, s := range []struct {
		to     **sheet
		name   string
		header []string
	}{
		{&t.trials, TrialsFile, slices.Concat(names(t.first), h.Design, fixedColumns(), h.Metrics)},
		{&t.operations, OperationsFile, names(operations)},
		{&t.outages, OutagesFile, names(outages)},
		{&t.messages, MessagesFile, names(messages)},
		{&t.summary, SummaryFile, slices.Concat(h.Design, names(items), h.doubts())},
	} {
		if h.folds() && s.name != SummaryFile {
			continue
		}
		if *s.to, err = newSheet(f.files, s.name, s.header); err != nil {
			return nil, err
		}
	}
	if network != nil {
		if t.routes, err = newSheet(f.files, RoutesFile, names(routes)); err != nil {
			return nil, err
		}
		for i := range network.Routes {
			if err = writeRow(t.routes, routes, routeOf(&network.Routes[i])); err != nil {
				return nil, err
			}
		}
	}
	all := &Table{Header: h}
	if h.folds() {
		err = all.unfold(f.log)
	} else {
		all.begin(len(f.log.last))
		err = f.log.each(func(trial *Trial) error {
			if err := t.add(trial); err != nil {
				return err
			}
			return all.add(trial)
		})
		all.end()
	}
	if err == nil {
		err = all.summarize(t.summary.csv.Write)
	}
	for _, s := range t.all() {
		if err == nil {
			err = s.settle()
		}
	}
	return t, err
}

// add writes one trial into all tables but the summary.
func (t *tables) add(trial *Trial) error {
	err := t.trials.csv.Write(t.trialRow(trial))
	number := ordinal(trial.Trial)
	op := operation{trial: number}
	for _, op.Operation = range trial.Ops {
		op.number++
		err = errors.Join(err, writeRow(t.operations, operations, &op))
	}
	end := instant(trial.Value(metric.Duration))
	o := outage{trial: number}
	for _, one := range trial.Outages {
		if o.number++; one.Definition != o.Definition {
			o.number = 1
		}
		o.Outage, o.length = one, one.Length(end)
		err = errors.Join(err, writeRow(t.outages, outages, &o))
	}
	m := message{trial: number}
	for _, m.MessageCount = range trial.Kinds {
		err = errors.Join(err, writeRow(t.messages, messages, &m))
	}
	return err
}

// writeRow writes a row.
func writeRow[T any](s *sheet, fields []field[T], one *T) error {
	s.row = appendRow(s.row[:0], fields, one)
	return s.csv.Write(s.row)
}

// trialRow lays t out: identity, design, outcome, the fixed metrics, and those of the run.
func (t *tables) trialRow(trial *Trial) []string {
	row := appendRow(t.trials.row[:0], t.first, trial)
	for _, d := range trial.Design {
		row = append(row, d.Value)
	}
	row = appendRow(row, outcome, trial)
	for _, m := range fixed {
		v, _ := trial.figure(m.Name)
		if trial.Unseen && m.Traffic && m.Whole() {
			v = math.NaN()
		}
		row = append(row, Number(v))
	}
	for _, name := range t.metrics {
		text := ""
		if v, named := trial.figure(name); named {
			text = Number(v)
		}
		row = append(row, text)
	}
	t.trials.row = row
	return row
}
