package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// run makes a table: for each algorithm and size a cell of n trials, each of
// which change may change.
func run(transport string, n int, change func(t *results.Trial, nodes int)) *results.Table {
	t := &results.Table{
		Path: "run", Name: "test", Design: append(results.DesignColumns(), "params_x"),
		Metrics: []string{"election_ms", "downtime_ms", "messages_per_election", "availability"},
	}
	for cell, design := range [][2]string{{"bully", "3"}, {"bully", "5"}, {"raft", "3"}, {"raft", "5"}} {
		for r := 1; r <= n; r++ {
			nodes := int(design[1][0] - '0')
			trial := results.Trial{
				Trial: cell*n + r, Cell: cell + 1, Repetition: r, RunOrder: len(t.Trials) + 1, Seed: uint64(r),
				Status: trace.OK, Attempts: 1, InModel: true,
				Kinds: []trace.MessageCount{{Name: "ELECTION", Sent: 15}, {Name: "COORDINATOR", Sent: 5}},
			}.With(metric.Operations.Of(1), metric.Completed.Of(1), metric.Messages.Of(20),
				metric.Election.Of(30), metric.MessagesPerElection.Of(20))
			values := []string{"election", "election/" + design[0], design[0], transport, design[1], "complete",
				"leader-crash", "constant", "2", "0", "0", "0", "7"}
			for i, name := range t.Design {
				trial.Design = append(trial.Design, metric.Field{Name: name, Value: values[i]})
			}
			if change != nil {
				change(&trial, nodes)
			}
			t.Trials = append(t.Trials, trial)
		}
	}
	return t
}

func compared(t testing.TB, base, new *results.Table, o Options) *Report {
	t.Helper()
	r, err := Compare(base, new, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// verdicts are those of a metric, in order of the cells.
func verdicts(r *Report, metric string) []Verdict {
	var out []Verdict
	for _, row := range r.Rows {
		if row.Metric == metric {
			out = append(out, row.Verdict)
		}
	}
	return out
}

func is(algorithm string, nodes int, t *results.Trial) bool {
	return t.Design[2].Value == algorithm && t.Design[4].Value == fmt.Sprint(nodes)
}

// setTime gives the trial an election of ms milliseconds.
func setTime(t *results.Trial, ms float64) { t.Set(metric.Election.Of(ms)) }

// more adds to a figure.
func more(t *results.Trial, m *metric.Metric, by float64) { t.Set(m.Of(t.Value(m) + by)) }

func addMessage(t *results.Trial) {
	more(t, metric.Messages, 1)
	more(t, metric.MessagesPerElection, 1)
	t.Kinds = []trace.MessageCount{{Name: "ELECTION", Sent: 16}, {Name: "COORDINATOR", Sent: 5}}
}

// TestCompare_TheSame: nothing differs, and nothing fails.
func TestCompare_TheSame(t *testing.T) {
	for _, transport := range []string{"sim", "nats", "bubble"} {
		r := compared(t, run(transport, 10, nil), run(transport, 10, nil), Options{Strict: true, Threshold: 0.05})
		if len(r.Rows) != 12 || len(r.Failures) != 0 || r.Tests != 0 {
			t.Fatalf("%s: %d rows, %d tests, failures %q", transport, len(r.Rows), r.Tests, r.Failures)
		}
		for _, row := range r.Rows {
			if row.Verdict != Same || row.Exact != (transport == "sim" && row.Metric != "election_ms") {
				t.Errorf("%s: %+v", transport, row)
			}
		}
		if want := []string{"label", "nodes"}; !reflect.DeepEqual(r.Columns, want) {
			t.Errorf("columns %v, want %v", r.Columns, want)
		}
	}
}

// TestCompare_OneMessage: one message more in one trial of one cell fails, and the
// cell and the kind are named.
func TestCompare_OneMessage(t *testing.T) {
	busier := func(trial *results.Trial, nodes int) {
		if is("raft", 5, trial) && trial.Repetition == 7 {
			addMessage(trial)
		}
	}
	plain, changed := run("sim", 10, nil), run("sim", 10, busier)
	r := compared(t, plain, changed, Options{})
	if got := verdicts(r, "messages"); !reflect.DeepEqual(got, []Verdict{Same, Same, Same, Worse}) {
		t.Errorf("verdicts %v", got)
	}
	want := "raft, nodes=5: messages: 20 -> 20.1 in the mean (+0.50%), in 1 of 10 trials: ELECTION +1"
	if !slices.Contains(r.Failures, want) || len(r.Failures) != 2 { // the other is messages_per_election
		t.Errorf("failures %q, want among them %q", r.Failures, want)
	}
	// For the better it is told, and fails only what is strict.
	r = compared(t, changed, plain, Options{})
	if got := verdicts(r, "messages"); got[3] != Better || len(r.Failures) != 0 {
		t.Errorf("verdicts %v, failures %q", got, r.Failures)
	}
	if r = compared(t, changed, plain, Options{Strict: true}); len(r.Failures) == 0 {
		t.Error("strict lets a changed count pass")
	}
}

// TestCompare_SameSums: messages that move from one trial to another, or from one
// kind to another, are changes though no sum is.
func TestCompare_SameSums(t *testing.T) {
	moved := run("sim", 10, func(trial *results.Trial, nodes int) {
		switch {
		case is("raft", 5, trial) && trial.Repetition == 1:
			more(trial, metric.Messages, 1)
		case is("raft", 5, trial) && trial.Repetition == 2:
			more(trial, metric.Messages, -1)
		case is("bully", 3, trial) && trial.Repetition == 3:
			trial.Kinds = []trace.MessageCount{{Name: "ELECTION", Sent: 14}, {Name: "COORDINATOR", Sent: 6}}
		}
	})
	r := compared(t, run("sim", 10, nil), moved, Options{Strict: true})
	if got := verdicts(r, "messages"); got[3] != Changed {
		t.Errorf("verdicts %v", got)
	}
	text := strings.Join(r.Failures, "\n")
	for _, want := range []string{"raft, nodes=5: messages: 20 -> 20", "in 2 of 10 trials",
		"bully, nodes=3: messages by kind: ELECTION -1, COORDINATOR +1"} {
		if !strings.Contains(text, want) {
			t.Errorf("failures lack %q:\n%s", want, text)
		}
	}
}

// TestCompare_OtherLuck: other seeds or another network make counts a sample.
func TestCompare_OtherLuck(t *testing.T) {
	other := run("sim", 10, func(trial *results.Trial, _ int) { trial.Seed += 100 })
	for _, row := range compared(t, run("sim", 10, nil), other, Options{}).Rows {
		if row.Exact {
			t.Errorf("exact with other seeds: %+v", row)
		}
	}
	other = run("sim", 10, func(trial *results.Trial, _ int) { trial.Design[8].Value = "3" })
	for _, row := range compared(t, run("sim", 10, nil), other, Options{Ignore: []string{"latency_ms"}}).Rows {
		if row.Exact {
			t.Errorf("exact with another latency: %+v", row)
		}
	}
}

// noisy makes times around ms of some percent of noise.
func noisy(seed uint64, ms func(nodes int, label string) float64) func(*results.Trial, int) {
	draw := rand.New(rand.NewPCG(seed, 1))
	return func(t *results.Trial, nodes int) {
		setTime(t, ms(nodes, t.Design[2].Value)*math.Exp(0.02*draw.NormFloat64()))
	}
}

// TestCompare_Times: a change counts if it is beyond chance and beyond the
// threshold.
func TestCompare_Times(t *testing.T) {
	level := func(int, string) float64 { return 30 }
	shifted := func(nodes int, label string) float64 {
		switch label + fmt.Sprint(nodes) {
		case "bully5":
			return 36 // 20 % slower
		case "raft3":
			return 30.9 // 3 %: beyond chance with so little noise
		case "raft5":
			return 24
		}
		return 30
	}
	base, new := run("nats", 30, noisy(1, level)), run("nats", 30, noisy(2, shifted))
	r := compared(t, base, new, Options{Threshold: 0.05})
	if got := verdicts(r, "election_ms"); !reflect.DeepEqual(got, []Verdict{Unclear, Worse, Small, Better}) {
		t.Errorf("verdicts %v", got)
	}
	if len(r.Failures) != 1 || !strings.HasPrefix(r.Failures[0], "bully, nodes=5: election_ms: slower by 20.") {
		t.Errorf("failures %q", r.Failures)
	}
	row := r.Rows[1]
	if !(row.ChangeLow < 0.2 && 0.2 < row.ChangeHigh && row.ChangeLow > 0.15 && row.ChangeHigh < 0.25) ||
		row.Delta < 0.99 || row.P > row.Adjusted {
		t.Errorf("row %+v", row)
	}
	if g := r.Geomeans[0]; g.Metric != "election_ms" || g.Cells != 4 ||
		math.Abs(math.Pow(1+g.Change, 4)-1.2*1.03*0.8) > 0.05 {
		t.Errorf("geometric mean %+v", g)
	}
}

// TestCompare_LargerIsBetter: availability falls, and that is worse.
func TestCompare_LargerIsBetter(t *testing.T) {
	share := func(v float64) func(*results.Trial, int) {
		return func(t *results.Trial, _ int) {
			t.Set(metric.Availability.Of(v - float64(t.Repetition)/1e4))
		}
	}
	r := compared(t, run("nats", 10, share(0.9)), run("nats", 10, share(0.7)),
		Options{Metrics: []string{"availability"}, Threshold: 0.05})
	if got := verdicts(r, "availability"); got[0] != Worse || len(r.Failures) != 4 {
		t.Errorf("verdicts %v", got)
	}
}

// TestCompare_TooFew: three trials a side can be significant for nobody.
func TestCompare_TooFew(t *testing.T) {
	slow := func(trial *results.Trial, _ int) { setTime(trial, 300+float64(trial.Repetition)) }
	fast := func(trial *results.Trial, _ int) { setTime(trial, 30+float64(trial.Repetition)) }
	r := compared(t, run("nats", 3, fast), run("nats", 3, slow), Options{})
	if got := verdicts(r, "election_ms"); got[0] != TooFew || len(r.Failures) != 0 {
		t.Errorf("verdicts %v, failures %q", got, r.Failures)
	}
}

// TestCompare_Timeouts: elections that no longer end are slower than any that do.
func TestCompare_Timeouts(t *testing.T) {
	hang := func(trial *results.Trial, nodes int) {
		setTime(trial, 30+float64(trial.Repetition))
		if is("raft", 5, trial) && trial.Repetition > 6 {
			trial.Status = trace.TimedOut
			setTime(trial, math.NaN())
		}
	}
	fine := func(trial *results.Trial, _ int) { setTime(trial, 30+float64(trial.Repetition)) }
	r := compared(t, run("nats", 30, fine), run("nats", 30, hang), Options{Threshold: 0.05})
	if got := verdicts(r, "election_ms"); !reflect.DeepEqual(got, []Verdict{Same, Same, Same, Worse}) {
		t.Errorf("verdicts %v", got)
	}
	if len(r.Failures) != 1 || !strings.Contains(r.Failures[0], "-> beyond the time limit") {
		t.Errorf("failures %q", r.Failures)
	}
	c, err := ParseCondition("election_ms > 10%")
	if err != nil {
		t.Fatal(err)
	}
	if r = compared(t, run("nats", 30, fine), run("nats", 30, hang), Options{Conditions: []Condition{c}}); len(r.Failures) != 1 {
		t.Errorf("with a condition: failures %q", r.Failures)
	}
}

// TestCompare_Violations: a broken promise that was none before fails.
func TestCompare_Violations(t *testing.T) {
	broken := run("nats", 10, func(trial *results.Trial, _ int) {
		if is("bully", 3, trial) && trial.Repetition == 1 {
			trial.Status = trace.Violated
		}
	})
	r := compared(t, run("nats", 10, nil), broken, Options{})
	want := []string{"bully, nodes=3: more violations: ok 10 -> 9, violation 0 -> 1"}
	if !reflect.DeepEqual(r.Failures, want) {
		t.Errorf("failures %q, want %q", r.Failures, want)
	}
	if r = compared(t, broken, run("nats", 10, nil), Options{}); len(r.Failures) != 0 || len(r.Statuses) != 1 {
		t.Errorf("failures %q, notes %q", r.Failures, r.Notes)
	}
}

func TestCompare_Conditions(t *testing.T) {
	level, slower := func(int, string) float64 { return 30 }, func(int, string) float64 { return 36 }
	base, new := run("nats", 20, noisy(1, level)), run("nats", 20, noisy(2, slower))
	for text, want := range map[string]int{
		"election_ms > 10%":                          4,
		"election_ms > 30%":                          0,
		"election_ms > 3":                            4,
		"election_ms > 9":                            0,
		"election_ms < 0":                            0,
		"election_ms > 0 where nodes=5":              2,
		"election_ms>0 where nodes=5 algorithm=raft": 1,
		"messages_per_election > 0":                  0,
	} {
		c, err := ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		r := compared(t, base, new, Options{Threshold: 0.05, Conditions: []Condition{c}})
		if len(r.Failures) != want {
			t.Errorf("%s: failures %q, want %d", text, r.Failures, want)
		}
	}
	more := run("sim", 2, func(trial *results.Trial, _ int) { addMessage(trial) })
	c, _ := ParseCondition("messages_per_election > 0")
	if r := compared(t, run("sim", 2, nil), more, Options{Conditions: []Condition{c}}); len(r.Failures) != 4 {
		t.Errorf("counts: failures %q", r.Failures)
	}
}

func TestParseCondition_Refuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "not of that form",
		"election_ms":                   "not of that form",
		"election_ms = 3":               "not of that form",
		"election_ms > fast":            `"fast" is no number`,
		"election_ms > NaN":             "is no number",
		"election_ms > 3 where":         `nothing behind "where"`,
		"election_ms > 3 where nodes":   `"nodes" is not COLUMN=VALUE`,
		"election_ms > 3 and more_ms>4": "not of that form",
	} {
		if _, err := ParseCondition(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	_, err := ReadConditions(strings.NewReader("# a gate\n\nelection_ms > 5% # slower\nnonsense\n"), "gate.txt")
	if err == nil || !strings.HasPrefix(err.Error(), "gate.txt: line 4: ") {
		t.Errorf("conditions of a file: %v", err)
	}
	for _, text := range []string{"elction_ms > 1", "election_ms > 1 where ndoes=3"} {
		c, err := ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Compare(run("sim", 1, nil), run("sim", 1, nil), Options{Conditions: []Condition{c}})
		if err == nil || !strings.Contains(err.Error(), "unknown ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// only keeps the trials of t that keep wants.
func only(t *results.Table, keep func(*results.Trial) bool) *results.Table {
	t.Trials = slices.DeleteFunc(t.Trials, func(trial results.Trial) bool { return !keep(&trial) })
	return t
}

func TestMatch(t *testing.T) {
	five := func(t *results.Trial) bool { return t.Design[4].Value == "5" }
	r := compared(t, run("sim", 2, nil), only(run("sim", 2, nil), five), Options{})
	if want := []string{"bully, nodes=3", "raft, nodes=3"}; !reflect.DeepEqual(r.Missing, want) ||
		len(r.Failures) != 0 {
		t.Errorf("missing %q, failures %q", r.Missing, r.Failures)
	}
	if r = compared(t, only(run("sim", 2, nil), five), run("sim", 2, nil), Options{Strict: true}); len(r.Extra) != 2 ||
		len(r.Failures) != 0 {
		t.Errorf("extra %q, failures %q", r.Extra, r.Failures)
	}
	if r = compared(t, run("sim", 2, nil), only(run("sim", 2, nil), five), Options{Strict: true}); len(r.Failures) != 2 {
		t.Errorf("strict: failures %q", r.Failures)
	}
	// Simulation against sockets, side by side.
	if r = compared(t, run("sim", 6, nil), run("nats", 6, nil), Options{Ignore: []string{"transport"}}); len(r.Rows) != 12 {
		t.Errorf("across transports: %d rows", len(r.Rows))
	}
	where := Options{Where: []metric.Field{{Name: "algorithm", Value: "raft"}}}
	if r = compared(t, run("sim", 2, nil), run("sim", 2, nil), where); len(r.Rows) != 6 {
		t.Errorf("where: %d rows, want 6", len(r.Rows))
	}
	// On real processes a seed that is repeated is a new observation.
	again := run("nats", 4, func(trial *results.Trial, _ int) { trial.Seed = 1 })
	if r = compared(t, again, again, Options{}); len(r.Rows) != 12 {
		t.Errorf("one seed for all trials: %d rows", len(r.Rows))
	}
}

// TestCompare_NothingLeft: a run of which nothing came, or less than before, does
// not pass for want of figures.
func TestCompare_NothingLeft(t *testing.T) {
	spoiled := func(status trace.Status, upTo int) func(*results.Trial, int) {
		return func(trial *results.Trial, nodes int) {
			if is("raft", 5, trial) && trial.Repetition <= upTo {
				trial.Status = status
			}
		}
	}
	c, _ := ParseCondition("messages > 0")
	for _, one := range []struct {
		name, transport string
		change          func(*results.Trial, int)
		conditions      []Condition
		want            []string
	}{
		{"all spoiled", "nats", spoiled(trace.Invalid, 10), nil,
			[]string{"raft, nodes=5: no trial is ok: ok 10 -> 0, invalid 0 -> 10"}},
		{"a few spoiled", "nats", spoiled(trace.Invalid, 3), nil, nil},
		{"a few timed out", "sim", spoiled(trace.TimedOut, 1), nil,
			[]string{"raft, nodes=5: fewer trials are ok: ok 10 -> 9, timeout 0 -> 1"}},
		{"a condition on nothing", "nats", spoiled(trace.Invalid, 10), []Condition{c},
			[]string{"raft, nodes=5: messages: 20 -> none: no trial of the new run has a value (messages > 0)"}},
		{"an exact condition on nothing", "sim", spoiled(trace.TimedOut, 10), []Condition{c},
			[]string{"raft, nodes=5: messages: 20 -> none: no trial of the new run has a value (messages > 0)"}},
	} {
		r := compared(t, run(one.transport, 10, nil), run(one.transport, 10, one.change),
			Options{Conditions: one.conditions})
		if !reflect.DeepEqual(r.Failures, one.want) {
			t.Errorf("%s: failures %q, want %q", one.name, r.Failures, one.want)
		}
	}
	// Fewer trials are fewer that could differ.
	r := compared(t, run("sim", 3, nil), run("sim", 2, nil), Options{Strict: true})
	if want := "bully, nodes=3: the new run lacks trials: 2 of 3 have a partner"; len(r.Failures) != 4 ||
		r.Failures[0] != want {
		t.Errorf("failures %q, want four as %q", r.Failures, want)
	}
	// What is left is compared with its own pairs, not with the mean of others.
	uneven := func(trial *results.Trial, _ int) { trial.Set(metric.Messages.Of(float64(10 * trial.Repetition))) }
	r = compared(t, run("sim", 3, uneven), run("sim", 3, func(trial *results.Trial, nodes int) {
		uneven(trial, nodes)
		spoiled(trace.TimedOut, 1)(trial, nodes)
	}), Options{})
	if got := verdicts(r, "messages"); got[3] != Changed {
		t.Errorf("a trial less, the others equal: %v", got)
	}
}

// TestCompare_Weakness: where no difference could be found, that is said.
func TestCompare_Weakness(t *testing.T) {
	slower := func(trial *results.Trial, _ int) { setTime(trial, 300+float64(trial.Trial)) }
	r := compared(t, run("nats", 4, nil), run("nats", 4, slower), Options{})
	if want := "(tests: 4); it takes 5 trials on each side"; len(r.Failures) != 0 || len(r.Notes) != 1 ||
		!strings.Contains(r.Notes[0], want) {
		t.Errorf("failures %q, notes %q, want one with %q", r.Failures, r.Notes, want)
	}
	if r = compared(t, run("nats", 5, nil), run("nats", 5, slower), Options{}); len(r.Failures) != 4 || len(r.Notes) != 0 {
		t.Errorf("failures %q, notes %q", r.Failures, r.Notes)
	}
}

func TestMatch_Refuses(t *testing.T) {
	swept := run("sim", 2, func(t *results.Trial, nodes int) { t.Design[12].Value = fmt.Sprint(t.Repetition) })
	swept.Design = slices.Clone(swept.Design)
	swept.Design[12] = "params_y"
	for i := range swept.Trials {
		swept.Trials[i].Design[12].Name = "params_y"
	}
	fixed := only(run("sim", 2, nil), func(*results.Trial) bool { return true })
	broken := run("sim", 2, func(t *results.Trial, _ int) { t.Status = trace.Invalid })
	twice := run("sim", 2, nil)
	twice.Trials = slices.Concat(twice.Trials, twice.Trials)
	condition := func(text string) Options {
		c, err := ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		return Options{Conditions: []Condition{c}}
	}
	cases := []struct {
		name      string
		base, new *results.Table
		o         Options
		want      string
	}{
		{"another transport", run("sim", 2, nil), run("nats", 2, nil), Options{},
			"transport is sim in BASE and nats in NEW"},
		{"alike", run("sim", 2, nil), run("sim", 2, nil), Options{Ignore: []string{"nodes"}},
			"cells 1 and 2 of BASE (run) differ only in columns that are ignored"},
		{"swept in one, chosen", fixed, swept, Options{Where: []metric.Field{{Name: "params_y", Value: "3"}}},
			`--where: unknown value of params_y "3" (has: 1, 2)`},
		{"swept in one", fixed, swept, Options{}, "only NEW (run) has column params_y, which varies (1, 2)"},
		{"no such column", fixed, fixed, Options{Ignore: []string{"node"}}, `--ignore: unknown column "node"`},
		{"nothing left", fixed, fixed, Options{Where: []metric.Field{{Name: "nodes", Value: "9"}}},
			`--where: unknown value of nodes "9" (has: 3`},
		{"where no such column", fixed, fixed, Options{Where: []metric.Field{{Name: "node", Value: "3"}}},
			`--where: unknown column "node"`},
		{"condition about no value", fixed, fixed, condition("messages > 0 where nodes=9"),
			`unknown value of nodes "9"`},
		{"condition about no cell", swept, swept, condition("messages > 0 where algorithm=bully label=raft"),
			`unknown combination "algorithm=bully label=raft"`},
		{"a simulation twice", fixed, twice, Options{}, "NEW (run): trial 1, seed 1, appears twice"},
		{"base without values", broken, fixed, Options{}, "no trial of BASE (run) has a value"},
		{"no such metric", fixed, fixed, Options{Metrics: []string{"speed"}}, `unknown metric "speed"`},
	}
	again := run("bubble", 2, nil)
	again.Trials = slices.Concat(again.Trials, again.Trials)
	if _, err := Compare(again, again, Options{}); err != nil {
		t.Errorf("a library's trial adds an observation each time: %v", err)
	}
	for _, c := range cases {
		if _, err := Compare(c.base, c.new, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestContext: what else differs is said.
func TestContext(t *testing.T) {
	base, new := run("nats", 8, nil), run("nats", 8, func(trial *results.Trial, _ int) {
		trial.RunOrder = 4*trial.Repetition + trial.Cell
		setTime(trial, 30+float64(trial.RunOrder))
	})
	for table, text := range map[*results.Table]string{
		base: "name: a\nnetwork: {latency: 2ms}\nsweep: [1, 2]\n",
		new:  "name: b\nnetwork: {latency: 3ms}\nsweep: [1, 2]\nseed: 4\n",
	} {
		table.Config = []byte(text)
	}
	notes := strings.Join(compared(t, base, new, Options{}).Notes, "\n")
	for _, want := range []string{"network.latency: 2ms -> 3ms; seed: none -> 4",
		"election_ms drifts over the order of execution"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in:\n%s", want, notes)
		}
	}
	if strings.Contains(notes, "name") || strings.Contains(notes, "sweep") {
		t.Errorf("too much in:\n%s", notes)
	}
}

// TestCompare_Hosting: what ran as goroutines, or in reused processes, is not compared with what ran
// in processes of its own unasked.
func TestCompare_Hosting(t *testing.T) {
	hostedIn := func(transport, as string) *results.Table {
		t := run(transport, 10, nil)
		t.Design = append(t.Design, metric.HostingColumn)
		for i := range t.Trials {
			t.Trials[i].Design = append(t.Trials[i].Design, metric.Field{Name: metric.HostingColumn, Value: as})
		}
		return t
	}
	hosted := func(as string) *results.Table { return hostedIn("nats", as) }
	plain, goroutines := run("nats", 10, nil), hosted(metric.RunAsGoroutine)
	for _, c := range []struct {
		base, new *results.Table
		ignore    []string
		want      string
	}{
		{plain, goroutines, nil, "processes of NEW (run) ran as a goroutine, those of run as a process"},
		{goroutines, plain, nil, "processes of BASE (run) ran as a goroutine"},
		{plain, hosted(metric.RunAsReused), nil, "processes of NEW (run) ran as a reused-process"},
		{hosted(metric.RunAsProcess), goroutines, nil, "no cell in common"},
		{plain, goroutines, []string{metric.HostingColumn}, ""},
		{plain, hosted(metric.RunAsProcess), nil, ""},
		{goroutines, goroutines, nil, ""},
		{plain, hosted(metric.InProgram), nil, "processes of NEW (run) ran as a program"},
		{run("sim", 10, nil), hostedIn("sim", metric.InProgram), nil, ""},
	} {
		_, err := Compare(c.base, c.new, Options{Ignore: c.ignore})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestCompare_HostingDiffers: between two runs, and within one, a note says that different things ran what is
// compared, and what follows from that.
func TestCompare_HostingDiffers(t *testing.T) {
	t.Parallel()
	for transport, want := range map[string]string{
		"sim":  "hosting differs: hosting=simulator of bully and hosting=program of bully; in virtual time that changes no figure",
		"nats": "hosting differs: hosting=process of bully and hosting=program of bully; handling_ms is what each took",
	} {
		hosted := func(as map[string]string) *results.Table {
			t := run(transport, 10, nil)
			t.Design = append(t.Design, metric.HostingColumn)
			for i := range t.Trials {
				d := &t.Trials[i].Design
				*d = append(*d, metric.Field{Name: metric.HostingColumn, Value: as[metric.Get(*d, "label")]})
			}
			return t
		}
		plain := map[string]string{"sim": metric.InSimulation, "nats": metric.RunAsProcess}[transport]
		both, one := map[string]string{"bully": plain, "raft": plain}, map[string]string{"bully": plain, "raft": metric.InProgram}
		programs := map[string]string{"bully": metric.InProgram, "raft": metric.InProgram}
		ignore := Options{Ignore: []string{metric.HostingColumn}}
		if notes := compared(t, hosted(both), hosted(programs), ignore).Notes; !strings.Contains(strings.Join(notes, "\n"), want) {
			t.Errorf("%s: notes %q, want %q", transport, notes, want)
		}
		if notes := strings.Join(compared(t, hosted(both), hosted(both), ignore).Notes, "\n"); strings.Contains(notes, "differs: hosting") {
			t.Errorf("%s: the same ran both, and the notes are %q", transport, notes)
		}
		within := RankBy(hosted(one), metric.Election)
		if within == nil || !strings.Contains(strings.Join(within.Notes, "\n"), "of bully and hosting=program of raft") {
			t.Errorf("%s: the notes of a ranking are %+v", transport, within)
		}
	}
}

// TestFalseAlarms compares runs of other seeds that differ by chance alone: uncorrected
// tests cry wolf no oftener than alpha says, and the gate hardly ever.
func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	pairs := slowtest.Times(60, 200)
	level := func(int, string) float64 { return 30 }
	tests, alarms, failed := 0, 0, 0
	for i := range pairs {
		other := run("nats", 12, noisy(uint64(2*i+1), level))
		for t := range other.Trials {
			other.Trials[t].Seed += 100
		}
		r := compared(t, run("nats", 12, noisy(uint64(2*i), level)), other, Options{Threshold: DefaultThreshold})
		for _, row := range r.Rows {
			if !math.IsNaN(row.P) {
				tests++
				if row.P <= DefaultAlpha {
					alarms++
				}
			}
		}
		if len(r.Failures) > 0 {
			failed++
		}
	}
	if share := float64(alarms) / float64(tests); share > 0.05+float64(3*math.Sqrt(0.05*0.95/float64(tests))) {
		t.Errorf("%d of %d tests are false alarms", alarms, tests)
	}
	if failed > max(1, pairs/100) {
		t.Errorf("%d of %d pairs fail", failed, pairs)
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.12345: "0.123", 1.5: "1.5", 12.345: "12.35", 123.45: "123.5", 12345.6: "12346", -0.0001: "0",
		1e14: "100000000000000", -1e300: "-1e+300",
	} {
		if got := console.Number(v); got != want {
			t.Errorf("Number(%v) = %q, want %q", v, got, want)
		}
	}
	if view.P(0.0001) != "<0.001" || view.P(0.001) != "0.001" || view.P(1) != "1.000" || view.P(math.NaN()) != "n/a" || view.Percent(math.Inf(1)) != "from 0" ||
		view.Percent(0.1234) != "+12.34%" || view.Percent(1e300) != "+1e+302%" || console.Number(math.NaN()) != "n/a" {
		t.Error("probabilities or percentages")
	}
}

func BenchmarkCompare(b *testing.B) {
	level := func(int, string) float64 { return 30 }
	base, new := run("nats", 2500, noisy(1, level)), run("nats", 2500, noisy(2, level))
	for b.Loop() {
		compared(b, base, new, Options{})
	}
}
