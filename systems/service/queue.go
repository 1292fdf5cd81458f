package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Line is what a system has in which clients stand in line for a key, each as long as its session lasts,
// and the first one holds the key. Methods without a context may still run when their caller has given up.
type Line interface {
	// Join puts a client at the end of the line. Its place begins with name, which no other place has.
	Join(key Key, name, value string) (place string, err error)
	// Places are those that are taken, the first one first.
	Places(key Key) ([]string, error)
	// Token of a place grows from place to place.
	Token(place string) int64
	// Value is what the client at a place lets others see.
	Value(key Key, place string) (string, error)
	// Gone waits until nobody is at a place any more.
	Gone(ctx context.Context, key Key, place string) error
	// Leave gives a place up. It is ErrLost if it is not taken.
	Leave(key Key, place string) error
}

// A Queue is a lock of which the first in a Line is the holder: Acquire, Release and Observe of a Client.
// Each client waits for the one before it alone, so that no herd wakes up.
type Queue struct {
	Session
	Line  Line
	Name  string // of the client
	tries int
	stood map[Key]string // the last place at which this client was the first
}

// Acquire implements Client.
func (q *Queue) Acquire(ctx context.Context, key Key, value string) (Grant, error) {
	q.tries++
	name := fmt.Sprintf("%s-%d-", q.Name, q.tries)
	lost, err := q.Begin(ctx, key, func() error { return q.remove(key, name) })
	if err != nil {
		return Grant{}, err
	}
	own := ""
	err = Await(ctx, func() (err error) {
		if own, err = q.Line.Join(key, name, value); err != nil {
			return err
		}
		return q.turn(ctx, key, own)
	})
	if err != nil { // also where the answer was lost
		return Grant{}, errors.Join(err, q.Undo(ctx, key))
	}
	if q.stood == nil {
		q.stood = map[Key]string{}
	}
	q.stood[key] = own
	return Grant{Token: q.Line.Token(own), Lost: lost}, nil
}

// remove gives the place up that begins with name, if there is one.
func (q *Queue) remove(key Key, name string) error {
	all, err := q.Line.Places(key)
	if err != nil {
		return err
	}
	for _, place := range all {
		if !strings.HasPrefix(place, name) {
			continue
		}
		if err := q.Line.Leave(key, place); !errors.Is(err, ErrLost) {
			return err
		}
	}
	return nil
}

// turn waits until a place is the first.
func (q *Queue) turn(ctx context.Context, key Key, own string) error {
	for {
		all, err := q.Line.Places(key)
		if err != nil {
			return err
		}
		at := slices.Index(all, own)
		switch {
		case at < 0:
			return errors.New("the session is over, and with it the place in the queue")
		case at == 0:
			return nil
		}
		if err := q.Line.Gone(ctx, key, all[at-1]); err != nil {
			return err
		}
	}
}

// Release implements Client.
func (q *Queue) Release(ctx context.Context, key Key) error {
	err := Await(ctx, func() error { return q.Line.Leave(key, q.stood[key]) })
	if err == nil || errors.Is(err, ErrLost) {
		return err
	}
	return errors.Join(err, q.Undo(ctx, key))
}

// lookEvery is between two looks of an observer at an empty line.
const lookEvery = 10 * time.Millisecond

// Observe implements Client.
func (q *Queue) Observe(ctx context.Context, key Key, seen func(Observed)) error {
	first := ""
	return Poll(ctx, lookEvery, func() (now Observed, err error) {
		err = Await(ctx, func() error {
			if first != "" {
				_ = q.Line.Gone(ctx, key, first) // it is looked at again in any case
			}
			first = ""
			all, err := q.Line.Places(key)
			if err != nil || len(all) == 0 {
				return err
			}
			value, err := q.Line.Value(key, all[0])
			if err == nil {
				first, now = all[0], Observed{Value: value, Token: q.Line.Token(all[0])}
			}
			return err
		})
		return now, err
	}, seen)
}

// Place is where the client of the grant with such a token stood; false: that was not its last one.
func (q *Queue) Place(key Key, token int64) (place string, was bool) {
	place = q.stood[key]
	return place, place != "" && q.Line.Token(place) == token
}
