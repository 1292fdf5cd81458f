package bus

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"

	"github.com/nats-io/nats.go"
	"golang.org/x/sys/unix"
)

// quickSockets has a connection read and write in a way of its own.
//
// Go wakes a thread of its runtime whenever a process enters a system call after all of it has
// slept. This thread, which looks for calls that block, then wakes every 20 µs for a while. To
// a node, which sleeps and wakes with nearly each message, it costs a third of its processor
// time. But these calls never block, since the socket does not wait, so nobody has to watch them.
func quickSockets(a *arrivals) nats.Option {
	return func(o *nats.Options) error {
		o.CustomDialer = quickDialer{o, a}
		return nil
	}
}

type quickDialer struct {
	options  *nats.Options
	arrivals *arrivals // nil: nobody notes them
}

func (d quickDialer) Dial(network, address string) (net.Conn, error) {
	conn, err := net.DialTimeout(network, address, d.options.Timeout)
	if err != nil {
		return nil, err
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		if raw, err := tcp.SyscallConn(); err == nil {
			c := newQuickConn(tcp, raw)
			if d.arrivals != nil {
				c.stamp(d.arrivals)
			}
			return c, nil
		}
	}
	return conn, nil
}

// A quickConn is a TCP connection. One goroutine at a time may read, and one write.
type quickConn struct {
	*net.TCPConn
	raw syscall.RawConn

	reading, writing transfer
	arrivals         *arrivals // nil: nobody notes them
}

// A transfer is a call that goes on, with room for what its function would otherwise
// allocate each time.
type transfer struct {
	bytes []byte
	n     int
	err   error
	try   func(fd uintptr) (done bool)
}

func newQuickConn(tcp *net.TCPConn, raw syscall.RawConn) *quickConn {
	c := &quickConn{TCPConn: tcp, raw: raw}
	c.reading.try = func(fd uintptr) bool {
		t := &c.reading
		t.n, t.err = call(unix.SYS_READ, fd, unsafe.SliceData(t.bytes), len(t.bytes))
		return t.err != unix.EAGAIN
	}
	c.writing.try = func(fd uintptr) bool {
		t := &c.writing
		for t.n < len(t.bytes) {
			var n int
			if n, t.err = call(unix.SYS_WRITE, fd, &t.bytes[t.n], len(t.bytes)-t.n); t.err != nil {
				return t.err != unix.EAGAIN
			}
			t.n += n
		}
		return true
	}
	return c
}

// call is a system call on a socket, about what is at p, with one more argument.
func call[T any](number, fd uintptr, p *T, more int) (n int, err error) {
	for {
		r, _, e := unix.RawSyscall(number, fd, uintptr(unsafe.Pointer(p)), uintptr(more))
		switch e {
		case 0:
			return int(r), nil
		case unix.EINTR:
		default:
			return 0, e
		}
	}
}

func (t *transfer) run(start func(func(uintptr) bool) error, bytes []byte) (int, error) {
	t.bytes, t.n, t.err = bytes, 0, nil
	err := start(t.try)
	t.bytes = nil
	if err == nil && t.err != nil {
		err = os.NewSyscallError("socket", t.err)
	}
	return t.n, err
}

func (c *quickConn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	c.arrivals.reads()
	n, err := c.reading.run(c.raw.Read, b)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

func (c *quickConn) Write(b []byte) (int, error) { return c.writing.run(c.raw.Write, b) }
