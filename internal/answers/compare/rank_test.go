package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// downtimes is a table of bully and raft with 5 processes whose downtimes are those.
func downtimes(n int, of func(label string, repetition int) float64) *results.Table {
	return view.Filter(run("sim", n, func(t *results.Trial, _ int) {
		t.Set(metric.Downtime.Of(of(t.Design[2].Value, t.Repetition)))
	}), []metric.Field{{Name: "nodes", Value: "5"}})
}

// luck is what the network does to the trials of a repetition.
func luck(r int) float64 { return 100 + float64(r*r*7%50) }

// TestRank: the sentences say by how much, how sure that is, of how many trials, and whether
// they met the same luck; where no difference is shown they say that.
func TestRank(t *testing.T) {
	of := func(raft func(bully float64, r int) float64) func(string, int) float64 {
		return func(label string, r int) float64 {
			if label == "raft" {
				return raft(luck(r), r)
			}
			return luck(r)
		}
	}
	for name, test := range map[string]struct {
		table *results.Table
		want  string
	}{
		"slower": {downtimes(30, of(func(ms float64, r int) float64 { return ms * (1.2 + 0.02*float64(r%11)) })),
			"raft takes 1.30x [1.27, 1.32] as long as bully; 30 seed-matched pairs"},
		"exactly": {downtimes(8, of(func(ms float64, _ int) float64 { return ms * 1.25 })),
			"raft takes exactly 1.25x as long as bully; 8 seed-matched pairs"},
		"by one amount": {downtimes(8, of(func(ms float64, _ int) float64 { return ms - 2 })),
			"bully takes exactly 2 ms longer than raft; 8 seed-matched pairs"},
		"by little": {downtimes(30, of(func(ms float64, r int) float64 { return ms * (1 + 0.0001*float64(5+r%11)) })),
			"raft takes 1.001x [1.001, 1.001] as long as bully; 30 seed-matched pairs"},
		"alike": {downtimes(30, of(func(ms float64, r int) float64 { return ms * (0.9 + 0.02*float64(r%11)) })),
			"no difference was found between bully and raft (ratio 1.00 [0.98, 1.03]); 30 seed-matched pairs"},
		"equal": {downtimes(8, of(func(ms float64, _ int) float64 { return ms })),
			"no difference between bully and raft in any of 8 seed-matched pairs"},
		"too few": {downtimes(5, of(func(ms float64, _ int) float64 { return 2 * ms })),
			"no verdict on bully and raft: 5 seed-matched pairs; an interval takes 6"},
		"with zeros": {downtimes(12, of(func(ms float64, r int) float64 { return ms * float64(r%2) * 3 })),
			"no difference was found between raft and bully (difference "},
	} {
		r := Rank(test.table)
		if r == nil || len(r.Standings) != 1 || !strings.HasPrefix(r.Standings[0].Duels[0].String(), test.want) {
			t.Errorf("%s: %v, want %s", name, r.Standings[0].Duels[0], test.want)
		}
	}
}

// TestRank_Incomplete: trials that timed out count as longer, those without a value are
// named, and who broke a promise is ahead of nothing.
func TestRank_Incomplete(t *testing.T) {
	with := func(change func(t *results.Trial)) *results.Table {
		return view.Filter(run("sim", 10, func(trial *results.Trial, _ int) {
			trial.Set(metric.Downtime.Of(luck(trial.Repetition)))
			if trial.Design[2].Value == "raft" {
				trial.Set(metric.Downtime.Of(trial.Value(metric.Downtime) * (2 + 0.01*float64(trial.Repetition))))
				change(trial)
			}
		}), []metric.Field{{Name: "nodes", Value: "5"}})
	}
	cut := func(trial *results.Trial) {
		if trial.Repetition > 7 {
			trial.Status = trace.TimedOut
			trial.Set(metric.Downtime.Of(math.NaN()))
		}
	}
	lacking := func(trial *results.Trial) {
		if trial.Repetition > 7 {
			trial.Set(metric.Downtime.Of(math.NaN()))
		}
	}
	broken := func(trial *results.Trial) {
		if trial.Repetition == 1 {
			trial.Status = trace.Violated
		}
	}
	strangers := func(trial *results.Trial) { trial.Seed += 100 }
	for name, test := range map[string]struct {
		change func(*results.Trial)
		want   string
	}{
		"cut off": {cut, "raft takes at least 2.02x as long as bully; 10 seed-matched pairs (raft never recovered in 3 of 10 [7 %, 65 %]; " +
			"where both did, raft takes 2.04x [2.02, 2.06] as long as bully)"},
		"lacking":   {lacking, "raft takes 2.04x [2.02, 2.06] as long as bully; 7 seed-matched pairs (3 more cannot be paired)"},
		"broken":    {broken, "raft is not ranked: 1 of 10 trials broke a promise"},
		"strangers": {strangers, "raft takes 2.06x [1.70, 2.44] as long as bully; n = 10 each"},
	} {
		r := Rank(with(test.change))
		sentences := r.Notes
		for _, s := range r.Standings {
			sentences = append(sentences, s.Duels[0].String())
		}
		if len(sentences) != 1 || !strings.HasPrefix(sentences[0], test.want) {
			t.Errorf("%s: %q, want %s", name, sentences, test.want)
		}
		if name == "strangers" && strings.Contains(sentences[0], "pairs") {
			t.Errorf("trials of other seeds are matched: %s", sentences[0])
		}
	}
}

// TestRank_Never: one that never recovers takes longer than one that always takes as long, though nobody knows by
// how much.
func TestRank_Never(t *testing.T) {
	table := view.Filter(run("sim", 10, func(trial *results.Trial, _ int) {
		trial.Set(metric.Downtime.Of(88))
		if trial.Design[2].Value == "raft" {
			trial.Status = trace.TimedOut
			trial.Set(metric.Downtime.Of(math.NaN()))
		}
	}), []metric.Field{{Name: "nodes", Value: "5"}})
	r := Rank(table)
	want := "raft takes longer than bully, by an unknown amount: it exceeds the limit; 10 seed-matched pairs " +
		"(raft never recovered in 10 of 10)"
	if d := r.Standings[0].Duels[0]; d.String() != want || !d.Shown() || d.Times() != "> limit" {
		t.Errorf("%s, shown %t, %s", d, d.Shown(), d.Times())
	}
	if got := r.Standings[0].String(); got != "bully < raft" {
		t.Error(got)
	}
}

// several is a run of algorithms a0, a1, ... with so many repetitions.
func several(labels, n int, of func(i, repetition int) float64) *results.Table {
	all := downtimes(n, func(string, int) float64 { return 0 })
	var out []results.Trial
	for i := range labels {
		for _, trial := range all.Trials[:n] {
			trial.Design = slices.Clone(trial.Design)
			trial.Design[2].Value = fmt.Sprint("a", i)
			out = append(out, trial.With(metric.Downtime.Of(of(i, trial.Repetition))))
		}
	}
	all.Trials = out
	return all
}

// TestRank_Many: all comparisons of a run are one family, in which what is far apart stands out however
// many they are. What so few trials cannot show is not called equal.
func TestRank_Many(t *testing.T) {
	draw := rand.New(rand.NewPCG(31, 1))
	apart := func(i, r int) float64 { return luck(r) * math.Pow(1.5, float64(i)) * math.Exp(0.05*draw.NormFloat64()) }
	r := Rank(several(12, 8, apart))
	if got := r.Standings[0].String(); r.Tests != 66 || got != "a0 < a1 < a2 < a3 < a4 < a5 < a6 < a7 < a8 < a9 < a10 < a11" {
		t.Errorf("%d tests: %s", r.Tests, got)
	}
	if lines, more := r.Lines(9); len(lines) != 3 || more != 0 || !strings.Contains(lines[2], "8 repetitions show a difference between two "+
		"algorithms of 2 standard deviations") {
		t.Errorf("%d more than %q", more, lines)
	}
	few := Rank(several(3, 5, apart))
	if lines, _ := few.Lines(9); !strings.Contains(strings.Join(lines, "\n"), "5 repetitions cannot show any difference between two algorithms: it takes 6") {
		t.Errorf("%q", lines)
	}
	// Two that differ in each pair, among many that make as much noise.
	noise := func(i, r int) float64 { return luck(r) * math.Exp(0.3*draw.NormFloat64()) }
	two := Rank(several(9, 6, func(i, r int) float64 {
		if i == 8 {
			return noise(0, r) * 2
		}
		return noise(i, r)
	}))
	says := 0
	for _, d := range two.Standings[0].Duels {
		if strings.Contains(d.String(), "all 6 pairs agree that a8 takes ") &&
			strings.Contains(d.String(), "; too few for a verdict: adjusted p ") {
			says++
		}
	}
	if says == 0 {
		t.Errorf("%v", two.Standings[0].Duels)
	}
	if r := Rank(several(1, 9, apart)); r != nil {
		t.Errorf("one algorithm: %v", r.Standings)
	}
	if r := Rank(several(70, 1, apart)); len(r.Standings) > 0 || len(r.Notes) != 1 {
		t.Errorf("too many: %d standings, notes %q", len(r.Standings), r.Notes)
	}
}

// TestRank_Alarms: among twelve equal algorithms no order is found oftener than the level allows.
func TestRank_Alarms(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(31, 2))
	runs, alarms := slowtest.Times(20, 200), 0
	for range runs {
		r := Rank(several(12, 8, func(_, r int) float64 { return luck(r) * math.Exp(0.3*draw.NormFloat64()) }))
		if slices.ContainsFunc(r.Standings[0].Duels, (*Duel).Shown) {
			alarms++
		}
	}
	t.Logf("%d alarms in %d runs", alarms, runs)
	if float64(alarms) > math.Max(3, 0.08*float64(runs)) {
		t.Errorf("%d alarms in %d runs", alarms, runs)
	}
}

// TestStanding: the order in words, with the ranks that are possible where it is no order of groups.
func TestStanding(t *testing.T) {
	ahead := func(fast, slow string) *Duel {
		return &Duel{Fast: fast, Slow: slow, Low: 1.1, High: 2, Adjusted: 0.01}
	}
	alike := func(a, b string) *Duel { return &Duel{Fast: a, Slow: b, Low: 0.9, High: 2, Adjusted: 0.01} }
	for want, duels := range map[string][]*Duel{
		"a < b < c":             {ahead("a", "b"), ahead("a", "c"), ahead("b", "c")},
		"a < {b, c}":            {ahead("a", "b"), ahead("a", "c"), alike("b", "c")},
		"{a, b} < c":            {alike("a", "b"), ahead("a", "c"), ahead("b", "c")},
		"{a 1-2, b 1-3, c 2-3}": {alike("a", "b"), ahead("a", "c"), alike("b", "c")},
		"{a, b, c}":             {alike("a", "b"), alike("a", "c"), alike("b", "c")},
	} {
		if got := (&Standing{Labels: []string{"a", "b", "c"}, Duels: duels}).String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestRank_Sweep: over all places a repetition counts with all of them, and an algorithm that is not ranked
// in one place is not ranked over all.
func TestRank_Sweep(t *testing.T) {
	draw := rand.New(rand.NewPCG(31, 3))
	table := run("sim", 12, func(t *results.Trial, nodes int) {
		v := luck(t.Repetition) * float64(nodes) * math.Exp(0.1*draw.NormFloat64())
		if t.Design[2].Value == "raft" {
			v *= 1.08
		}
		t.Set(metric.Downtime.Of(v))
	})
	r := Rank(table)
	if len(r.Standings) != 3 || r.Standings[0].Over != 2 || r.Standings[0].Duels[0].N != 12 || r.Tests != 3 ||
		!strings.HasPrefix(r.Standings[0].String(), "over the 2 points of the sweep: ") ||
		!strings.HasPrefix(r.Standings[1].String(), "nodes=3: ") {
		t.Errorf("%v", r.Standings)
	}
	if got := strings.Join(r.Answer(), "\n"); !strings.HasPrefix(got, "over the 2 points of the sweep: ") ||
		!strings.HasSuffix(got, ": {raft, bully}") && !strings.HasSuffix(got, ": {bully, raft}") {
		t.Errorf("%s", got)
	}
	lost := *table
	lost.Trials = slices.DeleteFunc(slices.Clone(table.Trials), func(trial results.Trial) bool {
		return is("raft", 5, &trial) && trial.Repetition == 7
	})
	if n := Rank(&lost).Standings[0].Duels[0].N; n != 11 {
		t.Errorf("%d repetitions have all places, want 11", n)
	}
	for i := range table.Trials {
		if trial := &table.Trials[i]; trial.Design[2].Value == "raft" && is("raft", 5, trial) && trial.Repetition < 4 {
			trial.Status = trace.Unknown
		}
	}
	r = Rank(table)
	if len(r.Standings) != 1 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0],
		"nodes=5: raft is not ranked: 3 of 12 trials have no verdict") {
		t.Errorf("%v, notes %q", r.Standings, r.Notes)
	}
}

// TestRankIn: a page for people has words for the columns that say where, and for metrics.
func TestRankIn(t *testing.T) {
	table := downtimes(8, func(label string, r int) float64 { return luck(r) * float64(len(label)) })
	for _, trial := range slices.Clone(table.Trials) {
		trial.Design, trial.Cell = slices.Clone(trial.Design), trial.Cell+2
		for i := range trial.Design {
			if trial.Design[i].Name == "nodes" {
				trial.Design[i].Value = "9"
			}
		}
		table.Trials = append(table.Trials, trial)
	}
	words := RankIn(table, func(column string) string { return "<" + column + "> " })
	named := Rank(table)
	for i, want := range []string{"<nodes> 5: bully", "<nodes> 9: bully"} {
		if got := words.Standings[i+1].Duels[0].String(); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
		want = strings.NewReplacer("<", "", "> ", "=").Replace(want)
		if got := named.Standings[i+1].Duels[0].String(); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	head := words.HeadIn((*metric.Metric).InWords)
	if named.Head() != "by downtime_ms"+strings.TrimPrefix(head, "by downtime") || head == named.Head() {
		t.Errorf("%s; %s", head, named.Head())
	}
}

// TestReplacedOf: the bounds are the medians that the cell would have, had the trials that
// were invalid at first been like its smallest or its largest.
func TestReplacedOf(t *testing.T) {
	cell := func(change func(*results.Trial)) *results.Cell {
		table := run("nats", 10, func(trial *results.Trial, _ int) {
			trial.Set(metric.Downtime.Of(float64(10 * trial.Repetition)))
			change(trial)
		})
		return table.Cells()[0]
	}
	nan := math.NaN()
	for name, test := range map[string]struct {
		change func(*results.Trial)
		want   Replacement
	}{
		"none": {func(*results.Trial) {}, Replacement{10, 0, 55, 55, 55, 0}},
		// Left are 10, 20, 30, 60, ..., 100, and two that are 10, or 100.
		"two again": {func(trial *results.Trial) {
			if trial.Repetition == 4 || trial.Repetition == 5 {
				trial.Attempts = 2
			}
		}, Replacement{10, 2, 55, 45, 75, 0}},
		"one for ever": {func(trial *results.Trial) {
			if trial.Repetition == 10 {
				trial.Status, trial.Attempts = trace.Invalid, 3
			}
		}, Replacement{10, 1, 50, 45, 55, 0}},
		"with time-outs": {func(trial *results.Trial) {
			if trial.Repetition > 7 {
				trial.Status = trace.TimedOut
				trial.Set(metric.Downtime.Of(nan))
			} else if trial.Repetition > 4 {
				trial.Attempts = 2
			}
		}, Replacement{10, 3, 55, 25, nan, 0}},
		"all": {func(trial *results.Trial) { trial.Attempts = 2 }, Replacement{10, 10, 55, 10, 100, 0}},
	} {
		got := ReplacedOf(cell(test.change), metric.Downtime)
		if fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// TestReplacedNotes: the worst cell is named if its share is not small.
func TestReplacedNotes(t *testing.T) {
	table := func(n int) *results.Table {
		return run("nats", 40, func(trial *results.Trial, nodes int) {
			trial.Set(metric.Downtime.Of(float64(trial.Repetition)))
			if is("raft", 5, trial) && trial.Repetition <= n || is("bully", 3, trial) && trial.Repetition <= n-1 {
				trial.Attempts = 2
			}
		})
	}
	if notes := ReplacedNotes(table(2)); len(notes) > 0 {
		t.Errorf("5 %% are not worth a note: %q", notes)
	}
	notes := ReplacedNotes(table(4))
	want := "raft, nodes=5: 4 of 40 trials were invalid and rerun (1 more cell like it)"
	if len(notes) != 1 || !strings.HasPrefix(notes[0], want) ||
		!strings.Contains(notes[0], "the median of downtime_ms is 20.5 to 24.5 (reported: 20.5)") {
		t.Errorf("%q, want %s", notes, want)
	}
}

// TestRankBy: algorithms are ranked by another metric in sentences of its own, in its unit; by none of which
// less is not better, or of which single trials have no figure. Nothing has a geometric mean over the sweep
// that is 0 somewhere.
func TestRankBy(t *testing.T) {
	of := func(bully, raft func(trial *results.Trial) float64) *results.Table {
		return run("sim", 10, func(trial *results.Trial, _ int) {
			v := bully(trial)
			if trial.Design[2].Value == "raft" {
				v = raft(trial)
			}
			trial.Set(metric.MessagesPerElection.Of(v))
		})
	}
	some := func(trial *results.Trial) float64 { return float64(20 + trial.Repetition) }
	twice := func(trial *results.Trial) float64 { return 2*some(trial) + 0.1*float64(trial.Repetition%3) }
	more := func(trial *results.Trial) float64 { return some(trial) + 3 }
	none := func(*results.Trial) float64 { return 0 }
	for name, test := range map[string]struct {
		table *results.Table
		over  bool
		want  string
	}{
		"times":   {of(some, twice), true, "raft has 2.00x [2.00, 2.01] the messages per election of bully; 10 seed-matched pairs"},
		"shifted": {of(some, more), true, "raft has exactly 3 more messages per election than bully; 10 seed-matched pairs"},
		"nothing": {of(none, some), false, "raft has 25.5 [23, 28] more messages per election than bully"},
	} {
		r := RankBy(test.table, metric.MessagesPerElection)
		if r == nil || r.Metric != metric.MessagesPerElection {
			t.Fatalf("%s: %+v", name, r)
		}
		if over := r.Standings[0].Over > 0; over != test.over {
			t.Errorf("%s: ranked over the sweep: %v", name, over)
		}
		last := r.Standings[len(r.Standings)-1]
		if got := strings.TrimPrefix(last.Duels[0].String(), "nodes=5: "); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		if last.String() != "nodes=5: bully < raft" || !strings.Contains(r.Legend(), "lower value") {
			t.Errorf("%s: %s; %s", name, last, r.Legend())
		}
	}
	for _, m := range []*metric.Metric{metric.Availability, metric.SplitBrain, metric.Throughput, metric.Waiting} {
		if r := RankBy(of(some, twice), m); r != nil {
			t.Errorf("ranked by %s: %v", m.Name, r.Standings[0])
		}
	}
}
