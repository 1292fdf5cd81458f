package figure

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/internal/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
)

var rewrite = flag.Bool("rewrite", false, "write testdata anew; read the difference first")

// sample is a report's data: two algorithms on 3, 5 and 9 nodes at two rates of loss,
// with figures that are awkward: zero, unknown, far apart.
func sample() *report.Data {
	d := &report.Data{
		Title: "sample",
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

func drawn(t *testing.T, d *report.Data) (string, []string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "figures")
	names, err := Write(d, dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, names
}

// saved draws pictures as SVG alone, which is fast, and returns their names.
func saved(t *testing.T, list []picture) (names []string) {
	t.Helper()
	for _, p := range list {
		if err := p.save(filepath.Join(t.TempDir(), p.name+".svg"), "svg"); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		names = append(names, p.name)
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

// TestWrite: SVG and PNG are the same for the same data, each is well formed, and a
// figure says what its axes and lines are.
func TestWrite(t *testing.T) {
	t.Parallel()
	dir, names := drawn(t, sample())
	again := t.TempDir()
	for i, p := range pictures(sample()) {
		if i%5 > 0 { // drawing takes its time
			continue
		}
		for _, format := range []string{"svg", "png"} {
			if err := p.save(filepath.Join(again, p.name+"."+format), format); err != nil {
				t.Fatal(err)
			}
			if name := p.name + "." + format; read(t, dir, name) != read(t, again, name) {
				t.Errorf("%s differs for the same data", name)
			}
		}
	}
	var want []string
	add := func(format string, by ...string) {
		for _, v := range by {
			for _, ending := range []string{".svg", ".pdf", ".png"} {
				want = append(want, fmt.Sprintf(format, v)+ending)
			}
		}
	}
	add("election_ms-nodes-loss-%s", "0", "0.1")
	add("messages_per_election-nodes-loss-%s", "0", "0.1")
	add("availability-nodes-loss-%s", "0", "0.1")
	add("availability-loss-nodes-%s", "3", "5", "9")
	for _, at := range []string{"nodes-3-loss-0", "nodes-3-loss-0.1", "nodes-5-loss-0", "nodes-5-loss-0.1",
		"nodes-9-loss-0", "nodes-9-loss-0.1"} {
		add("%s-election_ms-"+at, "ecdf", "tail")
	}
	add("kinds-nodes-%s-loss-0", "3", "5", "9")
	add("kinds-nodes-%s-loss-0.1", "3", "5", "9")
	add("faults-%s", "loss", "latency_ms")
	slices.Sort(want)
	if got := slices.Sorted(slices.Values(names)); !slices.Equal(got, want) {
		t.Errorf("figures %v, want %v", got, want)
	}
	for _, name := range names {
		text := read(t, dir, name)
		switch filepath.Ext(name) {
		case ".pdf":
			if !strings.HasPrefix(text, "%PDF-") {
				t.Errorf("%s begins with %.8q", name, text)
			}
			continue
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
	svg := read(t, dir, "election_ms-nodes-loss-0.svg")
	for _, part := range []string{">nodes<", ">election_ms (ms)<", ">bully<", ">ring, &lt;b&gt;<", ">9<",
		"stroke-dasharray"} {
		if !strings.Contains(svg, part) {
			t.Errorf("no %s in election_ms-nodes-loss-0.svg", part)
		}
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
	dir := t.TempDir()
	for _, p := range pictures(sample()) {
		path := filepath.Join("testdata", p.name+".svg")
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if *rewrite {
			dir = "testdata"
		}
		if err := p.save(filepath.Join(dir, p.name+".svg"), "svg"); err != nil {
			t.Fatal(err)
		}
		if got := read(t, dir, p.name+".svg"); got != read(t, "testdata", p.name+".svg") {
			t.Errorf("%s is not what it was; if it is meant: go test ./internal/report/figure -rewrite; got:\n%s", path, got)
		}
	}
}

// TestScale: values that are far apart get an axis in decades, unless one is 0; claims
// far beyond what was measured do not widen it.
func TestScale(t *testing.T) {
	t.Parallel()
	of := func(ys ...float64) line {
		var l line
		for i, y := range ys {
			l.points = append(l.points, point{float64(i), y, math.NaN(), math.NaN()})
		}
		return l
	}
	for _, tt := range []struct {
		name        string
		l           line
		log         bool
		bottom, top float64
	}{
		{"near", of(2, 37), false, 0, 40},
		{"far", of(2, 3700), true, 1, 10_000},
		{"far with a zero", of(0, 2, 3700), false, 0, 4000},
		{"nothing happened", of(0, 0), false, 0, 1},
		{"an interval", line{points: []point{{3, 10, 9, 55}}}, false, 0, 60},
	} {
		s, any := scaleOf([]line{tt.l})
		if !any || s.log != tt.log || s.bottom != tt.bottom || s.top != tt.top || s.left >= s.right {
			t.Errorf("%s: %+v", tt.name, s)
		}
	}
	if _, any := scaleOf(nil); any {
		t.Error("a scale of nothing")
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
	for _, p := range pictures(d) {
		if len(p.name) > 130 || strings.ContainsAny(p.name, " /:{},") || slices.Contains(names, p.name) {
			t.Errorf("%q is no name for another file", p.name)
		}
		names = append(names, p.name)
	}
	if len(names) < 20 {
		t.Errorf("%d figures", len(names))
	}
}

// TestVariables: a metric is drawn against the number of nodes, else against what has most
// values, and what fails against the rate of failures too.
func TestVariables(t *testing.T) {
	t.Parallel()
	numbers := func(name string, n int) report.Column {
		return report.Column{Name: name, Numeric: true, Values: make([]string, n)}
	}
	label, nodes, loss := numbers("label", 9), numbers("nodes", 2), numbers("loss", 3)
	for _, c := range []struct {
		columns []report.Column
		metric  string
		want    []int
	}{
		{[]report.Column{label}, "election_ms", []int{none}},
		{[]report.Column{label, nodes, loss}, "election_ms", []int{1}},
		{[]report.Column{label, loss, nodes}, "election_ms", []int{2}},
		{[]report.Column{label, numbers("think_ms", 2), numbers("hold_ms", 4)}, "waiting_ms", []int{2}},
		{[]report.Column{label, numbers("nodes", 1), loss}, "election_ms", []int{2}},
		{[]report.Column{label, nodes, loss}, "availability", []int{1, 2}},
		{[]report.Column{label, loss}, "availability", []int{1}},
	} {
		if got := variables(&report.Data{Columns: c.columns}, metric.Named(c.metric)); !slices.Equal(got, c.want) {
			t.Errorf("%s of %v: against %v, want %v", c.metric, c.columns, got, c.want)
		}
	}
}

// TestPlaced: a tick keeps its place, and its text if that does not overlap the one before.
func TestPlaced(t *testing.T) {
	t.Parallel()
	var got []string
	for _, tick := range placed([]float64{0, 0.5, 1, 5, 5.9, 10}, 0, 10) {
		got = append(got, fmt.Sprint(tick.Value, ":", tick.Label))
	}
	if want := []string{"0:0", "0.5:", "1:1", "5:5", "5.9:", "10:10"}; !slices.Equal(got, want) {
		t.Errorf("ticks %v, want %v", got, want)
	}
}

// TestPanels: cells of one label that stand at one place are in different panels, of which
// there are not too many.
func TestPanels(t *testing.T) {
	t.Parallel()
	d := &report.Data{Columns: []report.Column{{Name: "label", Values: []string{"a"}}, {Name: "nodes"}, {Name: "loss"}}}
	for i := range 2 * (mostPanels + 5) {
		d.Columns[1].Values = append(d.Columns[1].Values, fmt.Sprint(i))
		d.Columns[2].Values = append(d.Columns[2].Values, fmt.Sprint(i))
		d.Cells = append(d.Cells, report.Cell{Design: []int{0, i % 2, i / 2}})
	}
	got := panels(d, 1)
	if len(got) != mostPanels || got[0].name != "-loss-0" || got[1].name != "-loss-1" || len(got[1].cells) != 2 {
		t.Errorf("%d panels, of which the first are %v", len(got), got[:2])
	}
	d.Columns[2].Values = d.Columns[2].Values[:1]
	for i := range d.Cells {
		d.Cells[i].Design = []int{0, i, 0}
	}
	if got := panels(d, 1); len(got) != 1 || got[0].name != "" || len(got[0].cells) != len(d.Cells) {
		t.Errorf("%d panels, want one without a name", len(got))
	}
}

// TestWrite_OnePoint: without anything varied there is one place for each algorithm.
func TestWrite_OnePoint(t *testing.T) {
	t.Parallel()
	d := sample()
	d.Columns = d.Columns[:1]
	d.Cells = []report.Cell{d.Cells[0], d.Cells[6]}
	if names := saved(t, pictures(d)); !slices.Contains(names, "election_ms") || !slices.Contains(names, "kinds") {
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
	if names := saved(t, spreadFigures(d)); !slices.Contains(names, "ecdf-election_ms-nodes-3-loss-0") {
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
	for _, want := range []string{"raft", "budget", "false elections per hour, log", "downtime_ms", ">0.1<", ">1e4<"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in the figure", want)
		}
	}
	p, any := frontPicture("front", "x", "y", 1, fronts)
	if !any || p.plot.X.Min != 0.1 || p.plot.X.Max != 100_000 || p.plot.Y.Max != 250 {
		t.Errorf("axes from %v to %v, and up to %v", p.plot.X.Min, p.plot.X.Max, p.plot.Y.Max)
	}
	if names, err := WriteFronts(dir, "none", "x", "y", 1, fronts[1:]); names != nil || err != nil {
		t.Errorf("a figure of nothing: %q, %v", names, err)
	}
}
