package harness

import (
	"iter"
	"time"

	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/link"
)

// Faults is what goes wrong in any scenario.
type Faults struct {
	CrashRate float64      `json:"crash_rate"`         // crashes per live process and second
	Downtime  link.Latency `json:"downtime"`           // from such a crash to the restart; zero: for good
	MaxDown   int          `json:"max_down,omitempty"` // down at once by such crashes; 0: a minority
	Events    []Event      `json:"events,omitempty"`
}

// Most is how many of n processes may be down at once by the rate of crashes.
func (f *Faults) Most(n int) int {
	if f.MaxDown > 0 {
		return f.MaxDown
	}
	return (n - 1) / 2
}

// An Event is one line of a script, or of what goes wrong.
type Event = fault.Event

// An Instruction is one thing that the coordinator wants done.
type Instruction = fault.Instruction

// Some names of faults and of lines of scripts.
const (
	DoElect   = fault.Elect
	DoSuspect = fault.Suspect
	DoRequest = fault.Request
	DoCrash   = fault.Crash
	DoRestart = fault.Restart
	DoPause   = fault.Pause
	DoResume  = fault.Resume
	DoCut     = fault.Cut
	DoHeal    = fault.Heal
	DoSlow    = fault.Slow
	DoFlaky   = fault.Flaky
	DoDrop    = fault.Drop
)

// ClassOf is the instruction's rank among the events of one instant: what changes
// the network comes first, commands to a process last.
func ClassOf(i *Instruction) Class {
	if i.Control() {
		return Control
	}
	return Application
}

// Timeline are the events of the plan: what goes wrong, and the lines of a script.
func (p *Plan) Timeline() iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		for _, list := range [][]Event{p.Faults.Events, p.Scenario.Does().Lines()} {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}

// LongestPause is the longest that a process is to be paused; where it is never to
// resume, the time limit.
func (p *Plan) LongestPause() (longest time.Duration) {
	for e := range p.Timeline() {
		switch f := fault.Named(e.Do); {
		case f == nil || !f.Stops:
		case e.For > 0:
			longest = max(longest, e.For)
		case e.Length != nil:
			if most, bounded := e.Length.Bound(); bounded {
				longest = max(longest, most)
			} else {
				longest = p.TimeLimit
			}
		default:
			longest = p.TimeLimit
		}
	}
	return longest
}

// Omissions are the rules of the plan's events by which messages are lost. The
// executor counts the messages that fit each, of all processes together.
func (s *Setup) Omissions() (out []fault.Omission) {
	for e := range s.Timeline() {
		if isRule(e) {
			out = append(out, fault.Named(e.Do).Rule(e, s.kind(e.Kind)))
		}
	}
	return out
}

// isRule says whether the event is a rule, which nobody carries out.
func isRule(e *Event) bool {
	f := fault.Named(e.Do)
	return f != nil && f.Rule != nil
}
