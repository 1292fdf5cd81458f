package algotest

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Storm is a family of random schedules of an election: somebody starts it,
// messages take random times and meet faults, processes crash and return, the
// network splits. Then the faults stop, and there is calm until the end.
type Storm struct {
	Span, Calm  time.Duration // faults begin within Span; the trial ends after Span + Calm
	Latency     link.Latency
	Unordered   bool
	Loss        float64
	Duplication float64
	Crashes     int  // down at once, at most
	Recovery    bool // who crashed comes back, now and then
	Returns     bool // who crashed is back, all of them, when the calm begins
	Partitions  bool
	Cut         time.Duration    // a partition lasts so long, and up to half a Span more
	Detector    harness.Detector // none, if not set
	Leader      bool             // the last process leads at the start
	Params      map[string]any
}

// RunStorms simulates as many storms as Schedules says, as draw chooses them and
// their numbers of processes by seed. Each must end with one leader that all name,
// and break no promise; in nine of ten at least, agreement must have been lost
// before.
func RunStorms(t *testing.T, id string, draw func(seed uint64) (Storm, int)) {
	t.Helper()
	seeds := Schedules()
	calm := uint64(0) // storms in which most processes kept their leader
	for seed := uint64(1); seed <= seeds; seed++ {
		s, n := draw(seed)
		p, err := s.Plan(id, n, seed)
		if err != nil {
			t.Fatal(err)
		}
		o, err := Simulate(p)
		if o.Status == trace.Unknown {
			calm++
		} else if err != nil || o.Status != trace.OK {
			t.Fatalf("storm %d, n = %d: %s: %s: %v", seed, n, o.Status, o.Reason, err)
		}
	}
	if 10*calm > seeds {
		t.Errorf("nothing happened in %d storms of %d", calm, seeds)
	}
}

// Plan is the storm's schedule of that seed, as a script.
func (s Storm) Plan(id string, n int, seed uint64) (harness.Plan, error) {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	p, err := Plan(id, n, harness.Scenario{Kind: harness.Script}, s.Params)
	if err != nil {
		return p, err
	}
	p.Seed, p.Detector = seed, s.Detector
	if s.Leader {
		p.Leader = algo.ID(n)
	}
	p.Network = link.Network{
		Latency: s.Latency, Unordered: s.Unordered, Loss: s.Loss, Duplication: s.Duplication,
	}
	p.Scenario.Events = s.events(rng, n)
	p.Scenario.Until = s.Span + s.Calm
	return p, nil
}

func (s Storm) events(rng *rand.Rand, n int) (out []harness.Event) {
	id := func() algo.ID { return algo.ID(rng.IntN(n) + 1) }
	at := func() time.Duration { return time.Duration(rng.Int64N(int64(s.Span))) }
	out = append(out, harness.Event{Do: harness.DoElect, Node: id()}) // before anything breaks
	for range rng.IntN(n) {
		out = append(out, harness.Event{At: at(), Do: harness.DoElect, Node: id()})
	}
	times := make([]time.Duration, 2+rng.IntN(6))
	for i := range times {
		times[i] = at()
	}
	slices.Sort(times)
	var down []algo.ID
	var healed time.Duration // of the last cut
	for _, t := range times {
		switch p := id(); {
		case s.Recovery && len(down) > 0 && rng.IntN(2) == 0:
			out = append(out, harness.Event{At: t, Do: harness.DoRestart, Node: down[0]})
			down = down[1:]
		case s.Partitions && t > healed && rng.IntN(2) == 0:
			healed = t + s.Cut + time.Duration(rng.Int64N(int64(s.Span)/2))
			out = append(out, harness.Event{At: t, Do: harness.DoCut, Groups: sides(rng, n)},
				harness.Event{At: healed, Do: harness.DoHeal})
		case len(down) < s.Crashes && !slices.Contains(down, p):
			out = append(out, harness.Event{At: t, Do: harness.DoCrash, Node: p})
			down = append(down, p)
		}
	}
	for _, p := range down {
		if s.Returns {
			out = append(out, harness.Event{At: s.Span, Do: harness.DoRestart, Node: p})
		}
	}
	return out
}

// sides splits the processes in two, at random.
func sides(rng *rand.Rand, n int) [][]uint32 {
	var left []uint32
	for p := range n {
		if rng.IntN(2) == 0 {
			left = append(left, uint32(p+1))
		}
	}
	if len(left) == 0 {
		left = append(left, uint32(rng.IntN(n)+1))
	}
	return [][]uint32{left}
}
