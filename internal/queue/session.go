package queue

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// A session carries the input and output of a program on another machine by way of NATS: at
// one end is who leads it, at the other who has started it. Each frame is sealed to a key
// that its reader made for this session, and numbered: one that is lost ends the session,
// one that comes twice, or from somebody else, is ignored. How much is on its way is
// bounded. NATS knows neither what the frames hold nor that they are lost.
type session struct {
	nc      *nats.Conn
	publish func(subject string, data []byte) error // by way of nc
	sub     *nats.Subscription

	lead  bool          // this end leads; else it has the program
	own   bool          // the connection was made for this session
	keys  nkeys.KeyPair // of this end
	peer  string        // the public key of the other one
	inbox string        // of the other one
	done  chan struct{} // closed when it is over

	mu      sync.Mutex
	changed *sync.Cond
	early   [][]byte // frames that came before the reader knew from whom
	number  uint64   // of frames sent
	heard   uint64   // of frames that came
	sent    uint64   // bytes, and
	taken   uint64   // how many of them the other end has read
	in      []byte   // bytes that came and were not read yet
	read    uint64   // bytes, and
	told    uint64   // of how many of them the other end knows
	ended   bool     // no more bytes come
	last    time.Time
	limit   time.Time // of writing
	why     error     // that it is over; nil: it is not
}

const (
	frameHead = 18          // number, bytes taken, kind, side
	atMost    = 256 << 10   // bytes in a frame
	window    = 16 * atMost // bytes on their way
	mostEarly = 16
	beatEvery = time.Second
	// silence is how long the other end may say nothing.
	silence = 6 * time.Second
)

// Kinds of frames.
const (
	beat   = iota // is there, and has taken so much
	data          // bytes
	finish        // no more bytes; from the end with the program: it has ended, for that reason
	kill          // the program is to end at once
)

var errKilled = errors.New("it was ended by bench")

// newSession listens for the other end. Begin begins, when that is known.
func newSession(nc *nats.Conn, lead bool) (s *session, key string, err error) {
	if s, key, err = endOf(lead, nc.Publish); err == nil {
		s.nc = nc
		s.sub, err = nc.Subscribe(nats.NewInbox(), func(m *nats.Msg) { s.hear(m.Data) })
	}
	return s, key, err
}

// endOf is an end that hears nothing yet.
func endOf(lead bool, publish func(subject string, data []byte) error) (s *session, key string, err error) {
	s = &session{publish: publish, lead: lead, done: make(chan struct{})}
	s.changed = sync.NewCond(&s.mu)
	if s.keys, err = nkeys.CreateCurveKeys(); err == nil {
		key, err = s.keys.PublicKey()
	}
	return s, key, err
}

func (s *session) begin(inbox, key string) error {
	if !nkeys.IsValidPublicCurveKey(key) || inbox == "" {
		return errors.New("begin a session by way of NATS: no key or no inbox of the other end")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inbox, s.peer, s.last = inbox, key, time.Now()
	for _, f := range s.early {
		s.take(f)
	}
	s.early = nil
	go s.watch()
	return nil
}

// watch says again and again that this end is there, and looks whether the other one is.
func (s *session) watch() {
	tick := time.Tick(beatEvery)
	for {
		select {
		case <-s.done:
			return
		case <-tick:
		}
		s.mu.Lock()
		if quiet := time.Since(s.last); quiet > silence {
			s.end(fmt.Errorf("nothing came from it by way of NATS for %v", quiet.Round(time.Second)))
		} else {
			s.send(beat, nil)
		}
		s.mu.Unlock()
	}
}

// send sends a frame. Frames arrive in the order of their numbers, so s.mu is held.
func (s *session) send(kind byte, b []byte) {
	if s.why != nil {
		return
	}
	s.number++
	f := make([]byte, frameHead, frameHead+len(b))
	binary.LittleEndian.PutUint64(f, s.number)
	binary.LittleEndian.PutUint64(f[8:], s.read)
	f[16], f[17] = kind, s.side()
	s.told = s.read
	sealed, err := s.keys.Seal(append(f, b...), s.peer)
	if err == nil {
		err = s.publish(s.inbox, sealed)
	}
	if err != nil {
		s.end(fmt.Errorf("send by way of NATS: %w", err))
	}
}

// side is what tells frames of this end from those of the other one: one key opens both.
func (s *session) side() byte {
	if s.lead {
		return 1
	}
	return 0
}

func (s *session) hear(f []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peer != "" {
		s.take(f)
	} else if len(s.early) < mostEarly {
		s.early = append(s.early, f)
	}
}

// take takes in a frame. What is none of this session is whoever's.
func (s *session) take(sealed []byte) {
	if s.why != nil {
		return
	}
	f, err := s.keys.Open(sealed, s.peer)
	if err != nil || len(f) < frameHead || f[17] == s.side() {
		return
	}
	number, taken, b := binary.LittleEndian.Uint64(f), binary.LittleEndian.Uint64(f[8:]), f[frameHead:]
	if number <= s.heard {
		return
	}
	if number > s.heard+1 {
		s.end(fmt.Errorf("messages from it were lost by way of NATS: %d", number-s.heard-1))
		return
	}
	s.heard, s.taken, s.last = number, taken, time.Now()
	switch f[16] {
	case data:
		if s.in = append(s.in, b...); len(s.in) > window {
			s.end(errors.New("it sent more by way of NATS than was asked for"))
		}
	case finish:
		if s.ended = true; s.lead {
			s.end(errors.New(string(b)))
		}
	case kill:
		s.end(errKilled)
	}
	s.changed.Broadcast()
}

// end ends the session. What has come can be read.
func (s *session) end(why error) {
	if s.why != nil {
		return
	}
	s.why = why
	close(s.done)
	s.changed.Broadcast()
}

// Read implements agent.Program.
func (s *session) Read(b []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.in) == 0 && !s.ended && s.why == nil {
		s.changed.Wait()
	}
	if len(s.in) == 0 {
		if s.ended {
			return 0, io.EOF
		}
		return 0, s.why
	}
	n = copy(b, s.in)
	s.in = s.in[n:]
	if s.read += uint64(n); s.read-s.told > window/4 {
		s.send(beat, nil)
	}
	return n, nil
}

// Write implements agent.Program. It waits while too much is on its way.
func (s *session) Write(b []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(b) > 0 {
		k := min(len(b), atMost)
		for s.why == nil && s.sent+uint64(k) > s.taken+window {
			if !s.limit.IsZero() && !time.Now().Before(s.limit) {
				return n, os.ErrDeadlineExceeded
			}
			s.changed.Wait()
		}
		if s.why != nil {
			return n, s.why
		}
		s.send(data, b[:k])
		s.sent += uint64(k)
		b, n = b[k:], n+k
	}
	return n, nil
}

// SetWriteDeadline implements agent.Program.
func (s *session) SetWriteDeadline(at time.Time) error {
	s.mu.Lock()
	s.limit = at
	s.mu.Unlock()
	time.AfterFunc(time.Until(at)+time.Millisecond, s.changed.Broadcast)
	return nil
}

// CloseWrite implements agent.Program.
func (s *session) CloseWrite() error {
	s.finish("")
	return nil
}

// finish says that no more bytes come, and why.
func (s *session) finish(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send(finish, []byte(why))
}

// Done implements agent.Program.
func (s *session) Done() <-chan struct{} { return s.done }

// Obituary implements agent.Program.
func (s *session) Obituary() string {
	<-s.done
	return s.why.Error()
}

// Kill implements agent.Program.
func (s *session) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send(kill, nil)
	s.end(errKilled)
}

// Close implements agent.Program.
func (s *session) Close() {
	s.Kill()
	_ = s.sub.Unsubscribe() // the connection may be gone
	if s.own {
		_ = s.nc.FlushTimeout(time.Second)
		s.nc.Close()
	}
}
