package results

import (
	"errors"
	"os"
	"path/filepath"
)

// lockShowsHolder says whether a locked file can be read and written.
const lockShowsHolder = false

// A pending file takes its name, and the place of an older file, only when
// publish is called.
type pending struct {
	*os.File
	path string
}

func newPending(path string) (pending, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"*")
	return pending{f, path}, err
}

func (p pending) publish() error {
	if err := errors.Join(p.Sync(), p.Close()); err != nil {
		return err
	}
	return os.Rename(p.Name(), p.path)
}

// discard removes a file that was not published, and does nothing to one that
// was.
func (p pending) discard() {
	_ = p.Close()
	_ = os.Remove(p.Name())
}

func replaceSymlink(target, path string) error {
	_ = os.Remove(path)
	return os.Symlink(target, path)
}

// syncDir does nothing: Windows has no such operation.
func syncDir(string) error { return nil }
