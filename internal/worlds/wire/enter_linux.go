package wire

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// entered in the environment says that this process was started by Enter.
const entered = "BENCH_WIRE=entered"

// Available is an *Unavailable if this process cannot have a wire; nil if it can.
func Available() error {
	if err := freshSpace(); err != nil {
		return spaceless(err)
	}
	return deviceless()
}

// freshSpace makes a network namespace, which ends at once.
func freshSpace() error { return elsewhere(unshare, func() error { return nil }) }

// spaceless is why there are no network namespaces.
func spaceless(err error) *Unavailable {
	why := fmt.Sprintf("this system makes no network namespace (%v)", err)
	switch {
	case errors.Is(err, unix.EPERM):
		why = "only root may make network namespaces here; run it as root, or open user namespaces " +
			"(sysctl user.max_user_namespaces=10000, and kernel.apparmor_restrict_unprivileged_userns=0 " +
			"where there is such a key; in a container, --privileged)"
	case errors.Is(err, unix.ENOSPC):
		why = "there are too many namespaces; raise the limit with sysctl user.max_net_namespaces=10000 " +
			"and user.max_user_namespaces=10000"
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		why = "this kernel has no network namespaces; use one that is built with CONFIG_NET_NS"
	}
	return &Unavailable{why, err}
}

// deviceless is an *Unavailable if TUN devices cannot be made.
func deviceless() error {
	fd, err := unix.Open(tunPath, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err == nil {
		return unix.Close(fd)
	}
	why := fmt.Sprintf("%s cannot be opened (%v)", tunPath, err)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO):
		why = tunPath + " is missing; load it with \"modprobe tun\" as root, or start the container with " +
			"--device " + tunPath
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		why = "this user may not open " + tunPath + "; run it as root, or let others use it with " +
			"\"chmod 0666 " + tunPath + "\""
	}
	return &Unavailable{why, err}
}

// Enter makes sure that this process can have a wire. If it may make network namespaces, or can make none
// in any case, Enter returns at once. Otherwise it runs this program again in a user namespace of its
// own, as the same user, with the same arguments and files; it passes signals on, and returns when that
// has ended: then code is its exit code, and done is true. The error is an *Unavailable.
//
// It is for the beginning of a program. If this process is killed, so is the other one.
func Enter() (code int, done bool, err error) {
	err = freshSpace()
	switch {
	case err == nil:
		return 0, false, deviceless()
	case !errors.Is(err, unix.EPERM) || isEntered():
		return 0, false, spaceless(err)
	}
	if err := deviceless(); err != nil {
		return 0, false, err
	}
	exe, err := os.Executable()
	if err != nil {
		return 0, false, err
	}
	runtime.LockOSThread() // the child ends with the thread that has started it
	defer runtime.UnlockOSThread()
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer func() { signal.Stop(signals); close(signals) }()
	child, err := os.StartProcess(exe, os.Args, &os.ProcAttr{
		Env:   append(os.Environ(), entered),
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys:   sameUser(),
	})
	if err != nil {
		return 0, false, spaceless(err)
	}
	go func() {
		for s := range signals {
			if s == syscall.SIGTERM || s == syscall.SIGHUP { // the terminal sends the others to both
				_ = child.Signal(s) // it ends already, perhaps
			}
		}
	}()
	state, err := child.Wait()
	if err != nil {
		return 0, false, err
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), true, nil
	}
	return state.ExitCode(), true, nil
}

func isEntered() bool {
	for _, setting := range os.Environ() {
		if setting == entered {
			return true
		}
	}
	return false
}

// sameUser is a user namespace in which this user is who it was, and has what a wire takes. Servers that
// refuse to run as root so run there, too.
func sameUser() *syscall.SysProcAttr {
	own := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
	}
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: own(os.Getuid()),
		GidMappings: own(os.Getgid()),
		AmbientCaps: []uintptr{unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN},
		Pdeathsig:   syscall.SIGKILL,
	}
}
