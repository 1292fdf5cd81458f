package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("12345"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	for _, p := range []string{path, link} {
		if b, err := Read(p, 5); string(b) != "12345" || err != nil {
			t.Errorf("%s: %q, %v", p, b, err)
		}
	}
	_, err := Read(path, 4)
	wantError(t, err, path, "larger than")
	_, err = Read(dir, 100)
	wantError(t, err, dir, "a folder, expected a regular file")
	if !errors.Is(err, ErrIrregular) {
		t.Errorf("%v is not ErrIrregular", err)
	}
	if _, err = Read(filepath.Join(dir, "none"), 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want fs.ErrNotExist", err)
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	const text = "12345\n\n1234\n12345"
	got, err := io.ReadAll(iotest.OneByteReader(Lines(strings.NewReader(text), 5)))
	if string(got) != text || err != nil {
		t.Errorf("%q, %v, want all of it", got, err)
	}
	for _, long := range []string{"123456", "1\n123456\n2", "12\n123456"} {
		if _, err := io.ReadAll(Lines(strings.NewReader(long), 5)); err == nil {
			t.Errorf("%q: no error, want one", long)
		}
	}
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want it to say %q", err, part)
		}
	}
}
