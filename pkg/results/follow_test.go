package results

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// next is what a follower is handed: the numbers of the trials, each with a "+" if it needs no
// further attempt.
func next(t *testing.T, f *Follower) string {
	t.Helper()
	text := ""
	if err := f.Next(func(one *Trial, final bool) {
		text += fmt.Sprint(" ", one.Trial)
		if final {
			text += "+"
		}
	}); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(text)
}

func appendTrial(t *testing.T, f *Folder, n, attempts int, status trace.Status) {
	t.Helper()
	one := testTrial(n)
	one.Attempts, one.Status = attempts, status
	if status != trace.OK {
		one.Ops, one.Outages = nil, nil
		only(&one)
	}
	if err := f.Append(one); err != nil {
		t.Fatal(err)
	}
}

func wantNext(t *testing.T, f *Follower, want string) {
	t.Helper()
	if got := next(t, f); got != want {
		t.Errorf("it is handed %q, want %q", got, want)
	}
}

// Each attempt is handed over once, whenever it comes: also after the run has ended and goes on.
func TestFollow(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(6))
	follower := Follow(f.Dir())
	wantNext(t, follower, "")
	if h := follower.Header(); h.Name != "test" || h.Planned != 6 {
		t.Errorf("header %+v", h)
	}
	appendTrial(t, f, 1, 1, trace.OK)
	wantNext(t, follower, "1+")
	wantNext(t, follower, "")
	appendTrial(t, f, 2, 1, trace.Invalid)
	appendTrial(t, f, 3, 1, trace.OK)
	wantNext(t, follower, "2 3+")
	appendTrial(t, f, 2, 2, trace.Invalid)
	appendTrial(t, f, 2, 3, trace.Invalid)
	wantNext(t, follower, "2 2+") // retries are 2
	wantNext(t, Follow(f.Dir()), "1+ 2 3+ 2 2+")
	finish(t, f)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	wantNext(t, follower, "")
	again, err := Open(f.Dir(), Resume{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	appendTrial(t, again, 4, 1, trace.OK)
	wantNext(t, follower, "4+")
}

// A line that is being written waits; one that never was finished, and gives way to another when
// the run goes on, is not seen.
func TestFollow_Torn(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(4))
	appendTrial(t, f, 1, 1, trace.OK)
	path := filepath.Join(f.Dir(), JournalFile)
	before := readFile(t, path)
	appendTrial(t, f, 2, 1, trace.OK)
	whole := readFile(t, path)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	follower := Follow(f.Dir())
	write := func(text string) {
		t.Helper()
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
		if err == nil {
			_, err = file.WriteString(text)
		}
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
	}
	write(whole[:len(before)+100])
	wantNext(t, follower, "1+")
	write(whole[:len(whole)-1])
	wantNext(t, follower, "")
	write(whole)
	wantNext(t, follower, "2+")

	write(whole + before[:50])
	wantNext(t, follower, "")
	again, err := Open(f.Dir(), Resume{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	appendTrial(t, again, 3, 1, trace.OK)
	wantNext(t, follower, "3+")
}

// What is no longer the journal that was read is an error, and never half a line of another.
func TestFollow_Gone(t *testing.T) {
	t.Parallel()
	h := testHeader(8)
	h.Shard = &Shard{Index: 1, Of: 2}
	root := t.TempDir()
	begin := func(trials int) *Folder {
		t.Helper()
		f, err := Create(root, h, []byte(testConfig))
		if err != nil {
			t.Fatal(err)
		}
		for n := range trials {
			appendTrial(t, f, 1+2*n, 1, trace.OK)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := begin(2)
	follower := Follow(f.Dir())
	first := next(t, follower)
	visit := func(one *Trial, _ bool) { t.Errorf("it is handed trial %d", one.Trial) }
	if err := os.Rename(f.Dir(), f.Dir()+".away"); err != nil {
		t.Fatal(err)
	}
	if err := follower.Next(visit); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
	begin(3) // a shard's folder has the same name again
	wantError(t, follower.Next(visit), "was replaced by another")
	follower = Follow(f.Dir())
	if again := next(t, follower); again != first+" 5+" {
		t.Errorf("anew: %q", again)
	}
	if err := os.Truncate(filepath.Join(f.Dir(), JournalFile), 10); err != nil {
		t.Fatal(err)
	}
	wantError(t, follower.Next(visit), "was replaced by another")
}

// A damaged line is an error that says where, time and again.
func TestFollow_Damaged(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(4))
	appendTrial(t, f, 1, 1, trace.OK)
	path := filepath.Join(f.Dir(), JournalFile)
	text := readFile(t, path)
	write(t, path, text+strings.Repeat("x", 20)+"\n")
	follower := Follow(f.Dir())
	for _, want := range []string{"1+", ""} {
		got := ""
		err := follower.Next(func(one *Trial, _ bool) { got = fmt.Sprint(one.Trial, "+") })
		if wantError(t, err, "line 3"); got != want {
			t.Errorf("it is handed %q, want %q", got, want)
		}
	}
}

// A run is running as long as a process has it, and not when that was killed.
func TestRunning(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(2))
	if !Running(f.Dir()) {
		t.Error("it is open, and not running")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if Running(f.Dir()) || Running(t.TempDir()) {
		t.Error("it is closed, or was never there, and running")
	}
	again, err := Open(f.Dir(), Resume{})
	if err != nil {
		t.Fatal(err)
	}
	if !Running(f.Dir()) {
		t.Error("it goes on, and is not running")
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}

	root := t.TempDir()
	c := process(t, "hold", root)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if in := bufio.NewScanner(out); !in.Scan() {
		t.Fatal("helper: it says nothing")
	}
	dir, err := Resolve(filepath.Join(root, "test"))
	if err != nil || !Running(dir) {
		t.Errorf("%v: another process has it, and it is not running", err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	if Running(dir) {
		t.Error("its process was killed, and it is running")
	}
	// Looking does not keep anybody from going on with it.
	if f, err := Open(dir, Resume{}); err != nil {
		t.Error(err)
	} else if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// The exit code is in the manifest that Finish has written last, and in none before.
func TestConclude(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(2))
	if err := f.Conclude(130); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadManifest(f.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a manifest of nothing: %v", err)
	}
	appendTrial(t, f, 1, 1, trace.OK)
	appendTrial(t, f, 2, 1, trace.OK)
	want := func(code int) {
		t.Helper()
		if _, err := inspect(f.Dir()); err != nil {
			t.Fatal(err)
		}
		m, err := ReadManifest(f.Dir())
		if err != nil || m.Finished != 2 || (m.Exit == nil) != (code < 0) || m.Exit != nil && *m.Exit != code {
			t.Errorf("manifest %+v, %v, want exit code %d", m, err, code)
		}
	}
	m := finish(t, f)
	want(-1)
	if err := f.Conclude(0); err != nil || m.Exit != nil {
		t.Errorf("%v: another manifest has %v", err, m.Exit)
	}
	want(0)
	finish(t, f)
	want(-1)
	wantError(t, Conclude(f.Dir(), 3), "is in use")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Conclude(f.Dir(), 3); err != nil {
		t.Fatal(err)
	}
	want(3)
}
