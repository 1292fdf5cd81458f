package live

import (
	"context"
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/systems/service"
)

// A connection is what processes that are clients of a system have in common.
type connection struct {
	algo.Config
	system  service.System
	cluster service.Cluster
	name    string
	post    func(func(algo.LiveEnv))
	conn    service.Client
	ctx     context.Context
	cancel  context.CancelFunc
	ended   chan struct{} // when the process does nothing any more
}

// Receive implements algo.Process: there are no messages.
func (*connection) Receive(algo.Env, algo.ID, algo.Message) {}

// meet notes where the process lives.
func (c *connection) meet(at algo.Site, h algo.Host) {
	c.post = h.Post
	c.cluster = service.Cluster{Servers: at.ServerAddresses(), Options: options(c.Params)}
	c.name = fmt.Sprintf("p%d-%d", c.ID, c.Incarnation)
}

// serversFirst is how much longer than a server a client waits: that a server does not start is the better
// reason.
const serversFirst = 4 * time.Second

// dial connects. After an error the process has ended.
func (c *connection) dial(at algo.Site, h algo.Host) (err error) {
	c.meet(at, h)
	c.ended = make(chan struct{})
	c.ctx, c.cancel = context.WithCancel(context.Background())
	within, stop := context.WithTimeout(c.ctx, c.Params.Duration(starting)+serversFirst)
	defer stop()
	if c.conn, err = service.Dial(within, c.system, c.cluster, c.name); err != nil {
		close(c.ended)
		return fmt.Errorf("%s, client: %w", c.system.About().Name, err)
	}
	return nil
}

// again is how long a client waits after an error, before it tries again.
const again = 20 * time.Millisecond

// acquire tries until the client holds key. It fails only at the end of the process.
func (c *connection) acquire(key service.Key, value string) (service.Grant, error) {
	last := ""
	for {
		g, err := c.conn.Acquire(c.ctx, key, value)
		if err == nil {
			return g, nil
		}
		if c.ctx.Err() != nil {
			return g, c.ctx.Err()
		}
		if text := proc.Harmless(err.Error()); text != last {
			last = text
			c.log("acquire: " + text)
		}
		_ = service.Wait(c.ctx, again) // the loop sees that it has ended
	}
}

func (c *connection) log(text string) {
	text = proc.Harmless(text)
	c.post(func(env algo.LiveEnv) { env.Logf("%s", text) })
}

// Close ends the connection.
func (c *connection) Close() {
	c.cancel()
	if c.conn != nil {
		_ = c.conn.Close() // what it held ends with it
	}
	<-c.ended
}
