package results

import (
	"bufio"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"hash"
	"io"
	"slices"
	"strconv"
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
	metrics                                        []string
	hosts                                          bool // there is a column of them
}

func (t *tables) all() []*sheet {
	return []*sheet{t.trials, t.operations, t.outages, t.messages, t.summary}
}

func (t *tables) discard() {
	for _, s := range t.all() {
		if s != nil {
			s.file.discard()
		}
	}
}

// derive writes the tables of the journal beside the old ones.
func (f *Folder) derive() (_ *tables, err error) {
	h := &f.log.header
	t := &tables{metrics: h.Metrics, hosts: h.hosts()}
	first := identity
	if t.hosts {
		first = append(slices.Clone(identity), HostColumn)
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
		{&t.trials, TrialsFile, slices.Concat(first, h.Design, outcome, h.Metrics)},
		{&t.operations, OperationsFile, operationColumns},
		{&t.outages, OutagesFile, outageColumns},
		{&t.messages, MessagesFile, messageColumns},
		{&t.summary, SummaryFile, slices.Concat(h.Design, figures, h.doubts())},
	} {
		if *s.to, err = newSheet(f.files, s.name, s.header); err != nil {
			return nil, err
		}
	}
	sum := newSummary(h)
	err = f.log.each(func(trial *Trial) error {
		sum.add(trial)
		return t.add(trial)
	})
	if err == nil {
		err = sum.rows(t.summary.csv.Write)
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
	if err := t.trials.csv.Write(t.trialRow(trial)); err != nil {
		return err
	}
	number := strconv.Itoa(trial.Trial)
	s := t.operations
	for i, o := range trial.Ops {
		s.row = append(s.row[:0], number, strconv.Itoa(i+1), strconv.FormatUint(uint64(o.Process), 10),
			Number(inMS(o.Cause)), Number(inMS(o.Begin)), Number(inMS(o.End)), string(o.Status),
			string(o.Origin), Number(orNaN(o.Phase)))
		if err := s.csv.Write(s.row); err != nil {
			return err
		}
	}
	s = t.outages
	for i, o := range trial.Outages {
		count := 1
		for ; count <= i && trial.Outages[i-count].Definition == o.Definition; count++ {
		}
		s.row = append(s.row[:0], number, o.Definition, strconv.Itoa(count), strconv.FormatBool(o.Spec),
			Number(inMS(o.Begin)), Number(inMS(o.Cause)), Number(inMS(o.End)),
			Number(inMS(o.Length(instant(trial.DurationMS)))), string(o.Status), string(o.Origin),
			strconv.Itoa(o.Operation))
		if err := s.csv.Write(s.row); err != nil {
			return err
		}
	}
	s = t.messages
	for _, k := range trial.Kinds {
		s.row = append(s.row[:0], number, k.Name, decimal(k.Sent), decimal(k.Delivered),
			decimal(k.Lost), decimal(k.Bytes))
		if err := s.csv.Write(s.row); err != nil {
			return err
		}
	}
	return nil
}

// trialRow lays t out in the order of the columns identity, design, outcome and
// metrics.
func (t *tables) trialRow(trial *Trial) []string {
	row := append(t.trials.row[:0], strconv.Itoa(trial.Trial), strconv.Itoa(trial.Cell),
		strconv.Itoa(trial.Repetition), strconv.Itoa(trial.Round), strconv.Itoa(trial.RunOrder),
		strconv.FormatUint(trial.Seed, 10))
	if t.hosts {
		row = append(row, trial.Host)
	}
	for _, d := range trial.Design {
		row = append(row, d.Value)
	}
	row = append(row, string(trial.Status), trial.Reason, strconv.Itoa(trial.Attempts),
		strconv.FormatBool(trial.InModel), strconv.Itoa(trial.Operations),
		strconv.Itoa(trial.Completed), Number(trial.DurationMS))
	for _, n := range trial.traffic() {
		text := ""
		if !trial.Unseen {
			text = decimal(*n)
		}
		row = append(row, text)
	}
	row = append(row, Number(trial.LateShare), Number(trial.SchedDelayP99MS))
	for _, name := range t.metrics {
		value := ""
		for _, m := range trial.Metrics {
			if m.Name == name {
				value = Number(m.Value)
			}
		}
		row = append(row, value)
	}
	t.trials.row = row
	return row
}

// traffic is where the counts of messages are, in the order of their columns.
func (t *Trial) traffic() [7]*int64 {
	return [...]*int64{&t.Messages, &t.Delivered, &t.Lost, &t.Duplicated, &t.Undeliverable, &t.Bytes,
		&t.DetectorMessages}
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
