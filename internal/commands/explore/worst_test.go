package explore

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// worst is the costliest schedule of a short search.
func worst(t *testing.T, id, cost string, o Options) *Worst {
	t.Helper()
	o.Maximise, o.Seed = Costs(mustLookup(id))[cost], 1
	r, err := Run(context.Background(), id, o)
	if err != nil || r.Find != nil || r.Worst == nil {
		t.Fatalf("%+v, %v", r, err)
	}
	return r.Worst
}

// TestMaximise: the same search finds the same with any number of workers, its file costs exactly as
// much, and it costs no less than any schedule of a shorter one but for what shrinking may give up.
func TestMaximise(t *testing.T) {
	t.Parallel()
	for id, cost := range map[string]string{"mutex/raymond": "messages", "election/bully": "outage"} {
		o := Options{Nodes: []int{3}, Faults: Survived, Schedules: 3 * climb, Workers: 1}
		one := worst(t, id, cost, o)
		o.Workers = 3
		if three := worst(t, id, cost, o); three.Value != one.Value || three.Number != one.Number ||
			!reflect.DeepEqual(three.Schedule.Events, one.Schedule.Events) {
			t.Errorf("%s: %v in schedule %d, and with three workers %v in %d", id, one.Value, one.Number,
				three.Value, three.Number)
		}
		o.Schedules = climb
		if few := worst(t, id, cost, o); few.Value*(1-loss) > one.Value {
			t.Errorf("%s: %v of few schedules, and %v of more", id, few.Value, one.Value)
		}
		text, err := one.File()
		path := filepath.Join(t.TempDir(), "worst.yaml")
		if err != nil || os.WriteFile(path, text, 0o644) != nil {
			t.Fatal(err)
		}
		if err := one.Reproduces(path); err != nil {
			t.Error(err)
		}
		one.Value++
		if one.Reproduces(path) == nil {
			t.Error("another value is reproduced")
		}
		if claims := id != "mutex/raymond"; claims != (one.Bound != nil) || claims && one.Bound.Value <= 0 {
			t.Errorf("%s: bound %+v", id, one.Bound)
		}
	}
}

// TestMaximise_Claimed: a cost is compared with what is claimed of the worst case, over all orders of IDs, and
// not with what is claimed of one order.
func TestMaximise_Claimed(t *testing.T) {
	t.Parallel()
	const n = 4
	w := worst(t, "election/chang-roberts", "messages", Options{Nodes: []int{n}, Faults: None,
		Schedules: 4 * climb, Workers: 1})
	if w.Bound == nil || w.Bound.Value != n*(n+1)/2+n || w.Value > w.Bound.Value || w.Value <= 3*n-1 ||
		!strings.Contains(w.Bound.Text, "worked out for Conclave") {
		t.Errorf("%v messages, bound %+v", w.Value, w.Bound)
	}
}

// TestMaximise_Known: the search reaches the worst case of bully that is known: whoever is asked when it
// has just heard of the leader starts again, so that process k starts 2^(k-2) elections for one of
// process 1. It has as few events as it may.
func TestMaximise_Known(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 4} {
		w := worst(t, "election/bully", "messages", Options{Nodes: []int{n}, Faults: None, Schedules: 2 * climb,
			Latency: 10 * time.Millisecond, Events: 1, Workers: 1})
		starts := math.Pow(2, float64(n-2))
		if want := 2*(2*starts-1) + float64(n-1)*starts; w.Value != want {
			t.Errorf("%d processes: %v messages, want %v", n, w.Value, want)
		}
		if got := commands(w.First); got != 1 {
			t.Errorf("%d processes: %d events, want 1: %+v", n, got, w.First.Events)
		}
	}
}

// TestMaximise_Order: on a ring the order of IDs is looked for as well, which is what costs there: all of
// N(N+1)/2 and the lap of the announcement, where an ascending ring has 3N-1. The file has the order, and
// whoever leaves a process out closes the gap.
func TestMaximise_Order(t *testing.T) {
	t.Parallel()
	const n = 4
	w := worst(t, "election/chang-roberts", "messages", Options{Nodes: []int{n}, Faults: None,
		Schedules: 4 * climb, Workers: 1})
	if want := float64(n*(n+1)/2 + n); w.Value != want {
		t.Errorf("%v messages, want %v", w.Value, want)
	}
	text, err := w.File()
	path := filepath.Join(t.TempDir(), "worst.yaml")
	if err != nil || os.WriteFile(path, text, 0o600) != nil {
		t.Fatal(err)
	}
	if err := w.Reproduces(path); err != nil {
		t.Errorf("%v:\n%s", err, text)
	}
	if w.Schedule.Shape.Order != nil || w.Schedule.Shape.Sorted != "descending" {
		t.Errorf("a list where a word would do: %+v", w.Schedule.Shape)
	}
	s := w.First.clone()
	s.Shape.Order = []algo.ID{3, 1, 4, 2}
	if got := s.without(2); !slices.Equal(got.Shape.Order, []algo.ID{2, 1, 3}) {
		t.Errorf("without 2: %v", got.Shape.Order)
	}
}

// commands is how many events of s are no delays of single messages.
func commands(s *Schedule) (n int) {
	for i := range s.Events {
		if s.Events[i].Do != harness.DoFlaky {
			n++
		}
	}
	return n
}

// TestMaximise_Crashes: where only crashes may be, nothing else is, nobody comes back, and the downtime
// is that of a leader that was there. Of a lease the store cannot crash for good.
func TestMaximise_Crashes(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"election/raft", "election/lease"} {
		m := &maker{alg: mustLookup(id), rng: rand.New(rand.NewPCG(1, 1)),
			options: &Options{Faults: Crashes, Nodes: []int{5}, Events: 3, Maximise: metric.Downtime}}
		crashes := 0
		for range 200 {
			s := m.trim(m.draw())
			if s.Leader != 5 || len(s.Events) > 3 || !s.within() {
				t.Fatalf("%s: %+v", id, s)
			}
			for _, e := range s.Events {
				if e.Do == harness.DoCrash {
					crashes++
				}
				store := id == "election/lease" && e.Node == 1
				if e.Do != harness.DoElect && (e.Do != harness.DoCrash || e.For > 0 || store) {
					t.Errorf("%s: %+v", id, e)
				}
			}
		}
		if crashes < 100 {
			t.Errorf("%s: %d crashes in 200 schedules", id, crashes)
		}
		var seen moments
		calm := m.draw()
		calm.Events = []harness.Event{{At: time.Millisecond, Do: harness.DoElect, Node: 2}}
		calm.tidy()
		if _, err := calm.run(t.Context(), "", &seen); err != nil {
			t.Fatal(err)
		}
		if crashes = 0; len(seen) == 0 {
			t.Fatalf("%s: nothing happens in %+v", id, calm)
		}
		for range 200 {
			for _, e := range m.vary(calm, seen).Events {
				if e.Do == harness.DoCrash {
					crashes++
				}
			}
		}
		if crashes < 20 {
			t.Errorf("%s: %d crashes in 200 changed schedules", id, crashes)
		}
	}
}

// TestBound_Time: what a downtime may be counts from the loss of the leader, and what happens when it
// is over does not count.
func TestBound_Time(t *testing.T) {
	t.Parallel()
	d := link.Constant(10 * time.Millisecond)
	s := &Schedule{Algorithm: mustLookup("election/bully"), Nodes: 3, Leader: 3, Seed: 1, Shape: algo.DefaultShape(algo.Complete),
		Latency: d, Detector: harness.PerfectDetector(50 * time.Millisecond),
		Events: []harness.Event{{At: 300 * time.Millisecond, Do: harness.DoCrash, Node: 3},
			{At: 320 * time.Millisecond, Do: harness.DoElect, Node: 1},
			{At: 2 * time.Second, Do: harness.DoFlaky, Latency: &d, For: time.Millisecond}}}
	s.tidy()
	p, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	alg, v, err := simulate(t.Context(), &p, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, within := p.Live(&alg.Spec)
	want := float64((within + 20*time.Millisecond) / time.Millisecond)
	if n := len(v.Outages); n == 0 || v.Outages[0].End < 0 {
		t.Fatalf("outages: %+v", v.Outages)
	}
	for _, m := range []*metric.Metric{metric.Downtime, metric.Agreed.Downtime, metric.Agreed.Longest} {
		if b := s.bound(alg, &p, v, m); b == nil || b.Value != want {
			t.Errorf("%s: %+v, want %v", m.Name, b, want)
		}
	}
	s.Events[1].For = time.Minute // what goes on longer than the outage could as well end with it
	want = float64(v.Outages[0].End-v.Outages[0].Cause+within) / float64(time.Millisecond)
	if b := s.bound(alg, &p, v, metric.Downtime); b == nil || b.Value != want {
		t.Errorf("to the end of the outage: %+v, want %v", b, want)
	}
	v.Outages = []trace.Outage{{Definition: metric.Agreed.Service.String(), Begin: 3 * time.Minute,
		Cause: 3 * time.Minute, End: 4 * time.Minute, Status: trace.Completed}}
	want = float64(within) / float64(time.Millisecond) // it began behind all events
	if b := s.bound(alg, &p, v, metric.Downtime); b == nil || b.Value != want {
		t.Errorf("behind all events: %+v, want %v", b, want)
	}
	s.Leader, s.Events = algo.None, s.Events[:1] // nobody is to find a leader
	if s.modest(nil) {
		t.Error("a schedule in which nothing is asked is modest")
	}
	if got := (&Worst{Metric: metric.Downtime}).Theory(); got != "no figure for downtime_ms is stated" {
		t.Errorf("without a bound: %s", got)
	}
}

// TestMaximise_Broken: a schedule that breaks a promise is told, and no cost.
func TestMaximise_Broken(t *testing.T) {
	t.Parallel()
	const id = "mutex/test-enters-at-once"
	r, err := Run(context.Background(), id, Options{Faults: Survived, Schedules: climb, Seed: 1, Workers: 1,
		Maximise: Costs(mustLookup(id))["bypass"]})
	if err != nil || r.Find == nil || r.Worst != nil || r.Find.Rule != "mutual-exclusion" {
		t.Errorf("%+v, %v", r, err)
	}
}
