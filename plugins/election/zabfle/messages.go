package zabfle

import "github.com/conclave-bench/conclave/pkg/algo"

// Notification is all that processes tell each other: whom the sender votes for,
// in which round, and what it is doing.
type Notification struct {
	Vote  Vote
	Clock uint64
	State State
}

// A Vote names a leader, and why: the one with the newest history.
type Vote struct {
	PeerEpoch, Zxid int64
	ID              algo.ID
}

// A State is what a process is doing.
type State uint8

// The states.
const (
	Idle State = iota // no election was ever heard of
	Looking
	Following
	Leading
)

// Kind is NOTIFICATION.
func (Notification) Kind() string { return "NOTIFICATION" }

// less is the total order of votes.
func (v Vote) less(w Vote) bool {
	switch {
	case v.PeerEpoch != w.PeerEpoch:
		return v.PeerEpoch < w.PeerEpoch
	case v.Zxid != w.Zxid:
		return v.Zxid < w.Zxid
	}
	return v.ID < w.ID
}
