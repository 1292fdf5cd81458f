package bus

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stamp has the system say when what c reads came, and a take note of it. Where it does not say so, it came
// when it was read.
func (c *quickConn) stamp(a *arrivals) {
	c.arrivals = a
	_ = c.raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
	control := make([]byte, unix.CmsgSpace(int(unsafe.Sizeof(unix.Timespec{}))))
	var part unix.Iovec
	var head unix.Msghdr
	c.reading.try = func(fd uintptr) bool {
		t := &c.reading
		part.Base = unsafe.SliceData(t.bytes)
		part.SetLen(len(t.bytes))
		head = unix.Msghdr{Iov: &part, Control: unsafe.SliceData(control)}
		head.SetIovlen(1)
		head.SetControllen(len(control))
		t.n, t.err = call(unix.SYS_RECVMSG, fd, &head, 0)
		if t.err == nil {
			now := time.Now()
			a.came(now.Add(-age(control[:head.Controllen], now)))
		}
		part.Base = nil
		return t.err != unix.EAGAIN
	}
}

// age is how long before now came what was read, by the stamp of the system; 0 if it has none.
func age(control []byte, now time.Time) time.Duration {
	list, err := unix.ParseSocketControlMessage(control)
	for _, m := range list {
		const size = unsafe.Sizeof(unix.Timespec{})
		if err == nil && m.Header.Type == unix.SCM_TIMESTAMPNS && uintptr(len(m.Data)) >= size {
			then := (*unix.Timespec)(unsafe.Pointer(unsafe.SliceData(m.Data)))
			return max(time.Duration(now.UnixNano()-then.Nano()), 0)
		}
	}
	return 0
}
