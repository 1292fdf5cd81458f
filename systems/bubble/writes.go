package bubble

import (
	"context"
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Writer takes writes of clients, which Spec.Writes declares.
type Writer interface {
	Subject
	// Write has the library make one write durable, through its own API, and returns nil when the library
	// acknowledges it. The process may not lead, or no longer: that is an error. When ctx ends, nobody waits
	// for the answer any more; Write must return when the process has ended, at the latest.
	Write(ctx context.Context) error
}

// writable says whether what makes processes and the Spec agree on whether they take writes.
func (w *world) writable(s Subject) error {
	_, can := s.(Writer)
	if declared := w.setup.Alg.Spec.Writes; can != declared {
		return fmt.Errorf("%s: Spec.Writes is %t, but %T has a method Write: %t", w.setup.Alg.ID, declared, s, can)
	}
	return nil
}

// round has the client beside each process that is up begin a write, and later again; under the lock.
func (w *world) round() {
	clients := uint64(0)
	for _, p := range w.running {
		if p != nil {
			clients++
		}
	}
	for _, p := range w.running {
		if p == nil {
			continue
		}
		c := &client{process: p, leader: p.leader, began: w.now(), round: clients}
		if p.leader != algo.None {
			c.asks = w.running[p.leader-1]
		}
		if c.asks == nil || c.cut() {
			c.answer(false)
			continue
		}
		go c.write()
	}
	w.push(w.now()+w.setup.WritesEvery, harness.Application, algo.None, w.round)
}

// A client makes one write.
type client struct {
	process *Process // beside which it is
	leader  algo.ID  // whom that names
	asks    *Process // nil: there is none, or it is down
	began   time.Duration
	round   uint64 // how many clients began one at that instant
}

// cut says whether a link between the client and the leader has been cut in either direction since it began; under
// the lock, as are all methods but write.
func (c *client) cut() bool {
	w, p, q := c.process.world, uint32(c.process.ID), uint32(c.leader)
	return w.cuts.Severed(p, q, c.began, w.now()) || w.cuts.Severed(q, p, c.began, w.now())
}

// write asks the leader and waits: for it to go on if it is paused, and for its answer. A crash of either ends it.
func (c *client) write() {
	w := c.process.world
	ctx, cancel := context.WithTimeout(context.Background(), w.setup.WriteLimit())
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		c.asks.resumed.Broadcast()
	})()
	acknowledged := c.awake(ctx) && c.ask(ctx) && c.awake(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	c.answer(acknowledged && c.asks.alive() && c.process.alive() && !c.cut())
}

// awake waits until the leader is not paused; false: it has not gone on in time, or is gone.
func (c *client) awake(ctx context.Context) bool {
	w := c.process.world
	w.mu.Lock()
	defer w.mu.Unlock()
	for c.asks.paused && c.asks.alive() && ctx.Err() == nil {
		c.asks.resumed.Wait()
	}
	return c.asks.alive() && ctx.Err() == nil
}

// ask has the library write, and says whether it acknowledges that in time.
func (c *client) ask(ctx context.Context) bool {
	answered := make(chan error, 1)
	go func() {
		<-c.asks.started
		answered <- c.asks.subject.(Writer).Write(ctx)
	}()
	select {
	case err := <-answered:
		return err == nil
	case <-ctx.Done():
	case <-c.asks.gone:
	case <-c.process.gone:
	}
	return false
}

// answer records how the write ended.
func (c *client) answer(acknowledged bool) {
	r := trace.Record{Type: trace.Unwritten, Process: uint32(c.process.ID), Incarnation: c.process.Incarnation,
		Peer: uint32(c.leader), Arg: uint64(c.began), Seq: c.round}
	if acknowledged {
		r.Type = trace.Written
	}
	c.process.world.record(r)
}
