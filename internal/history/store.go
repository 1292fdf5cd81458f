package history

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/commits"
	"github.com/conclave-bench/conclave/internal/files"
)

// A Store has the files of a history: entries, blessings and experiments, each in a folder of that
// name. A file is never changed: its name says what is in it.
type Store struct {
	keep keeper
	name string
}

// A keeper has files by their paths, which have slashes.
type keeper interface {
	// put keeps a file, for good; one that is there stays.
	put(ctx context.Context, name string, content []byte) error
	// each visits all files in a folder, by name.
	each(ctx context.Context, folder string, visit func(name string, content []byte) error) error
	get(ctx context.Context, name string) ([]byte, error)
}

// GitPrefix begins the name of a store that is a reference of the repository.
const GitPrefix = "git:"

// Open opens the store of a name: that of a folder, or git:REF of the repository here. Neither needs to
// exist.
func Open(ctx context.Context, name string) (*Store, error) {
	ref, isRef := strings.CutPrefix(name, GitPrefix)
	switch {
	case name == "" || isRef && ref == "":
		return nil, errors.New("want the folder of a history, or git:REF, as git:refs/notes/conclave")
	case !isRef:
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			return nil, fmt.Errorf("%s is a file; want a folder, or git:REF, as git:refs/notes/conclave",
				name)
		}
		return &Store{folder(name), name}, nil
	case !strings.HasPrefix(ref, "refs/"):
		ref = "refs/heads/" + ref
	}
	repo, err := commits.Open(ctx, ".")
	if err != nil {
		return nil, err
	}
	if _, err := repo.Git(ctx, nil, nil, "check-ref-format", ref); err != nil {
		return nil, fmt.Errorf("%s is no name of a reference of git", name)
	}
	return &Store{&gitRef{repo, ref}, name}, nil
}

func (s *Store) String() string { return s.name }

// Where entries, blessings and the experiments of entries are.
const (
	entriesIn   = "entries"
	blessingsIn = "blessings"
	configsIn   = "experiments"
)

// Add keeps an entry and the experiment that it is of. A run that is there already is not added again.
func (s *Store) Add(ctx context.Context, e *Entry, config []byte) error {
	b, err := e.encode()
	if err != nil {
		return err
	}
	if len(config) > 0 {
		if err := s.keep.put(ctx, path.Join(configsIn, e.Config+".yaml"), config); err != nil {
			return err
		}
	}
	return s.keep.put(ctx, path.Join(entriesIn, e.name(b)+".json"), b)
}

// Entries reads all entries, the oldest run first.
func (s *Store) Entries(ctx context.Context) (out []*Entry, err error) {
	err = s.keep.each(ctx, entriesIn, func(name string, content []byte) error {
		e := &Entry{}
		err := json.Unmarshal(content, e)
		if err == nil {
			err = e.bad()
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w; remove the file if it is not of a history", s, name, err)
		}
		out = append(out, e)
		return nil
	})
	slices.SortStableFunc(out, func(a, b *Entry) int {
		return cmp.Or(a.when().Compare(b.when()), cmp.Compare(a.Run, b.Run))
	})
	return out, err
}

// Experiment is the experiment of entries whose configuration has the digest.
func (s *Store) Experiment(ctx context.Context, digest string) ([]byte, error) {
	return s.keep.get(ctx, path.Join(configsIn, digest+".yaml"))
}

// Bless keeps a blessing.
func (s *Store) Bless(ctx context.Context, b *Blessing) error {
	content, err := json.Marshal(b)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	return s.keep.put(ctx, path.Join(blessingsIn, hex.EncodeToString(sum[:8])+".json"), append(content, '\n'))
}

// Blessings reads all blessings, the oldest first.
func (s *Store) Blessings(ctx context.Context) (out []*Blessing, err error) {
	err = s.keep.each(ctx, blessingsIn, func(name string, content []byte) error {
		b := &Blessing{}
		if err := json.Unmarshal(content, b); err != nil || b.Commit == "" {
			return fmt.Errorf("%s: %s: no blessing: want commit and reason (%w)", s, name, err)
		}
		out = append(out, b)
		return nil
	})
	slices.SortStableFunc(out, func(a, b *Blessing) int { return cmp.Compare(a.At, b.At) })
	return out, err
}

// largest is the most bytes of a file of a history.
const largest = 64 * files.MiB

// A folder keeps files in a folder.
type folder string

func (f folder) put(_ context.Context, name string, content []byte) error {
	to := filepath.Join(string(f), filepath.FromSlash(name))
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return appear(to, content)
}

// appear writes a file that nobody sees before it is whole.
func appear(to string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(to), ".add-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = cmp.Or(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func (f folder) each(ctx context.Context, in string, visit func(string, []byte) error) error {
	list, err := os.ReadDir(filepath.Join(string(f), in))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	for _, d := range list {
		if !visible(d.Name()) {
			continue // of a write that goes on, or was killed
		}
		name := path.Join(in, d.Name())
		content, err := f.get(ctx, name)
		if err != nil {
			return err
		}
		if err := visit(name, content); err != nil {
			return err
		}
	}
	return nil
}

func visible(name string) bool {
	return strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".")
}

func (f folder) get(_ context.Context, name string) ([]byte, error) {
	return files.Read(filepath.Join(string(f), filepath.FromSlash(name)), largest)
}

// A gitRef keeps files in the tree of the commit that a reference of the repository names. Each
// put is a commit on top of it, and the reference moves only if nobody else has moved it since.
type gitRef struct {
	*commits.Repo
	ref string
}

// tip is the commit that the reference names; "" if there is none.
func (g *gitRef) tip(ctx context.Context) (string, error) {
	hash, err := g.Git(ctx, nil, nil, "rev-parse", "--verify", "--quiet", g.ref+"^{commit}")
	if err != nil && ctx.Err() == nil {
		return "", nil
	}
	return hash, err
}

// tries is how often a put tries to be the one that moves the reference.
const tries = 100

func (g *gitRef) put(ctx context.Context, name string, content []byte) error {
	blob, err := g.Git(ctx, bytes.NewReader(content), nil, "hash-object", "-w", "--stdin")
	if err != nil {
		return err
	}
	for range tries {
		old, err := g.tip(ctx)
		if err != nil {
			return err
		}
		if old != "" {
			if _, err := g.Git(ctx, nil, nil, "cat-file", "-e", old+":"+name); err == nil {
				return nil
			}
		}
		next, err := g.commit(ctx, old, "100644 "+blob+"\t"+name+"\n", "bench history: "+name)
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
	_, err = g.Git(ctx, nil, nil, "update-ref", g.ref, next, cmp.Or(old, strings.Repeat("0", len(next))))
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
// all files of both. A store in a folder is an error.
func (s *Store) Sync(ctx context.Context, remote string) error {
	g, is := s.keep.(*gitRef)
	if !is {
		return fmt.Errorf("%s is a folder; only a store in git:REF goes to another repository", s)
	}
	var err error
	for range tries {
		if err = g.sync(ctx, remote); err == nil || ctx.Err() != nil {
			return err
		}
		time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond)
	}
	return err
}

func (g *gitRef) sync(ctx context.Context, remote string) error {
	there, err := g.Git(ctx, nil, nil, "ls-remote", remote, g.ref)
	if err != nil {
		return err
	}
	hash, _, _ := strings.Cut(there, "\t")
	here, err := g.tip(ctx)
	if err != nil {
		return err
	}
	if hash != "" && hash != here {
		if _, err := g.Git(ctx, nil, nil, "fetch", "--quiet", "--no-tags", remote, g.ref); err != nil {
			return err
		}
		if here, err = g.join(ctx, here, hash); err != nil {
			return err
		}
	}
	if here == "" || here == hash {
		return nil
	}
	_, err = g.Git(ctx, nil, nil, "push", "--quiet", "--no-verify", remote, here+":"+g.ref)
	return err
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
