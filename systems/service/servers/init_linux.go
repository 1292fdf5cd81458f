package servers

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/conclave-bench/conclave/systems/service"
)

const initName = "init"

func init() { service.Program(initName, beInit) }

// UnderInit has a program run as on a machine of its own. In /proc it finds the processes of its own PID
// namespace. A process whose parent has ended is gone from there as soon as it ends: without that a program
// that waits until such a process is gone, as Patroni does for PostgreSQL, waits forever.
func UnderInit(c service.Command) service.Command {
	own, err := service.Own(initName, append([]string{c.Path}, c.Args...)...)
	if err != nil {
		return c
	}
	own.Name, own.Dir, own.Env = c.Name, c.Dir, append(own.Env, c.Env...)
	return own
}

// beInit mounts /proc anew, for its descendants alone, starts the program that its arguments name, and reaps
// every process that ends below it, until the program ends. Where it may not mount, the program has to
// do with what is there.
func beInit(args []string) error {
	if len(args) == 0 {
		return errors.New("no program is named")
	}
	runtime.LockOSThread() // the program ends with the thread that starts it
	if err := unix.Unshare(unix.CLONE_NEWNS); err == nil {
		err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, "")
		if err == nil {
			err = unix.Mount("proc", "/proc", "proc", 0, "")
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: mount /proc: %v\n", initName, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the parent of orphans: %w", err)
	}
	signal.Notify(make(chan os.Signal, 1)) // all of its process group get them, and the program decides
	program, err := os.StartProcess(args[0], args, &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys:   &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return err
	}
	for {
		var status unix.WaitStatus
		switch pid, err := unix.Wait4(-1, &status, 0, nil); {
		case errors.Is(err, unix.EINTR), err == nil && pid != program.Pid: // an orphan
		case err != nil:
			return fmt.Errorf("wait for %s: %w", args[0], err)
		case status.Signaled():
			const bySignal = 128 // as shells have it
			os.Exit(bySignal + int(status.Signal()))
		default:
			os.Exit(status.ExitStatus())
		}
	}
}
