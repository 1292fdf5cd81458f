package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Folded error says that the trials of a run are not there one by one.
type Folded struct{ Path string }

func (e *Folded) Error() string {
	return fmt.Sprintf("%s was run with keep: summary, and has no single trials, which this needs; read its "+
		"%s or its bench report, or run the experiment with keep: all", e.Path, SummaryFile)
}

// Exit is the exit code of a command that was refused so.
func (e *Folded) Exit() int { return 2 }

// folds says whether the run keeps summaries alone.
func (h *Header) folds() bool { return h.Keep == trace.KeepSummary }

// A Fold is what is kept of the trials of a cell. Folds of parts of the trials make that of all of them,
// the same to the last bit however the trials were divided.
type Fold struct {
	Cell     int                  `json:"cell"`
	Design   Design               `json:"design"`
	Beyond   int                  `json:"beyond"` // trials beyond the model
	Marked   int                  `json:"marked"` // see Trial.Marked
	Clocks   float64              `json:"clocks"` // the largest clock_error_us
	Ended    []*ending            `json:"ended"`
	Failures []*Failure           `json:"failures"`
	Kinds    []trace.MessageCount `json:"kinds"` // of the trials with status ok together
	Metrics  map[string]*Tally    `json:"metrics"`
}

// An ending is the trials that ended alike, as "1-5 7".
type ending struct {
	Outcome
	Trials string `json:"trials"`

	numbers []int
}

// A Failure is what trials have in common that are not ok, or are marked.
type Failure struct {
	Status  trace.Status `json:"status"`
	InModel bool         `json:"in_model"`
	Count   int          `json:"count"`
	// Trials are the first of them, as many as traces are kept of, with the reason of each.
	Trials  []int    `json:"trials"`
	Reasons []string `json:"reasons"`
}

// Example is the first of the trials, as far as it is known.
func (f *Failure) Example() Trial {
	return Trial{Trial: f.Trials[0], Status: f.Status, Reason: f.Reasons[0], InModel: f.InModel}
}

// A Tally is what trials observed of a metric, see Trial.Observe.
type Tally struct {
	Named    bool         `json:"named"`    // some trial counts for it
	Censored int          `json:"censored"` // larger than what was seen
	Missing  int          `json:"missing"`  // trials that are not ok and say nothing
	Values   stats.Sketch `json:"values"`
	// Of a pooled metric: what the trials weigh, and that times their values; how long those with a value
	// lasted, in s, and the events that they saw.
	Weight   stats.Sum `json:"weight,omitempty"`
	Weighted stats.Sum `json:"weighted,omitempty"`
	Seconds  stats.Sum `json:"seconds,omitempty"`
	Events   stats.Sum `json:"events,omitempty"`
}

func newFold(cell int, design Design) *Fold {
	return &Fold{Cell: cell, Design: design, Metrics: map[string]*Tally{}}
}

// add takes in the last attempt at a trial.
func (f *Fold) add(t *Trial, metrics []string) {
	if !t.InModel {
		f.Beyond++
	}
	if t.Marked() {
		f.Marked++
	}
	if v, seen := t.Observe(metric.ClockError.Name); seen == Observed {
		f.Clocks = max(f.Clocks, v)
	}
	end := f.ending(Outcome{t.Status, t.Attempts})
	end.numbers = append(end.numbers, t.Trial)
	if t.Status != trace.OK || t.Marked() {
		f.fail(&Failure{t.Status, t.InModel, 1, []int{t.Trial}, []string{t.Reason}})
	}
	if t.Status == trace.OK {
		f.count(t.Kinds)
	}
	for _, name := range metrics {
		y := f.Metrics[name]
		if y == nil {
			y = &Tally{}
			f.Metrics[name] = y
		}
		y.add(t, metric.Named(name))
	}
}

func (f *Fold) ending(o Outcome) *ending {
	for _, e := range f.Ended {
		if e.Outcome == o {
			return e
		}
	}
	f.Ended = append(f.Ended, &ending{Outcome: o})
	return f.Ended[len(f.Ended)-1]
}

// fail takes in failures that are alike.
func (f *Fold) fail(of *Failure) {
	for _, x := range f.Failures {
		if x.Status == of.Status && x.InModel == of.InModel && Alike(x.Reasons[0]) == Alike(of.Reasons[0]) {
			x.Count += of.Count
			for i, n := range of.Trials {
				if at, there := slices.BinarySearch(x.Trials, n); !there && at < MostAlike {
					x.Trials = slices.Insert(x.Trials, at, n)
					x.Reasons = slices.Insert(x.Reasons, at, of.Reasons[i])
				}
			}
			most := min(len(x.Trials), MostAlike)
			x.Trials, x.Reasons = x.Trials[:most], x.Reasons[:most]
			return
		}
	}
	f.Failures = append(f.Failures, of)
}

func (f *Fold) count(kinds []trace.MessageCount) {
	for _, k := range kinds {
		at, found := slices.BinarySearchFunc(f.Kinds, k.Name, func(k trace.MessageCount, name string) int {
			return strings.Compare(k.Name, name)
		})
		if !found {
			f.Kinds = slices.Insert(f.Kinds, at, trace.MessageCount{Name: k.Name})
		}
		to := &f.Kinds[at]
		to.Sent, to.Delivered, to.Lost, to.Bytes = to.Sent+k.Sent, to.Delivered+k.Delivered, to.Lost+k.Lost,
			to.Bytes+k.Bytes
	}
}

func (y *Tally) add(t *Trial, m *metric.Metric) {
	y.Named = y.Named || t.counts(m.Name)
	v, seen := t.Observe(m.Name)
	switch {
	case seen == Censored:
		y.Censored++
	case seen == Observed:
		y.Values.Add(v)
		if m.Kind.Pooled() {
			weight, long := t.Exposure(m), t.Value(metric.Duration)/1000
			y.Weight.Add(weight)
			y.Weighted.Add(float64(v * weight))
			if !math.IsNaN(long) {
				y.Seconds.Add(long)
			}
			if n := eventsOf(m, v, long); !math.IsNaN(n) {
				y.Events.Add(n)
			}
		}
	case t.Status != trace.OK:
		y.Missing++
	}
}

// merge takes in what is kept of other trials of the cell.
func (f *Fold) merge(o *Fold) {
	f.Beyond, f.Marked, f.Clocks = f.Beyond+o.Beyond, f.Marked+o.Marked, max(f.Clocks, o.Clocks)
	for _, e := range o.Ended {
		to := f.ending(e.Outcome)
		to.numbers = append(to.numbers, e.numbers...)
	}
	for _, x := range o.Failures {
		f.fail(x)
	}
	f.count(o.Kinds)
	for name, y := range o.Metrics {
		to := f.Metrics[name]
		if to == nil {
			f.Metrics[name] = y
			continue
		}
		to.Named, to.Censored, to.Missing = to.Named || y.Named, to.Censored+y.Censored, to.Missing+y.Missing
		to.Values.Merge(&y.Values)
		to.Weight.Add(y.Weight...)
		to.Weighted.Add(y.Weighted...)
		to.Seconds.Add(y.Seconds...)
		to.Events.Add(y.Events...)
	}
}

// encode is the fold as the journal has it.
func (f *Fold) encode() ([]byte, error) {
	for _, e := range f.Ended {
		slices.Sort(e.numbers)
		e.Trials = ranges(e.numbers)
	}
	b, err := json.Marshal(f)
	return squeeze(b), err
}

func decodeFold(b []byte, design []string) (*Fold, error) {
	text, err := unsqueeze(b)
	if err != nil {
		return nil, err
	}
	f := new(Fold)
	if err := json.Unmarshal(text, f); err != nil {
		return nil, err
	}
	for _, e := range f.Ended {
		if e.numbers, err = numbersIn(e.Trials); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(f.Failures, func(x *Failure) bool {
		return len(x.Trials) == 0 || len(x.Trials) != len(x.Reasons)
	}) {
		return nil, errors.New("a failure of no trial")
	}
	return f, f.Design.name(design)
}

// ranges are sorted numbers in words.
func ranges(numbers []int) string {
	var b []byte
	for i := 0; i < len(numbers); {
		k := i
		for k+1 < len(numbers) && numbers[k+1] == numbers[k]+1 {
			k++
		}
		if b = strconv.AppendInt(b, int64(numbers[i]), 10); k > i {
			b = strconv.AppendInt(append(b, '-'), int64(numbers[k]), 10)
		}
		b, i = append(b, ' '), k+1
	}
	return strings.TrimSpace(string(b))
}

// numbersIn is the inverse of ranges.
func numbersIn(text string) (out []int, err error) {
	for _, part := range strings.Fields(text) {
		from, to, several := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		last := first
		if err == nil && several {
			last, err = strconv.Atoi(to)
		}
		if err != nil || last < first || last > mostOrdinal {
			return nil, fmt.Errorf("trials %.80q, expected numbers", part)
		}
		for n := first; n <= last; n++ {
			out = append(out, n)
		}
	}
	return out, nil
}

// Describe condenses what the trials observed of a metric. A pooled mean has no interval.
func (f *Fold) Describe(m *metric.Metric) stats.Summary {
	y := f.Metrics[m.Name]
	if y == nil {
		y = &Tally{}
	}
	if !m.Kind.Pooled() {
		return y.Values.Describe(y.Censored)
	}
	d := y.Values.Describe(0)
	d.Method, d.CILow, d.CIHigh = stats.Whole, math.NaN(), math.NaN()
	d.Mean = y.Weighted.Value() / y.Weight.Value()
	d.Seen = d.N - y.Values.Equal(m.Calm())
	return d
}

// bounds are those of Cell.Bounds.
func (f *Fold) bounds(m *metric.Metric) (lo, hi float64) {
	y := f.Metrics[m.Name]
	if y == nil || y.Missing == 0 || y.Values.N() == 0 {
		return math.NaN(), math.NaN()
	}
	least, most := y.Values.Ends()
	if y.Censored > 0 {
		most = math.Inf(1)
	}
	at := func(v float64) float64 {
		if m.Kind.Pooled() {
			weight := y.Weight.Value()
			more := float64(weight / float64(y.Values.N()) * float64(y.Missing))
			return (y.Weighted.Value() + float64(v*more)) / (weight + more)
		}
		if v = y.Values.Median(y.Censored, v, y.Missing); math.IsInf(v, 1) {
			return math.NaN()
		}
		return v
	}
	return at(least), at(most)
}

// events are those of Cell.Events.
func (f *Fold) events(m *metric.Metric) (events, seconds float64) {
	y := f.Metrics[m.Name]
	if y == nil || y.Values.N() == 0 {
		return math.NaN(), math.NaN()
	}
	return eventsOf(m, 0, 0) + y.Events.Value(), y.Seconds.Value()
}

// Count is how many trials ended with the status.
func (f *Fold) Count(status trace.Status) (n int) {
	for _, e := range f.Ended {
		if e.Status == status {
			n += len(e.numbers)
		}
	}
	return n
}

// foldRows is how many trials a journal has, at least, before it folds them.
const foldRows = 1 << 16

// full says whether the journal folds its rows now: when they take as much room as what they are folded
// into, so that all of that is not written again and again.
func (j *journal) full() bool {
	return j.header.folds() && j.fresh >= foldRows && j.tail.end > 2*j.folded
}

// unfold has the index know the trials of a fold.
func (j *journal) unfold(b []byte, at position) error {
	f, err := decodeFold(b, j.header.Design)
	if err != nil {
		return err
	}
	for _, e := range f.Ended {
		for _, n := range e.numbers {
			j.last[n] = slot{Outcome: e.Outcome}
		}
		j.taken += e.Attempts * len(e.numbers)
	}
	if j.header.Trace == trace.KeepFailures {
		for _, x := range f.Failures {
			for i, n := range x.Trials {
				if x.Status != trace.OK {
					j.firsts.Admit(n, x.Status, x.Reasons[i])
				}
			}
		}
	}
	if j.folds == nil {
		j.folds = map[int][]position{}
	}
	j.folds[f.Cell] = append(j.folds[f.Cell], at)
	j.folded += at.size
	return nil
}

// foldOf is what is kept of a cell; nil: nothing is.
func (j *journal) foldOf(cell int) (all *Fold, err error) {
	for _, at := range j.folds[cell] {
		e, err := j.entryAt(at)
		if err != nil {
			return nil, err
		}
		f, err := decodeFold(e.Fold, j.header.Design)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = f
		} else {
			all.merge(f)
		}
	}
	return all, nil
}

// eachFold hands what is kept of each cell to visit, in order, with the rows that are not folded yet, and
// returns those that take another attempt.
func (j *journal) eachFold(visit func(*Fold) error) (open []Trial, err error) {
	var cell *Fold
	metrics := append(metric.Names(metric.Fixed()), j.header.Metrics...)
	var waiting []int // cells with a fold, in order
	for n := range j.folds {
		waiting = append(waiting, n)
	}
	slices.Sort(waiting)
	// pass ends the cells before n.
	pass := func(n int) error {
		if cell != nil && cell.Cell < n {
			if err := visit(cell); err != nil {
				return err
			}
			cell = nil
		}
		for ; len(waiting) > 0 && waiting[0] < n; waiting = waiting[1:] {
			f, err := j.foldOf(waiting[0])
			if err != nil {
				return err
			}
			if err := visit(f); err != nil {
				return err
			}
		}
		return nil
	}
	err = j.each(func(t *Trial) error {
		if !j.header.final(Outcome{t.Status, t.Attempts}) {
			open = append(open, *t)
			return nil
		}
		if err := pass(t.Cell); err != nil {
			return err
		}
		if cell == nil {
			cell = newFold(t.Cell, t.Design)
			if len(waiting) > 0 && waiting[0] == t.Cell {
				var err error
				if cell, err = j.foldOf(t.Cell); err != nil {
					return err
				}
				waiting = waiting[1:]
			}
		}
		cell.add(t, metrics)
		return nil
	})
	if err == nil {
		err = pass(math.MaxInt)
	}
	return open, err
}

// condense folds the rows of the journal, which is replaced at once by a new one: its header, what is kept
// of each cell, and the trials that take another attempt.
func (f *Folder) condense() error {
	d, err := f.files.create(JournalFile)
	if err != nil {
		return err
	}
	defer d.discard()
	lines := 0
	put := func(e entry) error {
		lines++
		e.Seq, e.Synced = lines, lines-1
		b, err := json.Marshal(e)
		if err == nil {
			_, err = d.Write(appendLine(nil, b))
		}
		return err
	}
	header, err := json.Marshal(f.log.header)
	if err = errors.Join(err, put(entry{Header: header})); err != nil {
		return err
	}
	open, err := f.log.eachFold(func(c *Fold) error {
		b, err := c.encode()
		return errors.Join(err, put(entry{Fold: b}))
	})
	for i := range open {
		b, bad := EncodeTrial(&open[i])
		err = errors.Join(err, bad, put(entry{Trial: b}))
	}
	if err = errors.Join(err, d.Sync()); err != nil {
		return err
	}
	// No system lets every file be replaced that is open.
	if err := f.log.file.Close(); err != nil {
		return err
	}
	err = errors.Join(d.publish(), f.files.settle())
	file, bad := f.files.reopen()
	if err = errors.Join(err, bad); err != nil {
		return err
	}
	log, err := load(file)
	if err == nil {
		f.log = log
	}
	return err
}

// ReadCells is ReadTable, also of a run that keeps summaries alone, whose cells have no trials.
func ReadCells(path string) (*Table, error) {
	t, err := ReadTable(path)
	var folded *Folded
	if !errors.As(err, &folded) {
		return t, err
	}
	w, err := inspect(path)
	if err != nil {
		return nil, err
	}
	t = &Table{Path: w.dir, Name: w.header.Name, Config: w.config, Header: &w.header, Manifest: w.manifest,
		Design: w.header.Design, Metrics: declared(w.header.Metrics),
		Undeclared: undeclared(w.header.Metrics)}
	return t, w.reading(t.unfold)
}

// Folded says whether no single trial is there, but what is kept of each cell.
func (t *Table) Folded() bool { return t.folded != nil }

// unfold takes in the cells of a journal with folds.
func (t *Table) unfold(j *journal) error {
	t.folded = []*Cell{}
	open, err := j.eachFold(func(f *Fold) error {
		t.folded = append(t.folded, &Cell{Number: f.Cell, Design: f.Design, Fold: f, method: stats.FixedN})
		return nil
	})
	for i := range open { // they count as what they are, until they are run again
		c := slices.IndexFunc(t.folded, func(c *Cell) bool { return c.Number == open[i].Cell })
		if c < 0 {
			c = len(t.folded)
			t.folded = append(t.folded, &Cell{Number: open[i].Cell, Design: open[i].Design,
				Fold: newFold(open[i].Cell, open[i].Design), method: stats.FixedN})
		}
		t.folded[c].Fold.add(&open[i], append(metric.Names(metric.Fixed()), j.header.Metrics...))
	}
	return err
}
