package history

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// TestStore_Refs: a history is written to notes and to branches of its own. Whatever else a reference is, the
// store says what, and no reference of the repository changes.
func TestStore_Refs(t *testing.T) {
	t.Parallel()
	dir, _ := stores(t)
	author := []string{"-c", "user.name=a", "-c", "user.email=a@example.org"}
	if err := os.WriteFile(filepath.Join(dir, "code.txt"), []byte("code\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "git", "checkout", "--quiet", "-b", "main")
	run(t, dir, "git", "add", "code.txt")
	run(t, dir, "git", append(author, "commit", "--quiet", "-m", "code")...)
	run(t, dir, "git", "branch", "other")
	run(t, dir, "git", "worktree", "add", "--quiet", "-b", "elsewhere", "tree")
	run(t, dir, "git", append(author, "notes", "add", "-m", "a note")...)
	run(t, dir, "git", "symbolic-ref", "refs/notes/link", "refs/heads/main")
	run(t, dir, "git", "tag", "v1")
	blob := strings.TrimSpace(run(t, dir, "git", "rev-parse", "HEAD:code.txt"))
	run(t, dir, "git", "update-ref", "refs/notes/blob", blob)
	run(t, dir, "git", "checkout", "--quiet", "--orphan", "unborn")
	refs := run(t, dir, "git", "show-ref", "--head")
	for name, want := range map[string]string{
		"git:main":                   "holds something other than a history",
		"git:other":                  "holds something other than a history",
		"git:refs/heads/other":       "holds something other than a history",
		"git:elsewhere":              "is checked out",
		"git:unborn":                 "is checked out",
		"git:refs/notes/commits":     "holds something other than a history",
		"git:refs/notes/link":        "stands for refs/heads/main",
		"git:refs/notes/blob":        "names no commit",
		"git:HEAD":                   "has a special meaning",
		"git:FETCH_HEAD":             "has a special meaning",
		"git:@":                      "has a special meaning",
		"git:--upload-pack=x":        "looks like an option",
		"git:refs/notes/-x":          "looks like an option",
		"git:refs/tags/v1":           "neither a note nor a branch",
		"git:refs/replace/x":         "neither a note nor a branch",
		"git:refs/remotes/origin/x":  "neither a note nor a branch",
		"git:refs/heads/../notes/x":  "not a valid name of a git reference",
		"git:refs/notes/a b":         "not a valid name of a git reference",
		"git:refs/notes/x.lock":      "not a valid name of a git reference",
		"git:refs/heads/main^{tree}": "not a valid name of a git reference",
	} {
		s, err := openIn(t.Context(), dir, name)
		if err == nil {
			err = errors.Join(s.Writable(t.Context()))
			if bad := s.Add(t.Context(), entry(1, simulated(1)), nil); bad == nil {
				t.Errorf("%s: an entry was added", name)
			}
			if bad := s.Bless(t.Context(), &Blessing{Commit: hash(1), Reason: "x"}); bad == nil {
				t.Errorf("%s: a blessing was added", name)
			}
		}
		if answer.ExitOf(err) != answer.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", name, err, want)
		}
	}
	if now := run(t, dir, "git", "show-ref", "--head"); now != refs {
		t.Errorf("references were\n%sand are\n%s", refs, now)
	}
	for _, name := range []string{"git:new", "git:group/new", "git:refs/notes/new", "git:refs/heads/x-HEAD/y"} {
		s, err := openIn(t.Context(), dir, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range 2 { // a reference that is not there, and one that holds a history
			if err := errors.Join(s.Writable(t.Context()), s.Add(t.Context(), entry(i, simulated(1)),
				[]byte(config))); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got, err := s.Entries(t.Context()); err != nil || len(got) != 2 {
			t.Errorf("%s: %d entries, %v", name, len(got), err)
		}
	}
}

// TestStore_SyncRefs: what a remote repository has under the name is a history as well, or stays as it is, and
// so does the reference here. A remote that looks like an option is none.
func TestStore_SyncRefs(t *testing.T) {
	t.Parallel()
	dir, _ := stores(t)
	run(t, dir, "git", "init", "--quiet", "--bare", "remote")
	if err := os.WriteFile(filepath.Join(dir, "code.txt"), []byte("code\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "git", "add", "code.txt")
	run(t, dir, "git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "code")
	run(t, dir, "git", "push", "--quiet", "remote", "HEAD:refs/heads/taken")
	s, err := openIn(t.Context(), dir, "git:taken")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Add(t.Context(), entry(1, simulated(1)), nil); err != nil {
		t.Fatal(err)
	}
	refs := run(t, dir, "git", "show-ref") + run(t, dir, "git", "-C", "remote", "show-ref")
	if err := s.Sync(t.Context(), "remote"); answer.ExitOf(err) != answer.Usage {
		t.Errorf("a branch of code: %v", err)
	}
	if err := s.Sync(t.Context(), "--upload-pack=touch harm; false"); err == nil {
		t.Error("an option is taken for a remote")
	}
	if _, err := os.Stat(filepath.Join(dir, "harm")); err == nil {
		t.Error("the option was obeyed")
	}
	if now := run(t, dir, "git", "show-ref") + run(t, dir, "git", "-C", "remote", "show-ref"); now != refs {
		t.Errorf("references were\n%sand are\n%s", refs, now)
	}
}

// TestStore_Checksums: a file that is not what was written is refused by name, be it an entry, a blessing or an
// experiment. Ends of lines may be others.
func TestStore_Checksums(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := openIn(t.Context(), dir, "h")
	if err != nil {
		t.Fatal(err)
	}
	e := entry(1, simulated(8, 9))
	if err := errors.Join(s.Add(t.Context(), e, []byte(config)),
		s.Bless(t.Context(), &Blessing{Commit: hash(1), Reason: "meant"})); err != nil {
		t.Fatal(err)
	}
	read := func() error {
		_, first := s.Entries(t.Context())
		_, second := s.Blessings(t.Context())
		_, third := s.Experiment(t.Context(), e.Config)
		return errors.Join(first, second, third)
	}
	list, err := filepath.Glob(filepath.Join(dir, "h/*/*"))
	if err != nil || len(list) != 3 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, name := range list {
		was, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write := func(text string) {
			t.Helper()
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		edited := strings.NewReplacer(`"median":8.5`, `"median":7.5`, "meant", "moant", "ci\n", "cj\n").Replace(string(was))
		if edited == string(was) {
			t.Fatalf("%s: nothing to edit in %s", name, was)
		}
		write(edited)
		if err := read(); err == nil || !strings.Contains(err.Error(), filepath.Base(name)) ||
			!strings.Contains(err.Error(), "checksum") {
			t.Errorf("%s: %v; want its name", name, err)
		}
		if filepath.Ext(name) == ".json" {
			write(strings.TrimSuffix(string(was), "\n") + "\r\n")
			if err := read(); err != nil {
				t.Errorf("%s with other ends of lines: %v", name, err)
			}
		}
		write(string(was))
	}
	if err := read(); err != nil {
		t.Error(err)
	}
}

// TestStore_Earlier: files of earlier builds have the checksum in their names, too.
func TestStore_Earlier(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"entries/20260201T000000-abc-33b36298d8b3.json": `{"schema_version":1,"experiment":"ci","config_sha256":"","run":"r","commit":{"commit":"abc","author":"","date":"","subject":""},"started":"2026-02-01T00:00:00Z","version":"","go":"","machine":{"os":"linux","arch":"","kernel":"","cores":0,"gomaxprocs":0},"cells":[{"design":[["label","raft"]],"trials":1,"statuses":{"ok":1},"first_trial":1,"seeds":"5eed","figures":{}}]}`,
		"blessings/6c65afe4571706cb.json":               `{"commit":"abc","where":[["algorithm","raft"]],"reason":"meant","at":"2026-02-01T00:00:00Z"}`,
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, "h", name)), 0o755),
			os.WriteFile(filepath.Join(dir, "h/"+name), []byte(text+"\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := openIn(t.Context(), dir, "h")
	if err != nil {
		t.Fatal(err)
	}
	if list, err := s.Entries(t.Context()); err != nil || len(list) != 1 || metric.Get(list[0].Cells[0].Design, "label") != "raft" {
		t.Errorf("entries %+v, %v", list, err)
	}
	if list, err := s.Blessings(t.Context()); err != nil || len(list) != 1 || len(list[0].Where) != 1 ||
		list[0].Where[0] != (metric.Field{Name: "algorithm", Value: "raft"}) {
		t.Errorf("blessings %+v, %v", list, err)
	}
}

// TestSelect: --where means here what it means to bench compare.
func TestSelect(t *testing.T) {
	entries := []*Entry{entry(0, simulated(8)), entry(1, measured(50))}
	for text, want := range map[string]int{
		"algorithm=raft": 2, "algorithm=election/raft": 2, "transport=sim": 1, "transport=nats": 1, "label=raft": 2,
	} {
		f, _ := metric.ReadField(text)
		got, err := Select(entries, []metric.Field{f})
		if err != nil || len(got) != want {
			t.Errorf("%s: %d entries, %v; want %d", text, len(got), err, want)
		}
	}
	if got, err := Select(entries, nil); err != nil || !slices.Equal(got, entries) {
		t.Errorf("all: %v, %v", got, err)
	}
	if _, err := Select(entries, []metric.Field{{Name: "nosuch", Value: "1"}}); !errors.As(err,
		new(*metric.NameError)) {
		t.Errorf("a column that no cell has: %v", err)
	}
	if _, err := Select(entries, []metric.Field{{Name: "label", Value: "bully"}}); err == nil ||
		!strings.Contains(err.Error(), `unknown value of label "bully" (has: raft)`) {
		t.Errorf("a value that no cell has: %v", err)
	}
}
