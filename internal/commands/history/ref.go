package history

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/commits"
)

// A gitRef keeps files in the tree of the commit that a reference of the repository names. Each
// put is a commit on top of it, and the reference moves only if nobody else has moved it since.
type gitRef struct {
	*commits.Repo
	ref string
}

// Where the references of histories are: notes, and branches.
const (
	notes    = "refs/notes/"
	branches = "refs/heads/"
)

// openRef opens the store of a reference of the repository that dir is in. The name may be that of a branch.
func openRef(ctx context.Context, dir, name string) (*gitRef, error) {
	ref := name
	if !strings.HasPrefix(ref, "refs/") {
		ref = branches + ref
	}
	branch, isBranch := strings.CutPrefix(ref, branches)
	switch {
	case !isBranch && !strings.HasPrefix(ref, notes):
		return nil, answer.Mistaken("%s is neither a note nor a branch; expected git:refs/notes/NAME or "+
			"git:BRANCH", ref)
	case strings.Contains(ref, "/-"):
		return nil, answer.Mistaken("%s looks like an option; choose another name, as "+
			"git:refs/notes/conclave", ref)
	case isBranch && (branch == "@" || strings.HasSuffix(branch, "HEAD") && !strings.Contains(branch, "/")):
		return nil, answer.Mistaken("%s would be a branch whose name has a special meaning in git; "+
			"choose another name, as git:refs/notes/conclave", ref)
	}
	repo, err := commits.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	if _, err := repo.Git(ctx, nil, nil, "check-ref-format", ref); err != nil {
		return nil, answer.Mistaken("%s is not a valid name of a git reference", name)
	}
	return &gitRef{repo, ref}, nil
}

// writable refuses a reference that is not history's own: a history is on it, or nothing yet, and
// no working tree has it checked out.
func (g *gitRef) writable(ctx context.Context) error {
	const remedy = "; expected git:refs/notes/NAME, or a branch used only for a history"
	if to, err := g.Git(ctx, nil, nil, "symbolic-ref", "--quiet", g.ref); err == nil {
		return answer.Mistaken("%s stands for %s%s", g.ref, to, remedy)
	}
	trees, err := g.Git(ctx, nil, nil, "worktree", "list", "--porcelain")
	if err != nil {
		return err
	}
	if slices.Contains(strings.Split(trees, "\n"), "branch "+g.ref) {
		return answer.Mistaken("%s is checked out, and the working tree would not follow it%s", g.ref, remedy)
	}
	tip, err := g.tip(ctx)
	if err != nil || tip == "" {
		return err
	}
	if is, err := g.isHistory(ctx, tip); err != nil || is {
		return err
	}
	return answer.Mistaken("%s holds something other than a history%s", g.ref, remedy)
}

// isHistory says whether the tree of a commit is that of a history: its folders, and nothing else.
func (g *gitRef) isHistory(ctx context.Context, commit string) (bool, error) {
	list, err := g.Git(ctx, nil, nil, "ls-tree", commit)
	if err != nil {
		return false, err
	}
	kept := false
	for entry := range strings.SplitSeq(list, "\n") {
		about, name, _ := strings.Cut(entry, "\t")
		if !strings.Contains(about, " tree ") ||
			!slices.Contains([]string{entriesIn, blessingsIn, configsIn}, name) {
			return false, nil
		}
		kept = kept || name != configsIn
	}
	return kept, nil
}

// tip is the commit that the reference names; "" if there is none.
func (g *gitRef) tip(ctx context.Context) (string, error) {
	if _, err := g.Git(ctx, nil, nil, "rev-parse", "--verify", "--quiet", g.ref); err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		return "", nil
	}
	hash, err := g.Git(ctx, nil, nil, "rev-parse", "--verify", "--quiet", g.ref+"^{commit}")
	if err != nil && ctx.Err() == nil {
		return "", answer.Mistaken("%s names no commit; choose another name, as "+
			"git:refs/notes/conclave", g.ref)
	}
	return hash, err
}

// tries is how often a put tries to be the one that moves the reference.
const tries = 100

func (g *gitRef) put(ctx context.Context, list ...file) error {
	if err := g.writable(ctx); err != nil {
		return err
	}
	var all strings.Builder // as git update-index reads it
	for _, f := range list {
		blob, err := g.Git(ctx, bytes.NewReader(f.content), nil, "hash-object", "-w", "--stdin")
		if err != nil {
			return err
		}
		fmt.Fprintf(&all, "100644 %s\t%s\n", blob, f.name)
	}
	last := list[len(list)-1].name // made of what is in the others
	for range tries {
		old, err := g.tip(ctx)
		if err != nil {
			return err
		}
		if old != "" {
			if _, err := g.Git(ctx, nil, nil, "cat-file", "-e", old+":"+last); err == nil {
				return nil
			}
		}
		next, err := g.commit(ctx, old, all.String(), "bench history: "+last)
		if err != nil {
			return err
		}
		if moved, err := g.move(ctx, old, next); moved || err != nil {
			return err
		}
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
	}
	return fmt.Errorf("%s moved %d times while a file was to be added; try again", g.ref, tries)
}

// move has the reference name another commit, if it still names the old one.
func (g *gitRef) move(ctx context.Context, old, next string) (moved bool, err error) {
	_, err = g.Git(ctx, nil, nil, "update-ref", "--no-deref", g.ref, next,
		cmp.Or(old, strings.Repeat("0", len(next))))
	if err == nil {
		return true, nil
	}
	if now, bad := g.tip(ctx); bad != nil || now == old && !strings.Contains(err.Error(), "lock") {
		return false, err // not because of another one
	}
	return false, nil
}

// commit makes a commit of the files of other ones and those of an index, which it lists as
// git update-index --index-info reads it.
func (g *gitRef) commit(ctx context.Context, old, index, message string, parents ...string) (string, error) {
	dir, err := os.MkdirTemp("", "bench-history-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) // in the folder for what may go
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index"),
		"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@localhost",
		"GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@localhost"}
	args := []string{"commit-tree", "-m", message}
	if old != "" {
		if _, err := g.Git(ctx, nil, env, "read-tree", old); err != nil {
			return "", err
		}
		parents = append([]string{old}, parents...)
	}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	if _, err := g.Git(ctx, strings.NewReader(index), env, "update-index", "--index-info"); err != nil {
		return "", err
	}
	tree, err := g.Git(ctx, nil, env, "write-tree")
	if err != nil {
		return "", err
	}
	return g.Git(ctx, nil, env, append(args, tree)...)
}

func (g *gitRef) get(ctx context.Context, name string) ([]byte, error) {
	out, err := g.Git(ctx, nil, nil, "cat-file", "blob", g.ref+":"+name)
	return []byte(out + "\n"), err
}

func (g *gitRef) each(ctx context.Context, in string, visit func(string, []byte) error) error {
	tip, err := g.tip(ctx)
	if err != nil || tip == "" {
		return err
	}
	list, err := g.Git(ctx, nil, nil, "ls-tree", "-r", "--name-only", tip, in+"/")
	if err != nil || list == "" {
		return err
	}
	var names []string
	var asked strings.Builder
	for name := range strings.SplitSeq(list, "\n") {
		if visible(path.Base(name)) {
			names = append(names, name)
			fmt.Fprintln(&asked, tip+":"+name)
		}
	}
	out, err := g.Git(ctx, strings.NewReader(asked.String()), nil, "cat-file", "--batch")
	if err != nil {
		return err
	}
	r := bufio.NewReader(strings.NewReader(out + "\n"))
	for _, name := range names {
		content, err := nextBlob(r)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", g.ref, name, err)
		}
		if err := visit(name, content); err != nil {
			return err
		}
	}
	return nil
}

// nextBlob reads an answer of git cat-file --batch: hash, type, size; content; end of line.
func nextBlob(r *bufio.Reader) ([]byte, error) {
	head, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	words := strings.Fields(head)
	if len(words) != 3 {
		return nil, fmt.Errorf("git says %q", head)
	}
	size, err := strconv.Atoi(words[2])
	if err != nil || size > largest {
		return nil, fmt.Errorf("git says %q", head)
	}
	content := make([]byte, size+1)
	_, err = io.ReadFull(r, content)
	return content[:size], err
}

// Sync brings what a remote repository has of the reference here, and what is here there. Both then have
// all files of both. A store in a folder is an error, and so is a remote whose reference has something
// else than a history.
func (s *Store) Sync(ctx context.Context, remote string) error {
	g, is := s.keep.(*gitRef)
	if !is {
		return fmt.Errorf("%s is a folder; only a store in git:REF goes to another repository", s)
	}
	if err := g.writable(ctx); err != nil {
		return err
	}
	var err error
	for range tries {
		lost := false // against somebody who moved a reference meanwhile
		if lost, err = g.sync(ctx, remote); err == nil || !lost || ctx.Err() != nil {
			return err
		}
		time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond)
	}
	return err
}

func (g *gitRef) sync(ctx context.Context, remote string) (lost bool, err error) {
	there, err := g.Git(ctx, nil, nil, "ls-remote", "--", remote, g.ref)
	if err != nil {
		return false, err
	}
	hash, _, _ := strings.Cut(there, "\t")
	here, err := g.tip(ctx)
	if err != nil {
		return false, err
	}
	if hash != "" && hash != here {
		if _, err := g.Git(ctx, nil, nil, "fetch", "--quiet", "--no-tags", "--", remote, g.ref); err != nil {
			return true, err
		}
		if is, err := g.isHistory(ctx, hash); err != nil {
			return true, err
		} else if !is {
			return false, answer.Mistaken("%s of %s holds something other than a history; choose another "+
				"name",
				g.ref, remote)
		}
		if here, err = g.join(ctx, here, hash); err != nil {
			return true, err
		}
	}
	if here == "" || here == hash {
		return false, nil
	}
	_, err = g.Git(ctx, nil, nil, "push", "--quiet", "--no-verify", "--", remote, here+":"+g.ref)
	return err != nil, err
}

// join adds the files of another commit to the reference.
func (g *gitRef) join(ctx context.Context, here, there string) (string, error) {
	next := there
	contains := func(newer, older string) bool {
		_, err := g.Git(ctx, nil, nil, "merge-base", "--is-ancestor", older, newer)
		return err == nil
	}
	switch {
	case here == "" || contains(there, here):
	case contains(here, there):
		return here, nil
	default:
		index, err := g.Git(ctx, nil, nil, "ls-tree", "-r", there)
		if err != nil {
			return "", err
		}
		if next, err = g.commit(ctx, here, index+"\n", "bench history: what both have", there); err != nil {
			return "", err
		}
	}
	moved, err := g.move(ctx, here, next)
	if err == nil && !moved {
		err = fmt.Errorf("%s moved", g.ref)
	}
	return next, err
}
