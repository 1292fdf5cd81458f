package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// An entry is a run as the index has it.
type entry struct {
	ID, Name, Run, Started string
	Machine, Damage        string
	Finished, Planned      int
	Counts                 []count
	Running, Ended         bool   // neither: interrupted or killed
	Code                   string // exit code; "": not known
	Path                   string // relative to that of the index

	dir   string
	seen  [2]stamp // of manifest and journal
	coded bool
}

// A count is how many trials ended in a way.
type count struct {
	Status trace.Status
	Count  int
}

// A stamp tells versions of a file from each other.
type stamp struct {
	at   time.Time
	size int64
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}

// key names this version of the run.
func (e *entry) key() string { return fmt.Sprint(e.dir, e.seen) }

// State is how far the run is, in a word.
func (e *entry) State() string {
	switch {
	case e.Damage != "":
		return "damaged"
	case e.Running:
		return "running"
	case e.Ended:
		return "finished"
	}
	return "interrupted"
}

// Verdict is what came of it, in a word of its own style.
func (e *entry) Verdict() (v trace.Status) {
	for _, c := range e.Counts { // in the order of trace.Statuses, which begins with ok
		if c.Status == trace.Violated || v == "" || v == trace.OK {
			v = c.Status
		}
	}
	return v
}

// text is what a filter looks in.
func (e *entry) text() string {
	words := []string{e.ID, e.Name, e.State(), e.Machine, e.Started, e.Damage}
	for _, c := range e.Counts {
		words = append(words, string(c.Status))
	}
	return strings.ToLower(strings.Join(words, " "))
}

// depth is how far below the folder runs are looked for: bench reproduce has them there.
const depth = 3

// scan finds the runs. What has not changed since the last time is not read again.
func (s *Server) scan() error {
	found := map[string]*entry{}
	if err := s.look(s.options.Dir, "", found); err != nil {
		return &later{err.Error()}
	}
	s.runs = found
	for id := range s.lives {
		if found[id] == nil {
			delete(s.lives, id)
		}
	}
	return nil
}

// look finds the runs in dir, whose id begins so. It follows no links, such as latest.
func (s *Server) look(dir, id string, found map[string]*entry) error {
	manifest, journal := stampOf(filepath.Join(dir, results.ManifestFile)),
		stampOf(filepath.Join(dir, results.JournalFile))
	if manifest != (stamp{}) || journal != (stamp{}) {
		if id == "" {
			id = filepath.Base(dir)
		}
		found[id] = s.entry(dir, id, [2]stamp{manifest, journal})
		return nil
	}
	if strings.Count(id, "/") == depth-1 {
		return nil
	}
	all, err := os.ReadDir(dir)
	if err != nil {
		if id != "" && errors.Is(err, fs.ErrNotExist) {
			return nil // gone meanwhile
		}
		return err
	}
	for _, one := range all {
		if !one.IsDir() {
			continue
		}
		below := strings.TrimPrefix(id+"/"+one.Name(), "/")
		if err := s.look(filepath.Join(dir, one.Name()), below, found); err != nil && id == "" &&
			!errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

// entry reads what the index says of a run.
func (s *Server) entry(dir, id string, seen [2]stamp) *entry {
	running := results.Running(dir)
	e := s.runs[id]
	switch {
	case e != nil && e.seen == seen:
		if e.Running == running {
			return e
		}
	case e != nil && e.Running && running: // only its journal is longer
		e.seen = seen
		return e
	}
	e = &entry{ID: id, Path: runPath(id), dir: dir, seen: seen, Running: running}
	m, err := results.ReadManifest(dir)
	switch {
	case err == nil:
		e.Name, e.Run, e.Started, e.Machine = m.Name, m.Run, m.Started, machine(m.Where())
		e.Finished, e.Planned, e.Ended = m.Finished, m.Planned, m.Complete
		for _, status := range trace.Statuses() {
			if n := m.Statuses[status]; n > 0 {
				e.Counts = append(e.Counts, count{status, n})
			}
		}
		if seen[1] == (stamp{}) {
			e.Damage = results.JournalFile + " is missing"
		}
	case errors.Is(err, fs.ErrNotExist):
		h, err := results.ReadHeader(dir)
		if err != nil {
			e.Damage = err.Error()
			break
		}
		e.Name, e.Run, e.Machine, e.Planned = h.Name, h.Run, machine(h.Machine), h.Planned
		e.Started = h.Started.UTC().Format(time.RFC3339)
	default:
		e.Damage = err.Error()
	}
	if e.Name == "" { // what its place says
		e.Name, e.Run = filepath.Base(filepath.Dir(dir)), filepath.Base(dir)
	}
	if t, err := time.Parse(time.RFC3339Nano, e.Started); err == nil {
		e.Started = t.UTC().Format("2006-01-02 15:04:05")
	}
	return e
}

// machine is a machine in few words.
func machine(m results.Machine) string { return fmt.Sprintf("%s, %d cores", m.CPU, m.Cores) }

// patience is how long the index may take to find exit codes, which takes all of a run. What
// is not known then is known the next time.
const patience = 200 * time.Millisecond

// index is the page of all runs.
func (s *Server) index(q string) ([]byte, error) {
	if err := s.scan(); err != nil {
		return nil, err
	}
	var list []*entry
	words, going := strings.Fields(strings.ToLower(q)), false
	for _, e := range s.runs {
		going = going || e.Running
		text := e.text()
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b *entry) int {
		if n := strings.Compare(b.Started, a.Started); n != 0 {
			return n
		}
		return strings.Compare(a.ID, b.ID)
	})
	begun := time.Now()
	for _, e := range list {
		if going || s.options.Code == nil || time.Since(begun) > patience {
			break
		}
		if e.Ended && e.Damage == "" && !e.coded {
			e.coded = true
			if code, err := s.options.Code(e.dir); err == nil {
				e.Code = fmt.Sprint(code)
			}
		}
	}
	return s.write("index", "Runs", map[string]any{"Runs": list, "All": len(s.runs), "Query": q,
		"Going": going})
}

// A row is a trial in the list of trials.
type row struct {
	Number         int
	Label, Where   string
	Status         trace.Status
	Reason         string
	InModel, Final bool
}

// mostRows of trials are listed.
const mostRows = 1000

// trials is the list of a run's trials: first those that went wrong.
func (s *Server) trials(e *entry, q string) ([]byte, error) {
	groups, total := map[trace.Status][]row{}, 0
	words := strings.Fields(strings.ToLower(q))
	err := results.Follow(e.dir).Next(func(t *results.Trial, final bool) {
		if !final {
			return
		}
		r := rowOf(t)
		text := strings.ToLower(fmt.Sprintln(r.Number, r.Label, r.Where, r.Status, r.Reason))
		if slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			return
		}
		if total++; len(groups[r.Status]) < mostRows {
			groups[r.Status] = append(groups[r.Status], r)
		}
	})
	if err != nil {
		return nil, &later{err.Error()}
	}
	var list []row
	for _, status := range trace.Statuses() {
		if status != trace.OK {
			list = append(list, groups[status]...)
		}
	}
	list = append(list, groups[trace.OK]...)
	list = list[:min(len(list), mostRows)]
	return s.write("trials", "Trials of "+e.Name, map[string]any{"Run": e, "Rows": list,
		"Total": total, "Query": q})
}

func rowOf(t *results.Trial) row {
	r := row{Number: t.Trial, Status: t.Status, Reason: t.Reason, InModel: t.InModel}
	for _, f := range t.Design {
		switch f.Name {
		case "label":
			r.Label = f.Value
		case "problem", "algorithm", "transport":
		default:
			if f.Value != "" && f.Value != "0" {
				r.Where += ", " + f.Name + " " + f.Value
			}
		}
	}
	r.Where = strings.TrimPrefix(r.Where, ", ")
	return r
}
