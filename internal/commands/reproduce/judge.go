package reproduce

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// A Row is what a run has to say about a statement in one cell.
type Row struct {
	Statement *Statement
	Case      string  // the cell, as "nodes=5"
	Paper     string  // the assertion with its figure: "at most (N-1)² = 9"
	Stated    float64 // that figure
	Theory    string  // likewise; empty: as the paper has it, or there is none
	Derived   float64 // that figure; NaN if there is none
	Measured  Estimate
	Verdict   Verdict
	Percent   float64 // of verdict within: how far off the estimate is
	OfTheory  Verdict // of the theory's own assertion; empty if there is none
	Expected  bool    // both verdicts are what the study says
}

// Judge compares the run of the study's experiment in dir with the statements. A
// statement of which the run has no cell has no row, which is a mistake, and a verdict
// that is undecided is not expected, unless the run was cut down by settings.
func (s *Study) Judge(e *experiment.Experiment, dir string, cut bool) ([]Row, error) {
	trials := make([][]*results.Trial, len(e.Cells))
	err := runner.EachTrial(e, dir, func(t *results.Trial) {
		t.Ops = nil
		trials[t.Cell-1] = append(trials[t.Cell-1], t)
	})
	if err != nil {
		return nil, err
	}
	header, err := results.ReadHeader(dir)
	if err != nil {
		return nil, err
	}
	run := &run{study: s, experiment: e, trials: trials, cut: cut}
	var rows []Row
	for _, st := range s.Statements {
		if err := s.known(st, e, header.Metrics); err != nil {
			return nil, err
		}
		found := false
		for i := range e.Cells {
			if !st.about(&e.Cells[i]) {
				continue
			}
			found = true
			row, err := run.row(st, i)
			if err != nil {
				return nil, s.mistake(st.line, "%v", err)
			}
			rows = append(rows, row)
		}
		if !found && !cut {
			return nil, s.mistake(st.line, "where: no cell of %s.yaml is like that "+
				"(\"bench plan\" lists them)", s.Name)
		}
	}
	return rows, nil
}

// known says whether there is such a metric.
func (s *Study) known(st *Statement, e *experiment.Experiment, metrics []string) error {
	has := append([]string{metric.Duration.Name, timeouts, broken}, metric.Names(metric.Counts())...)
	has = append(has, metrics...)
	for i := range e.Cells {
		a, err := algo.Lookup(e.Cells[i].Algorithm)
		if err != nil {
			return err
		}
		for _, m := range a.Spec.Messages {
			if !slices.Contains(has, m.Kind()) {
				has = append(has, m.Kind())
			}
		}
	}
	if slices.Contains(has, st.Metric) {
		return nil
	}
	return s.mistake(st.line, "metric: there is no %q%s (has: %s)", st.Metric, algo.Hint(st.Metric, has),
		strings.Join(has, ", "))
}

// A run is a finished one, cell by cell.
type run struct {
	study      *Study
	experiment *experiment.Experiment
	trials     [][]*results.Trial
	cut        bool // down by settings
}

// about says whether the statement is about the cell.
func (s *Statement) about(c *experiment.Cell) bool {
	for column, values := range s.Where {
		if !slices.ContainsFunc(values, func(v string) bool {
			return metric.Where{{Name: column, Value: v}}.Covers(c.Design)
		}) {
			return false
		}
	}
	return true
}

func (r *run) row(st *Statement, cell int) (Row, error) {
	c := &r.experiment.Cells[cell]
	row := Row{
		Statement: st, Case: r.caseOf(c), Measured: r.estimate(st, cell), Derived: math.NaN(),
	}
	lo, hi, err := r.quantity(st, st.paper, cell)
	if err != nil {
		return row, err
	}
	row.Stated = hi
	row.Paper, row.Verdict = st.paper.with(hi), st.paper.judge(row.Measured, lo, hi)
	if row.Verdict == Close {
		row.Percent = 100 * math.Abs(row.Measured.Value-hi) / math.Abs(hi)
	}
	if st.theory != nil {
		if lo, hi, err = r.quantity(st, st.theory, cell); err != nil {
			return row, err
		}
		row.Derived = hi
		row.Theory, row.OfTheory = st.theory.with(hi), st.theory.judge(row.Measured, lo, hi)
	}
	row.Expected = r.expects(row.Verdict, cmp.Or(Verdict(st.Expect), Holds)) && r.expects(row.OfTheory, Holds)
	return row, nil
}

// expects says whether a verdict, if there is one, is as it should be.
func (r *run) expects(v, wanted Verdict) bool {
	return v == "" || v == wanted || v == Close && wanted == Holds || v == Undecided && r.cut
}

func (r *run) estimate(st *Statement, cell int) Estimate {
	return st.stat.estimate(sample(r.trials[cell], st.Metric))
}

// quantity is what an assertion compares the cell's figure with.
func (r *run) quantity(st *Statement, a *assertion, cell int) (lo, hi float64, err error) {
	c := &r.experiment.Cells[cell]
	return a.against(c, func(label string) (Estimate, error) {
		for i := range r.experiment.Cells {
			if other := &r.experiment.Cells[i]; other.Label == label && r.caseOf(other) == r.caseOf(c) {
				return r.estimate(st, i), nil
			}
		}
		return Estimate{}, fmt.Errorf("%q: no cell has label %q and %s", a.text, label, r.caseOf(c))
	})
}

// caseOf names a cell by the columns of the study.
func (r *run) caseOf(c *experiment.Cell) string {
	var words []string
	for _, entry := range r.study.Columns {
		name, column := split(entry)
		for _, f := range c.Design {
			if f.Name == column {
				words = append(words, name+"="+f.Value)
			}
		}
	}
	return strings.Join(words, " ")
}

// split takes an entry of Study.Columns apart.
func split(entry string) (name, column string) {
	if name, column, ok := strings.Cut(entry, "="); ok {
		return name, column
	}
	return entry, entry
}

// with is the assertion with the figure that it comes to, unless it says it itself.
func (a *assertion) with(v float64) string {
	if a.formula == "" && a.label == "" {
		return a.text
	}
	return a.text + " = " + figure(v)
}

// figure is v as a table has it, an open end if there is none.
func figure(v float64) string {
	if math.IsNaN(v) {
		return "..."
	}
	return console.Number(v)
}

// String is an estimate as a table has it: a figure with its interval, or what all
// trials lie between.
func (e Estimate) String() string {
	switch {
	case e.N == 0:
		return "n/a"
	case e.Extremes && e.Low == e.High:
		return figure(e.Low)
	case e.Extremes && math.IsNaN(e.Value):
		return figure(e.Low) + " to " + figure(e.High)
	case math.IsNaN(e.Value): // the time limit has cut too many short
		return fmt.Sprintf("... [%s, ...]", figure(e.Low))
	}
	return fmt.Sprintf("%s [%s, %s]", figure(e.Value), figure(e.Low), figure(e.High))
}

// Outcome is the verdict in words.
func (r *Row) Outcome() string {
	text := string(r.Verdict)
	if r.Verdict == Close {
		text = fmt.Sprintf("within %s %%", figure(math.Ceil(r.Percent*10)/10))
	}
	if r.OfTheory == Refuted || r.OfTheory == Undecided {
		text += ", theory " + string(r.OfTheory)
	}
	if !r.Expected {
		text += " (NOT EXPECTED)"
	}
	return text
}
