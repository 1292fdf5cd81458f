// Package lease is the election by a lease on a store, as programs run it: the rule of
// Kubernetes' client-go, called renew, and that of Patroni, called ttl. Comments cite the
// functions of their sources, tools/leaderelection/leaderelection.go and ha.py.
//
// One process is the store: it keeps a record that names the holder of the lease, and changes it
// only for a process that knows its latest version. All others compete for the lease, and the one
// that holds it leads and renews it. Under rule renew the store has no clock: a contender takes the
// lease when it has seen the record unchanged for as long as the lease lasts, and a holder that
// cannot renew gives up before that. Under rule ttl the store deletes the record when it was not
// renewed for long enough, and a holder that hears no answer gives up at once. No process compares
// the time of another's clock with its own.
package lease

import (
	"fmt"

	"github.com/conclave-bench/conclave/pkg/algo"
)

const (
	requestTimer algo.Timer = "request" // an answer of the store is due
	retryTimer   algo.Timer = "retry"   // the next attempt, or the next renewal
	deadline     algo.Timer = "deadline"
	cycleTimer   algo.Timer = "cycle"
	expiry       algo.Timer = "expiry"
)

// New makes the store, or a member by the rule that is chosen.
func New(c algo.Config) algo.Elector {
	p := Process{Config: c, store: algo.ID(c.Params.Int("store")), leader: c.Leader}
	switch ttl := c.Params.Enum("rule") == "ttl"; {
	case p.store == c.ID:
		return newStore(p, ttl)
	case ttl:
		return newMember(p)
	}
	return newContender(p)
}

// A Process is the store or a member.
type Process struct {
	algo.Config
	store  algo.ID
	leader algo.ID // whom this process names
}

// settled is whom the record names at the start. The store never leads.
func (p *Process) settled() algo.ID {
	if p.Leader == p.store {
		return algo.None
	}
	return p.Leader
}

// name takes the holder of r for the leader. No process leads by no version.
func (p *Process) name(env algo.Env, r Record) {
	if r.Holder == algo.None {
		r.Version = 0
	}
	if p.leader != r.Holder {
		p.leader = r.Holder
		env.Elected(r.Holder, r.Version)
	}
}

// A Client is a member as the store sees it: it has one request under way at most.
type Client struct {
	Process
	r       uint64 // of the last request: the incarnation, then a count
	pending bool   // it is under way
	record  Record // as last seen
	idle    bool   // it has released the lease, and does not compete until told
}

func newClient(p Process) Client {
	c := Client{Process: p, r: uint64(p.Incarnation) << 32}
	if holder := c.settled(); holder != algo.None {
		c.record = Record{Holder: holder, Version: 1}
	}
	return c
}

// number is that of a new request. Answers to those before it count no more.
func (c *Client) number() uint64 {
	c.r++
	c.pending = true
	return c.r
}

// answered says whether an answer is the one that is waited for.
func (c *Client) answered(env algo.Env, r uint64) bool {
	if !c.pending || r != c.r {
		return false
	}
	c.abandon(env)
	return true
}

// abandon waits for no answer any more.
func (c *Client) abandon(env algo.Env) {
	if c.pending {
		c.pending = false
		env.CancelTimer(requestTimer)
	}
}

func (c *Client) leads() bool { return c.leader == c.ID }

// Suspect and Restore do nothing: the store knows which process leads.
func (p *Process) Suspect(algo.Env, algo.ID) {}

// Restore does nothing, see Suspect.
func (p *Process) Restore(algo.Env, algo.ID) {}

// known panics if op is no operation.
func known(op string) {
	if op != "campaign" && op != "release" {
		panic(fmt.Sprintf("lease has no operation %q (has: campaign, release)", op))
	}
}
