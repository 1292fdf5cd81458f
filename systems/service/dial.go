package service

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Times of a client.
const (
	dialTime  = 5 * time.Second        // of one attempt to connect
	dialEvery = 100 * time.Millisecond // between two
	closeTime = time.Second            // of giving back what a client holds that is closed
)

// Dial connects a client. It tries again and again, as long as ctx allows. The client checks what it is asked
// for: it does not acquire a key twice, or release one that it has not acquired. Close ends what it is doing,
// and gives back what it holds.
func Dial(ctx context.Context, s System, c Cluster, name string) (Client, error) {
	out := &bound{held: map[Key]bool{}}
	err := Retry(ctx, dialEvery, func() (err error) {
		within, stop := context.WithTimeout(ctx, dialTime)
		defer stop()
		out.inner, err = s.Dial(within, c, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	out.life, out.end = context.WithCancel(context.Background())
	return out, nil
}

// A bound client is one of an adapter whose methods end with its life.
type bound struct {
	inner Client
	life  context.Context
	end   context.CancelFunc
	mu    sync.Mutex // one method at a time
	held  map[Key]bool
}

var errClosed = errors.New("the client is closed")

// do calls f with a context that ends with ctx or with the client.
func (b *bound) do(ctx context.Context, f func(context.Context) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.life.Err() != nil {
		return errClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(b.life, cancel)()
	return f(ctx)
}

func (b *bound) Acquire(ctx context.Context, key Key, value string) (g Grant, err error) {
	err = b.do(ctx, func(ctx context.Context) (err error) {
		if b.held[key] {
			return errors.New("this client holds it already")
		}
		if g, err = b.inner.Acquire(ctx, key, value); err == nil {
			b.held[key] = true
		}
		return err
	})
	return g, err
}

func (b *bound) Release(ctx context.Context, key Key) error {
	return b.do(ctx, func(ctx context.Context) error {
		if !b.held[key] {
			return errors.New("it is not held")
		}
		delete(b.held, key) // also if that fails: nobody relies on it any more
		return b.inner.Release(ctx, key)
	})
}

func (b *bound) Observe(ctx context.Context, key Key, seen func(Observed)) error {
	return b.do(ctx, func(ctx context.Context) error { return b.inner.Observe(ctx, key, seen) })
}

func (b *bound) Write(ctx context.Context, token int64, value string) error {
	return b.do(ctx, func(ctx context.Context) error { return b.inner.Write(ctx, token, value) })
}

func (b *bound) Close() error {
	b.end()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.inner == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), closeTime)
	defer stop()
	for key := range b.held {
		_ = b.inner.Release(ctx, key) // else it ends with the client
	}
	err := b.inner.Close()
	b.inner = nil
	return err
}
