package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A memory is a system in the memory of the test: a Store and a Line, which do what they are asked for, but
// lose some answers.
type memory struct {
	System
	mu       sync.Mutex
	asked    int
	lossy    bool // every fifth answer is lost
	down     bool // all answers are
	queues   bool // its clients are in a Queue
	revision uint64
	stored   map[Key]stored
	lines    map[Key][]string
	dialled  int
}

type stored struct {
	value    string
	revision uint64
	until    time.Time
}

const memorySession = 3 * time.Second

var errAnswer = errors.New("the answer was lost")

// do has f done under the lock, as one answer.
func (m *memory) do(f func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return errAnswer
	}
	err := f()
	if m.asked++; m.lossy && m.asked%5 == 0 {
		return errAnswer
	}
	return err
}

func (m *memory) put(key Key, value string) uint64 {
	m.revision++
	m.stored[key] = stored{value, m.revision, time.Now().Add(memorySession)}
	return m.revision
}

func (m *memory) at(key Key) stored {
	if s := m.stored[key]; time.Now().Before(s.until) {
		return s
	}
	return stored{}
}

func (m *memory) Create(_ context.Context, key Key, value string) (revision uint64, err error) {
	err = m.do(func() error {
		if m.at(key).value != "" {
			return ErrTaken
		}
		revision = m.put(key, value)
		return nil
	})
	return revision, err
}

func (m *memory) Get(_ context.Context, key Key) (value string, revision uint64, err error) {
	err = m.do(func() error { value, revision = m.at(key).value, m.at(key).revision; return nil })
	return value, revision, err
}

// change has f done if the value is there at that revision.
func (m *memory) change(key Key, value string, revision uint64, f func()) error {
	return m.do(func() error {
		switch s := m.at(key); {
		case s.value != value:
			return ErrLost
		case s.revision != revision:
			return ErrTaken
		}
		f()
		return nil
	})
}

func (m *memory) Renew(_ context.Context, key Key, value string, at uint64) (next uint64, err error) {
	err = m.change(key, value, at, func() { next = m.put(key, value) })
	return next, err
}

func (m *memory) Delete(_ context.Context, key Key, value string, at uint64) error {
	return m.change(key, value, at, func() { delete(m.stored, key) })
}

func (m *memory) Watch(context.Context, Key) (func(context.Context) error, func(), error) {
	return func(ctx context.Context) error { return Wait(ctx, 10*time.Millisecond) }, func() {}, nil
}

func (m *memory) Join(key Key, name, _ string) (place string, err error) {
	err = m.do(func() error {
		m.revision++
		place = fmt.Sprintf("%s%d", name, m.revision)
		m.lines[key] = append(m.lines[key], place)
		return nil
	})
	return place, err
}

func (m *memory) Places(key Key) (all []string, err error) {
	err = m.do(func() error { all = slices.Clone(m.lines[key]); return nil })
	return all, err
}

func (*memory) Token(place string) (n int64) {
	_, _ = fmt.Sscan(place[strings.LastIndexByte(place, '-')+1:], &n)
	return n
}

func (*memory) Value(_ Key, place string) (string, error) { return place, nil }

func (m *memory) Gone(ctx context.Context, key Key, place string) error {
	for {
		all, err := m.Places(key)
		if err != nil || !slices.Contains(all, place) {
			return err
		}
		if err := Wait(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}

func (m *memory) Leave(key Key, place string) error {
	return m.do(func() error {
		at := slices.Index(m.lines[key], place)
		if at < 0 {
			return ErrLost
		}
		m.lines[key] = slices.Delete(m.lines[key], at, at+1)
		return nil
	})
}

// Dial implements System. The first attempt of each client fails.
func (m *memory) Dial(_ context.Context, _ Cluster, name string) (Client, error) {
	if m.dialled++; m.dialled%2 == 1 {
		return nil, errAnswer
	}
	if m.queues {
		q := &queued{Queue: &Queue{Line: m, Name: name}}
		q.Stands()
		return q, nil
	}
	return &leased{Leases: &Leases{Store: m, Name: name, Session: memorySession, Patience: time.Second,
		Poll: 10 * time.Millisecond}}, nil
}

// Clients of a memory have a life that takes no notice of Close.
type (
	queued struct {
		*Queue
		unfenced
	}
	leased struct {
		*Leases
		unfenced
	}
	unfenced struct{}
)

func (unfenced) Write(context.Context, int64, string) error { return ErrUnfenced }
func (unfenced) Close() error                               { return nil }
func (q *queued) Close() error                              { q.Session.Close(); return nil }

// eachWay runs a test with leases and with a queue.
func eachWay(t *testing.T, test func(*testing.T, *memory)) {
	for name, queues := range map[string]bool{"leases": false, "queue": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test(t, &memory{queues: queues, stored: map[Key]stored{}, lines: map[Key][]string{}})
			})
		})
	}
}

func dial(t *testing.T, m *memory, name string) Client {
	t.Helper()
	c, err := Dial(t.Context(), m, Cluster{}, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// acquire tries until it has the lock, as users do.
func acquire(t *testing.T, c Client, key Key) (g Grant) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	err := Retry(ctx, 10*time.Millisecond, func() (err error) {
		g, err = c.Acquire(ctx, key, "v")
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return g
}

// TestLocks: of clients that contend, no two hold a key at once, tokens grow, and nobody waits for what a
// lost answer has left.
func TestLocks(t *testing.T) {
	eachWay(t, func(t *testing.T, m *memory) {
		m.lossy = true
		var inside, last atomic.Int64
		var over sync.WaitGroup
		begun := time.Now()
		for i := range 3 {
			c := dial(t, m, fmt.Sprint("c", i))
			over.Go(func() {
				for range 50 {
					g := acquire(t, c, Lock)
					if n := inside.Add(1); n != 1 {
						t.Errorf("%d clients are inside at once", n)
					}
					if before := last.Swap(g.Token); before >= g.Token {
						t.Errorf("token %d after %d", g.Token, before)
					}
					time.Sleep(5 * time.Millisecond)
					inside.Add(-1)
					_ = c.Release(t.Context(), Lock) // its answer may be lost
				}
			})
		}
		over.Wait()
		if took := time.Since(begun); took > 30*time.Second {
			t.Errorf("150 entries took %v: somebody waited for sessions to end", took)
		}
	})
}

// TestLocks_Close: a client that is closed while it waits or holds is in nobody's way, and does nothing more.
func TestLocks_Close(t *testing.T) {
	eachWay(t, func(t *testing.T, m *memory) {
		a, b, c := dial(t, m, "a"), dial(t, m, "b"), dial(t, m, "c")
		acquire(t, a, Lock)
		acquire(t, a, Election)
		waited := make(chan error)
		go func() { _, err := b.Acquire(t.Context(), Lock, ""); waited <- err }()
		time.Sleep(time.Second)
		begun := time.Now()
		if err := errors.Join(b.Close(), a.Close(), a.Close()); err != nil {
			t.Error(err)
		}
		if err := <-waited; err == nil {
			t.Error("a client that was closed holds the lock")
		}
		acquire(t, c, Lock)
		acquire(t, c, Election)
		if took := time.Since(begun); took > time.Second {
			t.Errorf("the next client waited for %v", took)
		}
		_, err := a.Acquire(t.Context(), Lock, "")
		if err = cmp.Or(err, a.Release(t.Context(), Lock)); !errors.Is(err, errClosed) {
			t.Errorf("of a closed client: %v", err)
		}
		if _, err := c.Acquire(t.Context(), Lock, ""); err == nil {
			t.Error("a client acquired what it held")
		}
		if err := errors.Join(c.Release(t.Context(), Lock), c.Release(t.Context(), Election)); err != nil {
			t.Error(err)
		}
		if err := c.Release(t.Context(), Lock); err == nil {
			t.Error("a client released what it did not hold")
		}
	})
}

// TestLocks_Cancelled: a client that no longer waits does not stand in the way of others.
func TestLocks_Cancelled(t *testing.T) {
	eachWay(t, func(t *testing.T, m *memory) {
		a, b, c := dial(t, m, "a"), dial(t, m, "b"), dial(t, m, "c")
		acquire(t, a, Lock)
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := b.Acquire(ctx, Lock, ""); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a wait that was too long: %v", err)
		}
		if err := a.Release(t.Context(), Lock); err != nil {
			t.Error(err)
		}
		begun := time.Now()
		acquire(t, c, Lock)
		if took := time.Since(begun); took > time.Second {
			t.Errorf("the next client waited for %v", took)
		}
	})
}

// TestLocks_Observe: an observer sees each holder, and that there is none.
func TestLocks_Observe(t *testing.T) {
	eachWay(t, func(t *testing.T, m *memory) {
		a, b, watcher := dial(t, m, "a"), dial(t, m, "b"), dial(t, m, "w")
		ctx, stop := context.WithCancel(t.Context())
		var seen []bool // whether somebody holds it
		over := make(chan error)
		go func() {
			over <- watcher.Observe(ctx, Election, func(o Observed) { seen = append(seen, o.Value != "") })
		}()
		for _, c := range []Client{a, b} {
			acquire(t, c, Election)
			time.Sleep(time.Second)
			if err := c.Release(t.Context(), Election); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second)
		}
		stop()
		err := <-over
		if !errors.Is(err, context.Canceled) || !slices.Equal(seen, []bool{true, false, true, false}) {
			t.Errorf("seen %v, %v", seen, err)
		}
	})
}

// lagging is a store in which a question is answered by a copy that is behind, and changes are heard of at once.
type lagging struct {
	*memory
	deleted chan struct{}
	copy    string
}

func (l *lagging) later(value string) {
	time.AfterFunc(100*time.Millisecond, func() { _ = l.do(func() error { l.copy = value; return nil }) })
}

func (l *lagging) Create(ctx context.Context, key Key, value string) (uint64, error) {
	l.later(value)
	return l.memory.Create(ctx, key, value)
}

func (l *lagging) Delete(ctx context.Context, key Key, value string, at uint64) error {
	defer func() { l.later(""); l.deleted <- struct{}{} }()
	return l.memory.Delete(ctx, key, value, at)
}

func (l *lagging) Get(context.Context, Key) (value string, _ uint64, err error) {
	err = l.do(func() error { value = l.copy; return nil })
	return value, 0, err
}

func (l *lagging) Watch(context.Context, Key) (func(context.Context) error, func(), error) {
	return func(ctx context.Context) error {
		select {
		case <-l.deleted:
		case <-ctx.Done():
		}
		return ctx.Err()
	}, func() {}, nil
}

// TestLeases_Observe: an observer that hears of a change before the copy that it asks looks again.
func TestLeases_Observe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &lagging{memory: &memory{stored: map[Key]stored{}}, deleted: make(chan struct{}, 10)}
		client := func(name string) *Leases {
			return &Leases{Store: s, Name: name, Session: memorySession, Patience: time.Second,
				Poll: 20 * time.Millisecond}
		}
		ctx, stop := context.WithCancel(t.Context())
		var seen []string
		over := make(chan error)
		go func() {
			over <- client("w").Observe(ctx, Election, func(o Observed) { seen = append(seen, o.Value) })
		}()
		for _, name := range []string{"a", "b", "c"} {
			c := client(name)
			if _, err := c.Acquire(t.Context(), Election, name); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			if err := c.Release(t.Context(), Election); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second)
		}
		stop()
		if <-over; !slices.Equal(seen, []string{"a", "", "b", "", "c", ""}) {
			t.Errorf("seen %q", seen)
		}
	})
}

// TestLeases_Lost: when no answer comes any more, the lease is lost before the store forgets it.
func TestLeases_Lost(t *testing.T) {
	eachWay(t, func(t *testing.T, m *memory) {
		if m.queues {
			return // what it hears of its session is the adapter's part
		}
		a, b := dial(t, m, "a"), dial(t, m, "b")
		g := acquire(t, a, Lock)
		time.Sleep(10 * memorySession)
		m.mu.Lock()
		m.down = true
		until := m.stored[Lock].until
		m.mu.Unlock()
		<-g.Lost
		if time.Now().After(until) {
			t.Error("the client believed longer in its lock than the store")
		}
		m.mu.Lock()
		m.down = false
		m.mu.Unlock()
		acquire(t, b, Lock)
		if err := a.Release(t.Context(), Lock); !errors.Is(err, ErrLost) {
			t.Errorf("the release of what is another's: %v", err)
		}
	})
}

// TestSession: what is held is lost when the session may be over, not at a short silence, and is undone when
// it turns out to stand.
func TestSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Session
		var undone atomic.Int64
		undo := func() error { undone.Add(1); return nil }
		if _, err := s.Begin(t.Context(), Lock, undo); !errors.Is(err, errNoSession) {
			t.Errorf("without a session: %v", err)
		}
		s.Stands()
		lost, err := s.Begin(t.Context(), Lock, undo)
		if err != nil {
			t.Fatal(err)
		}
		s.Silent(time.Second)
		time.Sleep(time.Second / 2)
		s.Stands()
		time.Sleep(time.Hour)
		select {
		case <-lost:
			t.Error("a short silence has lost the lock")
		default:
		}
		s.Silent(time.Second)
		begun := time.Now()
		if <-lost; time.Since(begun) != time.Second {
			t.Errorf("lost after %v", time.Since(begun))
		}
		s.Stands()
		synctest.Wait()
		if n := undone.Load(); n != 1 {
			t.Errorf("%d attempts were undone; expected the one that was said to be lost", n)
		}
		s.Close()
	})
}
