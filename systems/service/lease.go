package service

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Renewals are how often a lease is renewed while it lasts.
const Renewals = 3

// ErrLost is of a lease that is another's, or nobody's.
var ErrLost = errors.New("the lock was lost")

// Keep renews a lease that began at an instant and lasts for session, again and again, until stop is called,
// which waits for the last attempt. Lost is closed when renew returns ErrLost, or when the lease may be over
// because no renewal has succeeded. The time counts from before each attempt, so that the client never
// believes longer in its lease than the system.
func Keep(begun time.Time, session, every time.Duration, renew func(context.Context) error) (
	lost <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	var over sync.WaitGroup
	over.Go(func() {
		until := begun.Add(session)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(min(every, time.Until(until))):
			}
			now := time.Now()
			within, done := context.WithDeadline(ctx, until)
			err := renew(within)
			done()
			switch {
			case ctx.Err() != nil:
				return
			case err == nil:
				until = now.Add(session)
			case errors.Is(err, ErrLost) || !time.Now().Before(until):
				close(gone)
				return
			}
		}
	})
	return gone, func() {
		cancel()
		over.Wait()
	}
}
