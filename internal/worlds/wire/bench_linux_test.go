package wire

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/pkg/link"
)

// seconds is how long each benchmark measures; CONCLAVE_WIRE_SECONDS sets it.
func seconds() time.Duration {
	if n, err := strconv.Atoi(os.Getenv("CONCLAVE_WIRE_SECONDS")); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	return 2 * time.Second
}

// BenchmarkDelay sends 1 000 datagrams a second over a link of 5 ms. Added is what a datagram takes beyond
// that, from right before the call that sends it until the system of its receiver has it, by its stamp.
// Late is what the wire says of itself.
func BenchmarkDelay(b *testing.B) {
	w := openWire(b, 2)
	from, to := listenUDP(b, w, 1), listenUDP(b, w, 2)
	const latency, pace = 5 * time.Millisecond, time.Millisecond
	for b.Loop() {
		begin(b, w, link.Network{Latency: link.Constant(latency)})
		n := int(seconds() / pace)
		added := make(chan []time.Duration)
		go func() { added <- stamps(b, to, n, latency) }()
		addr := net.UDPAddrFromAddrPort(netipPort(2))
		alarm, err := clock.NewAlarm()
		must(b, err)
		for next, k := clock.Monotonic(), 0; k < n; k++ {
			next += pace
			alarm.Set(next)
			for clock.Monotonic() < next {
				<-alarm.C
			}
			_, err := from.WriteToUDP(binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixNano())), addr)
			must(b, err)
		}
		alarm.Close()
		list := <-added
		slices.Sort(list)
		s := stats(b, w)
		micro := func(d time.Duration) float64 { return float64(d) / 1e3 }
		b.ReportMetric(micro(list[len(list)/2]), "added_p50_µs")
		b.ReportMetric(micro(list[len(list)*99/100]), "added_p99_µs")
		b.ReportMetric(micro(list[len(list)-1]), "added_max_µs")
		b.ReportMetric(micro(s.Late.P50), "late_p50_µs")
		b.ReportMetric(micro(s.Late.P99), "late_p99_µs")
		b.ReportMetric(float64(s.LostByMachine()), "lost_by_machine")
		b.ReportMetric(float64(len(list)), "packets")
		b.ReportMetric(0, "ns/op")
	}
}

// stamps are how long n datagrams took beyond the latency of their link, by the stamps of the system.
func stamps(b *testing.B, conn *net.UDPConn, n int, latency time.Duration) (added []time.Duration) {
	raw, err := conn.SyscallConn()
	must(b, err)
	must(b, raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	}))
	var data [64]byte
	var control [128]byte
	_ = conn.SetReadDeadline(time.Now().Add(seconds() + 10*time.Second))
	for len(added) < n {
		size, more, _, _, err := conn.ReadMsgUDPAddrPort(data[:], control[:])
		if err != nil {
			b.Error(err)
			break
		}
		list, err := unix.ParseSocketControlMessage(control[:more])
		if size != 8 || err != nil || len(list) == 0 || list[0].Header.Type != unix.SCM_TIMESTAMPNS {
			b.Error("a datagram without a stamp")
			break
		}
		came := (*unix.Timespec)(unsafe.Pointer(unsafe.SliceData(list[0].Data))).Nano()
		added = append(added, time.Duration(came-int64(binary.BigEndian.Uint64(data[:])))-latency)
	}
	return added
}

// BenchmarkPackets sends small datagrams over a link of 5 ms as fast as one thread can. Those that the
// device of the sender had no room for, since they came faster than they were moved, are missed.
func BenchmarkPackets(b *testing.B) {
	w := openWire(b, 2)
	from, _ := listenUDP(b, w, 1), listenUDP(b, w, 2)
	for b.Loop() {
		begin(b, w, link.Network{Latency: link.Constant(5 * time.Millisecond)})
		addr := net.UDPAddrFromAddrPort(netipPort(2))
		begun, sent := time.Now(), 0
		for time.Since(begun) < seconds() {
			for range 64 {
				if _, err := from.WriteToUDP(make([]byte, 64), addr); err == nil {
					sent++
				}
			}
		}
		passed := time.Since(begun)
		s := stats(b, w)
		l := s.Link(1, 2)
		b.ReportMetric(float64(sent)/passed.Seconds(), "sent/s")
		b.ReportMetric(float64(l.Delivered)/passed.Seconds(), "moved/s")
		b.ReportMetric(float64(s.Devices[0].Missed)/passed.Seconds(), "missed/s")
		b.ReportMetric(float64(s.Late.P50)/1e3, "late_p50_µs")
		b.ReportMetric(float64(s.Late.P99)/1e3, "late_p99_µs")
		b.ReportMetric(0, "ns/op")
	}
}

// BenchmarkTCP is what one TCP connection carries over a link without latency.
func BenchmarkTCP(b *testing.B) {
	w := openWire(b, 2)
	l := listenTCP(b, w, 2)
	for b.Loop() {
		begin(b, w, link.Network{Latency: link.Constant(0)})
		near, err := dialTCP(w, 1, 2, 10*time.Second)
		must(b, err)
		far, err := l.Accept()
		must(b, err)
		go func() {
			data := make([]byte, 64<<10)
			for err := error(nil); err == nil; {
				_, err = near.Write(data)
			}
		}()
		begun := time.Now()
		_ = far.SetReadDeadline(begun.Add(seconds()))
		n, err := io.Copy(io.Discard, far)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			b.Error(err)
		}
		passed := time.Since(begun)
		_, _ = near.Close(), far.Close()
		s := stats(b, w)
		b.ReportMetric(float64(n)*8/1e6/passed.Seconds(), "Mbit/s")
		b.ReportMetric(float64(s.Link(1, 2).Packets+s.Link(2, 1).Packets)/passed.Seconds(), "packets/s")
		b.ReportMetric(float64(s.LostByMachine()), "lost_by_machine")
		b.ReportMetric(0, "ns/op")
	}
}
