package invitation

import "github.com/conclave-bench/conclave/pkg/algo"

// Invite asks its receiver's group to merge with the sender's.
type Invite struct {
	Group    Group
	Members  []algo.ID
	Electing bool // the sender looks for others until none is missing
}

// Accept joins the inviter's Group, with all of Members.
type Accept struct {
	Group    Group
	Members  []algo.ID
	Electing bool
}

// Takeover makes the inviter's group join Group, the larger one.
type Takeover struct{ Group Group }

// Redirect answers an Invite that did not meet a leader: Group has the leader.
type Redirect struct{ Group Group }

// Busy answers an Invite while another is out.
type Busy struct{}

// NewLeader tells a member of the group Old that it is now part of Group.
type NewLeader struct{ Group, Old Group }

// Recovered says that its sender is back, in this Incarnation, and leads none of the
// groups that it led before.
type Recovered struct{ Incarnation uint32 }

// A Group is named by its leader, and by a number among that leader's groups.
type Group struct {
	Leader      algo.ID
	Incarnation uint32
	Count       uint32
}

// Kind is INVITE.
func (Invite) Kind() string { return "INVITE" }

// Kind is ACCEPT.
func (Accept) Kind() string { return "ACCEPT" }

// Kind is TAKEOVER.
func (Takeover) Kind() string { return "TAKEOVER" }

// Kind is REDIRECT.
func (Redirect) Kind() string { return "REDIRECT" }

// Kind is BUSY.
func (Busy) Kind() string { return "BUSY" }

// Kind is NEW_LEADER.
func (NewLeader) Kind() string { return "NEW_LEADER" }

// Kind is RECOVERED.
func (Recovered) Kind() string { return "RECOVERED" }
