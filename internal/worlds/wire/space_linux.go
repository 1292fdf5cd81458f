package wire

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/conclave-bench/conclave/internal/base/proc"
)

// device is the name of the TUN device of each end.
const device = "wire"

// tunPath is the file that devices are made with.
const tunPath = "/dev/net/tun"

// queued is how many packets wait in a device to be read: some milliseconds of a flood.
const queued = 8192

// A space is the network namespace of an end.
type space struct {
	ns  *os.File
	dev *os.File // /proc/net/dev as it is there
	tun *os.File // nil once another process has it
}

// newSpace makes the namespace of an end, with its device.
func newSpace(end uint32) (s *space, err error) {
	s = &space{}
	if err := elsewhere(unshare, func() error { return s.furnish(end) }); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// unshare has the thread in a new namespace.
func unshare() error { return unix.Unshare(unix.CLONE_NEWNET) }

// elsewhere runs f on a thread in a namespace, and waits for it.
func elsewhere(enter, f func() error) error {
	done := make(chan error, 1)
	proc.InNet(enter, func(err error) {
		if err == nil {
			err = f()
		}
		done <- err
	})
	return <-done
}

// do runs f on a thread in the namespace.
func (s *space) do(f func() error) error {
	return elsewhere(func() error { return unix.Setns(int(s.ns.Fd()), unix.CLONE_NEWNET) }, f)
}

// furnish opens what is needed of the namespace in which the thread is, and makes its device.
func (s *space) furnish(end uint32) (err error) {
	if s.ns, err = os.Open("/proc/thread-self/ns/net"); err != nil {
		return err
	}
	if s.dev, err = os.Open("/proc/thread-self/net/dev"); err != nil {
		return err
	}
	fd, err := unix.Open(tunPath, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: tunPath, Err: err}
	}
	s.tun = os.NewFile(uintptr(fd), tunPath)
	request, err := unix.NewIfreq(device)
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
		return fmt.Errorf("make TUN device: %w", err)
	}
	return configure(end)
}

// configure gives the device its address, and brings it and the loopback device up.
func configure(end uint32) error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(socket) }()
	address := Address(end).As4()
	for _, step := range []struct {
		what string
		name string
		call uint
		set  func(*unix.Ifreq) error
	}{
		{"address", device, unix.SIOCSIFADDR,
			func(r *unix.Ifreq) error { return r.SetInet4Addr(address[:]) }},
		{"mask", device, unix.SIOCSIFNETMASK,
			func(r *unix.Ifreq) error { return r.SetInet4Addr([]byte{255, 255, 0, 0}) }},
		{"MTU", device, unix.SIOCSIFMTU, func(r *unix.Ifreq) error { r.SetUint32(MTU); return nil }},
		{"state", device, unix.SIOCSIFFLAGS, up},
		{"state", "lo", unix.SIOCSIFFLAGS, up},
	} {
		request, err := unix.NewIfreq(step.name)
		if err == nil {
			err = step.set(request)
		}
		if err == nil {
			err = unix.IoctlIfreq(socket, step.call, request)
		}
		if err != nil {
			return fmt.Errorf("set the %s of device %s: %w", step.what, step.name, err)
		}
	}
	if err := lengthen(socket); err != nil {
		return fmt.Errorf("set the queue of device %s: %w", device, err)
	}
	return nil
}

// lengthen has the device hold more packets than devices do. By netlink, for the older way is closed to
// those who are root in a user namespace alone.
func lengthen(socket int) error {
	request, err := unix.NewIfreq(device)
	if err == nil {
		err = unix.IoctlIfreq(socket, unix.SIOCGIFINDEX, request)
	}
	if err != nil {
		return err
	}
	link, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(link) }()
	const size, attribute = unix.SizeofNlMsghdr + unix.SizeofIfInfomsg + 8, unix.SizeofRtAttr + 4
	order := binary.NativeEndian
	b := order.AppendUint32(nil, size)
	b = order.AppendUint16(b, unix.RTM_SETLINK)
	b = order.AppendUint16(b, unix.NLM_F_REQUEST|unix.NLM_F_ACK)
	b = append(b, make([]byte, 12)...)          // number, port, family and type of device
	b = order.AppendUint32(b, request.Uint32()) // its index
	b = append(b, make([]byte, 8)...)           // flags, of which none change
	b = order.AppendUint16(b, attribute)
	b = order.AppendUint16(b, unix.IFLA_TXQLEN)
	b = order.AppendUint32(b, queued)
	if err := unix.Sendto(link, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	var reply [256]byte
	n, err := unix.Read(link, reply[:])
	if err != nil || n < unix.SizeofNlMsghdr+4 {
		return cmp.Or(err, error(unix.EPROTO))
	}
	if code := int32(order.Uint32(reply[unix.SizeofNlMsghdr:])); code != 0 {
		return unix.Errno(-code)
	}
	return nil
}

func up(r *unix.Ifreq) error { r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING); return nil }

// missed is how many packets the device has lost because nobody read them in time.
func (s *space) missed() (uint64, error) {
	if _, err := s.dev.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	text, err := io.ReadAll(s.dev)
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		name, rest, _ := bytes.Cut(line, []byte(":"))
		const dropped = 11 // of what was to be sent; eight columns are of what came
		if fields := bytes.Fields(rest); string(bytes.TrimSpace(name)) == device && len(fields) > dropped {
			return strconv.ParseUint(string(fields[dropped]), 10, 64)
		}
	}
	return 0, errors.New("no device " + device + " in /proc/net/dev")
}

func (s *space) close() {
	for _, f := range []*os.File{s.ns, s.dev, s.tun} {
		if f != nil {
			_ = f.Close() // nothing was written
		}
	}
}
