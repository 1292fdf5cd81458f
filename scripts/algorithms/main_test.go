package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestCurrent(t *testing.T) {
	const root = "../.."
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	drawn := map[string]bool{}
	for _, f := range files {
		drawn[filepath.Base(f.name)] = true
		got, err := os.ReadFile(filepath.Join(root, f.name))
		if err != nil || !bytes.Equal(got, f.text) {
			t.Errorf("%s is stale: run go run ./scripts/algorithms (%v)", f.name, err)
		}
	}
	stored, err := os.ReadDir(filepath.Join(root, drawings))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range stored {
		if !drawn[f.Name()] {
			t.Errorf("%s/%s shows no script of configs/figures: remove it", drawings, f.Name())
		}
	}
}
