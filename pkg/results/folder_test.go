package results

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/guest"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// parts are what this program does when a test starts it as a second process.
var parts = map[string]func(dir string) error{"hold": hold, "open": tryOpen}

// TestMain plays the part that the environment names, if it names one.
func TestMain(m *testing.M) {
	if part := parts[os.Getenv("RESULTS_TEST_PART")]; part != nil {
		if err := part(os.Getenv("RESULTS_TEST_DIR")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func process(t *testing.T, part, dir string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), exe)
	c.Env = append(os.Environ(), "RESULTS_TEST_PART="+part, "RESULTS_TEST_DIR="+dir)
	return c
}

// hold appends trials to a new run in root until it is killed, and prints the
// number of each that was accepted.
func hold(root string) error {
	f, err := Create(root, testHeader(1_000_000), []byte(testConfig))
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		if err := f.Append(testTrial(n)); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

func tryOpen(dir string) error {
	f, err := Open(dir, Resume{})
	if err != nil {
		return err
	}
	return f.Close()
}

func TestKilledRunGoesOn(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	c := process(t, "hold", root)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	accepted := 0
	for in := bufio.NewScanner(out); in.Scan(); {
		if _, err := fmt.Sscan(in.Text(), &accepted); err != nil {
			t.Fatalf("helper: %s", in.Text())
		}
		if accepted == 20 {
			dir := filepath.Join(root, "test", "latest")
			_, err := Open(dir, Resume{})
			wantError(t, err, fmt.Sprintf("is in use by process %d", c.Process.Pid))
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = c.Wait() // it was killed
	f, err := Open(filepath.Join(root, "test"), Resume{Config: []byte(testConfig)})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	done := f.Done()
	for n := 1; n <= accepted; n++ {
		if done[n] != (Outcome{trace.OK, 1}) {
			t.Errorf("trial %d is %v, want it done: it was accepted", n, done[n])
		}
	}
	if len(done) > accepted+1 {
		t.Errorf("%d trials done, want at most one more than the %d accepted", len(done), accepted)
	}
	if err := f.Append(testTrial(len(done) + 1)); err != nil {
		t.Error(err)
	}
	if m := finish(t, f); m.Complete || m.Finished != len(done)+1 {
		t.Errorf("complete %v, finished %d, want %d of many", m.Complete, m.Finished, len(done)+1)
	}
}

func TestSecondRunnerIsRefused(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(1))
	want := fmt.Sprintf("%s is in use by process %d", f.Dir(), os.Getpid())
	out, err := process(t, "open", f.Dir()).CombinedOutput()
	if err == nil || !strings.Contains(string(out), want) {
		t.Errorf("another process: %s, want %q", out, want)
	}
	_, err = Open(f.Dir(), Resume{})
	wantError(t, err, want)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if holder := readFile(t, f.Dir(), lockFile); holder != "" {
		t.Errorf("the lock still names %q", holder)
	}
	if out, err := process(t, "open", f.Dir()).CombinedOutput(); err != nil {
		t.Errorf("after Close: %v: %s", err, out)
	}
	wantError(t, f.Append(testTrial(1)), "it is closed")
	_, err = f.Finish(End{})
	wantError(t, err, "it is closed")
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(t *testing.T, f *Folder)
		resume Resume
		want   string
	}{
		{"same configuration", nil, Resume{Config: []byte(testConfig)}, ""},
		{"other configuration", nil, Resume{Config: []byte("name: test\nrepetitions: 3\n")},
			`first in line 2: was "repetitions: 2", is "repetitions: 3"; put it back`},
		{"longer configuration", nil, Resume{Config: []byte(testConfig + "seed: 2\n")},
			`first in line 3: was "", is "seed: 2"`},
		{"edited file", func(t *testing.T, f *Folder) {
			write(t, f.path(ConfigFile), "name: other\n")
		}, Resume{}, "config.resolved.yaml was changed after the run began"},
		{"no file", func(t *testing.T, f *Folder) {
			if err := os.Remove(f.path(ConfigFile)); err != nil {
				t.Fatal(err)
			}
		}, Resume{}, "config.resolved.yaml is missing"},
		{"other binary", otherBinary, Resume{}, "another build of this program"},
		{"the same program for another platform", otherPlatform, Resume{}, ""},
		{"other binary allowed", otherBinary, Resume{AnyBinary: true}, ""},
		{"a program that is not here", anotherProgram, Resume{}, `add --plugin mutex/lock="python3 lock.py"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := create(t, testHeader(1))
			if test.change != nil {
				test.change(t, f)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			again, err := Open(f.Dir(), test.resume)
			if test.want != "" {
				wantError(t, err, f.Dir(), test.want)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			noted := len(finish(t, again).Notes) > 0
			if noted != test.resume.AnyBinary {
				t.Errorf("notes in the manifest: %v, want %v", noted, test.resume.AnyBinary)
			}
			if err := again.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// otherBinary rewrites the journal as another program would have begun it.
func otherBinary(t *testing.T, f *Folder) {
	begunWith(t, f, func(h *Header) { h.Binary = digest(nil) })
}

// otherPlatform rewrites it as the same program would have begun a simulated run on another platform.
func otherPlatform(t *testing.T, f *Folder) {
	begunWith(t, f, func(h *Header) { h.Binary, h.Simulated = digest(nil), true })
}

// anotherProgram rewrites it as if an algorithm had been a program in another language.
func anotherProgram(t *testing.T, f *Folder) {
	begunWith(t, f, func(h *Header) { h.Programs = lockProgram })
}

// lockProgram is an algorithm that is a program.
var lockProgram = map[string]guest.Origin{"mutex/lock": {Command: []string{"python3", "lock.py"},
	Files: map[string]string{"lock.py": "e3b0"}}}

func begunWith(t *testing.T, f *Folder, change func(*Header)) {
	t.Helper()
	h := f.Header()
	change(&h)
	write(t, f.path(JournalFile), "")
	g := &Folder{dir: f.dir, files: f.files, log: &journal{file: f.log.file}}
	if err := g.write([]group{{entry: entry{Header: mustJSON(t, h)}}}, nil); err != nil {
		t.Fatal(err)
	}
}

func TestFinishedTrialsTakeNoAttempt(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(2))
	attempt := func(n int, status trace.Status) error {
		trial := testTrial(1)
		trial.Attempts, trial.Status = n, status
		return f.Append(trial)
	}
	for n := 1; n <= 2; n++ {
		if err := attempt(n, trace.Invalid); err != nil {
			t.Fatal(err)
		}
		if len(f.Done()) > 0 || f.Attempts(1) != n {
			t.Errorf("done %v after %d attempts, want none: a retry is left", f.Done(), f.Attempts(1))
		}
	}
	wantError(t, attempt(2, trace.OK), "attempt 2 after attempt 2")
	if err := attempt(3, trace.Invalid); err != nil {
		t.Fatal(err)
	}
	if f.Done()[1] != (Outcome{trace.Invalid, 3}) {
		t.Errorf("done %v, want trial 1, whose retries are used up", f.Done())
	}
	wantError(t, attempt(4, trace.OK), "trial 1: it is finished (invalid after attempt 3)")
	if m := finish(t, f); m.Finished != 1 || m.Complete || m.Statuses[trace.Invalid] != 1 {
		t.Errorf("manifest %+v, want 1 of 2 finished", m)
	}
}

func TestAppendFromManyGoroutines(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(40))
	var group sync.WaitGroup
	for n := 1; n <= 40; n += 4 {
		group.Go(func() {
			err := f.AppendGroup([]Trial{testTrial(n), testTrial(n + 1), testTrial(n + 2), testTrial(n + 3)})
			if err != nil {
				t.Error(err)
			}
			f.Done()
		})
	}
	group.Wait()
	if m := finish(t, f); !m.Complete || m.Finished != 40 {
		t.Errorf("finished %d, complete %v, want 40", m.Finished, m.Complete)
	}
}

func TestRunsOfOneSecond(t *testing.T) {
	t.Parallel()
	experiment := filepath.Join(t.TempDir(), "x")
	at := time.Date(2026, 11, 20, 11, 15, 0, 0, time.FixedZone("", 3600))
	var mu sync.Mutex
	made := map[string]bool{}
	var group sync.WaitGroup
	for range 12 {
		group.Go(func() {
			dir, err := makeRun(experiment, at)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			made[filepath.Base(dir)] = true
		})
	}
	group.Wait()
	if len(made) != 12 || !made["20261120-101500"] || !made["20261120-101500-2"] ||
		!made["20261120-101500-12"] {
		t.Errorf("runs %v, want twelve", made)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	experiment := filepath.Join(root, "x")
	for _, run := range []string{"20261120-101500", "20261120-101500-2"} {
		if err := os.MkdirAll(filepath.Join(experiment, run), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(experiment, run, JournalFile), "")
	}
	first := filepath.Join(experiment, "20261120-101500")
	check := func(latest string) {
		t.Helper()
		for path, want := range map[string]string{
			first: first, first + "/": first, experiment: latest,
			experiment + "/latest": latest, experiment + "/latest/": latest,
		} {
			if got, err := Resolve(path); err != nil || got != want {
				t.Errorf("Resolve(%q) = %q, %v, want %q", path, got, err, want)
			}
		}
	}
	_, err := Resolve(experiment)
	wantError(t, err, experiment+": no run there", "there are 20261120-101500, 20261120-101500-2")
	_, err = Resolve(root)
	wantError(t, err, root+": no run there", "did you mean "+experiment+"?")
	for _, run := range []string{"20261120-101500", "20261120-101500-2"} {
		if err := setLatest(experiment, run); err != nil {
			t.Fatal(err)
		}
		check(filepath.Join(experiment, run))
	}
	// Where links are impossible.
	if err := os.Remove(filepath.Join(experiment, latestName)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(experiment, latestText), "20261120-101500\n")
	check(first)
	if err := setLatest(experiment, "20261120-101500-2"); err != nil {
		t.Fatal(err)
	}
	check(first + "-2")
	if _, err := os.Stat(filepath.Join(experiment, latestText)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("latest.txt is still there beside the link: %v", err)
	}
	other := filepath.Join(root, "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(other, latestText), "../x/20261120-101500\n") // leads elsewhere
	for _, path := range []string{root, other, filepath.Join(root, "none"), experiment + "/2026"} {
		_, err := Resolve(path)
		wantError(t, err, path+": no run there", "expected a folder with journal.ndjson")
	}
}

func TestCreateMovesLatest(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for range 2 {
		f, err := Create(root, testHeader(1), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Resolve(filepath.Join(root, "test"))
		if err != nil || got != f.Dir() {
			t.Errorf("latest is %q, %v, want %q", got, err, f.Dir())
		}
		h, err := ReadHeader(root + "/test")
		if err != nil || h.Run != filepath.Base(f.Dir()) || h.Config != digest(nil) {
			t.Errorf("header %+v, %v", h, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestCreateTakesNothingAway: what bench has not made stays, and nothing is left behind
// of a run that has no place.
func TestCreateTakesNothingAway(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(t *testing.T, experiment string) (path string){
		"a file": func(t *testing.T, experiment string) string {
			write(t, filepath.Join(experiment, latestName), "notes")
			return latestName
		},
		"a folder": func(t *testing.T, experiment string) string {
			must(t, os.Mkdir(filepath.Join(experiment, latestName), 0o755))
			return latestName
		},
		"a text": func(t *testing.T, experiment string) string {
			write(t, filepath.Join(experiment, latestText), "20261120-101500 was the good one\n")
			return latestText
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			experiment := filepath.Join(root, "test")
			must(t, os.Mkdir(experiment, 0o755))
			there := make(t, experiment)
			_, err := Create(root, testHeader(1), nil)
			wantError(t, err, filepath.Join(experiment, there)+" exists, but bench did not write it", "move it away")
			left, err := os.ReadDir(experiment)
			if err != nil || len(left) != 1 || left[0].Name() != there {
				t.Errorf("%v, %v, want %s alone", left, err, there)
			}
		})
	}
}

// TestCreateFollowsNoLink: a run is put where its name says.
func TestCreateFollowsNoLink(t *testing.T) {
	t.Parallel()
	root, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(root, "test")); err != nil {
		t.Skip(err)
	}
	_, err := Create(root, testHeader(1), nil)
	wantError(t, err, filepath.Join(root, "test")+" is a link", "--out")
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
		t.Errorf("%v, %v, want nothing there", left, err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(root, "disk")); err != nil {
		t.Fatal(err)
	}
	f, err := Create(filepath.Join(root, "disk"), testHeader(1), nil) // what --out itself names may be a link
	must(t, err)
	must(t, f.Close())
}

// TestOpenWritesThroughNoLink: a folder that somebody else has made cannot have a file
// elsewhere written over.
func TestOpenWritesThroughNoLink(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(1))
	must(t, f.Close())
	victim, link := filepath.Join(t.TempDir(), "victim"), f.path(lockFile)
	write(t, victim, "precious")
	must(t, os.Remove(link))
	if err := os.Symlink(victim, link); err != nil {
		t.Skip(err)
	}
	_, err := Open(f.Dir(), Resume{})
	wantError(t, err, link+" is no regular file; remove it")
	if got := readFile(t, victim); got != "precious" {
		t.Errorf("the file elsewhere holds %q", got)
	}
}
