package agent

import (
	"net"

	"golang.org/x/sys/unix"
)

// sentAgain is how many packets of a connection were sent again so far.
func sentAgain(c net.Conn) (n int) {
	tcp, is := c.(*net.TCPConn)
	if !is {
		return 0
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			n = int(info.Total_retrans)
		}
	})
	return n
}
