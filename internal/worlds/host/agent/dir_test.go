package agent

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

func TestMakeDir_SweepsWhatTheDeadLeft(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	at := func(name string) string { return filepath.Join(parent, name) }
	for _, name := range []string{"conclave-1-dead", "conclave-without-lock", "of-somebody-else"} {
		if err := os.MkdirAll(filepath.Join(at(name), "1"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	dead := filepath.Join(at("conclave-1-dead"), dirLock)
	if err := os.WriteFile(dead, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{
		at("conclave-1-dead"): false, at("conclave-without-lock"): true, at("of-somebody-else"): true,
	}
	for range 2 {
		dir, lock, err := MakeDir(parent, "2-")
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Close()
		want[dir] = true
	}
	for path, want := range want {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", path, err, want)
		}
	}
}

// A process that still writes to the folder of its dead owner cannot keep a sweep from removing it.
func TestSweepDirs_Written(t *testing.T) {
	t.Parallel()
	for range 20 {
		parent := t.TempDir()
		dir := filepath.Join(parent, "conclave-1-dead")
		files := filepath.Join(dir, "files")
		if err := errors.Join(os.MkdirAll(files, 0o700), os.WriteFile(filepath.Join(dir, dirLock), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		begun, done := make(chan bool), make(chan bool)
		go func() {
			defer close(done)
			for i := range 2000 {
				if i == 100 {
					close(begun)
				}
				_ = os.Mkdir(files, 0o700) // it is there, or has been removed
				_ = os.WriteFile(filepath.Join(files, strconv.Itoa(i)), nil, 0o600)
			}
		}()
		<-begun
		SweepDirs(parent)
		<-done
		SweepDirs(parent) // what a write that was under way left
		if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
			t.Fatalf("%v, left: %v", err, left)
		}
	}
}
