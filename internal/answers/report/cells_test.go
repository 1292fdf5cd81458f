package report

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// edit changes the rows of trials.csv, which count from 1.
func (w *world) edit(change func(trial int, row string) string) {
	rows := strings.Split(strings.TrimSpace(w.trials.String()), "\n")
	for i := range rows {
		rows[i] = change(i, rows[i])
	}
	w.trials.Reset()
	w.trials.WriteString(strings.Join(rows, "\n") + "\n")
}

// apart gives each trial that broke a promise a reason of its own.
func (w *world) apart() {
	w.edit(func(trial int, row string) string {
		return strings.Replace(row, `,violation,"`, `,violation,"`+strings.Repeat("x", trial), 1)
	})
}

// with adds columns, with the same values in every row but those that values has others for.
func (w *world) with(columns, ordinary string, values map[int]string) {
	w.edit(func(trial int, row string) string {
		switch v, other := values[trial]; {
		case trial == 0:
			return row + "," + columns
		case other:
			return row + "," + v
		}
		return row + "," + ordinary
	})
}

// TestCells: averages are over the trials with status ok, and a cell with a trial beyond the model says so.
func TestCells(t *testing.T) {
	t.Parallel()
	w := newWorld(3)
	w.edit(func(trial int, row string) string {
		if trial >= 4 && trial <= 6 { // the second cell
			return strings.Replace(row, ",1,true,", ",1,false,", 1)
		}
		return row
	})
	d := data(t, Options{}, w.write(t))
	for i, want := range []bool{true, false, true, false} {
		if d.Cells[i].InModel != want {
			t.Errorf("cell %d: in_model=%v", i, d.Cells[i].InModel)
		}
	}
	for i := range d.Cells { // one trial of the last is ok, three of the others
		if got, want := d.Cells[i].Kinds, []MessageCount{{0, 8, 7, 1, 50}, {1, 4, 3, 1, 49}}; !slices.Equal(got, want) {
			t.Errorf("cell %d: kinds %v, want %v", i, got, want)
		}
	}
}

// TestColumns: numbers are in the order of their values, and other texts in that in which
// they appear.
func TestColumns(t *testing.T) {
	t.Parallel()
	w := newWorld(1)
	size := strings.NewReplacer(",sim,3,", ",sim,10,", ",sim,5,", ",sim,9,")
	names := strings.NewReplacer("bully,sim", "zebra,sim")
	w.edit(func(_ int, row string) string { return names.Replace(size.Replace(row)) })
	d := data(t, Options{}, w.write(t))
	want := []Column{{"label", false, []string{"zebra", "stranger"}}, {"nodes", true, []string{"9", "10"}}}
	if fmt.Sprint(d.Columns) != fmt.Sprint(want) || !slices.Equal(d.Cells[0].Design, []int{0, 1}) {
		t.Errorf("columns %v, want %v; the first cell is at %v", d.Columns, want, d.Cells[0].Design)
	}
}

// TestColumns_Hosting: beside a run that says what its nodes ran as, one that does not ran processes;
// if it was simulated, nothing.
func TestColumns_Hosting(t *testing.T) {
	t.Parallel()
	run := func(change ...string) string {
		w := newWorld(1)
		text := strings.NewReplacer(change...).Replace(w.trials.String())
		w.trials.Reset()
		w.trials.WriteString(text)
		return w.write(t)
	}
	hosted := run("crash_rate,", "crash_rate,hosting,", ",0.1,0,0,", ",0.1,0,0,goroutine,", ",sim,", ",nats,")
	for other, want := range map[string]string{run(",sim,", ",nats,"): "process", run(): ""} {
		d := data(t, Options{}, hosted, other)
		i := slices.IndexFunc(d.Columns, func(c Column) bool { return c.Name == metric.HostingColumn })
		if i < 0 || !slices.Equal(d.Columns[i].Values, []string{"goroutine", want}) {
			t.Errorf("columns %v, want goroutine and %q", d.Columns, want)
		}
	}
}

// TestFits: what a paper claims of a load stands beside the scenarios that have that load.
func TestFits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		load, scenario string
		want           bool
	}{
		{"light", "sequential", true}, {"heavy", "sequential", false}, {"burst", "sequential", false},
		{"light", "burst", false}, {"heavy", "burst", true}, {"burst", "burst", true},
		{"", "sequential", true}, {"worst", "leader-crash", true}, {"light", "closed", true},
		{"best", "churn", false}, {"light", "churn", false}, {"worst", "churn", true}, {"one begins", "churn", false}, {"all begin", "churn", true},
	} {
		if got := fits(c.load, c.scenario); got != c.want {
			t.Errorf("a claim about load %q and scenario %q: %v", c.load, c.scenario, got)
		}
	}
}

// TestNotes: each footnote is that of the cells that it is about, and of no others.
func TestNotes(t *testing.T) {
	t.Parallel()
	const ordinary = "0,0.5"
	for _, c := range []struct {
		name  string
		each  int
		edit  func(*world)
		begin string
		cells []int
	}{
		{"few trials", 5, nil, "fewer than 6 trials", []int{0, 1, 2, 3}},
		// Of nine trials of the last cell three are ok and three timed out.
		{"enough trials", 9, nil, "fewer than 6 trials", nil},
		{"time-outs", 6, nil, "timed-out trials count", []int{3}},
		{"violations", 6, nil, "trials with status violation", []int{3}},
		{"nothing skipped", 6, func(w *world) { w.with("faults_skipped,busy_share", ordinary, nil) },
			"some faults did not happen", nil},
		{"faults skipped", 6, func(w *world) {
			w.with("faults_skipped,busy_share", "1,0.5", map[int]string{1: ordinary, 2: ordinary, 3: ordinary,
				4: ordinary, 5: ordinary, 6: ordinary})
		}, "some faults did not happen", []int{1, 2, 3}},
		{"idle", 6, func(w *world) { w.with("faults_skipped,busy_share", ordinary, nil) },
			"the machine was busy", nil},
		{"busy", 6, func(w *world) { w.with("faults_skipped,busy_share", "0,0.61", nil) },
			"the machine was busy", []int{0, 1, 2, 3}},
		{"small for its clocks", 6, func(w *world) {
			w.with("split_brain_ms,clock_error_us", "0.02,9", map[int]string{8: "0.02,11", 14: "0.03,20"})
		}, "?: smaller than the clock error of the hosts (0.04 ms)", []int{1, 2}},
		{"marked", 6, func(w *world) {
			w.edit(func(trial int, row string) string {
				if trial == 7 {
					return strings.Replace(row, ",ok,,", ",ok,late: 12 % of election_ms,", 1)
				}
				return row
			})
		}, "some trials are marked", []int{1}},
		{"closed", 6, func(w *world) {
			w.edit(func(_ int, row string) string { return strings.Replace(row, "leader-crash", "closed", 1) })
		}, "closed load", []int{0, 1, 2, 3}},
		{"unknown", 6, func(w *world) {
			w.edit(func(trial int, row string) string {
				if trial == 7 {
					return strings.Replace(row, ",ok,", ",unknown,", 1)
				}
				return row
			})
		}, "trials that could not be judged", []int{1}},
	} {
		w := newWorld(c.each)
		if c.edit != nil {
			c.edit(w)
		}
		d := data(t, Options{}, w.write(t))
		note := slices.IndexFunc(d.Notes, func(text string) bool { return strings.HasPrefix(text, c.begin) })
		var cells []int
		for i := range d.Cells {
			if note >= 0 && slices.Contains(d.Cells[i].Notes, note) {
				cells = append(cells, i)
			}
		}
		if !slices.Equal(cells, c.cells) || note < 0 != (c.cells == nil) {
			t.Errorf("%s: %q is note %d of cells %v, want %v", c.name, c.begin, note, cells, c.cells)
		}
	}
}

// TestViolations: those within the model come first, so many are told, and all are counted.
func TestViolations(t *testing.T) {
	t.Parallel()
	w := newWorld(3 * (mostTold + 2))
	last := 12 * (mostTold + 2)
	w.edit(func(trial int, row string) string {
		if trial == last {
			return strings.Replace(row, ",1,false,", ",1,true,", 1)
		}
		return row
	})
	w.apart()
	d := data(t, Options{}, w.write(t))
	if len(d.Violations) != mostTold || d.Violated != mostTold+2 {
		t.Fatalf("%d of %d violations are told, want %d of %d", len(d.Violations), d.Violated, mostTold, mostTold+2)
	}
	if v := d.Violations[0]; v.Trial != last || !v.InModel || d.Violations[1].InModel {
		t.Errorf("the first is trial %d, in_model=%v", v.Trial, v.InModel)
	}
	if page := written(t, d); !strings.Contains(page, "And 2 more with status violation") {
		t.Error("the page does not say how many more there are")
	}
}

// TestViolations_Grouped: trials that differ in numbers alone are one group, drawn once, with all of them named.
func TestViolations_Grouped(t *testing.T) {
	t.Parallel()
	w := newWorld(9)
	w.edit(func(trial int, row string) string {
		reason := fmt.Sprintf(`,violation,"p%d and p%d both lead at %d.5ms, `, trial, trial+1, trial)
		if trial == 36 {
			reason = `,violation,"never ends, `
		}
		return strings.Replace(row, `,violation,"`, reason, 1)
	})
	drawn := []int{}
	d := data(t, Options{Diagram: func(_ string, trial int) ([]byte, error) {
		drawn = append(drawn, trial)
		return []byte("<svg/>"), nil
	}}, w.write(t))
	if len(d.Violations) != 2 || !slices.Equal(d.Violations[0].Trials, []int{30, 33}) ||
		!slices.Equal(d.Violations[1].Trials, []int{36}) || !slices.Equal(drawn, []int{30, 36}) {
		t.Errorf("groups %+v, drawn %v", d.Violations, drawn)
	}
	if page := written(t, d); !strings.Contains(page, ": 2 trials, 30, 33.") || strings.Contains(page, "more with status") {
		t.Error("the page does not name the trials of a group, or some twice")
	}
}

// TestNotes_Runs: what a manifest warns of is told, and how to go on with a run that is not
// complete.
func TestNotes_Runs(t *testing.T) {
	t.Parallel()
	d := data(t, Options{}, newWorld(6).write(t))
	d.Runs[0].Path = "my results/a"
	for _, c := range []struct {
		m    results.Manifest
		want []string
	}{
		{results.Manifest{Complete: true, Notes: []string{"a warning"}}, []string{"a warning"}},
		{results.Manifest{Finished: 3, Planned: 7}, []string{
			"3 of 7 planned trials are finished; the rest runs with bench run --resume 'my results/a'"}},
	} {
		b := builder{Data: &Data{Runs: slices.Clone(d.Runs)}}
		b.Runs[0].Manifest = &c.m
		if b.notes(); !slices.Equal(b.Notes, c.want) {
			t.Errorf("notes %q, want %q", b.Notes, c.want)
		}
	}
}

// TestTails: the page has quantiles over operations with their design effects. One that has an interval in
// no row is left out, and said once, with what the interval takes.
func TestTails(t *testing.T) {
	t.Parallel()
	d := data(t, Options{}, newWorld(24).write(t))
	if len(d.Tails) != 8 {
		t.Fatalf("%d rows, want two for each cell: %+v", len(d.Tails), d.Tails)
	}
	first, last := d.Tails[0], d.Tails[7]
	want := TailRow{Cell: 1, Name: "bully, nodes 3", Metric: "election_ms", N: "24", Trials: 24,
		Tails: []TailFigure{{Value: "22.5", Interval: "[17, 28]", Effect: "1"}}}
	if fmt.Sprint(first) != fmt.Sprint(want) || !slices.Equal(d.TailNames(), []string{"p50"}) {
		t.Errorf("%v, %+v", d.TailNames(), first)
	}
	if last.N != "8+8" || last.Metric != "downtime_agreed_ms" {
		t.Errorf("%+v", last)
	}
	page := written(t, d)
	for _, part := range []string{"<h2>Tails over faults and entries</h2>", "p95 is left out: no row has enough operations for its interval. The nearest row: equivalent to 24 independent " +
		"operations, of 72 needed: about 72 trials like these.", "p99 is left out: "} {
		if strings.Count(page, part) != 1 {
			t.Errorf("the page has %s %d times", part, strings.Count(page, part))
		}
	}
	if !strings.Contains(page, `<td class="num">8&#43;8</td>`) || strings.Contains(page, "refused") {
		t.Error("the page has not what is pending, or repeats what it refuses")
	}
}

// TestTails_Refused: a quantile that some rows have stays, with a dash for the others; without any, the
// section is a sentence.
func TestTails_Refused(t *testing.T) {
	t.Parallel()
	row := func(why ...string) TailRow {
		r := TailRow{Metric: "election_ms"}
		for i, w := range append(why, "rare", "rare") {
			r.Tails = append(r.Tails, TailFigure{Value: fmt.Sprint(i), Why: w, near: float64(len(w))})
		}
		return r
	}
	d := data(t, Options{}, newWorld(6).write(t))
	d.Tails, d.TailsRefused = []TailRow{row("", "", "few"), row("", "none", "nearer"), row("", "", "far")}, nil
	d.refuse()
	want := []string{
		"–: p95 has no interval in 1 of 3 rows, which have too few operations. The nearest of them: none.",
		"p99 is left out: no row has enough operations for its interval. The nearest row: nearer.",
	}
	if !slices.Equal(d.TailsRefused, want) || !slices.Equal(d.TailNames(), []string{"p50", "p95"}) {
		t.Errorf("%q, %v", d.TailsRefused, d.TailNames())
	}
	if page := written(t, d); strings.Count(page, `1 <abbr title="none">–</abbr>`) != 1 ||
		strings.Count(page, "<abbr") != 1 {
		t.Error("the row without an interval has no dash, or others have one")
	}
	d.Tails, d.TailsRefused = []TailRow{row("a", "b", "c")}, nil
	d.refuse()
	if page := written(t, d); !strings.Contains(page, `<section id="tails" class="still">`) {
		t.Error("a section without any interval is no sentence")
	}
}

// TestTop: a page says first what came of its runs, and how many trials count.
func TestTop(t *testing.T) {
	t.Parallel()
	dir := newWorld(6).write(t)
	d := data(t, Options{}, dir)
	counts := view.Counting(d.statuses())
	code := 5
	d.Runs[0].Manifest = &results.Manifest{Exit: &code}
	page := written(t, d)
	if !strings.Contains(page, `<span class="state warn">incomplete</span>`) ||
		!strings.Contains(page, html.EscapeString(counts)+"</p>") || !strings.Contains(counts, " trials count; ") {
		t.Errorf("no verdict, or not %q: %.3000s", counts, page[strings.Index(page, "<header>"):])
	}
	two := data(t, Options{}, dir, dir)
	two.Runs[0].Manifest, two.Runs[1].Manifest = &results.Manifest{Exit: new(int)}, &results.Manifest{}
	if page := written(t, two); !strings.Contains(page, `: <span class="state good">ok</span>`) ||
		!strings.Contains(page, `: <span class="state warn">interrupted</span>`) {
		t.Errorf("several runs: %.3000s", page[strings.Index(page, "<header>"):])
	}
}
