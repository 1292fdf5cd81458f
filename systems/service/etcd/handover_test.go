package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/conclave-bench/conclave/systems/service"
	"github.com/conclave-bench/conclave/systems/service/servers"
	"github.com/conclave-bench/conclave/systems/service/servicetest"
)

// BenchmarkHandover is the time from the release of a lock until the client that waits for it has it: with
// the library's lock, which watches from the revision of its last read on, and with a watch from the next
// revision on. The server takes the first kind of watch for one that is behind, and looks after those every
// 100 ms (mvcc/watchable_store.go, syncWatchersLoop).
func BenchmarkHandover(b *testing.B) {
	servicetest.Need(b, &System{})
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	cluster, err := servers.NewCluster(&System{}, 3, b.TempDir(), service.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = cluster.Close() }()
	if err := cluster.Up(ctx); err != nil {
		b.Fatal(err)
	}
	var clients [2]*client
	for i := range clients {
		c, err := (&System{}).Dial(ctx, cluster.Client(), string(rune('a'+i)))
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		clients[i] = c.(*client)
	}
	library := func(ctx context.Context, c *client) error { return c.lock.Lock(ctx) }
	next := func(ctx context.Context, c *client) error { return c.lockFromNext(ctx) }
	for _, way := range []struct {
		name    string
		acquire func(context.Context, *client) error
		held    time.Duration // since the other client has begun to wait
	}{
		{"library, held for 5 ms", library, 5 * time.Millisecond},
		{"library, held for 300 ms", library, 300 * time.Millisecond},
		{"next revision, held for 5 ms", next, 5 * time.Millisecond},
	} {
		b.Run(way.name, func(b *testing.B) {
			held, waits := clients[0], clients[1]
			if err := way.acquire(ctx, held); err != nil {
				b.Fatal(err)
			}
			var all []time.Duration
			for b.Loop() {
				got := make(chan error, 1)
				go func() { got <- way.acquire(ctx, waits) }()
				time.Sleep(way.held)
				begun := time.Now()
				if err := errors.Join(held.give(ctx), <-got); err != nil {
					b.Fatal(err)
				}
				all = append(all, time.Since(begun))
				held, waits = waits, held
			}
			slices.Sort(all)
			b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "ms/median")
			b.ReportMetric(float64(all[len(all)-1].Microseconds())/1000, "ms/most")
			if err := held.give(ctx); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// give gives the lock back, however it was taken.
func (c *client) give(ctx context.Context) error {
	_, err := c.conn.Delete(ctx, fmt.Sprintf("lock/%x", c.session.Lease()))
	return err
}

// lockFromNext is the library's Lock, but for the revision from which it watches the lock of the one before.
func (c *client) lockFromNext(ctx context.Context) error {
	key := fmt.Sprintf("lock/%x", c.session.Lease())
	r, err := c.conn.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, "", clientv3.WithLease(c.session.Lease()))).Commit()
	if err != nil {
		return err
	}
	before := append(clientv3.WithLastCreate(), clientv3.WithMaxCreateRev(r.Header.Revision-1))
	for {
		last, err := c.conn.Get(ctx, "lock/", before...)
		if err != nil || len(last.Kvs) == 0 {
			return err
		}
		if err := c.awaitDelete(ctx, string(last.Kvs[0].Key), last.Header.Revision+1); err != nil {
			return err
		}
	}
}

// awaitDelete waits until a key is deleted in that revision or a later one.
func (c *client) awaitDelete(ctx context.Context, key string, from int64) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for r := range c.conn.Watch(ctx, key, clientv3.WithRev(from)) {
		for _, e := range r.Events {
			if e.Type == clientv3.EventTypeDelete {
				return nil
			}
		}
	}
	return errors.New("the watch has ended")
}
