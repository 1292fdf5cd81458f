package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/conclave-bench/conclave/internal/answers/theme"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/election/bully"
)

const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(2)> "quoted"`

// A world is the tables of a run: two algorithms on 3 and 5 nodes, trials of each.
type world struct {
	trials, operations, messages strings.Builder
	reason                       string
}

var header = "trial,cell,repetition,run_order,seed,problem,algorithm,label,transport,nodes,topology,scenario," +
	"latency_model,latency_ms,loss,duplication,crash_rate,status,reason,attempts,in_model,operations,completed," +
	"duration_ms,messages,delivered,lost,duplicated,undeliverable,bytes,detector_messages,late_share," +
	"sched_delay_p99_ms,election_ms,messages_per_election,loss_achieved\n"

func newWorld(each int) *world {
	w := &world{reason: hostile}
	w.trials.WriteString(header)
	w.operations.WriteString("trial,operation,process,cause_ms,begin_ms,end_ms,status,cause,phase\n")
	w.messages.WriteString("trial,kind,sent,delivered,lost,bytes\n")
	n := 0
	for cell, c := range []struct {
		algorithm string
		nodes     int
	}{{"bully", 3}, {"bully", 5}, {"stranger", 3}, {"stranger", 5}} {
		for k := range each {
			n++
			status := trace.OK
			if c.algorithm == "stranger" && c.nodes == 5 {
				status = []trace.Status{trace.OK, trace.TimedOut, trace.Violated}[k%3]
			}
			w.add(n, cell+1, k+1, c.algorithm, c.nodes, status)
		}
	}
	return w
}

func (w *world) add(trial, cell, repetition int, algorithm string, nodes int, status trace.Status) {
	reason, figure, end := "", fmt.Sprint(10*nodes+repetition), fmt.Sprint(20+repetition)
	done := "ok"
	switch status {
	case trace.TimedOut:
		figure, end, done = "", "", "pending"
	case trace.Violated:
		reason = `"` + strings.ReplaceAll(w.reason, `"`, `""`) + `"`
	}
	fmt.Fprintf(&w.trials,
		"%d,%d,%d,%d,7,election,election/%s,%s,sim,%d,complete,leader-crash,constant,2,0.1,0,0,%s,%s,1,%v,"+
			"1,1,100,12,10,2,0,0,99,0,,,%s,5,0.125\n", trial, cell, repetition, trial, algorithm, algorithm,
		nodes,
		status, reason, status != trace.Violated, figure)
	fmt.Fprintf(&w.operations, "%d,1,2,5,10,%s,%s,leader-crash,%g\n", trial, end, done,
		float64(trial%4+1)/4)
	fmt.Fprintf(&w.messages, "%d,ELECTION,8,7,1,50\n%d,ANSWER,4,3,1,49\n", trial, trial)
}

// TestPhases: the phases of each cell are counted and tested, whatever became of the
// elections; those of trials that broke a promise are not.
func TestPhases(t *testing.T) {
	t.Parallel()
	d := data(t, Options{}, newWorld(24).write(t))
	for i, want := range []Phases{
		{stats.Uniformity{N: 24, Bins: []int{6, 6, 6, 6}, P: 1}, 1},
		{stats.Uniformity{N: 24, Bins: []int{6, 6, 6, 6}, P: 1}, 1},
		{stats.Uniformity{N: 24, Bins: []int{6, 6, 6, 6}, P: 1}, 1},
		{stats.Uniformity{N: 16, Bins: []int{4, 4, 4, 4}, P: math.NaN(), ChiSquare: math.NaN()}, math.NaN()},
	} {
		got := d.Cells[i].Phases
		if got == nil || fmt.Sprint(*got) != fmt.Sprint(want) {
			t.Errorf("cell %d: %+v, want %+v", i+1, got, want)
		}
	}
	encoded := part(t, written(t, d), "data")
	for _, part := range []string{`"p":{"b":[6,6,6,6],"n":24,"t":[0,1,1]}`, `"p":{"b":[4,4,4,4],"n":16,"t":[null,null,null]}`} {
		if !strings.Contains(encoded, part) {
			t.Errorf("the page has no %s", part)
		}
	}
}

// write puts the tables into a folder.
func (w *world) write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		results.TrialsFile: w.trials.String(), results.OperationsFile: w.operations.String(),
		results.MessagesFile: w.messages.String(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func data(t testing.TB, o Options, paths ...string) *Data {
	t.Helper()
	d, err := New(paths, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func written(t testing.TB, d *Data) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.WritePage(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// part is what a compressed part of a page holds.
func part(t testing.TB, page, id string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, `<script type="application/gzip" id="`+id+`">`)
	text, _, _ := strings.Cut(rest, "</script>")
	packed := base64.NewDecoder(base64.StdEncoding, strings.NewReader(text))
	z, err := gzip.NewReader(packed)
	if !found || err != nil {
		t.Fatalf("the page has no part %s: %v", id, err)
	}
	whole, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(whole)
}

func TestNew(t *testing.T) {
	t.Parallel()
	d := data(t, Options{}, newWorld(9).write(t))
	want := []Column{{"label", false, []string{"bully", "stranger"}}, {"nodes", true, []string{"3", "5"}}}
	if fmt.Sprint(d.Columns) != fmt.Sprint(want) {
		t.Errorf("columns %v, want %v", d.Columns, want)
	}
	if !slices.Contains(d.Same, metric.Field{Name: "loss", Value: "0.1"}) || len(d.Cells) != 4 {
		t.Errorf("same %v, %d cells", d.Same, len(d.Cells))
	}
	if v := d.figure(0, metric.Election); v != 35 { // 31 to 39
		t.Errorf("median %v, want 35", v)
	}
	// Of nine trials three are ok, three timed out and three broke a promise: half of those
	// that count are longer than anybody knows, and the median would be read from one.
	c := d.Cells[3]
	i := slices.IndexFunc(d.Metrics, func(m *metric.Metric) bool { return m.Name == "election_ms" })
	if f := c.Figures[i]; f.N != 3 || f.Censored != 3 || !math.IsNaN(f.Median) || f.CILow != 51 {
		t.Errorf("election_ms of the last cell: %+v", f)
	}
	if c.Statuses[isOK] != 3 || c.Statuses[isTimeout] != 3 || c.Statuses[isBroken] != 3 {
		t.Errorf("statuses %v", c.Statuses)
	}
	if k := c.Kinds[0]; d.Kinds[k.Kind] != "ELECTION" || k.Sent != 8 || k.Bytes != 50 {
		t.Errorf("kinds %+v of %v", c.Kinds, d.Kinds)
	}
	for _, part := range []string{"timed-out trials", "status violation", "no manifest: "} {
		if !slices.ContainsFunc(d.Notes, func(n string) bool { return strings.Contains(n, part) }) {
			t.Errorf("no note has %q: %q", part, d.Notes)
		}
	}
	if d.Violated != 3 || len(d.Violations) != 1 || len(d.Violations[0].Trials) != 3 || d.Violations[0].Trial != 30 || d.Violations[0].InModel {
		t.Errorf("violations %d, %+v", d.Violated, d.Violations)
	}
}

// TestClaims: bully's claims about messages stand beside what was measured; a program
// without the algorithm knows of none.
func TestClaims(t *testing.T) {
	t.Parallel()
	d := data(t, Options{}, newWorld(6).write(t))
	if len(d.Claims) == 0 || len(d.Cells[1].Bounds) == 0 || len(d.Cells[3].Bounds) != 0 {
		t.Fatalf("claims %+v, of bully %v, of a stranger %v", d.Claims, d.Cells[1].Bounds, d.Cells[3].Bounds)
	}
	for _, b := range d.Cells[1].Bounds {
		c := d.Claims[b.Claim]
		if c.Algorithm != "election/bully" || c.Source != algo.Derived || b.Lo > b.Hi || b.Lo < 3 {
			t.Errorf("bound %+v of %+v", b, c)
		}
	}
	if page, err := d.encode(dataLimit); err != nil || !strings.Contains(string(page), `"source":"derived"`) {
		t.Errorf("the page does not say whose the claims are: %v", err)
	}
}

// TestFaults: what was asked for stands beside what the trials achieved, those that timed out
// or broke a promise too; of a fault that nobody asked for nothing is told.
func TestFaults(t *testing.T) {
	t.Parallel()
	w := newWorld(3)
	w.edit(func(trial int, row string) string {
		if trial == 0 {
			return row + ",latency_requested_ms,latency_achieved_ms"
		}
		if trial == 11 {
			row = strings.Replace(row, ",timeout,", ",invalid,", 1)
		}
		k := (trial - 1) % 3
		return strings.NewReplacer(",0.1,0,0,", ",0.1,0.25,0,", ",12,10,2,0,",
			fmt.Sprintf(",12,10,2,%d,", []int{0, 3, 9}[k])).Replace(row) + fmt.Sprintf(",2,%d", 2+k)
	})
	d := data(t, Options{}, w.write(t))
	want := []Fault{{"loss", "loss"}, {"duplication", "duplication"}, {"latency_ms", "latency (ms)"}}
	if !slices.Equal(d.Faults, want) {
		t.Errorf("faults %v, want %v", d.Faults, want)
	}
	if d := data(t, Options{}, newWorld(1).write(t)); !slices.Equal(d.Faults, want[:1]) {
		t.Errorf("faults %v of a run that asks for loss alone", d.Faults)
	}
	for cell, want := range map[int][]Achieved{
		0: {{0, 0.1, 0.125, 0.125, 0.125}, {1, 0.25, 1. / 3, 0, 0.75}, {2, 2, 3, 2, 4}},
		3: {{0, 0.1, 0.125, 0.125, 0.125}, {1, 0.25, 0.375, 0, 0.75}, {2, 2, 3, 2, 4}}, // its second is invalid
	} {
		if got := d.Cells[cell].Achieved; !slices.Equal(got, want) {
			t.Errorf("cell %d achieved %v, want %v", cell, got, want)
		}
	}
}

func TestSpread(t *testing.T) {
	t.Parallel()
	d := data(t, Options{}, newWorld(9).write(t))
	s := d.Cells[3].Spreads
	// Begun at 10, ended at 21, 24 and 27; three trials ended before their election did.
	if len(s) != 2 || s[0].N != 6 || s[0].Censored != 3 || !slices.Equal(s[0].Values, []float64{11, 14, 17}) {
		t.Fatalf("spreads %+v", s)
	}
	if s[1].Metric != "downtime_agreed_ms" || !slices.Equal(s[1].Values, []float64{16, 19, 22}) {
		t.Errorf("spread %+v", s[1])
	}
}

// TestThin: what is kept of a sample is of the sample, at its rank, and its ends are kept.
func TestThin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size, most := rapid.IntRange(1, 100_000).Draw(t, "size"), rapid.IntRange(4, 400).Draw(t, "most")
		ranks := thinned(size, most)
		if ranks[0] != 1 || ranks[len(ranks)-1] != size || len(ranks) > max(most, 4) {
			t.Fatalf("%d of %d: ends %d and %d", len(ranks), size, ranks[0], ranks[len(ranks)-1])
		}
		for i := 1; i < len(ranks); i++ {
			if ranks[i] <= ranks[i-1] {
				t.Fatalf("ranks do not ascend: %v", ranks)
			}
		}
	})
	values, ranks := thin([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 6)
	for i, rank := range ranks {
		if values[i] != float64(rank) {
			t.Errorf("value %v at rank %d", values[i], rank)
		}
	}
}

func TestRuns_SideBySide(t *testing.T) {
	t.Parallel()
	one, two := newWorld(2).write(t), newWorld(2).write(t)
	d := data(t, Options{}, one, two)
	if d.Columns[0].Name != "run" || len(d.Columns[0].Values) != 2 || len(d.Cells) != 8 ||
		d.Cells[0].Design[0] == d.Cells[4].Design[0] {
		t.Errorf("columns %v, %d cells", d.Columns, len(d.Cells))
	}
	same := data(t, Options{}, one, one)
	if same.Runs[0].Label == same.Runs[1].Label {
		t.Errorf("two runs are called %q", same.Runs[0].Label)
	}
}

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	if err := os.WriteFile(filepath.Join(empty, results.TrialsFile), []byte(header), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{empty: "no trial is finished", filepath.Join(empty,
		"x"): "no run there"} {
		if _, err := New([]string{path}, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// TestCommands: what is printed as a command can be pasted into a shell.
func TestCommands(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "my runs")
	if err := os.Rename(newWorld(9).write(t), dir); err != nil {
		t.Fatal(err)
	}
	d := data(t, Options{Diagram: func(string, int) ([]byte, error) { return make([]byte, mostInk+1), nil }}, dir)
	if v := d.Violations[0]; v.Reproduce != "bench replay '"+dir+"' --trial 30" ||
		v.NoDiagram != "bench trace '"+dir+"' --trial 30 draws it" {
		t.Errorf("commands %q and %q", v.Reproduce, v.NoDiagram)
	}
}

func TestFileNames(t *testing.T) {
	t.Parallel()
	got := FileNames([]string{"a/b=1", "a-b-1", "A/b=1", "..", "../x", "", strings.Repeat("y", 300), "\U0001F5F3"})
	for i, name := range got {
		if name == "" || len(name) > 130 || strings.ContainsAny(name, "/\\=: ") || name[0] == '.' || name[0] == '-' {
			t.Errorf("%q is no name of a file", name)
		}
		for _, other := range got[:i] {
			if strings.EqualFold(name, other) {
				t.Errorf("%q twice", name)
			}
		}
	}
}

func TestDiagrams(t *testing.T) {
	t.Parallel()
	w := newWorld(24)
	w.apart()
	dir := w.write(t)
	asked := 0
	d := data(t, Options{Diagram: func(_ string, trial int) ([]byte, error) {
		asked++
		switch asked {
		case 1:
			return []byte("<svg/>"), nil
		case 2:
			return nil, fs.ErrNotExist
		case 3:
			return nil, errors.New("damaged")
		}
		return make([]byte, mostInk+1), nil
	}}, dir)
	v := d.Violations
	if asked != mostDrawn || string(v[0].Diagram) != "<svg/>" || !strings.Contains(v[1].NoDiagram,
		"trace: failures") ||
		v[2].NoDiagram != "damaged" || v[3].Diagram != nil || !strings.Contains(v[3].NoDiagram,
		"bench trace") {
		t.Errorf("%d asked for: %+v", asked, v[:4])
	}
	if page := html.UnescapeString(written(t, d)); !strings.Contains(page,
		"data:image/svg+xml;base64,PHN2Zy8+") {
		t.Error("the page has no diagram")
	}
}

var (
	address = regexp.MustCompile(`(?i)\b(?:https?:|wss?:|ftp:)?//[a-z0-9][-a-z0-9.]*\.[a-z]{2,}[^\s"'<>)\\]*`)
	// Names of vocabularies, which nobody fetches.
	names = []string{"http://www.w3.org/"}
)

// TestPage_NoNetwork: nothing in the page comes from elsewhere, and nothing that a run
// says can be taken for a part of the page.
func TestPage_NoNetwork(t *testing.T) {
	t.Parallel()
	page := written(t, data(t, Options{}, newWorld(6).write(t)))
	for _, found := range address.FindAllString(page+part(t, page, "code")+part(t, page, "data"), -1) {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(found, n) }) {
			t.Errorf("an address: %s", found)
		}
	}
	if strings.Contains(page, "alert(1)</script>") || strings.Contains(page, "<img src=x") {
		t.Error("a reason is part of the page")
	}
	if n := strings.Count(page, "<script"); n != 3 {
		t.Errorf("%d scripts", n)
	}
	for _, part := range []string{"default-src 'none'", theme.Sum(unpackScript), `content="` +
		Generator + `"`} {
		if !strings.Contains(html.UnescapeString(page[:4096]), part) {
			t.Errorf("the head has no %q", part)
		}
	}
}

func TestEncode(t *testing.T) {
	t.Parallel()
	d := data(t, Options{}, newWorld(9).write(t))
	whole, err := d.encode(dataLimit)
	if err != nil {
		t.Fatal(err)
	}
	var w struct {
		Cells []struct {
			F [][]*float64 `json:"f"`
		} `json:"cells"`
		Metrics []struct{ Name string }
	}
	if err := json.Unmarshal(whole, &w); err != nil {
		t.Fatal(err)
	}
	if f := w.Cells[0].F[0]; len(f) != 12 || *f[0] != 9 || *f[2] != 35 || *f[3] != 32 || *f[4] != 38 {
		t.Errorf("%s is %v", w.Metrics[0].Name, f)
	}
	if f := w.Cells[3].F[0]; f[2] != nil || *f[3] != 51 || f[4] != nil {
		t.Error("what nobody knows is not null")
	}
	if f := w.Cells[0].F[1]; len(f) != 3 || *f[2] != 5 {
		t.Errorf("equal values take %d figures", len(f))
	}
	var least struct {
		Points    int
		Quantiles bool
		Cells     []struct {
			F [][]*float64 `json:"f"`
		}
	}
	if text, err := d.encode(1); err != nil || json.Unmarshal(text, &least) != nil || least.Points != 12 ||
		least.Quantiles || len(least.Cells[0].F[0]) != 5 || *least.Cells[0].F[0][4] != 38 {
		t.Errorf("the least that a page can do with: %s, %v", text, err)
	}
	less, err := d.encode(len(whole) - 1)
	if err != nil || len(less) > len(whole) {
		t.Errorf("%d bytes instead of %d: %v", len(less), len(whole), err)
	}
}

// TestPage_Large: ten thousand trials with a hundred thousand operations fit into two million
// bytes, and a page without any weighs little more than its scripts.
func TestPage_Large(t *testing.T) {
	t.Parallel()
	w := &world{}
	w.trials.WriteString(header)
	w.operations.WriteString("trial,operation,process,cause_ms,begin_ms,end_ms,status,cause,phase\n")
	w.messages.WriteString("trial,kind,sent,delivered,lost,bytes\n")
	for n := range 10_000 {
		w.add(n+1, n/10+1, n%10+1, fmt.Sprint("a", n/100), 3+n/10%10, trace.OK)
		for k := range 10 {
			fmt.Fprintf(&w.operations, "%d,%d,1,0,0.5,%d.%d,ok,start,\n", n+1, k+2, 1+n%97, n%89)
		}
	}
	d := data(t, Options{}, w.write(t))
	if page := written(t, d); len(page) > 2_000_000 || len(d.Cells) != 1000 {
		t.Errorf("%d bytes for %d cells", len(page), len(d.Cells))
	}
	few := written(t, data(t, Options{}, newWorld(100).write(t)))
	if len(few) > 120_000 {
		t.Errorf("%d bytes for four cells", len(few))
	}
}
