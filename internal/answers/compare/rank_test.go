package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/view"
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
			"raft recovers 1.3 [1.27, 1.32] times slower than bully, n = 30 each, same luck"},
		"exactly": {downtimes(8, of(func(ms float64, _ int) float64 { return ms * 1.25 })),
			"raft recovers exactly 1.25 times slower than bully, n = 8 each, same luck"},
		"by one amount": {downtimes(8, of(func(ms float64, _ int) float64 { return ms - 2 })),
			"bully recovers exactly 2 ms slower than raft, n = 8 each, same luck"},
		"by little": {downtimes(30, of(func(ms float64, r int) float64 { return ms * (1 + 0.0001*float64(5+r%11)) })),
			"raft recovers 1.001 [1.001, 1.001] times slower than bully, n = 30 each, same luck"},
		"alike": {downtimes(30, of(func(ms float64, r int) float64 { return ms * (0.9 + 0.02*float64(r%11)) })),
			"no difference shown between bully and raft (ratio 1 [0.98, 1.03]), n = 30 each, same luck"},
		"equal": {downtimes(8, of(func(ms float64, _ int) float64 { return ms })),
			"no difference between bully and raft in any of 8 trials, same luck"},
		"too few": {downtimes(5, of(func(ms float64, _ int) float64 { return 2 * ms })),
			"no verdict on bully and raft: n = 5 each, and an interval takes 6"},
		"with zeros": {downtimes(12, of(func(ms float64, r int) float64 { return ms * float64(r%2) * 3 })),
			"no difference shown between raft and bully (apart"},
	} {
		r := Rank(test.table)
		if r == nil || len(r.Duels) != 1 || !strings.HasPrefix(r.Duels[0].String(), test.want) {
			t.Errorf("%s: %v, want %s", name, r.Duels, test.want)
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
		"cut off":   {cut, "raft recovers at least 2.02 times slower than bully, n = 10 each (raft never recovered in 3 of 10), same luck"},
		"lacking":   {lacking, "raft recovers 2.04 [2.02, 2.06] times slower than bully, n = 7 each (3 more cannot be paired), same luck"},
		"broken":    {broken, "raft is not ranked: it broke a promise (trials: 1)"},
		"strangers": {strangers, "raft recovers 2.06 [1.79, 2.4] times slower than bully, n = 10 each"},
	} {
		sentences, _ := Rank(with(test.change)).Sentences(9)
		if len(sentences) != 1 || !strings.HasPrefix(sentences[0], test.want) {
			t.Errorf("%s: %q, want %s", name, sentences, test.want)
		}
		if name == "strangers" && strings.Contains(sentences[0], "luck") {
			t.Errorf("other seeds are other luck: %s", sentences[0])
		}
	}
}

// TestRank_Many: Holm's correction is for all pairs of the run. Where it takes a difference
// away that an interval would show, the sentence says so, and how many trials would do.
func TestRank_Many(t *testing.T) {
	table := func(labels, n int) *results.Table {
		all := downtimes(n, func(string, int) float64 { return 0 })
		var out []results.Trial
		for i := range labels {
			for _, trial := range all.Trials[:n] {
				trial.Design = slices.Clone(trial.Design)
				trial.Design[2].Value = fmt.Sprint("a", i)
				trial = trial.With(metric.Downtime.Of(luck(trial.Repetition) * (1 + 0.1*float64(i))))
				out = append(out, trial)
			}
		}
		all.Trials = out
		return all
	}
	r := Rank(table(5, 7))
	if want := "no difference shown between a1 and a0 (ratio 1.1 [1.1, 1.1]), n = 7 each, same luck; the interval " +
		"alone would show one, but p is 0.156 after correction for 10 comparisons, of which 9 trials could show one"; r.Tests != 10 || r.Duels[0].String() != want {
		t.Errorf("%d tests: %s, want %s", r.Tests, r.Duels[0], want)
	}
	if first := Rank(table(5, 9)).Duels[0]; !first.Shown() {
		t.Errorf("nine trials: %s", first)
	}
	sentences, more := r.Sentences(6)
	if more != 4 || !strings.Contains(sentences[3], "a4 and a0") || !strings.Contains(sentences[4], "a2 and a1") {
		t.Errorf("%d more than %q", more, sentences)
	}
	if r := Rank(table(1, 9)); r != nil {
		t.Errorf("one algorithm: %v", r.Duels)
	}
	if r := Rank(table(70, 1)); len(r.Duels) > 0 || len(r.Notes) != 1 {
		t.Errorf("too many: %d duels, notes %q", len(r.Duels), r.Notes)
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
		if got := words.Duels[i].String(); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
		want = strings.NewReplacer("<", "", "> ", "=").Replace(want)
		if got := named.Duels[i].String(); !strings.HasPrefix(got, want) {
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
	want := "raft, nodes=5: 4 of 40 trials were invalid at first, and repeated (cells like it: 1 more)"
	if len(notes) != 1 || !strings.HasPrefix(notes[0], want) ||
		!strings.Contains(notes[0], "the median of downtime_ms would be between 20.5 and 24.5, not 20.5") {
		t.Errorf("%q, want %s", notes, want)
	}
}
