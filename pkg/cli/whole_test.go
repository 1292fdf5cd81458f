package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A told is what a command tells of a run.
type told struct {
	ran
	page string // that it wrote
}

// tellers are the commands that read a folder of results: what each tells of the run in
// dir beside the run in good.
var tellers = map[string]func(t testing.TB, dir, good string) told{
	"report": func(t testing.TB, dir, good string) told {
		page := filepath.Join(filepath.Dir(good), "page.html")
		defer os.Remove(page)
		r := bench(t, "report", dir, "--out", page)
		text, err := os.ReadFile(page)
		if err != nil && r.code == Good {
			t.Fatal(err)
		}
		return told{r, string(text)}
	},
	"compare": func(t testing.TB, dir, good string) told {
		return told{ran: bench(t, "compare", good, dir, "--format", "json", "--no-fail")}
	},
	"compare a table": func(t testing.TB, dir, good string) told {
		return told{ran: bench(t, "compare", filepath.Join(dir, "trials.csv"), good, "--no-fail")}
	},
	"export": func(t testing.TB, dir, _ string) told {
		return told{ran: bench(t, "export", dir, "--format", "json")}
	},
	"paper": func(t testing.TB, dir, good string) told {
		out := filepath.Join(filepath.Dir(good), "paper")
		defer os.RemoveAll(out)
		r := bench(t, "paper", dir, "--out", out)
		files, _ := filepath.Glob(filepath.Join(out, "table-*.tex")) // none if it failed
		text := ""
		for _, name := range files {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			text += string(b)
		}
		return told{r, text}
	},
	"export operations": func(t testing.TB, dir, _ string) told {
		return told{ran: bench(t, "export", dir, "--format", "hgrm", "--where", "nodes=3", "--metrics", "election_ms")}
	},
	"trace": func(t testing.TB, dir, _ string) told {
		return told{ran: bench(t, "trace", dir, "--trial", "1", "--format", "events")}
	},
	"replay": func(t testing.TB, dir, _ string) told {
		return told{ran: bench(t, "replay", dir, "--trial", "1")}
	},
	"resume": func(t testing.TB, dir, _ string) told {
		return told{ran: bench(t, "run", "--resume", dir, "--json", "--quiet")}
	},
}

// TestWhole: whatever happens to whichever file of a finished run, every command tells
// what it told before, or names the file and what to do, and exits with 1.
func TestWhole(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	file := write(t, "small.yaml", "problem: election\nalgorithms: [bully]\ntransport: sim\ntrace: all\nnodes: 3\n"+
		"network: {latency: {distribution: exponential, mean: 2ms}}\nrepetitions: 6\n")
	bench(t, "run", file, "--out", root).want(t, Good)
	dir := latest(t, root, "small")
	good := filepath.Join(root, "good")
	if err := os.CopyFS(good, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	restore := func(name string) { put(t, filepath.Join(dir, name), must(os.ReadFile(filepath.Join(good, name)))) }
	want := map[string]told{}
	for name, tell := range tellers {
		want[name] = tell(t, dir, good)
		want[name].want(t, Good)
		restore(results.ManifestFile) // which a resume writes anew
	}
	random, most := rand.New(rand.NewPCG(1, 2)), 1
	if slowtest.Night() {
		most = 20
	}
	damages := map[string]func(b []byte, at int) []byte{
		"a bit of %s flipped at %d": func(b []byte, at int) []byte {
			b[at] ^= 1 << random.IntN(8)
			return b
		},
		"%s cut at %d":               func(b []byte, at int) []byte { return b[:at] },
		"a byte of %s removed at %d": func(b []byte, at int) []byte { return slices.Delete(b, at, at+1) },
		"%s removed, %d":             func([]byte, int) []byte { return nil },
	}
	for _, name := range []string{results.ManifestFile, results.ConfigFile, results.JournalFile, results.TrialsFile,
		results.OperationsFile, results.MessagesFile, results.SummaryFile, "traces/trial-1.ndjson"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		whole := must(os.ReadFile(filepath.Join(good, filepath.FromSlash(name))))
		for what, damage := range damages {
			for range most {
				at := random.IntN(len(whole))
				damaged := damage(bytes.Clone(whole), at)
				for command, tell := range tellers {
					put(t, path, damaged)
					got := tell(t, dir, good)
					sameOrRefused(t, fmt.Sprintf(what, name, at)+": "+command, name, got, want[command])
					if got.code == Good && command == "resume" {
						restore(results.ManifestFile)
					}
				}
			}
		}
		restore(name)
	}
}

func must[T any](b T, err error) T {
	if err != nil {
		panic(err)
	}
	return b
}

// put makes the file at path hold b, or if that is nil removes it.
func put(t testing.TB, path string, b []byte) {
	t.Helper()
	err := os.Remove(path)
	if b != nil {
		err = os.WriteFile(path, b, 0o644)
	}
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

// ownCaveats are those in an export in JSON.
var ownCaveats = regexp.MustCompile(`(?s)"caveats": \[.*?\],\s*`)

func sameOrRefused(t *testing.T, what, file string, got, want told) {
	t.Helper()
	switch {
	case got.code == Good && file == results.ManifestFile: // without it, what the report says of it is missing
		got.page, want.page = "", ""
		got.out, want.out = ownCaveats.ReplaceAllString(got.out, ""), ownCaveats.ReplaceAllString(want.out, "")
		fallthrough
	case got.code == Good:
		if got.out != want.out || got.page != want.page {
			t.Errorf("%s: tells\n%.500s\nwant\n%.500s", what, got.out, want.out)
		}
	case got.code != CouldNotRun && !strings.Contains(flat(got.errors), "no run there") || got.out != "" || !strings.Contains(got.errors, filepath.FromSlash(file)):
		t.Errorf("%s: exit code %d, want a refusal that names the file:\n%s%s", what, got.code, got.out, got.errors)
	default:
		for _, remedy := range []string{"restore", "put it back", "no run there"} {
			if strings.Contains(flat(got.errors), remedy) {
				return
			}
		}
		t.Errorf("%s: no remedy in\n%s", what, got.errors)
	}
}

// TestWhole_Agree: report, compare and export take the same folders.
func TestWhole_Agree(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	bench(t, "run", write(t, "small.yaml", small), "--out", root, "--set", "repetitions=1").want(t, Good)
	dir := latest(t, root, "small")
	for _, c := range []struct {
		name   string
		remove []string // of the files of a finished run
		code   int
	}{
		{"whole", nil, Good},
		{"no journal", []string{results.JournalFile}, CouldNotRun},
		{"no manifest", []string{results.ManifestFile}, Good}, // as if it had been killed
		{"no tables", []string{results.TrialsFile, results.MessagesFile}, CouldNotRun},
		{"no tables, no manifest", []string{results.TrialsFile, results.ManifestFile}, Good},
		{"no configuration", []string{results.ConfigFile}, CouldNotRun},
		{"the tables alone", []string{results.JournalFile, results.ManifestFile, results.ConfigFile}, Good},
		{"no tables, no journal", []string{results.JournalFile, results.ManifestFile, results.TrialsFile}, Usage},
	} {
		folder := filepath.Join(t.TempDir(), "run")
		if err := os.CopyFS(folder, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		for _, name := range c.remove {
			put(t, filepath.Join(folder, name), nil)
		}
		for command, r := range map[string]ran{
			"compare": bench(t, "compare", dir, folder, "--no-fail"),
			"export":  bench(t, "export", folder, "--format", "csv"),
			"report":  bench(t, "report", folder),
		} {
			if r.code != c.code {
				t.Errorf("%s: %s: exit code %d, want %d: %s", c.name, command, r.code, c.code, r.errors)
			}
		}
	}
}
