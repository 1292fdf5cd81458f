package rare

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

// plan is that of an experiment in simulation.
func planned(t testing.TB, algorithm, nodes string, set ...string) *harness.Plan {
	t.Helper()
	e, err := experiment.Build([]string{algorithm}, nodes, experiment.Overrides{Transport: "sim", Set: set})
	if err != nil {
		t.Fatal(err)
	}
	return &e.Cells[0].Plan
}

// longTimeOuts is Raft with three servers and so long time-outs that the outage after k split votes is
// over before k+1.7 of them: the rounds do not overlap.
func longTimeOuts(t testing.TB) *harness.Plan {
	return planned(t, "election/raft", "3", "scenario.kind=leader-crash", "network.latency=10ms",
		"params.heartbeat=75ms", "params.t_election=2s",
		"params.t_election_spread=100ms")
}

// splitVotes is how likely the first k votes of three Raft servers, one of them down, are all split. Two
// are left, and time out x apart. The vote is split if |x| is below a delay d. At first
// x is the difference of two uniform draws from [0, s]; after a split each has drawn
// anew, from its own time-out on, and such a difference is added.
func splitVotes(d, s float64, k int) float64 {
	const n = 600
	h := 2 * d / n
	step := func(x float64) float64 { return max(0, 1-math.Abs(x)/s) / s * h }
	weight := make([]float64, n)
	for i := range weight {
		weight[i] = step(-d + h*(float64(i)+0.5))
	}
	total := func() (sum float64) {
		for _, w := range weight {
			sum += w
		}
		return sum
	}
	for range k - 1 {
		next := make([]float64, n)
		for i := range next {
			for j, w := range weight {
				next[i] += float64(w * step(h*float64(i-j)))
			}
		}
		weight = next
	}
	return total()
}

// TestOutages_SplitVotes: down to 1e-9, Raft's votes are split as often as the law says.
func TestOutages_SplitVotes(t *testing.T) {
	slowtest.Skip(t, "splits some thousand trials")
	t.Parallel()
	const timeOut = 2 * time.Second
	var beyond []float64
	for k := range 12 {
		beyond = append(beyond, (float64(k)+1.7)*float64(timeOut))
	}
	p := longTimeOuts(t)
	r, err := Split(context.Background(), Outages(p, time.Duration(beyond[11])), Options{Beyond: beyond, Paths: 150,
		Replications: 10, Seed: 1, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if got := splitVotes(0.1, 1, 1); math.Abs(got-0.19) > 1e-6 { // 1 − (1 − d/s)²
		t.Fatalf("the law of one vote: %v", got)
	}
	held := 0
	for k, e := range r.Estimates {
		law := splitVotes(0.1, 1, k+1)
		if e.Low <= law && law <= e.High {
			held++
		}
		if off := math.Abs(math.Log(law/e.Probability)) / math.Log(e.High/e.Probability); !(off < 1.5) {
			t.Errorf("%d split votes: %.3g [%.3g, %.3g], the law says %.3g", k+1, e.Probability, e.Low, e.High, law)
		}
	}
	if last := r.Estimates[11]; held < 10 || last.Probability > 1e-8 || last.Gain < 1000 {
		t.Errorf("%d of 12 intervals hold the law; the last: %+v", held, last)
	}
}

// TestOutages_Crude: plain simulation gives the same where it can.
func TestOutages_Crude(t *testing.T) {
	t.Parallel()
	p := planned(t, "election/raft", "5", "scenario.kind=leader-crash", "network.latency=10ms",
		"params.heartbeat=75ms", "params.t_election=150ms",
		"params.t_election_spread=60ms")
	const bound = 500 * time.Millisecond
	trials := Outages(p, bound)
	r, err := Split(context.Background(), trials, Options{Beyond: []float64{float64(bound)}, Paths: 200,
		Replications: 10, Seed: 1, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	const n = 3000
	hits := 0
	for i := range n {
		path, err := trials[0](Branch{{Seed: harness.Derive(7, "plain", uint64(i))}}, math.Inf(1), false)
		if err != nil {
			t.Fatal(err)
		}
		if math.IsInf(path.Top.Height, 1) {
			hits++
		}
	}
	low, high := stats.BinomialInterval(hits, n, 0.99)
	if e := r.Estimates[0]; e.High < low || e.Low > high || hits < 10 || hits > n/20 || len(r.Levels) < 2 {
		t.Errorf("%d of %d plain trials: [%v, %v]; split: %+v, levels %v", hits, n, low, high, e, r.Levels)
	}
}

// TestOutages_Replay: a path that goes on from a level is the same up to there, and another one
// afterwards.
func TestOutages_Replay(t *testing.T) {
	t.Parallel()
	trial := Outages(longTimeOuts(t), time.Minute)[0]
	run := func(b Branch, until float64) Path {
		p, err := trial(b, until, true)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	whole := run(Branch{{Seed: 1}}, math.Inf(1))
	cut := run(Branch{{Seed: 1}}, 3)
	if cut.Top.Height != 3 || cut.Events >= whole.Events || len(whole.Peaks) < len(cut.Peaks) ||
		!reflect.DeepEqual(cut.Peaks, whole.Peaks[:len(cut.Peaks)]) {
		t.Fatalf("cut short %+v, whole %+v", cut, whole)
	}
	values := map[float64]bool{}
	for seed := range uint64(5) {
		b := Branch{{Seed: 1}, {cut.Top.Record, seed}}
		once, again := run(b, math.Inf(1)), run(b, math.Inf(1))
		if !reflect.DeepEqual(once, again) {
			t.Errorf("one branch, two paths: %+v, %+v", once, again)
		}
		if !reflect.DeepEqual(once.Peaks[:len(cut.Peaks)], cut.Peaks) {
			t.Errorf("%+v goes on from %+v", once, cut)
		}
		values[float64(once.Events)+once.Value] = true
	}
	if len(values) < 2 {
		t.Errorf("all go on alike: %v", values)
	}
	if _, err := trial(Branch{{Seed: 1}, {1 << 40, 2}}, math.Inf(1), false); err == nil ||
		!strings.Contains(err.Error(), "is not deterministic") {
		t.Errorf("a record that never comes: %v", err)
	}
}

// TestOutages_ForEver: an outage that never ends is beyond every bound.
func TestOutages_ForEver(t *testing.T) {
	t.Parallel()
	// Constant delays and no randomness: all ask at once, and vote for themselves.
	p := planned(t, "election/raft", "4", "scenario.kind=leader-crash", "network.latency=10ms",
		"params.heartbeat=75ms", "params.t_election=150ms",
		"params.t_election_spread=0s")
	r, err := Split(context.Background(), Outages(p, 10*time.Second), Options{Beyond: []float64{1e9, 1e10}, Paths: 10,
		Replications: 2, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range r.Estimates {
		if e.Probability != 1 || e.Low != 1 || e.High != 1 || len(r.Levels) != 0 {
			t.Errorf("%+v, levels %v", e, r.Levels)
		}
	}
}

// TestPatience: the time-out is the algorithm's, or else its detector's.
func TestPatience(t *testing.T) {
	t.Parallel()
	for algorithm, want := range map[string]string{"election/raft": "t_election", "election/bully": "detector.timeout"} {
		name, d := Patience(planned(t, algorithm, "3", "scenario.kind=leader-crash", "detector.kind=heartbeat"))
		if name != want || d <= 0 {
			t.Errorf("%s: %s %v, want %s", algorithm, name, d, want)
		}
	}
	if name, d := Patience(planned(t, "election/bully", "3", "detector.kind=perfect")); name != "" || d != 0 {
		t.Errorf("perfect: %s %v", name, d)
	}
}

// TestRefuse: what has no outages of its own is refused, with a remedy.
func TestRefuse(t *testing.T) {
	t.Parallel()
	churn := planned(t, "election/raft", "3")
	churn.Scenario.Plot = &harness.Churn{}
	mutex := planned(t, "mutex/central", "3", "scenario.kind=burst")
	for want, p := range map[string]*harness.Plan{
		"scenario.kind churn: a trial is followed until its outage is over; write scenario: {kind: leader-crash} or {kind: cold-start}": churn,
		"mutex/central has no leader": mutex,
	} {
		if err := Refuse(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := Refuse(longTimeOuts(t)); err != nil {
		t.Error(err)
	}
}

// TestOutages_Config: configs/rare.yaml shows what its first lines say.
func TestOutages_Config(t *testing.T) {
	t.Parallel()
	e, err := experiment.Load("../../../configs/rare.yaml", experiment.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	var tail [2]float64
	for i := range tail {
		const bound = 600 * time.Millisecond
		r, err := Split(context.Background(), Outages(&e.Cells[i].Plan, bound), Options{Beyond: []float64{float64(bound)},
			Paths: 50, Replications: 10, Seed: e.Seed, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		tail[i] = r.Estimates[0].Probability
	}
	if times := tail[0] / tail[1]; times < 2 || times > 20 {
		t.Errorf("%v: %v times, want several", tail, times)
	}
}
