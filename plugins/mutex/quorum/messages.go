package quorum

import "github.com/conclave-bench/conclave/pkg/algo"

// A Stamp names a request and orders requests: by clock, then by process. All
// messages carry the stamp of their request, so that a late one has no effect.
type Stamp struct {
	Clock uint64
	ID    algo.ID
}

// precedes says whether s comes first.
func (s Stamp) precedes(r Stamp) bool {
	return s.Clock < r.Clock || s.Clock == r.Clock && s.ID < r.ID
}

// Request asks an arbiter for its lock.
type Request struct{ S Stamp }

// Locked gives it, and carries a clock that covers the requests that the
// requester does not hear itself.
type Locked struct {
	S     Stamp
	Clock uint64 // the arbiter's: no less than that of any REQUEST that it has received
}

// Failed says that another has the lock and that this request must wait.
type Failed struct{ S Stamp }

// Inquire asks the lock's owner to give it back, if it cannot enter yet.
type Inquire struct{ S Stamp }

// Relinquish gives it back for now.
type Relinquish struct{ S Stamp }

// Release gives it back for good.
type Release struct{ S Stamp }

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is LOCKED.
func (Locked) Kind() string { return "LOCKED" }

// Kind is FAILED.
func (Failed) Kind() string { return "FAILED" }

// Kind is INQUIRE.
func (Inquire) Kind() string { return "INQUIRE" }

// Kind is RELINQUISH.
func (Relinquish) Kind() string { return "RELINQUISH" }

// Kind is RELEASE.
func (Release) Kind() string { return "RELEASE" }
