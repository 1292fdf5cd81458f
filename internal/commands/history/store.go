package history

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/files"
)

// A Store has the files of a history: entries, blessings and experiments, each in a folder of that
// name. A file is never changed: its name says what is in it.
type Store struct {
	keep keeper
	name string
}

// A file of a store has a path with slashes.
type file struct {
	name    string
	content []byte
}

// A keeper has files by their paths.
type keeper interface {
	// writable says why no file can be put, if that is known before: a mistake on the command line.
	writable(ctx context.Context) error
	// put keeps files, for good; those that are there stay.
	put(ctx context.Context, list ...file) error
	// each visits all files in a folder, by name.
	each(ctx context.Context, folder string, visit func(name string, content []byte) error) error
	get(ctx context.Context, name string) ([]byte, error)
}

// GitPrefix begins the name of a store that is a reference of the repository.
const GitPrefix = "git:"

// Open opens the store of a name: that of a folder, or git:REF of the repository here. Neither needs to
// exist.
func Open(ctx context.Context, name string) (*Store, error) { return openIn(ctx, ".", name) }

// openIn does that in a folder that relative names are relative to.
func openIn(ctx context.Context, dir, name string) (*Store, error) {
	ref, isRef := strings.CutPrefix(name, GitPrefix)
	if name == "" || isRef && ref == "" {
		return nil, errors.New("expected the folder of a history, or git:REF, as git:refs/notes/conclave")
	}
	if isRef {
		g, err := openRef(ctx, dir, ref)
		return &Store{g, name}, err
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is a file; expected a folder, or git:REF, as "+
			"git:refs/notes/conclave", name)
	}
	return &Store{folder(path), name}, nil
}

func (s *Store) String() string { return s.name }

// Writable is an error if the store is a reference of git that is not a history's to write.
// Whatever writes checks it as well; who measures for hours before that asks first.
func (s *Store) Writable(ctx context.Context) error { return s.keep.writable(ctx) }

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
	var list []file
	if len(config) > 0 {
		list = append(list, file{path.Join(configsIn, e.Config+".yaml"), config})
	}
	return s.keep.put(ctx, append(list, file{path.Join(entriesIn, e.name(b)+".json"), b})...)
}

// checksum is the first bytes of the SHA-256 of a file, in hexadecimal digits: the end of its name.
func checksum(content []byte, bytes int) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:bytes])
}

// How many bytes of its checksum the name of an entry and that of a blessing end with.
const (
	entrySum    = 6
	blessingSum = 8
)

// intact says whether the name of a file ends with the checksum of its content, as every build has
// written it.
func intact(name string, content []byte, bytes int) error {
	if strings.HasSuffix(name, "-"+checksum(content, bytes)+".json") ||
		path.Base(name) == checksum(content, bytes)+".json" {
		return nil
	}
	return errors.New("its name does not end with the checksum of its content, so it was edited or " +
		"damaged; restore it, or remove it and add or bless again")
}

// unended is the content of a file of one line without its end, which git may have changed on Windows.
func unended(content []byte) []byte { return bytes.TrimRight(content, "\r\n") }

// Entries reads all entries, the oldest run first.
func (s *Store) Entries(ctx context.Context) (out []*Entry, err error) {
	err = s.keep.each(ctx, entriesIn, func(name string, content []byte) error {
		e := &Entry{}
		err := json.Unmarshal(content, e)
		if err == nil {
			err = e.bad()
		}
		if err == nil {
			err = intact(name, slices.Concat(unended(content), []byte("\n")), entrySum)
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", s, name, err)
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
	name := path.Join(configsIn, digest+".yaml")
	content, err := s.keep.get(ctx, name)
	if err == nil && checksum(content, sha256.Size) != digest {
		return nil, fmt.Errorf("%s: %s: its name is not the checksum of its content, so it was edited or "+
			"damaged; restore it", s, name)
	}
	return content, err
}

// Bless keeps a blessing.
func (s *Store) Bless(ctx context.Context, b *Blessing) error {
	content, err := json.Marshal(b)
	if err != nil {
		return err
	}
	name := path.Join(blessingsIn, checksum(content, blessingSum)+".json")
	return s.keep.put(ctx, file{name, append(content, '\n')})
}

// Blessings reads all blessings, the oldest first.
func (s *Store) Blessings(ctx context.Context) (out []*Blessing, err error) {
	err = s.keep.each(ctx, blessingsIn, func(name string, content []byte) error {
		b := &Blessing{}
		if err := json.Unmarshal(content, b); err != nil || b.Commit == "" {
			return fmt.Errorf("%s: %s: no blessing: expected commit and reason (%w)", s, name, err)
		}
		if err := intact(name, unended(content), blessingSum); err != nil {
			return fmt.Errorf("%s: %s: %w", s, name, err)
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

func (folder) writable(context.Context) error { return nil }

func (f folder) put(_ context.Context, list ...file) error {
	for _, one := range list {
		to := filepath.Join(string(f), filepath.FromSlash(one.name))
		if _, err := os.Stat(to); err == nil {
			continue
		}
		err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), files.Write(to, one.content))
		if err != nil {
			return err
		}
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
