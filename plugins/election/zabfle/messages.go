package zabfle

import (
	"fmt"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Notification is the only message of processes that look for a leader: the vote of the
// sender, its round, its state and its incarnation.
type Notification struct {
	Vote        Vote
	Clock       uint64
	State       State
	Incarnation uint32
}

// A Vote names a leader, and the history that makes it the best.
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

// String is what the state is called where states are shown. A message may hold one that there is not.
func (s State) String() string {
	names := [...]string{"idle", "looking", "following", "leading"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprint(uint8(s))
}

// CEpoch tells a prospective leader the last epoch that its sender acknowledged: f.p.
type CEpoch struct{ Epoch uint64 }

// NewEpoch proposes an epoch, e'.
type NewEpoch struct{ Epoch uint64 }

// AckEpoch acknowledges it. The process will acknowledge no other leader's
// proposal of it.
type AckEpoch struct{ Epoch uint64 }

// NewLeader says that a majority has acknowledged the sender's epoch.
type NewLeader struct{ Epoch uint64 }

// AcceptedEpoch is what a process keeps on stable storage: f.p.
type AcceptedEpoch struct{ Epoch uint64 }

// Kind is NOTIFICATION.
func (Notification) Kind() string { return "NOTIFICATION" }

// Kind is CEPOCH, ZooKeeper's FOLLOWERINFO.
func (CEpoch) Kind() string { return "CEPOCH" }

// Kind is NEWEPOCH, ZooKeeper's LEADERINFO.
func (NewEpoch) Kind() string { return "NEWEPOCH" }

// Kind is ACKEPOCH, the paper's ACK-E.
func (AckEpoch) Kind() string { return "ACKEPOCH" }

// Kind is NEWLEADER.
func (NewLeader) Kind() string { return "NEWLEADER" }

// Kind is ACCEPTED_EPOCH.
func (AcceptedEpoch) Kind() string { return "ACCEPTED_EPOCH" }

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

// sameLeader is how reports of what was decided agree: the zxid may differ, since each
// epoch has one leader.
func (v Vote) sameLeader(w Vote) bool { return v.ID == w.ID && v.PeerEpoch == w.PeerEpoch }
