// Package bullycandidateordinary is the enhanced bully election of Murshed and
// Allen (2012) with two sorts of processes. Comments cite its rules as numbered
// below.
//
// Only candidates may lead. A process that misses the leader, candidate or ordinary,
// asks the candidates. It picks the highest that answers and announces it to
// all. Each process waits before it asks, the higher the shorter. So the
// first one's announcement silences the others, and one round is held instead
// of n.
//
//  1. Suspicion: wait delta, unless COORDINATOR comes before.
//  2. delta is over: ask all candidates but the failed leader; start T.
//  3. ELECTION: a candidate answers.
//  4. T expires: announce the highest that answered. If none did: wait, and
//     ask again.
//  5. COORDINATOR: follow the leader that it names. A process that has just come back does
//     not, but holds its own round: what it hears may be older than what it missed.
package bullycandidateordinary

import (
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

type node struct {
	algo.Config
	electing   bool      // from the suspicion to the announcement
	leader     algo.ID   // None: none is known
	failed     algo.ID   // the leader that this election replaces; None: nobody is known to be gone
	round      Round     // this process's last one
	newest     uint64    // highest number of a round heard of
	known      uint64    // the same, of those that answered, before they heard of this round
	followed   Round     // the round that made the leader, or a newer one's that was not heeded
	responders []algo.ID // in this round; self counts if it is a candidate
	tries      int       // rounds in a row that nobody answered
	suspects   []algo.ID
	deaf       time.Duration // until when it follows no announcement
	t          time.Duration
}

const (
	deltaTimer  algo.Timer = "delta"
	answerTimer algo.Timer = "T"
	doubtTimer  algo.Timer = "doubt" // of an announced leader that is suspected
)

const mostDoublings = 6 // of the wait between two tries

// New starts idle, with the leader that is settled, if one is.
func New(c algo.Config) algo.Elector {
	return &node{Config: c, leader: c.Leader, t: c.Params.Duration("t_answer")}
}

// candidate says whether p may lead. Everybody knows that of everybody.
func (n *node) candidate(p algo.ID) bool { return candidate(n.Params, p, len(n.Peers)) }

// candidate says whether p of n processes may lead.
func candidate(params algo.Params, p algo.ID, n int) bool {
	if c := params.IntOf("candidate", p); c >= 0 {
		return c == 1
	}
	return params.Int("candidates") > int64(n)-int64(p)
}

// delta is this process's start-up delay: the highest that is left goes first.
func (n *node) delta() time.Duration {
	higher := 0
	for _, p := range n.Peers {
		if p > n.ID && p != n.failed {
			higher++
		}
	}
	return n.Params.Duration("delta") + time.Duration(higher)*n.Params.Duration("spacing")
}

// Elect without a suspicion asks the leader as well.
func (n *node) Elect(env algo.Env) {
	if !n.electing {
		n.begin(env, algo.None)
	}
}

// Start: a process that comes back asks which process leads, or leads itself. An announcement that it
// missed while it was down has reached all after d. One whose sender did not know of that has arrived
// after 2d, which is T at most.
func (n *node) Start(env algo.Env) {
	if n.Incarnation > 0 {
		n.deaf = env.Now() + n.t
		n.begin(env, algo.None)
	}
}

// Suspect is rule 1 if it is about the leader; during an election there is none.
func (n *node) Suspect(env algo.Env, p algo.ID) {
	if !slices.Contains(n.suspects, p) {
		n.suspects = append(n.suspects, p)
	}
	if p == n.leader {
		n.begin(env, p)
	}
}

// Restore: p was left out wrongly, or is back. The process that announced the
// leader tells p as well.
func (n *node) Restore(env algo.Env, p algo.ID) {
	n.suspects = slices.DeleteFunc(n.suspects, func(q algo.ID) bool { return q == p })
	if p == n.failed {
		n.failed = algo.None
	}
	if !n.electing && n.followed == n.round && n.round.Number > 0 {
		env.Send(p, Coordinator{n.leader, n.followed})
	}
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Election:
		n.onElection(env, from, m)
	case Answer:
		n.onAnswer(from, m)
	case Coordinator:
		n.onCoordinator(env, from, m)
	}
}

func (n *node) Timeout(env algo.Env, t algo.Timer) {
	switch t {
	case deltaTimer:
		n.askCandidates(env)
	case answerTimer:
		n.decide(env)
	case doubtTimer:
		if slices.Contains(n.suspects, n.leader) {
			n.begin(env, n.leader)
		}
	}
}

// begin is rule 1.
func (n *node) begin(env algo.Env, failed algo.ID) {
	n.electing, n.leader, n.failed, n.tries = true, algo.None, failed, 0
	env.Elected(algo.None, 0)
	env.SetTimer(deltaTimer, n.delta())
}

// askCandidates is rule 2.
func (n *node) askCandidates(env algo.Env) {
	n.newest++
	n.round = Round{n.newest, n.ID, n.Incarnation}
	n.responders = nil
	for _, p := range n.Peers {
		switch {
		case !n.candidate(p) || p == n.failed:
		case p == n.ID:
			n.responders = append(n.responders, p)
		default:
			env.Send(p, Election{n.round})
		}
	}
	env.SetTimer(answerTimer, n.t)
}

// onElection is rule 3.
func (n *node) onElection(env algo.Env, from algo.ID, m Election) {
	if n.candidate(n.ID) {
		env.Send(from, Answer{m.Round, n.newest})
	}
	n.newest = max(n.newest, m.Round.Number)
}

// onAnswer notes who answered. What comes behind T nobody looks at.
func (n *node) onAnswer(from algo.ID, m Answer) {
	if m.Round != n.round { // of an earlier one
		return
	}
	n.known, n.newest = max(n.known, m.Newest), max(n.newest, m.Newest)
	n.responders = append(n.responders, from)
}

// decide is rule 4.
func (n *node) decide(env algo.Env) {
	if len(n.responders) == 0 {
		env.Logf("no candidate is alive")
		env.SetTimer(deltaTimer, n.t<<min(n.tries, mostDoublings))
		n.tries++
		return
	}
	if n.known >= n.round.Number { // this process has missed rounds
		n.newest++
		n.round.Number = n.newest
	}
	failed := n.failed
	n.follow(env, Coordinator{slices.Max(n.responders), n.round})
	n.tell(env, failed)
}

// onCoordinator is rule 5. Of two announcements everybody follows the newer, in
// whatever order they come; a process that made the older one is told. If it is told by another
// than made the newer one, those that follow the older may have been down for the newer: it tells all.
func (n *node) onCoordinator(env algo.Env, from algo.ID, m Coordinator) {
	n.newest = max(n.newest, m.Round.Number)
	switch {
	case n.followed.newer(m.Round):
		if !n.electing && m.Leader != n.leader {
			env.Send(from, Coordinator{n.leader, n.followed})
		}
	case env.Now() < n.deaf: // its own round is to be newer
		n.followed, n.known = m.Round, max(n.known, m.Round.Number)
	default:
		replaced := n.followed == n.round && n.round.Number > 0
		n.follow(env, m)
		if replaced && from != m.Round.Initiator {
			n.tell(env, algo.None)
		}
	}
}

// tell announces the leader that this process follows to all but one.
func (n *node) tell(env algo.Env, except algo.ID) {
	for _, p := range n.Peers {
		if p != n.ID && p != except {
			env.Send(p, Coordinator{n.leader, n.followed})
		}
	}
}

// follow ends the election here.
func (n *node) follow(env algo.Env, m Coordinator) {
	n.electing, n.leader, n.followed = false, m.Leader, m.Round
	env.CancelTimer(deltaTimer)
	env.CancelTimer(answerTimer)
	env.Elected(m.Leader, m.Round.Number)
	if slices.Contains(n.suspects, m.Leader) { // it is back, or it died again
		env.SetTimer(doubtTimer, n.t)
	}
}

// Invariant: a process that takes part in an election follows none; only candidates lead,
// and only they answer; nobody follows a round newer than it has heard of.
func (n *node) Invariant() error {
	if n.electing && n.leader != algo.None {
		return fmt.Errorf("electing but follows %d", n.leader)
	}
	if n.followed.Number > 0 && n.leader != algo.None && !n.candidate(n.leader) {
		return fmt.Errorf("follows %d, which is ordinary", n.leader)
	}
	for _, p := range n.responders {
		if !n.candidate(p) {
			return fmt.Errorf("%d answered, which is ordinary", p)
		}
	}
	if n.followed.Number > n.newest {
		return fmt.Errorf("follows round %v, but has heard of %d", n.followed, n.newest)
	}
	return nil
}

var (
	_ algo.Starter = (*node)(nil)
	_ algo.Timed   = (*node)(nil)
	_ algo.Monitor = (*node)(nil)
	_ algo.Checked = (*node)(nil)
)
