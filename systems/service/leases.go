package service

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"time"
)

// A Store keeps values by key, each until a lease is over: what a system has that knows no locks. A value is
// a client's own, which no other has. Each change of a key can have a revision, which grows, and with which
// the next change is refused if another came before it; a store without them returns 0.
type Store interface {
	// Create puts a value at a key where nothing is. It is ErrTaken if something is there. After any other
	// error it is not known what is there.
	Create(ctx context.Context, key Key, value string) (revision uint64, err error)
	// Get is what is at a key; "": nothing.
	Get(ctx context.Context, key Key) (value string, revision uint64, err error)
	// Renew begins the lease of the value anew. It is ErrLost if the value is not there, and ErrTaken if the
	// revision is another.
	Renew(ctx context.Context, key Key, value string, revision uint64) (uint64, error)
	// Delete removes the value, with the same errors.
	Delete(ctx context.Context, key Key, value string, revision uint64) error
	// Watch returns what waits until it makes sense to try Create once more, again and again, until stop.
	Watch(ctx context.Context, key Key) (freed func(context.Context) error, stop func(), err error)
}

// ErrTaken is of a key at which there is something else than was expected.
var ErrTaken = errors.New("another client has it")

// Leases are locks in a Store, which are renewed as long as they are held: Acquire, Release and Observe of a
// Client.
type Leases struct {
	Store    Store
	Name     string        // of the client
	Session  time.Duration // that a lease surely lasts, from before it is created or renewed
	Patience time.Duration // of the store with one question, if not the context's
	Poll     time.Duration // of an observer while nobody holds the key
	held     map[Key]*lease
}

// A lease is a value that this client has put at a key.
type lease struct {
	Leases   *Leases
	key      Key
	value    string
	token    int64
	mu       sync.Mutex // for what follows
	revision uint64
	known    bool   // the revision is the latest
	stop     func() // ends the renewals
}

// Acquire implements Client.
func (l *Leases) Acquire(ctx context.Context, key Key, value string) (Grant, error) {
	own := &lease{Leases: l, key: key, value: l.Name + "/" + rand.Text() + "/" + value}
	var freed func(context.Context) error
	for {
		begun := time.Now()
		err := own.create(ctx)
		if err == nil && time.Since(begun) < l.Session && ctx.Err() == nil {
			return l.keep(own, begun), nil
		}
		if !errors.Is(err, ErrTaken) { // also where the answer was lost
			_ = own.delete(context.WithoutCancel(ctx)) // else it goes by itself
			if err != nil || ctx.Err() != nil {
				return Grant{}, errors.Join(ctx.Err(), err)
			}
		}
		if freed == nil {
			var stop func()
			if freed, stop, err = l.Store.Watch(ctx, key); err != nil {
				return Grant{}, err
			}
			defer stop()
		}
		if err := freed(ctx); err != nil {
			return Grant{}, err
		}
	}
}

// create tries to put the value at its key.
func (o *lease) create(ctx context.Context) (err error) {
	ctx, stop := context.WithTimeout(ctx, o.Leases.Patience)
	defer stop()
	o.revision, err = o.Leases.Store.Create(ctx, o.key, o.value)
	o.known, o.token = err == nil, int64(o.revision)
	return err
}

// keep has a lease renewed.
func (l *Leases) keep(own *lease, begun time.Time) Grant {
	lost, stop := Keep(begun, l.Session, l.Session/Renewals, func(ctx context.Context) error {
		return own.change(ctx, func(ctx context.Context) (err error) {
			own.revision, err = l.Store.Renew(ctx, own.key, own.value, own.revision)
			return err
		})
	})
	if own.stop = stop; l.held == nil {
		l.held = map[Key]*lease{}
	}
	l.held[own.key] = own
	return Grant{Token: own.token, Lost: lost}
}

// change has f change what is at the key. If it is not known what the revision is, because an answer was lost
// or f finds another one, it looks.
func (o *lease) change(ctx context.Context, f func(context.Context) error) (err error) {
	ctx, stop := context.WithTimeout(ctx, o.Leases.Patience)
	defer stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	for range 2 {
		if !o.known {
			value, revision, err := o.Leases.Store.Get(ctx, o.key)
			if err != nil {
				return err
			}
			if value != o.value {
				return ErrLost
			}
			o.revision = revision
		}
		err = f(ctx)
		if o.known = err == nil; !errors.Is(err, ErrTaken) {
			return err
		}
	}
	return err
}

func (o *lease) delete(ctx context.Context) error {
	return o.change(ctx, func(ctx context.Context) error {
		return o.Leases.Store.Delete(ctx, o.key, o.value, o.revision)
	})
}

// releaseEvery is between two attempts to give a lock back.
const releaseEvery = 50 * time.Millisecond

// Release implements Client. It tries until ctx ends: an attempt that failed costs the next client a session.
func (l *Leases) Release(ctx context.Context, key Key) error {
	own := l.held[key]
	own.stop()
	lost := error(nil)
	err := Retry(ctx, releaseEvery, func() error {
		err := own.delete(ctx)
		if lost = nil; errors.Is(err, ErrLost) {
			lost, err = err, nil
		}
		return err
	})
	return errors.Join(lost, err)
}

// Revision is that of the last change by the client of the grant with such a token; false: that was not its
// last.
func (l *Leases) Revision(key Key, token int64) (revision uint64, was bool) {
	own := l.held[key]
	if own == nil || own.token != token {
		return 0, false
	}
	own.mu.Lock()
	defer own.mu.Unlock()
	return own.revision, true
}

// Observe implements Client.
func (l *Leases) Observe(ctx context.Context, key Key, seen func(Observed)) error {
	freed, stop, err := l.Store.Watch(ctx, key)
	if err != nil {
		return err
	}
	defer stop()
	last := ""
	for ctx.Err() == nil {
		value, revision, err := l.get(ctx, key)
		if err != nil || value == last {
			_ = Wait(ctx, l.Poll) // nobody holds the key, or the copy that was asked knows of no change yet
			continue
		}
		last = value
		seen(Observed{Value: owner(value), Token: int64(revision)})
		if value != "" {
			_ = freed(ctx) // the loop sees that ctx has ended
		}
	}
	return ctx.Err()
}

func (l *Leases) get(ctx context.Context, key Key) (string, uint64, error) {
	ctx, stop := context.WithTimeout(ctx, l.Patience)
	defer stop()
	return l.Store.Get(ctx, key)
}

// owner is what the holder of a lease has let others see.
func owner(stored string) string {
	parts := strings.SplitN(stored, "/", 3)
	if len(parts) < 3 {
		return ""
	}
	return parts[2]
}
