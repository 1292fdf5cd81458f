package sim

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// hydra answers every message with two.
type hydra struct{ algo.Config }

// Head grows back.
type Head struct{}

// Kind is HEAD.
func (Head) Kind() string { return "HEAD" }

func (h *hydra) Elect(env algo.Env) { env.Send(h.ID%2+1, Head{}) }
func (h *hydra) Receive(env algo.Env, from algo.ID, _ algo.Message) {
	env.Send(from, Head{})
	env.Send(from, Head{})
}

func init() {
	algo.RegisterElector(algo.Spec{
		Name: "test-hydra", Summary: "answers every message with two",
		Paper:    algo.Paper{Authors: "test", Title: "test", Year: 2026},
		Messages: []algo.Message{Head{}},
	}, func(c algo.Config) algo.Elector { return &hydra{c} })
}

// TestCrowd: messages that multiply end a trial while there is memory left.
func TestCrowd(t *testing.T) {
	t.Parallel()
	p := harness.Plan{
		Algorithm: "election/test-hydra", Nodes: 2, Shape: algo.Shape{Kind: "complete"},
		Network:  link.Network{Latency: link.Uniform(time.Millisecond, 2*time.Millisecond)},
		Scenario: harness.Scenario{Plot: &harness.ColdStart{}}, TimeLimit: time.Hour,
	}
	setup, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	s := newSimulation(setup, trace.SinkFunc(func(*trace.Record) {}))
	s.crowd = 1000
	s.guarded(func() { s.begin(); s.proceed(time.Hour) })
	if end := s.end; end.Reason != harness.Livelock || end.Pending != 1001 {
		t.Errorf("ended %q with %d messages on their way, want livelock with 1001", end.Reason,
			end.Pending)
	}
}
