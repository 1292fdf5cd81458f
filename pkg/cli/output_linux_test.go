package cli

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/base/files"
)

// What is written is there whole; an older file is replaced, at the end of a link, too;
// a pipe is written to and stays a pipe, as a device does.
func TestWriteWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := os.WriteFile(file, []byte("an older one that is longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0) // waits for nobody to write
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for _, path := range []string{filepath.Join(dir, "new"), link, pipe} {
		if err := files.Write(path, []byte(filepath.Base(path))); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{"new": "new", "file": "link"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Fatalf("the pipe is %v, %v", info.Mode(), err)
	}
	got := make([]byte, 10)
	if n, err := reader.Read(got); err != nil || string(got[:n]) != "pipe" {
		t.Errorf("through the pipe came %q, %v", got[:n], err)
	}
	if err := replaceable("report", pipe, report.Generator); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
