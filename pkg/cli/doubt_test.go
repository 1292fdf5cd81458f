package cli

import (
	"compress/gzip"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/report/export"
	"github.com/conclave-bench/conclave/internal/answers/report/figure"
	"github.com/conclave-bench/conclave/internal/commands/outcome"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// doubted is the run in dir as if its nodes had had clocks that can be wrong by a second, and
// every time between two of them had taken so many times as long.
func doubted(t *testing.T, dir string, times float64) string {
	t.Helper()
	_, _, config, err := results.ReadConfig(dir)
	if err != nil {
		t.Fatal(err)
	}
	h, err := results.ReadHeader(dir)
	if err != nil {
		t.Fatal(err)
	}
	trials, err := results.ReadTrials(dir)
	if err != nil {
		t.Fatal(err)
	}
	h.Hosts = []string{"lab1", "lab2"}
	if !slices.Contains(h.Metrics, metric.ClockError.Name) {
		h.Metrics = append(h.Metrics, metric.ClockError.Name)
	}
	for i := range trials {
		for _, m := range slices.Clone(trials[i].Metrics()) {
			if metric.Named(m.Name).Unit == metric.Milliseconds {
				trials[i].Set(metric.Value{Name: m.Name, Value: m.Value * times})
			}
		}
		trials[i].Set(metric.ClockError.Of(1e6))
	}
	f, err := results.Create(t.TempDir(), h, config)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.AppendGroup(trials); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Finish(results.End{}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Dir()
}

// TestDoubt: a time that is smaller than what clocks can be wrong by is marked in every output of a
// run, and nothing is marked where there is one clock.
func TestDoubt(t *testing.T) {
	t.Parallel()
	file := write(t, "doubt.yaml", "name: doubt\nproblem: election\nalgorithms: [bully, ring-list]\nnodes: 3\n"+
		"repetitions: 8\ntransport: sim\nnetwork: {latency: 3ms}\nsweep: [{vary: nodes, over: [3, 5]}]\nthresholds:\n"+
		"- {metric: election_ms, max: 1ms}\n- {metric: election_ms, max: 1ms, over: operations, stat: median}\n")
	root := t.TempDir()
	bench(t, "run", file, "--out", root, "--quiet").want(t, Missed)
	certain := latest(t, root, "doubt")
	slow, slower := doubted(t, certain, 1), doubted(t, certain, 1.5)
	const note = "smaller than the clock error of the hosts (2000 ms)"
	doubts := regexp.MustCompile(`clock_doubt_ms(": [1-9]|\n)`) // more than none
	all := strings.ReplaceAll                                   // what formats escape
	plain := func(text string) string { return all(all(all(text, `\_`, "_"), `\u003c`, "<"), "\\", "") }

	// Every output of the run with doubtful figures has each part, and that of the other none.
	for name, of := range map[string]struct {
		write func(dir string) string
		parts []string
	}{
		"run": {endOf, []string{"? [", "?: " + note, "{bully, ring-list}; ?: " + note,
			"threshold: ", "? over 8 operations in 8 trials", "it is "}},
		"run --json": {endOfJSON, []string{`"clock_doubt_ms": 2000`, `{bully, ring-list}; ?: ` + note}},
		"summary.csv": {func(dir string) string { return whole(t, dir)[results.SummaryFile] },
			[]string{",clock_doubt_ms\n", ",2000\n"}},
		"compare": {func(dir string) string {
			return bench(t, "compare", dir, other(dir, slow, slower, certain), "--no-fail").out
		},
			[]string{"?  ", "?: " + note}},
		// A change within what clocks can be wrong by is none, however many trials say so.
		"compare, not failing": {func(dir string) string {
			return bench(t, "compare", dir, other(dir, slow, slower, certain)).want(t, Good).out
		}, []string{"?  ", "?: " + note}},
		"compare --format markdown": {func(dir string) string {
			return bench(t, "compare", dir, other(dir, slow, slower, certain), "--no-fail", "--format", "markdown").out
		}, []string{"? [", "?: " + note}},
		"compare --format json": {func(dir string) string {
			return bench(t, "compare", dir, other(dir, slow, slower, certain), "--no-fail", "--format", "json").out
		}, []string{`"base_clock_doubt_ms": 2000`}},
		"compare --format junit": {func(dir string) string {
			return bench(t, "compare", dir, other(dir, slow, slower, certain), "--format", "junit").out
		}, []string{`failures="0"`}},
		"compare --over operations": {func(dir string) string {
			return bench(t, "compare", dir, dir, "--over", "operations", "--stat", "median").out
		}, []string{"? [", "?: " + note}},
		"compare --over operations --format json": {func(dir string) string {
			return bench(t, "compare", dir, dir, "--over", "operations", "--stat", "median", "--format", "json").out
		}, []string{`"base_clock_doubt_ms": 2000`}},
		"plan --detect": {func(dir string) string {
			return bench(t, "plan", file, "--detect", "5%", "--pilot", dir).want(t, Good).out
		}, []string{"?  ", "?: " + note}},
		"report": {func(dir string) string { return page(t, dir) },
			[]string{`"u":2000`, `"clocks":true`, "? [", "?: " + note}},
		"report --figures": {func(dir string) string { return drawn(t, dir) }, []string{">?<", "?: smaller"}},
	} {
		marked, unmarked := plain(of.write(slow)), plain(of.write(certain))
		has(t, marked, of.parts...)
		if strings.Contains(unmarked, "?:") || doubts.MatchString(unmarked) {
			t.Errorf("%s is marked:\n%s", name, unmarked)
		}
		if t.Failed() {
			t.Fatalf("%s", name)
		}
	}
	parts := map[string][]string{
		"csv": {",clock_doubt_ms\n", ",2000\n"}, "json": {`"clock_doubt_ms": 2000`},
		"gobench": {"# bully/nodes=3: election_ms ?: " + note}, "latex": {"$^{?}$", "?: smaller than the clock error of"},
		"junit": {"bully/nodes=3: election_ms ?: " + note}, "github": {"; ?: " + note},
		"bmf": {"note: bully/nodes=3: election_ms ?: " + note}, "markdown": {"? [", "?: " + note},
		"pgfplots": {"addlegendentry{bully?}", "% bully: a figure ?: " + note, "# bully/nodes=3: the figure ?: " + note},
		"hgrm":     {"# the 8 fastest of 8 ?: " + note},
		"ro-crate": {}, // has no figures
	}
	for _, f := range export.Formats() {
		if parts[f.Name] == nil {
			t.Errorf("nothing is said of marks in %s", f.Name)
		}
		has(t, plain(exported(t, slow, f.Name, experiment.Overs[0])), parts[f.Name]...)
		if text := exported(t, certain, f.Name, experiment.Overs[0]); strings.Contains(text, "?:") || strings.Contains(text, "clock_doubt") {
			t.Errorf("%s of one clock is marked:\n%s", f.Name, text)
		}
	}
	for format, parts := range map[string][]string{
		"csv": {",p50_clock_doubt_ms,", ",2000,"}, "json": {`"clock_doubt_ms": 2000`},
		"markdown": {"? [", "?: " + note}, "latex": {"{?}", "% ?: " + note},
	} {
		has(t, plain(exported(t, slow, format, experiment.OverOperations)), parts...)
	}
}

// other is the run that dir is compared with.
func other(dir, slow, slower, certain string) string {
	if dir == slow {
		return slower
	}
	return certain
}

// exported is everything that bench export says.
func exported(t *testing.T, dir, format, over string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	text := bench(t, "export", dir, "--format", format, "--over", over, "--out", out).want(t, Good).errors
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		for _, more := range whole(t, out) {
			text += more
		}
		return text
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return text + string(b)
}

// whole are the files of a folder.
func whole(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil && !e.IsDir() {
			t.Fatal(err)
		}
		out[e.Name()] = string(b)
	}
	return out
}

// scripts are those of a page, without its data.
var scripts = regexp.MustCompile(`(?s)<script>.*?</script>`)

// page is the report of a run.
func page(t *testing.T, dir string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "report.html")
	bench(t, "report", dir, "--out", out).want(t, Good)
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return scripts.ReplaceAllString(string(b), "") + unpacked(t, string(b)) // scripts know the mark
}

// unpacked are the data that a page holds compressed.
func unpacked(t testing.TB, page string) string {
	t.Helper()
	_, rest, _ := strings.Cut(page, `<script type="application/gzip" id="data">`)
	text, _, _ := strings.Cut(rest, "</script>")
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	return string(must(io.ReadAll(z)))
}

// drawn are two of the figures of a run's election times.
func drawn(t *testing.T, dir string) (text string) {
	t.Helper()
	d, err := report.New([]string{dir}, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	figures := t.TempDir()
	o := figure.Options{Metrics: []string{"election_ms"}}
	if _, _, err := figure.Write(d, figures, o); err != nil {
		t.Fatal(err)
	}
	return whole(t, figures)["election_ms-nodes.svg"]
}

// endOf is what bench run says at the end of the run in dir.
func endOf(dir string) string {
	var text strings.Builder
	if o := outcomeIn(dir); o != nil {
		_ = answer.Named("text").Write(&text, o.Document("run")) // a builder takes everything
	}
	return text.String()
}

func endOfJSON(dir string) string {
	var text strings.Builder
	_ = answer.Named("json").Write(&text, outcomeIn(dir).Document("run"))
	return text.String()
}

// outcomeIn is nil if the run cannot be read.
func outcomeIn(dir string) *outcome.Outcome {
	_, _, config, err := results.ReadConfig(dir)
	if err != nil {
		return nil
	}
	e, err := experiment.Parse("doubt.yaml", config, experiment.Overrides{})
	if err != nil {
		return nil
	}
	o, err := outcome.Of(e, dir)
	if err != nil || o.Hold() != nil {
		return nil
	}
	return o
}
