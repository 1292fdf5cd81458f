package quorum

import "github.com/conclave-bench/conclave/pkg/algo"

// Request asks an arbiter for its lock.
type Request struct{ S algo.Stamp }

// Locked gives it, and carries a clock that covers the requests that the
// requester does not hear itself.
type Locked struct {
	S     algo.Stamp
	Clock uint64 // the arbiter's: no less than that of any REQUEST that it has received
}

// Failed says that another has the lock and that this request must wait.
type Failed struct{ S algo.Stamp }

// Inquire asks the lock's owner to give it back, if it cannot enter yet.
type Inquire struct{ S algo.Stamp }

// Relinquish gives it back for now.
type Relinquish struct{ S algo.Stamp }

// Release gives it back for good.
type Release struct{ S algo.Stamp }

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
