package results

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/worlds/guest"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A MergeError says why folders are not the shards of one run, and what to do.
type MergeError struct {
	Text string
	// Again are commands, if any, that run what is missing.
	Again [][]string
	// Later says that the folders may be that run before long: shards may be running.
	Later bool
}

func (e *MergeError) Error() string { return e.Text }

// Exit is the exit code of a command that was refused so.
func (e *MergeError) Exit() int { return 2 }

func unlike(format string, args ...any) error { return &MergeError{Text: fmt.Sprintf(format, args...)} }

// A piece is the folder of a shard.
type piece struct {
	*whole
	log *journal // whose file is closed
}

func (p *piece) shard() Shard { return *p.header.Shard }

// A Recheck runs a sample of the trials of the shard in dir again. It returns how many, and how the first
// one that is not as recorded differs; "": all are.
type Recheck func(dir string) (trials int, differs string, err error)

// Merge makes a run in root of all shards of one, and returns its folder, which Create
// would have made. Each path is the folder of a shard, or of an experiment with its
// shards in it. What is not all of one run, and that once, is a MergeError. The shards stay.
// Simulated shards that another build of this program ran, such as one for another platform, are merged if
// recheck, unless nil, finds no difference.
func Merge(paths []string, root string, argv []string, recheck Recheck) (dir string, err error) {
	pieces, err := gather(paths)
	if err != nil {
		return "", err
	}
	for _, check := range []func([]*piece) error{oneRun, eachOnce, noneMissing, everyTrial} {
		if err := check(pieces); err != nil {
			return "", err
		}
	}
	notes, err := recheckForeign(pieces, recheck)
	if err != nil {
		return "", err
	}
	f, err := beginMerged(pieces, root, argv)
	if err != nil {
		return "", err
	}
	if err = f.fill(pieces, notes); err != nil {
		// The folder is this call's own, and nothing in it is worth keeping.
		return "", errors.Join(err, f.Close(), os.RemoveAll(f.dir))
	}
	return f.dir, f.Close()
}

// gather opens the shards in the order of their numbers.
func gather(paths []string) (pieces []*piece, err error) {
	var dirs []string
	for _, path := range paths {
		found := []string{filepath.Clean(path)}
		if !isRun(path) {
			if found = shardsIn(path); len(found) == 0 {
				return nil, &MergeError{Later: true, Text: fmt.Sprintf("%s: no shard there, expected the "+
					"folder of one, as bench run --shard makes it, or of an experiment with its "+
					"shards%s", path,
					experimentsIn(path))}
			}
		}
		dirs = append(dirs, found...)
	}
	for _, dir := range dirs {
		w, err := inspect(dir)
		if err != nil {
			return nil, fmt.Errorf("merge: %w", err)
		}
		if w.header.Shard == nil {
			return nil, unlike("%s is a whole run, not a shard; leave it out", dir)
		}
		p := &piece{whole: w}
		if err := w.reading(func(j *journal) error { p.log = j; return nil }); err != nil {
			return nil, fmt.Errorf("merge: %w", err)
		}
		pieces = append(pieces, p)
	}
	slices.SortStableFunc(pieces, func(a, b *piece) int { return a.shard().Index - b.shard().Index })
	return pieces, nil
}

// shardsIn are the folders of shards in that of an experiment.
func shardsIn(experiment string) []string {
	found, _ := filepath.Glob(filepath.Join(experiment, shardPattern)) // the pattern is a good one
	return slices.DeleteFunc(found, func(dir string) bool { return !isRun(dir) })
}

// oneRun refuses shards of different experiments, programs or divisions.
func oneRun(pieces []*piece) error {
	a := pieces[0]
	for _, b := range pieces[1:] {
		if a.header.Name != b.header.Name || !bytes.Equal(a.config, b.config) {
			return unlike("%s and %s are of different experiments: they differ %s; merge the shards of one",
				a.dir, b.dir, difference(a.config, b.config))
		}
		if a.shard().Of != b.shard().Of {
			return unlike("%s is shard %v, and %s is shard %v: expected shards of one division; run those "+
				"of the other again", a.dir, a.shard(), b.dir, b.shard())
		}
	}
	for _, b := range pieces[1:] {
		if what := guest.Difference(a.header.Programs, b.header.Programs); what != "" {
			return unlike("%s and %s were run with different programs: %s; run the shards with the same",
				a.dir, b.dir, what)
		}
	}
	ours, simulated := a.header.tool(), a.header.Simulated
	for _, p := range pieces {
		other := p.header.tool()
		if other.Binary != ours.Binary && !ours.Same(other, simulated) {
			return unlike("%s and %s were run by different programs: sha256 %.12s and %.12s; move one of "+
				"them away, and rerun it with the program of the others; %s", a.dir, p.dir, ours.Binary,
				other.Binary, ours.Remedy(other, simulated))
		}
	}
	if got := thisBuild(); !ours.Same(got, simulated) && got.Binary != "" && ours.Binary != "" {
		return anotherBuild(a, ours.Remedy(got, simulated))
	}
	return nil
}

// anotherBuild refuses a shard that this program cannot take.
func anotherBuild(p *piece, remedy string) error {
	return unlike("the shards were run by another build of this program: sha256 %.12s, now %.12s; merge "+
		"them with that one; %s", p.header.Binary, binaryDigest(), remedy)
}

// recheckForeign makes sure that shards which another file of this program ran are those that this one would
// have run, and says in notes how.
func recheckForeign(pieces []*piece, recheck Recheck) (notes []string, err error) {
	for _, p := range pieces {
		if p.header.Binary == binaryDigest() || p.header.Binary == "" || binaryDigest() == "" {
			continue
		}
		m := p.header.Machine
		if recheck == nil {
			return nil, anotherBuild(p, "trials of it must be run again first")
		}
		trials, differs, err := recheck(p.dir)
		if err != nil {
			return nil, fmt.Errorf("merge: %s: %w", p.dir, err)
		}
		if differs != "" {
			return nil, unlike("%s was run on %s/%s, and this program on %s/%s finds other results: %s; "+
				"run the shard again on a platform like this one's, and report this as a bug", p.dir, m.OS,
				m.Arch, runtime.GOOS, runtime.GOARCH, differs)
		}
		notes = append(notes, fmt.Sprintf("shard %v was run by another file of this program, on %s/%s; "+
			"trials that were run again on %s/%s when it was merged: %d, all as recorded", p.shard(), m.OS,
			m.Arch, runtime.GOOS, runtime.GOARCH, trials))
	}
	return notes, nil
}

// eachOnce refuses a shard that is there twice.
func eachOnce(pieces []*piece) error {
	for i, b := range pieces[1:] {
		if a := pieces[i]; a.shard().Index == b.shard().Index {
			return unlike("%s and %s are both shard %v; leave one of them out", a.dir, b.dir, a.shard())
		}
	}
	return nil
}

// noneMissing refuses a division of which a shard is not there, or not at its end.
func noneMissing(pieces []*piece) error {
	e, of := &MergeError{Later: true}, pieces[0].shard().Of
	there := map[int]bool{}
	var missing []string
	for _, p := range pieces {
		there[p.shard().Index] = true
	}
	for i := 1; i <= of; i++ {
		if !there[i] {
			missing = append(missing, fmt.Sprintf("%d/%d", i, of))
			e.Again = append(e.Again, again(&pieces[0].header, i))
		}
	}
	if len(missing) > 0 {
		e.Text = fmt.Sprintf("%s missing, beside %s; run what is missing, and merge again",
			listing(missing), pieces[0].dir)
		return e
	}
	for _, p := range pieces {
		// The manifest of one that has not ended gets its exit code yet.
		if !p.current || !p.manifest.Complete || p.manifest.Exit == nil && Running(p.dir) {
			missing = append(missing, p.shard().String())
			command := []string{"bench", "run", "--resume", p.dir}
			if len(p.header.Host) > 0 {
				command = append(command, "--host", strings.Join(p.header.Host, " "))
			}
			if name := p.shard().Host; name != "" {
				command = append(command, "--machine", name)
			}
			e.Again = append(e.Again, command)
		}
	}
	if len(missing) > 0 {
		e.Text = fmt.Sprintf("%s not complete; let each end, and merge again", listing(missing))
		return e
	}
	return nil
}

func listing(shards []string) string {
	if len(shards) == 1 {
		return "shard " + shards[0] + " is"
	}
	return "shards " + strings.Join(shards, ", ") + " are"
}

// again is the command that ran a shard, for another one, on whatever machine.
func again(h *Header, index int) (command []string) {
	value := Shard{Index: index, Of: h.Shard.Of}.String()
	for i := 0; i < len(h.Argv); i++ {
		switch word := h.Argv[i]; {
		case word == "--shard":
			command = append(command, word, value)
			i++
		case strings.HasPrefix(word, "--shard="):
			command = append(command, "--shard="+value)
		case word == "--machine":
			i++
		case !strings.HasPrefix(word, "--machine="):
			command = append(command, word)
		}
	}
	return command
}

// everyTrial makes sure that the trials of the shards are those of the plan. It cannot
// fail for shards that bench has made.
func everyTrial(pieces []*piece) error {
	of := map[int]*piece{}
	for _, p := range pieces {
		for _, n := range p.log.trials() {
			if other := of[n]; other != nil {
				return unlike("%s and %s have both run trial %d: their plans overlap; run both again",
					other.dir, p.dir, n)
			}
			of[n] = p
		}
	}
	if planned := pieces[0].header.Planned; len(of) != planned {
		return unlike("the shards have %d trials, and the experiment has %d: their plans leave a gap; run "+
			"all shards again", len(of), planned)
	}
	return nil
}

// beginMerged makes the folder.
func beginMerged(pieces []*piece, root string, argv []string) (*Folder, error) {
	first := pieces[0]
	h := first.header
	h.Shard, h.Argv, h.Host, h.Load = nil, argv, nil, ""
	h.Machine = first.manifest.Where()
	for _, p := range pieces {
		m := p.manifest
		h.Parts = append(h.Parts, Part{Shard: p.shard(), Started: m.Started, Finish: m.Finish, Argv: m.Argv,
			Machine: m.Where(), LoadThen: m.LoadThen, LoadNow: m.LoadNow, Bus: m.Bus, Self: m.Self})
		if p.header.Started.Before(h.Started) {
			h.Started = p.header.Started
		}
	}
	experiment := filepath.Join(root, h.Name)
	if err := free(experiment); err != nil {
		return nil, fmt.Errorf("results folder: %w", err)
	}
	dir, err := makeRun(experiment, h.Started)
	if err != nil {
		return nil, fault("results folder", err)
	}
	h.Run = filepath.Base(dir)
	f, err := begin(dir, h, first.config)
	if err != nil {
		return nil, errors.Join(fault("results folder", err), os.RemoveAll(dir))
	}
	return f, nil
}

// fill takes over what the pieces have, and finishes the run.
func (f *Folder) fill(pieces []*piece, notes []string) error {
	for _, p := range pieces {
		err := p.reading(func(j *journal) error { return f.adopt(j) })
		if err != nil {
			return fault("merge", err)
		}
	}
	for _, p := range pieces { // once it is known which traces of which piece are kept
		if err := f.adoptTraces(p); err != nil {
			return fault("merge", err)
		}
	}
	notes = append(notesOf(pieces), notes...)
	if _, err := f.Finish(End{Network: networkOf(pieces), Notes: notes}); err != nil {
		return err
	}
	if err := setLatest(filepath.Dir(f.dir), filepath.Base(f.dir)); err != nil {
		return fault("results folder: latest", err)
	}
	return nil
}

// networkOf is what all pieces have measured of the network; nil: nothing.
func networkOf(pieces []*piece) *link.Matrix {
	var all link.Matrix
	for _, p := range pieces {
		part := p.manifest.Network
		if part == nil || len(part.Hosts) == 0 {
			continue
		}
		if host := p.shard().Host; part.Hosts[0].Name == trace.Here { // each shard means another machine
			part.Hosts[0].Name = host
			for i := range part.Routes {
				part.Routes[i].From, part.Routes[i].To = host, host
			}
		}
		all.Join(part)
	}
	if all.Hosts == nil {
		return nil
	}
	return &all
}

// adopted is how many lines are written at once.
const adopted = 256

// adopt writes every attempt of another journal into that of f, in its order.
func (f *Folder) adopt(from *journal) error {
	var groups []group
	flush := func() error {
		err := f.write(groups, nil)
		groups = groups[:0]
		return err
	}
	_, err := scan(io.NewSectionReader(from.file, 0, from.tail.end), func(e *entry, _ position) error {
		if e.Header != nil {
			return nil
		}
		var heads []head
		if e.Fold == nil {
			var err error
			if heads, err = e.heads(); err != nil {
				return err
			}
		}
		groups = append(groups, group{entry{Trial: e.Trial, Block: e.Block, Fold: e.Fold}, heads})
		if len(groups) < adopted {
			return nil
		}
		return flush()
	})
	if err != nil || len(groups) == 0 {
		return err
	}
	return flush()
}

// adoptTraces copies the traces of a shard, once they are found whole.
func (f *Folder) adoptTraces(p *piece) error {
	for _, name := range slices.Sorted(maps.Keys(p.manifest.Files)) {
		trial, ok := traceOf(name)
		if !ok || f.log.header.Trace == trace.KeepFailures && !f.log.firsts.keeps(trial) {
			continue
		}
		path := filepath.Join(p.dir, filepath.FromSlash(name))
		if err := p.manifest.vouches(name, path); err != nil {
			return err
		}
		if err := f.copyIn(name, path); err != nil {
			return err
		}
	}
	return nil
}

func (f *Folder) copyIn(name, path string) error {
	from, err := files.Open(path)
	if err != nil {
		return err
	}
	defer from.Close() // opened for reading: nothing can be lost
	to, err := f.files.create(name)
	if err != nil {
		return err
	}
	defer to.discard()
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	return to.publish()
}

// notesOf are the notes of the pieces: each once, and with the shard's number where not all
// have it.
func notesOf(pieces []*piece) (out []string) {
	for _, p := range pieces {
		for _, text := range p.manifest.Notes {
			if text == p.shard().Note() {
				continue
			}
			all := !slices.ContainsFunc(pieces, func(o *piece) bool {
				return !slices.Contains(o.manifest.Notes, text)
			})
			if !all {
				text = fmt.Sprintf("shard %v: %s", p.shard(), text)
			}
			if !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return append(out, differingMachines(pieces)...)
}

// differingMachines warns where machines that are not alike have measured times.
func differingMachines(pieces []*piece) []string {
	var names []string
	for _, p := range pieces {
		if p.shard().Host == "" {
			return nil
		}
		name := fmt.Sprintf("%s (%v)", p.shard().Host, p.manifest.Where())
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if slices.ContainsFunc(pieces, func(p *piece) bool {
		return !p.manifest.Where().alike(pieces[0].manifest.Where())
	}) {
		return []string{"the machines differ: " + strings.Join(names, "; ") + ": cells can be compared, " +
			"since each " +
			"repetition was on one machine, but the spread within a cell includes that between machines; " +
			"column " +
			"host names them"}
	}
	return nil
}

func distinct(machines []Machine) []Machine {
	slices.SortFunc(machines, func(a, b Machine) int { return cmp.Compare(a.String(), b.String()) })
	return slices.CompactFunc(machines, func(a, b Machine) bool { return a.String() == b.String() })
}

// A head is what the index of a journal needs of a trial.
type head struct {
	Trial    int
	Status   trace.Status
	Reason   string
	Attempts int
}

func headOf(b []byte) (h head, err error) {
	err = json.Unmarshal(b, &h)
	return h, err
}
