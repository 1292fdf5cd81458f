package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/conclave-bench/conclave/systems/service"
)

// valueNode is the node of what is written.
const valueNode = "/value"

// queueOf is the node whose children are those who hold a key or wait for it.
func queueOf(key service.Key) string { return "/" + string(key) }

// A client has a session, to which its nodes belong.
type client struct {
	life    service.Life
	conn    *zk.Conn
	name    string
	session time.Duration
	mu      sync.Mutex
	gone    chan struct{} // closed when the present session may be over
	open    bool          // gone is open
	timer   *time.Timer   // closes it
	opened  chan struct{} // closed when there is a first session
	held    map[service.Key]*place
	dirty   bool     // a node of ours may stand in a queue
	lost    []string // nodes that are to be removed as soon as that can be done
}

// A place is where this client stands, or stood last, in the queue of a node.
type place struct {
	path  string
	token int64
}

// silent drops what the library logs.
type silent struct{}

func (silent) Printf(string, ...any) {}

// Dial implements service.System.
func (System) Dial(ctx context.Context, cluster service.Cluster, name string) (service.Client, error) {
	var servers []string
	for _, a := range cluster.Servers {
		servers = append(servers, netip.AddrPortFrom(a, clientPort).String())
	}
	c := &client{life: service.NewLife(), name: name, session: sessionOf(cluster.Options),
		gone: make(chan struct{}), open: true, opened: make(chan struct{}), held: map[service.Key]*place{}}
	conn, _, err := zk.Connect(servers, c.session, zk.WithLogger(silent{}), zk.WithLogInfo(false),
		zk.WithEventCallback(c.happened))
	if err != nil {
		return nil, err
	}
	c.conn = conn
	select {
	case <-c.opened:
	case <-ctx.Done():
		return nil, errors.Join(fmt.Errorf("no session: %w", ctx.Err()), c.Close())
	}
	for _, node := range []string{queueOf(service.Lock), queueOf(service.Election), valueNode} {
		err := await(ctx, func() error {
			_, err := conn.Create(node, nil, 0, zk.WorldACL(zk.PermAll))
			return err
		})
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// await runs f, which the library does not let be ended, and no longer waits for it when ctx ends.
func await(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// happened follows the session. The library notices that a server is silent after two thirds of the session,
// so that another third later nobody knows whether it is over.
func (c *client) happened(e zk.Event) {
	if e.Type != zk.EventSession {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.State {
	case zk.StateHasSession:
		if c.timer != nil {
			c.timer.Stop()
			c.timer = nil
		}
		if !c.open {
			c.gone, c.open = make(chan struct{}), true
			go c.forsake()
		}
		select {
		case <-c.opened:
		default:
			close(c.opened)
		}
	case zk.StateDisconnected:
		if c.timer == nil {
			c.timer = time.AfterFunc(c.session/3, c.over)
		}
	case zk.StateExpired:
		go c.over()
	}
}

// over says that the session is over, or may be.
func (c *client) over() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open {
		close(c.gone)
		c.open, c.dirty = false, true
		for _, at := range c.held {
			c.lost = append(c.lost, at.path)
		}
	}
}

// forsake removes what this client has said to be lost: the session has outlived the silence, and its nodes
// with it.
func (c *client) forsake() {
	c.mu.Lock()
	lost := c.lost
	c.lost = nil
	c.mu.Unlock()
	for _, path := range lost {
		_ = c.conn.Delete(path, -1) // else the next attempt does that
	}
}

// Observe implements service.Client.
func (c *client) Observe(ctx context.Context, key service.Key, seen func(service.Observed)) error {
	node := queueOf(key)
	ctx, free := c.life.Bind(ctx)
	defer free()
	last := service.Observed{}
	for ctx.Err() == nil {
		var queue []string
		var event <-chan zk.Event
		now := service.Observed{}
		err := await(ctx, func() (err error) {
			if queue, _, event, err = c.conn.ChildrenW(node); err != nil || len(queue) == 0 {
				return err
			}
			first := slices.MinFunc(queue, func(a, b string) int { return number(a) - number(b) })
			value, _, err := c.conn.Get(node + "/" + first)
			now = service.Observed{Value: string(value), Token: 1 + int64(number(first))}
			return err
		})
		if err != nil {
			event = nil
			now = last
		}
		if now != last {
			seen(now)
			last = now
		}
		wait := time.Hour
		if event == nil {
			wait = 100 * time.Millisecond
		}
		select {
		case <-ctx.Done():
		case <-event:
		case <-time.After(wait):
		}
	}
	return ctx.Err()
}

// Write implements service.Client: all or nothing, the node that stands for the lock is there, and the value
// is written.
func (c *client) Write(ctx context.Context, token int64, value string) error {
	c.mu.Lock()
	at := c.held[service.Lock]
	c.mu.Unlock()
	if at == nil || at.token != token {
		return service.ErrFenced
	}
	err := await(ctx, func() error {
		_, err := c.conn.Multi(&zk.CheckVersionRequest{Path: at.path, Version: -1},
			&zk.SetDataRequest{Path: valueNode, Data: []byte(value), Version: -1})
		return err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return service.ErrFenced
	}
	return err
}

// Close implements service.Client.
func (c *client) Close() error {
	c.life.End()
	c.conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
	return nil
}
