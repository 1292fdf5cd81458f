package memberlist

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/systems/bubble"
)

// The member is the transport of its list.
var _ memberlist.Transport = (*member)(nil)

func (m *member) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	a := address(m.ID)
	return a.IP, a.Port, nil
}

func (m *member) PacketCh() <-chan *memberlist.Packet { return m.packets }
func (m *member) StreamCh() <-chan net.Conn           { return m.streams }
func (m *member) Shutdown() error                     { return nil }

// WriteTo sends a datagram. A receiver whose queue is full drops it.
func (m *member) WriteTo(b []byte, addr string) (time.Time, error) {
	to, err := number(addr)
	if err != nil {
		return time.Time{}, err
	}
	data, from := append([]byte(nil), b...), address(m.ID)
	m.Send(to, packet, len(data), func(s bubble.Subject) {
		select {
		case s.(*member).packets <- &memberlist.Packet{Buf: data, From: from, Timestamp: time.Now()}:
		default:
		}
	})
	return time.Now(), nil
}

// DialTimeout opens a stream, in one round trip.
func (m *member) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	to, err := number(addr)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	here := newStream()
	there, err := bubble.Call(ctx, m.Process, to, dial, accept, 0, func(s bubble.Subject) (*stream, int) {
		at := s.(*member)
		far := newStream()
		go far.pump(at.Process, m.ID, here)
		select {
		case at.streams <- far.ours:
		case <-at.Done():
		}
		return far, 0
	})
	if err != nil {
		return nil, err
	}
	go here.pump(m.Process, to, there)
	return here.ours, nil
}

// A stream is one end of a connection. The library has ours; what it writes there leaves in segments, which the
// other end puts in order.
type stream struct {
	ours, wire net.Conn

	mu      sync.Mutex
	next    uint64            // segment to hand over
	waiting map[uint64][]byte // those behind it
	busy    bool              // somebody hands segments over
}

func newStream() *stream {
	s := &stream{waiting: map[uint64][]byte{}}
	s.ours, s.wire = net.Pipe()
	return s
}

// pump sends what the library writes to the other end, until it closes. The last segment is empty.
func (s *stream) pump(p *bubble.Process, to algo.ID, other *stream) {
	stop := context.AfterFunc(ended(p), func() { _ = s.wire.Close() })
	defer stop()
	buf := make([]byte, 64<<10)
	for seq := uint64(0); ; seq++ {
		n, err := s.wire.Read(buf)
		data := append([]byte(nil), buf[:n]...)
		p.Send(to, segment, n, func(bubble.Subject) { other.arrive(seq, data) })
		if err != nil {
			if n > 0 {
				p.Send(to, segment, 0, func(bubble.Subject) { other.arrive(seq+1, nil) })
			}
			return
		}
	}
}

// ended ends with the process.
func ended(p *bubble.Process) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-p.Done(); cancel() }()
	return ctx
}

// arrive hands a segment over, after those before it.
func (s *stream) arrive(seq uint64, data []byte) {
	s.mu.Lock()
	if seq >= s.next {
		s.waiting[seq] = data
	}
	if s.busy {
		s.mu.Unlock()
		return
	}
	s.busy = true
	for {
		data, here := s.waiting[s.next]
		if !here {
			break
		}
		delete(s.waiting, s.next)
		s.next++
		s.mu.Unlock()
		if len(data) == 0 {
			_ = s.wire.Close()
		} else {
			_, _ = s.wire.Write(data)
		}
		s.mu.Lock()
	}
	s.busy = false
	s.mu.Unlock()
}
