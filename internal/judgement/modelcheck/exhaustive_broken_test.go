package modelcheck_test

import (
	"fmt"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/mutex/lamport"
	"github.com/conclave-bench/conclave/plugins/mutex/naimitrehel"
	"github.com/conclave-bench/conclave/plugins/mutex/ricartagrawala"
)

// Algorithms that are broken on purpose, or promise what they do not keep.
func init() {
	safe := algo.Promises{StarvationFree: true}
	mutex := func(name string, p algo.Promises, start func(algo.Config) algo.Mutex,
		messages ...algo.Message) {
		algo.RegisterMutex(algo.Spec{
			Name: name, Summary: "broken", Paper: algo.Paper{Authors: "X", Title: "X", Year: 2000},
			Messages: messages, Promises: p, Breaks: "by itself",
		}, start)
	}
	mutex("test-no-tie-break", safe, func(c algo.Config) algo.Mutex { return &tied{Config: c} },
		Ask{}, Yes{})
	mutex("test-forgets", safe, newForgetful, naimitrehel.Req{}, naimitrehel.Token{})
	mutex("test-stack", algo.Promises{StarvationFree: true, RequestOrder: true},
		func(c algo.Config) algo.Mutex { return &stack{Config: c} }, Ask{}, Yes{}, Done{})
	mutex("test-distracted", safe, func(c algo.Config) algo.Mutex { return &distracted{Config: c} },
		Yes{}, Ask{})
	for _, defect := range []string{"none", "twice", "panic", "invariant", "function"} {
		mutex("test-defect-"+defect, safe, func(c algo.Config) algo.Mutex {
			return &defective{Config: c, defect: defect}
		}, Ask{})
	}
	for leadership, name := range map[algo.Leadership]string{
		algo.PerTerm: "term", algo.AtMostOne: "one", algo.Eventual: "eventual",
	} {
		algo.RegisterElector(algo.Spec{
			Name: "test-everybody-leads-" + name, Summary: "broken",
			Paper:    algo.Paper{Authors: "X", Title: "X", Year: 2000},
			Messages: []algo.Message{Ask{}}, Promises: algo.Promises{Leadership: leadership},
		}, func(c algo.Config) algo.Elector { return &vain{Config: c} })
	}
	algo.RegisterElector(algo.Spec{
		Name: "test-lowest-leads", Summary: "broken",
		Paper:    algo.Paper{Authors: "X", Title: "X", Year: 2000},
		Messages: []algo.Message{Done{}}, Promises: algo.Promises{Highest: true},
	}, func(c algo.Config) algo.Elector { return &meek{Config: c} })
	promising("mutex/naimi-trehel", naimitrehel.New, func(s *algo.Spec) { s.Promises.RequestOrder = true })
	promising("mutex/ricart-agrawala", ricartagrawala.New,
		func(s *algo.Spec) { s.Promises.RequestOrder = true })
	promising("mutex/lamport", lamport.New, func(s *algo.Spec) { s.Needs.FIFO = false })
}

// promising registers an algorithm of ours that promises too much.
func promising(id string, start func(algo.Config) algo.Mutex, change func(*algo.Spec)) {
	a, err := algo.Lookup(id)
	if err != nil {
		panic(err)
	}
	s := a.Spec
	s.Name = "test-promising-" + s.Name
	change(&s)
	algo.RegisterMutex(s, start)
}

// Ask, Yes and Done are the messages of all of them.
type Ask struct{ Clock uint64 }

// Yes answers an Ask.
type Yes struct{}

// Done ends an entry.
type Done struct{}

func (Ask) Kind() string  { return "ASK" }
func (Yes) Kind() string  { return "YES" }
func (Done) Kind() string { return "DONE" }

// tied is Ricart and Agrawala's algorithm without its tie-break: of two requests
// with the same number, neither waits for the other.
type tied struct {
	algo.Config
	clock, own uint64 // own: of the present request; 0: none
	yes        int
	later      []algo.ID
}

func (n *tied) Request(env algo.Env) {
	n.clock++
	n.own, n.yes = n.clock, 0
	algo.Broadcast(env, n.ID, n.Peers, Ask{n.own})
}

func (n *tied) Release(env algo.Env) {
	n.own = 0
	for _, p := range n.later {
		env.Send(p, Yes{})
	}
	n.later = nil
}

func (n *tied) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Ask:
		n.clock = max(n.clock, m.Clock)
		if n.own > 0 && n.own < m.Clock {
			n.later = append(n.later, from)
			return
		}
		env.Send(from, Yes{})
	case Yes:
		if n.yes++; n.yes == len(n.Peers)-1 {
			env.Granted()
		}
	}
}

// forgetful is naimi-trehel, but who is inside forgets who comes next.
type forgetful struct {
	algo.Config
	father, next         algo.ID
	token, waits, inside bool
}

func newForgetful(c algo.Config) algo.Mutex {
	n := &forgetful{Config: c, father: c.Holder}
	if n.father == n.ID {
		n.father, n.token = algo.None, true
	}
	return n
}

func (n *forgetful) Request(env algo.Env) {
	if n.father == algo.None {
		n.inside = true
		env.Granted()
		return
	}
	n.waits = true
	env.Send(n.father, naimitrehel.Req{K: n.ID})
	n.father = algo.None
}

func (n *forgetful) Release(env algo.Env) {
	n.inside = false
	if n.next != algo.None {
		env.Send(n.next, naimitrehel.Token{})
		n.token, n.next = false, algo.None
	}
}

func (n *forgetful) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch m := m.(type) {
	case naimitrehel.Req:
		switch {
		case n.father != algo.None:
			env.Send(n.father, m)
		case n.waits:
			n.next = m.K
		case n.inside: // here: n.next = m.K
		default:
			n.token = false
			env.Send(m.K, naimitrehel.Token{})
		}
		n.father = m.K
	case naimitrehel.Token:
		n.token, n.waits, n.inside = true, false, true
		env.Granted()
	}
}

// stack is a central coordinator, process 1, that serves the last request first.
type stack struct {
	algo.Config
	busy  bool
	queue []algo.ID
}

func (n *stack) Request(env algo.Env) { env.Send(1, Ask{}) }
func (n *stack) Release(env algo.Env) { env.Send(1, Done{}) }

func (n *stack) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m.(type) {
	case Ask:
		n.queue = append(n.queue, from)
	case Done:
		n.busy = false
	case Yes:
		env.Granted()
		return
	}
	if last := len(n.queue) - 1; last >= 0 && !n.busy {
		n.busy = true
		env.Send(n.queue[last], Yes{})
		n.queue = n.queue[:last]
	}
}

// distracted is a token ring, of YES, in which an ASK makes a process forget what
// its application wants. One is on its way to process 2 at the start.
type distracted struct {
	algo.Config
	wants bool
}

func (n *distracted) Start(env algo.Env) {
	if n.ID == 1 {
		env.Send(2, Yes{})
		env.Send(2, Ask{})
	}
}

func (n *distracted) Request(algo.Env)     { n.wants = true }
func (n *distracted) Release(env algo.Env) { n.pass(env) }

func (n *distracted) pass(env algo.Env) { env.Send(n.Peers[int(n.ID)%len(n.Peers)], Yes{}) }

func (n *distracted) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch m.(type) {
	case Ask:
		n.wants = false
	case Yes:
		if !n.wants {
			n.pass(env)
			return
		}
		n.wants = false
		env.Granted()
	}
}

// defective is for one process alone.
type defective struct {
	algo.Config
	defect string
	count  int
	do     func()
}

func (n *defective) Request(env algo.Env) {
	n.count++
	env.Granted()
	if n.defect == "twice" {
		env.Granted()
	}
}

func (n *defective) Release(algo.Env) {
	switch {
	case n.defect == "panic" && n.count == 2:
		_ = n.Peers[n.count]
	case n.defect == "function":
		n.do = func() {}
	}
}

func (n *defective) Receive(algo.Env, algo.ID, algo.Message) {}

func (n *defective) Invariant() error {
	if n.defect == "invariant" && n.count == 2 {
		return fmt.Errorf("count is %d", n.count)
	}
	return nil
}

// vain leads as soon as anybody asks.
type vain struct{ algo.Config }

func (n *vain) Elect(env algo.Env) { env.Elected(n.ID, uint64(len(n.Peers))) }

func (n *vain) Receive(algo.Env, algo.ID, algo.Message) {}

// meek makes the lowest the leader.
type meek struct{ algo.Config }

func (n *meek) Elect(env algo.Env) {
	env.Elected(n.Peers[0], 0)
	algo.Broadcast(env, n.ID, n.Peers, Done{})
}

func (n *meek) Receive(env algo.Env, _ algo.ID, _ algo.Message) { env.Elected(n.Peers[0], 0) }

var (
	_ algo.Starter = (*distracted)(nil)
	_ algo.Checked = (*defective)(nil)
)
