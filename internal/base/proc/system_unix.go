//go:build linux || darwin

package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

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

func signalOne(pid int, sig syscall.Signal) error { return syscall.Kill(pid, sig) }

// InBackground lets this process write to a terminal in whose background it is.
func InBackground() { signal.Ignore(unix.SIGTTOU) }

func closeOnExec(f *os.File) { unix.CloseOnExec(int(f.Fd())) }

// exitSignal is the name of the signal that ended a process, if one did.
func exitSignal(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return unix.SignalName(status.Signal())
	}
	return ""
}

// ReadUsage is what this process has used until now; zero if that is not known.
func ReadUsage() Usage {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return Usage{}
	}
	return newUsage(&r)
}

func newUsage(r *syscall.Rusage) Usage {
	return Usage{time.Duration(r.Utime.Nano() + r.Stime.Nano()), uint64(r.Nvcsw), uint64(r.Nivcsw)}
}

func usageOf(state *os.ProcessState) Usage {
	if r, ok := state.SysUsage().(*syscall.Rusage); ok {
		return newUsage(r)
	}
	return Usage{}
}

func isTooManyFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

func isTooManyProcesses(err error) bool { return errors.Is(err, syscall.EAGAIN) }

// RaiseFileLimit makes sure that this process may have need files open at once,
// and returns how many it may have.
func RaiseFileLimit(need uint64) (have uint64, err error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("read limit of open files: %w", err)
	}
	if have = limit.Cur; have >= need {
		return have, nil
	}
	// A system may allow less than the hard limit that it names.
	for _, wanted := range []uint64{limit.Max, need} {
		raised := unix.Rlimit{Cur: wanted, Max: limit.Max}
		if wanted <= limit.Max && unix.Setrlimit(unix.RLIMIT_NOFILE, &raised) == nil {
			have = wanted
			break
		}
	}
	if have < need {
		return have, fmt.Errorf("limit of open files: %d needed, %d allowed (hard limit %d): raise "+
			"it with \"ulimit -Hn %d\" as root, LimitNOFILE= (systemd) or --ulimit nofile= (docker), "+
			"or use fewer nodes", need, have, limit.Max, need)
	}
	return have, nil
}

// pollable makes the runtime wait for f as it waits for sockets: a read that
// blocks a thread would cost a switch of threads for every order.
func pollable(f io.Reader) io.Reader {
	file, ok := f.(*os.File)
	if !ok || unix.SetNonblock(int(file.Fd()), true) != nil {
		return f
	}
	return os.NewFile(file.Fd(), file.Name())
}
