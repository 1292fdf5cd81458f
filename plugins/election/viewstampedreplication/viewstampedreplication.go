// Package viewstampedreplication is the view change of Viewstamped Replication, as Liskov
// and Cowling revisited it (MIT-CSAIL-TR-2012-021). Comments cite numbered rules: 1 to 6 are
// the report's section 4.2, 7 its section 4.1, and 8 its section 4.3.
//
// Views follow each other, and the number of a view determines its primary: the processes take
// turns. A process that misses the primary's heartbeat announces that it moves to the next view, and
// a process that hears this moves as well. A process that has heard it from f others, half of the
// rest, reports the end of its log to the new primary, which takes over with f+1 reports, its own
// among them. If that fails, the next view has another primary. Nothing is kept on a disk: a process
// that comes back asks the others for the view before it takes part.
package viewstampedreplication

import (
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

type status uint8

const (
	normal status = iota
	viewChange
	recovering
)

// String is what the status is called where states are shown.
func (s status) String() string { return [...]string{"normal", "view change", "recovering"}[s] }

const (
	viewTimer      algo.Timer = "view"
	heartbeatTimer algo.Timer = "heartbeat"
)

type node struct {
	algo.Config
	view       uint64
	status     status
	lastNormal uint64    // v', the last view in which this process was normal
	op         int64     // where the log ends
	leader     algo.ID   // of the view, once heard of
	svc        []algo.ID // others who go to this view
	dvc        []algo.ID // who has reported to this process, the primary of this view
	best       DoViewChange
	sent       bool // reported
	nonce      uint64
	answers    []answer // to nonce
	f          int
	rounds     int64 // of heartbeats in this view
}

// New is in view 0, or in the first that the settled leader leads. A process that comes back knows
// only that it does.
func New(c algo.Config) algo.Elector {
	n := &node{Config: c, leader: c.Leader, op: c.Params.Int("op"), f: len(c.Peers) / 2,
		nonce: uint64(c.Incarnation) << 32}
	if c.Leader != algo.None {
		n.view, n.lastNormal = uint64(c.Leader)-1, uint64(c.Leader)-1
	}
	if c.Incarnation > 0 {
		n.status = recovering
	}
	return n
}

// primary is whose turn the view is.
func (n *node) primary() algo.ID { return n.Peers[n.view%uint64(len(n.Peers))] }

// term is that of the view.
func (n *node) term() uint64 { return n.view + 1 }

// Start: the primary leads at once.
func (n *node) Start(env algo.Env) {
	switch {
	case n.status == recovering:
		n.recover(env)
	case n.leader == n.ID: // settled: all know
		n.beat(env, Commit{n.view})
	case n.primary() == n.ID:
		env.Elected(algo.None, n.term())
		n.lead(env, Commit{n.view})
	default:
		n.wait(env)
	}
}

// Elect makes a backup act as if its timer had expired. A primary, and a process that is changing views
// or recovering, continues.
func (n *node) Elect(env algo.Env) {
	if n.status == normal && n.leader != n.ID {
		n.change(env, n.view+1)
	}
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	if n.status == recovering {
		switch m := m.(type) { // rule 8: it takes part in nothing else
		case StartView:
			n.onStartView(env, from, m)
		case RecoveryResponse:
			n.onRecoveryResponse(env, from, m)
		}
		return
	}
	switch m := m.(type) {
	case Commit:
		n.onCommit(env, from, m)
	case StartViewChange:
		n.onStartViewChange(env, from, m)
	case DoViewChange:
		n.onDoViewChange(env, from, m)
	case StartView:
		n.onStartView(env, from, m)
	case Recovery:
		n.onRecovery(env, from, m)
	case RecoveryResponse: // of an earlier recovery
	}
}

// Timeout is rules 1 and 6 for the view, 8 for a recovery, and 4 for the primary's heartbeat.
func (n *node) Timeout(env algo.Env, t algo.Timer) {
	switch {
	case t == heartbeatTimer:
		n.beat(env, Commit{n.view})
	case n.status == recovering:
		n.recover(env)
	default:
		n.change(env, n.view+1)
	}
}

// change is rule 1: this process goes to view v, whichever process leads now.
func (n *node) change(env algo.Env, v uint64) {
	n.retire(env)
	n.view, n.status, n.leader = v, viewChange, algo.None
	n.svc, n.dvc, n.sent, n.best = n.svc[:0], n.dvc[:0], false, DoViewChange{}
	if n.primary() == n.ID {
		env.Elected(algo.None, n.term())
	} else {
		env.Elected(algo.None, 0)
	}
	algo.Broadcast(env, n.ID, n.Peers, StartViewChange{v})
	n.wait(env)
}

func (n *node) onStartViewChange(env algo.Env, from algo.ID, m StartViewChange) {
	if m.View > n.view {
		n.change(env, m.View)
	}
	if m.View == n.view && n.status == viewChange && !slices.Contains(n.svc, from) {
		n.svc = append(n.svc, from)
		n.report(env)
	}
}

// report is rule 2: once in a view, when f others go to it.
func (n *node) report(env algo.Env) {
	if n.sent || len(n.svc) < n.f {
		return
	}
	n.sent = true
	env.Send(n.primary(), DoViewChange{n.view, n.lastNormal, n.op}) // who may be this process
}

func (n *node) onDoViewChange(env algo.Env, from algo.ID, m DoViewChange) {
	if m.View > n.view {
		n.change(env, m.View)
	}
	if m.View == n.view && n.status == viewChange {
		n.take(env, from, m)
	}
}

// take is rule 3: of f+1 logs the one that was normal last counts, and of these the longest.
func (n *node) take(env algo.Env, from algo.ID, m DoViewChange) {
	if slices.Contains(n.dvc, from) {
		return
	}
	n.dvc = append(n.dvc, from)
	if m.Normal > n.best.Normal || m.Normal == n.best.Normal && m.Op > n.best.Op {
		n.best = m
	}
	if len(n.dvc) > n.f && n.sent {
		n.op = n.best.Op
		n.lead(env, StartView{n.view, n.op})
	}
}

// lead is the end of rule 3, and the start. The first message counts as a heartbeat.
func (n *node) lead(env algo.Env, first algo.Message) {
	n.status, n.lastNormal, n.leader, n.rounds = normal, n.view, n.ID, 0
	env.CancelTimer(viewTimer)
	n.beat(env, first)
	env.Elected(n.ID, n.term())
}

// beat is the primary's part of rule 4.
func (n *node) beat(env algo.Env, m algo.Message) {
	algo.Broadcast(env, n.ID, n.Peers, m)
	if n.rounds++; n.rounds != n.Params.Int("heartbeat_rounds") {
		env.SetTimer(heartbeatTimer, n.Params.Duration("heartbeat"))
	}
}

// retire stops what a primary does.
func (n *node) retire(env algo.Env) {
	if n.leader == n.ID {
		env.CancelTimer(heartbeatTimer)
	}
}

// onStartView is rule 5.
func (n *node) onStartView(env algo.Env, from algo.ID, m StartView) {
	if m.View >= n.view {
		n.op = m.Op
		n.follow(env, from, m.View)
	}
}

// follow makes this process a backup of from in view v.
func (n *node) follow(env algo.Env, from algo.ID, v uint64) {
	n.retire(env)
	if n.leader != from || n.view != v {
		env.Elected(from, v+1)
	}
	n.view, n.lastNormal, n.status, n.leader = v, v, normal, from
	n.wait(env)
}

// onCommit is rule 7. During a change to its own view a process waits for START_VIEW.
func (n *node) onCommit(env algo.Env, from algo.ID, m Commit) {
	if m.View > n.view || m.View == n.view && n.status == normal {
		n.follow(env, from, m.View)
	}
}

// wait restarts the timer of the view, or of the recovery.
func (n *node) wait(env algo.Env) {
	patience := n.Params.Duration("t_view_fixed")
	if patience == 0 {
		least := n.Params.Duration("t_view")
		patience = least + time.Duration(env.Rand().Int64N(int64(least)))
	}
	env.SetTimer(viewTimer, patience)
}

// Suspect and Restore do nothing: the timer is the failure detector.
func (n *node) Suspect(algo.Env, algo.ID) {}

// Restore does nothing, see Suspect.
func (n *node) Restore(algo.Env, algo.ID) {}

// Invariant: a process that is normal in a view of its own leads it, and no other does or is named.
func (n *node) Invariant() error {
	own := n.status == normal && n.primary() == n.ID
	if own != (n.leader == n.ID) || n.leader != algo.None && (n.leader != n.primary() || n.status != normal) {
		return fmt.Errorf("names %d in view %d, status %v", n.leader, n.view, n.status)
	}
	return nil
}

var (
	_ algo.Starter = (*node)(nil)
	_ algo.Timed   = (*node)(nil)
	_ algo.Monitor = (*node)(nil)
	_ algo.Checked = (*node)(nil)
)
