package wire

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/pkg/link"
)

// predicted is how often each of so many packets of a link arrives, by the network model alone.
func predicted(n *link.Network, from, to uint32, packets, bytes int) (times []int) {
	flow := n.Flow(Plane, from, 0, to)
	for range packets {
		fate, came := n.Send(&flow, 0, bytes, nil), 0
		if !fate.Lost {
			came++
		}
		if fate.Duplicated && !fate.CopyLost {
			came++
		}
		times = append(times, came)
	}
	return times
}

func sum(list []int) (n int) {
	for _, x := range list {
		n += x
	}
	return n
}

// heads are the bytes that IP and UDP put before a datagram.
const heads = 28

// TestWire_Fates: which datagrams arrive, and how often, is what the network model says of their numbers,
// each time that they are sent. What is lost is within the 99.9 % interval of the loss asked for.
func TestWire_Fates(t *testing.T) {
	t.Parallel()
	w := openWire(t, 2)
	from, to := listenUDP(t, w, 1), listenUDP(t, w, 2)
	came := hear(to)
	const packets, atOnce = 4000, 50 // of which its socket has room for some
	run := func(t *testing.T, n link.Network) []int {
		begin(t, w, n)
		came.forget()
		want := predicted(&n, 1, 2, packets, heads+4)
		for k := 0; k < packets; k += atOnce {
			send(t, from, 2, k, k+atOnce)
			came.await(t, sum(want[:k+atOnce]), packets)
		}
		s := eventually(t, w, "none is on its way", func(s *Stats) bool { return s.Waiting == 0 })
		balance(t, s)
		if got := came.await(t, sum(want), packets); !slices.Equal(got, want) {
			t.Errorf("other datagrams came than those that the model lets pass")
		}
		if !n.Unordered && !came.inOrder() {
			t.Error("datagrams overtook each other")
		}
		l := s.Link(1, 2)
		if l.Packets != packets || l.Bytes != packets*(heads+4) || s.LostByMachine() > 0 {
			t.Errorf("%+v, want %d packets, none lost by the machine", s, packets)
		}
		sigma := math.Sqrt(packets * n.Loss * (1 - n.Loss))
		if n.Duplication == 0 && n.Loss > 0 && math.Abs(float64(l.Lost)-packets*n.Loss) > 3.29*sigma {
			t.Errorf("%d of %d packets were lost, want %v ± %.0f", l.Lost, packets, packets*n.Loss, 3.29*sigma)
		}
		return want
	}
	for name, n := range map[string]link.Network{
		"1 %":  {Loss: 0.01},
		"5 %":  {Loss: 0.05},
		"20 %": {Loss: 0.2},
		"all":  {Loss: 0.1, Duplication: 0.2, Unordered: true, Latency: link.Uniform(0, 2*time.Millisecond)},
	} {
		t.Run(name, func(t *testing.T) {
			if n.Latency.Law == nil {
				n.Latency = link.Constant(0)
			}
			n.Seed = 7
			first, again := run(t, n), run(t, n)
			n.Seed = 8
			if other := run(t, n); !slices.Equal(first, again) || slices.Equal(first, other) {
				t.Error("the fates follow from something else than the seed")
			}
		})
	}
}

// TestWire_OneWay: of a link that is cut in one direction, the other one carries datagrams.
func TestWire_OneWay(t *testing.T) {
	t.Parallel()
	w := openWire(t, 3)
	one, two := listenUDP(t, w, 1), listenUDP(t, w, 2)
	atOne, atTwo := hear(one), hear(two)
	start := begin(t, w, link.Network{Latency: link.Constant(time.Millisecond)})
	cut(t, w, start, false, [2]uint32{1, 2})
	send(t, one, 2, 0, 20)
	send(t, two, 1, 0, 20)
	atOne.await(t, 20, 20)
	s := eventually(t, w, "20 datagrams are cut", func(s *Stats) bool { return s.Link(1, 2).Cut == 20 })
	balance(t, s)
	if s.Link(1, 2).Delivered != 0 || s.Link(2, 1).Delivered != 20 || s.Link(2, 1).Cut != 0 {
		t.Errorf("%+v, want all from 1 to 2 cut, and none from 2 to 1", s)
	}
	cut(t, w, start, true, [2]uint32{1, 2})
	send(t, one, 2, 20, 40)
	if got := atTwo.await(t, 20, 40); sum(got[:20]) != 0 || sum(got[20:]) != 20 {
		t.Errorf("at 2 came %v, want the last 20 alone", got)
	}
}

// TestWire_HandshakeUnanswered: a handshake to a host that is cut off is neither answered nor refused.
func TestWire_HandshakeUnanswered(t *testing.T) {
	t.Parallel()
	w := openWire(t, 2)
	listenTCP(t, w, 2)
	start := begin(t, w, link.Network{Latency: link.Constant(time.Millisecond)})
	cut(t, w, start, false, [2]uint32{1, 2}, [2]uint32{2, 1})
	_, err := dialTCP(w, 1, 2, 2500*time.Millisecond)
	if timeout := net.Error(nil); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("dial: %v, want a time-out", err)
	}
	s := stats(t, w)
	if l := s.Link(1, 2); l.Cut < 2 || l.Delivered != 0 || s.Link(2, 1).Packets != 0 {
		t.Errorf("%+v, want the handshake's first packet, again and again, and nothing back", s)
	}
}

// TestWire_FirstRetransmission: a handshake whose first packet is lost succeeds by the second, which the
// kernel sends after a second.
func TestWire_FirstRetransmission(t *testing.T) {
	t.Parallel()
	w := openWire(t, 2)
	listenTCP(t, w, 2)
	start := begin(t, w, link.Network{Latency: link.Constant(time.Millisecond)})
	cut(t, w, start, false, [2]uint32{1, 2})
	type dialled struct {
		took time.Duration
		err  error
	}
	done := make(chan dialled, 1)
	go func() {
		from := time.Now()
		conn, err := dialTCP(w, 1, 2, 30*time.Second)
		if err == nil {
			_ = conn.Close()
		}
		done <- dialled{time.Since(from), err}
	}()
	eventually(t, w, "the first packet is lost", func(s *Stats) bool { return s.Link(1, 2).Cut == 1 })
	cut(t, w, start, true)
	got := <-done
	s := stats(t, w)
	if got.err != nil || s.Link(1, 2).Cut != 1 {
		t.Fatalf("dial: %v; %+v, want one packet lost", got.err, s)
	}
	if got.took < 980*time.Millisecond {
		t.Errorf("the handshake took %v, want the second that the kernel waits", got.took)
	}
	t.Logf("a handshake whose first packet was lost took %v", got.took)
}

// TestWire_HalfOpen: a connection that is cut stays open at both ends; what was written meanwhile arrives
// when the links are back.
func TestWire_HalfOpen(t *testing.T) {
	t.Parallel()
	w := openWire(t, 2)
	l := listenTCP(t, w, 2)
	start := begin(t, w, link.Network{Latency: link.Constant(time.Millisecond), Loss: 0.05, Seed: 5})
	near, err := dialTCP(w, 1, 2, 30*time.Second)
	must(t, err)
	defer func() { _ = near.Close() }()
	far, err := l.Accept()
	must(t, err)
	defer func() { _ = far.Close() }()
	cut(t, w, start, false, [2]uint32{1, 2}, [2]uint32{2, 1})
	before := stats(t, w).Link(1, 2).Cut
	_, err = near.Write([]byte("hello"))
	must(t, err)
	eventually(t, w, "it is sent twice", func(s *Stats) bool { return s.Link(1, 2).Cut >= before+2 })
	var b [5]byte
	must(t, far.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	if n, err := far.Read(b[:]); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read %d bytes, %v, want none and no end", n, err)
	}
	cut(t, w, start, true)
	must(t, far.SetReadDeadline(time.Now().Add(30*time.Second)))
	if _, err := io.ReadFull(far, b[:]); err != nil || string(b[:]) != "hello" {
		t.Errorf("read %q, %v", b, err)
	}
}

// TestWire_Takes: no round trip is shorter than the links, and a bandwidth bounds what TCP carries.
func TestWire_Takes(t *testing.T) {
	t.Parallel()
	w := openWire(t, 2)
	l := listenTCP(t, w, 2)
	begin(t, w, link.Network{Latency: link.Constant(20 * time.Millisecond), Bandwidth: 4e5})
	from := time.Now()
	near, err := dialTCP(w, 1, 2, 30*time.Second)
	must(t, err)
	if took := time.Since(from); took < 40*time.Millisecond {
		t.Errorf("a handshake took %v, want a round trip, 40ms, at least", took)
	}
	far, err := l.Accept()
	must(t, err)
	go func() {
		_, _ = near.Write(make([]byte, 2e5))
		_ = near.Close()
	}()
	from = time.Now()
	n, err := io.Copy(io.Discard, far)
	took := time.Since(from)
	_ = far.Close()
	if err != nil || n != 2e5 || took < 450*time.Millisecond {
		t.Errorf("%d bytes in %v, %v, want 200000 in 0.5 s or more", n, took, err)
	}
	s := stats(t, w)
	if s.Link(1, 2).Bytes < 2e5 || s.Late.Max <= 0 || s.LostByMachine() > 0 {
		t.Errorf("%+v, want more than what was sent, and nothing lost", s)
	}
	balance(t, s)
}

// TestWire_Isolated: an end reaches the other ends and itself, and nothing else.
func TestWire_Isolated(t *testing.T) {
	t.Parallel()
	outside, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = outside.Close() }()
	w := openWire(t, 1)
	err = w.Do(1, func() error {
		if conn, err := net.DialTimeout("tcp4", outside.Addr().String(), time.Second); err == nil {
			_ = conn.Close()
			return errors.New("it reaches the loopback device of the machine")
		}
		if conn, err := net.DialTimeout("tcp4", "192.0.2.1:80", time.Second); err == nil {
			_ = conn.Close()
			return errors.New("it reaches the Internet")
		}
		l, err := net.Listen("tcp4", address(1, 7000))
		if err != nil {
			return err
		}
		defer func() { _ = l.Close() }()
		conn, err := net.DialTimeout("tcp4", l.Addr().String(), 5*time.Second)
		if err == nil {
			err = conn.Close()
		}
		return err
	})
	must(t, err)
}

// TestOpen_Refuses: what no wire can be.
func TestOpen_Refuses(t *testing.T) {
	t.Parallel()
	s := proc.NewSpawner()
	defer func() { must(t, s.Close()) }()
	for _, ends := range []int{0, -1, Most + 1} {
		if w, err := Open(s, config(ends)); err == nil {
			w.Close()
			t.Errorf("%d ends, and that is fine", ends)
		}
	}
	needWire(t)
	cfg := config(1)
	cfg.Env = []string{"CONCLAVE_TEST_CHILD=none such"} // a program that does not move packets
	w, err := Open(s, cfg)
	if err == nil {
		w.Close()
		t.Error("a wire without a process that moves packets")
	}
	two := openWire(t, 2)
	if err := two.Begin(Plan{Network: link.Network{Latency: link.Constant(0), Loss: 2}}); err == nil {
		t.Error("a loss of 2, and that is fine")
	}
}

// TestWire_Devices: a device holds a burst of packets that comes while the machine does something else.
func TestWire_Devices(t *testing.T) {
	t.Parallel()
	w := openWire(t, 2)
	for end := uint32(1); end <= 2; end++ {
		must(t, w.Do(end, checkDevice))
	}
}

// checkDevice checks the device of the namespace in which the thread is.
func checkDevice() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(socket) }()
	for call, want := range map[uint]uint32{unix.SIOCGIFTXQLEN: queued, unix.SIOCGIFMTU: MTU} {
		r, err := unix.NewIfreq(device)
		if err == nil {
			err = unix.IoctlIfreq(socket, call, r)
		}
		if err != nil {
			return err
		}
		if got := r.Uint32(); got != want {
			return fmt.Errorf("call %#x says %d, want %d", call, got, want)
		}
	}
	return nil
}

// TestWire_Keep: a wire without ends lasts until its owner has gone, and then removes what is there.
func TestWire_Keep(t *testing.T) {
	t.Parallel()
	needWire(t)
	s := proc.NewSpawner()
	t.Cleanup(func() { must(t, s.Close()) })
	folder := filepath.Join(t.TempDir(), "run")
	must(t, os.MkdirAll(filepath.Join(folder, "trial"), 0o700))
	w, err := Keep(s, config(0), folder)
	must(t, err)
	t.Cleanup(w.Close)
	if _, err := os.Stat(folder); err != nil {
		t.Error("while its owner lives:", err)
	}
	must(t, w.child.Stdin.Close()) // as the system does when the owner is killed
	<-w.child.Done()
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Error("it is still there:", err)
	}
}
