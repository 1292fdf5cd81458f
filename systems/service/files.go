package service

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFiles writes files, by their names below a folder, for this user alone. Folders are made.
func WriteFiles(folder string, texts map[string]string) error {
	for name, text := range texts {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Empty refuses a folder for a new server in which something is already.
func Empty(folder string) error {
	found, err := os.ReadDir(folder)
	if err == nil && len(found) > 0 {
		return fmt.Errorf("the folder %s of a new server is not empty (it has %s): name another one, or remove "+
			"what is there", folder, found[0].Name())
	}
	return err
}

// Once makes a folder that is there as a whole or not at all. A folder that is there stays as it is. Fill
// makes it, at another place.
func Once(folder string, fill func(at string) error) error {
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	half := folder + ".new"
	if err := os.RemoveAll(half); err != nil {
		return err
	}
	if err := fill(half); err != nil {
		return err
	}
	return os.Rename(half, folder)
}
