// Package redis runs Redis: the lock of a single server, SET NX PX with a value of the client's own, and
// Redlock, which takes that lock on a majority of servers that know nothing of each other.
package redis

import (
	"context"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/conclave-bench/conclave/systems/service"
)

// A System is a single Redis server, or several with Redlock.
type System struct{ Redlock bool }

const port = 6379

// Name implements service.System.
func (s *System) Name() string {
	if s.Redlock {
		return "redlock"
	}
	return "redis"
}

// Title implements service.System.
func (s *System) Title() string {
	if s.Redlock {
		return "Redlock"
	}
	return "Redis"
}

// Packages implements service.System.
func (*System) Packages() []string { return []string{"redis-server"} }

// Sizes implements service.System.
func (s *System) Sizes() []int {
	if s.Redlock {
		return []int{3, 5}
	}
	return []int{1}
}

// Version implements service.System.
func (*System) Version(ctx context.Context) (string, error) {
	path, err := service.Find("redis-server", "redis-server")
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	for _, word := range strings.Fields(string(out)) {
		if v, is := strings.CutPrefix(word, "v="); is {
			return v, nil
		}
	}
	return "", fmt.Errorf("redis-server --version: %w", err)
}

// session is how long a lock lasts by default: Redisson's lockWatchdogTimeout.
const session = 30 * time.Second

// poll is how often a waiting client asks again: what the lock of redis-py sleeps.
const poll = 100 * time.Millisecond

// Facts implements service.System.
func (*System) Facts(o service.Options) service.Facts {
	return service.Facts{Fsync: !o.NoSync, Session: sessionOf(o), Poll: poll,
		Client: service.Library("github.com/redis/go-redis/v9")}
}

func sessionOf(o service.Options) time.Duration {
	if o.Session > 0 {
		return o.Session
	}
	return session
}

// Prepare implements service.System: Redis makes its files itself.
func (*System) Prepare(context.Context, service.Member) error { return nil }

// Commands implements service.System. Without fsync, it is Redis as it is by default: it saves a snapshot now
// and then, and forgets what came later in a crash.
func (*System) Commands(m service.Member) []service.Command {
	args := []string{"--port", fmt.Sprint(port), "--bind", m.Addr.String(), "--dir", m.Folder,
		"--daemonize", "no", "--protected-mode", "no"}
	if !m.Options.NoSync {
		args = append(args, "--appendonly", "yes", "--appendfsync", "always")
	}
	return []service.Command{{Name: "redis", Path: "redis-server", Args: args}}
}

// patience is how long a server that does not answer is waited for. Redlock's description asks for much less
// than the time that a lock lasts.
const patience = 300 * time.Millisecond

func connect(a netip.Addr) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: netip.AddrPortFrom(a, port).String(), MaxRetries: -1,
		DialTimeout: patience, ReadTimeout: patience, WriteTimeout: patience, DisableIdentity: true,
		DialerRetries: 1, ContextTimeoutEnabled: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}})
}

// silent drops what the library logs.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

func init() { redis.SetLogger(silent{}) }

// Ready implements service.System.
func (*System) Ready(ctx context.Context, m service.Member) error {
	c := connect(m.Addr)
	defer func() { _ = c.Close() }() // nothing was written
	return c.Ping(ctx).Err()
}

// Leader implements service.System: there is none, so that the first server stands for it. A server of
// Redlock knows of no others.
func (s *System) Leader(ctx context.Context, m service.Member) (service.Leadership, error) {
	if err := s.Ready(ctx, m); err != nil {
		return service.Leadership{Leader: -1}, err
	}
	return service.Leadership{Leader: 0}, nil
}
