package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/exact"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// An Outcome is what the data say of the claim that a metric is not worse than by a margin.
type Outcome string

// The outcomes.
const (
	Unasked      Outcome = "" // there is no better or worse of the metric
	Proved       Outcome = "not worse"
	Refuted      Outcome = "worse"
	Inconclusive Outcome = "inconclusive"
)

// A Proof is how far the claim has come, row by row.
type Proof struct {
	Outcome Outcome
	Why     string // in words, unless it is proved
	Needs   int    // trials, or rounds, on each side that would decide; 0: unknown, or no number would
}

// prove holds each row against the margin. The claim about all rows holds if it holds of
// each, at the level of each: an intersection-union test needs no correction for their
// number (Berger, Multiparameter Hypothesis Testing and Acceptance Sampling,
// Technometrics 24, 1982). It is one side of Schuirmann's two one-sided tests (Journal of
// Pharmacokinetics and Biopharmaceutics 15, 1987), by an interval of 95 %: a change of the
// margin itself is waved through with a probability of 2.5 %, and refuted likewise.
func (r *Report) prove(o *Options) {
	r.each(func(row *Row) {
		if row.of.Better == metric.Neither || row.Why != "" && row.measured() {
			return
		}
		if row.Proof = row.proof(o.Prove); row.Proof.Outcome == Refuted {
			row.Failure = row.Proof.Why
		}
	})
	for _, name := range r.Missing {
		r.Open = append(r.Open, name+": the new run has no such cell")
	}
	r.uncovered()
}

// measured says whether both runs have a value.
func (row *Row) measured() bool {
	return row.Base.N+row.Base.Censored > 0 && row.New.N+row.New.Censored > 0
}

// uncovered notes the statistics that nothing is proved of, and why: of each reason, where.
func (r *Report) uncovered() {
	var order []string
	cells := map[string][]string{}
	r.each(func(row *Row) {
		if row.Why == "" || row.of.Better == metric.Neither {
			return
		}
		text := row.name() + ": " + row.Why
		if cells[text] == nil {
			order = append(order, text)
		}
		cells[text] = append(cells[text], r.Title(row))
	})
	for _, text := range order {
		where := strings.Join(cells[text], "; ")
		if n := len(cells[text]); n > 2 {
			where = fmt.Sprintf("%d cells", n)
		}
		r.Notes = append(r.Notes, "not covered by the proof: "+text+" ("+where+")")
	}
}

// proof holds the row against the margin.
func (row *Row) proof(margin float64) Proof {
	margin += 1e-9 // for rounding: 21 of 20 is no more than 5 %
	open := func(needs int, format string, args ...any) Proof {
		return Proof{Inconclusive, fmt.Sprintf(format, args...), needs}
	}
	worse := func(lo, hi float64) (least, most float64) { // the change for the worse
		if row.of.Better == metric.Higher {
			return -hi, -lo
		}
		return lo, hi
	}
	least, most := worse(row.ChangeLow, row.ChangeHigh)
	center, _ := worse(row.Change, row.Change)
	n := row.least()
	unit, _ := row.unit()
	shown := fmt.Sprintf("%s -> %s (%s)", median(row.Base), median(row.New),
		view.Change(row.Change, row.ChangeLow, row.ChangeHigh)) + row.doubt()
	switch {
	case row.Base.N+row.Base.Censored == 0 || row.New.N+row.New.Censored == 0:
		return open(0, "one of the runs has no value")
	case row.Exact && row.Differing == 0, row.Verdict == Same && (row.lucky || n >= stats.MinimumBootstrap):
		return Proof{Outcome: Proved}
	case row.Exact && math.IsNaN(center):
		return open(0, "one of the runs has no value in some trials")
	case row.Exact && center <= margin:
		return Proof{Outcome: Proved}
	case row.Exact:
		return Proof{Refuted, fmt.Sprintf("%s -> %s in the mean (%s)", console.Number(row.Base.Center),
			console.Number(row.New.Center), view.Percent(row.Change)), 0}
	case most <= margin, row.unharmed():
		return Proof{Outcome: Proved}
	case row.Base.Censored+row.New.Censored > 0 && math.IsNaN(most):
		return open(0, "time-outs hide how large the change may be: raise time_limit")
	case n < stats.MinimumBootstrap:
		return open(stats.MinimumBootstrap, "%d %s are too few for any interval: it takes %d at least",
			n, unit, stats.MinimumBootstrap)
	case math.IsNaN(most) && (row.Test == MeanPairs || row.Test == Means) && row.Base.Center > 0:
		return open(0, "%s: it happened in too few trials for an interval", shown)
	case math.IsNaN(most):
		return open(0, "a base of %s has no percentages: leave the metric out with --metrics",
			median(row.Base))
	}
	if least > margin {
		return Proof{Refuted, shown, 0}
	}
	needs := row.deciding(margin)
	if needs == 0 {
		return open(0, "%s: too close to the margin for any number of trials to decide", shown)
	}
	return open(needs, "%s with %d %s: about %d on each side would decide, if the true change is as "+
		"estimated",
		shown, n, unit, needs)
}

// least is how many trials, or rounds, with a value the smaller of the runs has.
func (row *Row) least() int {
	switch {
	case row.rounds && len(row.counts) > 0:
		return min(row.Tested())
	case row.Over != "":
		return min(row.Base.Seen, row.New.Seen)
	}
	return min(row.Base.N, row.New.N)
}

// unharmed says whether pairs show no change for the worse at all, where there is no
// percentage of a base of zero.
func (row *Row) unharmed() bool {
	p := row.Paired
	return p != nil && row.Test != TailPairs && (row.of.Better == metric.Lower && p.ShiftHigh <= 0 ||
		row.of.Better == metric.Higher && p.ShiftLow >= 0)
}

// deciding is how many trials on each side would decide, if the change is what it seems:
// as the interval shrinks with the root of n, its half is then small enough to miss the
// margin with probability Power. 0: none would.
func (row *Row) deciding(margin float64) int {
	scale := math.Log1p
	if row.ChangeLow <= -1 {
		scale = func(v float64) float64 { return v }
	}
	bound := margin
	if row.of.Better == metric.Higher {
		bound = -margin
	}
	half := (scale(row.ChangeHigh) - scale(row.ChangeLow)) / 2
	room := math.Abs(scale(bound) - scale(row.Change))
	factor := 1 + stats.NormalQuantile(Power)/stats.NormalQuantile((1+stats.Confidence)/2)
	n := float64(row.least())
	if row.Paired != nil {
		n = float64(row.Paired.N)
	}
	const most = 1e6
	need := math.Ceil(n * exact.Pow(half*factor/room, 2))
	if !(need <= most) {
		return 0
	}
	return int(max(need, n+1))
}
