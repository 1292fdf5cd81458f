package all

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestInitiators is pitfall P4: whoever of five starts an election, together or one
// after the other within a message's delay, from either end, all name one leader.
func TestInitiators(t *testing.T) {
	t.Parallel()
	const n, d = 5, time.Millisecond
	for _, a := range algo.All() {
		if a.Problem != algo.Election {
			continue
		}
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			for set := 1; set < 1<<n; set++ {
				for _, step := range []time.Duration{0, 3 * d / 10, -3 * d / 10} {
					var events []harness.Event
					for p := range n {
						if set>>p&1 == 1 {
							at := step * time.Duration(p)
							if step < 0 {
								at = -step * time.Duration(n-1-p)
							}
							events = append(events, harness.Event{At: at, Do: harness.DoElect, Node: algo.ID(p + 1)})
						}
					}
					agree(t, a, n, events)
				}
			}
		})
	}
}

// agree runs a script that must end with a leader that all name.
func agree(t *testing.T, a *algo.Algorithm, n int, events []harness.Event) {
	t.Helper()
	s := &harness.Script{Events: events}
	if a.Spec.Perpetual {
		s.Until = 2 * time.Second
	}
	p := algotest.MustPlan(t, a.ID, n, harness.Scenario{Plot: s}, nil)
	if o, err := algotest.Simulate(p); err != nil || o.Status != trace.OK || o.Completed == 0 {
		t.Errorf("%s: %s, %v: %v", o.Status, o.Reason, err, fmt.Sprint(events))
	}
}

// TestOvertaking is pitfall P3: with delays in a ratio of 1 to 100, in which messages
// overtake each other, whoever does not need order keeps every promise.
func TestOvertaking(t *testing.T) {
	t.Parallel()
	for _, a := range algo.All() {
		if a.Spec.Needs.FIFO {
			continue
		}
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(100) {
				p, err := algotest.Schedule(a.ID, seed, nil)
				if err != nil {
					t.Fatal(err)
				}
				hi, _ := p.Network.Latency.Bound()
				p.Network.Latency, p.Network.Unordered = link.Uniform(hi/100, hi), true
				o, err := algotest.Simulate(p)
				free := a.Problem == algo.MutualExclusion && !a.Spec.Promises.StarvationFree
				if err != nil || o.Beyond == "" && o.Status != trace.OK && o.Status != trace.Unknown &&
					(o.Status != trace.TimedOut || !free) {
					t.Fatalf("schedule %d: %s: %s, %v", seed, o.Status, o.Reason, err)
				}
			}
		})
	}
}
