package compare

import (
	"github.com/conclave-bench/conclave/internal/answers/answer"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// TestProve: a change passes only where it is shown to be within the margin, fails where
// it is shown to be beyond, and is else open, with the number of trials that would decide.
func TestProve(t *testing.T) {
	level := func(int, string) float64 { return 30 }
	by := func(seed uint64, factor float64) func(*results.Trial, int) {
		return noisy(seed, func(int, string) float64 { return 30 * factor })
	}
	exactly := func(factor float64) func(*results.Trial, int) {
		return func(t *results.Trial, nodes int) {
			noisy(t.Seed, func(int, string) float64 { return 30 * factor })(t, nodes)
		}
	}
	fewer := func(trial *results.Trial, _ int) { setTime(trial, math.NaN()) }
	for name, test := range map[string]struct {
		base, new *results.Table
		outcome   Outcome
		why       string
	}{
		"the same luck, the same values": {run("nats", 3, nil), run("nats", 3, nil), Proved, ""},
		"equal, of other luck": {run("nats", 3, nil), run("nats", 3, func(t *results.Trial, _ int) { t.Seed += 100 }),
			Inconclusive, "it takes 6 at least"},
		"4 %, exactly":    {run("sim", 6, exactly(1)), run("sim", 6, exactly(1.04)), Proved, ""},
		"6 %, exactly":    {run("sim", 12, exactly(1)), run("sim", 12, exactly(1.06)), Refuted, "(+6.00% [+6.00%, +6.00%])"},
		"faster by much":  {run("nats", 12, by(1, 1)), run("nats", 12, by(2, 0.7)), Proved, ""},
		"slower by much":  {run("nats", 12, by(1, 1)), run("nats", 12, by(2, 1.3)), Refuted, "(+3"},
		"unknown":         {run("nats", 12, by(1, 1)), run("nats", 12, by(2, 1.04)), Inconclusive, " on each side would decide"},
		"noise alone":     {run("nats", 60, by(1, 1)), run("nats", 60, by(2, 1)), Proved, ""},
		"too few":         {run("nats", 5, by(1, 1)), run("nats", 5, by(2, 1)), Inconclusive, "5 trials are too few"},
		"time-outs":       {run("nats", 20, hung(20)), run("nats", 20, hung(6)), Inconclusive, "raise time_limit"},
		"without a value": {run("nats", 12, noisy(1, level)), run("nats", 12, fewer), Inconclusive, "no value"},
	} {
		r := compared(t, test.base, test.new, Options{Metrics: []string{"election_ms"}, Prove: 0.05})
		row := r.Rows[len(r.Rows)-1] // raft of 5
		if row.Proof.Outcome != test.outcome || !strings.Contains(row.Proof.Why, test.why) {
			t.Errorf("%s: %+v, want %s: %s", name, row.Proof, test.outcome, test.why)
		}
		if (r.Document().Exit == answer.Good) != (len(r.Open)+len(r.Failures) == 0) || len(r.Open) > 0 && r.Open[0] == "" ||
			(test.outcome == Inconclusive) != (len(r.Open) > 0) && name != "time-outs" {
			t.Errorf("%s: open %q, failures %q", name, r.Open, r.Failures)
		}
	}
}

// TestProve_Counts: counts of one experiment are facts, and what is neither better nor
// worse is not asked.
func TestProve_Counts(t *testing.T) {
	adding := func(by float64) func(*results.Trial, int) {
		return func(t *results.Trial, _ int) { more(t, metric.Messages, by); more(t, metric.Undeliverable, 5) }
	}
	for by, failures := range map[float64]int{1: 0, 2: 4} { // of 20
		r := compared(t, run("sim", 4, nil), run("sim", 4, adding(by)), Options{Prove: 0.05})
		if len(r.Failures) != failures || len(r.Open) != 0 {
			t.Errorf("%v more of 20: failures %q, open %q", by, r.Failures, r.Open)
		}
	}
	r := compared(t, run("sim", 4, nil), only(run("sim", 4, nil), func(t *results.Trial) bool { return !is("raft", 5, t) }), Options{Prove: 0.05})
	if len(r.Open) != 1 || !strings.Contains(r.Open[0], "no such cell") {
		t.Errorf("open %q", r.Open)
	}
}

// TestProve_Zero: of a base of zero there is no percentage, and pairs that are no worse
// need none. What got worse where it happened at all is not proved to be no worse.
func TestProve_Zero(t *testing.T) {
	brain := func(ms float64) func(*results.Trial, int) {
		return func(t *results.Trial, _ int) {
			if t.Repetition == 1 {
				ms := ms
				t.Set(metric.SplitBrain.Of(ms))
				return
			}
			t.Set(metric.SplitBrain.Of(0))
		}
	}
	for ms, want := range map[float64]Outcome{3: Proved, 4: Inconclusive} {
		base, new := run("nats", 12, brain(3)), run("nats", 12, brain(ms))
		base.Metrics, new.Metrics = append(base.Metrics, "split_brain_ms"), append(new.Metrics, "split_brain_ms")
		for _, row := range compared(t, base, new, Options{Metrics: []string{"split_brain_ms"}, Prove: 0.05}).Rows {
			if row.Proof.Outcome != want {
				t.Errorf("%v ms: %+v of %v, want %s", ms, row.Proof, row.Paired, want)
			}
		}
	}
}

// TestProve_Errors: a change of just the margin is waved through, and one of nothing is
// called worse, no oftener than the level allows; and the number that is told does decide.
func TestProve_Errors(t *testing.T) {
	t.Parallel()
	runs := slowtest.Times(40, 150)
	draw := rand.New(rand.NewPCG(9, 9))
	made := func(n int, factor float64) *results.Table {
		all := run("nats", n, func(trial *results.Trial, _ int) {
			luck := rand.New(rand.NewPCG(trial.Seed, 1)).NormFloat64()
			setTime(trial, 30*factor*math.Exp(0.1*luck+0.05*draw.NormFloat64()))
		})
		return only(all, func(t *results.Trial) bool { return is("raft", 5, t) })
	}
	outcome := func(n int, factor float64) Proof {
		o := Options{Metrics: []string{"election_ms"}, Prove: 0.05}
		return compared(t, made(n, 1), made(n, factor), o).Rows[0].Proof
	}
	waved, decided, asked := 0, 0, 0
	for range runs {
		if outcome(20, 1.05).Outcome == Proved {
			waved++
		}
		if p := outcome(12, 1.02); p.Needs > 0 && asked < runs/5 {
			asked++
			// By hand: 2 · 0.05² · (2.8 / 0.029)² = 47, and 5 % more for ranks.
			if outcome(49, 1.02).Outcome == Proved {
				decided++
			}
		}
	}
	if n := float64(runs); float64(waved) > float64(0.025*n)+float64(3.5*math.Sqrt(0.025*0.975*n)) {
		t.Errorf("%d of %d changes of the margin are waved through", waved, runs)
	}
	if asked > 5 && decided < asked*6/10 {
		t.Errorf("%d of %d are decided by 49 trials", decided, asked)
	}
}
