package results

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/conclave-bench/conclave/internal/worlds/guest"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// A Folder is a run's folder, open for writing and locked for this process; or a run
// whose files are in memory alone: see InMemory. Its methods may be called from several
// goroutines.
type Folder struct {
	mu       sync.Mutex
	dir      string // "": in memory
	files    store
	lock     *flock.Flock
	log      *journal
	notes    []string
	manifest *Manifest // that Finish wrote last
	failed   error     // of an append: what the disk holds after it is not known
	now      func() time.Time
}

// Create begins a run: a new folder root/<name>/<run id> with the resolved
// configuration and the journal, which holds h, and makes root/<name>/latest
// name it. It writes over nothing that it has not made, and follows no link at
// root/<name>. The run id is the time in UTC, with a number where that is taken. A shard
// is in the folder ShardDir, and is never the latest.
func Create(root string, h Header, config []byte) (*Folder, error) {
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("results folder: %w", err)
	}
	h.begin(config)
	experiment := filepath.Join(root, h.Name)
	if err := free(experiment); err != nil {
		return nil, fmt.Errorf("results folder: %w", err)
	}
	var dir string
	var err error
	if h.Shard != nil {
		dir = ShardDir(root, h.Name, *h.Shard)
		err = makeShard(dir)
	} else {
		dir, err = makeRun(experiment, h.Started)
	}
	if err != nil {
		return nil, fault("results folder", err)
	}
	h.Run = filepath.Base(dir)
	f, err := begin(dir, h, config)
	if h.Shard != nil {
		if err != nil { // another process may have begun it
			return nil, fault("results folder", err)
		}
		return f, nil
	}
	if err != nil {
		// The folder is this call's own, and nothing in it is worth keeping.
		_ = os.RemoveAll(dir)
		return nil, fault("results folder", err)
	}
	if err := setLatest(experiment, h.Run); err != nil {
		return nil, errors.Join(fault("results folder: latest", err), f.Close(), os.RemoveAll(dir))
	}
	return f, nil
}

// begin fills in what a header says of now and here.
func (h *Header) begin(config []byte) {
	h.Schema, h.Started = Schema, time.Now().UTC()
	h.Config, h.Binary, h.Source, h.Machine = digest(config), binaryDigest(), thisSource(), thisMachine()
	h.Load = LoadAverage()
}

// InMemory begins a run like Create, but on no disk: its files are there for File, and
// are gone with the Folder. All else is the same, to the last byte of the tables.
func InMemory(h Header, config []byte) (*Folder, error) {
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	h.begin(config)
	h.Run = runID(h.Started)
	m := &memory{files: map[string][]byte{ConfigFile: bytes.Clone(config)}}
	f := &Folder{files: m, now: time.Now}
	f.log = &journal{file: memoryLog{m}, header: h, last: map[int]slot{}}
	return f, f.head()
}

// head writes the header.
func (f *Folder) head() error {
	b, err := json.Marshal(f.log.header)
	if err != nil {
		return err
	}
	return f.write([]group{{entry: entry{Header: b}}}, nil)
}

func begin(dir string, h Header, config []byte) (_ *Folder, err error) {
	f := &Folder{dir: dir, now: time.Now}
	if f.lock, err = lock(dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	if err := writeFile(filepath.Join(dir, ConfigFile), config); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(f.path(JournalFile), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	f.files = &disk{dir}
	f.log = &journal{file: file, header: h, last: map[int]slot{}}
	if err := f.head(); err != nil {
		return nil, err
	}
	experiment := filepath.Dir(dir)
	return f, errors.Join(syncDir(dir), syncDir(experiment), syncDir(filepath.Dir(experiment)))
}

// A Resume says under which conditions Open continues with a run.
type Resume struct {
	// Config, unless nil, is the resolved configuration that is meant; it must
	// be that of the folder, byte for byte.
	Config []byte
	// AnyBinary lets another build of the program go on, which Open otherwise
	// refuses: figures of two programs would stand in one table.
	AnyBinary bool
}

// Open continues with the run at path, which may be anything that Resolve takes, and
// is whole. What a crash left of an unfinished write is removed, which Notes says; every
// trial that Append accepted is there.
func Open(path string, r Resume) (_ *Folder, err error) {
	dir, err := Resolve(path)
	if err != nil {
		return nil, err
	}
	f := &Folder{dir: dir, now: time.Now}
	if f.lock, err = lock(dir); err != nil {
		return nil, fault("results folder", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	w, err := inspect(dir)
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	file, err := os.OpenFile(f.path(JournalFile), os.O_RDWR, 0)
	if err != nil {
		return nil, fault("journal", err)
	}
	log, err := load(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f.files, f.log = &disk{dir}, log
	if err := f.refuse(r, w.config); err != nil {
		return nil, fmt.Errorf("resume: %s: %w", dir, err)
	}
	return f, f.repair()
}

// refuse says why this process must not continue the run.
func (f *Folder) refuse(r Resume, config []byte) error {
	h := &f.log.header
	if r.Config != nil && !bytes.Equal(r.Config, config) {
		return fmt.Errorf("the configuration differs from that of the run, %s; "+
			"put it back, or start a new run", difference(config, r.Config))
	}
	if got := thisBuild(); !h.tool().Same(got, h.Simulated) && got.Binary != "" && h.Binary != "" {
		if !r.AnyBinary {
			return fmt.Errorf("the run was begun by another build of this program: sha256 %.12s, now %.12s; "+
				"use that one, or start a new run; %s", h.Binary, got.Binary,
				h.tool().Remedy(got, h.Simulated))
		}
		f.notes = append(f.notes, "resumed by another build of the program, sha256 "+got.Binary)
	}
	if err := guest.Same(h.Programs); err != nil {
		return err
	}
	if names := undeclared(h.Metrics); len(names) > 0 {
		return errors.New(metric.Unknown(names))
	}
	if len(h.Parts) > 0 && len(f.log.last) < h.Planned {
		return errors.New("it is the rest of an interrupted merge; remove it, and merge the shards " +
			"again")
	}
	if m := thisMachine(); !m.alike(h.Machine) {
		f.notes = append(f.notes,
			fmt.Sprintf("resumed on another machine: began on %s, resumed on %s", h.Machine, m))
	}
	return nil
}

// difference describes the first line in which two texts differ.
func difference(was, now []byte) string {
	a, b := strings.Split(string(was), "\n"), strings.Split(string(now), "\n")
	for i := range max(len(a), len(b)) {
		var x, y string
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y || i >= len(a) || i >= len(b) {
			return fmt.Sprintf("first in line %d: was %q, is %q", i+1, x, y)
		}
	}
	return "nowhere"
}

// repair removes what an unfinished write left behind.
func (f *Folder) repair() error {
	for _, name := range append(tableFiles(), ManifestFile, JournalFile) {
		stale, _ := filepath.Glob(filepath.Join(f.dir, "."+name+"[0-9]*"))
		for _, path := range stale {
			_ = os.Remove(path) // it is merely in the way
		}
	}
	torn := f.log.tail.torn
	if torn == 0 {
		return nil
	}
	err := errors.Join(f.log.file.Truncate(f.log.tail.end), f.log.file.Sync())
	if err != nil {
		return fault("journal: removing an unfinished record", err)
	}
	f.notes = append(f.notes, fmt.Sprintf(
		"the journal ended in an unfinished record of %d bytes, which was removed", torn))
	return nil
}

// Dir returns the path of the folder; "" for a run in memory.
func (f *Folder) Dir() string { return f.dir }

// Notes are what Open found, each a sentence. The manifest has them, too.
func (f *Folder) Notes() []string { return slices.Clone(f.notes) }

// Header returns what the run is.
func (f *Folder) Header() Header { return f.log.header }

// Done returns the trials that need no further attempt: those recorded with any
// status but invalid, and those invalid more often than the run's retries.
func (f *Folder) Done() map[int]Outcome {
	f.mu.Lock()
	defer f.mu.Unlock()
	done := map[int]Outcome{}
	for n, s := range f.log.last {
		if f.log.header.final(s.Outcome) {
			done[n] = s.Outcome
		}
	}
	return done
}

// Attempts returns how many attempts at a trial stand in the journal.
func (f *Folder) Attempts(trial int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log.last[trial].Attempts
}

// Append records an attempt at a trial. When it returns nil, the attempt is on
// disk for good.
func (f *Folder) Append(t Trial) error { return f.AppendGroup([]Trial{t}) }

// AppendGroup records several attempts at the price of one. All of them are on
// disk when it returns nil; after an error of the disk, which ends the writing
// of this Folder, some may be.
func (f *Folder) AppendGroup(trials []Trial) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed != nil {
		return f.failed
	}
	outcomes := map[int]Outcome{}
	for i := range trials {
		t := &trials[i]
		if err := f.check(t, outcomes); err != nil {
			return fmt.Errorf("journal: %s: %w", f.dir, err)
		}
		outcomes[t.Trial] = Outcome{t.Status, t.Attempts}
	}
	groups, err := f.log.header.groups(trials)
	if err != nil {
		return fmt.Errorf("journal: %s: %w", f.dir, err)
	}
	var dropped []int
	err = f.write(groups, func(trials []int) { dropped = append(dropped, trials...) })
	if err != nil {
		kept := len(f.log.last)
		f.failed = fmt.Errorf("%w; the %d trials before are safe", fault("journal", err), kept)
		// Best effort: whoever opens the folder next would do the same.
		_ = f.log.file.Truncate(f.log.tail.end)
		return f.failed
	}
	for _, trial := range dropped {
		err = errors.Join(err, f.removeTrace(trial))
	}
	if err = notMeant(err); err == nil && f.log.full() {
		if err = f.condense(); err != nil {
			f.failed = fault("journal", err)
		}
	}
	return err
}

// A group is an entry with what the index needs of its attempts.
type group struct {
	entry
	heads []head
}

// groups are the lines that attempts become which are appended together.
func (h *Header) groups(trials []Trial) ([]group, error) {
	heads := make([]head, len(trials))
	for i := range trials {
		t := &trials[i]
		heads[i] = head{t.Trial, t.Status, t.Reason, t.Attempts}
	}
	if (h.blocks() || h.folds()) && len(trials) >= leastBlock {
		b, err := encodeBlock(trials)
		return []group{{entry{Block: b}, heads}}, err
	}
	groups := make([]group, len(trials))
	for i := range trials {
		b, err := EncodeTrial(&trials[i])
		if err != nil {
			return nil, fmt.Errorf("trial %d: %w", trials[i].Trial, err)
		}
		groups[i] = group{entry{Trial: b}, heads[i : i+1]}
	}
	return groups, nil
}

// check says why t must not be appended after outcomes, those of its group.
func (f *Folder) check(t *Trial, outcomes map[int]Outcome) error {
	h := &f.log.header
	if err := t.check(h); err != nil {
		return err
	}
	last, ok := outcomes[t.Trial]
	if !ok {
		last = f.log.last[t.Trial].Outcome
	}
	if last.Attempts > 0 && h.final(last) {
		return fmt.Errorf("trial %d: it is finished (%s after attempt %d), expected no further attempt",
			t.Trial, last.Status, last.Attempts)
	}
	if t.Attempts <= last.Attempts {
		return fmt.Errorf("trial %d: attempt %d after attempt %d, expected a later one",
			t.Trial, t.Attempts, last.Attempts)
	}
	return nil
}

// write numbers and guards entries, appends them, waits for the disk, and has the index know them:
// dropped, unless nil, learns the trials of which no trace is kept any more.
func (f *Folder) write(groups []group, dropped func([]int)) error {
	t := &f.log.tail
	var buf []byte
	at := make([]position, len(groups))
	for i, g := range groups {
		g.Seq, g.Synced = t.lines+i+1, t.lines
		b, err := json.Marshal(g.entry)
		if err != nil {
			return err
		}
		start := len(buf)
		buf = appendLine(buf, b)
		at[i] = position{t.end + int64(start), int64(len(buf) - start)}
	}
	if err := f.files.present(f.log.file); err != nil {
		return err
	}
	if _, err := f.log.file.WriteAt(buf, t.end); err != nil {
		return err
	}
	if err := f.log.file.Sync(); err != nil {
		return err
	}
	t.lines += len(groups)
	t.end += int64(len(buf))
	for i, g := range groups {
		if g.Fold != nil {
			if err := f.log.index(&g.entry, at[i]); err != nil {
				return err
			}
		}
		for row, h := range g.heads {
			if gone := f.log.take(at[i], row, h); dropped != nil {
				dropped(gone)
			}
		}
		f.log.blocks = f.log.blocks || g.Block != nil
	}
	return nil
}

// Close gives the folder back. It writes nothing: Append has, and what it was
// not given is for Finish or the next Open.
func (f *Folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	if f.log != nil && f.log.file != nil {
		err = f.log.file.Close()
		f.log.file = nil
	}
	if f.lock != nil {
		err = errors.Join(err, unlock(f.lock))
		f.lock = nil
	}
	f.failed = fmt.Errorf("results folder: %s: it is closed", f.dir)
	return err
}

func (f *Folder) path(name string) string { return filepath.Join(f.dir, name) }

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
