package service

import (
	"context"
	"sync"
	"time"
)

// renewals are how often a lease is renewed while it lasts.
const renewals = 3

// Keep renews a lease that began at an instant and lasts for session, three times in that time, until stop is
// called, which waits for the last attempt. Lost is closed when renew says that the lease is another's, or
// when the lease may be over because no renewal has succeeded. The time counts from before each attempt, so
// that the client never believes longer in its lease than the system.
func Keep(begun time.Time, session time.Duration, renew func(context.Context) (still bool, err error)) (
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
			case <-time.After(min(session/renewals, time.Until(until))):
			}
			now := time.Now()
			within, done := context.WithDeadline(ctx, until)
			still, err := renew(within)
			done()
			switch {
			case ctx.Err() != nil:
				return
			case err == nil && still:
				until = now.Add(session)
			case err == nil || !time.Now().Before(until):
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
