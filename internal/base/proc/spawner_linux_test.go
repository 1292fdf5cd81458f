package proc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/base/proc/proctest"
)

func init() {
	proctest.Programs["parent"] = func() {
		s := NewSpawner()
		exe, _ := os.Executable()
		env := append(os.Environ(), proctest.Key+"=stubborn")
		for i := range 3 {
			c, err := s.Start(Command{Path: exe, Env: env})
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			if _, err := bufio.NewReader(c.Stdout).ReadString('\n'); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			if i == 0 {
				_, _ = c.Pause()
			}
		}
		fmt.Println("ready")
		time.Sleep(time.Hour)
	}
	proctest.Programs["files"] = func() {
		entries, _ := os.ReadDir("/proc/self/fd")
		for _, e := range entries {
			target, err := os.Readlink("/proc/self/fd/" + e.Name())
			if err == nil { // else it was the folder itself
				fmt.Println(e.Name(), target)
			}
		}
	}
}

func TestSpawner_NoChildOutlivesASigkill(t *testing.T) {
	t.Parallel()
	marker := "CONCLAVE_TEST_MARKER=" + strconv.FormatInt(int64(clock.Monotonic()), 36)
	parent := startChild(t, "parent", marker)
	awaitLine(t, parent, "ready")
	if pids := orphans(t, marker); len(pids) != 4 {
		t.Fatalf("processes %v, want the parent and its 3 children", pids)
	}
	// Not the group, which Child.Kill would kill.
	process, err := os.FindProcess(parent.Pid())
	must(t, err)
	must(t, process.Kill())
	parent.Exit()
	deadline := time.Now().Add(time.Second)
	for pids := orphans(t, marker); len(pids) > 0; pids = orphans(t, marker) {
		if time.Now().After(deadline) {
			t.Fatalf("processes %v live 1s after their parent", pids)
		}
	}
}

func TestChild_InheritsThreeFiles(t *testing.T) {
	t.Parallel()
	// As a careless parent leaves it: not closed on exec.
	leak, err := unix.Open("/dev/null", unix.O_RDONLY, 0)
	must(t, err)
	defer func() { must(t, unix.Close(leak)) }()
	c := startChild(t, "files")
	out, err := io.ReadAll(c.Stdout)
	must(t, err)
	for line := range strings.Lines(string(out)) {
		fd, target, _ := strings.Cut(strings.TrimSpace(line), " ")
		// The runtime's own are event queues and the processor limit of the cgroup.
		if n, _ := strconv.Atoi(fd); n > 2 && !strings.HasPrefix(target, "anon_inode:") &&
			!strings.Contains(target, "/cgroup") {
			t.Errorf("the child has file %s, %s", fd, target)
		}
	}
}

func orphans(tb testing.TB, marker string) []int {
	tb.Helper()
	pids, err := proctest.Orphans(marker)
	must(tb, err)
	return pids
}

// What a child leaves behind in a session of its own is ended with it, and so is what that has started.
func TestSpawner_Sweep(t *testing.T) {
	t.Parallel()
	s := NewSpawner()
	defer s.Close()
	marker := "CONCLAVE_TEST_MARKER=" + strconv.FormatInt(int64(clock.Monotonic()), 36)
	c, err := s.Start(Command{Path: "/bin/sh", Env: append(os.Environ(), marker), Sweep: true, Args: []string{"-c",
		"setsid sh -c 'setsid sleep 600 & echo ready; sleep 600' & read line"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	awaitLine(t, c, "ready")
	if pids := orphans(t, marker); len(pids) < 3 {
		t.Fatalf("processes %v: want the child and what it has started", pids)
	}
	_ = c.Stdin.Close() // it ends by itself
	c.Exit()
	if pids := orphans(t, marker); len(pids) > 0 {
		t.Errorf("left behind: %v", pids)
	}
}

// TestSpawner_Net: a child runs in the network namespace that it was started in, and the next one in that
// of this process again.
func TestSpawner_Net(t *testing.T) {
	t.Parallel()
	name := func(path string) string {
		target, err := os.Readlink(path)
		must(t, err)
		return target
	}
	own := name("/proc/thread-self/ns/net") // the main thread, which /proc/self has, may be one that has left it
	type made struct {
		ns  *os.File
		err error
	}
	done := make(chan made)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			done <- made{nil, err}
			return
		}
		ns, err := os.Open("/proc/thread-self/ns/net")
		done <- made{ns, err}
	}()
	m := <-done
	if m.err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(m.err)
		}
		t.Skip("no network namespaces here:", m.err)
	}
	defer func() { _ = m.ns.Close() }()
	other := name(fmt.Sprintf("/proc/self/fd/%d", m.ns.Fd()))
	s := NewSpawner()
	defer func() { must(t, s.Close()) }()
	exe, err := os.Executable()
	must(t, err)
	for i, ns := range []*os.File{m.ns, nil, m.ns, nil, nil} {
		c, err := s.Start(Command{Path: exe, Net: ns, Env: append(os.Environ(), proctest.Key+"=stubborn")})
		must(t, err)
		want := own
		if ns != nil {
			want = other
		}
		if got := name(fmt.Sprintf("/proc/%d/ns/net", c.Pid())); got != want || own == other {
			t.Errorf("child %d runs in %s, want %s of %s and %s", i, got, want, own, other)
		}
		c.Close()
	}
}
