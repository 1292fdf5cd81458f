package compare

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// uneven makes times that differ much from trial to trial, alike in all runs.
func uneven(change func(ms float64, t *results.Trial) float64) func(*results.Trial, int) {
	return func(t *results.Trial, _ int) {
		setTime(t, change(100+float64(t.Repetition*t.Repetition*7%50), t))
	}
}

// TestPairs_SmallShift: a shift that ranks of all trials cannot see is found with six
// trials, and named.
func TestPairs_SmallShift(t *testing.T) {
	same := uneven(func(ms float64, _ *results.Trial) float64 { return ms })
	only := Options{Metrics: []string{"election_ms"}, Where: []metric.Field{{Name: "nodes", Value: "5"}, {Name: "label", Value: "raft"}}}
	for says, change := range map[string]func(float64, *results.Trial) float64{
		"slower by exactly 0.1%, in 6 of 6 pairs": func(ms float64, _ *results.Trial) float64 { return ms * 1.001 },
		"slower by exactly 6 ms (":                func(ms float64, _ *results.Trial) float64 { return ms + 6 },
		"faster by exactly 1%, in 6 of 6 pairs":   func(ms float64, _ *results.Trial) float64 { return ms * 0.99 },
		"slower by 1.5% in a typical pair [+1.00%, +2.00%], in 6 of 6 p": func(ms float64, t *results.Trial) float64 {
			return ms * (1.01 + float64(t.Repetition-1)*0.002)
		},
	} {
		r := compared(t, run("sim", 6, same), run("sim", 6, uneven(change)), only)
		row := r.Rows[0]
		if row.Test != Pairs || row.P != 2.0/64 || !strings.HasPrefix(row.Paired.String(), says) ||
			row.Verdict != map[bool]Verdict{true: Worse, false: Better}[says[0] == 's'] {
			t.Errorf("%s: %s by %s, p %v, %v", says, row.Verdict, row.Test, row.P, row.Paired)
		}
		said := append(r.Findings(), r.Failures...) // what fails is said there alone
		if want := row.Paired.String(); len(said) != 1 || !strings.Contains(said[0], want) {
			t.Errorf("said %q, want %s once", said, want)
		}
	}
}

// TestPairs_Chosen: pairs are compared as such where they could be beyond chance among so
// many tests, and where most trials have a partner.
func TestPairs_Chosen(t *testing.T) {
	same := uneven(func(ms float64, _ *results.Trial) float64 { return ms })
	slower := uneven(func(ms float64, _ *results.Trial) float64 { return ms * 2 })
	shifted := func(first uint64) func(*results.Trial, int) {
		return func(trial *results.Trial, nodes int) {
			if slower(trial, nodes); trial.Seed >= first {
				trial.Seed += 1000
			}
		}
	}
	for name, test := range map[string]struct {
		base, new *results.Table
		want      Test
		verdict   Verdict
		note      string
	}{
		"eight for four tests":  {run("nats", 8, same), run("nats", 8, slower), Pairs, Worse, ""},
		"seven are too few":     {run("nats", 7, same), run("nats", 7, slower), Ranks, Worse, "pairs need 8 trials on each side"},
		"too few for any":       {run("nats", 4, same), run("nats", 4, slower), Ranks, Unclear, "it takes 5 trials"},
		"none has a partner":    {run("nats", 20, same), run("nats", 20, shifted(0)), Ranks, Worse, ""},
		"most have none":        {run("nats", 20, same), run("nats", 20, shifted(10)), Ranks, Worse, ""},
		"half have one":         {run("nats", 20, same), run("nats", 20, shifted(11)), Pairs, Worse, ""},
		"a longer run has more": {run("nats", 20, same), run("nats", 30, slower), Pairs, Worse, ""},
	} {
		r := compared(t, test.base, test.new, Options{Metrics: []string{"election_ms"}})
		if row := r.Rows[0]; row.Test != test.want || row.Verdict != test.verdict ||
			!strings.Contains(strings.Join(r.Notes, "\n"), test.note) {
			t.Errorf("%s: by %s, %s, notes %q", name, row.Test, row.Verdict, r.Notes)
		}
	}
}

// TestPairs_Timeouts: a pair of which one timed out has an order; one of which both did
// says nothing and is counted.
func TestPairs_Timeouts(t *testing.T) {
	ends := func(from, to int) func(*results.Trial, int) {
		return func(trial *results.Trial, nodes int) {
			uneven(func(ms float64, _ *results.Trial) float64 { return ms * float64(100+to) / 100 })(trial, nodes)
			if trial.Repetition >= from && trial.Repetition <= to {
				trial.Status = trace.TimedOut
				setTime(trial, math.NaN())
			}
		}
	}
	r := compared(t, run("nats", 20, ends(1, 2)), run("nats", 20, ends(1, 5)), Options{Metrics: []string{"election_ms"}})
	p := r.Rows[0].Paired
	if p == nil || p.N != 18 || p.Censored != 3 || p.Left != 2 || p.Rises != 18 || !(p.P < 1e-4) {
		t.Fatalf("%+v", p)
	}
	d := ofTypical(rendered(t, r.Document()).Table("rows"))[0]
	if d["method"] != "pairs" || d["pairs"] != 18. || d["differing"] != 18. || d["left_out"] != 2. ||
		d["shift"].(map[string]any)["low"] == nil {
		t.Errorf("%v", d)
	}
}

// TestPair_Direction: a few large falls outweigh many small rises, and the words follow
// the ranks as the verdict does.
func TestPair_Direction(t *testing.T) {
	table := run("nats", 20, uneven(func(ms float64, t *results.Trial) float64 {
		switch {
		case t.Design[2].Value == "bully":
			return ms
		case t.Repetition > 11:
			return ms * (0.5 - 0.01*float64(t.Repetition))
		}
		return ms * (1 + 0.001*float64(t.Repetition))
	}))
	cells := table.Cells()
	p := Pair(cells[0], cells[2], metric.Election)
	if got := p.String(); p.Rises != 11 || p.larger() || !strings.HasPrefix(got, "faster by ") || p.Ratio > 1 {
		t.Errorf("%s: %+v", got, p)
	}
}

// TestPair_OfOneRun: algorithms of one run met the same luck, too.
func TestPair_OfOneRun(t *testing.T) {
	table := run("sim", 10, uneven(func(ms float64, t *results.Trial) float64 {
		if t.Design[2].Value == "raft" {
			return ms * 1.3
		}
		return ms
	}))
	cells := table.Cells()
	p := Pair(cells[0], cells[2], metric.Election)
	if got := p.String(); got != "slower by exactly 30%, in 10 of 10 pairs" || p.P != 2.0/1024 {
		t.Errorf("%s, p %v", got, p.P)
	}
	if p := Pair(cells[0], cells[1], metric.Election); p.String() != "equal in every pair" || p.P != 1 {
		t.Errorf("%v, p %v", p, p.P)
	}
}

// TestPairs_FalseAlarms compares runs of one program whose trials share their luck, as far
// as they do on real nodes: no more than alpha says cry wolf, and the gate hardly ever.
func TestPairs_FalseAlarms(t *testing.T) {
	t.Parallel()
	runs := slowtest.Times(60, 200)
	if slowtest.Night() {
		runs = 10000
	}
	draw := rand.New(rand.NewPCG(5, 5))
	tests, alarms, families := 0, 0, 0
	for range runs {
		luck := map[uint64]float64{}
		made := func() *results.Table {
			return run("nats", 12, func(trial *results.Trial, _ int) {
				if luck[trial.Seed] == 0 {
					luck[trial.Seed] = 30 * math.Exp(draw.NormFloat64())
				}
				setTime(trial, luck[trial.Seed]*math.Exp(0.1*draw.ExpFloat64()))
			})
		}
		r := compared(t, made(), made(), Options{Metrics: []string{"election_ms"}})
		found := false
		for _, row := range r.Rows {
			if row.Test != Pairs {
				t.Fatalf("by %s", row.Test)
			}
			tests++
			if row.P <= DefaultAlpha {
				alarms++
			}
			found = found || row.Adjusted <= DefaultAlpha
		}
		if found {
			families++
		}
	}
	slack := func(n int) float64 { return 0.05 + 3.5*math.Sqrt(0.05*0.95/float64(n)) }
	if share := float64(alarms) / float64(tests); share > slack(tests) {
		t.Errorf("%d of %d tests are false alarms", alarms, tests)
	}
	if share := float64(families) / float64(runs); share > slack(runs) {
		t.Errorf("%d of %d comparisons have a false alarm after correction", families, runs)
	}
}
