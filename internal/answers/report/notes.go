package report

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"

	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/answers/report/player"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Statuses by their place in Cell.Statuses.
var (
	isOK      = slices.Index(trace.Statuses(), trace.OK)
	isTimeout = slices.Index(trace.Statuses(), trace.TimedOut)
	isBroken  = slices.Index(trace.Statuses(), trace.Violated)
	isUnknown = slices.Index(trace.Statuses(), trace.Unknown)
	isInvalid = slices.Index(trace.Statuses(), trace.Invalid)
	isError   = slices.Index(trace.Statuses(), trace.Failed)
)

// Enough is how many observations an interval of the median takes.
const Enough = 6

// busy is the share of the machine beyond which it distorts delays.
const busy = 0.6

// goesOn says of a run that a process holds what its folder lacks yet.
const goesOn = "the run is in progress, and this is what it has so far"

// notes says what to be careful with: of each cell, and of each run.
func (b *builder) notes() {
	b.cellNotes()
	for _, r := range b.Runs {
		of := ""
		if len(b.Runs) > 1 {
			of = r.Label + ": "
		}
		if m := r.Manifest; m != nil {
			for _, text := range m.Notes {
				b.Notes = append(b.Notes, of+text)
			}
			if !m.Complete {
				rest := "the rest runs with " + program.Command("run", "--resume", r.Path)
				if results.Running(r.Path) {
					rest = goesOn
				}
				b.Notes = append(b.Notes,
					fmt.Sprintf("%s%d of %d planned trials are finished; %s", of, m.Finished, m.Planned,
						rest))
			}
		} else {
			how := "a run that was killed gets one with " + program.Command("run", "--resume")
			if results.Running(r.Path) {
				how = goesOn
			}
			b.Notes = append(b.Notes,
				of+"no manifest: machine, seed and versions are unknown; "+how)
		}
	}
}

// variances says how much of what varies in a run is a matter of its rounds.
func (b *builder) variances() {
	for i, t := range b.tables {
		of := ""
		if len(b.Runs) > 1 {
			of = b.Runs[i].Label + ": "
		}
		for _, s := range compare.Spreads(t) {
			b.Notes = append(b.Notes, of+s.String())
		}
	}
}

// cellNotes are the footnotes that cells point to.
func (b *builder) cellNotes() {
	some := func(status int) func(int) bool {
		return func(i int) bool { return b.Cells[i].Statuses[status] > 0 }
	}
	above := func(limit float64, m *metric.Metric) func(int) bool {
		return func(i int) bool { return b.figure(i, m) > limit }
	}
	doubt := 0.0
	doubtful := make([]bool, len(b.Cells))
	for i := range b.Cells {
		for _, f := range b.Cells[i].Figures {
			doubt, doubtful[i] = max(doubt, f.Doubtful()), doubtful[i] || f.Doubtful() > 0
		}
	}
	for _, n := range slices.Concat([]cellNote{
		{func(i int) bool { return b.Cells[i].Statuses[isOK]+b.Cells[i].Statuses[isTimeout] < Enough },
			"fewer than 6 trials with status ok or timeout: there is no 95 % interval of the median; set " +
				"repetitions to 6 or more"},
		{func(i int) bool { return b.groups[i].Starts() > 1 && b.groups[i].Starts() < stats.MinimumGroups },
			"fewer than 6 rounds: there is no 95 % interval of the median that respects them; set " +
				"rounds to 6 or more"},
		{some(isTimeout),
			"timed-out trials count as longer than all others; a figure that falls among them is " +
				"missing; raise time_limit if they only needed more time"},
		{some(isBroken),
			"trials with status violation are not in the figures: see Violations for the broken " +
				"promise and the command that reproduces it"},
		{some(isUnknown), "trials that could not be judged are not in the figures; a longer scenario gives " +
			"something to judge"},
	}, b.invalid(), []cellNote{
		{func(i int) bool { return slices.ContainsFunc(b.groups[i].Trials, (*results.Trial).Marked) },
			"some trials are marked: the machine may have lengthened their times by a tenth or more, and " +
				"they are in the figures; column skew has the share, trials.csv the reason; use fewer " +
				"nodes, longer latencies or an idle machine"},
		{func(i int) bool { return doubtful[i] }, view.DoubtNote(doubt)},
		{some(isError),
			"trials that could not be run are not in the figures; trials.csv has the reason"},
		{func(i int) bool { return !b.Cells[i].InModel },
			"in_model=false: " + view.MoreThanClaimed + ", so a broken promise is a finding and not an " +
				"error; " +
				"bench describe lists what it survives"},
		{above(0, metric.FaultsSkipped),
			"some faults did not happen, since the trial had ended or no process was there to " +
				"take them (faults_skipped); a longer scenario leaves room for them"},
		{above(busy, metric.BusyShare),
			"the machine was busy for more than 60 % of the time, which distorts delays; " +
				"use fewer nodes or longer latencies"},
		{func(i int) bool {
			k := harness.ScenarioOf(b.groups[i].Get("scenario"))
			return k != nil && k.Omits
		},
			"closed load: a waiting process makes no further requests, so waiting times omit the " +
				"requests that slowness held back (coordinated omission); scenario open counts them"},
	}) {
		at := -1
		for i := range b.Cells {
			if !n.when(i) {
				continue
			}
			if at < 0 {
				at = len(b.Notes)
				b.Notes = append(b.Notes, n.text)
			}
			b.Cells[i].Notes = append(b.Cells[i].Notes, at)
		}
	}
}

// A cellNote is a footnote, and which cells point to it.
type cellNote struct {
	when func(cell int) bool
	text string
}

// invalid are the footnotes about invalid trials, one for each cause.
func (b *builder) invalid() (list []cellNote) {
	var found []view.Remedy
	of := make([][]view.Remedy, len(b.Cells))
	for i := range b.Cells {
		for _, t := range b.groups[i].Trials {
			if t.Status == trace.Invalid {
				of[i] = append(of[i], view.RemedyFor(t.Reason))
			}
		}
		if len(of[i]) == 0 && b.Cells[i].Statuses[isInvalid] > 0 { // only counts were kept
			of[i] = append(of[i], view.RemedyFor(""))
		}
		found = append(found, of[i]...)
	}
	for k, r := range found {
		if slices.Index(found, r) == k {
			list = append(list, cellNote{func(i int) bool { return slices.Contains(of[i], r) },
				"trials " + r.Cause + " are not in the figures; " + r.InFull()})
		}
	}
	return list
}

// figure is the median of a metric in a cell, NaN if there is none.
func (d *Data) figure(cell int, m *metric.Metric) float64 {
	i := slices.Index(d.Metrics, m)
	if i < 0 {
		return math.NaN()
	}
	return d.Cells[cell].Figures[i].Center()
}

const (
	mostTold  = 20      // groups of violations that are told, though all are counted
	mostDrawn = 5       // of which the first have a diagram
	mostInk   = 600_000 // bytes of diagrams in a page, and of what steps through the trials
)

// violations tells what the runs broke, a group for each reason of each algorithm with the trials that have
// it; those within the model come first. The first trial of a group is the one that is drawn.
func (b *builder) violations(o *Options) {
	ink := 0
	type kind struct {
		run           int
		label, reason string
		inModel       bool
	}
	groups := map[kind]int{}
	for _, inModel := range []bool{true, false} {
		for _, g := range b.groups {
			for _, t := range g.Trials {
				if t.Status != trace.Violated || t.InModel != inModel {
					continue
				}
				b.Violated++
				k := kind{g.run, g.Get("label"), results.Alike(t.Reason), inModel}
				if i, known := groups[k]; known {
					b.Violations[i].Trials = append(b.Violations[i].Trials, t.Trial)
					continue
				}
				if len(b.Violations) == mostTold {
					continue
				}
				groups[k] = len(b.Violations)
				v := Violation{
					Run: g.run, Trial: t.Trial, Trials: []int{t.Trial}, Label: k.label,
					Reason: t.Reason, InModel: inModel,
					Reproduce: program.Command("replay", b.Runs[g.run].Path, "--trial",
						strconv.Itoa(t.Trial)),
				}
				if len(b.Violations) < mostDrawn {
					v.draw(o.Diagram, b.Runs[g.run].Path, mostInk-ink)
					ink += len(v.Diagram)
					v.play(o.Player, b.Runs[g.run].Path, mostInk-ink)
					ink += len(v.Player)
				} else {
					v.NoDiagram = later(b.Runs[g.run].Path, t.Trial)
				}
				b.Violations = append(b.Violations, v)
			}
		}
	}
}

// draw adds the space-time diagram, if there is room for it.
func (v *Violation) draw(diagram Diagram, dir string, room int) {
	if diagram == nil {
		return
	}
	svg, err := diagram(dir, v.Trial)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.NoDiagram = "no trace was kept; trace: failures keeps those of trials that fail"
	case err != nil:
		v.NoDiagram = err.Error()
	case len(svg) > room:
		v.NoDiagram = later(dir, v.Trial)
	default:
		v.Diagram = svg
	}
}

// play adds the page to step through the trial, if there is room for it. Why there is none,
// the diagram says.
func (v *Violation) play(page Diagram, dir string, room int) {
	if page == nil || v.Diagram == nil {
		return
	}
	text, err := page(dir, v.Trial)
	if err != nil {
		return
	}
	if packed, err := player.Pack(text); err == nil && len(packed) <= room {
		v.Player = packed
	}
}

// later says how to get a diagram that has no room here.
func later(dir string, trial int) string {
	return program.Command("trace", dir, "--trial", strconv.Itoa(trial)) + " draws it"
}
