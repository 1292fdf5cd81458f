package results

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

func init() { parts["go-on"] = goOn }

// goOn finishes the run in dir, and prints the number of each trial that was
// accepted. Its system calls are numbered by thread: it has one.
func goOn(dir string) error {
	runtime.LockOSThread()
	f, err := Open(dir, Resume{})
	if err != nil {
		return err
	}
	for n := len(f.Done()) + 1; n <= f.Header().Planned; n++ {
		if err := f.Append(testTrial(n)); err != nil {
			return err
		}
		fmt.Println(n)
	}
	if _, err := f.Finish(End{}); err != nil {
		return err
	}
	fmt.Println("finished")
	return f.Close()
}

// changing are the system calls that change what stands on disk.
const changing = "write,pwrite64,fsync,fdatasync,ftruncate,rename,renameat,renameat2,unlink,unlinkat," +
	"mkdirat,symlinkat,openat"

// TestEachSystemCall: the run is killed before each system call that changes the
// folder, or that call fails; what was accepted is there, and the run goes on.
func TestEachSystemCall(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("needs strace")
	}
	stride := 23
	if slowtest.Night() {
		stride = 1
	}
	for inject, ending := range map[string]string{"signal=SIGKILL": "", "error=EIO": "input/output error"} {
		t.Run(inject, func(t *testing.T) {
			t.Parallel()
			before := create(t, testHeader(4))
			if err := errors.Join(before.Append(testTrial(1)), before.Close()); err != nil {
				t.Fatal(err)
			}
			hit := 0
			for n := 1; ; n += stride {
				dir := filepath.Join(t.TempDir(), filepath.Base(before.Dir()))
				if err := os.CopyFS(dir, os.DirFS(before.Dir())); err != nil {
					t.Fatal(err)
				}
				c := process(t, "go-on", dir)
				c.Args = append([]string{strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + changing,
					"-e", fmt.Sprintf("inject=%s:%s:when=%d", changing, inject, n)}, c.Args...)
				c.Path = strace
				said, err := c.CombinedOutput()
				goesOn(t, dir, string(said))
				if err == nil && strings.Contains(string(said), "finished") && !strings.Contains(inject, "EIO") {
					break // there is no call n
				}
				if err != nil {
					hit++
					if !strings.Contains(string(said), ending) && !strings.Contains(string(said), "open") {
						t.Errorf("call %d: %v, %s; want %q", n, err, said, ending)
					}
				} else if n > 120 {
					break
				}
			}
			t.Logf("%d system calls were hit", hit)
			if hit == 0 {
				t.Error("none was hit")
			}
		})
	}
}

// goesOn opens the run in dir, which a process has left that said what it had done,
// and finishes it.
func goesOn(t *testing.T, dir, said string) {
	t.Helper()
	accepted := 1
	for line := range strings.Lines(said) {
		var n int
		if _, err := fmt.Sscanf(line, "%d\n", &n); err == nil {
			accepted = max(accepted, n)
		}
	}
	f, err := Open(dir, Resume{})
	if err != nil {
		t.Fatalf("after %q: %v", said, err)
	}
	defer f.Close()
	done := len(f.Done())
	if done < accepted || done > accepted+1 {
		t.Errorf("after %q: %d trials are done", said, done)
	}
	for n := done + 1; n <= 4; n++ {
		if err := f.Append(testTrial(n)); err != nil {
			t.Errorf("after %q: %v", said, err)
		}
	}
	if m := finish(t, f); !m.Complete || m.Finished != 4 || m.Attempts != 4 {
		t.Errorf("after %q: complete %v, %d finished in %d attempts, want 4", said, m.Complete, m.Finished,
			m.Attempts)
	}
	if err := Verify(dir); err != nil {
		t.Errorf("after %q: %v", said, err)
	}
}
