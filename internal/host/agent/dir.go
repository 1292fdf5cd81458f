package agent

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// A machine's folder for telemetry holds a lock for as long as its owner lives:
// the kernel drops the lock of a process that dies, in whatever way.
const dirLock = "lock"

// makeDir makes a folder for telemetry in parent, and removes those that
// machines have left there whose process was killed.
func makeDir(parent string) (string, *flock.Flock, error) {
	sweepDirs(parent)
	for {
		dir, err := os.MkdirTemp(parent, fmt.Sprintf("conclave-%d-", os.Getpid()))
		if err != nil {
			return "", nil, fmt.Errorf("make a folder for telemetry: %w", err)
		}
		lock := flock.New(filepath.Join(dir, dirLock))
		ok, err := lock.TryLock()
		if err != nil {
			_ = os.RemoveAll(dir)
			return "", nil, fmt.Errorf("lock the folder for telemetry: %w", err)
		}
		// Another machine that sweeps may have been there between two steps.
		if _, err := os.Stat(lock.Path()); ok && err == nil {
			return dir, lock, nil
		}
		_ = lock.Close()
	}
}

// sweepDirs removes the folders in parent whose owners are dead. What cannot be
// read or removed is somebody else's.
func sweepDirs(parent string) {
	locks, _ := filepath.Glob(filepath.Join(parent, "conclave-*", dirLock))
	for _, path := range locks {
		lock := flock.New(path, flock.SetFlag(os.O_RDWR)) // without O_CREATE
		if ok, err := lock.TryLock(); ok && err == nil {
			_ = os.RemoveAll(filepath.Dir(path))
		}
		_ = lock.Close()
	}
}
