package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/election/bully"
	_ "github.com/conclave-bench/conclave/plugins/election/raft"
	_ "github.com/conclave-bench/conclave/plugins/mutex/lamport"
)

func parse(t testing.TB, text string) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Parse("test.yaml", []byte(text), experiment.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// simulate runs an experiment in this process.
func simulate(ctx context.Context, e *experiment.Experiment) (out []results.Trial, err error) {
	config, err := e.Resolved()
	if err != nil {
		return nil, err
	}
	f, err := results.InMemory(runner.Header(e, nil), config)
	if err != nil {
		return nil, err
	}
	if _, err = runner.Run(ctx, e, f, runner.Options{}); err != nil {
		return nil, err
	}
	return out, f.EachTrial(func(t *results.Trial) error {
		out = append(out, *t)
		return nil
	})
}

const watched = `
name: watched
problem: election
algorithms: [bully]
transport: sim
nodes: 2
network: {latency: {distribution: exponential, mean: 8ms}, loss: 0.1, order: unordered}
detector: {kind: heartbeat, interval: 20ms, timeout: 50ms}
scenario: {kind: leader-crash}
repetitions: 10
`

// TestMistakes_Theory: a detector that bears a silence of T makes a mistake behind each heartbeat
// after whose arrival none arrives for T. The k-th before or behind it, sent kη apart, arrives
// meanwhile with (1-p)(F(x+T-kη) - F(x-kη)), where x is the delay of the first, p the loss and F
// the distribution of delays (Chen, Toueg and Aguilera 2002, section 3, for arrivals in any order).
func TestMistakes_Theory(t *testing.T) {
	t.Parallel()
	const interval, timeout, mean, loss = 20.0, 50.0, 8.0, 0.1
	delay := func(x float64) float64 { return 1 - math.Exp(-max(x, 0)/mean) }
	perHeartbeat, step := 0.0, mean/1000
	for x := step / 2; x < 40*mean; x += step {
		silent := 1.0
		for k := -30; k <= 30; k++ {
			if at := x - float64(k)*interval; k != 0 {
				silent *= 1 - (1-loss)*(delay(at+timeout)-delay(at))
			}
		}
		perHeartbeat += (1 - loss) * math.Exp(-x/mean) / mean * step * silent
	}
	want := interval / perHeartbeat // mistake recurrence time

	e := parse(t, watched)
	c, err := Contenders(e)
	if err != nil {
		t.Fatal(err)
	}
	quiet, err := c[0].quiet(timeout*1e6, 0, 0.05, time.Second, 6, 0)
	if err != nil {
		t.Fatal(err)
	}
	trials, err := simulate(t.Context(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	var q Quiet
	q.add(trials, time.Second, 0)
	n := 2 * 6 * 181e3 / want // mistakes, of both pairs
	if off := math.Abs(q.Recurrence/want - 1); off > 4/math.Sqrt(n) || n < 1000 {
		t.Errorf("mistake recurrence %.1f ms, want %.1f: %.1f %% off, with %.0f mistakes", q.Recurrence, want, 100*off, n)
	}
	if q.Mistakes == 0 || math.Abs(q.Hours-0.3) > 1e-9 || len(q.trials) != 6 {
		t.Errorf("%d false elections in %v hours of %d trials", q.Mistakes, q.Hours, len(q.trials))
	}
	// Every mistake lasts until the next arrival, so that the three measures hang together.
	if got := 1 - q.Duration/q.Recurrence; math.Abs(got-q.Accuracy) > 1e-4 {
		t.Errorf("query accuracy %v, want 1 - T_M/T_MR = %v", q.Accuracy, got)
	}
}

// A law is a world without simulation: false elections by chance at a rate that falls with the
// time-out, in bursts, and downtimes that grow with it.
type law struct {
	perHour func(timeout time.Duration) float64
	burst   int
	random  *rand.Rand
	crashes int
}

func (l *law) run(_ context.Context, e *experiment.Experiment) (out []results.Trial, err error) {
	p := &e.Cells[0].Plan
	timeout := p.Detector.Tuned().Value().(time.Duration)
	for range e.Repetitions {
		t := results.Trial{Status: trace.OK}.With(metric.Duration.Of(float64(p.Scenario.Does().Lasts()) / 1e6))
		if p.Scenario.Kind() == leaderCrash {
			l.crashes++
			t.Set(metric.Downtime.Of(float64(timeout)/1e6 + 30 + l.random.Float64()))
			out = append(out, t)
			continue
		}
		mean := l.perHour(timeout) * p.Scenario.Does().Lasts().Hours() / float64(l.burst)
		for at := l.random.ExpFloat64() / mean; at < 1; at += l.random.ExpFloat64() / mean {
			cause := time.Duration(at * float64(p.Scenario.Does().Lasts()))
			for range l.burst {
				t.Ops = append(t.Ops, trace.Operation{Cause: cause, End: cause, Origin: trace.Mistrusted})
			}
		}
		out = append(out, t)
	}
	return out, nil
}

func found(t *testing.T, l *law, o Options) Result {
	t.Helper()
	l.random = rand.New(rand.NewPCG(3, 4))
	l.burst = max(l.burst, 1)
	o.Run, o.Span, o.Keep, o.Precision = l.run, max(o.Span, 16), true, cmp.Or(o.Precision, 0.3)
	if o.Hours == 0 {
		o.Hours = Hours(o.Budget)
	}
	r, err := Tune(t.Context(), parse(t, watched), o)
	if err != nil || len(r) != 1 {
		t.Fatalf("%v: %+v", err, r)
	}
	return r[0]
}

// falling is a rate of 1 per hour at 100 ms, ten times as much or as little every 20 ms.
func falling(timeout time.Duration) float64 {
	return math.Pow(10, float64(100*time.Millisecond-timeout)/20e6)
}

// TestTune: what is found is within the budget, by the law of the world, and not far below it: the fastest
// that there is. This is so of a curve that falls by a power of ten every 20 ms, with mistakes that come singly
// or in bursts, and of one that falls in steps, where the first setting behind a step is the one.
func TestTune(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		budget    float64
		burst     int
		precision float64
	}{{0.1, 1, 0.3}, {1, 4, 0.3}, {1000, 1, 0.3}, {60, 2, 0.2}} {
		l := &law{perHour: falling, burst: test.burst}
		r := found(t, l, Options{Budget: test.budget, Precision: test.precision, Hours: 600 / test.budget})
		if r.Outcome() != Found || r.Bound != "" {
			t.Fatalf("%+v: %s %s", test, r.Outcome(), r.Bound)
		}
		best := r.Points[r.Best]
		least := math.Pow(1+test.precision, -2) / 1.15 // the estimate is off by as much to the other side, too
		if truth := falling(time.Duration(best.Patience)) / test.budget; truth < least || truth > 1 {
			t.Errorf("%+v: %s has a rate of %v budgets, want %v to 1", test, best.Settings, truth, least)
		}
		rate, low, high := best.Mistaken()
		if !(low < rate && high <= test.budget && rate >= test.budget/2) || best.Verdict != Within {
			t.Errorf("%+v: said to be %v [%v, %v]", test, rate, low, high)
		}
		for _, p := range r.Points {
			if p.Verdict == Over && falling(time.Duration(p.Patience)) < test.budget {
				t.Errorf("%+v: over with a true rate of %v: %+v", test, falling(time.Duration(p.Patience)), p)
			}
		}
		hours := 0.0
		for _, p := range r.Points {
			hours += p.Hours
		}
		if hours > 650/test.budget {
			t.Errorf("%+v: quiet for %v hours", test, hours)
		}
	}
	stairs := func(timeout time.Duration) float64 {
		return falling(timeout / (20 * time.Millisecond) * (20 * time.Millisecond))
	}
	r := found(t, &law{perHour: stairs}, Options{Budget: 3})
	if best := r.Points[r.Best]; best.Patience < 100e6 || best.Patience > 102.1e6 ||
		!strings.HasPrefix(r.Bound, "the next shorter setting, detector.timeout=9") {
		t.Errorf("of stairs: %s, %q", best.Settings, r.Bound)
	}
}

// TestTune_Bounds: what keeps a search from shorter settings than the best is named.
func TestTune_Bounds(t *testing.T) {
	t.Parallel()
	never := func(time.Duration) float64 { return 0 }
	// The detector's time-out is above its interval, 20 ms.
	r := found(t, &law{perHour: never}, Options{Budget: 1})
	if !strings.HasPrefix(r.Bound, "at the bound of the model: ") ||
		!strings.Contains(r.Bound, "is not above the interval 20ms") || r.Points[r.Best].Patience > 20.5e6 {
		t.Errorf("%s: %q", r.Points[r.Best].Settings, r.Bound)
	}
	l := &law{perHour: never, burst: 1, random: rand.New(rand.NewPCG(3, 4))}
	all, err := Tune(t.Context(), parse(t, watched), Options{Budget: 1, Hours: 48, Span: 2, Keep: true, Precision: 0.3,
		Run: l.run})
	if err != nil || all[0].Best < 0 || !strings.HasPrefix(all[0].Bound, "at the edge of the search: ") ||
		all[0].Points[all[0].Best].Patience != 25e6 {
		t.Errorf("%v: %+v", err, all)
	}
}

// TestTune_Messages: within each limit all spend what it allows on heartbeats, and the fewer they send, the
// longer their outages are.
func TestTune_Messages(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("[bully]", "[raft, bully]", "nodes: 2", "nodes: 3", "loss: 0.1, order: unordered", "loss: 0.02",
		"mean: 8ms", "mean: 2ms").Replace(watched)
	o := Options{Budget: 3000, Hours: Hours(3000), Span: 16, Spreads: []float64{1}, Precision: 0.5, Run: simulate}
	last := 0.0
	o.Share = func(what string, done float64) {
		if done < last || done > 1 || !strings.Contains(what, " messages per second") {
			t.Errorf("%s: %v of all, after %v", what, done, last)
		}
		last = done
	}
	r, err := Tune(t.Context(), parse(t, text), o)
	if err != nil || len(r) != 6 {
		t.Fatalf("%v: %d results", err, len(r))
	}
	if middle := r[0].Limit; r[2].Limit/middle < 3.9 || middle/r[4].Limit < 3.9 || r[1].Limit != middle {
		t.Errorf("limits %v, %v, %v", middle, r[2].Limit, r[4].Limit)
	}
	time := map[string][]float64{}
	for i := range r {
		if r[i].Best < 0 {
			t.Fatalf("%s: %s", r[i].title(r[i].Limit), r[i].Why(&o))
		}
		p := r[i].Points[r[i].Best]
		if p.Sends() < 0.85*r[i].Limit || p.Sends() > 1.25*r[i].Limit { // what false elections send comes on top
			t.Errorf("%s, at most %v: %s sends %v", r[i].Label, r[i].Limit, p.Settings, p.Sends())
		}
		if _, _, high := p.Mistaken(); high > o.Budget {
			t.Errorf("%s: %v mistakes", r[i].Label, high)
		}
		time[r[i].Label] = append(time[r[i].Label], p.Downtime)
	}
	for label, of := range time { // of the middle, the most, and the fewest messages
		if !(of[1] < of[0] && of[0] < of[2]) {
			t.Errorf("%s: downtimes %v", label, of)
		}
	}
	o.Messages, last = []float64{200}, 0
	if r, err = Tune(t.Context(), parse(t, strings.Replace(text, "[raft, bully]", "[bully]", 1)), o); err != nil ||
		len(r) != 1 || math.Abs(r[0].Points[r[0].Best].Sends()/200-1) > 0.1 {
		t.Errorf("%v: %+v", err, r)
	}
}

// TestTune_Not: what cannot be had, and what cannot be told, are plain outcomes.
func TestTune_Not(t *testing.T) {
	t.Parallel()
	o := Options{Budget: 1}
	always := func(time.Duration) float64 { return 50 }
	if r := found(t, &law{perHour: always}, o); r.Outcome() != Unreachable || r.Best >= 0 ||
		!strings.Contains(r.Why(&o), "not reachable in the range: at least ") {
		t.Errorf("%s: %s", r.Outcome(), r.Why(&o))
	}
	never := func(time.Duration) float64 { return 0 }
	o.Hours = 1 // of which no mistake proves 5.3 per hour
	r := found(t, &law{perHour: never}, o)
	if r.Outcome() != Unknown || r.Needs != 10 ||
		!strings.Contains(r.Why(&o), "cannot be decided in 1 hours of quiet running; give --hours ") {
		t.Errorf("%s, needs %v: %s", r.Outcome(), r.Needs, r.Why(&o))
	}
	o.Hours = 0.001
	if r := found(t, &law{perHour: never}, o); r.Outcome() != Unknown || r.Needs != 10 {
		t.Errorf("after four seconds: %s, needs %v", r.Outcome(), r.Needs)
	}
	o.Hours = r.Needs // what it says would do, does
	if r = found(t, &law{perHour: never}, o); r.Outcome() != Found {
		t.Errorf("with the hours that it asked for: %s", r.Outcome())
	}
}

// TestTune_Down: a setting with which no leader comes back is dropped, and the search goes on to longer
// ones. Nothing is measured of its mistakes.
func TestTune_Down(t *testing.T) {
	t.Parallel()
	o := Options{Budget: 1, Hours: Hours(1), Span: 16, Keep: true, Precision: 0.3}
	l := &law{perHour: func(time.Duration) float64 { return 0 }, burst: 1, random: rand.New(rand.NewPCG(3, 4))}
	least := 130 * time.Millisecond
	down := 0
	o.Run = func(ctx context.Context, e *experiment.Experiment) ([]results.Trial, error) {
		trials, err := l.run(ctx, e)
		if e.Cells[0].Plan.Detector.Tuned().Value().(time.Duration) >= least {
			return trials, err
		}
		if e.Cells[0].Plan.Scenario.Kind() != leaderCrash {
			t.Error("mistakes were counted of a setting without a leader")
		}
		down++
		for i := range trials[:6] {
			trials[i].Status = trace.TimedOut
			trials[i].Set(metric.Downtime.Of(math.NaN()))
		}
		return trials, err
	}
	r, err := Tune(t.Context(), parse(t, watched), o)
	if err != nil {
		t.Fatal(err)
	}
	if r[0].Best < 0 || r[0].Points[r[0].Best].Patience < float64(least) || down < 3 {
		t.Fatalf("%d settings without a leader: %+v", down, r[0])
	}
	if got := dropped([]*Result{&r[0]}); !strings.HasPrefix(got, "dropped, since in most trials no leader came back before "+
		"time_limit 10s: detector.timeout=25ms; detector.timeout=50ms; and ") {
		t.Error(got)
	}
	if !strings.HasPrefix(r[0].Bound, "at the bound of the model: with detector.timeout=12") ||
		!strings.HasSuffix(r[0].Bound, " no leader comes back before time_limit 10s in most trials") {
		t.Error(r[0].Bound)
	}
	table, err := CSV(r)
	if row := strings.Split(string(table), "\n")[1]; err != nil || !strings.HasSuffix(row, ",10,6,0,0,,,,,,,,,,,0,0") ||
		!strings.HasPrefix(row, "bully,election/bully,,detector.timeout=25ms,false,down,false,false,downtime_ms,,") {
		t.Errorf("%v\n%s", err, table)
	}

	least = time.Hour
	if r, err = Tune(t.Context(), parse(t, watched), o); err != nil || r[0].Outcome() != Unreachable {
		t.Fatalf("%v: %+v", err, r)
	}
	if got := dropped([]*Result{&r[0]}); !strings.HasSuffix(got, "; and 4 more") {
		t.Error(got)
	}
	if got := r[0].Why(&o); got != "no setting brings a leader back before time_limit 10s in most trials; raise that, "+
		"or give a larger --span" {
		t.Error(got)
	}
}

// TestTune_Spreads: of a time-out of ten ticks a quarter splits votes for ever. The next shares are
// tried nevertheless.
func TestTune_Spreads(t *testing.T) {
	t.Parallel()
	r := tuned(t, "params: {heartbeat: 100ms, tick: 100ms, t_election: 1s, t_election_spread: 1s, pre_vote: true}",
		[]float64{0.1, 1})
	best := r.Points[r.Best]
	if best.Spread != 1 || !strings.Contains(dropped([]*Result{&r}), "t_election_spread=") || r.Takes() != "" {
		t.Errorf("%+v, dropped: %s", best, dropped([]*Result{&r}))
	}
}

// tuned is what is found for raft with more said of it.
func tuned(t *testing.T, more string, spreads []float64) Result {
	t.Helper()
	text := strings.NewReplacer("[bully]", "[{name: raft, "+more+"}]", "nodes: 2", "nodes: 3", "repetitions: 10", "repetitions: 6",
		"{distribution: exponential, mean: 8ms}, loss: 0.1, order: unordered", "2ms").Replace(watched) + "time_limit: 4m\n"
	r, err := Tune(t.Context(), parse(t, text), Options{Budget: 1000, Hours: Hours(1000), Span: 16, Spreads: spreads,
		Keep: true, Precision: 0.3, Run: simulate})
	if err != nil || r[0].Best < 0 {
		t.Fatalf("%v: %+v", err, r)
	}
	return r[0]
}

// TestTune_InModel: of raft the fastest settings are out of its model, unless these are left out. Then the
// output says what the model demands.
func TestTune_InModel(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("[bully]", "[raft]", "nodes: 2", "nodes: 3", "loss: 0.1, order: unordered", "loss: 0",
		"{distribution: exponential, mean: 8ms}", "{distribution: uniform, min: 1ms, max: 3ms}").Replace(watched)
	for _, within := range []bool{false, true} {
		r, err := Tune(t.Context(), parse(t, text), Options{Budget: 1000, Hours: Hours(1000), Span: 8,
			Spreads: []float64{0.5}, Keep: true, Precision: 0.3, Run: simulate, InModel: within})
		if err != nil || r[0].Best < 0 {
			t.Fatalf("in model %v: %v: %+v", within, err, r)
		}
		best := r[0].Points[r[0].Best]
		bound := strings.HasPrefix(r[0].Bound, "at the bound of the model: t_election ")
		if (best.Beyond == nil) != within || bound != within {
			t.Errorf("in model %v: %s, %q, %q", within, best.Settings, best.Beyond, r[0].Bound)
		}
	}
}

// TestTune_Sets: settings of a set are such as its system takes, and all that is tied moves together.
func TestTune_Sets(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]struct {
		settings string
		bound    string
	}{
		"etcd": {"t_election=500ms t_election_spread=500ms t_quorum=500ms",
			"at the bound of the model: the shortest setting that its system accepts"},
		"consul": {"t_election=1s heartbeat=100ms heartbeat_spread=100ms t_election_spread=1s t_quorum=500ms",
			"at the bound of the model: the shortest setting that its system accepts"},
	} {
		r := tuned(t, "set: "+set, []float64{0.25, 0.5})
		for i := range r.Points {
			p := &r.Points[i]
			fit, _ := r.set.Fitted(algo.Params(values(t, r.Contender, p)))
			for name, v := range fit {
				if now := values(t, r.Contender, p)[name]; now != v {
					t.Errorf("%s: %s: the system wants %s=%v, not %v", set, p.Settings, name, v, now)
				}
			}
		}
		if best := r.Points[r.Best]; best.Settings != want.settings || !strings.HasPrefix(r.Bound, want.bound) ||
			!strings.HasPrefix(r.Takes(), "set "+set+": ") {
			t.Errorf("%s: found %s, bound %v", set, best.Settings, r.Bound)
		}
		file, err := Tuned([]Result{r}, "")
		if err != nil || !strings.Contains(string(file), strings.Fields(strings.ReplaceAll(want.settings, "=", ": "))[1]) {
			t.Errorf("%s: %v\n%s", set, err, file)
		}
	}
	// In the middle of the search neighbours are whole multiples, and none is measured twice.
	c := &Contender{Dial: "t_election", set: consul(t), duration: true}
	for seconds, want := range map[float64]float64{0.01: 1, 1.4: 1, 1.6: 2, 7.4: 7, 9.9: 10, 80: 10} {
		c.params = algo.Params{"t_election": 5 * time.Second}
		if got := c.fit(seconds * 1e9); got != want*1e9 {
			t.Errorf("multiplier %v: %v s", seconds, got/1e9)
		}
	}
}

func consul(t *testing.T) *algo.Set {
	t.Helper()
	a, err := algo.Lookup("election/raft")
	if err != nil {
		t.Fatal(err)
	}
	set, err := a.Spec.SetOf("consul")
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// values are the parameters of the trials of a setting.
func values(t *testing.T, c *Contender, p *Point) map[string]any {
	t.Helper()
	e, err := c.crashes(p.Patience, p.Spread, 0)
	if err != nil {
		t.Fatal(err)
	}
	return e.Cells[0].Plan.Params
}

// TestTune_Simulated: equal seeds find the same, and what is found runs as an experiment.
func TestTune_Simulated(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("[bully]", "[raft, {name: bully, detector: {kind: phi}}]", "nodes: 2", "nodes: 3",
		"loss: 0.1, order: unordered", "loss: 0.01", "mean: 8ms", "mean: 1ms").Replace(watched)
	o := Options{Budget: 3000, Hours: Hours(3000), Span: 4, Spreads: []float64{0.5, 1}, Run: simulate,
		Messages: []float64{150}, Precision: 0.5}
	var tables []string
	for range 2 {
		r, err := Tune(t.Context(), parse(t, text), o)
		if err != nil {
			t.Fatal(err)
		}
		table, err := CSV(r)
		if err != nil {
			t.Fatal(err)
		}
		file, err := Tuned(r, "# found\n")
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, string(table)+string(file))
		e := parse(t, string(file))
		if len(e.Cells) != 2 || e.Cells[0].Plan.Detector.Kind() != "none" || e.Cells[1].Plan.Detector.Kind() != "phi" || e.Seed == 1 {
			t.Errorf("the tuned experiment:\n%s", file)
		}
		for _, r := range r {
			if p := r.Points[r.Best]; r.Best < 0 || p.Verdict != Within || !strings.Contains(p.Settings, r.name(r.Dial)+"=") {
				t.Errorf("%s: %+v", r.Label, p)
			}
		}
		if slices.ContainsFunc(e.Notes, func(n string) bool { return strings.Contains(n, "defaults") }) {
			t.Errorf("notes of the tuned experiment: %q", e.Notes)
		}
	}
	if tables[0] != tables[1] {
		t.Errorf("the same search found\n%s\nand\n%s", tables[0], tables[1])
	}
}

// TestRefusals: what is nothing to tune is refused, with a remedy.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]string{
		"problem: election\nalgorithms: [bully]|problem: mutex\nalgorithms: [lamport]":                      "only elections are tuned",
		"nodes: 2|sweep: [{vary: nodes, over: [2, 3]}]":                                                     "has 2 cells: tuning needs a single one",
		"kind: leader-crash|kind: cold-start":                                                               "write scenario: {kind: leader-crash}",
		"kind: heartbeat, interval: 20ms, timeout: 50ms|kind: perfect":                                      "write detector: {kind: heartbeat}",
		"scenario: {kind: leader-crash}|faults: {events: [{on: elected, do: crash, who: leader, for: 1s}]}": "crash removes a process",
	} {
		old, new, _ := strings.Cut(change, "|")
		text := strings.Replace(watched, old, new, 1)
		if strings.Contains(new, "mutex") || strings.Contains(new, "faults") {
			text = strings.Replace(text, "scenario: {kind: leader-crash}\n", "", 1)
		}
		_, err := Contenders(parse(t, text))
		var refusal *Refusal
		if !errors.As(err, &refusal) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v, want %q", new, err, want)
		}
	}
	o := Options{Budget: 1, Hours: 1, Span: 2, Run: simulate}
	_, err := Tune(t.Context(), parse(t, strings.Replace(watched, "timeout: 50ms", "timeout: 21ms", 1)+
		"time_limit: 1s\n"), Options{Budget: 1e6, Hours: 1e-3, Span: 2, Keep: true, Precision: 0.3,
		Run: o.Run})
	if err != nil {
		t.Errorf("a base at the edge of what is allowed: %v", err)
	}
}

// CSV is the file with all settings.
func CSV(found []Result) ([]byte, error) {
	d := answer.New("tune", "")
	addSettings(d, found)
	return d.In("csv")
}
