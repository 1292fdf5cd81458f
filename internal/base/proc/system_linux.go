package proc

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

func childAttr(c *Command) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: !c.Joins, Pdeathsig: syscall.SIGKILL}
	if c.Outlives {
		attr.Pdeathsig = 0
	}
	if c.Apart {
		user, group := os.Getuid(), os.Getgid()
		attr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: unprivileged(user), HostID: user, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: unprivileged(group), HostID: group, Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
	return attr
}

// nobody is a user, and a group, that every system knows by a name, which some servers ask for.
const nobody = 65534

// unprivileged is what a user or group of this process is called in a namespace: servers of databases refuse
// to run as root.
func unprivileged(id int) int {
	if id == 0 {
		return nobody
	}
	return id
}

// signalSpace sends a signal to every process of the PID namespace that pid is the first of. It looks again
// until it finds none that it has not met: some may start others meanwhile.
func signalSpace(pid int, sig syscall.Signal) error {
	if err := unix.Kill(pid, sig); err != nil {
		return err
	}
	space, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
	if err != nil {
		return err
	}
	met := map[int]bool{pid: true}
	for again := true; again; {
		again = false
		list, err := os.ReadDir("/proc")
		if err != nil {
			return err
		}
		for _, entry := range list {
			other, err := strconv.Atoi(entry.Name())
			if err != nil || met[other] {
				continue
			}
			met[other] = true
			if of, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", other)); err == nil && of == space {
				_ = unix.Kill(other, sig) // it has ended, perhaps
				again = true
			}
		}
	}
	return nil
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
