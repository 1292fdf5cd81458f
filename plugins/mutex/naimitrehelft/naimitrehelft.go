// Package naimitrehelft is the fault-tolerant form of the path-reversal token
// algorithm of Naimi and Trehel (WDAG 1987). Comments cite the numbered rules of
// that form; those marked + complete what lecture notes leave open.
//
// Without failures it is naimi-trehel: requests climb a tree of last pointers, and the
// token goes down a queue of next pointers. A process that waits longer than Twait asks
// all others whether it stands in the queue. If none says so within Telec, it asks all
// for the token. If none has it, it becomes a candidate, and the candidate with the
// least ID makes a new token, and a new tree with itself at the root. If one has it, and
// again the next time, the request has died on its way, and a process that holds the
// token by then builds the new tree.
//
// Each tree is an epoch of its own: messages of an older one no longer count.
package naimitrehelft

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

type state uint8

const (
	normal     state = iota // idle or inside
	waiting                 // for the token, as long as Twait
	consulting              // CONSULT is out
	querying                // QUERY is out
	candidate               // ELECTION is out
	observer                // another is a candidate
)

// String is what the state is called where states are shown.
func (s state) String() string {
	return [...]string{"normal", "waiting", "consulting", "querying", "candidate", "observer"}[s]
}

// node holds the variables of naimi-trehel and of the recovery.
type node struct {
	algo.Config
	last       algo.ID // probable owner; this process at the root; None while recovering
	next       algo.ID // gets the token after us; None: nobody waits behind us
	token      bool
	requesting bool // from the request to the release
	inside     bool

	state      state
	epoch      uint64    // +
	heard      uint64    // + the largest epoch of any message
	queriers   []querier // + who asked for the token during the last Telec
	misses     int       // + answers in a row that the token is elsewhere
	gave       algo.ID   // + whom the token last went to from here; None: nobody, in this epoch
	owed       bool      // + somebody wants a new tree, and we have not had the token since
	recovering bool      // + came back, and knows no epoch that it may take part in

	tWait, tElec time.Duration
	rebuilds     bool
}

type querier struct {
	id    algo.ID
	until time.Duration
}

const (
	waitTimer algo.Timer = "Twait"
	elecTimer algo.Timer = "Telec"
)

// New is the first epoch: the holder has the token and is the last of all.
func New(c algo.Config) algo.Mutex {
	n := &node{
		Config: c, last: c.Holder, token: c.Holder == c.ID,
		tWait: c.Params.Duration("t_wait"), tElec: c.Params.Duration("t_elec"),
		rebuilds: c.Params.Bool("rebuild"),
	}
	if c.Incarnation > 0 { // rule 14: a token that was held counts no more
		n.recovering, n.token, n.last = true, false, algo.None
		if s, ok := c.Saved.(Saved); ok {
			n.epoch = s.Epoch
		}
	}
	return n
}

// Request is rule 1: rule 1 of naimi-trehel, and the wait begins.
func (n *node) Request(env algo.Env) {
	n.requesting = true
	switch {
	case n.token:
		n.enter(env)
	case !n.recovering:
		n.issue(env)
	}
}

// issue sends the request to the old last.
func (n *node) issue(env algo.Env) {
	env.Send(n.last, Request{n.in(), n.ID})
	n.last = n.ID
	n.awaitToken(env)
}

func (n *node) enter(env algo.Env) {
	n.inside = true
	env.Granted()
}

// Release is rule 4 of naimi-trehel.
func (n *node) Release(env algo.Env) {
	n.requesting, n.inside = false, false
	if n.next != algo.None { // then we have the token: a new tree has emptied next
		n.giveToken(env, n.next)
		n.next = algo.None
	}
}

func (n *node) giveToken(env algo.Env, p algo.ID) {
	n.token, n.gave = false, p
	env.Send(p, Token{n.in()})
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	if !n.current(env, from, m) {
		return
	}
	switch m := m.(type) {
	case Request:
		n.onRequest(env, m.Origin)
	case Token:
		n.onToken(env)
	case Consult:
		n.onConsult(env, from)
	case ConsultOK:
		n.onConsultOK(env)
	case Query:
		n.onQuery(env, from)
	case TokenHere:
		n.onTokenHere(env, from)
	case Election:
		n.onElection(env, from)
	case Rebuild:
		n.onRebuild(env)
	case CandidateElected: // rule 12: adopted already
	}
	if n.pending() && n.state == normal { // it has lost its place with the old tree
		n.issue(env)
	}
}

// pending says whether the application waits.
func (n *node) pending() bool { return n.requesting && !n.inside }

// in is the epoch for a message.
func (n *node) in() In { return In{n.epoch, n.recovering} }

// onRequest is rule 2 of naimi-trehel. A process that has just come back stands in no
// tree: the request is lost, as if it had come before.
func (n *node) onRequest(env algo.Env, origin algo.ID) {
	switch {
	case n.recovering:
		return
	case n.last != n.ID: // not the root: pass it on
		env.Send(n.last, Request{n.in(), origin})
	case n.requesting: // root, waiting or inside: origin is next
		n.next = origin
	default: // idle root: give up the token at once
		n.giveToken(env, origin)
	}
	n.last = origin
}

// onToken is rule 13. A process that asked for it in the meantime is told where it is; who
// asked for a new tree, gets one.
func (n *node) onToken(env algo.Env) {
	n.token = true
	n.stopWaiting(env)
	for _, q := range n.queriers {
		if q.until >= env.Now() {
			env.Send(q.id, TokenHere{n.in()})
		}
	}
	n.queriers = nil
	if n.owed || n.recovering { // of a request in an earlier life: its tree is no longer known here
		n.build(env)
	}
	if n.requesting {
		n.enter(env)
	}
}

// Invariant: the root is idle exactly with the token; only a process that waits, or comes
// back, is in a state of waiting; none is next to itself.
func (n *node) Invariant() error {
	root := n.last == n.ID
	switch {
	case !n.requesting && root != n.token:
		return fmt.Errorf("idle with root=%t, token=%t", root, n.token)
	case (n.state != normal) != (n.pending() || n.recovering):
		return fmt.Errorf("state %v with requesting=%t, inside=%t, recovering=%t",
			n.state, n.requesting, n.inside, n.recovering)
	case n.next != algo.None && (!n.requesting || root):
		return fmt.Errorf("next is %d with requesting=%t, root=%t", n.next, n.requesting, root)
	case n.next == n.ID || n.token && n.pending():
		return fmt.Errorf("next is %d, token=%t, pending=%t", n.next, n.token, n.pending())
	}
	return nil
}

var (
	_ algo.Starter = (*node)(nil)
	_ algo.Timed   = (*node)(nil)
	_ algo.Checked = (*node)(nil)
)
