package figure

import (
	"encoding/xml"
	"errors"
	"flag"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/chart"
	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
)

var rewrite = flag.Bool("rewrite", false, "write testdata anew; read the difference first")

// sample is a report's data: two algorithms on 3, 5 and 9 nodes at two rates of loss,
// with figures that are awkward: zero, unknown, far apart.
func sample() *report.Data {
	d := &report.Data{
		Title: "sample",
		Same:  []metric.Field{{Name: "problem", Value: "election"}, {Name: "scenario", Value: "leader-crash"}},
		Columns: []report.Column{
			{Name: "label", Values: []string{"bully", "ring, <b>"}},
			{Name: "nodes", Numeric: true, Values: []string{"3", "5", "9"}},
			{Name: "loss", Numeric: true, Values: []string{"0", "0.1"}},
		},
		Metrics: []*metric.Metric{
			metric.Election, metric.MessagesPerElection, metric.Availability, metric.MessageDelays,
		},
		Claims: []report.Claim{{Algorithm: "election/bully", Metric: "messages_per_election", Load: "worst",
			Text: "N²"}},
		Kinds:  []string{"ELECTION", "A_KIND_WITH_A_NAME_THAT_NEVER_FITS"},
		Faults: []report.Fault{{Name: "loss", Title: "loss"}, {Name: "latency_ms", Title: "latency (ms)"}},
	}
	for label := range 2 {
		for nodes, n := range []int{3, 5, 9} {
			for loss := range 2 {
				d.Cells = append(d.Cells, cell(label, nodes, loss, n))
			}
		}
	}
	return d
}

func cell(label, nodes, loss, n int) report.Cell {
	v := float64(10*n + label)
	unknown := stats.Describe(nil, 0)
	figures := []stats.Summary{
		stats.Describe([]float64{v, v + 1, v + 2, v + 3, v + 4, v + 9}, 0),
		stats.Describe([]float64{v * v * v, 2, 3, v * v * v, v * v * v, v * v * v, v * v * v}, 0),
		stats.Describe([]float64{0, 0, 1, 1, 1, 1}, 0), stats.Describe([]float64{1}, 0),
	}
	if nodes == 1 && label == 1 {
		figures[0] = stats.Describe([]float64{v, v + 2}, 0) // too few for an interval
	}
	if nodes == 2 && label == 1 {
		figures[0] = unknown
		figures[1] = stats.Describe([]float64{5, 6, 7, 8, 9, 10}, 5) // an upper end that nobody knows
	}
	c := report.Cell{
		Label: []string{"bully", "ring, <b>"}[label], Nodes: n, Design: []int{label, nodes, loss},
		InModel: true,
		Figures: figures,
		Spreads: []report.Spread{{Metric: "election_ms", N: 5, Censored: 1, Values: []float64{0, 1, 5, 700},
			Ranks: []int{1, 2, 3, 4}}},
		Kinds: []report.MessageCount{{Kind: 0, Sent: 8, Delivered: 5}, {Kind: 1, Sent: 0.5}},
		Achieved: []report.Achieved{
			{Asked: 0.1 * float64(loss), Mean: 0.09*float64(loss) + float64(label)/100, Most: 0.3},
			{Fault: 1, Asked: 2, Mean: 2.5, Most: 4},
		},
	}
	if label == 0 {
		c.Bounds = []report.Bound{{Claim: 0, Lo: float64(n), Hi: 1e9}}
	}
	return c
}

// usual are the options of who chooses nothing.
func usual() *Options { return &Options{} }

// everything are the pictures of all that there is.
func everything(t *testing.T, d *report.Data) []chart.Chart {
	t.Helper()
	o := usual()
	o.All = true
	list, err := Pictures(d, o)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// saved draws pictures as SVG alone, which is fast, and returns their names.
func saved(t *testing.T, list []chart.Chart) (names []string) {
	t.Helper()
	for _, p := range list {
		if _, err := p.Render("svg", 0, 0); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		names = append(names, p.Name)
	}
	return names
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestWrite: the files are the same for the same data, each is well formed, and a
// figure says what its axes and lines are.
func TestWrite(t *testing.T) {
	t.Parallel()
	dir, again := t.TempDir(), t.TempDir()
	names, _, err := Write(sample(), dir, *usual())
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"election_ms-nodes.svg", "election_ms-nodes.pdf", "election_ms-nodes.png",
		"messages_per_election-nodes.svg", "messages_per_election-nodes.pdf", "messages_per_election-nodes.png",
	}; !slices.Equal(names, want) {
		t.Errorf("figures %v, want %v", names, want)
	}
	if _, _, err := Write(sample(), again, *usual()); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text := read(t, dir, name)
		if text != read(t, again, name) {
			t.Errorf("%s differs for the same data", name)
		}
		switch filepath.Ext(name) {
		case ".svg":
			if err := wellFormed(text); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case ".png":
			if c, err := png.DecodeConfig(strings.NewReader(text)); err != nil || c.Width != 999 {
				t.Errorf("%s: %d dots wide, want 3.33 inches of 300: %v", name, c.Width, err)
			}
		}
	}
	svg := read(t, dir, "election_ms-nodes.svg")
	for _, part := range []string{">nodes<", ">election time (ms)<", ">bully<", ">ring, &lt;b&gt;<", ">9<",
		">message loss 0<", ">message loss 0.1<", "stroke-dasharray"} {
		if !strings.Contains(svg, part) {
			t.Errorf("no %s in election_ms-nodes.svg", part)
		}
	}
}

// TestWrite_All: whatever there is, each in a figure of its own.
func TestWrite_All(t *testing.T) {
	t.Parallel()
	want := []string{"election_ms-nodes", "messages_per_election-nodes", "faults-loss", "faults-latency_ms"}
	for _, at := range []string{"nodes-3-loss-0", "nodes-3-loss-0.1", "nodes-5-loss-0", "nodes-5-loss-0.1",
		"nodes-9-loss-0", "nodes-9-loss-0.1"} {
		want = append(want, "ecdf-election_ms-"+at, "tail-election_ms-"+at, "kinds-"+at)
	}
	slices.Sort(want)
	if got := slices.Sorted(slices.Values(saved(t, everything(t, sample())))); !slices.Equal(got, want) {
		t.Errorf("figures %v, want %v", got, want)
	}
}

func wellFormed(text string) error {
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// TestGolden: what is drawn is what it was, of each sort of figure one.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, p := range everything(t, sample()) {
		path := filepath.Join("testdata", p.Name+".svg")
		if _, err := os.Stat(path); err != nil {
			continue
		}
		file, err := p.Render("svg", 0, 0)
		if err == nil && *rewrite {
			err = os.WriteFile(path, file, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := string(file); got != read(t, "testdata", p.Name+".svg") {
			t.Errorf("%s is not what it was; if it is meant: go test ./internal/answers/report/figure -rewrite; got:\n%s", path, got)
		}
	}
}

// TestPictures_Names: each figure has a file of its own, and one that every system can have,
// whatever was varied.
func TestPictures_Names(t *testing.T) {
	t.Parallel()
	d := sample()
	events := strings.Repeat("{at: 100ms, do: pause}, ", 20)
	d.Columns[2] = report.Column{Name: "faults_events", Values: []string{events + "1", events + "2"}}
	var names []string
	for _, p := range everything(t, d) {
		if len(p.Name) > 130 || strings.ContainsAny(p.Name, " /:{},") || slices.Contains(names, p.Name) {
			t.Errorf("%q is no name for another file", p.Name)
		}
		names = append(names, p.Name)
	}
	if len(names) < 15 {
		t.Errorf("%d figures", len(names))
	}
}

// TestWrite_OnePoint: without anything varied there is one place for each algorithm.
func TestWrite_OnePoint(t *testing.T) {
	t.Parallel()
	d := sample()
	d.Columns = d.Columns[:1]
	d.Cells = []report.Cell{d.Cells[0], d.Cells[6]}
	names := saved(t, everything(t, d))
	if !slices.Contains(names, "election_ms") || !slices.Contains(names, "kinds") {
		t.Errorf("figures %v", names)
	}
}

// TestWrite_OneDuration: where all operations took equally long, the axis of their
// distribution has an extent all the same.
func TestWrite_OneDuration(t *testing.T) {
	t.Parallel()
	d := sample()
	for i := range d.Cells {
		d.Cells[i].Spreads = []report.Spread{{Metric: "election_ms", N: 1, Values: []float64{21.04}, Ranks: []int{1}}}
	}
	v, err := d.View(nil)
	if err != nil {
		t.Fatal(err)
	}
	v.Along(report.None, v.Label())
	if names := saved(t, spreadFigures(d, v)); !slices.Contains(names, "ecdf-election_ms-nodes-3-loss-0") {
		t.Errorf("figures %v", names)
	}
}

// TestWriteFronts: a front is a line in every format, with the budget; a rate of 0 stands at the
// left end, and what has no figure is left out.
func TestWriteFronts(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	fronts := []Front{
		{"raft", []Tradeoff{{0, 0, 0.7, 210, 190, 230}, {12, 8, 17, 140, 120, 150}, {9000, 8000, 10_000, 40, nan, nan}}},
		{"nothing", []Tradeoff{{3, 1, 5, nan, nan, nan}}},
	}
	dir := t.TempDir()
	names, err := WriteFronts(dir, "front", "false elections per hour", "downtime_ms", 1, fronts)
	if err != nil || !slices.Equal(names, []string{"front.svg", "front.pdf", "front.png"}) {
		t.Fatalf("%q, %v", names, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "front.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"raft", "budget", "false elections per hour, log scale", "downtime_ms", ">0.1<", ">10000<"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in the figure", want)
		}
	}
	p, any := frontPicture("front", "x", "y", 1, fronts)
	if at := p.Panes[0]; !any || at.X.Min != 0.1 || at.X.Max != 100_000 || at.Y.Max != 250 {
		t.Errorf("axes from %v to %v, and up to %v", at.X.Min, at.X.Max, at.Y.Max)
	}
	if names, err := WriteFronts(dir, "none", "x", "y", 1, fronts[1:]); names != nil || err != nil {
		t.Errorf("a figure of nothing: %q, %v", names, err)
	}
}
