package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// TestNeeds: by hand. Values of which each is further from the next than the change are
// ranked as before, so no number of trials would do; constant ones need what the least P needs.
func TestNeeds(t *testing.T) {
	metrics := []*metric.Metric{metric.Election, metric.MessagesPerElection, metric.Availability}
	apart := func(trial *results.Trial, _ int) { setTime(trial, math.Pow(2, float64(trial.Repetition))) }
	for name, test := range map[string]struct {
		transport           string
		change              func(*results.Trial, int)
		pairs, ranks, needs int
	}{
		// z = 2.95 + 0.84 at 0.05 / 16, and z² / (6 · 0.5²) is 9.6; of eight pairs P is 2/256.
		"constant, simulated":     {"sim", nil, 8, 10, 8},
		"constant, on real nodes": {"nats", nil, 0, 11, 11}, // eight metrics in cells, with the counts
		"far apart":               {"nats", apart, 0, 0, 0},
		"far apart, simulated":    {"sim", apart, 8, 0, 8},
	} {
		needs, tests := Needs(run(test.transport, 12, test.change), metrics, 0.05, 0.05,
			test.transport == "sim")
		if len(needs) != 8 || tests != map[string]int{"sim": 4, "nats": 8}[test.transport] {
			t.Fatalf("%s: %d needs, %d tests", name, len(needs), tests)
		}
		n := needs[0]
		if n.Metric != metric.Election || n.Pairs != test.pairs || n.Ranks != test.ranks || n.Needed() != test.needs {
			t.Errorf("%s: %+v, needs %d", name, n, n.Needed())
		}
		if counts := needs[1]; counts.Exact != (test.transport == "sim") || counts.Exact && counts.Needed() != 1 {
			t.Errorf("%s: %+v", name, counts)
		}
	}
	if needs, _ := Needs(run("nats", 5, nil), metrics, 0.05, 0.05, false); needs[0].Ranks != 0 || needs[0].Why == "" {
		t.Errorf("of five values: %+v", needs[0])
	}
}

// TestNeeds_Power: as many trials as are told find the change in about four of five
// comparisons.
func TestNeeds_Power(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(3, 3))
	made := func(n int, factor float64, seeds uint64) *results.Table {
		all := run("nats", n, func(trial *results.Trial, _ int) {
			trial.Seed += seeds
			setTime(trial, 30*factor*math.Exp(0.1*draw.NormFloat64()))
		})
		return only(all, func(t *results.Trial) bool { return is("raft", 5, t) })
	}
	needs, _ := Needs(made(200, 1, 0), []*metric.Metric{metric.Election}, 0.05, 0.05, false)
	n := needs[0].Ranks
	// The t test needs 2 (0.1 · 3.34 / 0.049)² = 93 as one of four, and ranks 5 % more.
	if n < 80 || n > 120 {
		t.Errorf("%d trials, want about 98", n)
	}
	runs := slowtest.Times(50, 100)
	found := 0
	for range runs {
		r := compared(t, made(n, 1, 0), made(n, 1.05, 1000), Options{Metrics: []string{"election_ms"}})
		if r.Rows[0].Test != Ranks {
			t.Fatal(r.Rows[0].Test)
		}
		if r.Rows[0].Verdict == Worse {
			found++
		}
	}
	if share := float64(found) / float64(runs); share < 0.66 || share > 0.94 {
		t.Errorf("%d trials find it in %.0f %% of comparisons", n, 100*share)
	}
}
