package compare

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// TestGate_Distribution: a change of some trials alone is found, and not proved to be small, though a
// typical pair does not change; equal programs pass, and a small change is proved to be small.
func TestGate_Distribution(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(8, 1))
	runs := slowtest.Times(10, 40)
	made := func(n int, share, factor, all float64) (base, new *results.Table) {
		luck := make([]float64, n+1)
		for i := range luck {
			luck[i] = 100 * math.Exp(0.3*draw.NormFloat64())
		}
		side := func(share, factor, all float64) *results.Table {
			table := run("nats", n, func(trial *results.Trial, _ int) {
				v := all * luck[trial.Repetition] * math.Exp(0.01*draw.NormFloat64())
				if draw.Float64() < share {
					v *= factor
				}
				setTime(trial, v)
			})
			return only(table, func(t *results.Trial) bool { return is("raft", 5, t) })
		}
		return side(0, 1, 1), side(share, factor, all)
	}
	for _, tt := range []struct {
		name               string
		n                  int
		share, factor, all float64
		// Of all pairs of runs, those that fail, and those that are proved to be within 5 %, as parts.
		failsFrom, failsTo, provedFrom, provedTo float64
	}{
		// An exchange of the members of pairs has a P of 0.03 at least if six of them differ, and one in
		// seven runs has fewer; of 40 trials of which a tenth change, three in five have fewer than five.
		{"a fifth of 40 three times slower", 40, .2, 3, 1, .5, 1, 0, .05},
		{"a tenth of 40 ten times slower", 40, .1, 10, 1, 0, 1, 0, .1},
		{"a quarter of 60 three times slower", 60, .25, 3, 1, .9, 1, 0, 0},
		{"a fifth of 20 three times slower", 20, .2, 3, 1, .05, 1, 0, .1},
		{"a fifth of 100 three times slower", 100, .2, 3, 1, .9, 1, 0, 0},
		{"nothing", 40, 0, 1, 1, 0, .08, .5, 1},
		{"2 % slower", 100, 0, 1, 1.02, 0, .08, .9, 1},
	} {
		failed, proved := 0., 0.
		for range runs {
			base, new := made(tt.n, tt.share, tt.factor, tt.all)
			o := Options{Metrics: []string{"election_ms"}, Threshold: DefaultThreshold}
			if compared(t, base, new, o).Document().Exit == answer.Missed {
				failed++
			}
			o.Prove = 0.05
			r := compared(t, base, new, o)
			if r.Document().Exit == answer.Good {
				proved++
			}
			if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "not covered by the proof: p99 of election_ms") {
				t.Fatalf("%s: p99 is not said to be left out: %s", tt.name, notes)
			}
		}
		t.Logf("%s: of %d pairs of runs %v fail, %v are proved", tt.name, runs, failed, proved)
		room := float64(runs)
		if failed < tt.failsFrom*room || failed > math.Ceil(tt.failsTo*room) || proved < tt.provedFrom*room ||
			proved > math.Ceil(tt.provedTo*room) {
			t.Errorf("%s: of %d pairs of runs %v fail, %v are proved", tt.name, runs, failed, proved)
		}
	}
}

// TestRow_Agrees: the figures, the change and the verdict of a row are of one statistic.
func TestRow_Agrees(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(8, 2))
	rows := 0
	for n := range slowtest.Times(10, 40) {
		noise := func() func(*results.Trial, int) {
			return func(trial *results.Trial, _ int) {
				v := 30 * math.Exp(0.5*draw.NormFloat64())
				if draw.Float64() < float64(n)/40 {
					v *= 4
				}
				setTime(trial, v)
			}
		}
		r := compared(t, run("nats", 40, noise()), run("nats", 40, noise()), Options{Metrics: []string{"election_ms"},
			Threshold: 0.1})
		r.each(func(row *Row) {
			if row.Why != "" {
				return
			}
			rows++
			says := row.New.Center/row.Base.Center - 1
			if row.Stat != Typical && math.Abs(says-row.Change) > 1e-9 {
				t.Errorf("%s: %v -> %v, and a change of %v", row.name(), row.Base.Center, row.New.Center, row.Change)
			}
			inside := row.ChangeLow >= -0.1 && row.ChangeHigh <= 0.1
			switch {
			case row.Verdict == Small && !inside, row.Verdict == Worse && !(row.Change > 0.1 && row.ChangeLow > 0),
				row.Verdict == Better && !(row.Change < -0.1 && row.ChangeHigh < 0):
				t.Errorf("%s: %s of %v [%v, %v]", row.name(), row.Verdict, row.Change, row.ChangeLow, row.ChangeHigh)
			}
		})
	}
	if rows < 100 {
		t.Errorf("%d rows", rows)
	}
}

// TestRow_Verdict: what a statistic's verdict follows from, at a threshold of 10 %.
func TestRow_Verdict(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		p, change, low, high float64
		want                 Verdict
	}{
		{0.001, 0.05, 0.02, 0.08, Small},
		{0.001, 0.05, 0.02, 0.7, Unsure}, // the centre is small, and the interval is not
		{0.001, -0.05, -0.3, -0.01, Unsure},
		{0.001, 0.2, 0.15, 0.3, Worse},
		{0.001, -0.2, -0.3, -0.15, Better},
		{0.001, 0.2, 0.02, 0.5, Worse},
		{0.001, 0.2, -0.02, 0.5, Unsure}, // the test and the interval disagree
		{0.2, 0.2, 0.02, 0.5, Unsure},    // only the interval leaves out 0
		{0.2, 0.05, 0.02, 0.08, Unclear},
		{0.2, 0.2, -0.1, 0.5, Unclear},
		{0.001, 0.2, math.NaN(), math.NaN(), Worse}, // time-outs leave no interval
	} {
		row := &Row{of: metric.Election, Adjusted: tt.p, Change: tt.change, ChangeLow: tt.low, ChangeHigh: tt.high,
			Paired: &Pairing{Paired: stats.Paired{N: 20, Tendency: math.Copysign(1, tt.change)}}}
		if got := row.verdict(&Options{Alpha: 0.05, Threshold: 0.1}); got != tt.want {
			t.Errorf("p %v, %v [%v, %v]: %s, want %s", tt.p, tt.change, tt.low, tt.high, got, tt.want)
		}
	}
	// Whatever the centre says, the test has a direction, and they have to agree.
	row := &Row{of: metric.Election, Adjusted: 0.001, Change: 0.2, ChangeLow: 0.15, ChangeHigh: 0.3,
		Paired: &Pairing{Paired: stats.Paired{N: 20, Tendency: -1}}}
	if got := row.verdict(&Options{Alpha: 0.05, Threshold: 0.1}); got != Unsure {
		t.Errorf("another direction: %s", got)
	}
}

// TestMean_Restricted: where some trials never end, the mean counts each value as the longest that ended in
// either run at most, in its figures, its change and its test.
func TestMean_Restricted(t *testing.T) {
	t.Parallel()
	only5 := func(table *results.Table) *results.Table {
		return only(table, func(t *results.Trial) bool { return is("raft", 5, t) })
	}
	r := compared(t, only5(run("nats", 20, hung(20))), only5(run("nats", 20, hung(16))),
		Options{Metrics: []string{"election_ms"}})
	mean := func() *Row {
		for _, row := range r.Rows[0].all() {
			if row.Stat == Mean {
				return row
			}
		}
		t.Fatal("no mean")
		return nil
	}()
	// 31 to 50 ms; of the new run, 47 to 50 are cut off, and 50 is the longest that ended.
	if mean.Limit != 50 || mean.Base.Center != 40.5 || math.Abs(mean.New.Center-(16*38.5+4*50)/20) > 1e-9 ||
		math.Abs(mean.Change-(mean.New.Center/mean.Base.Center-1)) > 1e-9 || mean.New.Censored != 4 {
		t.Errorf("%v -> %v, limit %v, change %v", mean.Base, mean.New, mean.Limit, mean.Change)
	}
}

// TestFamily: without pairs, the statistics of one metric see the same exchanges, and cost each other less than
// as many tests that know nothing of each other.
func TestFamily(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(8, 3))
	made := func(shift float64, seeds uint64) *results.Table {
		table := run("nats", 12, func(trial *results.Trial, _ int) {
			trial.Seed += seeds
			setTime(trial, 30+shift+draw.NormFloat64())
		})
		return only(table, func(t *results.Trial) bool { return is("raft", 5, t) })
	}
	r := compared(t, made(0, 0), made(1.5, 1000), Options{Metrics: []string{"election_ms"}})
	row := &r.Rows[0]
	if row.Test != Ranks || len(row.family("")) != 2 || !(row.P > 0.0005 && row.P < 0.05) ||
		!(row.Adjusted < 1.6*row.P) || row.Adjusted < row.P*0.8 {
		t.Errorf("by %s, family of %d: p %v, adjusted %v", row.Test, len(row.family("")), row.P, row.Adjusted)
	}
}
