package results

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/worlds/guest"
)

// A whole is a run's folder of which every reader may believe what it reads: its
// files were held against the checksums of its manifest and of its journal. What only
// some commands read, the traces, is checked when it is read.
type whole struct {
	dir      string
	header   Header
	config   []byte    // of ConfigFile
	manifest *Manifest // nil: there is none, since the run is in progress or was killed
	// current says whether the manifest and the tables are those of the journal. Those
	// of a run that was resumed and killed are older.
	current bool
}

// The bounds of what is read at once.
const (
	mostManifest = 256 * files.MiB // it names every trace
	mostConfig   = 16 * files.MiB
	mostLine     = 256 * files.MiB // of a journal or a trace: a trial with all its operations
	mostTrace    = 4 << 30
)

// inspect checks the run at path, which may be anything that Resolve takes.
func inspect(path string) (*whole, error) {
	dir, err := Resolve(path)
	if err != nil {
		return nil, err
	}
	w := &whole{dir: dir}
	w.manifest, err = readManifest(filepath.Join(dir, ManifestFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := w.journal(); err != nil {
		return nil, err
	}
	name := filepath.Join(dir, ConfigFile)
	w.config, err = files.Read(name, mostConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing, and the run had one; put it back, or start a new run", name)
	} else if err != nil {
		return nil, fault("configuration", err)
	}
	if got := digest(w.config); got != w.header.Config {
		return nil, fmt.Errorf("%s was changed after the run began: sha256 %.12s, expected %.12s; "+
			"put it back, or start a new run", name, got, w.header.Config)
	}
	if !w.current {
		return w, nil
	}
	return w, w.tables()
}

// journal reads the header of the journal, and holds the journal against the manifest:
// that it begins with every line that the manifest knows, and if the run was complete
// ends there, too.
func (w *whole) journal() error {
	name := filepath.Join(w.dir, JournalFile)
	file, err := files.Open(name)
	if errors.Is(err, fs.ErrNotExist) { // then there is a manifest
		return fmt.Errorf("%s is missing, and %s says that the run has %s; restore it from a copy%s", name,
			ManifestFile, attemptsOf(w.manifest), w.tablesAlone())
	} else if err != nil {
		return fault("journal", err)
	}
	defer file.Close() // opened for reading: nothing can be lost
	if w.manifest != nil {
		good, more, err := w.manifest.begins(file)
		if err != nil {
			return fault("journal", err)
		}
		if !good || more && w.manifest.Complete {
			return w.damaged(file)
		}
		w.current = !more
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return fault("journal", err)
		}
	}
	line, err := bufio.NewReader(files.Lines(file, mostLine)).ReadBytes('\n')
	if err != nil && err != io.EOF {
		return fault("journal", err)
	}
	j := journal{file: file}
	if e, bad := parseLine(line); bad == nil && e.Seq == 1 && e.Header != nil {
		if err := j.begin(e.Header); err != nil {
			return fmt.Errorf("journal: %s: line 1: %w", name, err)
		}
		w.header = j.header
		return nil
	}
	// It says what is wrong with it.
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fault("journal", err)
	}
	if _, err := load(file); err != nil {
		return err
	}
	return fmt.Errorf("journal: %s: line 1: no header", name)
}

func attemptsOf(m *Manifest) string {
	if m.Attempts == 1 {
		return "1 attempt"
	}
	return fmt.Sprintf("%d attempts", m.Attempts)
}

// lines is how many the journal had.
func (m *Manifest) lines() int { return cmp.Or(m.Lines, m.Attempts+1) }

// begins says whether r begins with the journal that the manifest was written for, and
// whether it goes on behind that.
func (m *Manifest) begins(r io.Reader) (good, more bool, err error) {
	sum, left := sha256.New(), m.lines()
	buf := make([]byte, 1<<16)
	for {
		n, err := r.Read(buf)
		part := buf[:n]
		if c := bytes.Count(part, []byte("\n")); c < left {
			left -= c
		} else {
			for ; left > 0; left-- {
				part = part[bytes.IndexByte(part, '\n')+1:]
			}
			more = more || len(part) > 0
			part = buf[:n-len(part)]
			if more {
				err = io.EOF
			}
		}
		sum.Write(part)
		if err == io.EOF {
			return hex.EncodeToString(sum.Sum(nil)) == m.Files[JournalFile], more, nil
		} else if err != nil {
			return false, false, err
		}
	}
}

// damaged says in what the journal is not that of the manifest, and what to do.
func (w *whole) damaged(file *os.File) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fault("journal", err)
	}
	known := w.manifest.lines()
	t, err := scan(file, func(*entry, position) error { return nil })
	var what string
	switch {
	case err != nil:
		return fmt.Errorf("journal: %s: %w%s", file.Name(), err, w.tablesAlone())
	case t.torn > 0 && t.lines < known:
		what = fmt.Sprintf("line %d of %d is damaged, at byte %d", t.lines+1, known, t.end)
	case t.torn > 0:
		what = fmt.Sprintf("%d bytes follow the end of the complete run", t.torn)
	case t.lines < known:
		what = fmt.Sprintf("it has %d lines and had %d", t.lines, known)
	case t.lines > known:
		what = fmt.Sprintf("it has %d lines, and the complete run had %d", t.lines, known)
	default:
		what = "its lines are intact, but differ from those of " + ManifestFile +
			": one of the two is of another run"
	}
	return fmt.Errorf("journal: %s: %s, and %s says that the run has %s; restore it from a copy%s; or "+
		"discard what it lost: remove %s, and %s reruns what is missing", file.Name(), what,
		ManifestFile, attemptsOf(w.manifest), w.tablesAlone(), ManifestFile, resuming(w.dir))
}

// tablesAlone says that trials.csv survives the journal, if it does.
func (w *whole) tablesAlone() string {
	name := filepath.Join(w.dir, TrialsFile)
	if w.manifest.vouches(TrialsFile, name) != nil {
		return ""
	}
	return "; " + name + " is intact, and can be read on its own until then"
}

// tables holds the tables against the manifest.
func (w *whole) tables() error {
	names := []string{TrialsFile, OperationsFile, MessagesFile, SummaryFile}
	seldom := []string{OutagesFile, RoutesFile} // older runs have no outages
	if w.header.folds() {
		names, seldom = []string{SummaryFile}, seldom[1:]
	}
	for _, name := range seldom {
		_, err := os.Lstat(filepath.Join(w.dir, name))
		if err == nil || w.manifest.Files[name] != "" {
			names = append(names, name)
		}
	}
	found := make(chan error, len(names))
	for _, name := range names {
		go func() { found <- w.manifest.vouches(name, filepath.Join(w.dir, name)) }()
	}
	var errs []error
	for range names {
		errs = append(errs, <-found)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w; or remove %s, and %s derives the tables from the journal "+
			"again", err, ManifestFile, resuming(w.dir))
	}
	return nil
}

// vouches returns nil if the file at path is the one that the manifest calls name.
func (m *Manifest) vouches(name, path string) error {
	want := m.Files[name]
	got, err := fileDigest(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s is missing, and %s names it; restore it from a copy", path, ManifestFile)
	case err != nil:
		return fault("checksum", err)
	case want == "":
		return fmt.Errorf("%s is not among the files of %s; remove it", path, ManifestFile)
	case got != want:
		return fmt.Errorf("%s was edited or is damaged: sha256 %.12s, expected %.12s of %s; restore it "+
			"from a copy", path, got, want, ManifestFile)
	}
	return nil
}

func fileDigest(path string) (string, error) {
	file, err := files.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close() // opened for reading: nothing can be lost
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Verify checks every file of the run at path, the traces, too.
func Verify(path string) error {
	w, err := inspect(path)
	if err != nil {
		return err
	}
	if !w.current {
		return fmt.Errorf("%s: no %s of its journal: the run is in progress or was killed; %s "+
			"continues it", w.dir, ManifestFile, resuming(w.dir))
	}
	var errs []error
	for name := range w.manifest.Files {
		if _, ok := traceOf(name); ok {
			errs = append(errs, w.manifest.vouches(name, filepath.Join(w.dir, filepath.FromSlash(name))))
		}
	}
	return errors.Join(errs...)
}

// ReadConfig returns the folder of the run at path, what the run is, and its resolved
// configuration, once the folder was found whole.
func ReadConfig(path string) (dir string, h Header, config []byte, err error) {
	w, err := inspect(path)
	if err != nil {
		return "", h, nil, err
	}
	if err := guest.Same(w.header.Programs); err != nil { // before its experiment names an unknown algorithm
		return "", h, nil, fmt.Errorf("%s: %w", w.dir, err)
	}
	return w.dir, w.header, w.config, nil
}
