package fault

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/conclave-bench/conclave/systems/service"
)

// sharedMemory is where the C library has the shared memory and the semaphores that have names.
const sharedMemory = "/dev/shm"

const withMemory = "own-memory"

func init() { service.Program(withMemory, enterMemory) }

// ownMemory has a program see a folder for shared memory that is empty, but for what its own folder is in.
// The program alone gets env: a library that it names would otherwise be loaded before.
func ownMemory(c service.Command, env []string) service.Command {
	c.Env = slices.Concat(c.Env, env)
	own, err := service.Own(withMemory, slices.Concat(c.Env, []string{"--", c.Dir, c.Path}, c.Args)...)
	if err != nil {
		return c
	}
	own.Name, own.Dir = c.Name, c.Dir
	return own
}

// enterMemory becomes the program that follows "--" and its folder, with what comes before in its
// environment.
func enterMemory(args []string) error {
	i := slices.Index(args, "--")
	if i < 0 || len(args) < i+3 {
		return errors.New("no program is named")
	}
	runtime.LockOSThread()
	if err := hideMemory(args[i+1]); err != nil {
		return fmt.Errorf("a folder of its own for shared memory: %w", err)
	}
	return syscall.Exec(args[i+2], args[i+2:], append(os.Environ(), args[:i]...))
}

// hideMemory mounts an empty folder over that for shared memory, for this process alone, and below it what
// folder is in, if that was there.
func hideMemory(folder string) error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return err
	}
	below, err := filepath.Rel(sharedMemory, folder)
	if err != nil || strings.HasPrefix(below, "..") {
		return unix.Mount("tmpfs", sharedMemory, "tmpfs", 0, "")
	}
	first, _, _ := strings.Cut(below, "/")
	kept := filepath.Join(sharedMemory, first)
	was, err := unix.Open(kept, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", sharedMemory, "tmpfs", 0, ""); err != nil {
		return err
	}
	if err := os.Mkdir(kept, 0o700); err != nil {
		return err
	}
	from := fmt.Sprintf("/proc/self/fd/%d", was)
	if err := unix.Mount(from, kept, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	return os.Chdir(folder)
}
