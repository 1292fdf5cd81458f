package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/theme"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// An entry is a run as the index has it.
type entry struct {
	ID, Name, Run, Started string
	Machine, Damage        string
	Finished, Planned      int
	Counts                 []count
	Running                bool
	Verdict                string // what came of it, or how far it is, in words
	Style                  string // class of the verdict
	Path                   string // relative to that of the index

	dir  string
	seen [2]stamp // of manifest and journal
}

// A count is how many trials ended in a way.
type count struct {
	Status trace.Status
	Count  int
	Beyond bool // all of them beyond the algorithm's model
}

// beyond is what the pages say of it.
const beyond = "beyond the model"

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

// stampsOf are those of a run; nothing where there is none.
func stampsOf(dir string) [2]stamp {
	return [2]stamp{stampOf(filepath.Join(dir, results.ManifestFile)),
		stampOf(filepath.Join(dir, results.JournalFile))}
}

// key names this version of the run.
func (e *entry) key() string { return fmt.Sprint(e.dir, e.seen) }

// judge says what came of the run.
func (e *entry) judge(m *results.Manifest) {
	if e.Damage != "" {
		e.Verdict, e.Style = "damaged", "bad"
		return
	}
	if e.Verdict, e.Style = report.Verdict(e.Running, m); e.Verdict == "" { // killed before it could say how
		e.Verdict, e.Style = "interrupted", "warn"
	}
	for i := range e.Counts { // a violation within the model would have another code
		e.Counts[i].Beyond = m != nil && m.Exit != nil && *m.Exit == 0 && e.Counts[i].Status == trace.Violated
	}
}

// top is what the pages of the run have at their top.
func (e *entry) top(kind, title string) theme.Page {
	p := theme.Page{Kind: kind, Title: title, Links: []theme.Link{home(e.Path)}}
	if e.Verdict != "" {
		p.States = []theme.State{{Name: e.Verdict, Style: e.Style}}
	}
	counts := map[trace.Status]int{}
	for _, c := range e.Counts {
		counts[c.Status] = c.Count
	}
	p.Share = view.Counting(counts)
	return p
}

// text is what a filter looks in.
func (e *entry) text() string {
	words := []string{e.ID, e.Name, e.Verdict, e.Machine, e.Started, e.Damage}
	for _, c := range e.Counts {
		words = append(words, string(c.Status))
		if c.Beyond {
			words = append(words, beyond)
		}
	}
	return strings.ToLower(strings.Join(words, " "))
}

// depth is how far below the folder runs are looked for: bench reproduce has them there.
const depth = 3

// scan finds the runs. What has not changed since the last time is not read again.
func (s *Server) scan() (map[string]*entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.measuring() != "" && time.Since(s.found) < 50*s.took {
		return maps.Clone(s.runs), nil // very many are not looked for all the time
	}
	begun := time.Now()
	found := map[string]*entry{}
	if err := s.look(s.options.Dir, "", found); err != nil {
		return nil, &later{err.Error()}
	}
	s.runs, s.found, s.took = found, time.Now(), time.Since(begun)
	for id := range s.lives {
		if e := found[id]; e == nil || !e.Running {
			delete(s.lives, id)
		}
	}
	return maps.Clone(found), nil // which the caller reads without the lock
}

// find is the run of that id as it is now; nil if there is none.
func (s *Server) find(id string) (*entry, error) {
	s.mu.Lock()
	e := s.runs[id]
	if e != nil {
		e = s.entry(e.dir, id, stampsOf(e.dir))
		s.runs[id] = e
	}
	s.mu.Unlock()
	if e != nil && e.seen != ([2]stamp{}) {
		return e, nil
	}
	runs, err := s.scan()
	return runs[id], err // no path is made of what is asked for
}

// look finds the runs in dir, whose id begins so. It follows no links, such as latest.
func (s *Server) look(dir, id string, found map[string]*entry) error {
	if seen := stampsOf(dir); seen != ([2]stamp{}) {
		if id == "" {
			id = filepath.Base(dir)
		}
		found[id] = s.entry(dir, id, seen)
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
		longer := *e // whoever makes a page has the old one
		longer.seen = seen
		return &longer
	}
	e = &entry{ID: id, Path: runPath(id), dir: dir, seen: seen, Running: running}
	m, err := results.ReadManifest(dir)
	defer func() { e.judge(m) }()
	switch {
	case err == nil:
		e.Name, e.Run, e.Started, e.Machine = m.Name, m.Run, m.Started, machine(m.Where())
		e.Finished, e.Planned = m.Finished, m.Planned
		for _, status := range trace.Statuses() {
			if n := m.Statuses[status]; n > 0 {
				e.Counts = append(e.Counts, count{Status: status, Count: n})
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

// mostRuns are listed: a page that comes up to date by itself should be small.
const mostRuns = 500

// index is the page of all runs.
func (s *Server) index(q string) ([]byte, error) {
	runs, err := s.scan()
	if err != nil {
		return nil, err
	}
	var list []*entry
	words, going := strings.Fields(strings.ToLower(q)), false
	for _, e := range runs {
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
	top := theme.Page{Kind: "serve", Title: "Runs"}
	for _, place := range s.options.Histories {
		top.Links = append(top.Links, theme.Link{Name: "trends of " + place,
			Value: historyPath + "?" + url.Values{"of": {place}}.Encode()})
	}
	return s.write("index", top, map[string]any{"Runs": list[:min(len(list), mostRuns)],
		"Found": len(list), "All": len(runs), "Query": q, "Going": going})
}

// A row is a trial in the list of trials.
type row struct {
	Number  int
	Label   string
	Where   []metric.Field // in which the cells differ
	Status  trace.Status
	Reason  string
	InModel bool

	design []metric.Field
}

// mostRows of trials are listed.
const mostRows = 1000

// trials is the list of a run's trials: first those that went wrong.
func (s *Server) trials(e *entry, q string) ([]byte, error) {
	groups, total := map[trace.Status][]row{}, 0
	cells := map[int][]metric.Field{}
	words := strings.Fields(strings.ToLower(q))
	err := results.Follow(e.dir).Next(func(t *results.Trial, final bool) {
		if !final {
			return
		}
		cells[t.Cell] = t.Design
		r := rowOf(t)
		text := strings.ToLower(fmt.Sprintln(r.Number, t.Design, r.Status, r.Reason))
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
	for _, status := range worstFirst() {
		slices.SortFunc(groups[status], func(a, b row) int { return a.Number - b.Number })
		list = append(list, groups[status]...)
	}
	list = list[:min(len(list), mostRows)]
	told := view.Varying(slices.Collect(maps.Values(cells)))
	for i := range list {
		r := &list[i]
		r.Where = view.Place(r.design, told)
	}
	return s.write("trials", e.top("trials", "Trials of "+e.Name), map[string]any{"Run": e, "Rows": list,
		"Total": total, "Query": q, "Differ": told != nil})
}

// worstFirst are the statuses: broken promises, then what else went wrong.
func worstFirst() []trace.Status {
	others := slices.DeleteFunc(trace.Statuses(), func(s trace.Status) bool {
		return s == trace.Violated || s == trace.OK
	})
	return slices.Concat([]trace.Status{trace.Violated}, others, []trace.Status{trace.OK})
}

func rowOf(t *results.Trial) row {
	return row{Number: t.Trial, Label: view.Label(t.Design), Status: t.Status, Reason: t.Reason,
		InModel: t.InModel, design: t.Design}
}
