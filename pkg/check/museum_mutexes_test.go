package check_test

import (
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// A desk is mutual exclusion by asking process 1, which lets in one after the
// other. Its mistake is decided by flaw.
type desk struct {
	algo.Config
	flaw  string
	busy  bool
	queue []algo.ID
	count int
}

func (d *desk) Request(env algo.Env) {
	if d.flaw == "asks nobody" && d.ID == 2 {
		env.Granted()
		return
	}
	env.Send(1, Note{What: "request", ID: d.ID})
}

func (d *desk) Release(env algo.Env) {
	d.count++
	if d.flaw == "does not give back" && d.ID == 3 && d.count == 2 {
		return
	}
	env.Send(1, Note{What: "release", ID: d.ID})
}

func (d *desk) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch n := m.(Note); n.What {
	case "grant":
		env.Granted()
		if d.flaw == "grants twice" {
			env.Granted()
		}
	case "request":
		d.onRequest(env, n.ID)
	case "release":
		d.busy = false
		d.next(env)
	}
}

func (d *desk) onRequest(env algo.Env, p algo.ID) {
	switch {
	case d.flaw == "starves the last" && p == d.Peers[len(d.Peers)-1]:
		return
	case d.flaw == "forgets a request" && len(d.queue) > 0:
		d.queue[0] = p // there is room for one
	case d.flaw == "the last comes first":
		d.queue = slices.Insert(d.queue, 0, p)
	default:
		d.queue = append(d.queue, p)
	}
	d.count++
	if d.flaw == "lets in another" && d.count%5 == 0 {
		d.busy = false
	}
	d.next(env)
}

func (d *desk) next(env algo.Env) {
	if !d.busy && len(d.queue) > 0 {
		d.busy = true
		env.Send(d.queue[0], Note{What: "grant", ID: d.queue[0]})
		d.queue = slices.Delete(d.queue, 0, 1)
	}
}

// A polite process asks all others, and whoever asked earlier is let in first
// (G. Ricart, A. K. Agrawala, 1981). If not all have answered in time it asks again,
// some times.
type polite struct {
	algo.Config
	flaw    string
	clock   uint64
	stamp   uint64 // of its request; 0: it wants nothing
	inside  bool
	replied []bool // by ID - 1
	replies int
	asked   int
	owed    []Note // requests to be answered later
}

func (p *polite) Request(env algo.Env) {
	p.clock++
	p.stamp, p.replies, p.replied, p.asked = p.clock, 0, make([]bool, len(p.Peers)), 0
	p.ask(env)
}

func (p *polite) ask(env algo.Env) {
	algo.Broadcast(env, p.ID, p.Peers, Note{"request", p.ID, p.stamp})
	if p.asked++; p.asked < 4 {
		env.SetTimer("again", 3*time.Millisecond)
	}
}

func (p *polite) Timeout(env algo.Env, _ algo.Timer) { p.ask(env) }

func (p *polite) Release(env algo.Env) {
	p.stamp, p.inside = 0, false
	for _, n := range p.owed {
		env.Send(n.ID, Note{"reply", p.ID, n.N})
	}
	p.owed = nil
}

func (p *polite) Receive(env algo.Env, from algo.ID, m algo.Message) {
	n := m.(Note)
	if n.What == "reply" {
		p.onReply(env, from, n)
		return
	}
	p.clock = max(p.clock, n.N)
	first := p.stamp > 0 && (p.stamp < n.N || p.stamp == n.N && p.ID < n.ID)
	if p.flaw == "knows no priority" {
		first = p.stamp > 0
	}
	if p.inside || first {
		p.owed = append(p.owed, n)
		return
	}
	env.Send(n.ID, Note{"reply", p.ID, n.N})
}

func (p *polite) onReply(env algo.Env, from algo.ID, n Note) {
	stale := n.N != p.stamp || p.replied[from-1]
	if p.stamp == 0 || p.inside || stale && p.flaw != "acts on stale replies" {
		return
	}
	p.replied[from-1] = true
	if p.replies++; p.replies == len(p.Peers)-1 {
		p.inside = true
		env.CancelTimer("again")
		env.Granted()
	}
}

// A runner hands a baton round, and enters while it has it.
type runner struct {
	algo.Config
	flaw   string
	wants  bool
	spare  bool // it has kept a baton
	passes int
}

func (r *runner) Start(env algo.Env) {
	if r.ID == r.Holder {
		env.SetTimer("rest", time.Millisecond)
	}
}

func (r *runner) Timeout(env algo.Env, _ algo.Timer) { r.onBaton(env) }

func (r *runner) Request(env algo.Env) {
	r.wants = true
	if r.spare {
		env.Granted()
	}
}

func (r *runner) Release(env algo.Env) {
	r.wants = false
	r.pass(env)
}

func (r *runner) Receive(env algo.Env, _ algo.ID, _ algo.Message) { r.onBaton(env) }

func (r *runner) onBaton(env algo.Env) {
	if r.wants {
		env.Granted()
		return
	}
	r.pass(env)
}

func (r *runner) pass(env algo.Env) {
	r.passes++
	n := algo.ID(len(r.Peers))
	wrong := r.ID == 3 && r.passes == 2
	switch {
	case wrong && r.flaw == "loses the token":
		return
	case wrong && r.flaw == "doubles the token":
		env.Send((r.ID+1)%n+1, Baton{})
	case wrong && r.flaw == "keeps the token as well":
		r.spare = true
	}
	env.Send(r.ID%n+1, Baton{})
}

var (
	_ algo.Timed   = (*polite)(nil)
	_ algo.Timed   = (*runner)(nil)
	_ algo.Starter = (*runner)(nil)
)

// counter is an exhibit of mutual exclusion; name is that of one without a flaw.
func counter(name, flaw string, least int, rule, says string, spec algo.Spec,
	make func(c algo.Config, flaw string) algo.Mutex) exhibit {
	spec.Promises.StarvationFree = true
	return exhibit{
		name: name, flaw: flaw, least: least, rule: rule, says: says, spec: spec,
		trial: harness.Scenario{Plot: &harness.Closed{Requests: 120, Think: link.Constant(ms)}},
		mutex: func(c algo.Config) algo.Mutex { return make(c, flaw) },
	}
}

func newDesk(c algo.Config, flaw string) algo.Mutex   { return &desk{Config: c, flaw: flaw} }
func newPolite(c algo.Config, flaw string) algo.Mutex { return &polite{Config: c, flaw: flaw} }
func newRunner(c algo.Config, flaw string) algo.Mutex { return &runner{Config: c, flaw: flaw} }

var (
	plain   = algo.Spec{}
	ordered = algo.Spec{Promises: algo.Promises{RequestOrder: true}}
	baton   = algo.Spec{Token: "BATON", Perpetual: true}
)

var mutexes = []exhibit{
	counter("desk", "", 0, "", "", ordered, newDesk),
	counter("", "asks nobody", 50, "mutual-exclusion", "while p", plain, newDesk),
	counter("", "does not give back", 100, "deadlock", "not granted", plain, newDesk),
	counter("", "lets in another", 50, "mutual-exclusion", "while p", plain, newDesk),
	counter("", "forgets a request", 50, "starvation", "waits since", plain, newDesk),
	counter("", "starves the last", 100, "starvation", "p5 waits since", plain, newDesk),
	counter("", "grants twice", 100, "mutual-exclusion", "without a request", plain, newDesk),
	counter("", "the last comes first", 100, "request-order", "happened before its own", ordered, newDesk),
	counter("polite", "", 0, "", "", plain, newPolite),
	counter("", "knows no priority", 100, "deadlock", "requests not granted", plain, newPolite),
	counter("", "acts on stale replies", 100, "mutual-exclusion", "while p", plain, newPolite),
	counter("runner", "", 0, "", "", baton, newRunner),
	counter("", "loses the token", 100, "deadlock", "not granted", baton, newRunner),
	counter("", "doubles the token", 100, "token-uniqueness", "p3 sends a second token", baton, newRunner),
	counter("", "keeps the token as well", 100, "token-uniqueness", "p3 enters with a second token", baton, newRunner),
}
