package commits

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// git runs git in a folder.
func git(t testing.TB, dir, input string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir, c.Stdin = dir, strings.NewReader(input)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// repository makes one whose commits have names and parents, as "d b c", and files, which are named
// by all behind " | ". Each commit is tagged with its name.
func repository(t testing.TB, graph ...string) (dir string, r *Repo) {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	dir = filepath.Join(t.TempDir(), "repository")
	git(t, ".", "", "init", "--quiet", dir)
	var stream strings.Builder
	for i, line := range graph {
		line, files, _ := strings.Cut(line, " | ")
		words := strings.Fields(line)
		fmt.Fprintf(&stream, "reset refs/tags/%s\ncommit refs/tags/%[1]s\ncommitter Ada <ada@example.com> %d +0100\n"+
			"data <<EOF\ncommit %[1]s\nEOF\n", words[0], 1760000000+i)
		for k, parent := range words[1:] {
			fmt.Fprintf(&stream, "%s refs/tags/%s\n", []string{"from", "merge"}[min(k, 1)], parent)
		}
		fmt.Fprintln(&stream, "deleteall")
		for k, part := range strings.Split(files, " | ") {
			name, text, _ := strings.Cut(part, ": ")
			if name == "" {
				name, text = fmt.Sprint("file", k), words[0]
			}
			fmt.Fprintf(&stream, "M 644 inline %s\ndata <<EOF\n%s\nEOF\n", name, text)
		}
	}
	git(t, dir, stream.String(), "fast-import", "--quiet", "--date-format=raw")
	git(t, dir, "", "checkout", "--quiet", "-B", "main", strings.Fields(graph[len(graph)-1])[0])
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, r
}

func find(t testing.TB, r *Repo, name string) *Commit {
	t.Helper()
	c, err := r.Find(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFind(t *testing.T) {
	dir, r := repository(t, "a", "b a")
	hash := git(t, dir, "", "rev-parse", "HEAD")
	want := Commit{Hash: hash, Author: "Ada <ada@example.com>", Date: "2025-10-09T09:53:21+01:00", Subject: "commit b"}
	for _, name := range []string{"b", "HEAD", hash[:8], "main"} {
		if got := find(t, r, name); *got != want {
			t.Errorf("%s: %+v, want %+v", name, *got, want)
		}
	}
	unknown := Mistake("")
	for _, name := range []string{"c", "", "-n", "HEAD~7", "HEAD:file0"} {
		if c, err := r.Find(t.Context(), name); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "or one like HEAD~3") {
			t.Errorf("%q: %v, %v", name, c, err)
		}
	}
	shallow := filepath.Join(t.TempDir(), "shallow")
	git(t, ".", "", "clone", "--quiet", "--depth=1", "file://"+dir, shallow)
	part, err := Open(t.Context(), shallow)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Find(t.Context(), "HEAD~1"); err == nil || !strings.Contains(err.Error(), "git fetch --unshallow") {
		t.Error(err)
	}
	// The hint to a clone of one branch is a command that gets another one.
	git(t, dir, "", "branch", "topic", "HEAD~1")
	single := filepath.Join(t.TempDir(), "single")
	git(t, ".", "", "clone", "--quiet", "--single-branch", "file://"+dir, single)
	if part, err = Open(t.Context(), single); err != nil {
		t.Fatal(err)
	}
	if _, err = part.Find(t.Context(), "origin/topic"); !errors.As(err, &unknown) {
		t.Fatal(err)
	}
	_, hint, _ := strings.Cut(string(unknown), "this repository, ")
	command, _, _ := strings.Cut(hint, " gets it")
	git(t, single, "", strings.Fields(command)[1:]...)
	if got := find(t, part, "origin/topic"); got.Subject != "commit a" {
		t.Errorf("after %s: %+v", command, got)
	}
}

func TestOpen(t *testing.T) {
	dir, _ := repository(t, "a")
	if _, err := Open(t.Context(), filepath.Join(dir, ".git")); err == nil || !strings.Contains(err.Error(), "work tree") {
		t.Error(err)
	}
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	if _, err := Open(t.Context(), filepath.Dir(dir)); err == nil || !strings.Contains(err.Error(), "not a git repository") {
		t.Error(err)
	}
	t.Setenv("PATH", "")
	if _, err := Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "git is not installed") {
		t.Error(err)
	}
}

// search searches between two names: the commits called culprits, and all that descend from one, are not
// as good is; the broken ones cannot be tested.
func search(t testing.TB, graph []string, s *Search, good, bad string, culprits, broken []string) (
	found *Found, tests int, err error) {
	t.Helper()
	_, r := repository(t, graph...)
	changed := map[string]bool{}
	for _, line := range graph {
		words := strings.Fields(line)
		changed[words[0]] = slices.Contains(culprits, words[0]) ||
			slices.ContainsFunc(words[1:], func(parent string) bool { return changed[parent] })
	}
	s.Good, s.Bad = find(t, r, good), find(t, r, bad)
	s.Test = func(_ context.Context, c *Commit, left int) (bool, error) {
		if tests++; left < 1 {
			t.Errorf("%s: %d left", c.Subject, left)
		}
		name := strings.TrimPrefix(c.Subject, "commit ")
		if slices.Contains(broken, name) {
			return false, &UntestableError{"broken"}
		}
		return changed[name], nil
	}
	found, err = r.First(t.Context(), s)
	return found, tests, err
}

// line is a history without branches, of commits c0 to c<n-1>.
func line(n int) (graph []string) {
	graph = []string{"c0"}
	for i := 1; i < n; i++ {
		graph = append(graph, fmt.Sprintf("c%d c%d", i, i-1))
	}
	return graph
}

// stretch are the names of commits c<from> to c<to>.
func stretch(from, to int) string {
	var out []string
	for i := from; i <= to; i++ {
		out = append(out, fmt.Sprint("c", i))
	}
	return strings.Join(out, " ")
}

func names(list ...*Commit) string {
	var out []string
	for _, c := range list {
		out = append(out, strings.TrimPrefix(c.Subject, "commit "))
	}
	return strings.Join(out, " ")
}

// forked is a branch x of two commits, merged into the trunk.
var forked = []string{"a", "b a", "x1 a", "x2 x1", "c b", "m c x2", "d m"}

func TestFirst(t *testing.T) {
	long := line(17)
	for _, test := range []struct {
		name             string
		graph            []string
		s                Search
		good, bad        string
		culprits, broken string
		want             string // Others, First
		before           string
		between, tests   int // at most so many tests
	}{
		{"line", long, Search{}, "c0", "c16", "c11", "", "c11", "c10", 15, 4},
		{"the next", long, Search{}, "c0", "c16", "c1", "", "c1", "c0", 15, 4},
		{"the last", long, Search{}, "c0", "c16", "c16", "", "c16", "c15", 15, 4},
		{"none between", long, Search{}, "c3", "c4", "c4", "", "c4", "c3", 0, 0},
		{"broken beside it", long, Search{}, "c0", "c16", "c11", "c9 c10", "c9 c10 c11", "c8", 15, 8},
		{"all broken", line(5), Search{}, "c0", "c4", "c3", "c1 c2 c3", "c1 c2 c3 c4", "c0", 3, 3},
		{"a long stretch broken", line(66), Search{}, "c0", "c65", "c60", stretch(20, 44), "c60", "c59", 64, 10},
		{"broken elsewhere", long, Search{}, "c0", "c16", "c14", "c5 c6 c7 c8 c9", "c14", "c13", 15, 7},
		{"in what was merged", forked, Search{}, "a", "d", "x2", "", "x2", "x1", 5, 4},
		{"merge as one", forked, Search{FirstParent: true}, "a", "d", "x2", "", "m", "c", 3, 2},
		{"the merge", forked, Search{}, "a", "d", "m", "", "m", "c", 5, 4},
		{"another branch is good", forked, Search{}, "x2", "d", "c", "", "c", "b", 3, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			found, tests, err := search(t, test.graph, &test.s, test.good, test.bad, strings.Fields(test.culprits),
				strings.Fields(test.broken))
			if err != nil {
				t.Fatal(err)
			}
			if got := names(append(found.Others, found.First)...); got != test.want || names(found.Before) != test.before ||
				found.Between != test.between || tests > test.tests {
				t.Errorf("%s behind %s of %d in %d tests, want %s behind %s of %d in at most %d", got,
					names(found.Before), found.Between, tests, test.want, test.before, test.between, test.tests)
			}
		})
	}
}

// TestFirst_Direction: where nothing can be found, it is said where to look.
func TestFirst_Direction(t *testing.T) {
	for _, test := range []struct{ name, good, bad, culprits, broken, says string }{
		{"backwards", "d", "a", "c", "", "name the older one first"},
		{"on the other side", "b", "x2", "b", "", "differs from"},
		{"nobody knows", "b", "x2", "x1", "a", ": broken"},
		{"strangers", "other", "a", "a", "", "no commit in common"},
	} {
		t.Run(test.name, func(t *testing.T) {
			culprits := strings.Fields(test.culprits)
			s := &Search{}
			graph := append([]string{"other"}, forked...)
			if test.name == "on the other side" { // what is at a has changed at b, and is what x2 has
				culprits = []string{"a"}
			}
			if _, _, err := search(t, graph, s, test.good, test.bad, culprits, strings.Fields(test.broken)); err == nil ||
				!strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %q", err, test.says)
			}
		})
	}
	boom := errors.New("boom")
	_, r := repository(t, line(3)...)
	if _, err := r.First(t.Context(), &Search{Good: find(t, r, "c0"), Bad: find(t, r, "c2"),
		Test: func(context.Context, *Commit, int) (bool, error) { return false, boom }}); !errors.Is(err, boom) {
		t.Error(err)
	}
}

const (
	mod  = "go.mod: module example.com/own\n\ngo 1.26\n"
	main = "main.go: package main\n\nfunc main() { println(word()) }\n"
	word = "word.go: package main\n\nfunc word() string { return %q }\n"
)

// TestBuild: what is built is the commit, whatever was built before, and the repository is as it was.
func TestBuild(t *testing.T) {
	files := func(more ...string) string { return " | " + strings.Join(append(more, mod, main), " | ") }
	lib := t.TempDir()
	beside := mod + "\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib v0.0.0 => " +
		strings.Repeat("../", 50) + strings.TrimPrefix(filepath.ToSlash(lib), "/") + "\n" // above the root is the root
	dir, r := repository(t,
		"one"+files(fmt.Sprintf(word, "one")),
		"broken one"+files(),
		"two broken"+files(strings.Replace(fmt.Sprintf(word, "two"), "word.go", "other.go", 1)),
		"library two | word.go: package own | "+mod,
		"deeper library | a/b.txt: c",
		"beside deeper | "+beside+" | "+main+" | word.go: package main\n\nimport \"example.com/lib\"\n\n"+
			"func word() string { return lib.Word }\n",
		"vendored beside | "+beside+" | "+main+" | word.go: package main\n\nimport \"example.com/lib\"\n\n"+
			"func word() string { return lib.Word }\n | vendor/example.com/lib/lib.go: package lib\n\n"+
			"const Word = \"vendored\"\n | vendor/modules.txt: # example.com/lib v0.0.0 => "+strings.Repeat("../", 50)+
			strings.TrimPrefix(filepath.ToSlash(lib), "/")+"\n## explicit\nexample.com/lib\n",
		"last vendored"+files(fmt.Sprintf(word, "last")))
	for name, text := range map[string]string{filepath.Join(lib, "go.mod"): "module example.com/lib\n",
		filepath.Join(lib, "lib.go"):                             "package lib\n\nconst Word = \"beside\"\n",
		filepath.Join(dir, ".git", "info", "sparse-checkout"):    "/go.mod\n",
		filepath.Join(dir, ".git", "hooks", "post-index-change"): "#!/bin/sh\ntouch " + dir + "/hooked\n"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	state := func() string {
		var out strings.Builder
		if err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
			fmt.Fprintln(&out, path, info.Size(), info.ModTime())
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return out.String() + git(t, dir, "", "worktree", "list")
	}
	// None of what a user may have set has a part in it.
	for _, key := range []string{"core.splitIndex", "core.sparseCheckout", "log.showSignature"} {
		git(t, dir, "", "config", key, "true")
	}
	for _, name := range []string{"main.go", "go.mod"} { // git believes that they have changed
		if err := os.Chtimes(filepath.Join(dir, name), time.Time{}, time.Unix(1e9, 0)); err != nil {
			t.Fatal(err)
		}
	}
	was := state()
	if dirty, err := r.Uncommitted(t.Context()); dirty || err != nil {
		t.Error(dirty, err)
	}
	b, err := r.Builder(".")
	if err != nil {
		t.Fatal(err)
	}
	if err := untestable(t.Context(), errors.New("go: downloading lib v1\n# own\nmain.go:1: no")); err.Error() !=
		"it does not build: main.go:1: no" {
		t.Error(err)
	}
	for _, test := range []struct{ commit, says, fails string }{
		{"one", "one", ""},
		{"broken", "", "it does not build: ./main.go:3:23: undefined: word"},
		{"beside", "beside", ""},
		{"beside", "beside", ""},
		{"two", "two", ""},
		{"library", "", ". is no main package"},
		{"deeper", "", "it does not build: go"},
		{"vendored", "vendored", ""},
		{"last", "last", ""},
	} {
		program, err := b.Build(t.Context(), find(t, r, test.commit))
		if untestable := (*UntestableError)(nil); test.fails != "" {
			if !errors.As(err, &untestable) || !strings.HasPrefix(untestable.Reason, test.fails) {
				t.Errorf("%s: %v, want %q", test.commit, err, test.fails)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", test.commit, err)
		}
		if text, err := os.ReadFile(program); err != nil || bytes.Contains(text, []byte(b.root)) {
			t.Errorf("%s: its folder is in the program, so that nothing is built only once: %v", test.commit, err)
		}
		if out, err := exec.Command(program).CombinedOutput(); err != nil || string(out) != test.says+"\n" {
			t.Errorf("%s: %q, %v", test.commit, out, err)
		}
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(b.root); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", b.root, err)
	}
	if is := state(); is != was {
		t.Errorf("the repository was\n%s\nand is\n%s", was, is)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if dirty, err := r.Uncommitted(t.Context()); !dirty || err != nil {
		t.Error(dirty, err)
	}
}

// TestBuild_Folder: the package is named as from the folder in which the user is.
func TestBuild_Folder(t *testing.T) {
	inner := strings.NewReplacer("go.mod", "in/go.mod", "main.go", "in/main.go").Replace(mod + " | " + main)
	dir, _ := repository(t, "before | file: x", "one before | "+inner+" | in/"+fmt.Sprintf(word, "in"))
	r, err := Open(t.Context(), filepath.Join(dir, "in"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Builder(".")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.Build(t.Context(), find(t, r, "one")); err != nil {
		t.Error(err)
	}
	if _, err := b.Build(t.Context(), find(t, r, "before")); err == nil || !strings.HasPrefix(err.Error(), "it has no folder in; ") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := errors.New("ended")
	cancel(ended)
	if _, err := b.Build(ctx, find(t, r, "one")); !errors.Is(err, ended) {
		t.Error(err)
	}
}

// TestFork: where a branch left another, whatever happened there since.
func TestFork(t *testing.T) {
	dir, r := repository(t, append([]string{"other"}, forked[:5]...)...)
	for _, test := range []struct{ a, b, want string }{{"c", "x2", "a"}, {"b", "c", "b"}, {"x1", "x1", "x1"}} {
		c, err := r.Fork(t.Context(), find(t, r, test.a), find(t, r, test.b))
		if err != nil || c.Subject != "commit "+test.want {
			t.Errorf("%s and %s: %v, %v, want %s", test.a, test.b, c, err, test.want)
		}
	}
	for _, hint := range []string{"", "git fetch --unshallow"} {
		_, err := r.Fork(t.Context(), find(t, r, "a"), find(t, r, "other"))
		if direction := Mistake(""); !errors.As(err, &direction) ||
			!strings.Contains(err.Error(), "have no commit in common") || !strings.Contains(err.Error(), hint) {
			t.Errorf("%v, want a hint %q", err, hint)
		}
		shallow := git(t, dir, "", "rev-parse", "a")
		if err := os.WriteFile(filepath.Join(dir, ".git", "shallow"), []byte(shallow+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBuildHere: the working tree as it is, into a file that stays.
func TestBuildHere(t *testing.T) {
	dir, r := repository(t, "one | "+fmt.Sprintf(word, "one")+" | "+mod+" | "+main)
	text := strings.TrimPrefix(fmt.Sprintf(word, "two"), "word.go: ")
	if err := os.WriteFile(filepath.Join(dir, "word.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	b, err := r.Builder(".")
	if err != nil {
		t.Fatal(err)
	}
	here, there := filepath.Join(t.TempDir(), "here.exe"), filepath.Join(t.TempDir(), "there.exe")
	if err := errors.Join(b.BuildHere(t.Context(), here), b.BuildTo(t.Context(), find(t, r, "one"), there)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"word.go", filepath.Join(dir, "word.go")} {
		if text, err := os.ReadFile(b.File(path)); err != nil || !strings.Contains(string(text), "one") {
			t.Errorf("%s was %q, %v", path, text, err)
		}
	}
	for _, path := range []string{"nothing.go", "../word.go", "."} {
		if got := b.File(path); got != "" {
			t.Errorf("%s was %s", path, got)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for program, says := range map[string]string{here: "two\n", there: "one\n"} {
		if out, err := exec.Command(program).CombinedOutput(); err != nil || string(out) != says {
			t.Errorf("%s: %q, %v, want %q", program, out, err, says)
		}
	}
	if b, err = r.Builder("./nowhere"); err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.BuildHere(t.Context(), here); err == nil || !strings.HasPrefix(err.Error(), "it has no folder nowhere; ") {
		t.Error(err)
	}
}
