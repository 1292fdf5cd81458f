// Package generated has files of the repository that follow from declarations: it writes them, and finds
// those that are stale.
package generated

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// A File is what is to be at a path below the root of the repository.
type File struct {
	Name string
	Text []byte
}

// Write writes the files.
func Write(root string, files []File) error {
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(root, f.Name), f.Text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Stale is an error that names each file that does not have its text, and the command that writes it.
func Stale(root, command string, files []File) error {
	var stale []string
	for _, f := range files {
		got, err := os.ReadFile(filepath.Join(root, f.Name))
		if err != nil || !bytes.Equal(got, f.Text) {
			stale = append(stale, f.Name)
		}
	}
	if stale != nil {
		return fmt.Errorf("%v: stale; run %s", stale, command)
	}
	return nil
}
