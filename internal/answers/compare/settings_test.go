package compare

import (
	"math"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

const plainExperiment = `name: a
algorithms:
  - {name: election/bully, label: bully, params: {timeout: 20ms}}
  - {name: election/raft, label: raft, params: {}}
nodes: 5
time_limit: 5s
detector: {kind: perfect, delay: 10ms}
faults: {events: []}
repetitions: 8
`

// from makes table that of a run of the experiment, with old replaced, by a program.
func from(t *testing.T, table *results.Table, old, fresh, program string) {
	t.Helper()
	text := strings.Replace(plainExperiment, old, fresh, 1)
	if text == plainExperiment && old != fresh {
		t.Fatalf("no %q", old)
	}
	table.Config = []byte(text)
	table.Manifest = &results.Manifest{Tool: results.Tool{Binary: program}}
}

// TestCompare_OtherExperiments: a count is the program's doing only where the
// experiments agree. Where they do not, one message more in one trial is no "worse".
func TestCompare_OtherExperiments(t *testing.T) {
	for _, c := range []struct {
		name, old, fresh string
		exact            [2]bool // for bully and for raft
	}{
		{"the same", "", "", [2]bool{true, true}},
		{"another name, more repetitions", "repetitions: 8", "repetitions: 9", [2]bool{true, true}},
		{"a value", "delay: 10ms", "delay: 20ms", [2]bool{false, false}},
		{"a parameter of one", "timeout: 20ms", "timeout: 30ms", [2]bool{false, true}},
		{"a parameter of another program", "timeout: 20ms", "timeout: 30ms", [2]bool{true, true}},
		{"a parameter of nobody knows which program", "timeout: 20ms", "timeout: 30ms", [2]bool{true, true}},
		{"a value, of another program", "delay: 10ms", "delay: 20ms", [2]bool{false, false}},
		{"the default of a new version", "delay: 10ms", "delay: 10ms, jitter: 0ms", [2]bool{true, true}},
		{"a parameter of a new version", "params: {}", "params: {pre_vote: false}", [2]bool{true, true}},
		{"an item", "events: []", "events: [{at: 5ms, do: crash}]", [2]bool{false, false}},
		{"another form", "delay: 10ms", "delay: {min: 10ms, max: 20ms}", [2]bool{false, false}},
		{"swept in one", ", delay: 10ms", "}\nsweep:\n  - {vary: detector.delay, over: [9ms]}\nx: {y: 0",
			[2]bool{false, false}},
		{"what is swept", "nodes: 5", "sweep: [{vary: nodes, over: [3, 5]}]", [2]bool{true, true}},
		{"one algorithm more", "algorithms:\n", "algorithms:\n  - {name: election/zab, label: zab}\n",
			[2]bool{true, true}},
	} {
		base, fresh := run("sim", 8, nil), run("sim", 8, func(trial *results.Trial, _ int) {
			if trial.Repetition == 3 {
				addMessage(trial)
			}
		})
		program, other := "p", "p"
		switch {
		case strings.Contains(c.name, "of another program"):
			other = "q"
		case strings.Contains(c.name, "nobody knows"):
			program, other = "", ""
		}
		from(t, base, "", "", program)
		from(t, fresh, c.old, c.fresh, other)
		r := compared(t, base, fresh, Options{})
		for _, row := range r.Rows {
			if row.Metric != "messages" {
				continue
			}
			exact, want := c.exact[1], Worse
			if row.Design[2].Value == "bully" {
				exact = c.exact[0]
			}
			if !exact {
				want = Unclear
			}
			if row.Exact != exact || row.Verdict != want {
				t.Errorf("%s: %s: exact %v, verdict %s", c.name, r.Title(&row), row.Exact, row.Verdict)
			}
		}
		if noted := strings.Contains(strings.Join(r.Notes, "\n"), "affected counts are compared like times"); noted == (c.exact == [2]bool{true, true}) {
			t.Errorf("%s: notes %q", c.name, r.Notes)
		}
		// Who is strict is told of every change.
		if r = compared(t, base, fresh, Options{Strict: true}); len(r.Failures) == 0 {
			t.Errorf("%s: passes a strict gate", c.name)
		}
	}
}

// TestCompare_OtherTimeLimit: what timed out under a short limit is not slower than
// what a long one had the time to see.
func TestCompare_OtherTimeLimit(t *testing.T) {
	long := run("nats", 10, func(trial *results.Trial, _ int) { setTime(trial, 100+float64(trial.Repetition)) })
	short := run("nats", 10, func(trial *results.Trial, _ int) {
		trial.Status = trace.TimedOut
		setTime(trial, math.NaN())
	})
	for _, c := range []struct {
		limit      string
		want, back Verdict // when the short limit is the new one, and when it was the old one
	}{{"time_limit: 5s", Worse, Better}, {"time_limit: 50ms", NoVerdict, NoVerdict}} {
		from(t, long, "", "", "p")
		from(t, short, "time_limit: 5s", c.limit, "p")
		if got := verdicts(compared(t, long, short, Options{}), "election_ms"); got[0] != c.want {
			t.Errorf("%s: %v, want %v", c.limit, got[0], c.want)
		}
		if got := verdicts(compared(t, short, long, Options{}), "election_ms"); got[0] != c.back {
			t.Errorf("%s was the limit: %v, want %v", c.limit, got[0], c.back)
		}
	}
}

// TestContext_Folders: machines that differ matter to times of real processes alone; a
// run that is not complete says so.
func TestContext_Folders(t *testing.T) {
	for transport, want := range map[string]bool{"sim": false, "nats": true} {
		base, fresh := run(transport, 6, nil), run(transport, 6, nil)
		from(t, base, "", "", "p")
		from(t, fresh, "", "", "p")
		fresh.Manifest.Planned, fresh.Manifest.Complete, fresh.Manifest.Machine.CPU = 48, true, "another"
		r := compared(t, base, fresh, Options{})
		notes := strings.Join(r.Notes, "\n")
		if got := len(r.Warnings) == 1 && strings.HasPrefix(r.Warnings[0], "the machines differ"); got != want {
			t.Errorf("%s: warnings %q", transport, r.Warnings)
		}
		if strings.Count(notes, "the run is not complete") != 1 || !strings.Contains(notes, "base: the run is not") {
			t.Errorf("%s: of the base alone the manifest says that it is not complete: %s", transport, notes)
		}
	}
}
