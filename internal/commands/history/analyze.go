package history

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/commits"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// Options say how to analyze.
type Options struct {
	// Line is the commits in question, the oldest first. Empty: those of the entries, by date.
	Line []*commits.Commit
	// Alpha is the probability of any false alarm in all noisy series together.
	Alpha float64
	// Least is the smallest reported change of a noisy figure, as a part of it.
	Least   float64
	Metrics []string // empty: the main ones of each problem
}

// DefaultAlpha is the probability of any false alarm of an analysis by default.
const DefaultAlpha = 0.01

// A Kind is what sort of change a finding is.
type Kind string

// The kinds.
const (
	Changed       Kind = "changed"       // an exact figure is another
	Step          Kind = "step"          // a noisy figure has another level
	Drift         Kind = "drift"         // a noisy figure moves with every commit
	Broken        Kind = "broken"        // trials break promises that those before kept
	Contradiction Kind = "contradiction" // equal programs gave different exact figures
)

// A Verdict is what a finding means.
type Verdict string

// The verdicts.
const (
	Worse  Verdict = "worse"
	Better Verdict = "better"
	Other  Verdict = "changed" // neither
)

// A Change is a figure before and after a finding.
type Change struct {
	Metric  string   `json:"metric"`
	Before  *float64 `json:"before"` // null: it had no value
	After   *float64 `json:"after"`
	Verdict Verdict  `json:"verdict"`
	// Equal says that the mean is what it was, though single trials differ.
	Equal bool `json:"equal_mean,omitempty"`
}

// Ratio is by which part the figure changed; NaN if that has no meaning.
func (c *Change) Ratio() float64 {
	if c.Before == nil || c.After == nil || *c.Before == 0 {
		return math.NaN()
	}
	return *c.After / *c.Before - 1
}

// A Finding is a change, and the commit that it came with.
type Finding struct {
	Kind       Kind    `json:"kind"`
	Verdict    Verdict `json:"verdict"`
	Experiment string  `json:"experiment"`
	Cell       string  `json:"cell"`
	Design     Design  `json:"design"`
	Machine    string  `json:"machine,omitempty"` // of a noisy series
	// Commit is the first at which the figure is another. From and To are between which it may be,
	// both ends included: commits that were measured. Unmeasured lie between To, or Commit, and the
	// measured one before.
	Commit     commits.Commit `json:"commit"`
	Before     commits.Commit `json:"before"` // the measured commit before From
	From       commits.Commit `json:"from"`
	To         commits.Commit `json:"to"`
	Unmeasured int            `json:"unmeasured"`
	// End is the last commit of a drift, over so many measured commits.
	End     *commits.Commit `json:"end,omitempty"`
	Commits int             `json:"commits,omitempty"`
	Changes []Change        `json:"changes"`
	P       float64         `json:"p,omitempty"` // of a step or a drift; left out: smaller than any number
	// Trial is the first simulated trial that differs, and Trials are how many do.
	Trial  int `json:"trial,omitempty"`
	Trials int `json:"trials,omitempty"`
	// Configured says that the experiment is another as well.
	Configured bool      `json:"experiment_changed,omitempty"`
	Config     string    `json:"config_sha256,omitempty"` // of the experiment at the commit
	Blessing   *Blessing `json:"blessing,omitempty"`
	Cause      string    `json:"cause,omitempty"` // of an exact change, if somebody has looked for it

	at, lo, hi int // places in the line: of Commit; all after lo up to hi may be meant
}

// A Blessing accepts what a commit changed.
type Blessing struct {
	Commit string `json:"commit"`
	Where  Design `json:"where,omitempty"`
	Metric string `json:"metric,omitempty"` // "": all
	Reason string `json:"reason"`
	By     string `json:"by,omitempty"`
	At     string `json:"at"` // RFC 3339
}

// covers says whether the blessing is about a finding.
func (b *Blessing) covers(f *Finding, place map[string]int) bool {
	at, known := place[b.Commit]
	meant := b.Commit == f.Commit.Hash || known && at > f.lo && at <= f.hi
	if !meant || b.Metric != "" && !slices.ContainsFunc(f.Changes,
		func(c Change) bool { return c.Metric == b.Metric }) {
		return false
	}
	return metric.Where(b.Where).Covers(f.Design)
}

// A Point is a measured value of a series.
type Point struct {
	Entry *Entry
	Value float64 // the figure over trials
}

// A Series is a figure of a cell over the history, on one machine if it is noisy.
type Series struct {
	Experiment string
	Cell       string
	Design     Design
	Metric     *metric.Metric
	Exact      bool
	Machine    string
	Points     []Point
	Course     stats.Course // of a noisy series, in values of the metric
	Findings   []*Finding

	logs bool
}

// Noise is the deviation of a value from its level, as a part of it; NaN if that is not known.
func (s *Series) Noise() float64 {
	if !s.logs {
		return math.NaN()
	}
	return s.Course.Noise
}

// Name is how the series is called in a line.
func (s *Series) Name() string { return s.Metric.Name + " of " + s.Cell }

// An Analysis is what became of the figures.
type Analysis struct {
	Line     []*commits.Commit
	Series   []*Series
	Findings []*Finding // in the order of their commits
	Runs     int
	// Elsewhere is how many entries are of commits that are not of the line.
	Elsewhere int
	Notes     []string

	place map[string]int
	o     Options
}

// Bad lists what is worse and nobody has blessed.
func (a *Analysis) Bad() (out []*Finding) {
	for _, f := range a.Findings {
		if f.Blessing == nil && (f.Verdict == Worse || f.Kind == Contradiction) {
			out = append(out, f)
		}
	}
	return out
}

// After leaves only findings of commits behind that one.
func (a *Analysis) After(hash string) error {
	at, known := a.place[hash]
	if !known {
		return fmt.Errorf("%.12s is not among the analysed commits", hash)
	}
	a.Findings = slices.DeleteFunc(a.Findings, func(f *Finding) bool { return f.hi <= at })
	return nil
}

// Select leaves of each entry the cells that the filter takes, and no entry without one. The error is that of
// metric.Where.Check.
func Select(entries []*Entry, where metric.Where) (out []*Entry, err error) {
	if len(where) == 0 {
		return entries, nil
	}
	var designs [][]metric.Field
	for _, e := range entries {
		left := *e
		left.Cells = nil
		for _, c := range e.Cells {
			designs = append(designs, c.Design)
			if where.Covers(c.Design) {
				left.Cells = append(left.Cells, c)
			}
		}
		if len(left.Cells) > 0 {
			out = append(out, &left)
		}
	}
	if err := where.Check(view.Declared(metric.ColumnsOf(designs...))); err != nil {
		return nil, fmt.Errorf("--where: %w", err)
	}
	return out, nil
}

// Analyze finds what changed, and the commit that it came with.
func Analyze(entries []*Entry, blessings []*Blessing, o Options) *Analysis {
	a := &Analysis{Line: o.Line, place: map[string]int{}, o: o}
	if len(a.Line) == 0 {
		a.Line = byDate(entries)
	}
	for i, c := range a.Line {
		a.place[c.Hash] = i
	}
	var measured []*Entry
	for _, e := range entries {
		if i, known := a.place[e.Commit.Hash]; !known {
			a.Elsewhere++
		} else {
			e.Commit = completed(e.Commit, a.Line[i])
			measured = append(measured, e)
		}
	}
	a.Runs = len(measured)
	slices.SortStableFunc(measured, func(x, y *Entry) int {
		return cmp.Or(a.place[x.Commit.Hash]-a.place[y.Commit.Hash], x.when().Compare(y.when()))
	})
	cells := collect(measured)
	for _, c := range cells {
		a.exactly(c)
		a.broken(c)
		a.Series = append(a.Series, c.series(o.Metrics)...)
	}
	a.follow()
	for _, f := range a.Findings {
		for _, b := range blessings {
			if b.covers(f, a.place) {
				f.Blessing = b
			}
		}
	}
	slices.SortStableFunc(a.Findings, func(x, y *Finding) int { return x.at - y.at })
	return a
}

// byDate lists the commits of entries, the oldest first.
func byDate(entries []*Entry) (out []*commits.Commit) {
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(x, y *Entry) int { return x.committed().Compare(y.committed()) })
	seen := map[string]bool{}
	for _, e := range sorted {
		if !seen[e.Commit.Hash] {
			seen[e.Commit.Hash] = true
			out = append(out, &e.Commit)
		}
	}
	return out
}

func completed(c commits.Commit, from *commits.Commit) commits.Commit {
	return commits.Commit{Hash: c.Hash, Date: cmp.Or(c.Date, from.Date),
		Author: cmp.Or(c.Author, from.Author), Subject: cmp.Or(c.Subject, from.Subject)}
}

// A past is a cell over the history.
type past struct {
	experiment, label string
	design            Design
	entries           []*Entry
	cells             []*Cell
}

// collect gathers the entries of each cell.
func collect(entries []*Entry) (out []*past) {
	index := map[string]*past{}
	designs := map[string][][]metric.Field{} // by experiment
	for _, e := range entries {
		for i := range e.Cells {
			c := &e.Cells[i]
			key := e.Experiment + "\x00" + c.key()
			p := index[key]
			if p == nil {
				p = &past{experiment: e.Experiment, design: c.Design}
				index[key], out = p, append(out, p)
				designs[e.Experiment] = append(designs[e.Experiment], c.Design)
			}
			p.entries, p.cells = append(p.entries, e), append(p.cells, c)
		}
	}
	varying := map[string][]string{}
	for name, list := range designs {
		varying[name] = view.Varying(list)
	}
	for _, p := range out {
		columns := append([]string{"label"}, varying[p.experiment]...)
		p.label = view.Joined(p.design, columns, " ")
	}
	return out
}

// exactly finds the commits that changed simulated trials.
func (a *Analysis) exactly(p *past) {
	before := -1
	for i, c := range p.cells {
		if !c.Exact {
			continue
		}
		if before >= 0 {
			a.differ(p, before, i)
		}
		before = i
	}
}

// differ compares a simulated cell with that of the run before.
func (a *Analysis) differ(p *past, before, now int) {
	old, is := p.cells[before], p.cells[now]
	was, e := p.entries[before], p.entries[now]
	switch {
	case old.Digests == is.Digests && old.Seeds == is.Seeds:
		return
	case old.Seeds != is.Seeds:
		text := fmt.Sprintf("%s: %s: the trials of %s differ from those of %s (seed or repetitions): their "+
			"figures are not compared", p.experiment, p.label, e.Commit.Short(), was.Commit.Short())
		if !slices.Contains(a.Notes, text) { // a commit may have several runs
			a.Notes = append(a.Notes, text)
		}
		return
	}
	f := a.finding(p, Changed, before, now, now)
	f.Trial, f.Trials = differing(old, is)
	f.Configured, f.Config = was.Config != e.Config, e.Config
	main := p.headlines()
	f.Changes = changes(main, old, is)
	f.Verdict = verdictOf(main, f.Changes)
	if is.violations() > old.violations() {
		f.Kind, f.Verdict = Broken, Worse
	}
	if was.Commit.Hash == e.Commit.Hash && !f.Configured {
		f.Kind = Contradiction
	}
	a.Findings = append(a.Findings, f)
}

// finding is one that came with the run at lo at the earliest and at hi at the latest, behind that at before.
func (a *Analysis) finding(p *past, k Kind, before, lo, hi int) *Finding {
	f := &Finding{Kind: k, Experiment: p.experiment, Cell: p.label, Design: p.design,
		Before: p.entries[before].Commit,
		Commit: p.entries[hi].Commit, From: p.entries[lo].Commit, To: p.entries[hi].Commit}
	a.locate(f)
	return f
}

// locate says where in the line the commits of a finding are.
func (a *Analysis) locate(f *Finding) {
	f.at, f.lo, f.hi = a.place[f.Commit.Hash], a.place[f.Before.Hash], a.place[f.To.Hash]
	f.Unmeasured = max(0, a.place[f.From.Hash]-f.lo-1)
	if f.Before.Hash == f.Commit.Hash {
		f.lo = f.hi - 1
	}
}

// headlines are the names of the main metrics of the cell.
func (p *past) headlines() []string {
	return metric.Names(view.Headlines([][]metric.Field{p.design}))
}

// differing is the number of the first trial that is another, and how many are.
func differing(old, is *Cell) (first, n int) {
	for i := 0; i+8 <= min(len(old.Digests), len(is.Digests)); i += 8 {
		if old.Digests[i:i+8] != is.Digests[i:i+8] {
			if n++; n == 1 {
				first = is.First + i/8
			}
		}
	}
	return first, n
}

// changes lists the figures of a simulated cell that are others, the main ones first.
func changes(main []string, old, is *Cell) (out []Change) {
	all := maps.Clone(old.Figures)
	maps.Copy(all, is.Figures)
	for name := range all {
		if before, now := old.Figures[name], is.Figures[name]; before.Digest != now.Digest {
			out = append(out, exactChange(name, before, now))
		}
	}
	rank := func(c Change) int {
		switch i := slices.Index(main, c.Metric); {
		case c.Equal:
			return 2 * len(main)
		case i >= 0:
			return i
		}
		return len(main)
	}
	slices.SortFunc(out, func(x, y Change) int {
		return cmp.Or(rank(x)-rank(y), cmp.Compare(x.Metric, y.Metric))
	})
	return out
}

func exactChange(name string, old, is Figure) Change {
	c := Change{Metric: name, Before: old.Mean, After: is.Mean, Verdict: Other}
	if old.Mean == nil || is.Mean == nil { // trials timed out
		c.Before, c.After = old.Median, is.Median
	}
	c.Equal = old.Mean != nil && is.Mean != nil && *old.Mean == *is.Mean
	if m := metric.Named(name); m != nil {
		c.Verdict = direction(m, c, is.Censored-old.Censored)
	}
	return c
}

// direction says whether a figure got worse, of which so many more trials timed out than before.
func direction(m *metric.Metric, c Change, timeouts int) Verdict {
	switch {
	case m.Better == metric.Neither:
		return Other
	case timeouts != 0:
		return worseIf(timeouts > 0)
	case c.Before == nil || c.After == nil || *c.Before == *c.After:
		return Other
	}
	return worseIf(*c.After > *c.Before == (m.Better == metric.Lower))
}

func worseIf(yes bool) Verdict {
	if yes {
		return Worse
	}
	return Better
}

// verdictOf is the worst that became of the main figures.
func verdictOf(main []string, changes []Change) Verdict {
	out := Other
	for _, c := range changes {
		switch {
		case !slices.Contains(main, c.Metric):
			continue
		case c.Verdict == Worse:
			return Worse
		case c.Verdict == Better:
			out = Better
		}
	}
	return out
}

// broken finds the commits with which trials on real processes began to break promises.
func (a *Analysis) broken(p *past) {
	for i := 1; i < len(p.cells); i++ {
		old, is := p.cells[i-1], p.cells[i]
		if is.Exact || old.violations() > 0 || is.violations() == 0 {
			continue
		}
		f := a.finding(p, Broken, i-1, i, i)
		f.Verdict, f.Trials = Worse, is.violations()
		zero, n := 0.0, float64(is.violations())
		f.Changes = []Change{{Metric: "violation", Before: &zero, After: &n, Verdict: Worse}}
		a.Findings = append(a.Findings, f)
	}
}

// series takes a cell apart by metric and, if it is noisy, by machine.
func (p *past) series(metrics []string) (out []*Series) {
	if len(metrics) == 0 {
		metrics = p.headlines()
	}
	for _, name := range metrics {
		index := map[string]*Series{}
		for i, c := range p.cells {
			f, has := c.Figures[name]
			of := f.of(metric.Named(name))
			if !has || of == nil {
				continue
			}
			v, machine := *of, ""
			if !c.Exact {
				machine = Fingerprint(p.entries[i].Machine)
			} else if f.Mean != nil {
				v = *f.Mean
			}
			s := index[machine]
			if s == nil {
				s = &Series{Experiment: p.experiment, Cell: p.label, Design: p.design,
					Metric: metric.Named(name), Exact: c.Exact, Machine: machine}
				index[machine], out = s, append(out, s)
			}
			s.Points = append(s.Points, Point{Entry: p.entries[i], Value: v})
		}
	}
	return out
}

// follow finds the shifts of all noisy series.
func (a *Analysis) follow() {
	noisy := 0
	for _, s := range a.Series {
		if !s.Exact && len(s.Points) >= stats.MinimumCourse {
			noisy++
		}
	}
	for _, s := range a.Series {
		if s.Exact {
			continue
		}
		s.follow(cmp.Or(a.o.Alpha, DefaultAlpha) / float64(max(1, noisy)))
		for i := range s.Course.Shifts {
			if f := a.shifted(s, &s.Course.Shifts[i]); f != nil {
				s.Findings, a.Findings = append(s.Findings, f), append(a.Findings, f)
			}
		}
	}
}

// follow takes the series apart, in logarithms where all values are positive: then noise and changes
// are parts of the value.
func (s *Series) follow(alpha float64) {
	values := make([]float64, len(s.Points))
	s.logs = true
	for i, p := range s.Points {
		values[i] = p.Value
		s.logs = s.logs && p.Value > 0
	}
	if s.logs {
		values = s.values()
	}
	s.Course = stats.FollowCourse(values, alpha)
	if !s.logs {
		return
	}
	for i, v := range s.Course.Level {
		s.Course.Level[i] = math.Exp(v)
	}
	for i := range s.Course.Shifts {
		shift := &s.Course.Shifts[i]
		shift.Before, shift.After = math.Exp(shift.Before), math.Exp(shift.After)
	}
	for i := range s.Course.Modes {
		s.Course.Modes[i].Level = math.Exp(s.Course.Modes[i].Level)
	}
}

// shifted is a shift of a series as a finding; nil: it is smaller than anybody wants to know.
func (a *Analysis) shifted(s *Series, shift *stats.Shift) *Finding {
	ratio := shift.After/shift.Before - 1
	if !math.IsNaN(ratio) && math.Abs(ratio) < a.o.Least {
		return nil
	}
	at := func(i int) commits.Commit { return s.Points[max(0, min(i, len(s.Points)-1))].Entry.Commit }
	f := &Finding{Kind: Step, Experiment: s.Experiment, Cell: s.Cell, Design: s.Design, Machine: s.Machine,
		Commit: at(shift.At), Before: at(shift.Lo - 1), From: at(shift.Lo), To: at(shift.Hi), P: shift.P}
	if shift.Drifts() {
		end := at(shift.End - 1)
		f.Kind, f.End, f.Commits = Drift, &end, shift.End-shift.At
	}
	a.locate(f)
	verdict := Other
	if s.Metric.Better != metric.Neither {
		verdict = worseIf(shift.After > shift.Before == (s.Metric.Better == metric.Lower))
	}
	f.Verdict = verdict
	f.Changes = []Change{{Metric: s.Metric.Name, Before: &shift.Before, After: &shift.After,
		Verdict: verdict}}
	return f
}
