package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/conclave-bench/conclave/internal/base/files"
)

// A store is where the files of a run are: a folder on disk, or memory. Names have
// slashes, as in the manifest.
type store interface {
	// create begins a file that gets its name when it is published.
	create(name string) (draft, error)
	// read is the whole of a file, of which more than most bytes are an error.
	read(name string, most int64) ([]byte, error)
	digest(name string) (string, error)
	// traces are the names of those that are there.
	traces() ([]string, error)
	remove(name string) error
	// sweep removes the drafts of traces that a run left that was killed.
	sweep() error
	// present says whether log, the journal, still has its name.
	present(log logFile) error
	// reopen opens the journal that was published.
	reopen() (logFile, error)
	// settle makes the names survive a crash of the machine.
	settle() error
}

// A draft is a file that takes its name, and the place of an older file, when it is
// published. It is discarded otherwise; afterwards that does nothing.
type draft interface {
	io.Writer
	Sync() error
	publish() error
	discard()
}

// A logFile is the file of a journal.
type logFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Name() string
	Sync() error
	Truncate(size int64) error
}

// put makes a whole file, or leaves what was there.
func put(d draft, b []byte) error {
	defer d.discard()
	if _, err := d.Write(b); err != nil {
		return err
	}
	return d.publish()
}

// disk is the folder dir.
type disk struct{ dir string }

func (d *disk) path(name string) string { return filepath.Join(d.dir, filepath.FromSlash(name)) }

func (d *disk) create(name string) (draft, error) {
	if strings.HasPrefix(name, TracesDir+"/") {
		// Mkdir, not MkdirAll: a run whose folder vanished must not come back.
		if err := os.Mkdir(d.path(TracesDir), 0o755); err != nil && !os.IsExist(err) {
			return nil, err
		}
	}
	return newPending(d.path(name))
}

func (d *disk) read(name string, most int64) ([]byte, error) { return files.Read(d.path(name), most) }

func (d *disk) digest(name string) (string, error) { return fileDigest(d.path(name)) }

func (d *disk) traces() (names []string, err error) {
	entries, err := os.ReadDir(d.path(TracesDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		name := TracesDir + "/" + e.Name()
		if _, ok := traceOf(name); ok && e.Type().IsRegular() {
			names = append(names, name)
		}
	}
	return names, nil
}

func (d *disk) remove(name string) error {
	if err := os.Remove(d.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d *disk) sweep() error {
	entries, err := os.ReadDir(d.path(TracesDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			err = errors.Join(err, d.remove(TracesDir+"/"+e.Name()))
		}
	}
	return err
}

// present finds out because a file that was removed can be written for as long as it is
// open, and is lost afterwards.
func (d *disk) present(log logFile) error {
	open, err := log.(*os.File).Stat()
	if err != nil {
		return err
	}
	named, err := os.Stat(d.path(JournalFile))
	if err == nil && !os.SameFile(open, named) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return &fs.PathError{Op: "find", Path: d.path(JournalFile), Err: errVanished}
	}
	return nil
}

func (d *disk) reopen() (logFile, error) { return os.OpenFile(d.path(JournalFile), os.O_RDWR, 0) }

func (d *disk) settle() error { return syncDir(d.dir) }

// memory is files by name.
type memory struct {
	mu    sync.RWMutex
	files map[string][]byte
}

func (m *memory) create(name string) (draft, error) { return &memoryDraft{of: m, name: name}, nil }

func (m *memory) read(name string, most int64) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	b, ok := m.files[name]
	switch {
	case !ok:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case int64(len(b)) > most:
		return nil, &fs.PathError{Op: "read", Path: name,
			Err: fmt.Errorf("larger than %d MiB", most/files.MiB)}
	}
	return bytes.Clone(b), nil
}

func (m *memory) digest(name string) (string, error) {
	b, err := m.read(name, mostTrace)
	return digest(b), err
}

func (m *memory) traces() (names []string, err error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for name := range m.files {
		if _, ok := traceOf(name); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

func (m *memory) remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.files, name)
	return nil
}

func (m *memory) sweep() error          { return nil }
func (m *memory) present(logFile) error { return nil }
func (m *memory) settle() error         { return nil }

func (m *memory) reopen() (logFile, error) { return memoryLog{m}, nil }

type memoryDraft struct {
	bytes.Buffer
	of   *memory
	name string
}

func (d *memoryDraft) Sync() error { return nil }
func (d *memoryDraft) discard()    {}
func (d *memoryDraft) publish() error {
	d.of.mu.Lock()
	defer d.of.mu.Unlock()
	d.of.files[d.name] = d.Bytes()
	return nil
}

// A memoryLog is the journal in memory.
type memoryLog struct{ of *memory }

func (l memoryLog) Name() string { return JournalFile }
func (l memoryLog) Sync() error  { return nil }
func (l memoryLog) Close() error { return nil }

func (l memoryLog) ReadAt(b []byte, at int64) (int, error) {
	l.of.mu.RLock()
	defer l.of.mu.RUnlock()
	return bytes.NewReader(l.of.files[JournalFile]).ReadAt(b, at)
}

func (l memoryLog) WriteAt(b []byte, at int64) (int, error) {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	l.of.files[JournalFile] = append(l.of.files[JournalFile][:at], b...)
	return len(b), nil
}

func (l memoryLog) Truncate(size int64) error {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	l.of.files[JournalFile] = l.of.files[JournalFile][:size]
	return nil
}
