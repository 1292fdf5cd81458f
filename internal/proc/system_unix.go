//go:build linux || darwin

package proc

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	sigKill = syscall.SIGKILL
	sigTerm = syscall.SIGTERM
	sigStop = syscall.SIGSTOP
	sigCont = syscall.SIGCONT
)

// errNoChildren is why this system cannot have child processes.
var errNoChildren error

func signalGroup(pid int, sig syscall.Signal) error { return syscall.Kill(-pid, sig) }

// exitSignal is the name of the signal that ended a process, if one did.
func exitSignal(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return unix.SignalName(status.Signal())
	}
	return ""
}

func isTooManyFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

func isTooManyProcesses(err error) bool { return errors.Is(err, syscall.EAGAIN) }
