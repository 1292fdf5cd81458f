//go:build linux || darwin

package proc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/base/proc/proctest"
)

func TestMain(m *testing.M) { proctest.Main(m) }

func init() {
	proctest.Programs["echo"] = func() {
		fmt.Fprintln(os.Stderr, "echo starts")
		_, _ = io.Copy(os.Stdout, os.Stdin)
	}
	proctest.Programs["exit7"] = func() { os.Exit(7) }
	proctest.Programs["clock"] = func() { fmt.Println(int64(clock.Monotonic())) }
	proctest.Programs["flood"] = func() {
		line := []byte(strings.Repeat("f", 1023) + "\n")
		fmt.Fprintln(os.Stderr, "the first words")
		for range 20 << 10 {
			_, _ = os.Stderr.Write(line)
		}
		fmt.Fprintln(os.Stderr, "the last words")
		os.Exit(3)
	}
	proctest.Programs["stubborn"] = func() {
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		time.Sleep(time.Hour)
	}
	proctest.Programs["grandparent"] = func() {
		exe, _ := os.Executable()
		_ = os.Setenv(proctest.Key, "stubborn")
		// It holds all three pipes, and is in the same process group.
		_, err := os.StartProcess(exe, []string{exe}, &os.ProcAttr{
			Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	}
}

func TestChild_TalksAndEndsWithItsInput(t *testing.T) {
	t.Parallel()
	c := startChild(t, "echo")
	_, err := io.WriteString(c.Stdin, "hello\n")
	must(t, err)
	must(t, c.Stdin.Close())
	out, err := io.ReadAll(c.Stdout)
	must(t, err)
	if string(out) != "hello\n" {
		t.Errorf("stdout: %q", out)
	}
	if exit := c.Exit(); exit.Code != 0 || exit.Signal != "" || exit.At <= 0 {
		t.Errorf("exit: %+v", exit)
	}
	if got := c.Stderr(); got != "echo starts\n" {
		t.Errorf("stderr: %q", got)
	}
	if _, err := c.Pause(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("pause after the end: %v", err)
	}
	c.Kill()
}

func TestChild_ExitCode(t *testing.T) {
	t.Parallel()
	exit := startChild(t, "exit7").Exit()
	if exit.Code != 7 || exit.String() != "exit code 7" {
		t.Errorf("exit: %+v, %v", exit, exit)
	}
}

func TestChild_DeathIsNoticedSoon(t *testing.T) {
	c := startChild(t, "echo")
	var delays []time.Duration
	for range 20 {
		at := c.Kill()
		exit := c.Exit()
		delays = append(delays, exit.At-at)
		if exit.Signal != "SIGKILL" || exit.Code != -1 {
			t.Fatalf("exit: %+v", exit)
		}
		c = startChild(t, "echo")
	}
	slices.Sort(delays)
	t.Logf("noticed after %v (median), %v (worst)", delays[10], delays[19])
	if delays[10] > 50*time.Millisecond {
		t.Errorf("half of the deaths took %v or more to notice, want under 50ms", delays[10])
	}
}

func TestChild_ClocksAgree(t *testing.T) {
	t.Parallel()
	before := clock.Monotonic()
	c := startChild(t, "clock")
	out, err := io.ReadAll(c.Stdout)
	must(t, err)
	after := clock.Monotonic()
	var theirs time.Duration
	_, err = fmt.Sscan(string(out), &theirs)
	must(t, err)
	if theirs < before || theirs > after {
		t.Errorf("the child read %v between %v and %v", theirs, before, after)
	}
}

func TestChild_FloodOfStderr(t *testing.T) {
	t.Parallel()
	c := startChild(t, "flood")
	if exit := c.Exit(); exit.Code != 3 {
		t.Errorf("exit: %+v", exit)
	}
	got := c.Stderr()
	if len(got) > excerptHead+excerptTail+100 || !strings.HasPrefix(got, "the first words\n") ||
		!strings.HasSuffix(got, "f\nthe last words\n") || !strings.Contains(got, "bytes dropped") {
		t.Errorf("kept %d bytes: %.40q ... %q", len(got), got, got[max(0, len(got)-40):])
	}
}

func TestChild_TerminateKillsWhatIgnoresIt(t *testing.T) {
	t.Parallel()
	for _, paused := range []bool{false, true} {
		c := startChild(t, "stubborn")
		awaitLine(t, c, "ready")
		if paused {
			_, err := c.Pause()
			must(t, err)
		}
		began := time.Now()
		exit := c.Terminate(30 * time.Millisecond)
		if took := time.Since(began); exit.Signal != "SIGKILL" || took < 30*time.Millisecond {
			t.Errorf("paused %v: %+v after %v, want SIGKILL after 30ms", paused, exit, took)
		}
	}
}

func TestChild_TerminateLeavesTimeToEnd(t *testing.T) {
	t.Parallel()
	c := startChild(t, "echo")
	_, err := c.Pause()
	must(t, err)
	if exit := c.Terminate(10 * time.Second); exit.Signal == "SIGKILL" {
		t.Errorf("a paused child that would have ended was killed")
	}
}

func TestChild_WhatItStartedEndsWithIt(t *testing.T) {
	t.Parallel()
	c := startChild(t, "grandparent")
	awaitLine(t, c, "ready") // the grandchild's
	must(t, c.Stdin.Close())
	c.Exit()
	read := make(chan error, 1)
	go func() {
		_, err := io.ReadAll(c.Stdout)
		read <- err
	}()
	select {
	case err := <-read:
		must(t, err)
	case <-time.After(5 * time.Second):
		t.Error("the pipe is still held 5s after the child's end: the grandchild lives")
	}
}

func TestSpawner_ManyAtOnce(t *testing.T) {
	t.Parallel()
	s := NewSpawner()
	before := countFiles(t)
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			c, err := s.Start(childCommand(t, "echo"))
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_ = c.Stdin.Close()
			if _, err := io.ReadAll(c.Stdout); err != nil {
				t.Error(err)
			}
			if exit := c.Exit(); exit.Code != 0 {
				t.Errorf("exit: %+v", exit)
			}
		})
	}
	group.Wait()
	must(t, s.Close())
	// Tests beside this one have files open too.
	if after := countFiles(t); after > before+50 {
		t.Errorf("%d files open before, %d after", before, after)
	}
}

// Not parallel: it counts goroutines and files.
func TestSpawner_LeavesNothing(t *testing.T) {
	goroutines, files := goleak.IgnoreCurrent(), countFiles(t)
	s := NewSpawner()
	for range 3 {
		c, err := s.Start(childCommand(t, "stubborn"))
		must(t, err)
		defer c.Close()
		c.Close()
	}
	must(t, s.Close())
	goleak.VerifyNone(t, goroutines)
	if after := countFiles(t); after > files {
		t.Errorf("%d files open before, %d after", files, after)
	}
}

func TestSpawner_CloseEndsItsChildren(t *testing.T) {
	t.Parallel()
	s := NewSpawner()
	var children []*Child
	for range 3 {
		c, err := s.Start(childCommand(t, "stubborn"))
		must(t, err)
		defer c.Close()
		children = append(children, c)
	}
	_, err := children[0].Pause()
	must(t, err)
	must(t, s.Close())
	must(t, s.Close())
	for _, c := range children {
		if exit := c.Exit(); exit.Signal != "SIGKILL" {
			t.Errorf("exit: %+v", exit)
		}
	}
	if _, err := s.Start(childCommand(t, "echo")); !errors.Is(err, errSpawnerClosed) {
		t.Errorf("start after Close: %v", err)
	}
}

func TestSpawner_StartFails(t *testing.T) {
	t.Parallel()
	s := NewSpawner()
	defer func() { must(t, s.Close()) }()
	plain := t.TempDir() + "/plain"
	must(t, os.WriteFile(plain, []byte("text"), 0o600))
	foreign := t.TempDir() + "/foreign" // for a machine that does not exist
	must(t, os.WriteFile(foreign, []byte("\x7fELF\x02\x01\x01"+strings.Repeat("\x00", 57)), 0o700))
	for path, want := range map[string]error{
		"/no/such/program": os.ErrNotExist,
		plain:              os.ErrPermission,
		foreign:            syscall.ENOEXEC,
	} {
		if _, err := s.Start(Command{Path: path}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
}

func TestLastOfKeys(t *testing.T) {
	t.Parallel()
	got := lastOfKeys([]string{"A=1", "B=2", "A=3", "C", "B=", "AA=4"})
	if want := []string{"A=3", "C", "B=", "AA=4"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if lastOfKeys(nil) != nil {
		t.Error("nil, which means this process's own environment, became something else")
	}
}

func TestRaiseFileLimit(t *testing.T) {
	t.Parallel()
	if have, err := RaiseFileLimit(64); err != nil || have < 64 {
		t.Errorf("64: %d, %v", have, err)
	}
	_, err := RaiseFileLimit(1 << 62)
	if err == nil || !strings.Contains(err.Error(), "ulimit") {
		t.Errorf("2^62: %v, want a remedy", err)
	}
}

// startChild starts a program of proctest.Programs that ends with the test.
func startChild(tb testing.TB, name string, env ...string) *Child {
	tb.Helper()
	s := NewSpawner()
	c, err := s.Start(childCommand(tb, name, env...))
	must(tb, err)
	tb.Cleanup(func() {
		must(tb, s.Close())
		c.Close()
	})
	return c
}

// awaitLine reads what the child says up to the line want.
func awaitLine(tb testing.TB, c *Child, want string) {
	tb.Helper()
	must(tb, c.Stdout.SetReadDeadline(time.Now().Add(10*time.Second)))
	var got []byte
	for b := make([]byte, 1); !strings.HasSuffix(string(got), want+"\n"); got = append(got, b[0]) {
		if _, err := c.Stdout.Read(b); err != nil {
			tb.Fatalf("the child said %q, then %v; want %q; stderr: %s", got, err, want, c.Stderr())
		}
	}
}

func countFiles(tb testing.TB) int {
	tb.Helper()
	entries, err := os.ReadDir("/dev/fd")
	must(tb, err)
	return len(entries)
}

func BenchmarkSpawn(b *testing.B) {
	s := NewSpawner()
	defer func() { must(b, s.Close()) }()
	command := Command{Path: "/bin/true"}
	var start time.Duration
	for b.Loop() {
		at := clock.Monotonic()
		c, err := s.Start(command)
		start += clock.Monotonic() - at
		must(b, err)
		c.Exit()
		c.Close()
	}
	b.ReportMetric(float64(start.Nanoseconds())/float64(b.N)/1e3, "start-µs")
}

// childCommand starts the test binary as one of its programs.
func childCommand(tb testing.TB, name string, env ...string) Command {
	tb.Helper()
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return Command{Path: exe, Env: append(append(os.Environ(), env...), proctest.Key+"="+name)}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
