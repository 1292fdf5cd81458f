package raft

import "github.com/conclave-bench/conclave/pkg/algo"

// PreVote asks whether its receiver would vote for the sender in Term, which
// the sender has not entered yet.
type PreVote struct {
	Term uint64 // its highest bit: see forcing
	Log
	Attempt uint64 // echoed by the reply
}

// PreVoteReply answers Attempt. Term is the replier's own.
type PreVoteReply struct {
	Term    uint64
	Attempt uint64
	OK      bool
}

// RequestVote asks for the receiver's vote in Term.
type RequestVote struct {
	Term uint64 // its highest bit: see forcing
	Log
}

// VoteReply grants or refuses the vote in Term.
type VoteReply struct {
	Term uint64
	OK   bool
}

// AppendEntries is the leader's heartbeat. It carries no entries.
type AppendEntries struct{ Term uint64 }

// AppendReply answers a heartbeat. Term is the replier's own.
type AppendReply struct{ Term uint64 }

// TimeoutNow makes the follower to which the leader of Term hands over stand for
// election.
type TimeoutNow struct{ Term uint64 }

// forcing is the bit of Term in a PreVote or RequestVote that says that the leases do not
// count. A field of its own would make every request longer.
const forcing uint64 = 1 << 63

// A Log is where a process's log ends.
type Log struct{ LastTerm, LastIndex int64 }

// Stable is what a process keeps on stable storage.
type Stable struct {
	Term     uint64
	VotedFor algo.ID
}

// Kind is PRE_VOTE.
func (PreVote) Kind() string { return "PRE_VOTE" }

// Kind is PRE_VOTE_REPLY.
func (PreVoteReply) Kind() string { return "PRE_VOTE_REPLY" }

// Kind is REQUEST_VOTE.
func (RequestVote) Kind() string { return "REQUEST_VOTE" }

// Kind is VOTE_REPLY.
func (VoteReply) Kind() string { return "VOTE_REPLY" }

// Kind is APPEND_ENTRIES.
func (AppendEntries) Kind() string { return "APPEND_ENTRIES" }

// Kind is APPEND_REPLY.
func (AppendReply) Kind() string { return "APPEND_REPLY" }

// Kind is TIMEOUT_NOW.
func (TimeoutNow) Kind() string { return "TIMEOUT_NOW" }

// Kind is STABLE.
func (Stable) Kind() string { return "STABLE" }
