// Package commits reads the commits of a git repository: it finds one by its name, searches for
// the first of many that changed something, and builds programs of them. It has no worktree
// registered and runs no hook: nothing in the repository changes, even if it is killed.
package commits

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
)

// A Repo is a repository with a working tree.
type Repo struct {
	dir    string // its database
	top    string // its working tree
	prefix string // the folder in it from which it was opened
}

// A Commit is one of its commits.
type Commit struct {
	Hash    string `json:"commit"`
	Author  string `json:"author"`
	Date    string `json:"date"` // RFC 3339
	Subject string `json:"subject"`
}

// Short is the hash, long enough for people.
func (c *Commit) Short() string { return c.Hash[:min(len(c.Hash), 12)] }

// Title is how the commit is called in a line.
func (c *Commit) Title() string { return c.Short() + " " + c.Subject }

// Open opens the repository of a folder.
func Open(ctx context.Context, folder string) (*Repo, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, fmt.Errorf("git is not installed, or not in PATH: %w", err)
	}
	out, err := (&Repo{}).run(ctx, folder, nil, "git", "rev-parse", "--absolute-git-dir", "--show-toplevel",
		"--show-prefix")
	if err != nil {
		return nil, fmt.Errorf("no repository whose commits could be searched: %w", err)
	}
	dir, rest, _ := strings.Cut(out, "\n")
	top, prefix, _ := strings.Cut(rest, "\n")
	return &Repo{dir: dir, top: top, prefix: prefix}, nil
}

// Uncommitted says whether files that git knows have changes that are in no commit.
func (r *Repo) Uncommitted(ctx context.Context) (bool, error) {
	out, err := r.git(ctx, "status", "--porcelain", "--untracked-files=no")
	return out != "", err
}

// Find is the commit of a name: a branch, a tag, a hash, HEAD~3.
func (r *Repo) Find(ctx context.Context, name string) (*Commit, error) {
	hash, err := r.git(ctx, "rev-parse", "--verify", "--quiet", name+"^{commit}")
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, mistaken("%.80q is no commit of this repository, %s", name, cmp.Or(r.Shallow(ctx),
			r.remote(ctx, name), "expected a branch, a tag, a hash, or one like HEAD~3"))
	}
	out, err := r.git(ctx, "show", "--no-patch", "--format=%aN <%aE>%n%aI%n%s", hash)
	if err != nil {
		return nil, err
	}
	lines := append(strings.SplitN(proc.Harmless(out), "\n", 3), "", "")
	return &Commit{Hash: hash, Author: lines[0], Date: lines[1], Subject: lines[2]}, nil
}

// Shallow is the remedy where older commits are missing, as the end of a sentence about this repository;
// "": they are there.
func (r *Repo) Shallow(ctx context.Context) string {
	if is, _ := r.git(ctx, "rev-parse", "--is-shallow-repository"); is != "true" {
		return ""
	}
	return "which is a shallow clone: git fetch --unshallow --tags gets the rest, as do fetch-depth: 0 " +
		"of GitHub's actions/checkout and GIT_DEPTH: \"0\" of GitLab"
}

// remote is the remedy where a branch of another repository is missing, as in a clone of a single branch.
func (r *Repo) remote(ctx context.Context, name string) string {
	from, branch, _ := strings.Cut(name, "/")
	if _, err := r.git(ctx, "config", "remote."+from+".url"); err != nil || branch == "" {
		return ""
	}
	return fmt.Sprintf("git fetch %s %s:refs/remotes/%s gets it if %[1]s has it", from, branch, name)
}

// Fork is the merge base of two commits: the last that both have.
func (r *Repo) Fork(ctx context.Context, a, b *Commit) (*Commit, error) {
	hash, err := r.git(ctx, "merge-base", a.Hash, b.Hash)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		hint := r.Shallow(ctx)
		if hint != "" {
			hint = " in this repository, " + hint
		}
		return nil, mistaken("%s and %s have no commit in common%s", a.Short(), b.Short(), hint)
	}
	return r.Find(ctx, hash)
}

// Line lists the commits that led to one, the oldest first, without those of branches that were merged.
func (r *Repo) Line(ctx context.Context, c *Commit) ([]*Commit, error) { return r.log(ctx, c.Hash) }

// Range lists the commits of a range, as v1.0..HEAD, likewise.
func (r *Repo) Range(ctx context.Context, name string) ([]*Commit, error) {
	from, to, is := strings.Cut(name, "..")
	if !is || strings.HasPrefix(to, ".") {
		return nil, fmt.Errorf("%q is no range, expected one as v1.0..HEAD", name)
	}
	var hashes [2]string
	for i, end := range []string{from, cmp.Or(to, "HEAD")} {
		c, err := r.Find(ctx, end)
		if err != nil {
			return nil, err
		}
		hashes[i] = c.Hash
	}
	list, err := r.log(ctx, hashes[0]+".."+hashes[1])
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("no commit is in %s: expected the older one first", name)
	}
	return list, err
}

func (r *Repo) log(ctx context.Context, what string) (out []*Commit, err error) {
	text, err := r.git(ctx, "log", "--first-parent", "--reverse", "--format=%H%x09%aN <%aE>%x09%aI%x09%s",
		what)
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(proc.Harmless(text), "\n") {
		if f := strings.SplitN(line, "\t", 4); len(f) == 4 {
			out = append(out, &Commit{Hash: f[0], Author: f[1], Date: f[2], Subject: f[3]})
		}
	}
	return out, nil
}

// User is the name of who uses the repository, "" if its settings have none.
func (r *Repo) User(ctx context.Context) string {
	name, err := r.git(ctx, "config", "user.name")
	if err != nil {
		return ""
	}
	return proc.Harmless(name)
}

// A Mistake is an error in what the command line names: a name of no commit, or commits between which
// nothing can be found.
type Mistake string

func (m Mistake) Error() string { return string(m) }

// Exit is the exit code of a mistake on the command line.
func (Mistake) Exit() int { return 2 }

func mistaken(format string, args ...any) error { return Mistake(fmt.Sprintf(format, args...)) }

// quiet has git do what was asked and nothing else, whatever the user's settings are.
var quiet = []string{"--no-optional-locks", "-c", "core.hooksPath=" + os.DevNull,
	"-c", "core.splitIndex=false", "-c", "core.sparseCheckout=false",
	"-c", "log.showSignature=false"}

func (r *Repo) git(ctx context.Context, args ...string) (string, error) {
	return r.run(ctx, r.top, nil, "git", append(quiet, args...)...)
}

// Git runs git in the working tree with its standard input and more of an environment, and returns what it
// prints, without the last end of line.
func (r *Repo) Git(ctx context.Context, in io.Reader, env []string, args ...string) (string, error) {
	return r.feed(ctx, r.top, in, env, "git", append(quiet, args...)...)
}

// run runs a program to its end, and returns what it prints.
func (r *Repo) run(ctx context.Context, folder string, env []string, program string, args ...string) (string,
	error) {
	return r.feed(ctx, folder, nil, env, program, args...)
}

func (r *Repo) feed(ctx context.Context, folder string, in io.Reader, env []string, program string,
	args ...string) (string, error) {
	c := proc.Interruptible(ctx, program, args...)
	c.Dir, c.Stdin = folder, in
	c.Env = append(c.Environ(), env...)
	c.WaitDelay = 2 * time.Second // for a compiler that goes on
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	err := c.Run()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		text := strings.TrimSpace(proc.Harmless(said.String()))
		return "", errors.New(cmp.Or(text, fmt.Sprintf("%s: %v", program, err)))
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// A Builder builds programs of commits, one after the other, in a folder of its own.
type Builder struct {
	repo *Repo
	root string
	pkg  string
}

// Builder returns a builder of the program of a Go package, named as from the folder in which the
// repository was opened. Close it.
func (r *Repo) Builder(pkg string) (*Builder, error) {
	root, err := os.MkdirTemp("", "bench-bisect-")
	if err != nil {
		return nil, err
	}
	return &Builder{repo: r, root: root, pkg: pkg}, os.Mkdir(filepath.Join(root, "tree"), 0o755)
}

// Close removes all that was built.
func (b *Builder) Close() error { return os.RemoveAll(b.root) }

// Build builds the program of a commit, in the place of the last one. A commit of which there is
// none is an UntestableError.
func (b *Builder) Build(ctx context.Context, c *Commit) (program string, err error) {
	program = filepath.Join(b.root, "program.exe") // a name that Windows runs, too
	return program, b.BuildTo(ctx, c, program)
}

// BuildTo is Build into a file that stays.
func (b *Builder) BuildTo(ctx context.Context, c *Commit, program string) error {
	tree := filepath.Join(b.root, "tree")
	// An index of its own makes this folder a working tree that the repository does not know.
	if _, err := b.repo.run(ctx, tree, []string{"GIT_DIR=" + b.repo.dir, "GIT_WORK_TREE=" + tree,
		"GIT_INDEX_FILE=" + filepath.Join(b.root, "index")}, "git",
		append(quiet, "read-tree", "--reset", "-u", c.Hash)...); err != nil {
		return err
	}
	folder := filepath.Join(tree, b.repo.prefix)
	if err := b.there(folder); err != nil {
		return err
	}
	if err := b.besides(ctx, folder); err != nil {
		return err
	}
	return b.compile(ctx, folder, program)
}

// BuildHere is BuildTo of the working tree as it is.
func (b *Builder) BuildHere(ctx context.Context, program string) error {
	folder := filepath.Join(b.repo.top, b.repo.prefix)
	if err := b.there(folder); err != nil {
		return err
	}
	return b.compile(ctx, folder, program)
}

// Folder is this folder in the commit that was built last.
func (b *Builder) Folder() string { return filepath.Join(b.root, "tree", b.repo.prefix) }

// File is where a file of this folder is in the commit that was built last; "": it has none.
func (b *Builder) File(path string) string {
	folder := filepath.Join(b.repo.top, b.repo.prefix)
	if filepath.IsAbs(path) {
		path, _ = filepath.Rel(folder, path)
	}
	path = filepath.Join(b.repo.prefix, path)
	if there := filepath.Join(b.root, "tree", path); filepath.IsLocal(path) && isFile(there) {
		return there
	}
	return ""
}

// there says whether the package is, as seen from a folder.
func (b *Builder) there(folder string) error {
	if strings.HasPrefix(b.pkg, ".") {
		folder = filepath.Join(folder, b.pkg)
	}
	if _, err := os.Stat(folder); err != nil {
		return &UntestableError{fmt.Sprintf("it has no folder %s; --package names the command's",
			filepath.Join(b.repo.prefix, b.pkg))}
	}
	return nil
}

// compile builds the package as seen from a folder.
func (b *Builder) compile(ctx context.Context, folder, program string) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	// Without the paths of this folder in it, the next search need not build it all again.
	// What go leaves if it has to be killed goes with the rest.
	_, err = b.repo.run(ctx, folder, []string{"GOTMPDIR=" + b.root}, "go", "build", "-trimpath", "-o",
		program, "--", b.pkg)
	if err != nil {
		return untestable(ctx, err)
	}
	// Windows has no such bit; there, starting it says so.
	if info, err := os.Stat(program); err != nil || runtime.GOOS != "windows" && info.Mode()&0o111 == 0 {
		return &UntestableError{b.pkg + " is no main package"}
	}
	return nil
}

// besides has the go.mod of a folder find what lies beside the repository, as ../conclave.
func (b *Builder) besides(ctx context.Context, folder string) error {
	tree := filepath.Join(b.root, "tree")
	mod := folder
	for ; !isFile(filepath.Join(mod, "go.mod")); mod = filepath.Dir(mod) {
		if mod == tree {
			return nil
		}
	}
	if isFile(filepath.Join(mod, "vendor", "modules.txt")) {
		return nil // it is built from there
	}
	text, err := b.repo.run(ctx, mod, nil, "go", "mod", "edit", "-json")
	if err != nil {
		return untestable(ctx, err)
	}
	var module struct {
		Replace []struct {
			Old, New struct{ Path, Version string }
		}
	}
	if err := json.Unmarshal([]byte(text), &module); err != nil {
		return err
	}
	here, err := filepath.Rel(tree, mod)
	if err != nil {
		return err
	}
	edit := []string{"mod", "edit"}
	for _, r := range module.Replace { // local are folders inside, but also full paths, and modules by name
		if there := filepath.Join(here, r.New.Path); !filepath.IsLocal(there) {
			edit = append(edit, "-replace="+strings.TrimSuffix(r.Old.Path+"@"+r.Old.Version, "@")+"="+
				filepath.Join(b.repo.top, there))
		}
	}
	if len(edit) > 2 {
		_, err = b.repo.run(ctx, mod, nil, "go", edit...)
	}
	return err
}

// untestable is what follows from an error of the go command: of the commit, unless the search was ended.
func untestable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var lines []string // without those of what it did, and in which package
	for line := range strings.Lines(err.Error()) {
		if !strings.HasPrefix(line, "# ") && !strings.HasPrefix(line, "go: downloading ") {
			lines = append(lines, line)
		}
	}
	return &UntestableError{"it does not build: " + strings.Join(lines, "")}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
