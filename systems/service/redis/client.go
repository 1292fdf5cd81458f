package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
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

// Dial implements service.System.
func (*System) Dial(ctx context.Context, c service.Cluster, name string) (service.Client, error) {
	out := &client{life: service.NewLife(), name: name, session: sessionOf(c.Options)}
	for _, a := range c.Servers {
		out.servers = append(out.servers, connect(a))
	}
	for out.all(ctx, func(ctx context.Context, c *redis.Client) bool { return c.Ping(ctx).Err() == nil }) <
		out.majority() {
		if ctx.Err() != nil {
			return nil, errors.Join(errors.New("no majority of the servers answers"), ctx.Err(), out.Close())
		}
		pause(ctx)
	}
	return out, nil
}

// A client takes locks on all servers, and has one that it got on a majority of them: that of a single server
// is the case of one.
type client struct {
	life    service.Life
	servers []*redis.Client
	name    string
	session time.Duration
	mu      sync.Mutex
	held    map[service.Key]*lease
}

// A lease is a lock that is held.
type lease struct {
	value string
	stop  func()
}

func (c *client) majority() int { return len(c.servers)/2 + 1 }

// all has f done at all servers at once, and counts where it succeeded.
func (c *client) all(ctx context.Context, f func(context.Context, *redis.Client) bool) int {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	results := make(chan bool, len(c.servers))
	for _, s := range c.servers {
		go func() { results <- f(ctx, s) }()
	}
	n := 0
	for range c.servers {
		if <-results {
			n++
		}
	}
	return n
}

// pause waits before the next attempt, as Redlock wants for a random time, so that clients do not split the
// servers again.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(poll/2 + mathrand.N(poll)):
	}
}

// drift is what the clocks of the servers and of the client may differ by while a lock lasts: as Redlock's
// implementations have it, a hundredth and two milliseconds.
func drift(session time.Duration) time.Duration { return session/100 + 2*time.Millisecond }

// Acquire implements service.Client. What is seen of a lock begins with a word of the client's own.
func (c *client) Acquire(ctx context.Context, key service.Key, value string) (service.Grant, error) {
	ctx, free := c.life.Bind(ctx)
	defer free()
	value = fmt.Sprintf("%s/%s/%s", c.name, rand.Text(), value)
	for {
		begun := time.Now()
		n := c.all(ctx, func(ctx context.Context, s *redis.Client) bool {
			ok, err := s.SetNX(ctx, string(key), value, c.session).Result()
			return err == nil && ok
		})
		if n >= c.majority() && time.Since(begun) < c.session-drift(c.session) && ctx.Err() == nil {
			return c.keep(key, value, begun), nil
		}
		c.give(context.WithoutCancel(ctx), key, value) // also where the answer was lost
		if ctx.Err() != nil {
			return service.Grant{}, ctx.Err()
		}
		if pause(ctx); ctx.Err() != nil {
			return service.Grant{}, ctx.Err()
		}
	}
}

// keep has the lock that was got renewed.
func (c *client) keep(key service.Key, value string, begun time.Time) service.Grant {
	lost, stop := service.Keep(begun, c.session-drift(c.session), func(ctx context.Context) (bool, error) {
		var another sync.Map
		n := c.all(ctx, func(ctx context.Context, s *redis.Client) bool {
			ok, err := extend.Run(ctx, s, []string{string(key)}, value, c.session.Milliseconds()).Int()
			if err == nil && ok == 0 {
				another.Store(s, true)
			}
			return err == nil && ok == 1
		})
		others := 0
		another.Range(func(any, any) bool { others++; return true })
		if n < c.majority() && others <= len(c.servers)-c.majority() {
			return false, errors.New("no majority answers")
		}
		return n >= c.majority(), nil
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		c.held = map[service.Key]*lease{}
	}
	c.held[key] = &lease{value, stop}
	return service.Grant{Lost: lost}
}

// give takes the client's lock away from all servers, and counts those that answered.
func (c *client) give(ctx context.Context, key service.Key, value string) int {
	return c.all(ctx, func(ctx context.Context, s *redis.Client) bool {
		return unlock.Run(ctx, s, []string{string(key)}, value).Err() == nil
	})
}

// Release implements service.Client.
func (c *client) Release(ctx context.Context, key service.Key) error {
	c.mu.Lock()
	l := c.held[key]
	delete(c.held, key)
	c.mu.Unlock()
	if l == nil {
		return errors.New("the lock is not held")
	}
	l.stop()
	if n := c.give(ctx, key, l.value); n < c.majority() {
		return fmt.Errorf("%d of %d servers answer", n, len(c.servers))
	}
	return nil
}

// Observe implements service.Client: it asks again and again who has the lock on a majority.
func (c *client) Observe(ctx context.Context, key service.Key, seen func(service.Observed)) error {
	ctx, free := c.life.Bind(ctx)
	defer free()
	last := ""
	for ctx.Err() == nil {
		var mu sync.Mutex
		votes := map[string]int{}
		c.all(ctx, func(ctx context.Context, s *redis.Client) bool {
			v, err := s.Get(ctx, string(key)).Result()
			mu.Lock()
			defer mu.Unlock()
			if err == nil || errors.Is(err, redis.Nil) {
				votes[v]++
			}
			return true
		})
		for v, n := range votes {
			if n < c.majority() || v == last {
				continue
			}
			o := service.Observed{}
			if parts := strings.SplitN(v, "/", 3); len(parts) == 3 {
				o.Value = parts[2]
			}
			seen(o)
			last = v
		}
		pause(ctx)
	}
	return ctx.Err()
}

// Write implements service.Client.
func (*client) Write(context.Context, int64, string) error { return service.ErrUnfenced }

// Close implements service.Client.
func (c *client) Close() error {
	c.life.End()
	c.mu.Lock()
	keys := make([]service.Key, 0, len(c.held))
	for k := range c.held {
		keys = append(keys, k)
	}
	c.mu.Unlock()
	for _, k := range keys {
		_ = c.Release(context.Background(), k) // else it ends by itself
	}
	var errs []error
	for _, s := range c.servers {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
