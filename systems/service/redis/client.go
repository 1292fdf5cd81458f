package redis

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/conclave-bench/conclave/systems/service"
)

// The scripts that Redis's documentation gives: a lock is given back, or lasts longer, only if it is the
// client's own.
var (
	unlock = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then
		return redis.call("del", KEYS[1]) else return 0 end`)
	extend = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then
		return redis.call("pexpire", KEYS[1], ARGV[2]) else return 0 end`)
)

// A client takes locks on all servers, and has one that it got on a majority of them: that of a single server
// is the case of one. Redis has no election, so that it is a second lock.
type client struct {
	service.Leases
	servers []*redis.Client
	session time.Duration
}

// Dial implements service.System.
func (*System) Dial(ctx context.Context, c service.Cluster, name string) (service.Client, error) {
	out := &client{session: c.Options.Or(defaults).Session}
	out.Leases = service.Leases{Store: out, Name: name, Session: out.session - drift(out.session),
		Patience: patience, Poll: poll}
	for _, at := range c.At(port) {
		out.servers = append(out.servers, connect(at))
	}
	err := out.most(ctx, func(ctx context.Context, c *redis.Client) error { return c.Ping(ctx).Err() })
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return out, nil
}

// drift is what the clocks of the servers and of the client may differ by while a lock lasts: as Redlock's
// implementations have it, a hundredth and two milliseconds.
func drift(session time.Duration) time.Duration { return session/100 + 2*time.Millisecond }

// most has f done at all servers at once. It is nil if that succeeded on a majority, and service.ErrLost if
// it was ErrLost on so many that no majority is left.
func (c *client) most(ctx context.Context, f func(context.Context, *redis.Client) error) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	results := make(chan error, len(c.servers))
	for _, s := range c.servers {
		go func() { results <- f(ctx, s) }()
	}
	done, lost, majority := 0, 0, len(c.servers)/2+1
	last := error(nil)
	for range c.servers {
		switch err := <-results; {
		case err == nil:
			done++
		case errors.Is(err, service.ErrLost):
			lost++
		default:
			last = err
		}
	}
	switch {
	case done >= majority:
		return nil
	case lost > len(c.servers)-majority:
		return service.ErrLost
	}
	return errors.Join(errors.New("no majority of the servers answers"), last)
}

// own runs a script about the client's own value.
func (c *client) own(ctx context.Context, script *redis.Script, key service.Key, args ...any) error {
	return c.most(ctx, func(ctx context.Context, s *redis.Client) error {
		done, err := script.Run(ctx, s, []string{string(key)}, args...).Int()
		if err == nil && done == 0 {
			return service.ErrLost
		}
		return err
	})
}

// Create implements service.Store. Where it was too few servers, those are given back.
func (c *client) Create(ctx context.Context, key service.Key, value string) (uint64, error) {
	err := c.most(ctx, func(ctx context.Context, s *redis.Client) error {
		ok, err := s.SetNX(ctx, string(key), value, c.session).Result()
		if err == nil && !ok {
			return service.ErrTaken
		}
		return err
	})
	if err != nil {
		_ = c.own(context.WithoutCancel(ctx), unlock, key, value) // also where the answer was lost
		err = service.ErrTaken
	}
	return 0, err
}

// Get implements service.Store: what a majority has.
func (c *client) Get(ctx context.Context, key service.Key) (string, uint64, error) {
	var mu sync.Mutex
	votes := map[string]int{}
	err := c.most(ctx, func(ctx context.Context, s *redis.Client) error {
		v, err := s.Get(ctx, string(key)).Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		votes[v]++
		return nil
	})
	for v, n := range votes {
		if n > len(c.servers)/2 {
			return v, 0, nil
		}
	}
	return "", 0, err // no majority has the same
}

// Renew implements service.Store.
func (c *client) Renew(ctx context.Context, key service.Key, value string, _ uint64) (uint64, error) {
	return 0, c.own(ctx, extend, key, value, c.session.Milliseconds())
}

// Delete implements service.Store.
func (c *client) Delete(ctx context.Context, key service.Key, value string, _ uint64) error {
	return c.own(ctx, unlock, key, value)
}

// Watch implements service.Store: nobody tells a client that waits. It asks again after a random time, as
// Redlock wants, so that clients do not split the servers again.
func (c *client) Watch(context.Context, service.Key) (func(context.Context) error, func(), error) {
	return func(ctx context.Context) error { return service.Wait(ctx, poll/2+rand.N(poll)) }, func() {}, nil
}

// Write implements service.Client.
func (*client) Write(context.Context, int64, string) error { return service.ErrUnfenced }

// Close implements service.Client.
func (c *client) Close() error {
	var errs []error
	for _, s := range c.servers {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
