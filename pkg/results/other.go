package results

import (
	"fmt"
	"path/filepath"
	"time"
)

// NewFolder makes a new folder root/<name>/<id> for results that are no run of trials, as
// Create does for those that are, and has root/<name>/latest name it.
func NewFolder(root, name string) (dir string, err error) {
	parent := filepath.Join(root, name)
	if err := free(parent); err != nil {
		return "", fmt.Errorf("results folder: %w", err)
	}
	if dir, err = makeRun(parent, time.Now()); err != nil {
		return "", fault("results folder", err)
	}
	if err := setLatest(parent, filepath.Base(dir)); err != nil {
		return "", fault("results folder: latest", err)
	}
	return dir, nil
}
