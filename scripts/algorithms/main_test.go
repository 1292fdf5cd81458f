package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/generated"
)

func TestCurrent(t *testing.T) {
	const root = "../.."
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	drawn := map[string]bool{}
	for _, f := range files {
		drawn[filepath.Base(f.Name)] = true
	}
	if err := generated.Stale(root, "go run ./scripts/algorithms", files); err != nil {
		t.Error(err)
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
