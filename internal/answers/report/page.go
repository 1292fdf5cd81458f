package report

import (
	"bytes"
	_ "embed" // the page's assets
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/report/player"
	"github.com/conclave-bench/conclave/internal/answers/theme"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Generator is what a report's page says it was made by; a program that finds it may
// replace the page.
const Generator = "Conclave bench report"

// What the parts of a page may take, in bytes. The page has the data compressed; a browser has to
// read all of it.
const (
	dataLimit   = 2_000_000
	tableLimit  = 1_100_000
	configLimit = 30_000
	mostTable   = 64 * files.MiB // that may be pressed into tableLimit
)

var (
	//go:embed assets/page.html
	pageText string
	//go:embed assets/page.css
	style string
	//go:embed assets/base.js
	baseScript string
	//go:embed assets/table.js
	tableScript string
	//go:embed assets/charts.js
	chartScript string
	//go:embed assets/sections.js
	sectionScript string
	//go:embed assets/unpack.js
	unpackScript string
)

// code is what the page runs when unpack.js has unpacked it.
var code = strings.Join([]string{player.Make, theme.Script, baseScript, tableScript, chartScript,
	sectionScript}, "\n")

// packedCode takes milliseconds, which no page but the first spends.
var packedCode = sync.OnceValues(func() (string, error) { return player.Pack([]byte(code)) })

// page is read when it is first used: this package is linked into every node process, and a
// node's start is measured time.
var page = sync.OnceValue(func() *template.Template {
	return theme.New("page", pageText, template.FuncMap{
		"plus": func(a, b int) int { return a + b }, "join": strings.Join, "number": console.Number,
		"words":  experiment.Title,
		"title":  func(name string) string { return metric.Named(name).Title() },
		"plural": func(n int, one string) string { return console.Plural(n, one, one+"s") },
	})
})

// A pageView is the data and what else the page's template shows.
type pageView struct {
	*Data
	Page          theme.Page
	Beyond        string // for a figure among the time-outs
	Script        template.JS
	Code, Encoded template.HTML // compressed, in base 64
	RunViews      []runView
	Violations    []violationView
	Untold        int
	Virtual, Real bool // time
	Algorithms    int
	Trials        int
}

type runView struct {
	*Run
	Facts  []metric.Field
	Counts []statusCount
	Trips  []results.RoundTrip
	Routes []link.Route
	Table  string // trials.csv, compressed, in base 64
	File   string
}

type statusCount struct {
	Status trace.Status
	Count  int
}

type violationView struct {
	Violation
	Run   string
	Image template.URL
}

// WritePage writes the page of d to w.
func (d *Data) WritePage(w io.Writer) error {
	encoded, err := d.encode(dataLimit)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	packed, err := player.Pack(encoded)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	scripts, err := packedCode()
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	v := pageView{
		Data: d, Beyond: view.BeyondLimit, Script: template.JS(unpackScript),
		Code: template.HTML(scripts), Encoded: template.HTML(packed),
		Page: theme.Page{
			Generator: Generator, Kind: "report", Title: d.Title, Links: d.Links, States: d.states(),
			Share: view.Counting(d.statuses()), Style: theme.CSS(style),
			Start: "cells", StartName: "the table of cells",
			// The script of the player is for the pages that this one opens.
			Policy: theme.Policy("form-action 'none'", theme.Sum(unpackScript), theme.Sum(code),
				player.Policy),
		},
	}
	for _, k := range transport.All {
		if d.has("transport", k.Name) {
			v.Virtual, v.Real = v.Virtual || k.Virtual, v.Real || !k.Virtual
		}
	}
	for _, c := range d.Columns {
		if c.Name == "label" {
			v.Algorithms = len(c.Values)
		}
	}
	room := tableLimit
	for i := range d.Runs {
		r := &d.Runs[i]
		run := runView{Run: r, Facts: facts(r), Table: r.table(room)}
		run.File = strings.NewReplacer(" ", "-", "(", "", ")", "").Replace(r.Label) + "-" + results.TrialsFile
		if r.Manifest != nil {
			run.Trips = r.Manifest.RoundTrips()
			if r.Manifest.Network != nil {
				run.Routes = r.Manifest.Network.Routes
			}
		}
		for k, status := range trace.Statuses() {
			if r.Statuses[k] > 0 {
				run.Counts = append(run.Counts, statusCount{status, r.Statuses[k]})
			}
		}
		room -= len(run.Table)
		v.Trials += r.Trials
		v.RunViews = append(v.RunViews, run)
	}
	for _, x := range d.Violations {
		image := ""
		if x.Diagram != nil {
			image = "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(x.Diagram)
		}
		v.Violations = append(v.Violations, violationView{x, d.Runs[x.Run].Label, template.URL(image)})
	}
	v.Untold = d.Violated
	for _, x := range d.Violations {
		v.Untold -= len(x.Trials)
	}
	return page().Execute(w, &v)
}

// states are what came of the runs.
func (d *Data) states() (list []theme.State) {
	for i := range d.Runs {
		r := &d.Runs[i]
		if name, style := Verdict(results.Running(r.Path), r.Manifest); name != "" {
			s := theme.State{Name: name, Style: style}
			if len(d.Runs) > 1 {
				s.Of = r.Label
			}
			list = append(list, s)
		}
	}
	return list
}

// Verdict is what came of a run, as a page shows it: the exit code says it, which weighs the trials by what
// the experiment allows. Without a manifest nothing is known of a run that has ended.
func Verdict(running bool, m *results.Manifest) (name, style string) {
	switch {
	case running:
		return "running", "going"
	case m == nil:
		return "", ""
	case m.Exit != nil:
		return answer.VerdictOf(*m.Exit)
	case m.Complete:
		return "finished", "" // and killed before it said how
	}
	return "interrupted", "warn"
}

// statuses are how many trials of all runs ended in each way.
func (d *Data) statuses() map[trace.Status]int {
	counts := map[trace.Status]int{}
	for i := range d.Cells {
		for k, status := range trace.Statuses() {
			counts[status] += d.Cells[i].Statuses[k]
		}
	}
	return counts
}

// has says whether a column of the design has a value somewhere.
func (d *Data) has(column, value string) bool {
	return slices.Contains(d.Same, metric.Field{Name: column, Value: value}) ||
		slices.ContainsFunc(d.Columns, func(c Column) bool {
			return c.Name == column && slices.Contains(c.Values, value)
		})
}

// facts are what is known of how a run was made, and on what.
func facts(r *Run) (out []metric.Field) {
	add := func(name, value string) {
		if strings.TrimSpace(value) != "" {
			out = append(out, metric.Field{Name: name, Value: value})
		}
	}
	add("folder", r.Path)
	m := r.Manifest
	if m == nil {
		return out
	}
	add("command", strings.Join(m.Argv, " "))
	add("seed", fmt.Sprint(m.Seed))
	add("trials", fmt.Sprintf("%d of %d finished, %d attempts", m.Finished, m.Planned, m.Attempts))
	add("begun, ended", m.Started+", "+m.Finish)
	commit := m.Tool.Commit
	if m.Tool.Dirty {
		commit += " with uncommitted changes"
	}
	add("program", strings.TrimSpace(fmt.Sprintf("%s %s %s", m.Tool.Version, commit, m.Tool.Go)))
	h := m.Where()
	machine := func(h results.Machine) string {
		return fmt.Sprintf("%s, %d cores, %.1f GiB, %s/%s", h.CPU, h.Cores,
			float64(h.MemoryBytes)/(1<<30), h.OS, h.Arch)
	}
	add("machine", machine(h))
	for _, w := range m.Workers {
		add("worker "+w.Host, machine(w.Machine))
	}
	add("system", strings.TrimSpace(h.Distro+" "+h.Kernel))
	add("clock, governor", strings.Trim(h.Clock+", "+h.Governor, ", "))
	add("limits", strings.TrimSpace(h.CPULimit+" "+h.MemoryLimit))
	add("load before, after", strings.Trim(m.LoadThen+"; "+m.LoadNow, "; "))
	for _, h := range m.Handlers {
		if h.PerSecond > 0 {
			add("program "+h.Label, fmt.Sprintf("answered %.3g events per second, %.3g µs each, %d measured "+
				"of %d: the run takes that long, and no virtual time passes", h.PerSecond, h.MeanUS,
				h.Sampled, h.Events))
			continue
		}
		add("handlers of "+h.Label, fmt.Sprintf("%.3g µs of processor time an event, %d measured of %d",
			h.MeanUS, h.Sampled, h.Events))
	}
	add("quantiles", m.Percentiles)
	add("intervals", m.Intervals)
	add("configuration", "sha256 "+m.Config)
	return out
}

// ShownConfig is the resolved experiment, unless it is as long as a book.
func (r *Run) ShownConfig() string {
	if len(r.Config) > configLimit {
		return r.Config[:configLimit] + "\n... and more: " + filepath.Join(r.Path, results.ConfigFile)
	}
	return r.Config
}

// table is trials.csv compressed, in base 64; nothing if it does not fit into room
// bytes, or is not what was read: that of a run that was killed is older.
func (r *Run) table(room int) string {
	file, err := files.Open(r.csv)
	if err != nil {
		return ""
	}
	defer file.Close() // opened for reading: nothing can be lost
	if info, err := file.Stat(); err != nil || info.Size() > mostTable {
		return ""
	}
	var lines lineCount
	packed, err := player.PackFrom(io.TeeReader(file, &lines), room)
	if err != nil || int(lines) != r.Trials+1 {
		return ""
	}
	return packed
}

// A lineCount is how many lines were written to it.
type lineCount int

func (n *lineCount) Write(b []byte) (int, error) {
	*n += lineCount(bytes.Count(b, []byte("\n")))
	return len(b), nil
}
