package fleet

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/runs/queue"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A run is one that this machine has workers do.
type run struct {
	name    string // in the queue
	dir     string
	began   time.Time
	planned int
	view.Underway
}

// runs are those below a folder that are under way and have workers elsewhere.
func runs(root string) (list []*run, err error) {
	dirs, err := filepath.Glob(filepath.Join(root, "*", "*", results.JournalFile))
	if err != nil {
		return nil, err
	}
	for _, path := range dirs {
		dir := filepath.Dir(path)
		if filepath.Base(dir) == "latest" || !results.Running(dir) {
			continue
		}
		r, f := &run{dir: dir}, results.Follow(dir)
		if err := f.Next(r.Add); err != nil {
			return nil, err
		}
		h := f.Header()
		if r.name, r.began, r.planned = h.Queue, h.Started, h.Planned; r.name != "" {
			list = append(list, r)
		}
	}
	return list, nil
}

// Status is what the machines of the fleet in a folder do, and how far the runs below the folder of results
// are.
func Status(ctx context.Context, folder, root string, hub func(own string) Hub) (*answer.Document, error) {
	s, err := load(folder)
	if err != nil {
		return nil, err
	}
	d := answer.New("fleet status", "The fleet")
	workers, err := hub(s.Hub).Workers(ctx, 500*time.Millisecond)
	if err != nil { // the list of machines is of use nevertheless
		d.Exit = answer.CouldNotRun
		d.Add(answer.Note{Kind: answer.Careful, Text: "the hub does not answer: " + err.Error()})
	}
	list, err := runs(root)
	if err != nil {
		return nil, err
	}
	s.tabulate(d, workers, list)
	now := time.Now()
	d.Add(s.costs(list, now))
	t := d.Table("runs", answer.Columns(answer.Everybody,
		"run folder trials:count planned:count per_minute:number left_s:number invalid:count")...)
	t.Empty = "no run is under way below " + root
	t.Columns[0].Only, t.Columns[5].Head = answer.Programs, "left"
	why := answer.Table{Name: "invalid", Keys: 2, Only: answer.Programs,
		Columns: answer.Columns(answer.Everybody, "run invalid:count reason on:list")}
	var lines []answer.Block
	for _, r := range list {
		invalid := 0
		for _, reason := range r.Reasons() {
			invalid += reason.Count
			why.Row(r.name, reason.Count, reason.Text, reason.On)
			lines = append(lines, answer.Text(fmt.Sprintf("invalid     %d%s: %s", reason.Count,
				on(reason.Where()), reason.Text)))
		}
		rate := view.PerMinute(r.Finished, now.Sub(r.began))
		left := answer.Shown{}
		if l := r.Left(r.planned, 0, r.began, now); l > 0 {
			left = answer.Shown{Value: l.Seconds(), Text: l.String()}
		}
		t.Row(r.name, r.dir, r.Finished, r.planned,
			answer.Shown{Value: rate, Text: fmt.Sprintf("%.1f", rate)}, left, invalid)
	}
	d.Add(&why)
	d.Add(lines...)
	return d, nil
}

// on is where something was, with the word before it; "" where that is not known.
func on(where string) string {
	if where != "" {
		where = " on " + where
	}
	return where
}

// Prices are what the machines of the fleet in a folder cost an hour, by name. It has none where there is no
// such fleet.
func Prices(folder string) map[string]float64 {
	s, err := load(folder)
	if err != nil {
		return nil
	}
	prices := map[string]float64{}
	for _, m := range s.Machines {
		if m.Price > 0 {
			prices[m.Name] = m.Price
		}
	}
	return prices
}

// tabulate says of each machine what it does.
func (s *state) tabulate(d *answer.Document, workers []queue.Status, list []*run) {
	t := d.Table("machines", answer.Columns(answer.Everybody,
		"machine state cores:count load run blocks:count trials:count invalid:count")...)
	t.DropEmpty = true
	t.Empty = "the fleet has no machines"
	of := map[string]queue.Status{}
	for _, w := range workers {
		of[w.Machine] = w
	}
	row := func(name, state string) {
		w, known := of[name]
		delete(of, name)
		var trials, invalid, cores, blocks any
		if known {
			if cores, blocks, state = w.Cores, w.Blocks, "waits"; w.Run != "" {
				state = "works"
			}
		}
		for _, r := range list {
			if m, ok := r.Machines[name]; ok {
				trials, invalid = m.Finished, m.Invalid
			}
		}
		recent, _, _ := strings.Cut(w.Load, " ")
		t.Row(name, state, cores, answer.Shown{Value: w.Load, Text: recent}, queue.Printable(w.Run), blocks,
			trials, invalid)
	}
	for _, m := range s.Machines {
		state := "silent"
		if m.Since.IsZero() {
			state = "half started"
		}
		row(m.Name, state)
	}
	for _, w := range workers { // that joined the hub by themselves
		if _, other := of[w.Machine]; other {
			row(w.Machine, "")
		}
	}
}

// costs are those of the machines since they joined, and until the runs end.
func (s *state) costs(list []*run, now time.Time) answer.Facts {
	hourly, until := 0.0, 0.0
	for _, m := range s.Machines {
		if !m.Since.IsZero() {
			hourly += m.Price
			until += m.Price * now.Sub(m.Since).Hours()
		}
	}
	facts := answer.Facts{{Name: "hub", Value: s.Address, Line: "hub         " + s.Address}}
	if hourly == 0 {
		return facts
	}
	longest := time.Duration(0)
	for _, r := range list {
		longest = max(longest, r.Left(r.planned, 0, r.began, now))
	}
	whole, text := view.Cost(until, hourly, longest)
	facts = append(facts, answer.Fact{Name: "cost_per_hour", Value: hourly},
		answer.Fact{Name: "cost", Value: until, Line: "cost        " + text})
	if longest > 0 {
		facts = append(facts, answer.Fact{Name: "cost_at_end", Value: whole})
	}
	return facts
}
