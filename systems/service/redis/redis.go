// Package redis runs Redis: the lock of a single server, SET NX PX with a value of the client's own, and
// Redlock, which takes that lock on a majority of servers that know nothing of each other.
package redis

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/conclave-bench/conclave/systems/service"
)

// A System is a single Redis server, or several with Redlock.
type System struct{ Redlock bool }

const port = 6379

// About implements service.System.
func (s *System) About() service.About {
	if s.Redlock {
		return service.About{Name: "redlock", Title: "Redlock", Packages: packages, Sizes: []int{3, 5}}
	}
	return service.About{Name: "redis", Title: "Redis", Packages: packages, Sizes: []int{1}}
}

var packages = []string{"redis-server"}

// Version implements service.System.
func (*System) Version(ctx context.Context) (string, error) {
	return service.Version(ctx, " v=", "redis-server", "redis-server")
}

// defaults has how long a lock lasts: Redisson's lockWatchdogTimeout.
var defaults = service.Options{Session: 30 * time.Second}

// poll is how often a waiting client asks again: what the lock of redis-py sleeps.
const poll = 100 * time.Millisecond

// Facts implements service.System.
func (*System) Facts(o service.Options) service.Facts {
	return service.Facts{Fsync: !o.NoSync, Session: o.Or(defaults).Session, Poll: poll,
		Client: service.Library("github.com/redis/go-redis/v9")}
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

func connect(at string) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: at, MaxRetries: -1,
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
	c := connect(m.At(port))
	defer func() { _ = c.Close() }() // nothing was written
	return c.Ping(ctx).Err()
}
