package postgresql

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/conclave-bench/conclave/systems/service"
)

// connect connects to the first server that answers and is of the kind that is wanted, such as "read-write".
func connect(ctx context.Context, at []string, kind string) (*pgx.Conn, error) {
	url := "postgres://postgres@" + strings.Join(at, ",") +
		"/postgres?sslmode=disable&connect_timeout=1&target_session_attrs=" + kind
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	// A wait that ends asks the server to cancel it, so that the connection, and what it holds, stays.
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: time.Second}
	}
	return pgx.ConnectConfig(ctx, config)
}

// ids are the numbers of the advisory locks, and of the records beside them.
var ids = map[service.Key]int{service.Lock: 1, service.Election: 2}

// schema has a record beside each lock: its token grows with each holder. One client at a time makes it.
const schema = `SELECT pg_advisory_xact_lock(3);
	CREATE TABLE IF NOT EXISTS locks (id int PRIMARY KEY, token bigint NOT NULL, value text NOT NULL);
	INSERT INTO locks VALUES (1, 0, ''), (2, 0, '') ON CONFLICT DO NOTHING`

// A client has a connection, to which its locks belong.
type client struct {
	cluster service.Cluster
	mu      sync.Mutex // for the connection, which takes one question at a time
	conn    *pgx.Conn
	held    map[service.Key]func() // ends the watch of a lock that was acquired
}

// Dial implements service.System: it connects to the primary among the servers.
func (System) Dial(ctx context.Context, cluster service.Cluster, _ string) (service.Client, error) {
	c := &client{cluster: cluster, held: map[service.Key]func(){}}
	if err := c.ask(ctx, func(*pgx.Conn) error { return nil }); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// ask has f ask the server, on the connection or, if there is none, on a new one.
func (c *client) ask(ctx context.Context, f func(*pgx.Conn) error) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil && !c.conn.IsClosed() {
		return f(c.conn)
	}
	if c.conn, err = connect(ctx, c.cluster.At(Port), "read-write"); err != nil {
		return err
	}
	if _, err = c.conn.Exec(ctx, schema); err != nil {
		return errors.Join(err, end(c.conn))
	}
	return f(c.conn)
}

// Acquire implements service.Client: PostgreSQL has no election, so that it is a second lock. The record
// beside it counts its holders.
func (c *client) Acquire(ctx context.Context, key service.Key, value string) (g service.Grant, err error) {
	err = c.ask(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", ids[key])
		if err == nil {
			err = conn.QueryRow(ctx, "UPDATE locks SET token = token + 1, value = $2 WHERE id = $1 "+
				"RETURNING token", ids[key], value).Scan(&g.Token)
		}
		if err != nil { // whether it has the lock is not known: without the connection it has not
			return errors.Join(err, end(conn))
		}
		g.Lost, c.held[key] = c.watch(conn)
		return nil
	})
	return g, err
}

// end ends a connection, in a way that does not wait for a server that is gone. Who watches it learns that.
func end(conn *pgx.Conn) error {
	if conn == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	return conn.Close(ctx)
}

// patience is how long an answer of the server may take until the client gives its lock up for lost, unless
// the options have a session.
const patience = 10 * time.Second

// poll is how often a holder looks whether its connection stands, and an observer who leads.
const poll = 100 * time.Millisecond

var errNotAsked = errors.New("the server was not asked")

// watch looks after a lock that is held: whether the connection on which it was got stands.
func (c *client) watch(conn *pgx.Conn) (lost <-chan struct{}, stop func()) {
	session, asked := cmp.Or(c.cluster.Options.Session, patience), time.Now()
	return service.Keep(asked, session, poll, func(ctx context.Context) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		err := service.Stands(conn.PgConn().Conn())
		if now := time.Now(); err == nil && !conn.IsClosed() {
			if now.Sub(asked) <= session/service.Renewals {
				return errNotAsked
			}
			if err = conn.Ping(ctx); err == nil {
				asked = now
				return nil
			}
		}
		_ = end(conn) // what is said to be lost is not to last; it may be closed already
		return service.ErrLost
	})
}

// Release implements service.Client.
func (c *client) Release(ctx context.Context, key service.Key) error {
	c.held[key]()
	delete(c.held, key)
	c.mu.Lock()
	defer c.mu.Unlock()
	was := false
	err := c.conn.QueryRow(ctx, "SELECT pg_advisory_unlock($1)", ids[key]).Scan(&was)
	if err != nil || !was {
		return errors.Join(service.ErrLost, err, end(c.conn))
	}
	return nil
}

const holder = `SELECT value, token FROM locks WHERE id = $1 AND EXISTS
	(SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid::bigint = $1 AND granted)`

// Observe implements service.Client: it asks again and again who has the lock.
func (c *client) Observe(ctx context.Context, key service.Key, seen func(service.Observed)) error {
	return service.Poll(ctx, poll, func() (now service.Observed, err error) {
		err = c.ask(ctx, func(conn *pgx.Conn) error {
			err := conn.QueryRow(ctx, holder, ids[key]).Scan(&now.Value, &now.Token)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			return err
		})
		return now, err
	}, seen)
}

// Write implements service.Client: of what later holders have counted, an old token is none.
func (c *client) Write(ctx context.Context, token int64, value string) error {
	return c.ask(ctx, func(conn *pgx.Conn) error {
		done, err := conn.Exec(ctx, "UPDATE locks SET value = $3 WHERE id = $1 AND token = $2",
			ids[service.Lock], token, value)
		if err == nil && done.RowsAffected() == 0 {
			return service.ErrFenced
		}
		return err
	})
}

// Close implements service.Client.
func (c *client) Close() error {
	for _, stop := range c.held {
		stop()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return end(c.conn)
}
