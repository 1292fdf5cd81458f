package mesh

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/conclave-bench/conclave/internal/base/transport"
)

// loopback are n addresses of this machine that no other test has.
func loopback(t *testing.T, n int) Config {
	t.Helper()
	var cfg Config
	net127 := byte(1 + networks.Add(1))
	for i := range n {
		a := netip.AddrFrom4([4]byte{127, 77, net127, byte(i + 1)})
		l, err := net.Listen("tcp", netip.AddrPortFrom(a, 0).String())
		if err != nil {
			t.Skip("no further loopback addresses here:", err)
		}
		cfg.Addresses = append(cfg.Addresses, netip.MustParseAddrPort(l.Addr().String()))
		must(t, l.Close())
	}
	return cfg
}

var networks atomic.Int32

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func join(t *testing.T, cfg Config, trial string, self uint32) (*Conn, <-chan transport.Message) {
	t.Helper()
	c := New(cfg)
	t.Cleanup(c.Close)
	in, err := c.Join(trial, self, len(cfg.Addresses))
	must(t, err)
	return c, in
}

func number(k int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(k)) }

// next is the next message, whose number it returns.
func next(t *testing.T, in <-chan transport.Message) (from uint32, k int) {
	t.Helper()
	select {
	case m := <-in:
		return m.From, int(binary.BigEndian.Uint32(m.Data))
	case <-time.After(20 * time.Second):
		t.Fatal("no message")
		return 0, 0
	}
}

// TestConn: what each process sends to each other one arrives once, in order, and with its sender.
func TestConn(t *testing.T) {
	t.Parallel()
	const processes, messages = 4, 500
	cfg := loopback(t, processes)
	conns, ins := make([]*Conn, processes), make([]<-chan transport.Message, processes)
	for i := range conns {
		conns[i], ins[i] = join(t, cfg, "t", uint32(i)+1)
	}
	for k := range messages {
		for i, c := range conns {
			for to := range uint32(processes) {
				if int(to) != i {
					must(t, c.Send(to+1, number(k)))
				}
			}
		}
	}
	for i, in := range ins {
		seen := make([]int, processes+1)
		for range messages * (processes - 1) {
			from, k := next(t, in)
			if from == uint32(i)+1 || k != seen[from] {
				t.Fatalf("process %d got %d of %d, want %d", i+1, k, from, seen[from])
			}
			seen[from]++
		}
	}
	for _, c := range conns {
		must(t, c.Flush(10*time.Second))
		if dropped, err := c.Dropped(); dropped > 0 || err != nil || len(c.Faults()) > 0 || c.Resets() > 0 {
			t.Errorf("%d dropped, %v, faults %q, %d resets", dropped, err, c.Faults(), c.Resets())
		}
	}
}

// TestConn_Restart: what is sent to a process that is down is lost, and what is sent to its next
// incarnation arrives; neither is a fault.
func TestConn_Restart(t *testing.T) {
	t.Parallel()
	cfg := loopback(t, 2)
	one, atOne := join(t, cfg, "t", 1)
	two, in := join(t, cfg, "t", 2)
	must(t, one.Send(2, number(0)))
	next(t, in)
	two.Close()
	for deadline := time.Now().Add(20 * time.Second); one.Resets() == 0; {
		must(t, one.Send(2, number(1)))
		must(t, one.Flush(10*time.Second))
		if time.Now().After(deadline) {
			t.Fatal("the death of the other process is never noticed")
		}
	}
	two, in = join(t, cfg, "t", 2)
	must(t, one.Send(2, number(2)))
	if from, k := next(t, in); from != 1 || k != 2 {
		t.Errorf("got %d from %d, want 2 from 1", k, from)
	}
	must(t, two.Send(1, number(3)))
	if from, k := next(t, atOne); from != 2 || k != 3 {
		t.Errorf("got %d from %d, want 3 from 2", k, from)
	}
	if faults := one.Faults(); len(faults) > 0 {
		t.Errorf("faults %q", faults)
	}
}

// TestConn_Strangers: a connection of another trial, or from an address of no process, is a fault, and what
// it says is not heard.
func TestConn_Strangers(t *testing.T) {
	t.Parallel()
	cfg := loopback(t, 2)
	one, in := join(t, cfg, "t", 1)
	two, _ := join(t, cfg, "other", 2)
	must(t, two.Send(1, number(7)))
	stranger, err := net.Dial("tcp", cfg.Addresses[0].String())
	must(t, err)
	defer func() { _ = stranger.Close() }()
	_, err = stranger.Write(appendFrame(appendFrame(nil, []byte("t")), number(8)))
	must(t, err)
	for deadline := time.Now().Add(20 * time.Second); len(one.Faults()) < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("faults %q, want two", one.Faults())
		}
	}
	for _, f := range one.Faults() {
		if !strings.Contains(f, "not of this trial") {
			t.Errorf("fault %q", f)
		}
	}
	if len(in) > 0 {
		t.Errorf("%d messages were heard", len(in))
	}
}

// TestConn_TooLong: a message beyond the limit is refused where it is sent, and is a fault where it comes.
func TestConn_TooLong(t *testing.T) {
	t.Parallel()
	cfg := loopback(t, 2)
	one, _ := join(t, cfg, "t", 1)
	two, _ := join(t, cfg, "t", 2)
	for _, c := range []struct {
		to   uint32
		size int
	}{{2, transport.MaxFrame + 1}, {0, 1}, {1, 1}, {3, 1}} {
		if err := one.Send(c.to, make([]byte, c.size)); err == nil {
			t.Errorf("%d bytes to %d, and that is fine", c.size, c.to)
		}
	}
	p := two.peers[0]
	p.mu.Lock()
	p.waiting = append(binary.BigEndian.AppendUint32(p.waiting, transport.MaxFrame+1), 1)
	p.mu.Unlock()
	p.ring()
	for deadline := time.Now().Add(20 * time.Second); len(one.Faults()) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never a fault")
		}
	}
	if got, want := one.Faults(), []string{"mesh: from process 2: a message that is too long"}; !slices.Equal(got, want) {
		t.Errorf("faults %q, want %q", got, want)
	}
}

// TestConn_Refuses: who is not one of the processes cannot join, nor twice as the same.
func TestConn_Refuses(t *testing.T) {
	t.Parallel()
	cfg := loopback(t, 2)
	for _, self := range []uint32{0, 3} {
		c := New(cfg)
		if _, err := c.Join("t", self, 2); err == nil {
			t.Errorf("joined as %d", self)
		}
		c.Close()
	}
	join(t, cfg, "t", 1)
	c := New(cfg)
	defer c.Close()
	if _, err := c.Join("t", 1, 2); err == nil || !strings.Contains(fmt.Sprint(err), "process 1") {
		t.Errorf("joined twice: %v", err)
	}
}

// TestConn_Close leaves no goroutine, whatever it waits for.
func TestConn_Close(t *testing.T) {
	cfg := loopback(t, 3)
	before := goleak.IgnoreCurrent()
	one, in := New(cfg), (<-chan transport.Message)(nil)
	in, err := one.Join("t", 1, 3)
	must(t, err)
	two := New(cfg)
	_, err = two.Join("t", 2, 3)
	must(t, err)
	must(t, two.Send(1, number(1)))
	next(t, in)
	must(t, two.Send(3, number(1))) // which does not listen
	two.Close()
	one.Close()
	one.Close()
	goleak.VerifyNone(t, before)
}
