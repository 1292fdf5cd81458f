package history

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// newest is how many changes a page shows; the others are folded.
const newest = 3

// Document is what an analysis found.
func (a *Analysis) Document(store string) *answer.Document {
	bad := a.Bad()
	title := "Nothing became worse"
	if len(bad) > 0 {
		title = console.Plural(len(bad), "change for the worse", "changes for the worse")
	}
	d := answer.New("history analyze", title+" in "+console.Plural(a.Runs, "run", "runs"))
	measured, noisy := map[string]bool{}, 0
	for _, series := range a.Series {
		for _, p := range series.Points {
			measured[p.Entry.Commit.Hash] = true
		}
		if !series.Exact {
			noisy++
		}
	}
	d.Add(answer.Facts{{Name: "runs", Value: a.Runs, Line: fmt.Sprintf("%s of %s; %d exact series, %d noisy",
		console.Plural(a.Runs, "run", "runs"), console.Plural(len(measured), "commit", "commits"),
		len(a.Series)-noisy, noisy)},
		{Name: "store", Value: store}, {Name: "runs_elsewhere", Value: a.Elsewhere},
		{Name: "worse_unblessed", Value: len(bad)}})
	a.findings(d)
	a.series(d)
	for _, n := range a.remarks() {
		d.Note(n)
	}
	if len(bad) > 0 {
		d.End(answer.Missed, "something is worse and not blessed")
		d.Last = console.Plural(len(bad), "unblessed change for the worse",
			"unblessed changes for the worse") +
			"; accept what is meant with bench history bless COMMIT --reason ..."
	}
	return d
}

// findings adds the changes, and what changed in each.
func (a *Analysis) findings(d *answer.Document) {
	t := d.Table("findings", slices.Concat(
		answer.Columns(answer.People, "where change also"),
		answer.Columns(answer.Programs, "kind verdict experiment cell design:map machine commit subject "+
			"before from to unmeasured:count end commits:count p:number trial:count "+
			"trials:count experiment_changed:flag "+
			"config_sha256 blessed blessed_by cause text"))...)
	t.Newest, t.Main, t.Empty = newest, true, "\nnothing changed\n"
	changes := &answer.Table{Name: "changes", Only: answer.Programs, Columns: answer.Columns(answer.Everybody,
		"finding:count metric before:number after:number verdict equal_mean:flag")}
	for i, f := range a.Findings {
		if slices.Contains(a.Bad(), f) {
			t.Urgent = append(t.Urgent, i)
		}
		var end, reason, by, p answer.Value
		if f.End != nil {
			end = f.End.Hash
		}
		if f.Blessing != nil {
			reason, by = f.Blessing.Reason, f.Blessing.By
		}
		if f.Kind == Step || f.Kind == Drift {
			p = f.P
		}
		t.Row(where(f), findingText(f), strings.Join(alsoOf(f), "\n"), string(f.Kind), string(f.Verdict),
			f.Experiment, f.Cell, metric.ByName(f.Design), f.Machine, f.Commit.Hash, f.Commit.Subject,
			f.Before.Hash, f.From.Hash, f.To.Hash, f.Unmeasured, end, f.Commits, p,
			f.Trial, f.Trials, f.Configured, f.Config, reason, by,
			f.Cause, findingText(f))
		for _, c := range f.Changes {
			changes.Row(i+1, c.Metric, pointed(c.Before), pointed(c.After), string(c.Verdict), c.Equal)
		}
	}
	d.Add(changes)
}

func pointed(v *float64) answer.Value {
	if v == nil {
		return nil
	}
	return *v
}

// series adds the values of each, for programs.
func (a *Analysis) series(d *answer.Document) {
	t := d.Table("series", answer.Columns(answer.Everybody, "experiment cell metric exact:flag machine "+
		"commits:list values:list level:list noise:number modes:list mode_shares:list outliers:list "+
		"undecided:count")...)
	t.Only = answer.Programs
	for _, s := range a.Series {
		var commits []string
		var values []float64
		for _, p := range s.Points {
			commits, values = append(commits, p.Entry.Commit.Hash), append(values, p.Value)
		}
		var level, noise, outliers answer.Value
		if !s.Exact && len(s.Points) >= Fewest {
			level, noise = s.Course.Level, pointed(results.Finite(s.Noise()))
		}
		if s.Course.Outliers != nil {
			outliers = s.Course.Outliers
		}
		var modes, shares answer.Value
		if len(s.Course.Modes) > 0 {
			var levels, parts []float64
			for _, m := range s.Course.Modes {
				levels, parts = append(levels, m.Level), append(parts, m.Share)
			}
			modes, shares = levels, parts
		}
		t.Row(s.Experiment, s.Cell, s.Metric.Name, s.Exact, s.Machine, commits, values, level, noise, modes,
			shares, outliers, s.Course.Late)
	}
}

// where is the commit of a finding, or between which it is.
func where(f *Finding) string {
	text := strings.TrimSpace(f.Commit.Title())
	switch {
	case f.Kind == Contradiction:
		return text + ", two runs"
	case f.From.Hash != f.To.Hash:
		return fmt.Sprintf("near %s (%s to %s)", text, f.From.Short(), f.To.Short())
	case f.Unmeasured > 0:
		return fmt.Sprintf("%s, or one of the %d before it that were not measured", text, f.Unmeasured)
	}
	return text
}

// findingText is a finding in a line.
func findingText(f *Finding) string {
	cell := f.Experiment + ": " + f.Cell
	text := figures(f)
	switch f.Kind {
	case Drift:
		text += fmt.Sprintf(", over %s up to %s", console.Plural(f.Commits, "measured commit",
			"measured commits"),
			f.End.Short())
	case Broken:
		text += "; trials break a promise that held before"
	case Contradiction:
		text += "; two runs of the same program differ"
	}
	switch {
	case f.Kind == Step || f.Kind == Drift: // P may be 0: smaller than any number
		text += ", P " + view.P(f.P)
	case f.Trial > 0:
		text += fmt.Sprintf("; %s from trial %d on", console.Plural(f.Trials, "trial differs",
			"trials differ"), f.Trial)
	}
	if f.Verdict == Other {
		return fmt.Sprintf("%s: %s: %s", f.Kind, cell, text)
	}
	return fmt.Sprintf("%s, %s: %s: %s", f.Kind, f.Verdict, cell, text)
}

// figures are the first changes of a finding.
func figures(f *Finding) string {
	const most = 3
	var parts []string
	for i := range f.Changes[:min(most, len(f.Changes))] {
		parts = append(parts, figureChange(&f.Changes[i]))
	}
	if more := len(f.Changes) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}

// number is a figure in words.
func number(v *float64) string {
	if v == nil {
		return "none"
	}
	return console.Number(*v)
}

func figureChange(c *Change) string {
	if c.Equal {
		return fmt.Sprintf("%s %s in the mean, but not in each trial", c.Metric, number(c.After))
	}
	text := fmt.Sprintf("%s %s -> %s", c.Metric, number(c.Before), number(c.After))
	if r := c.Ratio(); !math.IsNaN(r) {
		text += fmt.Sprintf(" (%s)", view.Percent(r))
	}
	return text
}

// alsoOf is what else is to be said of a finding.
func alsoOf(f *Finding) (out []string) {
	if f.Blessing != nil {
		text := "blessed: " + f.Blessing.Reason
		if f.Blessing.By != "" {
			text += " (" + f.Blessing.By + ")"
		}
		out = append(out, text)
	}
	if f.Configured {
		out = append(out, "the experiment has changed, too, which may be the cause")
	}
	if f.Cause != "" {
		out = append(out, f.Cause)
	}
	return out
}

// remarks are what limits the analysis.
func (a *Analysis) remarks() (out []string) {
	if a.Elsewhere > 0 {
		out = append(out, fmt.Sprintf("%s of commits that are not on this branch: left out",
			console.Plural(a.Elsewhere, "run is", "runs are")))
	}
	out = append(out, a.Notes...)
	late, short := map[string][]string{}, 0
	var modal []string
	for _, s := range a.Series {
		if text := s.Modes(); text != "" {
			modal = append(modal, s.Name()+" has "+text)
		}
		if s.Exact {
			continue
		}
		switch n := s.Course.Late; {
		case len(s.Points) < Fewest:
			short++
		case n > 0:
			from := s.Points[len(s.Points)-n].Entry.Commit.Short()
			late[from] = append(late[from], s.Name())
		}
	}
	for _, from := range slices.Sorted(maps.Keys(late)) {
		out = append(out,
			fmt.Sprintf("from %s on, %s differs from the level before: it takes %d runs after a "+
				"change to distinguish it from an outlier", from, listed(late[from]), Behind))
	}
	if len(modal) > 0 {
		out = append(out, listed(modal)+"; a switch between modes is not reported as a change")
	}
	if short > 0 {
		out = append(out, fmt.Sprintf("%s: with fewer than %d runs, steps and drifts cannot be detected",
			console.Plural(short, "noisy series is short", "noisy series are short"), Fewest))
	}
	return out
}

// Modes is the modes of the series in words, with the share of the values in each; "": it has none.
func (s *Series) Modes() string {
	modes := s.Course.Modes
	if len(modes) == 0 {
		return ""
	}
	levels, shares := make([]string, len(modes)), make([]string, len(modes))
	for i, m := range modes {
		levels[i], shares[i] = console.Number(m.Level), fmt.Sprintf("%.0f %%", 100*m.Share)
	}
	last := len(levels) - 1
	text := strings.Join(levels[:last], ", ") + " and " + levels[last]
	if unit := s.Metric.Unit.Sign(); unit != "" {
		text += " " + unit
	}
	return fmt.Sprintf("%s modes: %s (%s)", []string{"two", "three", "four"}[last-1], text,
		strings.Join(shares, "/"))
}

// listed is a list in words, of which the first few are named.
func listed(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more series", strings.Join(names[:most], ", "), len(names)-most)
}

// Document is what a history would notice.
func (r *Curve) Document() *answer.Document {
	d := answer.New("history roc", "What the history would notice")
	d.Say(fmt.Sprintf("%s with %s, %.0f commits a year\n", console.Plural(r.Series, "noisy series",
		"noisy series"), console.Plural(r.Values, "value", "values"), r.CommitsAYear))
	d.Add(answer.Facts{{Name: "series", Value: r.Series}, {Name: "values", Value: r.Values},
		{Name: "commits_a_year", Value: r.CommitsAYear}})
	columns := answer.Columns(answer.Everybody, "alpha:number false_alarms_a_year:number:false_alarms_a_year")
	for _, shift := range r.Shifts {
		size := fmt.Sprintf("%g", 100*shift)
		columns = append(columns,
			answer.Column{Name: "found_" + size, Head: size + " % found", Kind: answer.Number},
			answer.Column{Name: "commits_later_" + size, Head: "commits later", Kind: answer.Number},
			answer.Column{Name: "tries_" + size, Kind: answer.Count, Only: answer.Programs})
	}
	t := d.Table("settings", columns...)
	shown := func(v float64, text string) answer.Shown { return answer.Shown{Value: v, Text: text} }
	for _, row := range r.Rows {
		cells := []answer.Value{shown(row.Alpha, fmt.Sprint(row.Alpha)),
			shown(row.Alarms, console.Number(row.Alarms))}
		for _, found := range row.Found {
			later := ""
			if found.Share > 0 {
				later = console.Number(found.Delay)
			}
			cells = append(cells, shown(found.Share, fmt.Sprintf("%.0f %%", 100*found.Share)),
				shown(found.Delay, later), found.Tries)
		}
		t.Row(cells...)
	}
	d.Say("")
	switch p := r.Proposed; {
	case p == nil:
		d.Say("none of these raises so few false alarms: measure more trials for each run")
	case p.Least == nil:
		d.Say(fmt.Sprintf("--alpha %v raises %s false alarms a year, and finds none of these steps nine "+
			"times in ten", p.Alpha, console.Number(p.Alarms)))
	default:
		d.Say(fmt.Sprintf("proposed: --alpha %v --least %g%%: %s false alarms a year, and nine of ten steps "+
			"of that size are found within %d commits", p.Alpha, 100**p.Least, console.Number(p.Alarms),
			Within))
	}
	if p := r.Proposed; p != nil {
		d.Add(answer.Facts{{Name: "proposed_alpha", Value: p.Alpha},
			{Name: "proposed_least", Value: pointed(p.Least)},
			{Name: "proposed_false_alarms_a_year", Value: p.Alarms}})
	}
	return d
}
