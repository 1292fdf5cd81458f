package history

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"html"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/commits"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// hash is the i-th commit of a line.
func hash(i int) string { return fmt.Sprintf("%040x", 0xabc000+i) }

func commit(i int) commits.Commit {
	return commits.Commit{Hash: hash(i), Subject: fmt.Sprint("change ", i),
		Date: time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.RFC3339)}
}

func line(n int) (out []*commits.Commit) {
	for i := range n {
		c := commit(i)
		out = append(out, &c)
	}
	return out
}

// config is the experiment of entries.
const config = "name: ci\n"

// entry is a run of commit i that has one cell.
func entry(i int, c Cell) *Entry {
	return &Entry{Schema: Schema, Experiment: "ci", Config: checksum([]byte(config), 32), Run: fmt.Sprint("run", i),
		Commit:  commit(i),
		Started: time.Date(2026, 2, 1, 0, i, 0, 0, time.UTC).Format(time.RFC3339),
		Machine: results.Machine{OS: "linux"},
		Cells:   []Cell{c}}
}

func design(transport string) Design {
	return of("problem", "election", "algorithm", "election/raft", "label", "raft", "transport", transport)
}

// of is a design of names and values.
func of(pairs ...string) (out Design) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, metric.Field{Name: pairs[i], Value: pairs[i+1]})
	}
	return out
}

// simulated is a cell of two trials whose messages are these.
func simulated(messages ...float64) Cell {
	c := Cell{Design: design("sim"), Exact: true, Trials: len(messages),
		Statuses: map[string]int{"ok": len(messages)},
		First:    1, Seeds: "5eed", Figures: map[string]Figure{}}
	mean, text := 0.0, ""
	for _, v := range messages {
		mean += v / float64(len(messages))
		text += fmt.Sprint(v, " ")
		c.Digests += fmt.Sprintf("%08x", int(v*1000))
	}
	c.Figures["messages_per_election"] = Figure{N: len(messages), Median: &mean, Mean: &mean, Digest: text}
	zero := 0.0
	c.Figures["split_brain_ms"] = Figure{N: len(messages), Median: &zero, Mean: &zero, Digest: "0"}
	return c
}

// measured is a cell on real processes.
func measured(ms float64) Cell {
	return Cell{Design: design("nats"), Trials: 5, Statuses: map[string]int{"ok": 5}, First: 1, Seeds: "5eed",
		Figures: map[string]Figure{"election_ms": {N: 5, Median: &ms, Mean: &ms}}}
}

// noisyRuns are runs of an election time around 50 ms, of which change makes something else.
func noisyRuns(n int, noise float64, change func(i int) float64) (out []*Entry) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		e := entry(i, measured(50*(1+noise*r.NormFloat64())*change(i)))
		e.Bus = 60 * (1 + 0.2*r.NormFloat64())
		out = append(out, e)
	}
	return out
}

// TestNewCell_Exact: only figures of a transport that repeats are exact.
func TestNewCell_Exact(t *testing.T) {
	for transport, exact := range map[string]bool{"sim": true, "nats": false, "bubble": false} {
		c := newCell(&results.Cell{Design: design(transport), Trials: []*results.Trial{{Trial: 1, Seed: 1}}}, nil)
		if c.Exact != exact {
			t.Errorf("%s: exact is %t", transport, c.Exact)
		}
	}
}

// TestAnalyze_Exact: each commit that changed a simulated trial is named, with the first trial and which way.
func TestAnalyze_Exact(t *testing.T) {
	var entries []*Entry
	v := 10.0
	for i := range 13 {
		if i > 0 {
			v *= 1.01
		}
		entries = append(entries, entry(i, simulated(8, v)))
	}
	slices.Reverse(entries) // whatever the order in which they were added
	a := Analyze(entries, nil, Options{Line: line(20)})
	if len(a.Findings) != 12 || len(a.Bad()) != 12 {
		t.Fatalf("%d findings, %d bad; want 12", len(a.Findings), len(a.Bad()))
	}
	for i, f := range a.Findings {
		if f.Commit.Hash != hash(i+1) || f.Before.Hash != hash(i) || f.Kind != Changed ||
			f.Verdict != Worse ||
			f.Trial != 2 || f.Trials != 1 || f.Unmeasured != 0 ||
			f.Changes[0].Metric != "messages_per_election" {
			t.Errorf("finding %d: %+v", i, f)
		}
	}
}

// TestAnalyze_Seeds: what was drawn otherwise is not compared, which is said once for two commits.
func TestAnalyze_Seeds(t *testing.T) {
	var entries []*Entry
	for i := range 3 {
		e := entry(0, simulated(float64(8+i)))
		e.Cells[0].Seeds = fmt.Sprint("seed ", i)
		entries = append(entries, e)
	}
	a := Analyze(entries, nil, Options{Line: line(1)})
	if len(a.Findings) != 0 || len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "differ from those of") {
		t.Errorf("findings %v, notes %q", a.Findings, a.Notes)
	}
}

func TestAnalyze_Cases(t *testing.T) {
	other := func(c Cell, change func(c *Cell)) Cell { change(&c); return c }
	for _, c := range []struct {
		name    string
		entries []*Entry
		want    string // kind verdict place, of each finding
		notes   int
	}{
		{"nothing", []*Entry{entry(0, simulated(8, 9)), entry(1, simulated(8, 9))}, "", 0},
		{"better", []*Entry{entry(0, simulated(8, 9)), entry(1, simulated(8, 7))}, "changed better 1", 0},
		{"unmeasured between", []*Entry{entry(0, simulated(8)), entry(4, simulated(9))},
			"changed worse 4 after 3", 0},
		{"the same mean", []*Entry{entry(0, simulated(8, 9)), entry(1, simulated(9, 8))}, "changed changed 1",
			0},
		{"two answers", []*Entry{entry(1, simulated(8)), entry(1, simulated(9))}, "contradiction worse 1", 0},
		{"other seeds", []*Entry{entry(0, simulated(8)), entry(1, other(simulated(9),
			func(c *Cell) { c.Seeds = "x" }))},
			"", 1},
		{"broken in simulation", []*Entry{entry(0, simulated(8)), entry(1, other(simulated(7), func(c *Cell) {
			c.Statuses = map[string]int{"violation": 1}
		}))}, "broken worse 1", 0},
		{"broken on nodes", []*Entry{entry(0, measured(50)), entry(1, other(measured(50), func(c *Cell) {
			c.Statuses = map[string]int{"violation": 2, "ok": 3}
		})), entry(2, other(measured(50), func(c *Cell) {
			c.Statuses = map[string]int{"violation": 2,
				"ok": 3}
		}))},
			"broken worse 1", 0},
	} {
		a := Analyze(c.entries, nil, Options{Line: line(10)})
		var got []string
		for _, f := range a.Findings {
			text := fmt.Sprintf("%s %s %d", f.Kind, f.Verdict, a.place[f.Commit.Hash])
			if f.Unmeasured > 0 {
				text += fmt.Sprint(" after ", f.Unmeasured)
			}
			got = append(got, text)
		}
		if strings.Join(got, ", ") != c.want || len(a.Notes) != c.notes {
			t.Errorf("%s: %q, notes %q; want %q", c.name, got, a.Notes, c.want)
		}
	}
}

// TestAnalyze_Noisy: a step and a drift of real times are found where they are; a drift by its fourth commit.
func TestAnalyze_Noisy(t *testing.T) {
	step := func(i int) float64 {
		if i >= 20 {
			return 1.08
		}
		return 1
	}
	a := Analyze(noisyRuns(40, 0.01, step), nil, Options{Line: line(60), Alpha: 0.01})
	if len(a.Findings) != 1 || a.Findings[0].Kind != Step || a.Findings[0].Verdict != Worse ||
		a.place[a.Findings[0].Commit.Hash] < 19 || a.place[a.Findings[0].Commit.Hash] > 21 {
		t.Errorf("a step of 8 %% at 20: %+v", a.Findings)
	}
	if n := a.Series[0].Noise(); n < 0.007 || n > 0.013 {
		t.Errorf("noise %v, want 1 %%", n)
	}
	if r := a.Findings[0].Changes[0].Ratio(); r < 0.07 || r > 0.09 {
		t.Errorf("changed by %v, want 8 %%", r)
	}
	drift := func(i int) float64 { return 1 + 0.01*float64(min(12, max(0, i-19))) }
	for n := 24; n <= 40; n++ {
		a := Analyze(noisyRuns(n, 0.003, drift), nil, Options{Line: line(60), Alpha: 0.01})
		if len(a.Findings) != 1 || a.Findings[0].Kind != Drift && n > 25 ||
			a.place[a.Findings[0].Commit.Hash] < 18 || a.place[a.Findings[0].Commit.Hash] > 22 {
			t.Errorf("%d runs, a drift of 1 %% from 20 on: %+v", n, a.Findings)
		}
	}
	if a := Analyze(noisyRuns(40, 0.01, step), nil, Options{Line: line(60),
		Least: 0.2}); len(a.Findings) != 0 {
		t.Errorf("smaller than what is asked for: %+v", a.Findings)
	}
}

// TestAnalyze_Machines: times of another machine are another series, in which nothing steps.
func TestAnalyze_Machines(t *testing.T) {
	entries := noisyRuns(40, 0.01, func(i int) float64 { return 1 + float64(i/20) })
	for i, e := range entries {
		e.Machine.Cores = 2 + i/20
	}
	a := Analyze(entries, nil, Options{Line: line(60)})
	if len(a.Findings) != 0 || len(a.Series) != 2 {
		t.Errorf("%d series, %+v", len(a.Series), a.Findings)
	}
}

// TestAnalyze_Modes: a figure that goes between two levels has no change, whoever reads it is told of both,
// and a step of both is found.
func TestAnalyze_Modes(t *testing.T) {
	const step = 40
	modal := func(i int) float64 {
		v := 1.0
		if i >= step {
			v = 1.1
		}
		if i*7%10 < 3 { // 30 %
			v *= 1.05
		}
		return v
	}
	quiet := Analyze(noisyRuns(step, 0.003, modal), nil, Options{Line: line(60)})
	if len(quiet.Findings) != 0 || len(quiet.Series[0].Course.Modes) != 2 {
		t.Fatalf("modes %v, %+v", quiet.Series[0].Course.Modes, quiet.Findings)
	}
	const words = "two modes: 50.02 and 52.54 ms (70 %/30 %)"
	page, err := Page("h", quiet)
	if err != nil || !strings.Contains(string(page), words) {
		t.Errorf("the page lacks %q, %v", words, err)
	}
	for format, want := range map[string]string{"text": words, "markdown": words,
		"json": `"mode_shares": [ 0.7, 0.3 ]`} {
		text, err := quiet.Document("h").In(format)
		if err != nil || !strings.Contains(strings.Join(strings.Fields(string(text)), " "), want) {
			t.Errorf("%s lacks %q, %v:\n%s", format, want, err, text)
		}
	}
	a := Analyze(noisyRuns(60, 0.003, modal), nil, Options{Line: line(60)})
	if len(a.Findings) != 1 || a.Findings[0].Kind != Step || a.place[a.Findings[0].From.Hash] > step ||
		a.place[a.Findings[0].To.Hash] < step {
		t.Fatalf("a step of 10 %% at %d: %+v", step, a.Findings)
	}
	if r := a.Findings[0].Changes[0].Ratio(); r < 0.09 || r > 0.11 {
		t.Errorf("changed by %v, want 10 %%", r)
	}
	if m := a.Series[0].Course.Modes; len(m) != 2 || m[0].Level < 54.5 || m[0].Level > 55.5 {
		t.Errorf("modes %v, want those behind the step: 55 and 57.75", m)
	}
}

// TestBus: what a bare bus costs does not tell what figures do. The table has 40 runs of one program, on two
// cores at loads from 12 to 23: three nodes, an election after a crash with links of 2 ms, and a mutex that
// all ask for all the time. A column bus is of the run that the columns behind it are of. If it took part of
// the noise out, the differences between successive runs would go with its differences.
func TestBus(t *testing.T) {
	text, err := os.ReadFile("testdata/bus.csv")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var bus []float64
	series, largest := 0, 0.0
	for k, name := range rows[0] {
		var changes []float64 // in logarithms
		for i := 2; i < len(rows); i++ {
			was, err1 := strconv.ParseFloat(rows[i-1][k], 64)
			is, err2 := strconv.ParseFloat(rows[i][k], 64)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			changes = append(changes, math.Log(is/was))
		}
		if name == "bus" {
			bus = changes
			continue
		}
		var xx, xy, yy float64
		for i, y := range changes {
			xx, xy, yy = xx+bus[i]*bus[i], xy+bus[i]*y, yy+y*y
		}
		slope := xy / xx
		tValue := slope / math.Sqrt((yy-slope*xy)/float64(len(bus)-1)/xx)
		t.Logf("%s: rises by %.2f %% for each percent of the bus, t = %.1f, r2 = %.2f", name, slope,
			tValue, xy*xy/xx/yy)
		series, largest = series+1, max(largest, math.Abs(tValue))
	}
	if series != 12 || largest > 2.2 {
		t.Errorf("of %d series, the bus tells the most of one with t = %.1f; docs/how-to/history.md says 12 and 2.1",
			series, largest)
	}
}

func TestAnalyze_Late(t *testing.T) {
	a := Analyze(noisyRuns(30, 0.01, func(i int) float64 { return 1 + 0.5*float64(i/28) }), nil,
		Options{Line: line(60)})
	if len(a.Findings) != 0 || a.Series[0].Course.Late != 2 {
		t.Errorf("two last runs that lie apart: late %d, %+v", a.Series[0].Course.Late, a.Findings)
	}
}

func TestBlessing(t *testing.T) {
	entries := []*Entry{entry(0, simulated(8)), entry(5, simulated(9))}
	for _, c := range []struct {
		b    Blessing
		want bool
	}{
		{Blessing{Commit: hash(5)}, true},
		{Blessing{Commit: hash(3)}, true}, // not measured: it may be the one
		{Blessing{Commit: hash(0)}, false},
		{Blessing{Commit: hash(6)}, false},
		{Blessing{Commit: hash(5), Metric: "messages_per_election"}, true},
		{Blessing{Commit: hash(5), Metric: "messages"}, false},
		{Blessing{Commit: hash(5), Where: of("label", "raft")}, true},
		{Blessing{Commit: hash(5), Where: of("label", "bully")}, false},
	} {
		a := Analyze(entries, []*Blessing{&c.b}, Options{Line: line(9)})
		if got := len(a.Bad()) == 0; got != c.want || len(a.Findings) != 1 {
			t.Errorf("%+v: blessed %v, want %v", c.b, got, c.want)
		}
	}
}

func TestAfter(t *testing.T) {
	a := Analyze([]*Entry{entry(0, simulated(8)), entry(5, simulated(9)), entry(6, simulated(7))}, nil,
		Options{Line: line(9)})
	if err := a.After(hash(5)); err != nil || len(a.Findings) != 1 || a.Findings[0].Commit.Hash != hash(6) {
		t.Errorf("%v, %+v", err, a.Findings)
	}
	if err := a.After(hash(8)); err != nil || len(a.Findings) != 0 {
		t.Errorf("%v, %+v", err, a.Findings)
	}
	if err := a.After(hash(100)); err == nil {
		t.Error("a commit of another line is taken")
	}
}

func TestMain(m *testing.M) {
	for name, value := range map[string]string{"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1"} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// stores are a folder and two references of a new repository in dir.
func stores(t *testing.T) (dir string, out map[string]*Store) {
	t.Helper()
	dir = t.TempDir()
	run(t, dir, "git", "init", "--quiet")
	out = map[string]*Store{}
	for _, name := range []string{"h", "git:refs/notes/conclave", "git:bench"} {
		s, err := openIn(t.Context(), dir, name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = s
	}
	return dir, out
}

func run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
	return string(out)
}

// TestStore: what many add at once is all there, once, and as it was.
func TestStore(t *testing.T) {
	t.Parallel()
	_, all := stores(t)
	for name, s := range all {
		if got, err := s.Entries(t.Context()); err != nil || len(got) != 0 {
			t.Errorf("%s: a new store has %d entries, %v", name, len(got), err)
		}
		const n = 6
		var jobs sync.WaitGroup
		for i := range 2 * n { // each twice
			jobs.Go(func() {
				if err := s.Add(t.Context(), entry(i/2, simulated(float64(i/2))),
					[]byte(config)); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		jobs.Wait()
		got, err := s.Entries(t.Context())
		if err != nil || len(got) != n {
			t.Fatalf("%s: %d entries, %v; want %d", name, len(got), err, n)
		}
		for i, e := range got {
			if e.Commit != commit(i) || *e.Cells[0].Figures["messages_per_election"].Mean != float64(i) {
				t.Errorf("%s: entry %d: %+v", name, i, e)
			}
		}
		if text, err := s.Experiment(t.Context(), got[0].Config); err != nil || string(text) != config {
			t.Errorf("%s: experiment %q, %v", name, text, err)
		}
		b := &Blessing{Commit: hash(3), Reason: "meant", At: "2026-01-02T03:04:05Z"}
		if err := s.Bless(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if all, err := s.Blessings(t.Context()); err != nil || len(all) != 1 || all[0].Reason != "meant" {
			t.Errorf("%s: blessings %+v, %v", name, all, err)
		}
	}
}

// TestStore_Sync: two clones that both add have what both added, whoever is first, and so has the remote.
func TestStore_Sync(t *testing.T) {
	t.Parallel()
	dir, _ := stores(t)
	run(t, dir, "git", "init", "--quiet", "--bare", "remote")
	remote := filepath.Join(dir, "remote")
	const ref = "git:refs/notes/conclave"
	var clones []*Store
	for i := range 3 {
		clone := filepath.Join(dir, fmt.Sprint("clone", i))
		run(t, dir, "git", "init", "--quiet", clone)
		s, err := openIn(t.Context(), clone, ref)
		if err != nil {
			t.Fatal(err)
		}
		clones = append(clones, s)
		for k := range 3 {
			if err := s.Add(t.Context(), entry(3*i+k, simulated(1)), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	var jobs sync.WaitGroup
	for _, s := range clones {
		jobs.Go(func() {
			if err := s.Sync(context.Background(), remote); err != nil {
				t.Error(err)
			}
		})
	}
	jobs.Wait()
	for i, s := range clones {
		if err := s.Sync(t.Context(), remote); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Entries(t.Context()); err != nil || len(got) != 9 {
			t.Errorf("clone %d has %d entries, %v; want 9", i, len(got), err)
		}
	}
	if s, err := openIn(t.Context(), dir, "h"); err != nil || s.Sync(t.Context(), remote) == nil {
		t.Error("a folder was exchanged with a repository")
	}
}

func TestStore_Mistakes(t *testing.T) {
	t.Parallel()
	dir, _ := stores(t)
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "git:", "file", "git:a..b", "git:refs/heads/"} {
		if _, err := openIn(t.Context(), dir, name); err == nil {
			t.Errorf("%q is taken for a store", name)
		}
	}
	s, err := openIn(t.Context(), dir, "h")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Add(t.Context(), entry(1, simulated(1)), nil); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"x.json": "{", "y.json": `{"schema_version": 99}`,
		"z.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, "h/entries/"+name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Entries(t.Context()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v; want its name", name, err)
		}
		if err := os.Remove(filepath.Join(dir, "h/entries/"+name)); err != nil {
			t.Fatal(err)
		}
	}
	// What a killed write leaves is not read.
	if err := os.WriteFile(filepath.Join(dir, "h/entries/.add-1"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Entries(t.Context()); err != nil || len(got) != 1 {
		t.Errorf("%d entries, %v", len(got), err)
	}
}

// TestRoc: more noise hides more, and larger steps are found more often, and sooner.
func TestRoc(t *testing.T) {
	roc := func(noise float64) *Curve {
		a := Analyze(noisyRuns(80, noise, func(int) float64 { return 1 }), nil, Options{Line: line(100)})
		c, err := Roc(t.Context(), a, 1)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	quiet, loud := roc(0.005), roc(0.03)
	q, l := quiet.Rows[2], loud.Rows[2]
	if q.Found[2].Share < 0.99 || l.Found[2].Share > 0.5 || q.Found[3].Delay > q.Found[1].Delay+1 ||
		l.Found[3].Share < l.Found[0].Share {
		t.Errorf("steps of 1, 2, 5, 10 %%: with noise of 0.5 %% %+v, of 3 %% %+v", q.Found, l.Found)
	}
	if quiet.Proposed == nil || quiet.Proposed.Least == nil || *quiet.Proposed.Least > 0.05 {
		t.Errorf("proposed: %+v", quiet.Proposed)
	}
	if quiet.CommitsAYear < 360 || quiet.CommitsAYear > 375 { // one a day
		t.Errorf("%v commits a year", quiet.CommitsAYear)
	}
	if _, err := Roc(t.Context(), Analyze(noisyRuns(8, 0.01, func(int) float64 { return 1 }), nil,
		Options{Line: line(9)}), 1); err == nil {
		t.Error("eight values make a curve")
	}
}

// TestPage: every series and every finding is on the page, and nothing on it needs a network or is
// taken for markup.
func TestPage(t *testing.T) {
	entries := noisyRuns(30, 0.01, func(i int) float64 { return 1 + 0.2*float64(i/15) })
	for i := range entries {
		entries[i].Cells = append(entries[i].Cells, simulated(8, float64(i/10)))
		entries[i].Commit.Subject = "<script>alert(1)</script>"
	}
	a := Analyze(entries, []*Blessing{{Commit: hash(10), Reason: "meant & said"}}, Options{Line: line(30)})
	page, err := Page("h", a)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, bad := range []string{"<script>alert", "http://", "https://", "NaN", "%!"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, want := range []string{hash(10)[:12], hash(15)[:12], "blessed: meant &amp; said",
		"&lt;script&gt;"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	drawn := 0
	for _, s := range a.Series {
		if len(s.Points) > 0 && (!s.Exact || slices.ContainsFunc(a.Findings, s.shows)) {
			drawn++
		}
	}
	if n := strings.Count(text, "<svg"); n != drawn || drawn < 2 || drawn == len(a.Series) {
		t.Errorf("%d pictures of %d series, want %d", n, len(a.Series), drawn)
	}
}

// TestPage_Changes: what changed comes first, the newest before the others, with its size beside the step; the line
// holds a value up to the next commit; an axis that does not begin at zero says so; and series that did not
// change are folded into a line that counts them.
func TestPage_Changes(t *testing.T) {
	var entries []*Entry
	for i := range 12 {
		messages, later := 32.0, 20.0
		if i >= 4 {
			messages = 33
		}
		if i >= 8 {
			later = 40
		}
		e := entry(i, simulated(messages))
		c := simulated(later)
		c.Design = append(c.Design, of("nodes", "9")...)
		e.Cells = append(e.Cells, c)
		entries = append(entries, e)
	}
	a := Analyze(entries, nil, Options{Line: line(12)})
	page, err := Page("h", a)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(html.UnescapeString(string(page)), "<main")
	at := -1
	for _, want := range []string{"What changed", "20 → 40", "+100.00%", "32 → 33", "Series that changed", "+100.00%", "</svg>",
		"+3.12%", "the axis does not begin at 0", "</svg>", "2 series did not change"} {
		next := strings.Index(text[at+1:], want)
		if next < 0 {
			t.Fatalf("no %q behind place %d", want, at)
		}
		at += 1 + next
	}
	if n := strings.Count(text, "the axis does not begin at 0"); n != 1 {
		t.Errorf("%d axes do not begin at 0, want that of 32 and 33 alone", n)
	}
	lines := regexp.MustCompile(`class="value" d="([^"]*)"`).FindAllStringSubmatch(text, -1)
	for _, l := range lines {
		if !regexp.MustCompile(`^M[0-9.]+ [0-9.]+H[0-9.]+V[0-9.]+H[0-9.]+$`).MatchString(l[1]) {
			t.Errorf("the line %q has more than a step", l[1])
		}
	}
	if len(lines) != 2 {
		t.Errorf("%d lines, want 2", len(lines))
	}
}

// TestRounds: the values beside an axis are round, and three to six of them.
func TestRounds(t *testing.T) {
	for _, ends := range [][2]float64{{0, 1}, {0, 33}, {31.5, 33.5}, {0, 7e-4}, {-3, 9}, {980, 1404}} {
		all := rounds(ends[0], ends[1])
		if len(all) < 2 || len(all) > 6 {
			t.Errorf("%v: %v", ends, all)
		}
		for _, v := range all {
			if text := console.Number(v); v < ends[0]-1e-9 || v > ends[1]+1e-9 || len(strings.Trim(text, "-0.")) > 3 {
				t.Errorf("%v: %s", ends, text)
			}
		}
	}
}

// BenchmarkAnalyze reads and analyzes 500 stored runs with 20 noisy series.
func BenchmarkAnalyze(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	s, err := Open(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	for i := range 500 {
		e := entry(i, simulated(8, 9))
		for k := range 20 {
			c := measured(50 * (1 + 0.03*r.NormFloat64()))
			c.Design = append(slices.Clone(c.Design), of("nodes", fmt.Sprint(k))...)
			e.Cells = append(e.Cells, c)
		}
		if err := s.Add(b.Context(), e, nil); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		entries, err := s.Entries(b.Context())
		if err != nil || len(entries) != 500 {
			b.Fatal(len(entries), err)
		}
		Analyze(entries, nil, Options{Line: line(500)})
	}
}
