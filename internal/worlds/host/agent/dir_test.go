package agent

import (
	"os"
	"path/filepath"
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
