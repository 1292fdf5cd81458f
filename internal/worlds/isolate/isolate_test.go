//go:build linux || darwin

package isolate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// works are what the test binary does as a process of its own.
var works = map[string]func(out, err *os.File) (int, []byte){
	"well": func(out, err *os.File) (int, []byte) {
		fmt.Fprintln(out, "the result")
		fmt.Fprintln(err, "a word")
		fmt.Print("printed")
		return 4, []byte("bytes")
	},
	"exit": func(_, _ *os.File) (int, []byte) {
		guard.WatchTrial(new(algo.Buffer), "election/over, 3 nodes", nil).Release()
		guard.WatchTrial(new(algo.Buffer), "election/bad, 3 nodes", nil)
		guard.WatchTrial(new(algo.Buffer), "election/bad, 3 nodes", nil)
		guard.WatchTrial(new(algo.Buffer), "election/other\x1b, 3 nodes", nil)
		os.Exit(0)
		return 0, nil
	},
	"panic": func(_, _ *os.File) (int, []byte) { panic("lost its head") },
	"kill": func(_, _ *os.File) (int, []byte) {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	},
	"closes": func(_, _ *os.File) (int, []byte) {
		for fd := 3; fd < 100; fd++ {
			_ = syscall.Close(fd)
		}
		return 0, nil
	},
	"says so first": func(_, _ *os.File) (int, []byte) { Exit(5); return 0, nil },
	"waits": func(out, _ *os.File) (int, []byte) {
		fmt.Fprintln(out, "ready")
		select {}
	},
}

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "work" {
		os.Exit(Do(works[os.Args[2]]))
	}
	os.Exit(m.Run())
}

// work is that of a name; what it writes can be read from out and words.
func work(t *testing.T, name string) (w *Work, out, words *os.File) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pipe := func() (r, w *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close(); w.Close() })
		return r, w
	}
	w = &Work{Exe: exe, Args: []string{"work", name}, Name: "bench", Called: "bench test"}
	out, w.Out = pipe()
	words, w.Err = pipe()
	return w, out, words
}

// What the work came to comes back, and what plugins print is apart from what it writes.
func TestRun(t *testing.T) {
	t.Parallel()
	w, out, words := work(t, "well")
	r, err := w.Run()
	if err != nil || r.Code != 4 || string(r.Output) != "bytes" || r.Said != "printed" {
		t.Fatalf("%+v, %v", r, err)
	}
	for f, want := range map[*os.File]string{out: "the result\n", words: "a word\n"} {
		if got, err := bufio.NewReader(f).ReadString('\n'); err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	w, _, _ = work(t, "says so first")
	if r, err := w.Run(); err != nil || r.Code != 5 {
		t.Errorf("%+v, %v, want code 5", r, err)
	}
}

// A process that ends without a result has failed, whatever its exit code is; what ran then is named.
func TestRun_Death(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"exit": `election/bad, 3 nodes, or election/other\u001b, 3 nodes: it has ended its whole process: ` +
			`exit code 0`,
		"panic":  "bench test: panic: lost its head, in isolate.",
		"kill":   "bench test: SIGKILL ended the process that ran it",
		"closes": "bench test: ",
	} {
		w, _, _ := work(t, name)
		r, err := w.Run()
		var death *Death
		if !errors.As(err, &death) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %q", name, r, err, want)
		}
	}
}

// A signal is passed on; what it ends is no failure.
func TestRun_Signal(t *testing.T) {
	t.Parallel()
	w, out, _ := work(t, "waits")
	signals := make(chan os.Signal, 1)
	w.Signals = signals
	go func() {
		_, _ = bufio.NewReader(out).ReadString('\n')
		signals <- syscall.SIGTERM
	}()
	if r, err := w.Run(); err != nil || r.Code != 143 {
		t.Errorf("%+v, %v, want code 143", r, err)
	}
}

// Work ends with the process that waits for it: its input ends then.
func TestDo_Abandoned(t *testing.T) {
	t.Parallel()
	w, out, _ := work(t, "waits")
	b, err := newBoard()
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	in, tell, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	p, err := os.StartProcess(w.Exe, append([]string{"bench"}, w.Args...), &os.ProcAttr{
		Files: []*os.File{in, w.Err, w.Err, w.Out, w.Err, b.file}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := tell.Close(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { _, err := p.Wait(); ended <- err }()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("it works on for nobody")
	}
}

// What is no such process says so.
func TestDo_ByHand(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.StartProcess(exe, []string{"bench", "work", "well"}, &os.ProcAttr{Files: []*os.File{nil, w, w}})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(r)
	state, err := p.Wait()
	if err != nil || state.ExitCode() != 1 || !strings.Contains(string(said), "do not start it by hand") {
		t.Errorf("%v, %v: %q", state, err, said)
	}
}

// The board has the trials that run, each once, as many as there is room for.
func TestBoard(t *testing.T) {
	memory := make([]byte, guard.BoardSize)
	guard.Show(memory)
	var wards []*guard.Ward
	for i := range 100 {
		wards = append(wards, guard.WatchTrial(new(algo.Buffer), fmt.Sprintf("trial %02d", i%70), nil))
	}
	if got, run := guard.Shown(memory); !run || len(got) != 64 || got[0] != "trial 00" || got[63] != "trial 63" {
		t.Errorf("%q", got)
	}
	for _, w := range wards[1:] {
		w.Release()
	}
	long := strings.Repeat("long ", 100)
	last := guard.WatchTrial(new(algo.Buffer), long, nil)
	got, run := guard.Shown(memory)
	if want := []string{long[:127], "trial 00"}; !run || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, run, want)
	}
	last.Release()
	wards[0].Release()
	if got, run = guard.Shown(memory); run || !slices.Contains(got, long[:127]) {
		t.Errorf("%q, %v, want those that ran last", got, run)
	}
}
