package afekgafni

import "github.com/conclave-bench/conclave/pkg/algo"

// A Strength is how many processes a candidate has captured, and its ID.
type Strength struct {
	Level uint32
	ID    algo.ID
}

// above is the total order by which candidates are compared.
func (s Strength) above(o Strength) bool {
	return s.Level > o.Level || s.Level == o.Level && s.ID > o.ID
}

// Capture asks a process to belong to the candidate that sends it.
type Capture struct{ S Strength }

// Accept is a yes to Capture.
type Accept struct{}

// Refuse is a no to Capture.
type Refuse struct{}

// ReleaseAsk asks the owner of a process to give it up to a candidate of that strength.
type ReleaseAsk struct{ S Strength }

// ReleaseYes is the word of an owner that gave up.
type ReleaseYes struct{ S Strength }

// ReleaseNo is the word of an owner that is stronger.
type ReleaseNo struct{ S Strength }

// Leader says that its sender leads.
type Leader struct{}

// Kind is CAPTURE.
func (Capture) Kind() string { return "CAPTURE" }

// Kind is ACCEPT.
func (Accept) Kind() string { return "ACCEPT" }

// Kind is REFUSE.
func (Refuse) Kind() string { return "REFUSE" }

// Kind is RELEASE_ASK.
func (ReleaseAsk) Kind() string { return "RELEASE_ASK" }

// Kind is RELEASE_YES.
func (ReleaseYes) Kind() string { return "RELEASE_YES" }

// Kind is RELEASE_NO.
func (ReleaseNo) Kind() string { return "RELEASE_NO" }

// Kind is LEADER.
func (Leader) Kind() string { return "LEADER" }
