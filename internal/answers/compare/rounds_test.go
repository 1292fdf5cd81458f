package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// rounded makes a run of so many rounds of so many trials, whose times are change's.
func rounded(transport string, rounds, trials int, change func(t *results.Trial) float64) *results.Table {
	return run(transport, rounds*trials, func(t *results.Trial, _ int) {
		t.Round = 1 + (t.Repetition-1)/trials
		setTime(t, change(t))
	})
}

var election = Options{Metrics: []string{"election_ms"}}

// TestRounds_Pairs: pairs are made within rounds, and rounds are the witnesses: what all trials
// of six rounds show has the P of six, not of thirty.
func TestRounds_Pairs(t *testing.T) {
	same := func(t *results.Trial) float64 { return 100 + float64(t.Repetition*t.Repetition*7%50) }
	slower := func(t *results.Trial) float64 { return 1.2 * same(t) }
	one := Options{Metrics: election.Metrics, Where: []metric.Field{{Name: "nodes", Value: "5"}, {Name: "label", Value: "raft"}}}
	r := compared(t, rounded("nats", 6, 5, same), rounded("nats", 6, 5, slower), one)
	row := r.Rows[0]
	if row.Test != RoundPairs || row.P != 2./64 || row.Verdict != Worse ||
		row.Paired.String() != "slower by exactly 20%, in 6 of 6 rounds" || row.Base.N != 30 {
		t.Errorf("%s by %s, p %v: %v", row.Verdict, row.Test, row.P, row.Paired)
	}
	// One round that falls by much does not outweigh five that rise: 2·(ranks up to 6) of 64.
	lucky := func(t *results.Trial) float64 {
		if t.Round == 3 {
			return 0.5 * same(t)
		}
		return slower(t)
	}
	r = compared(t, rounded("nats", 6, 5, same), rounded("nats", 6, 5, lucky), one)
	if row := r.Rows[0]; row.P < .4 || row.Verdict != Unclear {
		t.Errorf("%s, p %v: %v", row.Verdict, row.P, row.Paired)
	}
	// In simulation there is nothing for rounds to share: thirty pairs are thirty.
	r = compared(t, rounded("sim", 6, 5, same), rounded("sim", 6, 5, slower), one)
	if row := r.Rows[0]; row.Test != Pairs || row.Paired.N != 30 {
		t.Errorf("by %s of %d", row.Test, row.Paired.N)
	}
	// Four rounds are too few for pairs, and enough for ranks; three are enough for nothing.
	r = compared(t, rounded("nats", 4, 5, same), rounded("nats", 4, 5, slower), one)
	if row := r.Rows[0]; row.Test != RoundRanks || row.P < stats4 || row.P > .06 {
		t.Errorf("by %s, p %v", row.Test, row.P)
	}
	r = compared(t, rounded("nats", 3, 5, same), rounded("nats", 3, 5, slower), one)
	if row := r.Rows[0]; row.Verdict != TooFew || !strings.Contains(strings.Join(r.Notes, "\n"), "raise rounds") {
		t.Errorf("%s by %s, p %v; notes %q", row.Verdict, row.Test, row.P, r.Notes)
	}
}

// stats4 is the least P by the ranks of four and four.
const stats4 = 2. / 70

// TestRounds_TimedOut: a round of which time-outs hide the centre is a witness all the same.
func TestRounds_TimedOut(t *testing.T) {
	same := func(t *results.Trial) float64 { return 100 + float64(t.Repetition*t.Repetition*7%50) }
	base := rounded("nats", 6, 5, same)
	new := rounded("nats", 6, 5, func(t *results.Trial) float64 {
		if t.Round == 2 {
			return math.NaN()
		}
		return 1.2 * same(t)
	})
	for i := range new.Trials {
		if new.Trials[i].Round == 2 {
			new.Trials[i].Status = "timeout"
		}
	}
	cells, others := base.Cells(), new.Cells()
	p := pairRounds(cells[0], others[0], luckyPairs(cells[0], others[0]), metric.Election, nil)
	if p.N != 6 || p.Rises != 6 || p.Censored != 1 || p.P != 2./64 || math.Abs(p.Ratio-1.2) > 1e-9 {
		t.Errorf("%+v", p)
	}
}

// TestRounds_Unlike: rounds that do not match make no pairs, and the report says so.
func TestRounds_Unlike(t *testing.T) {
	same := func(t *results.Trial) float64 { return 100 + float64(t.Repetition*t.Repetition*7%50) }
	r := compared(t, rounded("nats", 6, 4, same), rounded("nats", 8, 3, func(t *results.Trial) float64 {
		return 1.1 * same(t)
	}), election)
	notes := strings.Join(r.Notes, "\n")
	if r.Rows[0].Test != RoundRanks || !strings.Contains(notes, "BASE has 6 rounds and NEW 8") {
		t.Errorf("by %s; notes %s", r.Rows[0].Test, notes)
	}
	if a, b := r.Rows[0].Tested(); a != 6 || b != 8 {
		t.Errorf("%d and %d rounds are tested", a, b)
	}
	r = compared(t, rounded("nats", 1, 24, same), rounded("nats", 6, 4, func(t *results.Trial) float64 {
		return 1.1 * same(t)
	}), election)
	notes = strings.Join(r.Notes, "\n")
	if r.Rows[0].Test != Pairs || !strings.Contains(notes, "only NEW has rounds (6)") {
		t.Errorf("by %s; notes %s", r.Rows[0].Test, notes)
	}
}

// TestRounds_FalseAlarms compares runs of one program in which every start has its luck: as
// many as alpha says cry wolf, where the same trials taken without their rounds do all the time.
func TestRounds_FalseAlarms(t *testing.T) {
	t.Parallel()
	runs := 25
	if slowtest.Night() {
		runs = 3000
	}
	draw := rand.New(rand.NewPCG(5, 14))
	made := func() *results.Table {
		start := map[string]float64{}
		return rounded("nats", 8, 5, func(t *results.Trial) float64 {
			key := fmt.Sprint(t.Round, t.Cell)
			if start[key] == 0 {
				start[key] = 100 * math.Exp(0.1*draw.NormFloat64())
			}
			return start[key] * math.Exp(0.1*draw.NormFloat64())
		})
	}
	alarms, naive, tests := 0, 0, 0
	for range runs {
		base, new := made(), made()
		for _, row := range compared(t, base, new, election).Rows {
			if tests++; row.P <= DefaultAlpha {
				alarms++
			}
		}
		for _, table := range []*results.Table{base, new} {
			for i := range table.Trials {
				table.Trials[i].Round = 1
			}
		}
		for _, row := range compared(t, base, new, election).Rows {
			if row.P <= DefaultAlpha {
				naive++
			}
		}
	}
	if share := float64(alarms) / float64(tests); share > 0.05+4*math.Sqrt(0.05*0.95/float64(tests)) {
		t.Errorf("%d of %d tests are false alarms", alarms, tests)
	}
	if naive < 3*alarms || naive < tests/8 {
		t.Errorf("without rounds %d of %d, with them %d: this test tests nothing", naive, tests, alarms)
	}
}

// TestSpreads: the variance of rounds that differ, that of rounds that do not, and what would help.
func TestSpreads(t *testing.T) {
	trial := []float64{-3, -1, 0, 1, 3}
	apart := func(by float64) *results.Table {
		table := rounded("nats", 6, 5, func(t *results.Trial) float64 {
			return 100 + float64(by*float64(t.Round*t.Round%7-3)) + trial[(t.Repetition-1)%5]
		})
		table.Manifest = &results.Manifest{Costs: &results.Costs{RoundMS: 4000, TrialMS: 500}}
		return only(table, func(t *results.Trial) bool { return is("raft", 5, t) })
	}
	of := func(table *results.Table) Spread {
		all := Spreads(table)
		i := slices.IndexFunc(all, func(s Spread) bool { return s.Metric == "election_ms" })
		if i < 0 {
			t.Fatalf("no spread of election_ms: %v", all)
		}
		return all[i]
	}
	// Means of rounds 98, 101, 99, 99, 101 and 98 tenfold from the middle; squares within are 20
	// on 4 degrees of freedom.
	far := of(apart(10))
	if far.Rounds != 6 || far.Trials != 5 || far.Share < .95 || far.Best != 1 ||
		!strings.Contains(far.String(), "more rounds would help, not more trials") {
		t.Errorf("%+v: %v", far, far)
	}
	// The root of 4000/500 · 5/within lies between 2 and 5.
	if near := of(apart(1)); near.Share < .1 || near.Share > .6 || near.Best < 3 || near.Low > near.Share || near.High < near.Share {
		t.Errorf("%+v: %v", near, near)
	}
	alike := of(apart(0))
	if alike.Share != 0 || !alike.Unbounded() || !strings.Contains(alike.String(), "between rounds 0 %, between trials 100 %") {
		t.Errorf("%+v: %v", alike, alike)
	}
	if got := Spreads(rounded("nats", 1, 30, func(*results.Trial) float64 { return 1 })); got != nil {
		t.Errorf("%v of one round", got)
	}
	if got := Spreads(rounded("sim", 6, 5, func(t *results.Trial) float64 { return float64(t.Repetition) })); got != nil {
		t.Errorf("%v of a simulation", got)
	}
}

// TestManyCells: a small shift that all of many cells have is found in each, in trials of which
// no single cell could be beyond chance among so many; as it is, by Holm's method none is.
func TestManyCells(t *testing.T) {
	draw := rand.New(rand.NewPCG(5, 15))
	luck := map[string]float64{}
	times := func(shift float64) func(*results.Trial, int) {
		return func(t *results.Trial, _ int) {
			key := fmt.Sprint(t.Cell, " ", t.Repetition)
			if luck[key] == 0 {
				luck[key] = 100 * math.Exp(draw.NormFloat64())
			}
			setTime(t, luck[key]*(1+float64(shift*draw.ExpFloat64())))
		}
	}
	base, new := run("sim", 6, times(0)), run("sim", 6, times(0.02))
	r := compared(t, base, new, election)
	if len(r.Rows) < 4 || r.Tests != 3*len(r.Rows) { // typical, p50 and mean
		t.Fatalf("%d rows, %d tests", len(r.Rows), r.Tests)
	}
	for _, row := range r.Rows {
		if row.P != 2./64 || row.Adjusted != 2./64 || row.Verdict != Small && row.Verdict != Worse {
			t.Errorf("%s by %s: p %v, adjusted %v", row.Verdict, row.Test, row.P, row.Adjusted)
		}
	}
	if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "only one that many rows share") {
		t.Errorf("notes %s", notes)
	}
}
