package service

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestKeep: a lease is lost when another has it, or when its last renewal that succeeded is a session old.
func TestKeep(t *testing.T) {
	const session = 9 * time.Second
	for name, c := range map[string]struct {
		renew func(n int) error
		lost  time.Duration // 0: never
	}{
		"kept":         {func(int) error { return nil }, 0},
		"another's":    {func(n int) error { return failAfter(2, n, ErrLost) }, 9 * time.Second},
		"out of reach": {func(n int) error { return failAfter(2, n, errRefused) }, 15 * time.Second},
		"never":        {func(int) error { return errRefused }, session},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun, n := time.Now(), 0
				lost, stop := Keep(begun, session, session/Renewals, func(context.Context) error {
					n++
					return c.renew(n)
				})
				defer stop()
				select {
				case <-lost:
					if at := time.Since(begun); at != c.lost {
						t.Errorf("lost after %v; expected %v", at, c.lost)
					}
				case <-time.After(time.Minute):
					stop()
					if c.lost != 0 || n != 19 && n != 20 {
						t.Errorf("not lost after %d renewals; expected it after %v", n, c.lost)
					}
				}
			})
		})
	}
}

var errRefused = errors.New("refused")

// failAfter is the error of each attempt after the first few.
func failAfter(few, n int, err error) error {
	if n > few {
		return err
	}
	return nil
}
