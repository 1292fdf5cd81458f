package live

import (
	"context"
	"fmt"
	"strconv"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/systems/service"
)

// A candidate is the process of a trial that campaigns for the leadership that a system grants to one of its
// clients, whenever it does not have it. It names the leader that it observes, and itself while it leads.
type candidate struct {
	connection
	leads bool    // during events, as is seen
	seen  algo.ID // the leader last observed
}

var (
	_ algo.Live    = (*candidate)(nil)
	_ algo.Elector = (*candidate)(nil)
)

// Elect implements algo.Elector. A candidate always campaigns.
func (*candidate) Elect(algo.Env) {}

// Open connects the candidate, and has it campaign from then on.
func (c *candidate) Open(at algo.Site, h algo.Host) error {
	if err := c.dial(at, h); err != nil {
		return err
	}
	observed := make(chan struct{})
	go func() {
		defer close(observed)
		c.observe(c.ctx, func(leader algo.ID) {
			c.post(func(env algo.LiveEnv) { c.turn(env, c.leads, leader) })
		})
	}()
	go func() {
		defer close(c.ended)
		c.campaign()
		<-observed
	}()
	return nil
}

// turn is what follows from whether this process leads, and from whom it has last seen to lead. A process
// that leads names itself until it learns that it does not, as applications do.
func (c *candidate) turn(env algo.Env, leads bool, seen algo.ID) {
	before := c.named()
	c.leads, c.seen = leads, seen
	if now := c.named(); now != before {
		env.Elected(now, 0)
	}
}

func (c *candidate) named() algo.ID {
	if c.leads {
		return c.ID
	}
	return c.seen
}

// campaign leads whenever it can, for as long as it can.
func (c *candidate) campaign() {
	for c.ctx.Err() == nil {
		held, err := c.acquire(service.Election, fmt.Sprint(c.ID))
		if err != nil {
			return
		}
		c.post(func(env algo.LiveEnv) { c.turn(env, true, c.seen) })
		select {
		case <-c.ctx.Done():
			return
		case <-held.Lost:
		}
		c.post(func(env algo.LiveEnv) {
			env.Logf("the leadership was lost")
			seen := c.seen
			if seen == c.ID {
				seen = algo.None
			}
			c.turn(env, false, seen)
		})
		_ = c.conn.Release(c.ctx, service.Election) // it is lost already, and this clears what may be left
	}
}

// observe has seen called with each leader, over a connection of its own, until ctx ends.
func (c *connection) observe(ctx context.Context, seen func(algo.ID)) {
	for ctx.Err() == nil {
		conn, err := service.Dial(ctx, c.system, c.cluster, c.name+"-observer")
		if err == nil {
			err = conn.Observe(ctx, service.Election, func(o service.Observed) {
				leader, err := strconv.Atoi(o.Value)
				if err != nil {
					leader = int(algo.None)
				}
				seen(algo.ID(leader))
			})
			_ = conn.Close() // nothing was written
		}
		if err != nil && ctx.Err() == nil {
			c.log("observe: " + err.Error())
		}
		_ = service.Wait(ctx, again) // the loop sees that it has ended
	}
}

// A store is a server behind candidates. It names the client that leads, as the store of the algorithm lease
// does.
type store struct {
	*server
	witness connection
	stop    context.CancelFunc
	over    chan struct{}
}

// Open starts the server, and has it observe.
func (s *store) Open(at algo.Site, h algo.Host) error {
	if err := s.server.Open(at, h); err != nil {
		return err
	}
	s.witness = connection{Config: s.Config, system: s.system}
	s.witness.meet(at, h)
	ctx, stop := context.WithCancel(context.Background())
	s.stop, s.over = stop, make(chan struct{})
	go func() {
		defer close(s.over)
		s.witness.observe(ctx, func(leader algo.ID) {
			h.Post(func(env algo.LiveEnv) { env.Elected(leader, 0) })
		})
	}()
	return nil
}

// Close ends the observation, and the programs.
func (s *store) Close() {
	if s.stop != nil {
		s.stop()
		<-s.over
	}
	s.server.Close()
}
