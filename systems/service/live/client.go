package live

import (
	"errors"
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/systems/service"
)

// A client is the process of a trial that takes the lock of a system.
type client struct {
	connection
	orders chan order // in their order
}

// An order is what the application wants.
type order bool

const (
	acquire order = true
	release order = false
)

var (
	_ algo.Live  = (*client)(nil)
	_ algo.Mutex = (*client)(nil)
)

// Open connects the client.
func (c *client) Open(at algo.Site, h algo.Host) error {
	if err := c.dial(at, h); err != nil {
		return err
	}
	c.orders = make(chan order, 2)
	go c.serve()
	return nil
}

// Request has the lock acquired.
func (c *client) Request(algo.Env) { c.orders <- acquire }

// Release has it given back.
func (c *client) Release(algo.Env) { c.orders <- release }

// serve does what the application wants, one after the other.
func (c *client) serve() {
	defer close(c.ended)
	held := tenure{}
	for {
		select {
		case <-c.ctx.Done():
			return
		case o := <-c.orders:
			if o == acquire {
				held = c.enter()
				continue
			}
			c.release(held)
		}
	}
}

// enter tries until the client holds the lock.
func (c *client) enter() tenure {
	g, err := c.acquire(service.Lock, "")
	if err != nil {
		return tenure{}
	}
	c.post(func(env algo.LiveEnv) {
		if g.Token > 0 {
			env.Logf("token %d", g.Token)
		}
		env.Granted()
	})
	return tenure{g, time.Now()}
}

// A tenure is a grant, and when it was got.
type tenure struct {
	service.Grant
	began time.Time
}

// late says whether the holder stood still for so long that its lock may be another's: longer than the time
// in which a session is renewed. Where the lock goes with the connection, that is a second.
func (c *client) late(held tenure) bool {
	return time.Since(held.began) > max(c.system.Facts(options(c.Params)).Session/3, time.Second)
}

// release gives the lock back. One that is late writes first, to see whether a late write is refused; all
// others do not, since the write would be a part of what a hand-over takes.
func (c *client) release(held tenure) {
	select {
	case <-held.Lost:
		c.log("the lock was lost")
	default:
	}
	if c.late(held) {
		c.write(held)
	}
	if err := c.conn.Release(c.ctx, service.Lock); err != nil && c.ctx.Err() == nil {
		c.log("release: " + err.Error())
	}
}

// write writes as the holder. What a system answers that cannot refuse late writes is no news.
func (c *client) write(held tenure) {
	begun := time.Now()
	err := c.conn.Write(c.ctx, held.Token, fmt.Sprint(c.ID))
	refused := errors.Is(err, service.ErrFenced)
	switch {
	case err == nil || refused:
		c.post(func(env algo.LiveEnv) { env.Wrote(time.Since(begun), !refused) })
	case !errors.Is(err, service.ErrUnfenced) && c.ctx.Err() == nil:
		c.log("write: " + err.Error())
	}
}
