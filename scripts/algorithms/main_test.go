package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestCurrent(t *testing.T) {
	const root = "../.."
	want, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, target))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is stale: run go run ./scripts/algorithms (%v)", target, err)
	}
}
