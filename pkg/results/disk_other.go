//go:build !windows

package results

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// lockShowsHolder says whether a locked file can be read and written.
const lockShowsHolder = true

// A pending file takes its name, and the place of an older file, only when
// publish is called.
type pending struct{ *renameio.PendingFile }

func newPending(path string) (pending, error) {
	f, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o644),
		renameio.WithTempDir(filepath.Dir(path)))
	return pending{f}, err
}

func (p pending) publish() error { return p.CloseAtomicallyReplace() }

// discard removes a file that was not published, and does nothing to one that
// was.
func (p pending) discard() { _ = p.Cleanup() }

func replaceSymlink(target, path string) error { return renameio.Symlink(target, path) }

// syncDir makes the names in dir survive a crash of the machine.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) {
		err = nil // some file systems cannot
	}
	return errors.Join(err, d.Close())
}
