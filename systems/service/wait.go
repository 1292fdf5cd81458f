package service

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Wait waits for a time, or until ctx ends, of which it returns the error.
func Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Retry calls f until it succeeds or ctx ends, and pauses for every between two calls. If ctx ends first, the
// error joins that of ctx and the last one of f.
func Retry(ctx context.Context, every time.Duration, f func() error) error {
	for {
		err := f()
		if err == nil {
			return nil
		}
		if over := Wait(ctx, every); over != nil {
			if errors.Is(err, over) {
				return err
			}
			return fmt.Errorf("%w: %w", over, err)
		}
	}
}

// Await runs f, which nothing can end, and waits for it no longer than ctx lasts.
func Await(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Poll asks again and again who holds a key, until ctx ends, and calls seen whenever that has changed. Ask
// may take its time until something may have changed. After an error, it is asked again.
func Poll(ctx context.Context, every time.Duration, ask func() (Observed, error), seen func(Observed)) error {
	last := Observed{}
	for ctx.Err() == nil {
		if now, err := ask(); err == nil && now != last {
			seen(now)
			last = now
		}
		_ = Wait(ctx, every) // the loop sees it
	}
	return ctx.Err()
}
