package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// DefaultTail is the quantile over operations that two runs are compared by where none is
// named. The others are stats.QuantileNames.
const DefaultTail = "p95"

// A TailRow compares a quantile over the operations of one cell.
type TailRow struct {
	Cell         string // its columns that differ between cells
	Design       []metric.Field
	Metric, Stat string
	Base, New    stats.Tail
	Change       float64 // as a fraction of the base's
	Low, High    float64 // its interval, NaN where there is none
	Paired       bool    // trials of equal seeds were drawn together
	Verdict      Verdict
	Why          string // of a verdict n/a
	Failure      string // of the gate, in words; "": none
}

// A TailReport is the comparison of two runs over operations.
type TailReport struct {
	Base, New  Side
	Rows       []TailRow
	Confidence float64  // of each interval
	Notes      []string // what to know when reading it
	Failures   []string
	Threshold  float64
}

// CompareTails compares a quantile over all operations of each cell. The verdict is that of
// the interval of the change: it is one for all rows together, since the error that is
// accepted is divided by their number (Bonferroni).
func CompareTails(base, new *results.Table, stat string, o Options) (*TailReport, error) {
	m, why, err := o.begin(&base, &new)
	switch {
	case err != nil:
		return nil, err
	case why != "":
		return &TailReport{Base: sideOf(base), New: sideOf(new), Notes: []string{why},
			Confidence: 1 - o.Alpha, Threshold: o.Threshold}, nil
	}
	metrics, err := o.tailMetrics(m, base, new)
	if err != nil {
		return nil, err
	}
	old, err := base.ReadSpans(metrics)
	if err != nil {
		return nil, err
	}
	fresh, err := new.ReadSpans(metrics)
	if err != nil {
		return nil, err
	}
	r := &TailReport{Base: sideOf(base), New: sideOf(new), Notes: m.notes, Threshold: o.Threshold}
	r.Notes = slices.Concat(r.Notes, untilNote("base", base), untilNote("new", new))
	r.Confidence = 1 - o.Alpha/float64(max(len(metrics)*len(m.pairs), 1))
	columns := m.columns()
	for side, cells := range [][]*results.Cell{m.missing, m.extra} {
		for _, c := range cells {
			r.Notes = append(r.Notes, view.Name(c.Design, columns)+" is in "+sides[side]+" alone")
		}
	}
	for _, of := range metrics {
		for _, p := range m.compared {
			if !of.Applies(algo.Problem(p.base.Get("problem"))) {
				continue
			}
			row := TailRow{Cell: view.Name(p.base.Design, columns), Design: p.base.Design, Metric: of.Name,
				Stat: stat}
			row.compare(p, old.Of(p.base, of), fresh.Of(p.new, of), r.Confidence)
			row.judge(of, &o)
			if row.Failure != "" && !o.NoGate {
				r.Failures = append(r.Failures, row.Cell+": "+row.Failure)
			}
			r.Rows = append(r.Rows, row)
		}
	}
	return r, nil
}

// tailMetrics are those that were asked for, or the main ones that single operations have.
func (o *Options) tailMetrics(m *matching, base, new *results.Table) (out []*metric.Metric, err error) {
	problem := algo.Problem(m.pairs[0].base.Get("problem"))
	names := slices.Clone(o.Metrics)
	for _, c := range o.Conditions {
		if !slices.Contains(names, c.Metric) {
			names = append(names, c.Metric)
		}
	}
	for _, name := range names {
		of := metric.Named(name)
		if why := of.NotOfOperations(problem); why != "" {
			return nil, answer.Mistaken("--over operations: %s", why)
		}
		out = append(out, of)
	}
	if len(out) == 0 {
		out = MainTails(problem, base, new)
	}
	return out, nil
}

// compare finds the figures of both sides and the interval of their ratio.
func (row *TailRow) compare(p pair, a, b [][]float64, confidence float64) {
	q := stats.FigureNamed(row.Stat).P
	row.Base = stats.GroupedQuantile(a, q, stats.Confidence)
	row.New = stats.GroupedQuantile(b, q, stats.Confidence)
	of := metric.Named(row.Metric)
	row.Base.Doubt, row.New.Doubt = p.base.Doubt(of), p.new.Doubt(of)
	row.Low, row.High = math.NaN(), math.NaN()
	if x, y, all := inPairs(p, a, b); all {
		a, b, row.Paired = x, y, true
	}
	ratio, lo, hi := stats.QuantileRatio(a, b, q, confidence, row.Paired, bootstrapSeed)
	row.Change = ratio - 1
	for side, of := range []*stats.Tail{&row.Base, &row.New} {
		run := strings.ToLower(sides[side])
		switch {
		case of.N == 0:
			row.Why = "no operation of the " + run + " run counts"
		case of.Refused():
			row.Why = fmt.Sprintf("the operations of the %s run are too few: %s", run, view.Refusal(of))
		}
	}
	if !row.Paired && len(p.machines) > 1 {
		row.Why = "trials on several machines are compared in pairs, and not all have a partner of their " +
			"seed and machine: take one machine at a time, with --where " + results.HostColumn + "=" +
			p.machines[0]
	}
	if row.Why == "" {
		row.Low, row.High = lo-1, hi-1
	}
}

// inPairs are the operations of trials of equal seeds, and whether those are all.
func inPairs(p pair, a, b [][]float64) (x, y [][]float64, all bool) {
	ofBase, ofNew := byTrial(p.base, a), byTrial(p.new, b)
	for _, t := range p.lucky {
		if len(ofBase[t[0]]) > 0 && len(ofNew[t[1]]) > 0 {
			x, y = append(x, ofBase[t[0]]), append(y, ofNew[t[1]])
		}
	}
	return x, y, len(x) > 0 && len(x) == len(ofBase) && len(y) == len(ofNew)
}

// byTrial finds the operations of a trial, if it has any.
func byTrial(c *results.Cell, groups [][]float64) map[*results.Trial][]float64 {
	out := map[*results.Trial][]float64{}
	for i, t := range c.Trials {
		if len(groups[i]) > 0 {
			out[t] = groups[i]
		}
	}
	return out
}

// judge gives the row its verdict, by its interval, and says what fails.
func (row *TailRow) judge(m *metric.Metric, o *Options) {
	beyondChance := row.Low > 0 || row.High < 0
	switch {
	case row.Why != "":
		row.Verdict = TooFew
	case math.IsNaN(row.Low) && math.IsNaN(row.High):
		row.Verdict, row.Why = TooFew, "pending operations leave the change open"
	case row.Change == 0 && row.Low == 0 && row.High == 0:
		row.Verdict = Same
	case !beyondChance:
		row.Verdict = Unclear
	case math.Abs(row.Change) <= o.Threshold:
		row.Verdict = Small
	default:
		row.Verdict = judged(m, row.Low > 0)
	}
	if len(o.Conditions) == 0 {
		if row.Verdict == Worse {
			row.Failure = row.String()
		}
		return
	}
	for _, c := range o.Conditions {
		lost := row.New.N == 0 && row.Base.N > 0
		if c.Metric == row.Metric && c.Where.Covers(row.Design) &&
			(lost || beyondChance && c.exceeds(row.Base.Value, row.New.Value-row.Base.Value)) {
			row.Failure = fmt.Sprintf("%v (%s)", row, c)
		}
	}
}

// String says what changed, and what it rests on.
func (row *TailRow) String() string {
	text := fmt.Sprintf("%s of %s over operations: %s -> %s", row.Stat, row.Metric,
		view.Marked(row.Base.Value, row.Base.Doubt), view.Marked(row.New.Value, row.New.Doubt))
	if row.Why != "" {
		return text + ": " + row.Why
	}
	return text + " (" + view.Change(row.Change, row.Low, row.High) + ")" +
		view.DoubtIn(row.Base.Doubtful(), row.New.Doubtful())
}

// Document is the comparison as an answer.
func (r *TailReport) Document() *answer.Document {
	d := answer.New("compare", "Conclave: all operations of "+r.Base.Path+" and of "+r.New.Path)
	d.Began, d.Took, d.Verdict = r.New.Started, r.New.Took, "passes"
	switch {
	case len(r.Failures) > 0:
		d.End(answer.Missed, "fails")
	case len(r.Rows) == 0:
		d.Verdict = nothingCompared
	}
	d.Add(answer.Facts{
		{Name: "base", Value: r.Base.Path, Line: "base: " + r.Base.String()},
		{Name: "new", Value: r.New.Path, Line: "new:  " + r.New.String()},
		{Name: "over", Value: experiment.OverOperations}, {Name: "confidence", Value: r.Confidence},
		{Name: "threshold", Value: r.Threshold}, {Name: "passed", Value: d.Exit == answer.Good},
	})
	for _, text := range r.Failures {
		d.Add(answer.Note{Text: text, Kind: "fails", Aside: true})
	}
	legend := &view.Legend{}
	d.Add(answer.Text(""), r.table(legend))
	text := fmt.Sprintf("\nfigures: %s\n"+
		"change: of that quantile [%.4g %% interval, by a two-level bootstrap of trials and operations]\n"+
		"worse, better: the interval leaves out 0, and the change is more than %s", view.TailNote,
		100*r.Confidence, view.Share(r.Threshold))
	if len(r.Rows) > 0 {
		d.Say(strings.Join(append([]string{text}, legend.Notes()...), "\n"))
	}
	paired := 0
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Paired {
			paired++
		}
		d.Checks = append(d.Checks, answer.Check{Group: row.Stat + " of " + row.Metric, Name: row.Cell,
			Failure: row.Failure, Kind: "Regression", Failed: true})
	}
	if paired > 0 {
		d.Say(fmt.Sprintf("trials of equal seeds were drawn together (rows: %d)", paired))
	}
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Why != "" {
			d.Say(fmt.Sprintf("n/a: %s: %v", row.Cell, row))
		}
	}
	for _, text := range r.Notes {
		d.Note(text)
	}
	return d
}

// table is that of the rows, whose figures the legend explains.
func (r *TailReport) table(legend *view.Legend) *answer.Table {
	t := &answer.Table{Name: "rows", Keys: 2, Main: true, Empty: nothingCompared, Columns: slices.Concat(
		answer.Columns(answer.Everybody, "cell figure base:figure new:figure change:number verdict"),
		answer.Columns(answer.People, "operations:count effect:number:design_effect"),
		answer.Columns(answer.Nested, "design:map"),
		answer.Columns(answer.Programs, "metric stat change_low:number change_high:number paired:flag why "+
			"failed:flag base_operations:count base_trials:count base_design_effect:number "+
			"base_clock_doubt_ms:number new_operations:count new_trials:count new_design_effect:number "+
			"new_clock_doubt_ms:number"))}
	figure := func(t *stats.Tail) answer.Value {
		return answer.Shown{Text: legend.Tail(t), Value: answer.Estimate{Value: t.Value, Low: t.Low,
			High: t.High, N: t.N - t.Censored, Censored: t.Censored}}
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		a, b := &row.Base, &row.New
		t.Row(row.Cell, row.Stat+" of "+row.Metric, figure(a), figure(b),
			answer.Shown{Value: row.Change, Text: view.Change(row.Change, row.Low, row.High)},
			string(row.Verdict),
			besides(tailSize(a), tailSize(b)), besides(console.Number(a.Effect), console.Number(b.Effect)),
			metric.ByName(row.Design), row.Metric, row.Stat, row.Low, row.High, row.Paired, row.Why,
			row.Failure != "", a.N, a.Groups, a.Effect, a.Doubtful(), b.N, b.Groups, b.Effect, b.Doubtful())
	}
	return t
}

// tailSize is how many operations in how many trials.
func tailSize(t *stats.Tail) string {
	text := fmt.Sprintf("%d in %d trials", t.N, t.Groups)
	if t.Censored > 0 {
		text += fmt.Sprintf(" (%d pending)", t.Censored)
	}
	return text
}

// besides are two texts, once if they are one.
func besides(a, b string) string {
	if a == b {
		return a
	}
	return a + ", " + b
}
