package postgresql

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/conclave-bench/conclave/systems/service"
)

// connect connects to the first server that answers, or, for writing, to the first that is a primary.
func connect(ctx context.Context, addrs []netip.Addr, port int, writing bool) (*pgx.Conn, error) {
	var hosts, ports []string
	for _, a := range addrs {
		hosts, ports = append(hosts, a.String()), append(ports, fmt.Sprint(port))
	}
	url := fmt.Sprintf("host=%s port=%s user=postgres dbname=postgres sslmode=disable connect_timeout=1",
		strings.Join(hosts, ","), strings.Join(ports, ","))
	if writing {
		url += " target_session_attrs=read-write"
	}
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

// schemaID is the number of the advisory lock under which the schema is made.
const schemaID = 3

// schema has a record beside each lock: its token grows with each holder.
const schema = `CREATE TABLE IF NOT EXISTS locks (id int PRIMARY KEY, token bigint NOT NULL,
	value text NOT NULL);
	INSERT INTO locks VALUES (1, 0, ''), (2, 0, '') ON CONFLICT DO NOTHING`

// A client has a connection, to which its locks belong.
type client struct {
	life    service.Life
	cluster service.Cluster
	port    int
	mu      sync.Mutex // for the connection, which takes one question at a time
	conn    *pgx.Conn
	held    map[service.Key]func() // ends the watch of a lock that is held
}

// Dial connects a client to the primary among the servers.
func Dial(ctx context.Context, cluster service.Cluster, port int) (service.Client, error) {
	c := &client{life: service.NewLife(), cluster: cluster, port: port, held: map[service.Key]func(){}}
	for {
		c.mu.Lock()
		err := c.live(ctx)
		c.mu.Unlock()
		if err == nil {
			return c, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(poll):
		}
	}
}

// live connects if there is no connection, under the lock of the client.
func (c *client) live(ctx context.Context) (err error) {
	if c.conn != nil && !c.conn.IsClosed() {
		return nil
	}
	if c.conn, err = connect(ctx, c.cluster.Servers, c.port, true); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, c.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", schemaID); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, schema)
		return err
	})
}

// Acquire implements service.Client: PostgreSQL has no election, so that it is a second lock. The record beside
// it counts its holders.
func (c *client) Acquire(ctx context.Context, key service.Key, value string) (service.Grant, error) {
	ctx, free := c.life.Bind(ctx)
	defer free()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.live(ctx); err != nil {
		return service.Grant{}, err
	}
	var token int64
	_, err := c.conn.Exec(ctx, "SELECT pg_advisory_lock($1)", ids[key])
	if err == nil {
		err = c.conn.QueryRow(ctx, "UPDATE locks SET token = token + 1, value = $2 WHERE id = $1 "+
			"RETURNING token", ids[key], value).Scan(&token)
	}
	if err != nil { // whether it has the lock is not known: without the connection it has not
		return service.Grant{}, errors.Join(err, c.end())
	}
	lost, stop := c.watch()
	c.held[key] = stop
	return service.Grant{Token: token, Lost: lost}, nil
}

// end ends the connection, under the lock of the client, in a way that does not wait for a server that is
// gone.
func (c *client) end() error {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	for key, stop := range c.held {
		stop()
		delete(c.held, key)
	}
	if c.conn == nil {
		return nil
	}
	return c.conn.Close(ctx)
}

// patience is how long an answer of the server may take until the client gives its lock up for lost, unless
// the options have a session.
const patience = 10 * time.Second

// poll is how often a holder looks whether its connection stands, and an observer who leads.
const poll = 100 * time.Millisecond

// watch looks after a lock that is held: whether the connection on which it was got stands.
func (c *client) watch() (lost <-chan struct{}, stop func()) {
	session := c.cluster.Options.Session
	if session == 0 {
		session = patience
	}
	conn := c.conn
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer cancel()
		asked := time.Now()
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(poll):
			}
			c.mu.Lock()
			within, done := context.WithDeadline(ctx, asked.Add(session))
			err := stands(conn.PgConn().Conn())
			if now := time.Now(); err == nil && now.Sub(asked) > session/3 {
				err = conn.Ping(within)
				asked = now
			}
			done()
			over := ctx.Err() == nil && (err != nil || conn.IsClosed())
			if over { // what is said to be lost is not to last
				within, done := context.WithTimeout(ctx, time.Second)
				_ = conn.Close(within) // it is closed already, perhaps
				done()
				close(gone)
			}
			c.mu.Unlock()
			if over {
				return
			}
		}
	}()
	return gone, cancel
}

// Release implements service.Client.
func (c *client) Release(ctx context.Context, key service.Key) error {
	ctx, free := c.life.Bind(ctx)
	defer free()
	c.mu.Lock()
	defer c.mu.Unlock()
	stop := c.held[key]
	if stop == nil {
		return errors.New("the lock is not held")
	}
	stop()
	delete(c.held, key)
	was := false
	err := c.conn.QueryRow(ctx, "SELECT pg_advisory_unlock($1)", ids[key]).Scan(&was)
	if err != nil || !was {
		return errors.Join(errors.New("the lock was lost"), err, c.end())
	}
	return nil
}

const holder = `SELECT value, token FROM locks WHERE id = $1 AND EXISTS
	(SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid::bigint = $1 AND granted)`

// Observe implements service.Client: it asks again and again who has the lock, on a connection of its own.
func (c *client) Observe(ctx context.Context, key service.Key, seen func(service.Observed)) error {
	ctx, free := c.life.Bind(ctx)
	defer free()
	var conn *pgx.Conn
	defer func() {
		if conn != nil {
			_ = conn.Close(context.WithoutCancel(ctx)) // nothing is held on it
		}
	}()
	last := service.Observed{}
	for ctx.Err() == nil {
		var err error
		if conn == nil || conn.IsClosed() {
			conn, err = connect(ctx, c.cluster.Servers, c.port, true)
		}
		now := service.Observed{}
		if err == nil {
			err = conn.QueryRow(ctx, holder, ids[key]).Scan(&now.Value, &now.Token)
		}
		if (err == nil || errors.Is(err, pgx.ErrNoRows)) && now != last {
			seen(now)
			last = now
		}
		select {
		case <-ctx.Done():
		case <-time.After(poll):
		}
	}
	return ctx.Err()
}

// Write implements service.Client: of what later holders have counted, an old token is none.
func (c *client) Write(ctx context.Context, token int64, value string) error {
	ctx, free := c.life.Bind(ctx)
	defer free()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.live(ctx); err != nil {
		return err
	}
	done, err := c.conn.Exec(ctx, "UPDATE locks SET value = $3 WHERE id = $1 AND token = $2",
		ids[service.Lock], token, value)
	if err == nil && done.RowsAffected() == 0 {
		return service.ErrFenced
	}
	return err
}

// Close implements service.Client.
func (c *client) Close() error {
	c.life.End()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end()
}
