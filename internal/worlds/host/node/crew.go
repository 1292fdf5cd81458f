package node

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/internal/worlds/host/control"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// A crew is the nodes that share this process, its members. Each has its own connection, its
// own timers and its own goroutine. What signals do to a process, orders do to a member.
type crew struct {
	setup *harness.Setup
	gate  chan struct{} // full of those that are joining
	mu    sync.Mutex    // of out and of running
	out   *json.Encoder
	// running are the members that are not at their end yet.
	running map[who]*member
}

// mostJoining is how many members connect at a time: the bus drops a client that takes long over it.
const mostJoining = 4

// A who is one incarnation of a node.
type who struct {
	id          algo.ID
	incarnation uint32
}

// A member is a node of a crew.
type member struct {
	who
	crew *crew
	node *node
	ward *guard.Ward
	up   bool // it has joined
}

// runCrew reads calls until the input ends.
func runCrew(lines *bufio.Reader, out *json.Encoder, s *harness.Setup) error {
	c := &crew{setup: s, gate: make(chan struct{}, mostJoining), out: out, running: map[who]*member{}}
	go c.watchBus()
	for {
		var call control.Call
		if err := readLine(lines, &call); err != nil {
			os.Exit(0) // the end of the host
		}
		w := who{call.ID, call.Incarnation}
		switch {
		case call.Assignment != nil:
			c.enlist(w, call.Assignment)
		case call.Order != nil:
			c.order(w, call.Order)
		}
	}
}

// enlist begins the life of a member.
func (c *crew) enlist(w who, a *control.Assignment) {
	m := &member{who: w, crew: c}
	m.node = newNode(c.setup, m)
	m.node.Assignment, m.node.fault = *a, make(chan error, 1)
	m.ward = guard.Watch(&m.node.buf.Buffer, m.node.abandon)
	c.mu.Lock()
	c.running[w] = m
	c.mu.Unlock()
	go func() {
		c.gate <- struct{}{}
		joined := sync.OnceFunc(func() { <-c.gate })
		defer joined()
		_ = m.node.live(func() { joined(); m.joined() }, m.leave) // it has said what is wrong
		m.leave()
		m.ward.Release()
		if m.node.crashed {
			m.drop()
		}
		for len(m.node.orders) > 0 { // that came too late
			if o := <-m.node.orders; o.AtOnce() && !m.node.crashed {
				m.confirm(clock.Monotonic())
			}
		}
	}()
}

// order hands an order on. One that takes effect at once is confirmed, also if the member has
// ended by itself.
func (c *crew) order(w who, o *control.Order) {
	c.mu.Lock()
	m, full := c.running[w], false
	if m != nil {
		select {
		case m.node.orders <- *o:
		default: // none of the others is to wait for it
			full = true
		}
	}
	c.mu.Unlock()
	switch {
	case m == nil && o.AtOnce():
		(&member{who: w, crew: c}).confirm(clock.Monotonic())
	case full:
		_ = m.say(control.Report{Error: fmt.Sprintf("it has not taken %d orders", cap(m.node.orders))})
	case m != nil && o.Stop: // the host does not wait for long
		m.ward.Hurry(control.StopPatience / 2)
	}
}

func (m *member) joined() {
	m.crew.mu.Lock()
	defer m.crew.mu.Unlock()
	m.up = true
}

// say tells the host what is m's to say.
func (m *member) say(r control.Report) error {
	return m.reply(control.Reply{Report: r})
}

// confirm tells the host since when an order is in effect.
func (m *member) confirm(at time.Duration) { _ = m.reply(control.Reply{At: &at}) }

func (m *member) reply(r control.Reply) error {
	r.ID, r.Incarnation = m.id, m.incarnation
	m.crew.mu.Lock()
	defer m.crew.mu.Unlock()
	return m.crew.out.Encode(&r)
}

// leave takes a member out whose end has come, and says whether it was the last.
func (m *member) leave() (last bool) {
	m.crew.mu.Lock()
	defer m.crew.mu.Unlock()
	delete(m.crew.running, m.who)
	return len(m.crew.running) == 0
}

// drop gives up all that a member has that crashed. It has handled its last event before the
// instant that the host is told.
func (m *member) drop() {
	at := clock.Monotonic()
	m.node.release()
	m.confirm(at)
}

// confirm tells the host that an order is in effect. A process of its own is signalled.
func (n *node) confirm() {
	if m, ok := n.out.(*member); ok {
		m.confirm(clock.Monotonic())
	}
}

// pause stops a member until it is to go on. What comes for it meanwhile waits, as for a
// process that is stopped.
func (n *node) pause() (ends bool) {
	n.confirm()
	var held []control.Order
	for o := range n.orders {
		switch {
		case o.Resume:
			n.confirm()
			for _, h := range held {
				if n.obeyOrder(h) {
					return true
				}
			}
			return false
		case n.endsBy(o):
			return true
		case !o.Pause:
			held = append(held, o)
		}
	}
	return true
}

// watchBus tells members of faults of their connections.
func (c *crew) watchBus() {
	for range time.Tick(faultsEvery) {
		c.mu.Lock()
		var list []*member
		for _, m := range c.running {
			if m.up {
				list = append(list, m)
			}
		}
		c.mu.Unlock()
		for _, m := range list {
			if err := m.node.spoilt(); err != nil {
				select {
				case m.node.fault <- err:
				default: // it has been told
				}
			}
		}
	}
}
