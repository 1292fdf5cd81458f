package results

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// An Outcome is how the last recorded attempt at a trial ended.
type Outcome struct {
	Status   trace.Status
	Attempts int
}

// A journal is the index of a journal file: where the last attempt at each
// trial stands. The trials themselves stay on disk, for they may be many.
type journal struct {
	file   logFile
	header Header
	tail   tail
	last   map[int]slot
	firsts Firsts // of a run that keeps those alone
	taken  int    // attempts
	blocks bool   // some line is one

	// Of a run that keeps summaries alone: the lines of each cell, and their bytes.
	fresh  int // attempts that are not folded
	folds  map[int][]position
	folded int64
}

type slot struct {
	position     // of the line
	row      int // in its block, from 0
	Outcome
}

// load indexes the journal in file, which it does not change.
func load(file logFile) (*journal, error) {
	j := &journal{file: file, last: map[int]slot{}}
	t, err := scan(io.NewSectionReader(file, 0, math.MaxInt64), func(e *entry, at position) error {
		if e.Seq == 1 {
			return j.begin(e.Header)
		}
		return j.index(e, at)
	})
	if err == nil && t.lines == 0 {
		err = fmt.Errorf("no header: the run ended before it began; start a new one")
	}
	j.tail = t
	if err != nil {
		return nil, fmt.Errorf("journal: %s: %w", file.Name(), err)
	}
	return j, nil
}

// index has the index know what a line holds.
func (j *journal) index(e *entry, at position) error {
	if e.Fold != nil {
		return j.unfold(e.Fold, at)
	}
	heads, err := e.heads()
	for row, h := range heads {
		j.take(at, row, h)
	}
	j.blocks = j.blocks || e.Block != nil
	return err
}

// take has the index know an attempt, and returns the trials of which no trace is kept any more.
func (j *journal) take(at position, row int, h head) (dropped []int) {
	j.taken++
	j.fresh++
	j.last[h.Trial] = slot{at, row, Outcome{h.Status, h.Attempts}}
	if j.header.Trace != trace.KeepFailures || h.Status == trace.OK {
		return nil
	}
	ok, replaced := j.firsts.Admit(h.Trial, h.Status, h.Reason)
	if !ok {
		dropped = append(dropped, h.Trial)
	}
	if replaced != 0 {
		dropped = append(dropped, replaced)
	}
	return dropped
}

// traced says of which trials that failed traces were left out.
func (j *journal) traced() (out []Traced) {
	if j.header.Trace != trace.KeepFailures {
		return nil
	}
	for _, status := range trace.Statuses() {
		t := Traced{Status: status}
		for n, s := range j.last {
			if s.Status != status {
				continue
			}
			if t.Trials++; j.firsts.keeps(n) {
				t.Kept++
			}
		}
		if status != trace.OK && t.Kept < t.Trials {
			out = append(out, t)
		}
	}
	return out
}

func (j *journal) begin(header []byte) error {
	var version struct {
		Schema int `json:"schema_version"`
	}
	if err := json.Unmarshal(header, &version); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	if version.Schema != Schema {
		return fmt.Errorf("schema version %d, expected %d; read it with the release that wrote it",
			version.Schema, Schema)
	}
	return json.Unmarshal(header, &j.header)
}

// trials lists the trials that have an attempt, in order.
func (j *journal) trials() []int { return slices.Sorted(maps.Keys(j.last)) }

// rows lists those of them that are not folded.
func (j *journal) rows() []int {
	return slices.DeleteFunc(j.trials(), func(n int) bool { return j.last[n].size == 0 })
}

// final says whether o needs no further attempt.
func (h *Header) final(o Outcome) bool { return o.Status != trace.Invalid || o.Attempts > h.Retries }

// each hands the last attempt at every trial to visit, in order of the trials,
// one at a time in memory.
func (j *journal) each(visit func(*Trial) error) error {
	if j.blocks {
		return j.eachSorted(visit)
	}
	for _, n := range j.rows() {
		all, err := j.read(j.last[n].position)
		if err != nil {
			return fmt.Errorf("journal: %s: trial %d: %w", j.file.Name(), n, err)
		}
		if err := visit(&all[0]); err != nil {
			return err
		}
	}
	return nil
}

// read is the attempts of the line there.
func (j *journal) read(at position) ([]Trial, error) {
	e, err := j.entryAt(at)
	if err != nil {
		return nil, err
	}
	return e.attempts(j.header.Design)
}

func (j *journal) entryAt(at position) (*entry, error) {
	line := make([]byte, at.size)
	if _, err := j.file.ReadAt(line, at.at); err != nil {
		return nil, err
	}
	return parseLine(line)
}

// reading calls use with the journal of the run at path, which may be anything
// that Resolve takes, and may still be running.
func reading(path string, use func(*journal) error) error {
	w, err := inspect(path)
	if err != nil {
		return err
	}
	return w.reading(use)
}

func (w *whole) reading(use func(*journal) error) error {
	file, err := files.Open(filepath.Join(w.dir, JournalFile))
	if err != nil {
		return fault("journal", err)
	}
	defer file.Close() // opened for reading: nothing can be lost
	j, err := load(file)
	if err != nil {
		return err
	}
	return use(j)
}

// ReadHeader returns what the run at path is. This and the other readers take
// whatever Resolve takes, lock nothing, and may be used while the run goes on. They
// refuse a folder whose files are not those of its manifest and its journal.
func ReadHeader(path string) (Header, error) {
	w, err := inspect(path)
	if err != nil {
		return Header{}, err
	}
	return w.header, nil
}

// ReadTrials returns the last attempt at every trial of the run at path, sorted
// by trial. A record that a crash cut short counts as not written.
func ReadTrials(path string) ([]Trial, error) {
	var all []Trial
	err := EachTrial(path, func(t *Trial) error {
		all = append(all, *t)
		return nil
	})
	return all, err
}

// EachTrial hands what ReadTrials returns to visit one trial at a time, for
// runs that do not fit into memory, and stops at its first error.
func EachTrial(path string, visit func(*Trial) error) error {
	return reading(path, func(j *journal) error {
		if j.header.folds() {
			return &Folded{path}
		}
		return j.each(visit)
	})
}

// ReadAttempts returns every recorded attempt at one trial, in order.
func ReadAttempts(path string, trial int) ([]Trial, error) {
	var all []Trial
	err := reading(path, func(j *journal) error {
		_, err := scan(io.NewSectionReader(j.file, 0, math.MaxInt64), func(e *entry, _ position) error {
			if e.Header != nil || e.Fold != nil {
				return nil
			}
			heads, err := e.heads()
			other := func(h head) bool { return h.Trial != trial }
			if heads = slices.DeleteFunc(heads, other); err != nil || len(heads) == 0 {
				return err
			}
			found, err := e.attempts(j.header.Design)
			all = append(all, slices.DeleteFunc(found, func(t Trial) bool { return t.Trial != trial })...)
			return err
		})
		return err
	})
	return all, err
}

// EachTrial hands the last attempt at every trial that the run has so far to visit, in
// order of the trials, and stops at its first error. Visit must not use f.
func (f *Folder) EachTrial(visit func(*Trial) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.log.file == nil {
		return f.failed
	}
	if f.log.header.folds() {
		return &Folded{f.dir}
	}
	return f.log.each(visit)
}

// Table is the run so far as an analysis sees it: what ReadTable returns once it is
// finished.
func (f *Folder) Table() (*Table, error) {
	h := f.Header()
	t := &Table{Path: f.dir, Name: h.Name, Design: h.Design, Metrics: declared(h.Metrics),
		Undeclared: undeclared(h.Metrics), Header: &h}
	var err error
	if t.Config, err = f.files.read(ConfigFile, mostConfig); err != nil {
		return nil, fault("configuration", err)
	}
	t.begin(0)
	err = f.EachTrial(t.add)
	t.end()
	f.mu.Lock()
	t.Manifest = f.manifest
	f.mu.Unlock()
	return t, err
}

// File is the content of one of the run's files, by its name: TrialsFile and the other
// tables are those that Finish wrote last. The error is fs.ErrNotExist if it wrote none.
func (f *Folder) File(name string) ([]byte, error) {
	b, err := f.files.read(name, mostTrace)
	if err != nil {
		return nil, fault("results", err)
	}
	return b, nil
}
