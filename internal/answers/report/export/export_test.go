package export

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/report/figure"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

var rewrite = flag.Bool("rewrite", false, "write testdata anew; read the difference first")

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// small is the run that "bench run testdata/small/experiment.yaml" gives, with a
// header that does not depend on when and where that was.
func small(t testing.TB) *Run {
	t.Helper()
	r, err := Read("testdata/small")
	must(t, err)
	r.Name = "small"
	r.Header = &results.Header{
		Name: "small", Run: "20261120-101500", Seed: 1, Version: "v1.2.3",
		Config:  "bec231f1287fc6cf0e5a88df53193246c4041c44501b6b3255f4bf8ba5fbb5ab",
		Started: time.Date(2026, 11, 20, 10, 15, 0, 5e8, time.FixedZone("", 3600)),
		Machine: results.Machine{OS: "linux", Arch: "amd64", CPU: "Example CPU", MaxProcs: 2, Kernel: "6.18"},
	}
	return r
}

// A spec is a trial of a table that a test writes down.
type spec struct {
	label   string
	nodes   int
	status  trace.Status
	reason  string
	outside bool // of the algorithm's model
	ms      float64
}

// runOf makes a run of real nodes from trials; those of one label and number of
// nodes are a cell.
func runOf(trials ...spec) *Run {
	r := &Run{Table: &results.Table{
		Path: "results/made", Name: "made", Metrics: []string{"election_ms", "availability"},
		Design: []string{"problem", "algorithm", "label", "transport", "nodes"},
	}}
	for i, s := range trials {
		r.Trials = append(r.Trials, results.Trial{
			Trial: i + 1, Cell: 1, Repetition: i + 1, Seed: uint64(i), Status: s.status, Reason: s.reason,
			Attempts: 1, InModel: !s.outside,
			Design: []metric.Field{
				{Name: "problem", Value: "election"}, {Name: "algorithm", Value: "election/" + s.label},
				{Name: "label", Value: s.label}, {Name: "transport", Value: "nats"},
				{Name: "nodes", Value: fmt.Sprint(s.nodes)},
			},
		}.With(metric.Operations.Of(1), metric.Completed.Of(1), metric.Duration.Of(100), metric.Messages.Of(12),
			metric.LateShare.Of(math.NaN()), metric.SchedDelay.Of(math.NaN()),
			metric.Election.Of(s.ms), metric.Availability.Of(0.5)))
	}
	return r
}

// sample is the trials of one cell with these values.
func sample(label string, values ...float64) (out []spec) {
	for _, v := range values {
		out = append(out, spec{label: label, nodes: 3, status: trace.OK, ms: v})
	}
	return out
}

// hostile are names and reasons that mean something to one of the formats.
var hostile = []string{
	`=cmd|' /C calc'!A0`, `</script><script>`, `]]>`, `%\input{/etc/passwd}`, `"`, "a\nBenchmarkX 1 2 ns/op",
	"\u202Eesrever", "\U0001F5F3 ballot", "raft-2", "1e-3", `a/b=c d`, "\x00\x07\x1b[31m", "\xff\xfe", "~^#&_{}$",
	"[option]", "a\u2028b", "-1", "",
}

func hostileRun() *Run {
	var all []spec
	for _, text := range hostile {
		for i := range 6 {
			all = append(all, spec{label: text, nodes: 3, status: trace.OK, ms: float64(i + 1)})
		}
		all = append(all, spec{label: text, nodes: 3, status: trace.Violated, reason: text},
			spec{label: text, nodes: 3, status: trace.Invalid, reason: text})
	}
	r := runOf(all...)
	r.Name = `../"run"`
	r.Header = &results.Header{Name: r.Name, Run: "</testsuite>", Version: "\n"}
	return r
}

func write(t testing.TB, r *Run, format string, o Options) []File {
	t.Helper()
	f, err := Find(format)
	must(t, err)
	files, err := f.Write(r, o)
	must(t, err)
	files = slices.DeleteFunc(files, func(f File) bool { return f.Beside })
	if len(files) == 0 || !f.Several && len(files) != 1 {
		t.Fatalf("%s: %d files", format, len(files))
	}
	return files
}

// one is the only file of a format.
func one(t testing.TB, r *Run, format string, o Options) string {
	t.Helper()
	return string(write(t, r, format, o)[0].Data)
}

func where(pairs ...string) (out []metric.Field) {
	for _, p := range pairs {
		name, value, _ := strings.Cut(p, "=")
		out = append(out, metric.Field{Name: name, Value: value})
	}
	return out
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, f := range Formats() {
		o := Options{Metrics: []string{"election_ms", "messages", "availability"}}
		if f.Name == "hgrm" {
			o = Options{Where: where("label=ring", "loss=0.1")}
		}
		if f.Name == "ro-crate" {
			o = Options{}
		}
		files := write(t, small(t), f.Name, o)
		if f.tails != nil {
			files = append(files, write(t, small(t), f.Name, Options{Operations: true})...)
		}
		for _, file := range files {
			path := filepath.Join("testdata", "golden", f.Name, file.Name)
			if *rewrite {
				must(t, os.MkdirAll(filepath.Dir(path), 0o755))
				must(t, os.WriteFile(path, file.Data, 0o644))
				continue
			}
			want, err := os.ReadFile(path)
			must(t, err)
			if string(file.Data) != string(want) {
				t.Errorf("%s: got\n%s\nwant\n%s\n(go test ./internal/answers/report/export -run TestGolden -rewrite)", path,
					file.Data, want)
			}
		}
	}
}

// What is exported twice is the same, byte for byte.
func TestDeterminism(t *testing.T) {
	t.Parallel()
	for _, f := range Formats() {
		a, b := write(t, small(t), f.Name, Options{}), write(t, small(t), f.Name, Options{})
		if !slices.EqualFunc(a, b, func(x, y File) bool {
			return x.Name == y.Name && string(x.Data) == string(y.Data)
		}) {
			t.Errorf("%s differs from one time to the next", f.Name)
		}
	}
}

// The summary of everything is summary.csv, and the restricted means behind it: those of
// times of which some operation of the run was cut off.
func TestCSV_IsTheSummary(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("testdata/small/summary.csv")
	must(t, err)
	var got strings.Builder
	restricted := map[string]int{}
	for i, line := range strings.SplitAfter(one(t, small(t), "csv", Options{}), "\n") {
		fields := strings.Split(strings.TrimSpace(line), ",")
		if n := len(fields); n > 1 {
			if i > 0 && fields[n-4] != "" {
				restricted[fields[slices.Index(strings.Split(firstLine(want), ","), "metric")]]++
			}
			line = strings.Join(fields[:n-4], ",") + "\n"
		}
		got.WriteString(line)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", &got, want)
	}
	if restricted["election_ms"] != 8 || restricted["messages"] > 0 || restricted["duration_ms"] > 0 {
		t.Errorf("cells with a restricted mean, by metric: %v", restricted)
	}
}

func firstLine(text []byte) string {
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

func TestSelection(t *testing.T) {
	t.Parallel()
	r := small(t)
	rows := func(o Options) int {
		return strings.Count(one(t, r, "csv", o), "\n") - 1
	}
	election := []string{"election_ms"}
	for _, test := range []struct {
		where []metric.Field
		cells int
	}{
		{nil, 8},
		{where("label=ring"), 4},
		{where("algorithm=bully"), 4},
		{where("algorithm=election/bully", "nodes=5", "loss=0.10"), 1},
	} {
		if got := rows(Options{Metrics: election, Where: test.where}); got != test.cells {
			t.Errorf("%v: %d cells, want %d", test.where, got, test.cells)
		}
	}
	// What else is selected does not change a cell's name: others match by it.
	name := `"bully/nodes=5/loss=0"`
	if text := one(t, r, "bmf", Options{Where: where("nodes=5", "loss=0")}); !strings.Contains(text, name) {
		t.Errorf("no %s in\n%s", name, text)
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	_, err := Find("gobnech")
	wants(t, err, `unknown format "gobnech"; did you mean "gobench"?`)
	for _, test := range []struct {
		format string
		o      Options
		says   string
	}{
		{"csv", Options{Metrics: []string{"election"}}, `unknown metric "election"; did you mean "election_ms"?`},
		{"csv", Options{Where: where("node=3")}, `unknown column "node"; did you mean "nodes"?`},
		{"csv", Options{Where: where("nodes=4")}, `--where: unknown value of nodes "4" (has: 3, 5)`},
		{"hgrm", Options{Metrics: []string{"messages"}}, "--metrics messages: a single operation has no messages"},
	} {
		f, err := Find(test.format)
		must(t, err)
		_, err = f.Write(small(t), test.o)
		wants(t, err, test.says)
	}
}

func wants(t testing.TB, err error, says string) {
	t.Helper()
	if !errors.As(err, new(*report.Mistake)) && !errors.As(err, new(*metric.NameError)) || !strings.Contains(err.Error(), says) {
		t.Errorf("error %v, want a mistake that says %q", err, says)
	}
}

// Formats that have no word for a missing figure say that there is none.
func TestNothingToExport(t *testing.T) {
	t.Parallel()
	r := runOf(spec{label: "a", nodes: 3, status: trace.Violated, reason: "two leaders"})
	for name, says := range map[string]string{
		"gobench": "no trial with status ok", "github": "no cell has a figure", "bmf": "no cell has a figure",
		"pgfplots": "no cell has a figure", "hgrm": "no operations are recorded there",
	} {
		f, err := Find(name)
		must(t, err)
		if _, err = f.Write(r, Options{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want one that says %q", name, err, says)
		}
	}
	for _, name := range []string{"csv", "json", "latex", "junit"} {
		write(t, r, name, Options{})
	}
	empty := runOf()
	f, err := Find("csv")
	must(t, err)
	if _, err := f.Write(empty, Options{}); err == nil || !strings.Contains(err.Error(), "no trial to export") {
		t.Errorf("an empty run: error %v", err)
	}
}

// The main metrics are those of the table of bench run, as far as the run has them.
func TestMainMetrics(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		problem, scenario string
		want              []string
	}{
		{"election", "leader-crash", []string{"election_ms", "downtime_ms", "messages"}},
		{"election", "churn", []string{"downtime_ms", "availability", "split_brain_ms", "messages"}},
		{"election", "partition", []string{"downtime_ms", "availability", "split_brain_ms", "messages"}},
		{"mutex", "open", []string{"waiting_ms", "messages_per_entry", "messages"}},
	} {
		table := &results.Table{
			Design: []string{"problem", "scenario"},
			Metrics: []string{"election_ms", "downtime_ms", "availability", "split_brain_ms", "waiting_ms",
				"messages_per_entry"},
			Trials: []results.Trial{{Design: where("problem="+test.problem, "scenario="+test.scenario)}},
		}
		if got := brief(table); !slices.Equal(got, test.want) {
			t.Errorf("%s, %s: %v, want %v", test.problem, test.scenario, got, test.want)
		}
		// A cell of another scenario behind it changes nothing.
		if test.scenario == "churn" {
			table.Trials = append(table.Trials, results.Trial{Cell: 1, Design: where("problem=election", "scenario=cold-start")})
			if got := brief(table); !slices.Equal(got, test.want) {
				t.Errorf("with another scenario: %v, want %v", got, test.want)
			}
		}
	}
}

func TestNanoseconds(t *testing.T) {
	t.Parallel()
	for ms, want := range map[float64]float64{
		105.984995: 105984995, 0: 0, 1e-9: 1e-3, 28: 28e6, 1.1: 1.1e6, -2.5: -2.5e6, 1e300: 1e306,
	} {
		if got := nanoseconds(ms); got != want {
			t.Errorf("%v ms: %v, want %v", ms, got, want)
		}
	}
}

// TestClockError: what is smaller than the clocks of the hosts can be wrong by is marked, and
// the mark is explained; the largest error of the cell counts, of trials that count.
func TestClockError(t *testing.T) {
	t.Parallel()
	r := runOf(append(sample("fast", 0.03, 0.03, 0.04, 0.04, 0.05, 0.05),
		sample("slow", 0.13, 0.13, 0.14, 0.14, 0.15, 0.15)...)...)
	r.Metrics = append(r.Metrics, metric.ClockError.Name)
	for i := range r.Trials {
		r.Trials[i].Set(metric.ClockError.Of(20 + float64(i%6)))
	}
	lost := r.Trials[11].With(metric.ClockError.Of(900))
	lost.Status = trace.Invalid
	r.Trials = append(r.Trials, lost)
	const note = "?: smaller than the clock error of the hosts (0.05 ms)"
	for format, want := range map[string][]string{
		"markdown": {"| 0.04? [", "| 0.14 ["},
		"latex":    {`0.04\rlap{$^{?}$} & \ci{86\,\%} 0.14 \\`, `\ci{0.00--0.10} & \ci{0.08--0.20}`},
	} {
		text := strings.ReplaceAll(one(t, r, format, Options{Metrics: []string{"election_ms"}}), "\n% ", " ")
		for _, part := range append(want, note) {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no %q in\n%s", format, part, text)
			}
		}
	}
	for i := range r.Trials {
		r.Trials[i].Set(metric.ClockError.Of(math.NaN()))
	}
	for _, format := range []string{"markdown", "latex"} {
		if text := one(t, r, format, Options{Metrics: []string{"election_ms"}}); strings.Contains(text, "?") {
			t.Errorf("%s: a mark where all have one clock:\n%s", format, text)
		}
	}
}

// TestAxes: whatever numbers a column of somebody else's table has, a picture has axes with ends.
func TestAxes(t *testing.T) {
	t.Parallel()
	for _, values := range [][]string{{"1e-320", "1"}, {"1e-320", "2e-320"}, {"1", "Inf"}, {"-1e308", "1e308"},
		{"NaN", "1"}, {"0", "100"}, {"-5", "500"}, {"1e-320", "1e308"}, {"1", "100"}} {
		r := runOf(append(sample("raft", 1, 2, 3), sample("raft", 4, 5, 600)...)...)
		r.Design = append(slices.Clone(r.Design), "spread")
		for i := range r.Trials {
			r.Trials[i].Design = append(slices.Clone(r.Trials[i].Design),
				metric.Field{Name: "spread", Value: values[i/3]})
		}
		f, err := Find("pgfplots")
		must(t, err)
		files, err := f.Write(r, Options{Draw: figure.Options{X: "spread"}})
		if err != nil || len(files) == 0 {
			t.Errorf("%v: %d files, %v", values, len(files), err)
		}
		for _, file := range files {
			if text := string(file.Data); strings.Contains(text, "NaN") && values[0] != "NaN" ||
				strings.Contains(text, "Inf") && values[1] != "Inf" {
				t.Errorf("%v: %s", values, text)
			}
		}
	}
}

// brief is what a format has of a run unless somebody asks for other metrics.
func brief(t *results.Table) []string {
	s, _ := choose(&Run{t}, &Format{}, Options{})
	return metric.Names(s.metrics)
}
