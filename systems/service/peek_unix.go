//go:build unix

package service

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// Stands is nil if the other end has not closed the connection. It sends nothing, and takes nothing away that
// has come.
func Stands(conn net.Conn) error {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var n int
	var seen error
	err = raw.Control(func(fd uintptr) {
		n, _, seen = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	switch {
	case err != nil:
		return err
	case errors.Is(seen, syscall.EAGAIN) || errors.Is(seen, syscall.EINTR):
		return nil
	case seen == nil && n == 0:
		return io.EOF
	}
	return seen
}
