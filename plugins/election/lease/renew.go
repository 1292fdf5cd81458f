package lease

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A contender is a member by client-go's rule.
type contender struct {
	Client
	seen     time.Duration // when a change of the record was seen, by its own clock
	began    time.Duration // when the attempt began
	phase    phase
	renewing bool
	since    time.Duration // when the renewal began

	lease, patience, retry, wait time.Duration
	jitter                       float64 // negative: drawn
}

// A phase says what the request under way is.
type phase uint8

const (
	trying    phase = iota // GET, or PUT after it
	renewing               // PUT without a GET
	returning              // GET before the lease is given back
	returned               // PUT that gives it back
)

// String is what the phase is called where states are shown.
func (p phase) String() string { return [...]string{"trying", "renewing", "returning", "returned"}[p] }

// factor is client-go's JitterFactor.
const factor = 1.2

func newContender(p Process) *contender {
	n := &contender{
		Client: newClient(p), lease: p.Params.Duration("lease_duration"),
		patience: p.Params.Duration("renew_deadline"), retry: atLeast(p.Params, "retry_period"),
		wait: atLeast(p.Params, "t_request"), jitter: p.Params.Float("jitter"),
	}
	n.record.Duration = n.lease
	return n
}

// atLeast is a time between two events of a process.
func atLeast(p algo.Params, name string) time.Duration {
	return max(p.Duration(name), time.Microsecond)
}

// Start: all campaign. Where a leader is settled, all have just seen its record.
func (n *contender) Start(env algo.Env) {
	switch {
	case n.record.Holder == algo.None:
		n.name(env, Record{})
		n.try(env)
	case n.leads():
		env.SetTimer(retryTimer, n.retry)
	default:
		n.later(env)
	}
}

// Elect is Do's campaign.
func (n *contender) Elect(env algo.Env) {
	if n.idle {
		n.idle = false
		n.try(env)
	}
}

// Do is for campaign, which follows a release, and for release.
func (n *contender) Do(env algo.Env, op string, _ algo.ID) {
	if known(op); op == "campaign" {
		n.Elect(env)
	} else {
		n.release(env)
	}
}

func (n *contender) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch m := m.(type) {
	case GetReply:
		if n.answered(env, m.R) {
			n.onGetReply(env, m)
		}
	case PutReply:
		if n.answered(env, m.R) {
			n.onPutReply(env, m)
		}
	}
}

func (n *contender) Timeout(env algo.Env, t algo.Timer) {
	switch {
	case t == deadline:
		n.stop(env)
		env.SetTimer(retryTimer, n.retry)
	case t == requestTimer:
		n.pending = false
		n.failed(env)
	case n.leads() && !n.renewing:
		n.renew(env)
	default:
		n.try(env)
	}
}

// try is tryAcquireOrRenew. A holder whose lease is valid spares itself the look.
func (n *contender) try(env algo.Env) {
	n.began = env.Now()
	if n.leads() && n.record.Holder == n.ID && n.valid() {
		n.put(env, renewing, n.ID, n.lease)
	} else {
		n.get(env, trying)
	}
}

// valid says whether the lease of the record as last seen covers the begin of the attempt.
func (n *contender) valid() bool { return n.seen+n.record.Duration > n.began }

func (n *contender) get(env algo.Env, as phase) {
	n.phase = as
	env.Send(n.store, Get{n.number()})
	env.SetTimer(requestTimer, n.wait)
}

func (n *contender) put(env algo.Env, as phase, holder algo.ID, lasts time.Duration) {
	n.phase = as
	env.Send(n.store, Put{n.number(), n.record.Version, holder, lasts})
	env.SetTimer(requestTimer, n.wait)
}

// onGetReply looks whether the record has changed, and whether its lease may be taken.
func (n *contender) onGetReply(env algo.Env, m GetReply) {
	if m.Version != n.record.Version {
		n.record, n.seen = Record{m.Holder, m.Version, m.Duration}, env.Now()
	}
	switch own := n.record.Holder == n.ID; {
	case n.phase == returning && own:
		n.put(env, returned, algo.None, n.retry/2)
	case n.phase == returning:
	default:
		if !n.leads() && !own {
			n.name(env, n.record)
		}
		if !own && n.record.Holder != algo.None && n.valid() {
			n.failed(env)
		} else {
			n.put(env, trying, n.ID, n.lease)
		}
	}
}

func (n *contender) onPutReply(env algo.Env, m PutReply) {
	switch {
	case n.phase == returned:
	case m.OK:
		n.record, n.seen = Record{n.ID, m.Version, n.lease}, env.Now()
		n.succeeded(env)
	case n.phase == renewing:
		n.get(env, trying)
	default:
		n.failed(env)
	}
}

// succeeded: who has just taken the lease renews it at once, as client-go's Run does.
func (n *contender) succeeded(env algo.Env) {
	if !n.leads() {
		n.name(env, n.record)
		n.renew(env)
		return
	}
	n.renewing = false
	env.CancelTimer(deadline)
	env.SetTimer(retryTimer, n.retry)
}

// renew is client-go's renew: attempts until one succeeds, or until the deadline.
func (n *contender) renew(env algo.Env) {
	n.renewing, n.since = true, env.Now()
	env.SetTimer(deadline, n.patience)
	n.try(env)
}

// failed is the end of an attempt. A holder tries again at the next multiple of retry_period
// from the begin of the renewal, a contender after a wait.
func (n *contender) failed(env algo.Env) {
	switch {
	case n.phase == returning, n.phase == returned:
	case n.leads():
		passed := env.Now() - n.since
		if next := n.retry - passed%n.retry; passed+next < n.patience {
			env.SetTimer(retryTimer, next)
		}
	default:
		n.later(env)
	}
}

// later is wait.JitterUntil.
func (n *contender) later(env algo.Env) {
	jitter := n.jitter
	if jitter < 0 {
		jitter = env.Rand().Float64()
	}
	env.SetTimer(retryTimer, n.retry+time.Duration(jitter*factor*float64(n.retry)))
}

// stop gives up the lead, and all that is under way.
func (n *contender) stop(env algo.Env) {
	n.abandon(env)
	env.CancelTimer(retryTimer)
	env.CancelTimer(deadline)
	n.renewing = false
	n.name(env, Record{})
}

// release is ReleaseOnCancel. A process that does not lead stops campaigning.
func (n *contender) release(env algo.Env) {
	led := n.leads()
	n.stop(env)
	if n.idle = true; led {
		n.get(env, returning)
	}
}

// Invariant: only a leader renews, and a process that leads has had the lease.
func (n *contender) Invariant() error {
	if n.renewing && !n.leads() {
		return fmt.Errorf("renews, and names %d", n.leader)
	}
	return nil
}

var (
	_ algo.Starter   = (*contender)(nil)
	_ algo.Timed     = (*contender)(nil)
	_ algo.Commanded = (*contender)(nil)
	_ algo.Monitor   = (*contender)(nil)
	_ algo.Checked   = (*contender)(nil)
)
