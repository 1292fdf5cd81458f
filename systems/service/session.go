package service

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A Session is one that a client's library keeps alive, to which the client's locks belong. The adapter tells
// it what the library says of it. It says when a lock may be lost, and undoes what attempts have left.
type Session struct {
	mu    sync.Mutex
	over  chan struct{} // closed when the present session may be over; nil: there is none
	timer *time.Timer   // closes it
	tried map[Key]func() error
	left  []func() error // what is to be undone
}

var errNoSession = errors.New("there is no session")

// Stands says that the library has a session, perhaps the same as before. What was said to be lost is not to
// last, so that it is undone.
func (s *Session) Stands() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if s.over == nil {
		s.over = make(chan struct{})
		go func() { _ = s.sweep(context.Background()) }() // else the next attempt does that
	}
}

// Silent says that nothing is heard of the session, which may be over after a time.
func (s *Session) Silent(after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer == nil {
		s.timer = time.AfterFunc(after, s.Over)
	}
}

// Over says that the session is over, or may be.
func (s *Session) Over() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over == nil {
		return
	}
	close(s.over)
	s.over = nil
	for _, undo := range s.tried {
		s.left = append(s.left, undo)
	}
}

// Begin is to be called before an attempt to acquire a key, with what undoes that, wholly or in part, as far
// as it came. Lost is closed when the session may be over.
func (s *Session) Begin(ctx context.Context, key Key, undo func() error) (lost <-chan struct{}, err error) {
	if err := s.sweep(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over == nil {
		return nil, errNoSession
	}
	if s.tried == nil {
		s.tried = map[Key]func() error{}
	}
	s.tried[key] = undo
	return s.over, nil
}

// undoTime is how long an attempt that has failed waits until that is undone. Else it is later.
const undoTime = time.Second

// Undo undoes the last attempt to acquire a key, also after the end of ctx.
func (s *Session) Undo(ctx context.Context, key Key) error {
	s.mu.Lock()
	s.left = append(s.left, s.tried[key])
	s.mu.Unlock()
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer stop()
	return s.sweep(ctx)
}

// sweep undoes what is left.
func (s *Session) sweep(ctx context.Context) error {
	s.mu.Lock()
	left := s.left
	s.left = nil
	s.mu.Unlock()
	if len(left) == 0 {
		return nil
	}
	return Await(ctx, func() error {
		var errs []error
		for _, undo := range left {
			if err := undo(); err != nil {
				errs = append(errs, err)
				s.mu.Lock()
				s.left = append(s.left, undo)
				s.mu.Unlock()
			}
		}
		return errors.Join(errs...)
	})
}

// Close ends what it waits for.
func (s *Session) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
	}
}
