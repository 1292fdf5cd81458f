package algotest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// A Ballot is a script of an election and what it comes to, exactly, in the
// unit-delay model. Process Nodes leads at the start unless Leader says other.
type Ballot struct {
	Nodes    int
	Leader   algo.ID
	Crashed  []algo.ID // from the start
	Suspects []algo.ID // that learn at the start that the leader is gone
	Events   []harness.Event
	Detector time.Duration // delay of a perfect one; 0: none
	Params   map[string]any

	Kinds     map[string]int64 // messages sent, every kind that was
	Delivered int64
	Winner    algo.ID       // named by all that are up at the end; None: they do not agree
	Informed  time.Duration // when a process last named a leader
}

// Plan is the plan of the script.
func (b Ballot) Plan(t testing.TB, id string) harness.Plan {
	t.Helper()
	p := MustPlan(t, id, b.Nodes, harness.Scenario{Plot: &harness.Script{
		Events: append(Each(harness.DoSuspect, b.Suspects...), b.Events...),
	}}, b.Params)
	if p.Leader = b.Leader; p.Leader == algo.None {
		p.Leader = algo.ID(b.Nodes)
	}
	if p.Crashed = b.Crashed; b.Detector > 0 {
		p.Detector = harness.PerfectDetector(b.Detector)
	}
	return p
}

// Run simulates the script and compares.
func (b Ballot) Run(t testing.TB, id string) Outcome {
	t.Helper()
	p := b.Plan(t, id)
	p.Scenario.Expect = append(sent(b.Kinds), harness.Exactly("delivered", b.Delivered),
		harness.Exactly("leader", b.Winner))
	if b.Winner != algo.None {
		p.Scenario.Expect = append(p.Scenario.Expect, harness.Exactly("all_informed_at", b.Informed))
	}
	p.InModel = b.Winner != algo.None // otherwise no agreement is what is expected
	o := MustSimulate(t, p)
	for _, v := range o.Violations {
		t.Error(v)
	}
	if o.End.Err != nil {
		t.Error(o.End.Err)
	}
	return o
}

// A Solo is one process of an algorithm, driven by hand.
type Solo struct {
	Sent []algo.Message // in the last step
	step *algo.Stepper
	t    testing.TB
}

// NewSolo makes process self of n, in the given incarnation, with leader settled.
func NewSolo(t testing.TB, id string, n int, self, leader algo.ID, incarnation uint32,
	given map[string]any) *Solo {
	t.Helper()
	c := algo.Config{ID: self, Incarnation: incarnation, Leader: leader}
	if incarnation > 0 { // it has forgotten which process led
		c.Leader = algo.None
	}
	return &Solo{step: newStepper(t, id, n, c, given), t: t}
}

// Step hands the process an event and returns in words, separated by blanks,
// what it asks for: "ELECTION>3" (sends), "T=2ms" (sets a timer), "-T" (cancels
// one), "leader=3" and "saves". Its invariant must hold.
func (s *Solo) Step(now time.Duration, ev algo.Event) string {
	s.t.Helper()
	var words []string
	s.Sent = nil
	for _, e := range s.step.Step(now, ev) {
		switch e.Op {
		case algo.OpSend:
			s.Sent = append(s.Sent, e.Msg)
			words = append(words, fmt.Sprintf("%s>%d", e.Msg.Kind(), e.Peer))
		case algo.OpSetTimer:
			words = append(words, fmt.Sprintf("%s=%v", e.Timer, e.After))
		case algo.OpCancelTimer:
			words = append(words, "-"+string(e.Timer))
		case algo.OpElected:
			words = append(words, fmt.Sprintf("leader=%d", e.Peer))
		case algo.OpSave:
			words = append(words, "saves")
		}
	}
	if err := s.step.Invariant(); err != nil {
		s.t.Errorf("invariant: %v", err)
	}
	return strings.Join(words, " ")
}

// Want hands the process an event and compares what it asks for.
func (s *Solo) Want(now time.Duration, ev algo.Event, want string) {
	s.t.Helper()
	if got := s.Step(now, ev); got != want {
		s.t.Errorf("at %v: asks for %q, want %q", now, got, want)
	}
}

// Hear is the event in which m comes from p.
func Hear(p algo.ID, m algo.Message) algo.Event {
	return algo.Event{Type: algo.Receive, Peer: p, Msg: m}
}

// Expire is the event in which timer t expires.
func Expire(t algo.Timer) algo.Event { return algo.Event{Type: algo.Timeout, Timer: t} }

// Others is 1..n without those.
func Others(n int, without ...algo.ID) []algo.ID {
	return slices.DeleteFunc(Everybody(n), func(p algo.ID) bool { return slices.Contains(without, p) })
}
