package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/base/proc/proctest"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/link"
)

func TestMain(m *testing.M) { proctest.Main(m) }

func init() {
	proctest.Programs["mover"] = func() {
		ends, _ := strconv.Atoi(os.Args[len(os.Args)-1])
		if err := Run(os.Stdin, os.Stdout, ends); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// needWire skips where there can be no wire; in CI it fails.
func needWire(t testing.TB) {
	t.Helper()
	err := Available()
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
}

// config is that of a wire whose packets this test binary moves.
func config(ends int) Config {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return Config{Exe: exe, Env: append(os.Environ(), proctest.Key+"=mover"), Ends: ends}
}

func openWire(t testing.TB, ends int) *Wire {
	t.Helper()
	needWire(t)
	s := proc.NewSpawner()
	t.Cleanup(func() { must(t, s.Close()) })
	w, err := Open(s, config(ends))
	must(t, err)
	t.Cleanup(w.Close)
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// begin begins a plan now.
func begin(t testing.TB, w *Wire, n link.Network) (start time.Duration) {
	t.Helper()
	start = clock.Monotonic()
	must(t, w.Begin(Plan{Network: n, Start: start}))
	return start
}

// cut cuts or heals links now.
func cut(t testing.TB, w *Wire, start time.Duration, heal bool, links ...[2]uint32) {
	t.Helper()
	at := clock.Monotonic() - start
	must(t, w.Apply(fault.Effect{Change: &link.Change{At: at, Heal: heal, Links: links}}))
}

func stats(t testing.TB, w *Wire) *Stats {
	t.Helper()
	s, err := w.Stats()
	must(t, err)
	return s
}

// eventually polls until ok, or fails with what was seen last.
func eventually(t testing.TB, w *Wire, what string, ok func(*Stats) bool) *Stats {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		s := stats(t, w)
		if ok(s) {
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: never; at last %+v", what, s)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func netipPort(end uint32) netip.AddrPort { return netip.AddrPortFrom(Address(end), 7000) }

// address is that of a port at an end.
func address(end uint32, port int) string { return fmt.Sprintf("%s:%d", Address(end), port) }

// listenUDP is a socket at an end, with room for many datagrams.
func listenUDP(t testing.TB, w *Wire, end uint32) *net.UDPConn {
	t.Helper()
	var conn *net.UDPConn
	must(t, w.Do(end, func() error {
		c, err := net.ListenPacket("udp4", address(end, 7000))
		if err == nil {
			conn = c.(*net.UDPConn)
		}
		return err
	}))
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetReadBuffer(4 << 20)
	return conn
}

// listenRaw listens in the namespace of the thread.
func listenRaw(end uint32) (net.Listener, error) { return net.Listen("tcp4", address(end, 7000)) }

func listenTCP(t testing.TB, w *Wire, end uint32) net.Listener {
	t.Helper()
	var l net.Listener
	must(t, w.Do(end, func() (err error) {
		l, err = listenRaw(end)
		return err
	}))
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func dialTCP(w *Wire, from, to uint32, timeout time.Duration) (conn net.Conn, err error) {
	err = w.Do(from, func() error {
		conn, err = net.DialTimeout("tcp4", address(to, 7000), timeout)
		return err
	})
	return conn, err
}

// send sends the numbers [first, last) as datagrams.
func send(t testing.TB, from *net.UDPConn, to uint32, first, last int) {
	t.Helper()
	addr := net.UDPAddrFromAddrPort(netipPort(to))
	for k := first; k < last; k++ {
		_, err := from.WriteToUDP(binary.BigEndian.AppendUint32(nil, uint32(k)), addr)
		must(t, err)
	}
}

// A tally counts the numbers that came.
type tally struct {
	mu     sync.Mutex
	counts map[int]int
	order  []int
}

// hear counts what comes to conn until it is closed.
func hear(conn *net.UDPConn) *tally {
	a := &tally{counts: map[int]int{}}
	go func() {
		var b [64]byte
		for {
			n, _, err := conn.ReadFromUDP(b[:])
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil && n == 4 {
				a.mu.Lock()
				k := int(binary.BigEndian.Uint32(b[:]))
				a.counts[k]++
				a.order = append(a.order, k)
				a.mu.Unlock()
			}
		}
	}()
	return a
}

// await waits until so many came, and returns how often each number came, from 0 to n.
func (a *tally) await(t testing.TB, came, n int) []int {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		a.mu.Lock()
		have, out := len(a.order), make([]int, n)
		for k, times := range a.counts {
			out[k] = times
		}
		a.mu.Unlock()
		if have >= came {
			return out
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d datagrams came, want %d", have, came)
		}
		time.Sleep(time.Millisecond)
	}
}

// forget begins anew.
func (a *tally) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counts, a.order = map[int]int{}, nil
}

func (a *tally) inOrder() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.IsSorted(a.order)
}

// spaceOf names the network namespace of a process; "" if it has ended.
func spaceOf(pid int) string {
	name, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
	return name
}

// inSpace are the processes in a network namespace.
func inSpace(name string) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && spaceOf(pid) == name {
			pids = append(pids, pid)
		}
	}
	return pids
}
