package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

var errVanished = errors.New("the folder was removed or replaced during the run")

// fault says what failed, where and why, and what to do about it. The errors of
// package os name the system call first, which tells a user nothing.
func fault(what string, err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		return fmt.Errorf("%s: %s: %w%s", what, e.Path, e.Err, remedy(e.Err))
	case *os.LinkError:
		return fmt.Errorf("%s: %s: %w%s", what, e.New, e.Err, remedy(e.Err))
	}
	return fmt.Errorf("%s: %w%s", what, err, remedy(err))
}

func remedy(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "; free some space there and continue, or choose another folder with --out"
	case errors.Is(err, syscall.EFBIG):
		return "; raise the limit on the size of files (ulimit -f)"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "; expected a folder that can be written, choose another with --out"
	case errors.Is(err, syscall.ENOTDIR):
		return "; expected a folder, found a file; choose another with --out"
	case errors.Is(err, errVanished):
		return "; put it back, or start a new run"
	}
	return ""
}
