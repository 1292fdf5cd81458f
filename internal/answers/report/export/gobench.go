package export

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// gobench writes the format of Go's benchmarks (golang.org/design/14313): a line
// for each trial with status ok. What else there is stands in comments, for a
// figure of a trial that broke a promise is none.
//
// benchstat compares nothing across files whose configuration differs, so only
// what makes figures incomparable is configuration: the experiment, and for real
// nodes the machine.
func gobench(s *selection) ([]File, error) {
	var b, lines bytes.Buffer
	samples := 0
	for _, c := range s.cells {
		name := s.benchmark(c)
		for _, note := range s.doubtful(c) {
			fmt.Fprintf(&lines, "# %s\n", note)
		}
		for _, t := range c.Trials {
			values := s.values(t)
			if t.Status != trace.OK || values == "" {
				fmt.Fprintf(&lines, "# %s: trial %d: %s\n", name, t.Trial, remark(t))
				continue
			}
			fmt.Fprintf(&lines, "%s %d%s\n", name, max(t.Count(metric.Completed), 1), values)
			samples++
		}
	}
	if samples == 0 {
		return nil, fmt.Errorf("%s: no trial with status ok has a value of %s: nothing that benchstat "+
			"could read", s.run.Path, strings.Join(metric.Names(s.metrics), ", "))
	}
	fmt.Fprintf(&b, "# %s\n", s.origin())
	for _, f := range s.configuration() {
		fmt.Fprintf(&b, "%s: %s\n", f.Name, f.Value)
	}
	b.WriteString("\n")
	for _, m := range s.metrics {
		fmt.Fprintf(&b, "Unit %s better=%s", benchUnit(m), better(m))
		if s.exact(m) {
			b.WriteString(" assume=exact")
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	b.Write(lines.Bytes())
	return []File{{Name: s.base() + ".txt", Data: b.Bytes()}}, nil
}

// base is what files are called after.
func (s *selection) base() string { return report.FileNames([]string{s.run.Name})[0] }

// benchmark is the name of a cell. It ends in the number of processors, always:
// without it, the end of a value such as raft-2 would be taken for one.
func (s *selection) benchmark(c *results.Cell) string {
	kind := "Trial"
	switch c.Get("problem") {
	case "election":
		kind = "Election"
	case "mutex":
		kind = "Mutex"
	}
	text := "Benchmark" + kind + "/label=" + word(view.Label(c.Design))
	for _, f := range s.place(c) {
		text += "/" + word(f.Name) + "=" + word(f.Value)
	}
	procs := 1 // in simulation a trial is one goroutine
	if h := s.run.Header; h != nil && !simulated(c) {
		procs = max(h.Machine.MaxProcs, 1)
	}
	return fmt.Sprintf("%s-%d", text, procs)
}

func simulated(c *results.Cell) bool { return transport.Virtual(c.Get("transport")) }

// values are the observations of a trial, each with its unit.
func (s *selection) values(t *results.Trial) string {
	text := ""
	for _, m := range s.metrics {
		if v, seen := t.Observe(m.Name); seen == results.Observed {
			text += " " + results.Number(converted(m, v)) + " " + benchUnit(m)
		}
	}
	return text
}

// remark says why a trial has no line.
func remark(t *results.Trial) string {
	text := string(t.Status)
	switch {
	case t.Status == trace.OK:
		return "ok, and none of these metrics applies to it"
	case t.Status == trace.TimedOut:
		text = "timeout: its times are right-censored: larger than those of the others"
	case t.Status == trace.Violated && !t.InModel:
		text = "violation, in_model=false"
	}
	if t.Reason != "" {
		text += ": " + short(t.Reason)
	}
	return text
}

// benchUnit is the unit of a metric: benchstat scales what ends in ns, and reads a
// slash as "per".
func benchUnit(m *metric.Metric) string {
	if m.Unit == metric.Milliseconds {
		return m.Stem() + "-ns"
	}
	return strings.ReplaceAll(m.Name, "_per_", "/")
}

// better is the direction; the format knows two.
func better(m *metric.Metric) string {
	if m.Better == metric.Higher {
		return "higher"
	}
	return "lower"
}

// exact says whether a metric is a count that every trial of a simulated cell has
// alike: any difference is then a fact. Where trials differ, as under loss, they
// are a sample like any other.
func (s *selection) exact(m *metric.Metric) bool {
	if !m.Kind.Exact() {
		return false
	}
	for _, c := range s.cells {
		values, _ := c.Sample(m.Name)
		if !simulated(c) || len(slices.Compact(values)) > 1 {
			return false
		}
	}
	return true
}

// configuration is what stands at the top of the file. Simulated figures are the
// same on every machine.
func (s *selection) configuration() []metric.Field {
	var out []metric.Field
	add := func(key, value string) {
		if value = strings.TrimSpace(printable(value)); value != "" {
			out = append(out, metric.Field{Name: key, Value: value})
		}
	}
	h := s.run.Header
	if h == nil {
		h = &results.Header{}
	}
	if slices.ContainsFunc(s.cells, func(c *results.Cell) bool { return !simulated(c) }) {
		add("goos", h.Machine.OS)
		add("goarch", h.Machine.Arch)
		add("cpu", h.Machine.CPU)
	}
	if h.Name != "" { // a file's own name says nothing
		add("pkg", "conclave/"+h.Name)
	}
	if !s.Full {
		return out
	}
	if h.Run != "" {
		add("run", h.Run)
		add("seed", fmt.Sprint(h.Seed))
		add("started", h.Started.UTC().Format("2006-01-02T15:04:05Z"))
		add("version", h.Version)
		add("config-sha256", h.Config)
		add("kernel", h.Machine.Kernel)
	}
	for _, f := range s.cells[0].Design {
		if !isHead(f.Name) && f.Name != "nodes" && !slices.Contains(s.columns, f.Name) && isKey(f.Name) &&
			!slices.ContainsFunc(s.cells, func(c *results.Cell) bool { return c.Get(f.Name) != f.Value }) {
			add(f.Name, f.Value)
		}
	}
	return out
}

// isKey says whether the format can have a key of that name.
func isKey(name string) bool {
	return name != "" && name[0] >= 'a' && name[0] <= 'z' &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}
