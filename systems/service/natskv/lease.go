package natskv

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/conclave-bench/conclave/systems/service"
)

// A lease is a key that this client has created.
type lease struct {
	value    []byte
	token    uint64     // the revision with which it was created
	mu       sync.Mutex // for revision
	revision uint64     // the latest
	stop     func()
}

// Acquire implements service.Client: it creates a key, or waits until it has gone, and tries again. NATS has no
// election among clients, so that it is a second lock.
func (c *client) Acquire(ctx context.Context, key service.Key, value string) (service.Grant, error) {
	ctx, free := c.life.Bind(ctx)
	defer free()
	own := []byte(c.name + "/" + rand.Text() + "/" + value)
	var watch jetstream.KeyWatcher
	defer func() {
		if watch != nil {
			_ = watch.Stop() // it ends with the connection, at the latest
		}
	}()
	for {
		begun := time.Now()
		revision, err := c.create(ctx, key, own)
		switch {
		case err == nil:
			return c.keep(key, own, revision, begun), nil
		case ctx.Err() != nil:
			go func() { _ = c.forget(key, own) }() // else it goes by itself
			return service.Grant{}, ctx.Err()
		case !conflict(err):
			return service.Grant{}, errors.Join(err, c.forget(key, own))
		}
		if watch == nil {
			if watch, err = c.kv.Watch(ctx, string(key)); err != nil {
				return service.Grant{}, err
			}
		}
		if !c.free(ctx, watch) {
			return service.Grant{}, ctx.Err()
		}
	}
}

// conflict says whether a key has another revision than was expected. A stream with copies says so in another
// way than one without.
func conflict(err error) bool {
	e := (*jetstream.APIError)(nil)
	return errors.As(err, &e) && (e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// create creates a key. An answer that is lost is asked for.
func (c *client) create(ctx context.Context, key service.Key, own []byte) (uint64, error) {
	within, stop := context.WithTimeout(ctx, patience)
	defer stop()
	revision, err := c.kv.Create(within, string(key), own)
	if err == nil {
		return revision, nil
	}
	if e, seen := c.kv.Get(ctx, string(key)); seen == nil && string(e.Value()) == string(own) {
		return e.Revision(), nil
	}
	return 0, err
}

// forget removes what an attempt that failed may have left, if anything did.
func (c *client) forget(key service.Key, own []byte) error {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	e, err := c.kv.Get(ctx, string(key))
	if err != nil || string(e.Value()) != string(own) {
		return nil // there is nothing, or it cannot be known: it goes by itself
	}
	return c.kv.Delete(ctx, string(key), jetstream.LastRevision(e.Revision()))
}

// free waits until a watch says that its key is not there, or has not said anything for a session; false: ctx
// has ended.
func (c *client) free(ctx context.Context, watch jetstream.KeyWatcher) bool {
	there := false
	for {
		select {
		case e := <-watch.Updates():
			switch {
			case e == nil && !there: // that was all there is
				return true
			case e == nil:
			case e.Operation() != jetstream.KeyValuePut:
				return true
			default:
				there = true
			}
		case <-time.After(c.session):
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// keep has a key renewed.
func (c *client) keep(key service.Key, own []byte, revision uint64, begun time.Time) service.Grant {
	l := &lease{value: own, token: revision, revision: revision}
	lost, stop := service.Keep(begun, c.session, func(ctx context.Context) (bool, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		ctx, stop := context.WithTimeout(ctx, patience)
		defer stop()
		next, err := c.kv.Update(ctx, string(key), l.value, l.revision)
		if err == nil {
			l.revision = next
			return true, nil
		}
		return c.refresh(ctx, key, l)
	})
	l.stop = stop
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held[key] = l
	return service.Grant{Token: int64(revision), Lost: lost}
}

// refresh learns the revision of a lease after an answer was lost, and whether it is still this client's.
func (c *client) refresh(ctx context.Context, key service.Key, l *lease) (bool, error) {
	e, err := c.kv.Get(ctx, string(key))
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return false, nil
	case err != nil:
		return false, err
	case string(e.Value()) != string(l.value):
		return false, nil
	}
	l.revision = e.Revision()
	return false, errors.New("the last renewal was not seen to succeed")
}

// Release implements service.Client.
func (c *client) Release(ctx context.Context, key service.Key) error {
	c.mu.Lock()
	l := c.held[key]
	if l == nil || l.stop == nil {
		c.mu.Unlock()
		return errors.New("the lock is not held")
	}
	end := l.stop
	l.stop = nil
	c.mu.Unlock()
	end()
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		within, stop := context.WithTimeout(ctx, patience)
		err := c.kv.Delete(within, string(key), jetstream.LastRevision(l.revision))
		if err == nil {
			stop()
			return nil
		}
		still, seen := c.refresh(within, key, l)
		stop()
		if !still && seen == nil {
			return errors.New("the lock was lost, or this was done twice")
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
