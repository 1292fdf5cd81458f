//go:build linux

// Command relay is a network with delays, for tests: a switch between network interfaces that passes each
// Ethernet frame on after a while, which depends on where it came in and where it goes out.
//
//	relay IF1 IF2 ... < delays
//
//	relay off IF
//
// has an interface send whole frames, with checksums: what the system leaves to cards of its own does not
// pass a switch like this one. It is for the hosts' ends.
//
// Each line of the relay's input is an interface, another one, and the delay from the first to the second,
// as "to-a to-b 1.1ms". Frames between others pass at once.
package main

import (
	"bufio"
	"container/heap"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "relay:", err)
		os.Exit(1)
	}
}

func run(names []string) error {
	if len(names) == 2 && names[0] == "off" {
		return plain(names[1])
	}
	delays := map[[2]string]time.Duration{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var from, to, text string
		if n, _ := fmt.Sscan(lines.Text(), &from, &to, &text); n == 0 {
			continue
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%q: expected FROM TO DELAY: %w", strings.TrimSpace(lines.Text()), err)
		}
		delays[[2]string{from, to}] = d
	}
	s := &network{known: map[[6]byte]int{}}
	for _, name := range names {
		p, err := open(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.ports = append(s.ports, p)
	}
	for i, from := range names {
		for j, to := range names {
			if i == j {
				continue
			}
			w := &wire{to: s.ports[j], delay: delays[[2]string{from, to}], more: make(chan struct{}, 1)}
			s.ports[i].wires = append(s.ports[i].wires, w)
			go w.run()
			continue
		}
	}
	fmt.Println("ready")
	errs := make(chan error)
	for i := range s.ports {
		go func() { errs <- s.pump(i) }()
	}
	return <-errs
}

// A network is the ports of the switch, and behind which of them an address is.
type network struct {
	ports []*port
	mu    sync.Mutex
	known map[[6]byte]int
}

// A port is an interface.
type port struct {
	fd    int
	at    *unix.SockaddrLinklayer
	wires []*wire // to the other ports, in their order
}

// protocols is ETH_P_ALL as the network has it.
const protocols = unix.ETH_P_ALL<<8&0xff00 | unix.ETH_P_ALL>>8

func open(name string) (*port, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, protocols)
	if err != nil {
		return nil, err
	}
	at := &unix.SockaddrLinklayer{Protocol: protocols, Ifindex: i.Index}
	if err := unix.Bind(fd, at); err != nil {
		return nil, err
	}
	many := unix.PacketMreq{Ifindex: int32(i.Index), Type: unix.PACKET_MR_PROMISC}
	p := &port{fd: fd, at: at}
	return p, unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &many)
}

// plain switches off what is left to the card: checksums, and frames larger than the network's.
func plain(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written
	for _, what := range []uint32{
		unix.ETHTOOL_STXCSUM, unix.ETHTOOL_STSO, unix.ETHTOOL_SGSO, unix.ETHTOOL_SGRO} {
		value := [2]uint32{what, 0}
		request := struct {
			name [unix.IFNAMSIZ]byte
			data unsafe.Pointer
			_    [16]byte
		}{data: unsafe.Pointer(&value)}
		copy(request.name[:], name)
		_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL,
			uintptr(unsafe.Pointer(&request)))
		if e != 0 {
			return fmt.Errorf("%s: ethtool %#x: %w", name, what, e)
		}
	}
	return nil
}

// pump passes on what comes in at a port.
func (s *network) pump(in int) error {
	buf := make([]byte, 1<<16)
	for {
		n, from, err := unix.Recvfrom(s.ports[in].fd, buf, 0)
		if err == unix.EINTR {
			continue
		} else if err != nil {
			return err
		}
		now := time.Now()
		if l, ok := from.(*unix.SockaddrLinklayer); n < 14 || ok && l.Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		frame := append([]byte(nil), buf[:n]...)
		s.mu.Lock()
		s.known[[6]byte(frame[6:12])] = in
		out, known := s.known[[6]byte(frame[:6])]
		s.mu.Unlock()
		for i, w := range s.ports[in].wires {
			if to := i + min(1, max(0, i-in+1)); !known || to == out {
				w.put(packet{now.Add(w.delay), frame})
			}
		}
	}
}

// A wire passes frames on, each when it is due.
type wire struct {
	to    *port
	delay time.Duration
	more  chan struct{}
	mu    sync.Mutex
	queue queue
}

type packet struct {
	due   time.Time
	frame []byte
}

func (w *wire) put(p packet) {
	w.mu.Lock()
	heap.Push(&w.queue, p)
	w.mu.Unlock()
	select {
	case w.more <- struct{}{}:
	default:
	}
}

func (w *wire) run() {
	for range w.more {
		for {
			w.mu.Lock()
			if len(w.queue) == 0 {
				w.mu.Unlock()
				break
			}
			p := heap.Pop(&w.queue).(packet)
			w.mu.Unlock()
			time.Sleep(time.Until(p.due))
			_ = unix.Sendto(w.to.fd, p.frame, 0, w.to.at) // a network may lose it
		}
	}
}

// A queue is packets by their instants.
type queue []packet

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(packet)) }
func (q *queue) Pop() any {
	old := *q
	p := old[len(old)-1]
	*q = old[:len(old)-1]
	return p
}
