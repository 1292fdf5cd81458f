package telemetry

import (
	"os"

	"golang.org/x/sys/unix"
)

const mapPopulate = 0

func allocate(f *os.File, offset, size int64) error {
	space := unix.Fstore_t{Flags: unix.F_ALLOCATEALL, Posmode: unix.F_PEOFPOSMODE, Length: size}
	if err := unix.FcntlFstore(f.Fd(), unix.F_PREALLOCATE, &space); err != nil {
		return err
	}
	return f.Truncate(offset + size)
}
