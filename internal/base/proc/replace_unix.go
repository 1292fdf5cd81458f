//go:build linux || darwin

package proc

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Replace has this process run another program, which inherits a file under the number that the caller
// has told it in args. It returns only if that fails.
func Replace(path string, args, env []string, inherited *os.File) error {
	if _, err := unix.FcntlInt(inherited.Fd(), unix.F_SETFD, 0); err != nil {
		return err
	}
	err := syscall.Exec(path, append([]string{path}, args...), env)
	if errors.Is(err, syscall.EACCES) {
		err = errors.New("no program may be started in its folder (is it mounted with noexec?)")
	}
	return &fs.PathError{Op: "start", Path: path, Err: err}
}
