package lease

import (
	"errors"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A member is one by Patroni's rule.
type member struct {
	Client
	overdue bool // a cycle is due, and the one before it is not over

	ttl, every, wait time.Duration
}

func newMember(p Process) *member {
	return &member{Client: newClient(p), ttl: p.Params.Duration("ttl"),
		every: atLeast(p.Params, "loop_wait"), wait: atLeast(p.Params, "retry_timeout")}
}

// Start: the first cycle comes at the member's phase, or at once, where no leader is settled.
func (n *member) Start(env algo.Env) {
	first := n.Params.Duration("phase")
	switch {
	case n.Incarnation > 0:
		first = 0
	case first == 0 && n.record.Holder != algo.None:
		first = n.every
	}
	if n.name(env, n.record); first > 0 {
		env.SetTimer(cycleTimer, first)
	} else {
		n.cycle(env)
	}
}

// Elect is Do's campaign.
func (n *member) Elect(env algo.Env) {
	if n.idle {
		n.idle = false
		n.due(env)
	}
}

// Do is for campaign, which follows a release, and for release.
func (n *member) Do(env algo.Env, op string, _ algo.ID) {
	if known(op); op == "campaign" {
		n.Elect(env)
	} else if n.idle = true; n.leads() {
		n.name(env, Record{})
		env.Send(n.store, Delete{n.record.Version})
	}
}

func (n *member) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch m := m.(type) {
	case GetReply:
		if n.answered(env, m.R) {
			n.onGetReply(env, m)
		}
	case PutReply:
		if n.answered(env, m.R) {
			n.onPutReply(env, m)
		}
	case Expired:
		n.due(env)
	}
}

// Timeout is the next cycle, or the lack of an answer: _handle_dcs_error.
func (n *member) Timeout(env algo.Env, t algo.Timer) {
	if t == cycleTimer {
		n.due(env)
		return
	}
	n.pending = false
	n.demote(env)
	n.over(env)
}

// due begins a cycle, when the one before it is over.
func (n *member) due(env algo.Env) {
	if n.overdue = n.pending; !n.pending {
		n.cycle(env)
	}
}

func (n *member) cycle(env algo.Env) {
	env.SetTimer(cycleTimer, n.every)
	env.Send(n.store, Get{n.number()})
	env.SetTimer(requestTimer, n.wait)
}

// over is the end of a cycle.
func (n *member) over(env algo.Env) {
	if n.overdue {
		n.overdue = false
		n.cycle(env)
	}
}

// demote makes a leader none.
func (n *member) demote(env algo.Env) {
	if n.leads() {
		n.name(env, Record{})
	}
}

// onGetReply is process_healthy_cluster if there is a holder, and process_unhealthy_cluster
// if there is none.
func (n *member) onGetReply(env algo.Env, m GetReply) {
	n.record.Version = m.Version
	switch own := m.Holder == n.ID; {
	case own && n.idle: // it could not be given back
		env.Send(n.store, Delete{m.Version})
		n.over(env)
	case !own && m.Holder != algo.None, n.idle:
		n.name(env, Record{Holder: m.Holder, Version: m.Version})
		n.over(env)
	default:
		if !own {
			n.name(env, Record{})
		}
		env.Send(n.store, Put{n.number(), m.Version, n.ID, n.ttl})
		env.SetTimer(requestTimer, n.wait)
	}
}

func (n *member) onPutReply(env algo.Env, m PutReply) {
	n.record.Version = m.Version
	switch {
	case !m.OK:
		n.demote(env)
	case n.idle: // released meanwhile
		env.Send(n.store, Delete{m.Version})
	default:
		n.name(env, Record{Holder: n.ID, Version: m.Version})
	}
	n.over(env)
}

// Invariant: a process that is idle does not lead.
func (n *member) Invariant() error {
	if n.idle && n.leads() {
		return errors.New("leads, and has released the lease")
	}
	return nil
}

var (
	_ algo.Starter   = (*member)(nil)
	_ algo.Timed     = (*member)(nil)
	_ algo.Commanded = (*member)(nil)
	_ algo.Monitor   = (*member)(nil)
	_ algo.Checked   = (*member)(nil)
)
