package compare

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func condition(t *testing.T, text string) []Condition {
	t.Helper()
	c, err := ParseCondition(text)
	if err != nil {
		t.Fatal(err)
	}
	return []Condition{c}
}

func TestCondition_Exceeds(t *testing.T) {
	for _, tt := range []struct {
		text             string
		base, difference float64
		want             bool
	}{
		{"m > 10%", 100, 10, false},
		{"m > 10%", 100, 11, true},
		{"m > 10%", 0, 0.1, true}, // from nothing, beyond every percentage
		{"m > 10%", 0, 0, false},
		{"m > 10%", -100, 5, false},
		{"m > 10%", -100, 11, true},
		{"m < -10%", 100, -10, false},
		{"m < -10%", 100, -11, true},
		{"m > 3", 100, 3, false},
		{"m > 3", 100, 4, true},
		{"m < -3", 1, -4, true},
	} {
		c := condition(t, tt.text)[0]
		if got := c.exceeds(tt.base, tt.difference); got != tt.want {
			t.Errorf("%s: from %v by %v: %v", tt.text, tt.base, tt.difference, got)
		}
	}
}

// TestGate_Nothing: what did not change breaks no condition, whatever its limit.
func TestGate_Nothing(t *testing.T) {
	o := Options{Conditions: condition(t, "messages > -5%")}
	for _, transport := range []string{"sim", "nats"} {
		if r := compared(t, run(transport, 10, nil), run(transport, 10, nil), o); len(r.Failures) != 0 {
			t.Errorf("%s: failures %q", transport, r.Failures)
		}
	}
}

// hung times out all but the first trials of the election among 5 by raft.
func hung(but int) func(*results.Trial, int) {
	return func(trial *results.Trial, _ int) {
		setTime(trial, 30+float64(trial.Repetition))
		if is("raft", 5, trial) && trial.Repetition > but {
			trial.Status = trace.TimedOut
			setTime(trial, math.NaN())
		}
	}
}

// TestGate_TimeoutsTheOtherWay: where time-outs leave no median, a condition still has
// a direction.
func TestGate_TimeoutsTheOtherWay(t *testing.T) {
	for text, want := range map[string]int{"election_ms > 10%": 1, "election_ms < -10%": 0} {
		r := compared(t, run("nats", 30, hung(30)), run("nats", 30, hung(6)), Options{Conditions: condition(t, text)})
		if len(r.Failures) != want {
			t.Errorf("%s, when most time out: failures %q", text, r.Failures)
		}
		r = compared(t, run("nats", 30, hung(6)), run("nats", 30, hung(30)), Options{Conditions: condition(t, text)})
		if len(r.Failures) != 1-want {
			t.Errorf("%s, when none does any more: failures %q", text, r.Failures)
		}
	}
}

// TestRow_Timeouts: time-outs alone are a difference, of which nothing but a lower bound
// is known.
func TestRow_Timeouts(t *testing.T) {
	constant := func(change func(*results.Trial, int)) func(*results.Trial, int) {
		return func(trial *results.Trial, nodes int) {
			if change(trial, nodes); trial.Status == trace.OK {
				setTime(trial, 30)
			}
		}
	}
	r := compared(t, run("nats", 30, constant(hung(30))), run("nats", 30, constant(hung(16))), Options{})
	row := r.Rows[3]
	if row.Verdict == Same || row.New.Censored != 14 || row.ChangeLow != 0 || !math.IsNaN(row.ChangeHigh) ||
		!(row.P < 0.001) {
		t.Errorf("row %+v", row)
	}
	// As many of fewer trials are more.
	r = compared(t, run("nats", 30, constant(hung(26))), run("nats", 10, constant(hung(6))), Options{})
	if row := r.Rows[3]; row.Base.Censored != 4 || row.New.Censored != 4 || row.Verdict != Unclear {
		t.Errorf("row %+v", row)
	}
}

// TestGate_Strict: who is strict is told of each status that changed, for the better
// too, and of no kind of message that one run does not list.
func TestGate_Strict(t *testing.T) {
	one := run("sim", 10, func(trial *results.Trial, _ int) {
		if is("bully", 3, trial) && trial.Repetition == 2 {
			trial.Status = trace.Violated
		}
	})
	r := compared(t, one, run("sim", 10, nil), Options{Strict: true})
	want := "bully, nodes=3: statuses changed: ok 9 -> 10, violation 1 -> 0"
	if !slices.Contains(r.Failures, want) {
		t.Errorf("failures %q, want %q", r.Failures, want)
	}
	unlisted := run("sim", 10, func(trial *results.Trial, _ int) { trial.Kinds = nil })
	for _, pair := range [][2]*results.Table{{run("sim", 10, nil), unlisted}, {unlisted, run("sim", 10, nil)}} {
		if r := compared(t, pair[0], pair[1], Options{Strict: true}); len(r.Failures) != 0 {
			t.Errorf("kinds in one run alone: failures %q", r.Failures)
		}
	}
}

// TestGate_LongerRun: a run twice as long that breaks promises as often is no worse.
func TestGate_LongerRun(t *testing.T) {
	often := func(trial *results.Trial, _ int) {
		if is("bully", 3, trial) && trial.Repetition%10 == 1 {
			trial.Status = trace.Violated
		}
	}
	if r := compared(t, run("nats", 10, often), run("nats", 20, often), Options{}); len(r.Failures) != 0 {
		t.Errorf("failures %q", r.Failures)
	}
}

// TestExact_Verdicts: what a changed count means.
func TestExact_Verdicts(t *testing.T) {
	for _, tt := range []struct {
		name, metric string
		base, new    func(*results.Trial)
		want         Verdict // "": there is no row
		differing    int
	}{
		{"more deliveries are neither better nor worse", "delivered", nil,
			func(t *results.Trial) { more(t, metric.Delivered, 1) }, Changed, 1},
		{"what did not change and was not asked for", "delivered", nil, nil, NoVerdict, 0},
		{"more bytes", "bytes", nil, func(t *results.Trial) { more(t, metric.BytesSent, 1) }, Worse, 1},
		{"fewer completed", "completed", nil, func(t *results.Trial) { t.Set(metric.Completed.Of(0)) }, Worse, 1},
		{"zero, and nothing at all", "messages", func(t *results.Trial) { t.Set(metric.Messages.Of(0)) },
			func(t *results.Trial) { t.Set(metric.Messages.Of(0)); t.Status = trace.Violated }, Changed, 1},
	} {
		change := func(one func(*results.Trial)) func(*results.Trial, int) {
			return func(trial *results.Trial, _ int) {
				if one != nil && is("raft", 5, trial) && trial.Repetition == 2 {
					one(trial)
				}
			}
		}
		r := compared(t, run("sim", 6, change(tt.base)), run("sim", 6, change(tt.new)), Options{})
		i := slices.IndexFunc(r.Rows, func(row Row) bool {
			return row.Metric == tt.metric && row.Design[4].Value == "5" &&
				row.Design[2].Value == "raft"
		})
		if (i >= 0) != (tt.want != NoVerdict) {
			t.Errorf("%s: row %d", tt.name, i)
		} else if i >= 0 && (r.Rows[i].Verdict != tt.want || r.Rows[i].Differing != tt.differing) {
			t.Errorf("%s: %+v, want %s", tt.name, r.Rows[i], tt.want)
		}
	}
	// A cell without any value has changed, for better or worse.
	gone := func(trial *results.Trial, _ int) { trial.Status = trace.Violated }
	r := compared(t, run("sim", 6, nil), run("sim", 6, gone), Options{})
	if got := verdicts(r, "messages"); !reflect.DeepEqual(got, []Verdict{Changed, Changed, Changed, Changed}) {
		t.Errorf("nothing left: %v", got)
	}
}

// TestRows_Zero: what is zero in every trial of both runs is not shown, unless asked for.
func TestRows_Zero(t *testing.T) {
	zero := func(trial *results.Trial, _ int) {
		trial.Set(metric.SplitBrain.Of(0))
	}
	for _, o := range []Options{{}, {Metrics: []string{"split_brain_ms"}}} {
		base, new := run("nats", 6, zero), run("nats", 6, zero)
		base.Metrics = append(base.Metrics, "split_brain_ms")
		if got := len(verdicts(compared(t, base, new, o), "split_brain_ms")); got != 4*len(o.Metrics) {
			t.Errorf("asked for %v: %d rows", o.Metrics, got)
		}
	}
}

// TestGeomean: a ratio of 0 has no logarithm, and is not in the mean.
func TestGeomean(t *testing.T) {
	doubled := func(trial *results.Trial, nodes int) {
		switch {
		case is("raft", 5, trial):
			trial.Set(metric.Messages.Of(0))
		case nodes == 5:
			more(trial, metric.Messages, 3*trial.Value(metric.Messages))
		}
	}
	for _, g := range compared(t, run("sim", 6, nil), run("sim", 6, doubled), Options{}).Geomeans {
		if g.Metric == "messages" && (g.Cells != 3 || math.Abs(g.Change-(math.Cbrt(4)-1)) > 1e-9) {
			t.Errorf("%+v, want the third root of 4 over 3 cells", g)
		}
	}
}

// TestDrift_Small: a drift beyond doubt that is small is not worth a note.
func TestDrift_Small(t *testing.T) {
	for slope, want := range map[float64]int{4e-5: 0, 3e-4: 1} {
		steady, order := noisy(3, func(int, string) float64 { return 30 }), 0
		table := run("nats", 100, func(trial *results.Trial, nodes int) {
			steady(trial, nodes)
			order++
			trial.RunOrder = 4*trial.Repetition + trial.Cell
			setTime(trial, trial.Value(metric.Election)*(1+slope*float64(trial.RunOrder)))
		})
		if got := Drifts(table); len(got) != want {
			t.Errorf("slope %v: %q, want %d notes", slope, got, want)
		}
		all := slices.SortedFunc(slices.Values(table.Trials), func(a, b results.Trial) int { return a.RunOrder - b.RunOrder })
		times := make([]float64, len(all))
		for i, trial := range all {
			times[i] = trial.Value(metric.Election)
		}
		if rho, p := stats.Drift(times); !(p <= driftAlpha) {
			t.Errorf("slope %v: rho %v, p %v: nothing that could be told", slope, rho, p)
		}
	}
}

// TestDocument: each figure stands under its own key.
func TestDocument(t *testing.T) {
	level := func(int, string) float64 { return 30 }
	slower := func(nodes int, _ string) float64 { return 30 + 10*float64(nodes/5) }
	r := compared(t, run("nats", 12, noisy(1, level)), run("nats", 12, noisy(2, slower)), Options{Threshold: 0.1})
	d := rendered(t, r.Document())
	failed := 0
	var rows []*Row
	r.each(func(row *Row) { rows = append(rows, row) })
	for i, row := range rows {
		if row.Why != "" || row.Metric != "election_ms" {
			continue
		}
		got := d.Table("rows")[i]
		figures := func(f Figure) any {
			if row.Stat == Typical {
				return nil
			}
			return map[string]any{"n": float64(f.N), "censored": 0., "value": f.Center, "low": f.Low, "high": f.High}
		}
		for name, want := range map[string]any{"statistic": string(row.Stat), "base": figures(row.Base), "new": figures(row.New), "change": row.Change,
			"change_low": row.ChangeLow, "change_high": row.ChangeHigh, "cliffs_delta": row.Delta, "p": row.P,
			"p_adjusted": row.Adjusted, "verdict": string(row.Verdict), "failed": row.Verdict == Worse} {
			if !reflect.DeepEqual(got[name], want) {
				t.Errorf("%s: %v, want %v", name, got[name], want)
			}
		}
		if row.Verdict == Worse && row.Stat == Typical {
			failed++
		}
	}
	if failed != 2 || len(d.Notes) < 2 || d.Notes[1].Kind != "fails" || d.Facts["passed"] != false || d.Exit != answer.Missed {
		t.Errorf("%d rows failed; notes %v, facts %v", failed, d.Notes, d.Facts)
	}
	// What is empty is a list all the same, and what does not exist is null.
	text := written(t, compared(t, run("sim", 3, nil), run("sim", 3, nil), Options{}).Document(), "json")
	for _, want := range []string{`"missing": []`, `"extra": []`, `"notes": []`, `"passed": true`, `"p": null`, `"low": null`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %.300s", want, text)
		}
	}
}
