package harness

import "time"

// An End is how a trial ended. As JSON it is without its Err.
type End struct {
	At      time.Duration `json:"at"`
	Reason  Reason        `json:"reason,omitempty"`
	Err     error         `json:"-"`                 // what a Broken trial broke
	Pending int64         `json:"pending,omitempty"` // algorithm messages still on their way
	Events  uint64        `json:"events,omitempty"`  // executed: simulation only
	// Skipped is how many faults did not happen: there was no process to which
	// they could, or the trial was over before.
	Skipped int `json:"skipped,omitempty"`
	// Toll is what became of the faults that happen to a leader.
	Toll Toll `json:"toll,omitzero"`
	// Invalid says how the harness skewed the trial, a reason each. Such a trial
	// says nothing about the algorithm.
	Invalid []string `json:"invalid,omitempty"`
}

// A Reason says why a trial ended.
type Reason string

// The reasons.
const (
	Finished  Reason = "finished"   // the scenario came to its end
	Stuck     Reason = "stuck"      // nothing could happen any more, but the scenario was not at its end
	TimeLimit Reason = "time limit" // the plan's time limit passed
	Livelock  Reason = "livelock"   // too many events at one instant, or messages on their way
	Broken    Reason = "broken"     // a panic in the plugin, or its invariant does not hold
)
