package servers

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/conclave-bench/conclave/systems/service"
)

const itself = "sees-itself"

func init() { service.Program(itself, seeItself) }

// SeesItself has a program find in /proc the processes of its own PID namespace, which is not that of the
// files that are there.
func SeesItself(c service.Command) service.Command {
	own, err := service.Own(itself, append([]string{c.Path}, c.Args...)...)
	if err != nil {
		return c
	}
	own.Name, own.Dir, own.Env = c.Name, c.Dir, append(own.Env, c.Env...)
	return own
}

// seeItself mounts /proc anew, for itself alone, and becomes the program that its arguments name. Where it
// may not mount, the program has to do with what is there.
func seeItself(args []string) error {
	if len(args) == 0 {
		return errors.New("no program is named")
	}
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNS); err == nil {
		if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
			fmt.Fprintf(os.Stderr, "%s: mount /proc: %v\n", itself, err)
		}
	}
	return syscall.Exec(args[0], args, os.Environ())
}
