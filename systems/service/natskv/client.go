package natskv

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/conclave-bench/conclave/systems/service"
)

const (
	bucket   = "locks"
	subject  = "$KV." + bucket + "."
	valueKey = "value"
)

// patience is how long an answer may take.
const patience = time.Second

// markers are how long the store keeps a note of a key that has gone by itself: watchers learn of it. No less
// is allowed.
const markers = time.Second

// Dial implements service.System.
func (System) Dial(ctx context.Context, cluster service.Cluster, name string) (service.Client, error) {
	var urls []string
	for _, a := range cluster.Servers {
		urls = append(urls, "nats://"+netip.AddrPortFrom(a, clientPort).String())
	}
	c := &client{life: service.NewLife(), name: name, session: sessionOf(cluster.Options),
		held: map[service.Key]*lease{}}
	conn, err := nats.Connect(strings.Join(urls, ","), nats.Name(name), nats.MaxReconnects(-1),
		nats.ReconnectWait(100*time.Millisecond), nats.Timeout(patience), nats.RetryOnFailedConnect(true),
		nats.PingInterval(max(c.session/3, 100*time.Millisecond)),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		return nil, err
	}
	c.conn = conn
	replicas := cluster.Options.Replicas
	if replicas == 0 {
		replicas = len(cluster.Servers)
	}
	c.js, err = jetstream.New(conn)
	for err == nil {
		within, stop := context.WithTimeout(ctx, 5*patience)
		c.kv, err = c.js.CreateOrUpdateKeyValue(within, jetstream.KeyValueConfig{Bucket: bucket,
			TTL: c.session, LimitMarkerTTL: markers, Replicas: replicas, Storage: jetstream.FileStorage})
		stop()
		if err == nil {
			return c, nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
			err = nil
		}
	}
	return nil, errors.Join(err, c.Close())
}

// A client has locks that it renews.
type client struct {
	life    service.Life
	conn    *nats.Conn
	js      jetstream.JetStream
	kv      jetstream.KeyValue
	name    string
	session time.Duration
	mu      sync.Mutex
	held    map[service.Key]*lease // one that was given back stays, without stop
}

// Observe implements service.Client.
func (c *client) Observe(ctx context.Context, key service.Key, seen func(service.Observed)) error {
	ctx, free := c.life.Bind(ctx)
	defer free()
	watch, err := c.kv.Watch(ctx, string(key))
	if err != nil {
		return err
	}
	defer func() { _ = watch.Stop() }() // it ends with the connection, at the latest
	last := ""
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-watch.Updates():
			if e == nil { // what there was has been told
				continue
			}
			now := service.Observed{}
			if parts := strings.SplitN(string(e.Value()), "/", 3); len(parts) == 3 {
				now = service.Observed{Value: parts[2], Token: int64(e.Revision())}
			}
			if id := string(e.Value()); id != last { // not a renewal
				last = id
				seen(now)
			}
		}
	}
}

// Write implements service.Client: it is refused if the key of the lock has another revision than this
// client's last one.
func (c *client) Write(ctx context.Context, token int64, value string) error {
	c.mu.Lock()
	l := c.held[service.Lock]
	c.mu.Unlock()
	if l == nil || l.token != uint64(token) {
		return service.ErrFenced
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := c.js.Publish(ctx, subject+valueKey, []byte(value),
		jetstream.WithExpectLastSequenceForSubject(l.revision, subject+string(service.Lock)))
	if conflict(err) {
		return service.ErrFenced
	}
	return err
}

// Close implements service.Client.
func (c *client) Close() error {
	c.life.End()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	for _, k := range []service.Key{service.Lock, service.Election} {
		_ = c.Release(ctx, k) // else it goes by itself
	}
	c.conn.Close()
	return nil
}
