package bullyquorum

import "github.com/conclave-bench/conclave/pkg/algo"

// Probe asks whether its receiver is alive, and for what it knows.
type Probe struct{ Round Round }

// ProbeReply answers the Probe of Round.
type ProbeReply struct {
	Round    Round
	Version  int64
	Promised uint64
	Leader   algo.ID // the leader that the sender follows, itself if it leads; None: it follows none
	// Unelectable: the sender found no quorum in reach when it last looked.
	Unelectable bool
}

// Join supports its receiver, which its sender considers the best.
type Join struct{ Promised uint64 }

// Claim asks for the promise to support no other process in Term.
type Claim struct{ Term uint64 }

// ClaimOK is that promise.
type ClaimOK struct{ Term uint64 }

// Elected announces that its sender leads Term. Round is that of the sender when
// it was elected: if it has probed since, it leads no more.
type Elected struct {
	Term  uint64
	Round Round
}

// Follow asks a leader to announce itself to the sender.
type Follow struct{}

// A Round numbers what one process has probed for, across its crashes.
type Round struct {
	Incarnation uint32
	Count       uint32
}

// Promise is what a process saves: the newest term that it promised.
type Promise struct{ Term uint64 }

// Kind is PROBE.
func (Probe) Kind() string { return "PROBE" }

// Kind is PROBE_REPLY.
func (ProbeReply) Kind() string { return "PROBE_REPLY" }

// Kind is JOIN.
func (Join) Kind() string { return "JOIN" }

// Kind is CLAIM.
func (Claim) Kind() string { return "CLAIM" }

// Kind is CLAIM_OK.
func (ClaimOK) Kind() string { return "CLAIM_OK" }

// Kind is ELECTED.
func (Elected) Kind() string { return "ELECTED" }

// Kind is FOLLOW.
func (Follow) Kind() string { return "FOLLOW" }

// Kind is PROMISE.
func (Promise) Kind() string { return "PROMISE" }

func (r Round) after(q Round) bool {
	return r.Incarnation > q.Incarnation || r.Incarnation == q.Incarnation && r.Count > q.Count
}
