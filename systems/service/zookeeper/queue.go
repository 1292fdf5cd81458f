package zookeeper

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/conclave-bench/conclave/systems/service"
)

// Acquire implements service.Client. The client stands in a queue until it is its turn: the recipe of
// ZooKeeper's documentation, in which each waits for the one before, so that no herd wakes up.
func (c *client) Acquire(ctx context.Context, key service.Key, value string) (service.Grant, error) {
	node := queueOf(key)
	ctx, free := c.life.Bind(ctx)
	defer free()
	if err := c.clear(ctx, node); err != nil {
		return service.Grant{}, err
	}
	c.mu.Lock()
	lost := c.gone
	c.dirty = true
	c.mu.Unlock()
	path := ""
	err := await(ctx, func() (err error) {
		own, err := c.conn.Create(node+"/"+c.name+"-", []byte(value), zk.FlagEphemeral|zk.FlagSequence,
			zk.WorldACL(zk.PermAll))
		if ctx.Err() != nil && err == nil { // nobody waits for it any more
			return c.conn.Delete(own, -1)
		}
		path = own
		return err
	})
	if err == nil {
		err = c.turn(ctx, node, path)
	}
	if err != nil {
		within, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer stop()
		return service.Grant{}, errors.Join(err, c.clear(within, node))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dirty = false
	c.held[key] = &place{path, 1 + int64(number(path))}
	return service.Grant{Token: c.held[key].token, Lost: lost}, nil
}

// number is that of a node in its queue.
func number(path string) int {
	n, err := strconv.Atoi(path[strings.LastIndexByte(path, '-')+1:])
	if err != nil {
		return -1
	}
	return n
}

// turn waits until a node is the first of its queue.
func (c *client) turn(ctx context.Context, node, path string) error {
	for {
		var queue []string
		var before bool
		var event <-chan zk.Event
		err := await(ctx, func() (err error) {
			queue, _, err = c.conn.Children(node)
			return err
		})
		if err != nil {
			return err
		}
		slices.SortFunc(queue, func(a, b string) int { return number(a) - number(b) })
		at := slices.Index(queue, strings.TrimPrefix(path, node+"/"))
		switch {
		case at < 0:
			return errors.New("the session is over, and with it the place in the queue")
		case at == 0:
			return nil
		}
		err = await(ctx, func() (err error) {
			before, _, event, err = c.conn.ExistsW(node + "/" + queue[at-1])
			return err
		})
		if err != nil {
			return err
		}
		if !before {
			continue
		}
		select {
		case e := <-event:
			if e.Err != nil {
				return e.Err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// clear removes the nodes of this client that an attempt may have left in a queue.
func (c *client) clear(ctx context.Context, node string) error {
	c.mu.Lock()
	dirty := c.dirty
	c.mu.Unlock()
	if !dirty {
		return nil
	}
	return await(ctx, func() error {
		queue, _, err := c.conn.Children(node)
		if err != nil {
			return err
		}
		for _, n := range queue {
			if !strings.HasPrefix(n, c.name+"-") {
				continue
			}
			if err := c.conn.Delete(node+"/"+n, -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
				return err
			}
		}
		return nil
	})
}

// Release implements service.Client: the client leaves the queue.
func (c *client) Release(ctx context.Context, key service.Key) error {
	ctx, free := c.life.Bind(ctx)
	defer free()
	c.mu.Lock()
	at := c.held[key]
	c.dirty = true // until it is known that it is not there
	c.mu.Unlock()
	if at == nil {
		return errors.New("the lock is not held")
	}
	err := await(ctx, func() error { return c.conn.Delete(at.path, -1) })
	if errors.Is(err, zk.ErrNoNode) {
		return errors.New("the lock was lost")
	}
	if err == nil {
		c.mu.Lock()
		c.dirty = false
		c.mu.Unlock()
	}
	return err
}
