//go:build unix

package files

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestRead_Endless: neither a pipe without a writer nor a device is waited for.
func TestRead_Endless(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Skip(err)
	}
	_, err := Read(pipe, 100)
	wantError(t, err, pipe, "a pipe, expected a regular file")
	_, err = Read("/dev/zero", 100)
	wantError(t, err, "/dev/zero", "a device, expected a regular file")
}
