//go:build unix

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/results"
)

// TestInputs_Endless: a pipe that nobody writes to, and a device without an end, in place
// of any file that a command reads.
func TestInputs_Endless(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	bench(t, "run", write(t, "small.yaml", small), "--out", root, "--set", "repetitions=1").want(t, Good)
	dir := latest(t, root, "small")
	alone := t.TempDir()
	put(t, filepath.Join(alone, results.TrialsFile), must(os.ReadFile(filepath.Join(dir, results.TrialsFile))))
	experiment := filepath.Join(alone, "e.yaml")
	page := filepath.Join(alone, "page.html")
	for path, commands := range map[string][][]string{
		filepath.Join(dir, results.TrialsFile): {{"report", dir, "--out", page}, {"compare", dir, dir},
			{"export", dir, "--format", "csv"}},
		filepath.Join(dir, results.ManifestFile): {{"report", dir, "--out", page}, {"compare", dir, dir}},
		filepath.Join(dir, results.JournalFile):  {{"report", dir, "--out", page}, {"run", "--resume", dir}},
		filepath.Join(dir, results.ConfigFile):   {{"replay", dir, "--trial", "1"}, {"compare", dir, dir}},
		filepath.Join(alone, results.TrialsFile): {{"report", alone, "--out", page}, {"compare", alone, alone},
			{"export", filepath.Join(alone, results.TrialsFile), "--format", "csv"}},
		experiment: {{"plan", experiment}, {"run", experiment}, {"verify", "bully", "--cases", experiment},
			{"compare", dir, dir, "--fail-if-from", experiment}},
	} {
		before, _ := os.ReadFile(path)
		for kind, make := range map[string]func() error{
			"a pipe":   func() error { return syscall.Mkfifo(path, 0o644) },
			"a device": func() error { return os.Symlink("/dev/zero", path) },
		} {
			put(t, path, nil)
			if err := make(); err != nil {
				t.Fatal(err)
			}
			for _, args := range commands {
				done := beside(func() ran { return bench(t, args...) })
				select {
				case r := <-done:
					if r.code != CouldNotRun && r.code != Usage || !strings.Contains(r.errors, path) ||
						!strings.Contains(flat(r.errors), kind+", expected a regular file") {
						t.Errorf("%s %s: %q: exit code %d, %s", path, kind, args, r.code, r.errors)
					}
				case <-time.After(20 * time.Second):
					t.Fatalf("%s is %s: %q hangs", path, kind, args)
				}
			}
		}
		put(t, path, before)
	}
}

// beside runs f and goes on.
func beside(f func() ran) <-chan ran {
	done := make(chan ran, 1)
	go func() { done <- f() }()
	return done
}

// TestResume_Torn: what was removed of a run that was killed is said, beside the results
// and in the manifest.
func TestResume_Torn(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	bench(t, "run", write(t, "small.yaml", small), "--out", root).want(t, Good)
	dir := latest(t, root, "small")
	// As a kill leaves it: no manifest, and a journal that ends within a line.
	put(t, filepath.Join(dir, results.ManifestFile), nil)
	journal := filepath.Join(dir, results.JournalFile)
	b := must(os.ReadFile(journal))
	torn := 1 + bytes.LastIndexByte(b[:len(b)-1], '\n')
	put(t, journal, b[:torn+40])
	const note = "the journal ended in an unfinished record of 40 bytes, which was removed"
	r := bench(t, "run", "--resume", dir).want(t, Good)
	has(t, r.errors, "resumed     55 of 56 trials were finished", "note: "+note)
	has(t, r.out, "] "+note)
	m, err := results.ReadManifest(dir)
	if err != nil || !m.Complete || !strings.Contains(strings.Join(m.Notes, "\n"), note) {
		t.Errorf("manifest %+v, %v, want the note", m, err)
	}
}
