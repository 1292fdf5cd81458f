package runner_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The roles of a bench whose disk is small: the first argument is the place of
// the results.
const (
	limitedRole = "__limited" // no file may exceed 768 KiB
	tmpfsRole   = "__tmpfs"   // it is a file system of its own of 512 KiB
)

func init() {
	roles[limitedRole] = func() int {
		limit := syscall.Rlimit{Cur: 768 << 10, Max: 768 << 10}
		err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
		return smallDisk(err, func(string) error { return nil })
	}
	roles[tmpfsRole] = func() int {
		dir := os.Args[2]
		err := unix.Mount("none", dir, "tmpfs", 0, "size=768k")
		return smallDisk(err, func(to string) error { return os.CopyFS(to, os.DirFS(dir)) })
	}
}

// cannot is the exit code where a small disk cannot be had.
const cannot = 77

// smallDisk is bench run with the arguments behind the first three, which are the
// role, the place of the results, and the place that keep copies them to.
func smallDisk(err error, keep func(to string) error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return cannot
	}
	to := os.Args[3]
	os.Args = append([]string{os.Args[0], "run", "--out", os.Args[2]}, os.Args[4:]...)
	code := bench()
	if err := keep(to); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return cannot
	}
	return code
}

// many is a simulation whose journal grows beyond a small disk.
const many = `
name: many
problem: election
algorithms: [bully]
transport: sim
nodes: 4
scenario: {kind: leader-crash}
repetitions: 600
`

func TestDiskFull(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, role, want string
		attr             *syscall.SysProcAttr
	}{
		{"limit on the size of files", limitedRole, "file too large; raise the limit", nil},
		{"full file system", tmpfsRole, "no space left on device; free some space", &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newCommand(t)
			kept := c.root
			disk := c.root
			if test.attr != nil {
				disk = t.TempDir()
				must(t, os.Remove(kept)) // CopyFS wants nothing there
			}
			p := exec.Command(c.exe, test.role, disk, kept, write(t, many), "--workers", "1")
			p.SysProcAttr = test.attr
			var out, errs strings.Builder
			p.Stdout, p.Stderr = &out, &errs
			err := p.Run()
			if p.ProcessState == nil || p.ProcessState.ExitCode() == cannot {
				t.Skipf("no small disk here: %v %s", err, &errs)
			}
			if p.ProcessState.ExitCode() != 1 || !strings.Contains(flat(&errs), test.want) {
				t.Errorf("%v, want exit code 1 and %q:\n%s%s", err, test.want, &out, &errs)
			}
			dir := c.dir()
			n := len(finished(dir))
			if want := fmt.Sprintf("%d of 600 trials are kept", n); n == 0 || n == 600 ||
				!strings.Contains(flat(&errs), want) {
				t.Errorf("no %q in:\n%s", want, &errs)
			}
			stale, _ := filepath.Glob(filepath.Join(dir, ".*.csv*"))
			if len(stale) > 0 {
				t.Errorf("left behind: %v", stale)
			}
			c.run(0, "--resume", dir)
			complete(t, dir)
		})
	}
}
