// Package leasecas is the election by leases (C. Gray, D. Cheriton, "Leases", SOSP 1989) on a
// store with compare-and-swap, as etcd, ZooKeeper and Consul are used for it.
//
// One process is the store: it keeps a record of the holder of the lease, numbers every change of
// it, and knows when the lease ends. A member asks for the lease with the last number that it has
// seen, and gets it if the lease is free and the number is right. The holder leads, renews the
// lease at a third of its duration, and stops when its own clock says that it may be over: it
// counts from before the request was sent, and so is never too late. All others ask again after a
// while, and learn the leader from the refusal. The number goes along with all that a leader does,
// so that a resource can refuse a leader whose lease ended without its notice.
package leasecas

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/timeout"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "lease-cas",
		Summary: "a process that wins a compare-and-swap on a store leads while its lease lasts",
		Paper: algo.Paper{
			Authors: "C. Gray, D. Cheriton",
			Title:   "Leases: an efficient fault-tolerant mechanism for distributed file cache consistency",
			Venue:   "SOSP, 202-210", Year: 1989,
			Deviations: "The paper's leases are on cached files; this is the election that later systems " +
				"make of one. The store is a process of the trial, store, that survives its restart: it " +
				"names the process that its record names, and never campaigns. The end of a lease is " +
				"judged by one clock alone: by the store's since the record last changed, and by the " +
				"holder's since it asked. After a restart of the store the lease lasts as long as a new " +
				"one. What a leader does with its revision, the fencing token, is not modelled: it is " +
				"the term. Suspicions of a failure detector are ignored.",
		},
		Messages: []algo.Message{CAS{}, CASReply{}},
		Saves:    []algo.Message{Record{}},
		Params: []algo.Param{
			{Name: "store", Type: algo.Int, Min: int64(1), Process: true, Default: algo.Const(int64(1)),
				Doc: "the process that is the store"},
			{Name: "renew", Type: algo.Duration, Min: time.Microsecond,
				Doc:     "between two renewals; default 3d + 20 ms, d the largest latency",
				Default: timeout.RoundTrip},
			{Name: "ttl", Type: algo.Duration, Min: time.Microsecond, Tunes: algo.Patience,
				Doc:     "how long a lease lasts; default three renew",
				Default: func(net algo.Network) any { return 3 * net.Params.Duration("renew") }},
			{Name: "margin", Type: algo.Duration, Min: time.Duration(0),
				Doc:     "how long before its end a holder stops, for clocks that drift; default ttl/10",
				Default: func(net algo.Network) any { return net.Params.Duration("ttl") / 10 }},
			{Name: "retry", Type: algo.Duration, Min: time.Microsecond,
				Doc: "the wait of a refused member, plus a random time up to as long again; default " +
					"renew",
				Default: func(net algo.Network) any { return net.Params.Duration("renew") }},
		},
		Perpetual: true,
		Periods:   []algo.Period{{Param: "renew", Timer: next}},
		Needs: algo.Needs{
			Synchrony: algo.Synchronous, Params: live,
			Nodes: func(n int) error {
				if n < 2 {
					return fmt.Errorf("%d processes: want the store and a member at least", n)
				}
				return nil
			},
		},
		Survives: algo.Faults{
			Loss: true, Duplication: true, Partition: true, Recovery: true,
			Crashes: func(n int, _ algo.Params) int { return n - 2 },
			Anchor:  func(p algo.Params) algo.ID { return algo.ID(p.Int("store")) },
		},
		Promises: algo.Promises{Announced: true, Leadership: algo.AtMostOne},
		Service:  algo.Agreed,
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "all begin", Source: algo.Derived,
			Text:  "2(N-1) when N-1 members ask at once",
			Bound: algo.Exactly(func(n int) float64 { return float64(2 * (n - 1)) }),
		}},
		Breaks: "Without the store no process leads. A holder whose clock is slower by more than margin, " +
			"or that is paused for longer than its lease lasts, leads beside the next one until it " +
			"notices: then only the fencing token protects what it acts on.",
	}, New)
}

// live says with which parameters a healthy holder would lose its lease.
func live(net algo.Network, p algo.Params) error {
	renew, lasts := p.Duration("renew"), p.Duration("ttl")-p.Duration("margin")
	if least := 2 * net.Latency; renew < least {
		return fmt.Errorf("renew %v is below 2d = %v", renew, least)
	}
	if least := renew + 2*net.Latency; lasts <= least {
		return fmt.Errorf("ttl - margin %v is not above renew + 2d = %v", lasts, least)
	}
	return nil
}

const (
	next     algo.Timer = "next" // request
	deadline algo.Timer = "deadline"
)

// New makes the store or a member. A leader that is settled has just got its lease.
func New(c algo.Config) algo.Elector {
	at, leader := algo.ID(c.Params.Int("store")), c.Leader
	record := Record{}
	if saved, ok := c.Saved.(Record); ok {
		record = saved
	} else if leader != algo.None && leader != at {
		record = Record{leader, 1}
	}
	if at == c.ID {
		return &store{record: record, leader: leader, ttl: c.Params.Duration("ttl")}
	}
	return &member{Config: c, store: at, record: record, leader: leader, r: uint64(c.Incarnation) << 32,
		renew: c.Params.Duration("renew"), retry: c.Params.Duration("retry"),
		lasts: c.Params.Duration("ttl") - c.Params.Duration("margin")}
}

// A member leads, or asks for the lease.
type member struct {
	algo.Config
	store   algo.ID
	record  Record        // as last seen
	leader  algo.ID       // whom it names
	r       uint64        // of the last request: the incarnation, then a count
	pending bool          // it was not answered
	asked   time.Duration // when the last request was sent

	renew, retry, lasts time.Duration
}

// Start: all ask, and a leader that is settled renews.
func (n *member) Start(env algo.Env) {
	switch {
	case n.record.Holder == algo.None:
		n.name(env, algo.None)
		n.ask(env)
	case n.leader == n.ID:
		n.extend(env)
		env.SetTimer(next, n.renew)
	default:
		n.later(env)
	}
}

// Elect makes a member ask that waits to do so.
func (n *member) Elect(env algo.Env) {
	if n.leader != n.ID && !n.pending {
		n.ask(env)
	}
}

// Do is Elect under the name that scripts give it.
func (n *member) Do(env algo.Env, op string, _ algo.ID) {
	known(op)
	n.Elect(env)
}

// known panics if op is no operation.
func known(op string) {
	if op != "campaign" {
		panic(fmt.Sprintf("lease-cas has no operation %q (has: campaign)", op))
	}
}

// ask is rules 1 and 2. A process that gets no answer asks again when a renewal would be due.
func (n *member) ask(env algo.Env) {
	n.r++
	n.pending, n.asked = true, env.Now()
	env.Send(n.store, CAS{n.r, n.record.Revision})
	env.SetTimer(next, n.renew)
}

// extend is rule 3.
func (n *member) extend(env algo.Env) {
	env.SetTimer(deadline, n.asked+n.lasts-env.Now())
}

func (n *member) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch m := m.(type) {
	case CASReply:
		n.onReply(env, m)
	}
}

// onReply: an answer to an earlier request may be of an earlier record. One that comes after
// the lease it tells of is of no use.
func (n *member) onReply(env algo.Env, m CASReply) {
	if !n.pending || m.R != n.r {
		return
	}
	n.pending = false
	n.record = Record{m.Holder, m.Revision}
	switch {
	case m.OK && n.asked+n.lasts > env.Now():
		n.extend(env)
		n.name(env, n.ID)
	case m.Holder == n.ID: // an answer was lost, or late: the lease is its own
		n.ask(env)
	default: // rule 4
		env.CancelTimer(deadline)
		n.name(env, m.Holder)
		n.later(env)
	}
}

// later is rule 4's jitter.
func (n *member) later(env algo.Env) {
	env.SetTimer(next, n.retry+time.Duration(env.Rand().Int64N(int64(n.retry))))
}

// Timeout is the next request, or the end of rule 3: a process that leads stops.
func (n *member) Timeout(env algo.Env, t algo.Timer) {
	if t == deadline {
		n.name(env, algo.None)
		return
	}
	n.ask(env)
}

// name takes p for the leader. The revision by which it leads is the term.
func (n *member) name(env algo.Env, p algo.ID) {
	if n.leader == p {
		return
	}
	n.leader = p
	if p == algo.None {
		env.Elected(p, 0)
	} else {
		env.Elected(p, n.record.Revision)
	}
}

// Suspect and Restore do nothing: the store knows which process leads.
func (n *member) Suspect(algo.Env, algo.ID) {}

// Restore does nothing, see Suspect.
func (n *member) Restore(algo.Env, algo.ID) {}

// Invariant: a process that leads has had the lease.
func (n *member) Invariant() error {
	if n.leader == n.ID && n.record.Holder != n.ID {
		return fmt.Errorf("leads, and the record names %d", n.record.Holder)
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
