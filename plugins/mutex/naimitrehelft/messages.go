package naimitrehelft

import "github.com/conclave-bench/conclave/pkg/algo"

// In is the epoch in which a message was sent. Every message carries it.
type In struct {
	Epoch uint64
	Back  bool // the sender came back from a crash and is in no tree, not even of that epoch
}

func (i In) in() In { return i }

// Request asks, on behalf of process Origin, for the token.
type Request struct {
	In
	Origin algo.ID
}

// Token lets its receiver in. There is at most one in an epoch.
type Token struct{ In }

// Consult asks whether the sender is the receiver's successor.
type Consult struct{ In }

// ConsultOK says that the receiver is the sender's successor.
type ConsultOK struct{ In }

// Query asks for the token's holder.
type Query struct{ In }

// TokenHere says that the sender has it.
type TokenHere struct{ In }

// Election makes the sender a candidate for regenerating the token.
type Election struct{ In }

// CandidateElected announces an epoch, whose tree the sender belongs to.
type CandidateElected struct{ In }

// Rebuild asks the token's holder for a new tree.
type Rebuild struct{ In }

// Saved is what outlives a crash.
type Saved struct{ Epoch uint64 }

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is TOKEN.
func (Token) Kind() string { return "TOKEN" }

// Kind is CONSULT.
func (Consult) Kind() string { return "CONSULT" }

// Kind is CONSULT_OK.
func (ConsultOK) Kind() string { return "CONSULT_OK" }

// Kind is QUERY.
func (Query) Kind() string { return "QUERY" }

// Kind is TOKEN_HERE.
func (TokenHere) Kind() string { return "TOKEN_HERE" }

// Kind is ELECTION.
func (Election) Kind() string { return "ELECTION" }

// Kind is CANDIDATE_ELECTED.
func (CandidateElected) Kind() string { return "CANDIDATE_ELECTED" }

// Kind is REBUILD.
func (Rebuild) Kind() string { return "REBUILD" }

// Kind is SAVED.
func (Saved) Kind() string { return "SAVED" }
