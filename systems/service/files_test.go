package service

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEmpty: a folder of a new server in which something is already is refused by name.
func TestEmpty(t *testing.T) {
	folder := t.TempDir()
	if err := Empty(folder); err != nil {
		t.Error(err)
	}
	if err := WriteFiles(folder, map[string]string{"below/left": "text"}); err != nil {
		t.Fatal(err)
	}
	if err := Empty(folder); err == nil || !strings.Contains(err.Error(), folder) ||
		!strings.Contains(err.Error(), "it has below") {
		t.Errorf("%v; expected the folder and what it has", err)
	}
}

// TestOnce: what failed half-way is not there, and what is there stays.
func TestOnce(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	failed := errors.New("failed")
	fill := func(text string, err error) func(string) error {
		return func(at string) error { return errors.Join(WriteFiles(at, map[string]string{"file": text}), err) }
	}
	if err := Once(folder, fill("half", failed)); !errors.Is(err, failed) {
		t.Errorf("%v; expected that it failed", err)
	}
	for _, text := range []string{"first", "second"} {
		if err := Once(folder, fill(text, nil)); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(folder, "file")); string(b) != "first" {
			t.Errorf("after %s: %q, %v", text, b, err)
		}
	}
}
