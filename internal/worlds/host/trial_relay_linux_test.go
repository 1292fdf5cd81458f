package host_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conclave-bench/conclave/internal/base/clock"
)

// A relay is a wire between two network interfaces of this namespace, on which each frame takes so long: what
// netem does, where a kernel has none. scripts/relay-trial.sh runs it as "trial-relay A DELAY B DELAY".
func relay(args []string) error {
	if len(args) != 4 {
		return errors.New("trial-relay needs an interface, how long frames from there take, and again")
	}
	var ends [2]int
	var delays [2]time.Duration
	for i := range ends {
		var err error
		if ends[i], err = openInterface(args[2*i]); err == nil {
			delays[i], err = time.ParseDuration(args[2*i+1])
		}
		if err != nil {
			return fmt.Errorf("%s: %w", args[2*i], err)
		}
	}
	failed := make(chan error, 2)
	for i := range ends {
		go func() { failed <- carry(ends[i], ends[1-i], delays[i]) }()
	}
	return <-failed
}

// openInterface is a socket for all frames of an interface.
func openInterface(name string) (int, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return 0, err
	}
	const all = unix.ETH_P_ALL<<8&0xff00 | unix.ETH_P_ALL>>8 // in the order of the network
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, all)
	if err != nil {
		return 0, os.NewSyscallError("socket", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: i.Index}); err != nil {
		return 0, os.NewSyscallError("bind", err)
	}
	// With each frame comes what the system has left undone of it, such as its checksum, and is to do
	// where it is sent on.
	if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1); err != nil {
		return 0, os.NewSyscallError("setsockopt", err)
	}
	return fd, unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP,
		&unix.PacketMreq{Ifindex: int32(i.Index), Type: unix.PACKET_MR_PROMISC})
}

// carry hands frames on, each so long after it came.
func carry(from, to int, delay time.Duration) error {
	type frame struct {
		due  time.Duration
		data []byte
	}
	waiting, failed := make(chan frame, 1<<16), make(chan error, 1)
	go func() {
		for f := range waiting {
			time.Sleep(f.due - clock.Monotonic())
			if _, err := unix.Write(to, f.data); err != nil && !errors.Is(err, unix.ENOBUFS) {
				failed <- err
				return
			}
		}
	}()
	buffer := make([]byte, 1<<17)
	for {
		n, who, err := unix.Recvfrom(from, buffer, 0)
		switch l, _ := who.(*unix.SockaddrLinklayer); {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case l != nil && l.Pkttype == unix.PACKET_OUTGOING: // our own
		default:
			select {
			case waiting <- frame{clock.Monotonic() + delay, append([]byte(nil), buffer[:n]...)}:
			case err := <-failed:
				return err
			}
		}
	}
}
