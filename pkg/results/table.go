package results

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/internal/base/text"
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

	shared *shared
	folded []*Cell // of a run that keeps summaries alone
}

// A Cell is the trials of a table that have one design.
type Cell struct {
	Number int // of its first trial
	Design []metric.Field
	Trials []*Trial // by repetition
	Fold   *Fold    // what is kept instead of them; nil: they are there

	method stats.Method
}

// ReadTable reads the run at path: whatever Resolve takes, a folder that holds
// only the tables, or a file like trials.csv on its own. What lies beside a manifest has
// the checksum that stands there.
func ReadTable(path string) (*Table, error) {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return readAlone(path, "")
	}
	if bare(path) {
		return readAlone(filepath.Join(path, TrialsFile), filepath.Join(path, MessagesFile))
	}
	w, err := inspect(path)
	if err != nil {
		return nil, err
	}
	if w.header.folds() {
		return nil, &Folded{w.dir}
	}
	t := &Table{Path: w.dir, Name: w.header.Name, Config: w.config, Header: &w.header, Manifest: w.manifest}
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
	t.Trials, t.shared = make([]Trial, 0, trials), newShared()
}

// end is for when all trials are there.
func (t *Table) end() {
	t.shared.columns.end()
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
func readAlone(path, messages string) (*Table, error) {
	dir, name := filepath.Split(path)
	t := &Table{Path: path, Name: strings.TrimSuffix(name, filepath.Ext(name)), CSV: path}
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
	return unlessMissing(t.readMessages(messages))
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
		at.scratch = Trial{Design: trial.Design[:0], own: trial.own[:0]}
		return t.add(&trial)
	})
	byNumber := func(a, b Trial) int { return a.Trial - b.Trial }
	if !slices.IsSortedFunc(t.Trials, byNumber) {
		slices.SortStableFunc(t.Trials, byNumber)
	}
	t.shared.columns.nameCensored()
	return err
}

// A layout is where the parts of a row of trials.csv begin.
type layout struct {
	identity        []field[Trial] // of this table or of an older one, with the host if there is one
	outcome         int
	names, identify []string
	columns         []string // behind the fixed metrics
	scratch         Trial    // has slices to be used again
	valid           []string // the last value of each column of the design, which was checked
}

// fixedColumns are those between the design and the metrics.
func fixedColumns() []string { return append(names(outcome), metric.Names(fixed)...) }

// lay finds the parts of a header, whose design and metrics may be any.
func (t *Table) lay(header []string) (layout, error) {
	at := layout{identity: identity, names: fixedColumns()}
	if !slices.Contains(header, "round") { // a table of a version without rounds
		at.identity = slices.DeleteFunc(slices.Clone(identity),
			func(f field[Trial]) bool { return f.name == "round" })
	}
	if slices.Index(header, HostColumn) == len(at.identity) {
		at.identity = append(slices.Clip(at.identity), host)
	}
	at.identify = names(at.identity)
	design := len(at.identity)
	at.outcome = slices.Index(header, at.names[0])
	behind := at.outcome + len(at.names)
	if at.outcome < design || len(header) < behind ||
		!slices.Equal(header[:design], at.identify) || !slices.Equal(header[at.outcome:behind], at.names) {
		renamed := ""
		if slices.Contains(header, "order") {
			renamed = "; order is called run_order now"
		}
		return at, fmt.Errorf("the columns begin %s, expected those of %s: %s, the design, %s, the "+
			"metrics%s%s",
			clipped(header), TrialsFile, strings.Join(names(identity), ", "), strings.Join(at.names, ", "),
			separated(header), renamed)
	}
	t.Design, at.columns = header[design:at.outcome], header[behind:]
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
	if len(header) == 1 && text.Foreign([]byte(header[0])) != "" {
		return "; they are not separated by commas"
	}
	return ""
}

// trial reads a row into t, which then holds parts of it.
func (at *layout) trial(table *Table, row []string, t *Trial) error {
	p := reader{names: at.identify, row: row}
	t.Round = 1
	readRow(&p, at.identity, t)
	for i, name := range table.Design {
		value := row[len(at.identity)+i]
		t.Design = append(t.Design, metric.Field{Name: name, Value: value})
		if at.valid[i] == value && value != "" {
			continue
		}
		if want := wantedOf(name, value); want != "" {
			return fmt.Errorf("column %s: %q, expected %s", name, value, want)
		}
		at.valid[i] = strings.Clone(value)
	}
	p.names, p.row, p.next = at.names, row[at.outcome:], 0
	readRow(&p, outcome, t)
	t.figures(&p)
	p.names, p.row, p.next = at.columns, row[at.outcome+len(at.names):], 0
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
			t.own = append(t.own, m.Of(v))
		}
	}
	if p.err == nil && !slices.Contains(trace.Statuses(), t.Status) {
		p.err = fmt.Errorf("status %q, expected one of %q", t.Status, trace.Statuses())
	}
	return p.err
}

// figures reads the fixed metrics. Where messages are not seen, their counts are empty.
func (t *Trial) figures(p *reader) {
	t.Unseen = p.row[p.next+slices.Index(fixed, metric.Messages)] == ""
	for _, m := range fixed {
		v := 0.0
		switch {
		case m.Whole() && m.Traffic && t.Unseen:
			if p.text() != "" {
				p.wrong("nothing, as in the columns of messages before")
			}
		case m.Whole():
			v = float64(p.whole(0, mostCount))
		case m.Unit == metric.Milliseconds:
			v = p.between(0, mostInstant)
		default:
			v = p.between(m.Bounds())
		}
		t.own = append(t.own, m.Of(v))
	}
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
	p := reader{names: []string{name}, row: []string{value}}
	for _, c := range designColumns {
		if c.name == name && c.check != nil {
			c.check(&p)
		}
	}
	if p.want == "" && strings.ContainsFunc(value, unicode.IsControl) {
		return "no control character"
	}
	return p.want
}

func (t *Table) readMessages(path string) error {
	all := newShared()
	var list []trace.MessageCount // of trial
	var trial *Trial
	end := func() {
		if trial != nil {
			trial.Kinds = all.counted(append(slices.Clip(trial.Kinds), list...))
		}
		list = list[:0]
	}
	err := eachOf(path, messages, func(m *message) error {
		if number := int(m.trial); trial == nil || trial.Trial != number {
			end()
			if trial = t.numbered(number); trial == nil {
				return fmt.Errorf("trial %d is not in %s", number, TrialsFile)
			}
		}
		m.Name = all.text(m.Name)
		list = append(list, m.MessageCount)
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
	if t.folded != nil {
		return t.folded
	}
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
func same(a, b Design) bool { return len(a) > 0 && len(a) == len(b) && &a[0] == &b[0] }

// designKey is the values of a design; none of them holds a control character.
func designKey(design Design) string {
	var b strings.Builder
	for _, f := range design {
		b.WriteString(f.Value)
		b.WriteByte(0)
	}
	return b.String()
}

// Get returns the value of a column of the design, "" if there is none.
func (c *Cell) Get(column string) string {
	return metric.Get(c.Design, column)
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

// Size is how many trials the cell has had.
func (c *Cell) Size() (n int) {
	for _, status := range trace.Statuses() {
		n += c.Count(status)
	}
	return n
}

// Count returns how many trials of the cell have the status.
func (c *Cell) Count(status trace.Status) (n int) {
	if c.Fold != nil {
		return c.Fold.Count(status)
	}
	for _, t := range c.Trials {
		if t.Status == status {
			n++
		}
	}
	return n
}
