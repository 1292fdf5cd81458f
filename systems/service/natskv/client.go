package natskv

import (
	"context"
	"errors"
	"strings"
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

// poll is how often an observer looks while nobody holds a key.
const poll = 20 * time.Millisecond

// markers are how long the store keeps a note of a key that has gone by itself: watchers learn of it. No less
// is allowed.
const markers = time.Second

// A client keeps its locks in a bucket. NATS has no election among clients, so that it is a second lock.
type client struct {
	service.Leases
	conn *nats.Conn
	js   jetstream.JetStream
	kv   jetstream.KeyValue
}

// Dial implements service.System.
func (System) Dial(ctx context.Context, cluster service.Cluster, name string) (service.Client, error) {
	o := cluster.Options.Or(defaults)
	c := &client{}
	c.Leases = service.Leases{Store: c, Name: name, Session: o.Session, Patience: patience, Poll: poll}
	conn, err := nats.Connect("nats://"+strings.Join(cluster.At(clientPort), ",nats://"), nats.Name(name),
		nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond), nats.Timeout(patience),
		nats.PingInterval(max(o.Session/service.Renewals, 100*time.Millisecond)),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		return nil, err
	}
	c.conn = conn
	replicas := o.Replicas
	if replicas == 0 {
		replicas = len(cluster.Servers)
	}
	if c.js, err = jetstream.New(conn); err == nil {
		c.kv, err = c.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: bucket, TTL: o.Session,
			LimitMarkerTTL: markers, Replicas: replicas, Storage: jetstream.FileStorage})
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// taken is err, or service.ErrTaken if a key has another revision than was expected. A stream with copies
// says so in another way than one without.
func taken(err error) error {
	e := (*jetstream.APIError)(nil)
	if errors.As(err, &e) && (e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant) {
		return service.ErrTaken
	}
	return err
}

// Create implements service.Store.
func (c *client) Create(ctx context.Context, key service.Key, value string) (uint64, error) {
	revision, err := c.kv.Create(ctx, string(key), []byte(value))
	return revision, taken(err)
}

// Get implements service.Store.
func (c *client) Get(ctx context.Context, key service.Key) (string, uint64, error) {
	e, err := c.kv.Get(ctx, string(key))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return "", 0, nil
	} else if err != nil {
		return "", 0, err
	}
	return string(e.Value()), e.Revision(), nil
}

// Renew implements service.Store.
func (c *client) Renew(ctx context.Context, key service.Key, value string, at uint64) (uint64, error) {
	revision, err := c.kv.Update(ctx, string(key), []byte(value), at)
	return revision, taken(err)
}

// Delete implements service.Store.
func (c *client) Delete(ctx context.Context, key service.Key, _ string, at uint64) error {
	return taken(c.kv.Delete(ctx, string(key), jetstream.LastRevision(at)))
}

// Watch implements service.Store.
func (c *client) Watch(ctx context.Context, key service.Key) (func(context.Context) error, func(), error) {
	watch, err := c.kv.Watch(ctx, string(key))
	if err != nil {
		return nil, nil, err
	}
	holder := "" // the last that was heard of
	return func(ctx context.Context) error {
			for {
				select {
				case e := <-watch.Updates():
					before := holder
					holder = ""
					if e == nil { // this was all there is
						holder = before
					} else if e.Operation() == jetstream.KeyValuePut {
						holder = string(e.Value())
					}
					// Of several changes the last alone may be heard of.
					if holder == "" || before != "" && holder != before {
						return nil
					}
				case <-time.After(c.Session): // no renewal has been heard of
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}, func() {
			// It asks the servers, which may be gone, and ends with the connection at the latest.
			go func() { _ = watch.Stop() }()
		}, nil
}

// Write implements service.Client: the server refuses it if the key of the lock has another revision than
// this client's last one.
func (c *client) Write(ctx context.Context, token int64, value string) error {
	revision, own := c.Revision(service.Lock, token)
	if !own {
		return service.ErrFenced
	}
	_, err := c.js.Publish(ctx, subject+valueKey, []byte(value),
		jetstream.WithExpectLastSequenceForSubject(revision, subject+string(service.Lock)))
	if errors.Is(taken(err), service.ErrTaken) {
		return service.ErrFenced
	}
	return err
}

// Close implements service.Client.
func (c *client) Close() error {
	c.conn.Close()
	return nil
}
