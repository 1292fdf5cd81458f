// Package bullyquality is the bully election by quality, which Petrov's Database
// Internals (2019) suggests. Comments cite the rules of its contact-all form as
// numbered below.
//
// In plain bully the highest ID wins, however often it crashes. Here ranks are
// scores, and IDs among equals. Scores change, and a process need not know those
// of the others, so an election asks all others and its messages carry the score;
// a process that ranks higher answers. A score counts in whole buckets and stays
// the same for an attempt, and a coordinator counts a bucket higher. Otherwise
// leadership would follow every change of the scores.
//
//  1. Start: freeze the score; ask everybody; start T.
//  2. ELECTION of a lower rank: ANSWER, and hold an election of one's own.
//  3. ANSWER: wait for the announcement, for T' at most.
//  4. T expires: announce oneself to all others.
//  5. T' expires: start again.
//  6. COORDINATOR of a higher rank: follow it. Of a lower one: start.
//  7. Restart: start.
package bullyquality

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

type status uint8

const (
	idle     status = iota
	electing        // ELECTION is out, no answer yet
	waiting         // somebody of higher rank is there
)

// String is what the status is called where states are shown.
func (s status) String() string { return [...]string{"idle", "electing", "waiting"}[s] }

// A rank is what the election is by.
type rank struct {
	score int64 // in buckets
	id    algo.ID
}

func (r rank) above(q rank) bool {
	return r.score > q.score || r.score == q.score && r.id > q.id
}

type node struct {
	algo.Config
	status      status
	coordinator algo.ID       // None: none is known
	heard       rank          // of who announced itself last
	since       time.Duration // when that was
	attempt     Attempt       // the newest one
	score       int64         // now, in points
	frozen      int64         // in buckets, for the attempt and the announcement that it leads to
	incumbent   bool          // has announced itself, and followed nobody since
	table       bool          // everybody's score is known, and does not change
	hysteresis  int64
	t, tPrime   time.Duration
}

const (
	answerTimer      algo.Timer = "T"
	coordinatorTimer algo.Timer = "T'"
)

// New starts idle, with the coordinator that is settled, if one is.
func New(c algo.Config) algo.Elector {
	n := &node{
		Config: c, coordinator: c.Leader, attempt: Attempt{Incarnation: c.Incarnation},
		t: c.Params.Duration("t_answer"), tPrime: c.Params.Duration("t_coordinator"),
		score: c.Params.Int("score"), hysteresis: c.Params.Int("hysteresis"),
		table: c.Params.Enum("contact") == "higher",
	}
	if n.table {
		n.hysteresis = 0
	}
	return n
}

// bucket is what a number of points counts.
func (n *node) bucket(points int64) int64 {
	width := n.Params.Int("bucket")
	if points < 0 { // towards less, also below zero
		points -= width - 1
	}
	return points / width
}

// rank is this process's own. An incumbent's is higher by the hysteresis.
func (n *node) rank() rank {
	r := rank{n.bucket(n.score), n.ID}
	if n.status != idle {
		r.score = n.frozen
	}
	if n.incumbent {
		r.score += n.hysteresis
	}
	return r
}

// higher says whether the table ranks p above this process.
func (n *node) higher(p algo.ID) bool {
	r := rank{n.bucket(n.Params.IntOf("score", p)), p}
	return r.above(rank{n.bucket(n.score), n.ID})
}

// Do improves or degrades the score by one bucket. It takes effect in the next
// attempt. A common table does not change.
func (n *node) Do(_ algo.Env, op string, _ algo.ID) {
	width := n.Params.Int("bucket")
	switch {
	case n.table:
	case op == "improve":
		n.score += width
	case op == "degrade":
		n.score -= width
	}
}

// Elect starts an election unless one is in progress here.
func (n *node) Elect(env algo.Env) {
	if n.status == idle {
		n.start(env)
	}
}

// Start is rule 7.
func (n *node) Start(env algo.Env) {
	if n.Incarnation > 0 {
		n.start(env)
	}
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Election:
		n.onElection(env, from, m)
	case Answer:
		n.onAnswer(env, m)
	case Coordinator:
		n.onCoordinator(env, rank{m.Score, from})
	}
}

// Timeout is rules 4 and 5.
func (n *node) Timeout(env algo.Env, t algo.Timer) {
	switch t {
	case answerTimer: // nobody of higher rank is alive
		n.declare(env)
	case coordinatorTimer: // a process that answered died
		n.start(env)
	}
}

// start is rule 1. The suspect is asked as well.
func (n *node) start(env algo.Env) {
	n.attempt.Count++
	n.frozen = n.bucket(n.score)
	n.status, n.coordinator = electing, algo.None
	asked := false
	for _, p := range n.Peers {
		if p != n.ID && (!n.table || n.higher(p)) {
			env.Send(p, Election{n.attempt, n.rank().score})
			asked = true
		}
	}
	if !asked {
		n.declare(env)
		return
	}
	env.Elected(algo.None, 0)
	env.SetTimer(answerTimer, n.t)
}

// onElection is rule 2. A process that is asked by a higher one will not win: it
// leaves its own election as if that one had answered.
func (n *node) onElection(env algo.Env, from algo.ID, m Election) {
	if (rank{m.Score, from}).above(n.rank()) {
		if n.status == electing {
			n.awaitCoordinator(env)
		}
		return
	}
	env.Send(from, Answer{m.Attempt})
	n.Elect(env)
}

// onAnswer is rule 3.
func (n *node) onAnswer(env algo.Env, m Answer) {
	if n.status == electing && m.Attempt == n.attempt {
		n.awaitCoordinator(env)
	}
}

func (n *node) awaitCoordinator(env algo.Env) {
	n.status = waiting
	env.CancelTimer(answerTimer)
	env.SetTimer(coordinatorTimer, n.tPrime)
}

// declare is rule 4. With a table, those of lower rank are told, as in bully.
func (n *node) declare(env algo.Env) {
	n.incumbent = true
	r := n.rank()
	n.adopt(env, r)
	for _, p := range n.Peers {
		if p != n.ID && !(n.table && n.higher(p)) {
			env.Send(p, Coordinator{r.score})
		}
	}
}

// onCoordinator is rule 6. If one of higher rank announced itself within T, the
// two messages raced each other: an election tells which of the two is alive.
func (n *node) onCoordinator(env algo.Env, r rank) {
	raced := n.heard.id != algo.None && n.heard.above(r) && env.Now()-n.since < n.t
	if raced || n.rank().above(r) {
		n.Elect(env)
		return
	}
	n.adopt(env, r)
}

// adopt ends the election here.
func (n *node) adopt(env algo.Env, r rank) {
	n.status, n.coordinator, n.heard, n.since = idle, r.id, r, env.Now()
	n.incumbent = r.id == n.ID
	env.CancelTimer(answerTimer)
	env.CancelTimer(coordinatorTimer)
	env.Elected(r.id, 0)
}

// Invariant: a process that takes part in an election follows none, and a process that follows
// another defends no office of its own.
func (n *node) Invariant() error {
	switch {
	case n.status != idle && n.coordinator != algo.None:
		return fmt.Errorf("status %v but follows %d", n.status, n.coordinator)
	case n.incumbent && n.coordinator != n.ID && n.coordinator != algo.None:
		return fmt.Errorf("incumbent but follows %d", n.coordinator)
	}
	return nil
}

var (
	_ algo.Starter   = (*node)(nil)
	_ algo.Timed     = (*node)(nil)
	_ algo.Commanded = (*node)(nil)
	_ algo.Checked   = (*node)(nil)
)
