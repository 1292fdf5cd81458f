package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A folder is where commands of a test run, each in a process of its own: all tests share the working
// directory of this process, and it stays as it is.
type folder struct {
	dir string
	env []string // in addition to the environment of this process
	tmp string   // where its commands have their temporary files, if not where this process has them
}

func newFolder(t testing.TB) *folder {
	t.Helper()
	return &folder{dir: t.TempDir()}
}

// in is a folder of f.
func (f *folder) in(name string) *folder { return &folder{f.path(name), f.env, f.tmp} }

func (f *folder) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

// put writes a file, and the folders that it is in.
func (f *folder) put(t testing.TB, name, text string) {
	t.Helper()
	path := f.path(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func (f *folder) read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(f.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// latest is the folder of the last run of the experiment name under root.
func (f *folder) latest(t testing.TB, root, name string) string {
	t.Helper()
	return latest(t, f.path(root), name)
}

// command is a program that will run in f. One that is named by a path is named from there.
func (f *folder) command(program string, args ...string) *exec.Cmd {
	c := exec.Command(program, args...)
	c.Dir = f.dir
	c.Env = append(c.Environ(), f.env...)
	return c
}

// does runs a program, which must succeed, and returns what it printed.
func (f *folder) does(t testing.TB, program string, args ...string) string {
	t.Helper()
	out, err := f.command(program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (f *folder) git(t testing.TB, args ...string) string {
	t.Helper()
	return f.does(t, "git", args...)
}

// clean fails if a command has left a temporary file.
func (f *folder) clean(t testing.TB) {
	t.Helper()
	if left, err := os.ReadDir(f.tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// benchCommand is bench, to be run in f.
func (f *folder) benchCommand(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := f.command(exe, args...)
	c.Env = append(c.Env, asBench+"=1")
	return c
}

// bench runs bench in f.
func (f *folder) bench(t testing.TB, args ...string) ran {
	t.Helper()
	var out, said strings.Builder
	c := f.benchCommand(t, args...)
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return ran{c.ProcessState.ExitCode(), out.String(), said.String()}
}
