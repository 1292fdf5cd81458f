package algotest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// A Transcript is of one process of an election, driven by hand, whose effects are
// compared as text, contents of messages included: for tests that quote a rule.
type Transcript struct {
	Now  time.Duration
	t    testing.TB
	step *algo.Stepper
}

// NewTranscript makes a process of n, with what c says of it: its ID, and what it
// knows of a leader and of an earlier life. Given are the parameters to set.
func NewTranscript(t testing.TB, id string, n int, c algo.Config, given map[string]any) *Transcript {
	t.Helper()
	return &Transcript{t: t, step: newStepper(t, id, n, c, given)}
}

// newStepper makes the process of n that c describes, in the unit-delay model.
func newStepper(t testing.TB, id string, n int, c algo.Config, given map[string]any) *algo.Stepper {
	t.Helper()
	p := MustPlan(t, id, n, harness.Scenario{Plot: &harness.Script{}}, given)
	s, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	full := s.Config(c.ID, c.Incarnation, c.Saved)
	full.Leader, full.LeaderDown = c.Leader, c.LeaderDown
	return algo.NewStepper(s.Alg, full, 1, &algo.Buffer{})
}

// Starts, Elects, Hears and Expires feed the event that their names say and
// compare: "VOTE_REPLY{2 true}>1" (sends), "SAVE{2 1}", "election+" (sets a
// timer), "election-" (cancels it), "leader=3/2" (names 3, in term 2).
func (r *Transcript) Starts(want string) {
	r.t.Helper()
	r.feed(algo.Event{Type: algo.Start}, want)
}

// Elects makes the process an initiator.
func (r *Transcript) Elects(want string) {
	r.t.Helper()
	r.feed(algo.Event{Type: algo.Elect}, want)
}

// Hears hands it a message.
func (r *Transcript) Hears(from algo.ID, m algo.Message, want string) {
	r.t.Helper()
	r.feed(algo.Event{Type: algo.Receive, Peer: from, Msg: m}, want)
}

// Expires lets a timer expire.
func (r *Transcript) Expires(timer algo.Timer, want string) {
	r.t.Helper()
	r.feed(algo.Event{Type: algo.Timeout, Timer: timer}, want)
}

// Suspects and Restores are the words of its failure detector about p.
func (r *Transcript) Suspects(p algo.ID, want string) {
	r.t.Helper()
	r.feed(algo.Event{Type: algo.Suspect, Peer: p}, want)
}

// Restores takes a suspicion of p back.
func (r *Transcript) Restores(p algo.ID, want string) {
	r.t.Helper()
	r.feed(algo.Event{Type: algo.Restore, Peer: p}, want)
}

func (r *Transcript) feed(ev algo.Event, want string) {
	r.t.Helper()
	if got := words(r.step.Step(r.Now, ev)); got != want {
		r.t.Errorf("%+v\n got %s\nwant %s", ev, got, want)
	}
	if err := r.step.Invariant(); err != nil {
		r.t.Errorf("%+v: invariant: %v", ev, err)
	}
}

// words are effects as text.
func words(effects []algo.Effect) string {
	var out []string
	for _, e := range effects {
		switch e.Op {
		case algo.OpSend:
			out = append(out, fmt.Sprintf("%s%v>%d", e.Msg.Kind(), e.Msg, e.Peer))
		case algo.OpSetTimer:
			out = append(out, string(e.Timer)+"+")
		case algo.OpCancelTimer:
			out = append(out, string(e.Timer)+"-")
		case algo.OpGranted:
			out = append(out, "granted")
		case algo.OpElected:
			out = append(out, fmt.Sprintf("leader=%d/%d", e.Peer, e.Term))
		case algo.OpSave:
			out = append(out, fmt.Sprintf("SAVE%v", e.Msg))
		}
	}
	return strings.Join(out, " ")
}
