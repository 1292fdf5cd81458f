package proc

import (
	"errors"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func childAttr(joins bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: !joins, Pdeathsig: syscall.SIGKILL}
}

// closeStrangeFilesOnExec spares children the files that this process inherited
// and does not know of. Go's own are closed anyway.
func closeStrangeFilesOnExec() {
	const afterStderr = 3
	// Older kernels do not know it; then the children inherit what this one did.
	_ = unix.CloseRange(afterStderr, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
}

// awaitExit waits until the process has ended, and leaves it to be waited for. It
// waits for a pidfd, as for a socket, since a blocking wait would take a thread for
// every child; where there are no pidfds, it does that.
func awaitExit(p *os.Process) {
	if fd, err := unix.PidfdOpen(p.Pid, unix.PIDFD_NONBLOCK); err == nil {
		file := os.NewFile(uintptr(fd), "pidfd")
		defer func() { _ = file.Close() }() // nothing was written
		if awaitReadable(file) == nil {
			return
		}
	}
	err := error(unix.EINTR)
	for errors.Is(err, unix.EINTR) {
		err = unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
	}
}

func awaitReadable(file *os.File) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Read(func(fd uintptr) bool {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, 0)
		return err == nil && n > 0
	})
}
