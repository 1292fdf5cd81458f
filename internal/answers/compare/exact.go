package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// sameLuck says whether both cells were simulated with one design and the same
// seeds, so that they can differ only if the program does.
func sameLuck(p pair) bool {
	if !transport.Repeats(p.base.Get("transport")) {
		return false
	}
	for _, f := range p.base.Design {
		if slices.ContainsFunc(p.new.Design, func(g metric.Field) bool {
			return g.Name == f.Name && g.Value != f.Value
		}) {
			return false
		}
	}
	return len(p.same) > 0 && !slices.ContainsFunc(p.same, func(t [2]*results.Trial) bool {
		return t[0].Seed != t[1].Seed
	})
}

// simulated says whether both cells were simulated.
func (p *pair) simulated() bool {
	return transport.Virtual(p.base.Get("transport")) && transport.Virtual(p.new.Get("transport"))
}

// exact says whether counts of the cells are compared trial by trial. Where the
// experiments differ, so would the counts of one program, and they are compared as
// times are; but a strict reader wants every change reported.
func (r *Report) exact(p pair, o *Options) bool {
	meddled := func(s setting) bool { return s.concerns(p.base.Get("label")) }
	return sameLuck(p) && (o.Strict || !slices.ContainsFunc(r.settings, meddled))
}

// trialPairs are the trials of one repetition each.
func trialPairs(base, new *results.Cell) (out [][2]*results.Trial) {
	fresh := map[int]*results.Trial{}
	for _, t := range new.Trials {
		fresh[t.Repetition] = t
	}
	for _, t := range base.Trials {
		if other := fresh[t.Repetition]; other != nil {
			out = append(out, [2]*results.Trial{t, other})
		}
	}
	return out
}

// exactly compares the counts of one metric, trial by trial.
func (row *Row) exactly(p pair) *Row {
	row.Exact, row.Stat, row.Test = true, Mean, Exact
	var a, b, bothA, bothB []float64
	for _, t := range p.same {
		x, seenX := t[0].Observe(row.Metric)
		y, seenY := t[1].Observe(row.Metric)
		if seenX == results.Observed {
			a = append(a, x)
		}
		if seenY == results.Observed {
			b = append(b, y)
		}
		switch {
		case seenX == results.Observed && seenY == results.Observed:
			bothA, bothB = append(bothA, x), append(bothB, y)
		case seenX != results.Observed && seenY != results.Observed:
			continue
		case seenY == results.Observed:
			row.Found++
		default:
			row.Lost++
		}
		row.Pairs++
		if seenX != seenY || x != y {
			row.Differing++
		}
	}
	if row.Pairs == 0 {
		return nil
	}
	if len(bothA) > 0 { // the mean of others could differ though no trial does
		a, b = bothA, bothB
	}
	row.Base, row.New = meanOf(a), meanOf(b)
	row.Change = row.New.Center/row.Base.Center - 1
	if row.Base.Center == row.New.Center {
		row.Change = 0 // also where both are zero
	}
	switch difference := row.New.Center - row.Base.Center; {
	case row.Differing == 0:
		row.Verdict = Same
	case difference == 0, math.IsNaN(difference):
		row.Verdict = Changed
	default:
		row.Verdict = judged(row.of, difference > 0)
	}
	return row
}

func meanOf(values []float64) Figure {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return Figure{N: len(values), Center: sum / float64(len(values)), Low: math.NaN(), High: math.NaN()}
}

// judged is the verdict on a metric that has risen, or fallen.
func judged(m *metric.Metric, risen bool) Verdict {
	switch {
	case m.Better == metric.Neither:
		return Changed
	case risen == (m.Better == metric.Higher):
		return Better
	}
	return Worse
}

// A shift is how the messages of one kind changed, in all trials together.
type shift struct {
	kind      string
	base, new int64
}

// shifts compares the messages sent by kind; nil where one run has none listed.
func shifts(p pair) []shift {
	var out []shift
	listed := [2]bool{}
	add := func(kinds []trace.MessageCount, side int) {
		for _, k := range kinds {
			listed[side] = true
			i := slices.IndexFunc(out, func(s shift) bool { return s.kind == k.Name })
			if i < 0 {
				i, out = len(out), append(out, shift{kind: k.Name})
			}
			if side == 0 {
				out[i].base += k.Sent
			} else {
				out[i].new += k.Sent
			}
		}
	}
	for _, t := range p.same {
		add(t[0].Kinds, 0)
		add(t[1].Kinds, 1)
	}
	if !listed[0] || !listed[1] {
		return nil
	}
	return slices.DeleteFunc(out, func(s shift) bool { return s.base == s.new })
}

func (s shift) String() string { return fmt.Sprintf("%s %+d", s.kind, s.new-s.base) }

// statusChange says how the statuses of two cells differ, "" if they do not.
func statusChange(p pair) (text string) {
	for _, status := range trace.Statuses() {
		a, b := p.base.Count(status), p.new.Count(status)
		// A longer run has more of each.
		if a*len(p.new.Trials) == b*len(p.base.Trials) {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%s %d -> %d", status, a, b)
	}
	return text
}

// setback says what is worse about the statuses, "" if nothing is. A trial more or
// less that timed out is chance on real processes, and a fact where counts are
// exact.
func setback(p pair, exact bool) string {
	if p.new.Count(trace.Violated)*len(p.base.Trials) > p.base.Count(trace.Violated)*len(p.new.Trials) {
		return "more violations"
	}
	if p.base.Count(trace.OK) > 0 && p.new.Count(trace.OK) == 0 {
		return "no trial is ok"
	}
	lost := 0
	for _, t := range p.same {
		if t[0].Status == trace.OK {
			lost++
		}
		if t[1].Status == trace.OK {
			lost--
		}
	}
	if exact && lost > 0 {
		return "fewer trials are ok"
	}
	return ""
}
