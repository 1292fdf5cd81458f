package results

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/conclave-bench/conclave/internal/base/files"
)

// A Follower reads the trials of a run as they come. It reads no line of the journal twice,
// and holds none.
type Follower struct {
	path  string
	info  fs.FileInfo // of the journal that was read before; nil: none was
	at    int64       // where the next line begins
	lines int
	j     journal
}

// Follow begins with the run in dir, from its first trial on.
func Follow(dir string) *Follower { return &Follower{path: filepath.Join(dir, JournalFile)} }

// Header is what the run is, once Next has read it.
func (f *Follower) Header() Header { return f.j.header }

// Next hands the attempts that have come since the last call to visit, in the order in which
// they ended. Final says that the trial needs no further attempt. A line that is still being
// written is left for the next call.
func (f *Follower) Next(visit func(t *Trial, final bool)) error {
	file, err := files.Open(f.path)
	if err != nil {
		return fault("journal", err)
	}
	defer file.Close() // opened for reading: nothing can be lost
	info, err := file.Stat()
	if err != nil {
		return fault("journal", err)
	}
	if f.info != nil && (!os.SameFile(info, f.info) || info.Size() < f.at) {
		return fmt.Errorf("journal: %s was replaced by another; follow the run anew", f.path)
	}
	f.info = info
	if _, err := file.Seek(f.at, io.SeekStart); err != nil {
		return fault("journal", err)
	}
	in := bufio.NewReaderSize(files.Lines(file, mostLine), 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		} else if err != nil {
			return fault("journal", err)
		}
		if err := f.take(line, visit); err != nil {
			return fmt.Errorf("journal: %s: line %d: %w", f.path, f.lines+1, err)
		}
		f.lines++
		f.at += int64(len(line))
	}
}

func (f *Follower) take(line []byte, visit func(*Trial, bool)) error {
	e, err := parseLine(line)
	switch {
	case err != nil:
		return err
	case e.Seq != f.lines+1:
		return fmt.Errorf("numbered %d: lines are missing or repeated", e.Seq)
	case e.Seq == 1:
		return f.j.begin(e.Header)
	case e.Fold != nil:
		return &Folded{filepath.Dir(f.path)}
	case e.Trial == nil && e.Block == nil:
		return errors.New("neither header nor trial")
	}
	all, err := e.attempts(f.j.header.Design)
	for i := range all {
		visit(&all[i], f.j.header.final(Outcome{all[i].Status, all[i].Attempts}))
	}
	return err
}

// Running says whether a process has the run in dir open for writing.
func Running(dir string) bool {
	path := filepath.Join(dir, lockFile)
	b, err := files.Read(path, files.MiB)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && strings.TrimSpace(string(b)) == "":
		return false // a process that ends in order takes its number away
	case err != nil:
		return !lockShowsHolder // where locks are mandatory the number cannot be read
	}
	// Only the lock of a process that was killed can be had, and nobody waits for that.
	l := flock.New(path, flock.SetFlag(os.O_RDONLY))
	ok, err := l.TryRLock()
	if ok {
		_ = l.Unlock()
	}
	return err == nil && !ok
}
