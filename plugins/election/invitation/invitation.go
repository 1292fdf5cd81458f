// Package invitation is the second election of Garcia-Molina (IEEE ToC 1982) in
// the form that lecture notes teach. Comments cite the numbered rules of that
// form, completed.
//
// Each process begins as the leader of a group of its own. Leaders invite
// others: a process that is no leader names its own, and two leaders merge
// their groups. The leader of the larger group leads both, so that fewer need a
// message. No process is bullied and nothing starts from scratch. Several
// leaders are legal, one for each group: a system that is split works on in
// parts, and merges afterwards.
package invitation

import (
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

type node struct {
	algo.Config
	group    Group
	members  []algo.ID // of the group, ascending, the leader included; nil at others
	pending  algo.ID   // whom this leader has invited; None: nobody
	offered  []algo.ID // members when it did, whom the answer counts on
	active   bool      // electing: invites whenever it leads and somebody is missing
	planned  bool      // the pause is running
	count    uint32    // groups of its own so far
	suspects []algo.ID
	lives    map[algo.ID]uint32 // the incarnation in which a process was heard to be back
	early    []NewLeader        // build on one that has not come yet

	t, pause time.Duration
	byID     bool
}

const (
	answerTimer algo.Timer = "T"
	pauseTimer  algo.Timer = "pause"
)

// New starts alone, or in the group of the leader that is settled.
func New(c algo.Config) algo.Elector {
	n := &node{
		Config: c, group: Group{Leader: c.Leader}, lives: map[algo.ID]uint32{},
		t: c.Params.Duration("t_answer"), pause: c.Params.Duration("pause"),
		byID: c.Params.Enum("merge") == "larger-id",
	}
	if n.leads() {
		n.members = slices.Clone(c.Peers)
	}
	return n
}

func (n *node) leads() bool { return n.group.Leader == n.ID }

// Start is rule 1. A process that comes back looks for others, and tells those that it
// led: it may have been away for so short a time that none has noticed.
func (n *node) Start(env algo.Env) {
	if n.group.Leader != algo.None {
		return
	}
	n.active = n.Incarnation > 0
	n.leadAlone(env)
	if n.Incarnation > 0 {
		algo.Broadcast(env, n.ID, n.Peers, Recovered{n.Incarnation})
	}
}

// Elect makes this process look for others, if it leads.
func (n *node) Elect(env algo.Env) {
	n.active = true
	n.plan(env)
}

// Do is rule 2 at the word of a script.
func (n *node) Do(env algo.Env, op string, target algo.ID) {
	if op == "invite" {
		n.invite(env, target)
	}
}

// Suspect is rule 9 at a member; a leader strikes p off.
func (n *node) Suspect(env algo.Env, p algo.ID) {
	n.suspects = append(n.suspects, p)
	n.strike(p)
	n.doubt(env)
}

// strike takes p from the members of a leader.
func (n *node) strike(p algo.ID) {
	n.members = slices.DeleteFunc(n.members, func(q algo.ID) bool { return q == p })
}

// Restore: a leader looks for p again.
func (n *node) Restore(env algo.Env, p algo.ID) {
	n.suspects = slices.DeleteFunc(n.suspects, func(q algo.ID) bool { return q == p })
	n.active = true
	n.plan(env)
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Invite:
		n.onInvite(env, from, m)
	case Accept:
		n.onAccept(env, m)
	case Takeover:
		n.onTakeover(env, from, m)
	case Redirect:
		n.onRedirect(env, from, m)
	case Busy:
		n.onBusy(env, from)
	case NewLeader:
		n.onNewLeader(env, m)
	case Recovered:
		n.onRecovered(env, from, m)
	}
}

// Timeout is rule 8 when T is over, and rule 2 after the pause.
func (n *node) Timeout(env algo.Env, t algo.Timer) {
	if t == answerTimer {
		n.settle(env)
		n.plan(env)
		return
	}
	n.planned = false
	if missing := n.missing(); len(missing) > 0 {
		n.invite(env, missing[env.Rand().IntN(len(missing))])
	}
}

// onRecovered: from is in no group but its own. A leader that had it as a member, and
// did not notice that it was away, has to invite it again.
func (n *node) onRecovered(env algo.Env, from algo.ID, m Recovered) {
	n.lives[from] = max(n.lives[from], m.Incarnation)
	n.strike(from)
	n.plan(env)
	n.doubt(env)
}

// leadAlone is the body of rule 1.
func (n *node) leadAlone(env algo.Env) {
	n.count++
	n.group = Group{n.ID, n.Incarnation, n.count}
	n.members, n.early = []algo.ID{n.ID}, nil
	env.Elected(n.ID, 0)
	n.plan(env)
}

// doubt is rule 9: a member whose leader is gone, or back without its group, looks
// for others.
func (n *node) doubt(env algo.Env) {
	leader := n.group.Leader
	lost := slices.Contains(n.suspects, leader) || n.group.Incarnation < n.lives[leader]
	if !n.leads() && lost {
		env.Elected(algo.None, 0)
		n.active = true
		n.leadAlone(env)
	}
}

// missing are those whom an active leader has still to invite.
func (n *node) missing() (out []algo.ID) {
	if !n.active || !n.leads() || n.pending != algo.None {
		return nil
	}
	for _, p := range n.Peers {
		if !slices.Contains(n.members, p) && !slices.Contains(n.suspects, p) {
			out = append(out, p)
		}
	}
	return out
}

// plan is the pause before the next invitation, if there is one to make.
func (n *node) plan(env algo.Env) {
	if !n.planned && len(n.missing()) > 0 {
		n.planned = true
		env.SetTimer(pauseTimer, time.Duration(env.Rand().Int64N(int64(n.pause))))
	}
}

// invite is the body of rule 2.
func (n *node) invite(env algo.Env, p algo.ID) {
	if !n.leads() || n.pending != algo.None || slices.Contains(n.members, p) {
		return
	}
	n.pending, n.offered = p, slices.Clone(n.members)
	env.Send(p, Invite{n.group, n.members, n.active})
	env.SetTimer(answerTimer, n.t)
}

// settle ends the wait for an answer.
func (n *node) settle(env algo.Env) {
	n.pending, n.offered = algo.None, nil
	env.CancelTimer(answerTimer)
}

// Invariant: a process that leads is a member of its group, and of no other; a member that
// does not lead has no list, and has invited none.
func (n *node) Invariant() error {
	sorted := slices.Compact(slices.Sorted(slices.Values(n.members)))
	switch {
	case n.leads() && !slices.Contains(n.members, n.ID):
		return fmt.Errorf("leads %v without being a member", n.members)
	case !slices.Equal(sorted, n.members):
		return fmt.Errorf("members %v are not ascending", n.members)
	case !n.leads() && (n.members != nil || n.pending != algo.None):
		return fmt.Errorf("follows %d, but has members %v and invited %d",
			n.group.Leader, n.members, n.pending)
	}
	return nil
}

var (
	_ algo.Starter   = (*node)(nil)
	_ algo.Timed     = (*node)(nil)
	_ algo.Monitor   = (*node)(nil)
	_ algo.Commanded = (*node)(nil)
	_ algo.Checked   = (*node)(nil)
)
