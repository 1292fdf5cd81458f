package results

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/conclave-bench/conclave/internal/files"
	"github.com/conclave-bench/conclave/internal/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Table is a run as an analysis sees it: the last attempt at every trial, with
// the columns of trials.csv. Kinds are there if messages.csv is; operations are
// not.
type Table struct {
	Path    string // what was read: the run's folder, or a file
	Name    string // of the experiment, as far as it can be known
	Design  []string
	Metrics []string // the metrics' columns, those between design and metrics left out
	// Undeclared are columns where metrics stand that this version does not declare: of
	// another version, or of somebody else. Nothing is known of them; they are left out.
	Undeclared []string
	Trials     []Trial // sorted by trial

	// What is known beside the tables; nil if it is not.
	Header   *Header
	Manifest *Manifest // that of a run that was resumed and killed is older than the table
	Config   []byte    // the resolved experiment

	CSV string // the trials.csv that holds the same; "" if none does

	survey bool // trials have no Metrics of their own
	shared *shared
}

// A Cell is the trials of a table that have one design.
type Cell struct {
	Number int // of its first trial
	Design []metric.Field
	Trials []*Trial // by repetition

	method stats.Method
}

// ReadTable reads the run at path: whatever Resolve takes, a folder that holds
// only the tables, or a file like trials.csv on its own. What lies beside a manifest has
// the checksum that stands there.
func ReadTable(path string) (*Table, error) { return openTable(path, false) }

// openTable reads as Survey does, or as ReadTable.
func openTable(path string, survey bool) (*Table, error) {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return readAlone(path, "", survey)
	}
	if bare(path) {
		return readAlone(filepath.Join(path, TrialsFile), filepath.Join(path, MessagesFile), survey)
	}
	w, err := inspect(path)
	if err != nil {
		return nil, err
	}
	t := &Table{Path: w.dir, Name: w.header.Name, Config: w.config, Header: &w.header, Manifest: w.manifest,
		survey: survey}
	if w.current {
		t.CSV = filepath.Join(w.dir, TrialsFile)
		err := t.read(t.CSV, filepath.Join(w.dir, MessagesFile))
		// What a timed-out trial was waiting for is in the journal alone.
		if err != nil || !slices.ContainsFunc(t.Trials, timedOut) {
			return t, err
		}
	}
	t.Design, t.Trials = w.header.Design, nil
	t.Metrics, t.Undeclared = declared(w.header.Metrics), undeclared(w.header.Metrics)
	return t, w.reading(func(j *journal) error {
		t.begin(len(j.last))
		defer t.end()
		return j.each(t.add)
	})
}

// begin prepares t for about so many trials.
func (t *Table) begin(trials int) {
	t.Trials, t.shared = make([]Trial, 0, trials), newShared(t.survey)
}

// end is for when all trials are there.
func (t *Table) end() {
	t.shared.end()
	t.shared = nil
}

// add takes in a trial, without its operations.
func (t *Table) add(trial *Trial) error {
	trial.Ops, trial.Outages = nil, nil
	t.shared.take(trial)
	t.Trials = append(t.Trials, *trial)
	return nil
}

func timedOut(t Trial) bool { return t.Status == trace.TimedOut }

// bare says whether path is a folder with tables of which no journal and no manifest
// tells where they are from.
func bare(path string) bool {
	if _, err := Resolve(path); err == nil {
		return false
	}
	_, err := os.Stat(filepath.Join(path, TrialsFile))
	return err == nil
}

// readAlone reads tables without a journal: trials.csv from path and, unless that is
// missing, messages.csv.
func readAlone(path, messages string, survey bool) (*Table, error) {
	dir, name := filepath.Split(path)
	t := &Table{Path: path, Name: strings.TrimSuffix(name, filepath.Ext(name)), CSV: path, survey: survey}
	if messages != "" {
		t.Path = filepath.Dir(path)
		t.Name = filepath.Base(t.Path)
	}
	var err error
	if t.Manifest, err = manifestOf(path); err != nil {
		return nil, err
	}
	if name == TrialsFile {
		if err := t.findConfig(filepath.Join(dir, ConfigFile)); err != nil {
			return nil, err
		}
	}
	return t, t.read(path, messages)
}

// manifestOf returns the manifest that lies beside a table and names it, if there is one, and
// holds the table against it.
func manifestOf(path string) (*Manifest, error) {
	dir, name := filepath.Split(path)
	m, err := readManifest(filepath.Join(dir, ManifestFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case m.Files[name] == "":
		return nil, nil
	}
	return m, m.vouches(name, path)
}

// findConfig reads the configuration that lies beside a table, if there is one.
func (t *Table) findConfig(path string) (err error) {
	t.Config, err = files.Read(path, mostConfig)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fault("configuration", err)
	case t.Manifest != nil:
		return t.Manifest.vouches(ConfigFile, path)
	}
	return nil
}

// read reads trials.csv from path and, unless the name is empty or the file missing,
// messages.csv.
func (t *Table) read(path, messages string) error {
	if err := t.readTrials(path); err != nil || messages == "" {
		return err
	}
	err := t.readMessages(messages)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err
}

// byteOrderMark is what spreadsheets put in front of a table that they save.
const byteOrderMark = "\ufeff"

// eachRow hands the rows of the table at path to visit after its header to
// begin. An error names file, line and, where there is one, the column.
func eachRow(path string, begin func([]string) error, visit func([]string) error) error {
	file, err := files.Open(path)
	if err != nil {
		return fault("table", err)
	}
	defer file.Close() // opened for reading: nothing can be lost
	r := csv.NewReader(files.Lines(file, mostRow))
	r.ReuseRecord = true
	for first := true; ; first = false {
		row, err := r.Read()
		switch {
		case err == io.EOF && first:
			return fmt.Errorf("%s: empty, want a header and rows", path)
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", path, err)
		case first:
			header := slices.Clone(row)
			header[0] = strings.TrimPrefix(header[0], byteOrderMark)
			err = begin(header)
		default:
			err = visit(row)
		}
		if err != nil {
			line, _ := r.FieldPos(0)
			return fmt.Errorf("%s: line %d: %w", path, line, err)
		}
	}
}

func (t *Table) readTrials(path string) error {
	lines, err := linesOf(path)
	if err != nil {
		return fault("table", err)
	}
	t.begin(lines)
	defer t.end()
	var at layout
	err = eachRow(path, func(header []string) (err error) {
		at, err = t.lay(header)
		return err
	}, func(row []string) error {
		trial := at.scratch
		if err := at.trial(t, row, &trial); err != nil {
			return err
		}
		at.scratch = Trial{Design: trial.Design[:0], Metrics: trial.Metrics[:0]}
		return t.add(&trial)
	})
	byNumber := func(a, b Trial) int { return a.Trial - b.Trial }
	if !slices.IsSortedFunc(t.Trials, byNumber) {
		slices.SortStableFunc(t.Trials, byNumber)
	}
	if err == nil {
		t.nameCensored()
	}
	return err
}

// A layout is where the parts of a row of trials.csv begin.
type layout struct {
	identity                 []string // of this table or of an older one
	design, outcome, metrics int
	hosts                    bool     // in front of the design
	columns                  []string // behind outcome
	scratch                  Trial    // has slices to be used again
	valid                    []string // the last value of each column of the design, which was checked
}

// lay finds the parts of a header, whose design and metrics may be any.
func (t *Table) lay(header []string) (layout, error) {
	at := layout{identity: identity}
	if !slices.Contains(header, "round") { // a table of a version without rounds
		at.identity = slices.DeleteFunc(slices.Clone(identity), func(s string) bool { return s == "round" })
	}
	at.design = len(at.identity)
	if at.hosts = slices.Index(header, HostColumn) == at.design; at.hosts {
		at.design++
	}
	at.outcome = slices.Index(header, outcome[0])
	at.metrics = at.outcome + len(outcome)
	if at.outcome < at.design || len(header) < at.metrics ||
		!slices.Equal(header[:len(at.identity)], at.identity) ||
		!slices.Equal(header[at.outcome:at.metrics], outcome) {
		renamed := ""
		if slices.Contains(header, "order") {
			renamed = "; order is called run_order now"
		}
		return at, fmt.Errorf("the columns begin %s, want those of %s: %s, the design, %s, the metrics%s%s",
			clipped(header), TrialsFile, strings.Join(identity, ", "), strings.Join(outcome, ", "),
			separated(header), renamed)
	}
	t.Design, at.columns = header[at.design:at.outcome], header[at.metrics:]
	at.valid = make([]string, len(t.Design))
	t.Metrics, t.Undeclared = declared(at.columns), undeclared(at.columns)
	return at, nil
}

// clipped is the beginning of a header.
func clipped(header []string) string {
	text := []rune(strings.Join(header, ", "))
	const most = 50
	if len(text) > most {
		text = append(text[:most], []rune("...")...)
	}
	return strconv.Quote(string(text))
}

// separated says what a spreadsheet may have put between the columns.
func separated(header []string) string {
	if len(header) == 1 && strings.ContainsAny(header[0], ";\t") {
		return "; they are not separated by commas"
	}
	return ""
}

// trial reads a row into t, which then holds parts of it.
func (at *layout) trial(table *Table, row []string, t *Trial) error {
	p := fields{names: at.identity, row: row}
	t.Trial, t.Cell, t.Repetition, t.Round = p.ordinal(), p.ordinal(), p.ordinal(), 1
	if len(at.identity) == len(identity) {
		t.Round = int(p.whole(0, mostOrdinal))
	}
	t.RunOrder, t.Seed = p.ordinal(), uint64(p.count())
	if at.hosts {
		t.Host = row[len(at.identity)]
	}
	for i, name := range table.Design {
		value := row[at.design+i]
		t.Design = append(t.Design, metric.Field{Name: name, Value: value})
		if at.valid[i] == value && value != "" {
			continue
		}
		if want := wantedOf(name, value); want != "" {
			return fmt.Errorf("column %s: %q, want %s", name, value, want)
		}
		at.valid[i] = strings.Clone(value)
	}
	p.names, p.row, p.next = outcome, row[at.outcome:], 0
	t.Status, t.Reason = trace.Status(p.text()), p.text()
	t.Attempts, t.InModel = p.ordinal(), p.truth()
	t.Operations, t.Completed, t.DurationMS = int(p.count()), int(p.count()), p.instant()
	t.Unseen = p.row[p.next] == ""
	for _, n := range t.traffic() {
		if t.Unseen {
			p.empty()
		} else {
			*n = p.count()
		}
	}
	t.LateShare, t.SchedDelayP99MS = p.between(0, 1), p.instant()
	p.names, p.row, p.next = at.columns, row[at.metrics:], 0
	clocks := at.clocks(p.row)
	for _, name := range at.columns {
		m := metric.Named(name)
		if m == nil {
			p.text()
			continue
		}
		least, most := m.Bounds()
		if t.Status == trace.Invalid { // as of a clock that was set; nothing counts it
			least, most = -mostInstant, max(most, mostInstant)
		}
		if v := p.between(least-m.Doubt(clocks), most); !math.IsNaN(v) {
			t.Metrics = append(t.Metrics, m.Of(v))
		}
	}
	if p.err == nil && !slices.Contains(trace.Statuses(), t.Status) {
		p.err = fmt.Errorf("status %q, want one of %q", t.Status, trace.Statuses())
	}
	return p.err
}

// clocks is by how many microseconds the clocks of a trial can be wrong.
func (at *layout) clocks(row []string) float64 {
	if i := slices.Index(at.columns, metric.ClockError.Name); i >= 0 {
		if v, err := strconv.ParseFloat(row[i], 64); err == nil && v > 0 {
			return v
		}
	}
	return 0
}

// wantedOf is what a column of the design has instead of a value; "": the value is one.
func wantedOf(name, value string) string {
	p := fields{names: []string{name}, row: []string{value}}
	switch name {
	case "nodes":
		p.ordinal()
	case "latency_ms":
		p.instant()
	case "loss", "duplication":
		p.between(0, 1)
	case "crash_rate":
		p.between(0, mostInstant)
	}
	if p.want == "" && strings.ContainsFunc(value, unicode.IsControl) {
		return "no control character"
	}
	return p.want
}

// nameCensored adds to timed-out trials the times that others of the table have
// and they do not: those are what the time limit cut off.
func (t *Table) nameCensored() {
	if t.survey {
		if len(t.Trials) > 0 {
			t.Trials[0].held.nameCensored()
		}
		return
	}
	has := map[string]bool{}
	for _, trial := range t.Trials {
		for _, m := range trial.Metrics {
			has[m.Name] = true
		}
	}
	for i := range t.Trials {
		trial := &t.Trials[i]
		if trial.Status != trace.TimedOut {
			continue
		}
		for _, name := range t.Metrics {
			_, there := trial.Figure(name)
			if m := metric.Named(name); !there && has[name] && m.Kind.Censored() {
				trial.Metrics = append(trial.Metrics, m.Of(math.NaN()))
			}
		}
	}
}

func (t *Table) readMessages(path string) error {
	all := newShared(false)
	var list []trace.MessageCount // of trial
	var trial *Trial
	end := func() {
		if trial != nil {
			trial.Kinds = all.counted(append(slices.Clip(trial.Kinds), list...))
		}
		list = list[:0]
	}
	err := eachRow(path, exactly(messageColumns), func(row []string) error {
		p := fields{names: messageColumns, row: row}
		number := p.ordinal()
		k := trace.MessageCount{
			Name: all.text(p.text()),
			Sent: p.count(), Delivered: p.count(), Lost: p.count(), Bytes: p.count(),
		}
		if p.err != nil {
			return p.err
		}
		if trial == nil || trial.Trial != number {
			end()
			if trial = t.numbered(number); trial == nil {
				return fmt.Errorf("trial %s is not in %s", row[0], TrialsFile)
			}
		}
		list = append(list, k)
		return nil
	})
	end()
	return err
}

// numbered is the last trial of that number, for the table may have one twice; nil: there is none.
func (t *Table) numbered(number int) *Trial {
	i, _ := slices.BinarySearchFunc(t.Trials, number, func(trial Trial, number int) int {
		return cmp.Compare(trial.Trial, number+1)
	})
	if i == 0 || t.Trials[i-1].Trial != number {
		return nil
	}
	return &t.Trials[i-1]
}

// exactly is for eachRow: it refuses a header of any other columns.
func exactly(want []string) func(header []string) error {
	return func(header []string) error {
		if !slices.Equal(header, want) {
			return fmt.Errorf("columns %q, want %q", header, want)
		}
		return nil
	}
}

// fields reads the values of a row in turn and keeps the first error.
type fields struct {
	names, row []string
	next       int
	err        error
	want       string // instead of what the first error is of
}

func (p *fields) text() string {
	p.next++
	return p.row[p.next-1]
}

func (p *fields) wrong(want string) {
	if p.err == nil {
		p.want = want
		p.err = fmt.Errorf("column %s: %q, want %s", p.names[p.next-1], p.row[p.next-1], want)
	}
}

// How much tables have at most: what is beyond is a mistake, and would overflow somewhere.
const (
	mostOrdinal = math.MaxInt32
	mostCount   = 1<<53 - 1 // every reader of numbers keeps these
	mostInstant = 1e12      // in milliseconds 30 years, in nanoseconds no overflow
)

// whole is a whole number from least to most.
func (p *fields) whole(least, most int64) int64 {
	p.next++
	v, err := strconv.ParseInt(p.row[p.next-1], 10, 64)
	if err != nil || v < least || v > most {
		p.wrong(fmt.Sprintf("a whole number from %d to %d", least, most))
	}
	return v
}

// ordinal counts from 1.
func (p *fields) ordinal() int { return int(p.whole(1, mostOrdinal)) }

func (p *fields) count() int64 { return p.whole(0, mostCount) }

// empty is for a field that has to be.
func (p *fields) empty() {
	if p.text() != "" {
		p.wrong("nothing, as in the columns of messages before")
	}
}

func (p *fields) truth() bool {
	p.next++
	switch p.row[p.next-1] {
	case "true":
		return true
	case "false":
	default:
		p.wrong("true or false")
	}
	return false
}

// instant is one of a trial, or a time, in ms; NaN for an empty field.
func (p *fields) instant() float64 { return p.between(0, mostInstant) }

// between is a number from least to most, give or take what rounding does; NaN for an empty field.
func (p *fields) between(least, most float64) float64 {
	p.next++
	text := p.row[p.next-1]
	if text == "" {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(text, 64)
	const (
		rounding = 1e-9
		finest   = 1e-150 // what comes closer to 0 has no logarithm, or no difference, that can be drawn
	)
	if v != 0 && math.Abs(v) < finest {
		p.wrong("0, or a number further from it than 1e-150")
	}
	if err != nil || !(v >= least-rounding && v <= most+rounding) {
		p.wrong(fmt.Sprintf("a number from %g to %g, or nothing", least, most))
		return math.NaN()
	}
	return v
}

// Until is the rule by which the cells of the run ended; nil: there was none, or nothing
// beside the table tells.
func (t *Table) Until() *Rule {
	switch {
	case t.Header != nil && t.Header.Until != nil:
		return t.Header.Until
	case t.Manifest != nil && t.Manifest.Stopping != nil: // of a table alone, or of an older run
		return &t.Manifest.Stopping.Rule
	}
	return nil
}

// Cells groups the trials by design, in the order of the table.
func (t *Table) Cells() []*Cell {
	var cells []*Cell
	method := t.Until().Method()
	index := map[string]*Cell{}
	var c *Cell
	for i := range t.Trials {
		trial := &t.Trials[i]
		if c != nil && same(c.Design, trial.Design) {
			c.Trials = append(c.Trials, trial)
			continue
		}
		key := designKey(trial.Design)
		c = index[key]
		if c == nil {
			c = &Cell{Number: trial.Cell, Design: trial.Design, method: method}
			cells, index[key] = append(cells, c), c
		}
		c.Trials = append(c.Trials, trial)
	}
	return cells
}

// same says whether a and b are one list in memory, as those of trials are that were read.
func same(a, b []metric.Field) bool { return len(a) > 0 && len(a) == len(b) && &a[0] == &b[0] }

// designKey is the values of a design; none of them holds a control character.
func designKey(design []metric.Field) string {
	var b strings.Builder
	for _, f := range design {
		b.WriteString(f.Value)
		b.WriteByte(0)
	}
	return b.String()
}

// Get returns the value of a column of the design, "" if there is none.
func (c *Cell) Get(column string) string {
	for _, f := range c.Design {
		if f.Name == column {
			return f.Value
		}
	}
	return ""
}

// Sample returns what the trials of the cell observed of a metric, in their
// order, and how many more are known only to be larger: see Trial.Observe.
func (c *Cell) Sample(name string) (values []float64, censored int) {
	for _, t := range c.Trials {
		switch v, kind := t.Observe(name); kind {
		case Observed:
			values = append(values, v)
		case Censored:
			censored++
		}
	}
	return values, censored
}

// Count returns how many trials of the cell have the status.
func (c *Cell) Count(status trace.Status) (n int) {
	for _, t := range c.Trials {
		if t.Status == status {
			n++
		}
	}
	return n
}
