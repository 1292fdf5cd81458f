package algotest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/judgement/trial"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Transcribe simulates the trial and writes down what every process did: what
// happened to it, what it asked for in the words of a Transcript, and on a line
// of its own what changed in its state, as "father 5→1". A message that no
// process handled is marked †.
func Transcribe(p harness.Plan) (string, check.Verdict, error) {
	setup, err := p.Setup()
	if err != nil {
		return "", check.Verdict{}, err
	}
	s := scribe{kinds: setup.Alg.Codec.Kinds(), states: map[algo.ID][]harness.Variable{}}
	setup.Watch = s.watch
	v, _, err := trial.Run(context.Background(), setup, &s, math.MaxInt)
	return s.text.String(), v, err
}

// A scribe writes a trial down.
type scribe struct {
	text   strings.Builder
	kinds  []string
	states map[algo.ID][]harness.Variable
}

func (s *scribe) line(now time.Duration, what, asked string) {
	text := fmt.Sprintf("%8s  %-36s %s", now.Round(time.Microsecond), what, asked)
	s.text.WriteString(strings.TrimRight(text, " ") + "\n")
}

func (s *scribe) watch(now time.Duration, m *harness.Process, ev algo.Event, asked []algo.Effect) {
	before, after := s.states[m.ID], m.State()
	s.states[m.ID] = after
	if ev.Type == algo.Start && len(asked) == 0 {
		return
	}
	s.line(now, fmt.Sprintf("p%d %s", m.ID, happening(ev)), words(asked))
	if before == nil {
		return
	}
	var changes []string
	for _, c := range harness.Changes(before, after) {
		changes = append(changes, c.Name+" "+c.Before+"→"+c.After)
	}
	if len(changes) > 0 {
		fmt.Fprintf(&s.text, "%12s%s\n", "", strings.Join(changes, ", "))
	}
}

// happening is an event in words.
func happening(ev algo.Event) string {
	switch ev.Type {
	case algo.Start:
		return "starts"
	case algo.Receive:
		return fmt.Sprintf("hears %d: %s%v", ev.Peer, ev.Msg.Kind(), ev.Msg)
	case algo.Timeout:
		return string(ev.Timer) + " expires"
	case algo.Request:
		if ev.Session != 0 {
			return fmt.Sprintf("requests session %d", ev.Session)
		}
		return "requests"
	case algo.Release:
		return "releases"
	case algo.Elect:
		return "begins an election"
	case algo.Suspect:
		return fmt.Sprintf("suspects %d", ev.Peer)
	case algo.Restore:
		return fmt.Sprintf("trusts %d again", ev.Peer)
	}
	return fmt.Sprintf("is instructed: %s %d", ev.Op, ev.Peer)
}

// Record writes down what no process handles.
func (s *scribe) Record(r *trace.Record) {
	switch {
	case r.Type == trace.Crash:
		s.line(r.At, fmt.Sprintf("p%d crashes", r.Process), "")
	case r.Type == trace.Up && r.Incarnation > 0:
		delete(s.states, algo.ID(r.Process))
		s.line(r.At, fmt.Sprintf("p%d is back", r.Process), "")
	case r.Type == trace.Cut || r.Type == trace.Heal:
		s.line(r.At, fmt.Sprintf("%s %s", r.Type, r.Text), "")
	case (r.Type == trace.Lose || r.Type == trace.Undelivered) && int(r.Kind) < len(s.kinds):
		s.line(r.At, fmt.Sprintf("† %s %d>%d", s.kinds[r.Kind], r.Peer, r.Process), "")
	}
}
