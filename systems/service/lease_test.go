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
		renew func(n int) (bool, error)
		lost  time.Duration // 0: never
	}{
		"kept":         {func(int) (bool, error) { return true, nil }, 0},
		"another's":    {func(n int) (bool, error) { return n < 3, nil }, 9 * time.Second},
		"out of reach": {func(n int) (bool, error) { return true, failAfter(2, n) }, 15 * time.Second},
		"never":        {func(int) (bool, error) { return false, errors.New("refused") }, session},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun, n := time.Now(), 0
				lost, stop := Keep(begun, session, func(context.Context) (bool, error) {
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

// failAfter is an error of each attempt after the first few.
func failAfter(few, n int) error {
	if n > few {
		return errors.New("refused")
	}
	return nil
}
