package proc

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// There is no Pdeathsig here: an orphan notices by the end of its input.
func childAttr(c *Command) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: !c.Joins} }

// signalSpace is for a namespace, which this system does not have.
func signalSpace(int, syscall.Signal) error { return errors.ErrUnsupported }

func closeStrangeFilesOnExec() {}

// awaitExit waits until the process has ended, and leaves it to be waited for. If
// it cannot, it returns at once: waiting for the process then blocks.
func awaitExit(p *os.Process) {
	queue, err := unix.Kqueue()
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(queue) }() // nothing was written
	unix.CloseOnExec(queue)
	watch := []unix.Kevent_t{{Fflags: unix.NOTE_EXIT}}
	unix.SetKevent(&watch[0], p.Pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	err = unix.EINTR
	for errors.Is(err, unix.EINTR) {
		_, err = unix.Kevent(queue, watch, make([]unix.Kevent_t, 1), nil)
	}
}

// adopt does nothing: orphans here go to the first process of the system.
func adopt() {}

// sweep finds nothing, likewise: what leaves its process group is lost.
func sweep(string) {}
