package gallagerhumbletspira

import "github.com/conclave-bench/conclave/pkg/algo"

// Connect asks to join the fragments at both ends of a link.
type Connect struct{ Level uint32 }

// Initiate spreads the identity of a fragment through it and, if Find, makes it look for its
// lightest way out.
type Initiate struct {
	Level    uint32
	Fragment algo.Weight
	Find     bool
}

// Test asks whether a link leads to another fragment.
type Test struct {
	Level    uint32
	Fragment algo.Weight
}

// Accept is the answer of another fragment.
type Accept struct{}

// Reject is the answer of the same fragment.
type Reject struct{}

// Report carries the lightest way out of a part of a fragment towards the core.
type Report struct{ Best algo.Weight }

// ChangeRoot goes from the core to that way out.
type ChangeRoot struct{}

// Leader names the leader.
type Leader struct{ ID algo.ID }

// Kind is CONNECT.
func (Connect) Kind() string { return "CONNECT" }

// Kind is INITIATE.
func (Initiate) Kind() string { return "INITIATE" }

// Kind is TEST.
func (Test) Kind() string { return "TEST" }

// Kind is ACCEPT.
func (Accept) Kind() string { return "ACCEPT" }

// Kind is REJECT.
func (Reject) Kind() string { return "REJECT" }

// Kind is REPORT.
func (Report) Kind() string { return "REPORT" }

// Kind is CHANGE_ROOT.
func (ChangeRoot) Kind() string { return "CHANGE_ROOT" }

// Kind is LEADER.
func (Leader) Kind() string { return "LEADER" }
