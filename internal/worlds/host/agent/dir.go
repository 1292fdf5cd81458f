package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// A folder of a process's own holds a lock for as long as its owner lives: the kernel drops
// the lock of a process that dies, in whatever way.
const dirLock = "lock"

// MakeDir makes a folder in parent, "conclave-" and a name of its own behind prefix, which
// is the caller's until it removes it. It removes those of processes that were killed. The
// file "lock" in the folder is taken.
func MakeDir(parent, prefix string) (dir string, lock *flock.Flock, err error) {
	SweepDirs(parent)
	for {
		dir, err := os.MkdirTemp(parent, "conclave-"+prefix)
		if err != nil {
			return "", nil, fmt.Errorf("make a folder: %w", err)
		}
		lock := flock.New(filepath.Join(dir, dirLock))
		ok, err := lock.TryLock()
		if err != nil {
			_ = os.RemoveAll(dir)
			return "", nil, fmt.Errorf("lock a folder: %w", err)
		}
		// Another process that sweeps may have been there between two steps.
		if _, err := os.Stat(lock.Path()); ok && err == nil {
			return dir, lock, nil
		}
		_ = lock.Close()
	}
}

// KeepDir takes over a folder of MakeDir from a process that has become this one.
func KeepDir(dir string) (lock *flock.Flock, err error) {
	lock = flock.New(filepath.Join(dir, dirLock))
	if err = lock.Lock(); err != nil {
		return nil, fmt.Errorf("lock a folder: %w", err)
	}
	return lock, nil
}

// SweepDirs removes the folders of MakeDir in parent whose owners are dead. What cannot be read
// or removed is somebody else's.
func SweepDirs(parent string) {
	locks, _ := filepath.Glob(filepath.Join(parent, "conclave-*", dirLock))
	for _, path := range locks {
		lock := flock.New(path, flock.SetFlag(os.O_RDWR)) // without O_CREATE
		if ok, err := lock.TryLock(); ok && err == nil {
			removeDir(filepath.Dir(path))
		}
		_ = lock.Close()
	}
}

// removeDir removes a folder, under another name first: a process of the dead owner may still write to it.
// The lock goes last, so that the next sweep finds what could not be removed.
func removeDir(dir string) {
	swept := dir + "-swept"
	if os.Rename(dir, swept) != nil {
		return
	}
	entries, err := os.ReadDir(swept)
	for _, e := range entries {
		if e.Name() != dirLock {
			err = errors.Join(err, os.RemoveAll(filepath.Join(swept, e.Name())))
		}
	}
	if err == nil {
		_ = os.RemoveAll(swept)
	}
}
