//go:build linux || darwin

package guard

import "golang.org/x/sys/unix"

// spareFile is the lowest number from n on that an open file could get; 0: there is none.
func spareFile(n int) int {
	spare, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, n)
	switch err {
	case nil:
		_ = unix.Close(spare)
		return spare
	case unix.EMFILE:
		return 0
	}
	return n // there is no standard error, or so many files are not allowed
}
