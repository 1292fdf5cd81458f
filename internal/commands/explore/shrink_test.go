package explore

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// eager is who enters when it likes to.
type eager struct{}

func (eager) Request(env algo.Env)                    { env.Granted() }
func (eager) Release(algo.Env)                        {}
func (eager) Receive(algo.Env, algo.ID, algo.Message) {}

// hasty sends 1, and 2 a moment later, and reckons with their order.
type hasty struct {
	algo.Config
	heard uint64
}

// Count is its message.
type Count struct{ N uint64 }

// Kind is COUNT.
func (Count) Kind() string { return "COUNT" }

func (n *hasty) next() algo.ID { return n.Peers[int(n.ID)%len(n.Peers)] }

func (n *hasty) Request(env algo.Env) {
	env.Send(n.next(), Count{1})
	env.SetTimer("second", 10*tick)
}

func (n *hasty) Timeout(env algo.Env, _ algo.Timer) {
	env.Send(n.next(), Count{2})
	env.Granted()
}

func (n *hasty) Receive(_ algo.Env, _ algo.ID, m algo.Message) {
	if m.(Count).N != n.heard%2+1 {
		panic("overtaken")
	}
	n.heard++
}

func (*hasty) Release(algo.Env) {}

func init() {
	spec := algo.Spec{
		Name: "test-enters-at-once", Summary: "broken",
		Paper:    algo.Paper{Authors: "nobody", Title: "none", Year: 2026},
		Messages: []algo.Message{Count{}},
	}
	algo.RegisterMutex(spec, func(c algo.Config) algo.Mutex { return eager{} })
	spec.Name = "test-has-no-rest"
	algo.RegisterMutex(spec, func(c algo.Config) algo.Mutex { return &restless{left: 30_000} })
	spec.Name = "test-reckons-with-order"
	algo.RegisterMutex(spec, func(c algo.Config) algo.Mutex { return &hasty{Config: c} })
}

// TestSmallest: of what breaks a promise nothing is left but what does, in the
// plainest words.
func TestSmallest(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		find := func(id, rule string) *Schedule {
			r, err := Run(context.Background(), id, Options{
				Faults: Survived, Rule: rule, Schedules: 1000, Seed: seed, Workers: 1,
			})
			if err != nil || r.Find == nil {
				t.Fatalf("%s: %+v, %v", id, r, err)
			}
			return r.Find.Schedule
		}
		s := find("mutex/test-enters-at-once", "mutual-exclusion")
		at, first := s.Events[0].At, s.Events[0].Node
		want := s.clone() // the seed, the hold and the limits may be any
		want.Nodes, want.Latency, want.Holder = 2, link.Constant(time.Millisecond), algo.None
		want.Unordered, want.Duplication, want.Detector = false, 0, harness.NoDetector()
		want.Events = []harness.Event{
			{At: at, Do: harness.DoRequest, Node: first}, {At: at, Do: harness.DoRequest, Node: 3 - first},
		}
		if odd(at) > 0 || !reflect.DeepEqual(s, want) {
			t.Errorf("seed %d\n got %+v\nwant %+v", seed, s, want)
		}
		s = find("mutex/test-reckons-with-order", broken)
		if s.Nodes != 2 || !s.Latency.Fixed() || len(s.Events) != 2 ||
			s.Events[0].Do != harness.DoRequest && s.Events[1].Do != harness.DoRequest {
			t.Errorf("seed %d: %+v, want a request and the delay of one message", seed, s)
		}
	}
}
