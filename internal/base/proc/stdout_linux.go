package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// takeOver is f as it was; f itself leads to instead from now on.
func takeOver(f, instead *os.File) (*os.File, error) {
	own, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(own), f.Name()), unix.Dup3(int(instead.Fd()), int(f.Fd()), 0)
}
