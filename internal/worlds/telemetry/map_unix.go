//go:build linux || darwin

package telemetry

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Map maps the first size bytes of a file, for which there is disk space then.
func Map(f *os.File, size int) ([]byte, error) { return reserve(f, 0, size) }

// reserve makes sure that the file has disk space for size bytes at offset, where
// it ends or before, and maps them. Without the space, a write to the mapping
// would end the process by SIGBUS.
func reserve(f *os.File, offset int64, size int) ([]byte, error) {
	err := error(unix.EINTR)
	for errors.Is(err, unix.EINTR) {
		err = allocate(f, offset, int64(size))
	}
	if err != nil {
		return nil, fmt.Errorf("reserve %d KiB: %w", size>>10, err)
	}
	const access = unix.PROT_READ | unix.PROT_WRITE
	m, err := unix.Mmap(int(f.Fd()), offset, size, access, unix.MAP_SHARED|mapPopulate)
	if err != nil {
		return nil, fmt.Errorf("map %d KiB: %w", size>>10, err)
	}
	return m, nil
}

// mapReadOnly maps the first size bytes.
func mapReadOnly(f *os.File, size int) ([]byte, error) {
	m, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %d KiB: %w", size>>10, err)
	}
	return m, nil
}

// Unmap gives a mapping up; nil is none.
func Unmap(m []byte) error {
	if m == nil {
		return nil
	}
	return unix.Munmap(m)
}
