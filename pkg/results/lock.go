package results

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gofrs/flock"

	"github.com/conclave-bench/conclave/internal/base/files"
)

// lock takes the folder for this process, or says which process has it. The
// kernel drops the lock of a process that dies, so a stale file locks nobody
// out.
func lock(dir string) (*flock.Flock, error) {
	path := filepath.Join(dir, lockFile)
	// What a link leads to would be written over.
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("lock: %s is no regular file; remove it", path)
	}
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o644))
	ok, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock: %w; expected a folder on a file system with file locks", err)
	}
	if !ok {
		holder := "another process"
		// Where locks are mandatory the number cannot be read.
		if b, err := files.Read(path, files.MiB); err == nil && len(bytes.TrimSpace(b)) > 0 {
			holder = "process " + string(bytes.TrimSpace(b))
		}
		return nil, fmt.Errorf("%s is in use by %s; wait for it to end, or end it", dir, holder)
	}
	err = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o644)
	if err != nil && lockShowsHolder {
		_ = l.Unlock()
		return nil, fmt.Errorf("lock: %w", err)
	}
	return l, nil
}

// unlock gives the folder back. The file stays: removing it would let a process
// that has it open lock one file while another locks the next.
func unlock(l *flock.Flock) error {
	_ = os.Truncate(l.Path(), 0) // only the holder's number, which nobody needs now
	return l.Unlock()
}
