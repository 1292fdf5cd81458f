package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/pkg/results"
)

// twoRuns are the folders base and new of one experiment.
func twoRuns(t *testing.T, experiment string) (here *folder) {
	t.Helper()
	here = newFolder(t)
	file := write(t, "small.yaml", experiment)
	for _, name := range []string{"base", "new"} {
		here.bench(t, "run", file, "--out", "results").want(t, Good)
		if err := os.Rename(here.latest(t, "results", "small"), here.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	return here
}

// rewritten changes the tables of the run in dir, and only them: the journal and
// the manifest are gone, as in a folder that somebody passed on.
func rewritten(t *testing.T, dir string, change func(string) string) {
	t.Helper()
	for _, name := range []string{"journal.ndjson", "manifest.json"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "trials.csv")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := change(string(text))
	if changed == string(text) {
		t.Fatal("nothing was changed")
	}
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestCompare_Same: two runs of one file in simulation do not differ.
func TestCompare_Same(t *testing.T) {
	t.Parallel()
	here := twoRuns(t, small)
	r := here.bench(t, "compare", "base", "new", "--strict").want(t, Good)
	has(t, r.out, "40 comparisons show no difference", "no difference; passes")
	golden(t, "compare.txt", r.out)
}

// TestCompare_OneMessage: one message more in one trial is a regression of the
// cell that is named, in every format.
func TestCompare_OneMessage(t *testing.T) {
	t.Parallel()
	here := twoRuns(t, small)
	rewritten(t, here.path("new"), func(text string) string {
		return strings.Replace(text, ",5,3,0,0,2,18,0,", ",6,3,0,0,3,21,0,", 1)
	})
	r := here.bench(t, "compare", "base", "new").want(t, Missed)
	has(t, r.errors, "fails: bully, nodes=3, loss=0: messages: 5 -> 5.143 in the mean (+2.86%), in 1 of 7 trials")
	md := here.bench(t, "compare", "base", "new", "--format", "markdown").want(t, Missed).out
	golden(t, "compare.md", md)
	d, err := answer.Decode([]byte(here.bench(t, "compare", "base", "new", "--json").want(t, Missed).out))
	if err != nil || d.Facts["passed"] != false || d.Exit != Missed || len(d.Table("rows")) < 8 || d.Notes[0].Kind != "fails" {
		t.Errorf("JSON: %v, %+v", err, d)
	}
	has(t, here.bench(t, "compare", "base", "new", "--format", "csv").want(t, Missed).out, "bully,3,0,messages,mean,,worse,5,")
	has(t, here.bench(t, "compare", "base", "new", "--format", "junit").want(t, Missed).out,
		"<testsuites>", `type="Regression"`, "bully, nodes=3, loss=0")
	has(t, here.bench(t, "compare", "base", "new", "--no-fail").want(t, Good).out, "2 worse, 1 changed\n")
	here.bench(t, "compare", "base", "new", "--no-fail", "--strict").want(t, Usage)
	here.bench(t, "compare", "new", "base").want(t, Good) // fewer is better
	here.bench(t, "compare", "new", "base", "--strict").want(t, Missed)
	here.bench(t, "compare", "base", "new", "--fail-if", "messages > 10%").want(t, Good)
	here.bench(t, "compare", "base", "new", "--fail-if", "messages > 0").want(t, Missed)
}

// TestCompare_OtherLoad: that the machine had more to do in one run stands before every
// verdict, in each format.
func TestCompare_OtherLoad(t *testing.T) {
	t.Parallel()
	here := twoRuns(t, strings.Replace(small, "sweep:\n  - {vary: nodes, over: [3, 5]}\n  - {vary: network.loss, over: [0, 0.1]}\n", "", 1))
	for dir, figures := range map[string]string{"base": ",0.05,0.3,0,0,\n", "new": ",0.25,0.95,0,40,\n"} {
		rewritten(t, here.path(dir), func(text string) string { // skew, busy_share, steal_share, throttled_ms, clock_error_us
			return strings.ReplaceAll(strings.ReplaceAll(text, ",sim,", ",nats,"), ",,,,,\n", figures)
		})
	}
	const says = "the machines were busier during one of the runs: lateness of messages and timers is 5 % of a " +
		"time in the base and 25 % in the new run"
	text := here.bench(t, "compare", "base", "new").want(t, Good).out
	golden(t, "compare-load.txt", text)
	if i := strings.Index(flat(text), says); i < 0 || i > strings.Index(flat(text), "no difference") {
		t.Errorf("not before the verdicts:\n%s", text)
	}
	md := here.bench(t, "compare", "base", "new", "--format", "markdown").want(t, Good).out
	if !strings.HasPrefix(md, "> **careful**: "+says) {
		t.Errorf("Markdown begins with\n%.300s", md)
	}
	d, err := answer.Decode([]byte(here.bench(t, "compare", "base", "new", "--format", "json").want(t, Good).out))
	if err != nil || len(d.Notes) != 1 || d.Notes[0].Kind != answer.Careful || !strings.HasPrefix(d.Notes[0].Text, says) {
		t.Errorf("JSON: %v, %+v", err, d)
	}
	has(t, here.bench(t, "compare", "base", "new", "--format", "junit").want(t, Good).out, `name="careful" value="`+says)
}

// TestCompare_Clocks: a time that is smaller than what the clocks of its hosts can be wrong by
// is marked on the side of which that is so, in each format.
func TestCompare_Clocks(t *testing.T) {
	t.Parallel()
	here := twoRuns(t, strings.Replace(small, "sweep:\n  - {vary: nodes, over: [3, 5]}\n  - {vary: network.loss, over: [0, 0.1]}\n", "", 1))
	rewritten(t, here.path("new"), func(text string) string {
		return strings.ReplaceAll(strings.ReplaceAll(text, ",sim,", ",nats,"), ",,,,,\n", ",0.05,0.3,0,0,50000\n")
	})
	args := []string{"compare", "base", "new", "--metrics", "election_ms", "--ignore", "transport"}
	const note = "?: smaller than the clock error of the hosts (100 ms)"
	text := here.bench(t, args...).want(t, Good).out
	row := regexp.MustCompile(`(?m)^bully .*$`).FindString(text)
	if has(t, text, note); strings.Count(row, "?") != 1 || strings.Index(row, "?") < strings.Index(row, "]") {
		t.Errorf("%q", row)
	}
	has(t, here.bench(t, append(args, "--format", "markdown")...).want(t, Good).out, note, "? \\[")
	if text := here.bench(t, append(args, "--format", "json")...).want(t, Good).out; strings.Count(text, `"new_clock_doubt_ms": 100`) != 2 { // a cell each of two algorithms
		t.Error(text)
	}
}

// TestCompare_Flags: the error and the least change are those that the flags say, and
// what they decide is decided by them.
func TestCompare_Flags(t *testing.T) {
	t.Parallel()
	here := newFolder(t)
	file := write(t, "small.yaml", strings.Replace(small, "network.loss, over: [0, 0.1]", "network.latency, over: [2ms]", 1))
	for name, set := range map[string]string{"base": "network.order=fifo", "new": "detector.delay=20ms"} {
		here.bench(t, "run", file, "--set", set, "--out", name).want(t, Good)
	}
	compared := func(flags ...string) string {
		args := append([]string{"compare", "base/small", "new/small", "--metrics", "downtime_ms"}, flags...)
		r := here.bench(t, args...)
		if want := strings.Contains(r.out, "fails: "); (r.code == Missed) != want || !want && r.code != Good {
			t.Errorf("%q: exit code %d:\n%s%s", flags, r.code, r.out, r.errors)
		}
		return r.out
	}
	has(t, compared(), "p at most 0.05 and more than 10%; small", " worse ", "4 worse; fails: 4\n")
	has(t, compared("--alpha", "0.001"), "p at most 0.001 and more", "4 unclear; passes")
	for _, share := range []string{"100%", "1"} {
		has(t, compared("--threshold", share), "and more than 100%; small", "4 small; passes\n")
	}
	has(t, compared("--threshold", "0.5%"), "and more than 0.5%; small", "4 worse; fails: 4\n")
}

// TestCompare_Prove: what is shown passes, what is refuted fails, and what is neither is
// told apart from both by its exit code, with the number of trials that would decide.
func TestCompare_Prove(t *testing.T) {
	t.Parallel()
	here := newFolder(t)
	file := write(t, "small.yaml", strings.Replace(small, "network.loss, over: [0, 0.1]", "network.latency, over: [2ms]", 1))
	for name, set := range map[string]string{"base": "seed=1", "same": "seed=1", "other": "seed=2", "new": "detector.delay=20ms"} {
		here.bench(t, "run", file, "--set", set, "--out", name).want(t, Good)
	}
	r := here.bench(t, "compare", "base/small", "same/small", "--prove", "5%").want(t, Good)
	has(t, r.out, "no difference; passes: nothing is worse by more than 5%")
	r = here.bench(t, "compare", "base/small", "new/small", "--prove", "5%", "--metrics", "downtime_ms").want(t, Missed)
	has(t, r.errors, "fails: bully, nodes=3: downtime_ms: 38 -> 48 (+26.32% [")
	r = here.bench(t, "compare", "base/small", "other/small", "--prove", "1%", "--metrics", "availability").want(t, Incomplete)
	has(t, r.errors, "inconclusive: bully, nodes=3: availability: ", " on each side would decide")
	if has(t, r.out, "; inconclusive: "); strings.Contains(r.out, "bully, nodes=3: availability") {
		t.Errorf("what standard error says is said twice:\n%s", r.out)
	}
	has(t, here.bench(t, "compare", "base/small", "other/small", "--prove", "1%", "--metrics", "availability", "--format",
		"junit").want(t, Incomplete).out,
		`type="Inconclusive"`, "<system-out>")
	text := here.bench(t, "compare", "base/small", "other/small", "--prove", "1%", "--metrics", "availability",
		"--format", "json").want(t, Incomplete).out
	if d, err := answer.Decode([]byte(text)); err != nil || d.Facts["passed"] != false || d.Facts["prove"] != 0.01 ||
		d.Notes[0].Kind != "inconclusive" {
		t.Errorf("%v: %+v", err, d)
	}
}

func TestCompare_File(t *testing.T) {
	t.Parallel()
	here := twoRuns(t, small)
	conditions := write(t, "gate.txt", "# no message more\nmessages > 0\nelection_ms > 5%\n")
	r := here.bench(t, "compare", "base/trials.csv", "new", "--fail-if-from", conditions, "--out", "report.txt").want(t, Good)
	if r.out != "" {
		t.Errorf("standard output %q", r.out)
	}
	has(t, here.read(t, "report.txt"), "no difference; passes")
}

func TestCompare_UsageErrors(t *testing.T) {
	t.Parallel()
	here := twoRuns(t, small)
	bad := write(t, "bad.txt", "messages > 0\nmessages >\n")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"base"}, Usage, "1 argument, expected two"},
		{[]string{"base", "new", "--fail-if", "messages"}, Usage, "expected METRIC > CHANGE"},
		{[]string{"base", "new", "--fail-if", "mesages > 0"}, Usage, `did you mean "messages"?`},
		{[]string{"base", "new", "--metrics", "election"}, Usage, `unknown metric "election"`},
		{[]string{"base", "new", "--fail-if-from", bad}, Usage, "bad.txt: line 2: "},
		{[]string{"base", "new", "--fail-if-from", "nowhere"}, Usage, "nowhere"},
		{[]string{"base", "new", "--threshold", "much"}, Usage, "--threshold much"},
		{[]string{"base", "new", "--threshold", "5"}, Usage, "expected a percentage as 5%"},
		{[]string{"base", "new", "--fail-if", "messages > 0 where nodes=7"}, Usage, `value of nodes "7" (has: 3, 5)`},
		{[]string{"base", "new", "--where", "node=3"}, Usage, `did you mean "nodes"?`},
		{[]string{"base", "new", "--ignore", "transports"}, Usage, `did you mean "transport"?`},
		{[]string{"base", "new", "--fail-if-from", os.DevNull}, Usage, "expected a regular file"},
		{[]string{"base", "new", "--alpha", "2"}, Usage, "--alpha 2"},
		{[]string{"base", "new", "--prove", "5"}, Usage, "--prove 5: expected a percentage"},
		{[]string{"base", "new", "--prove", "5%", "--strict"}, Usage, "one of them"},
		{[]string{"base", "new", "--where", "nodes"}, Usage, "expected COLUMN=VALUE"},
		{[]string{"base", "new", "--format", "htm"}, Usage, "text, json, csv"},
		{[]string{"base", "nowhere"}, Usage, "nowhere: no run there"},
		{[]string{"base", "new", "--where", "nodes=7"}, Usage, `--where: unknown value of nodes "7" (has: 3, 5)`},
		{[]string{"base", "new", "--where", "transport=nats"}, Good, ""},
	} {
		r := here.bench(t, append([]string{"compare"}, c.args...)...).want(t, c.code)
		has(t, r.errors, c.says)
	}
}

// TestCompare_Incomplete: a run that was ended early says so, and how to go on.
func TestCompare_Incomplete(t *testing.T) {
	t.Parallel()
	here := twoRuns(t, small)
	new := endedEarly(t, here.path("new"))
	has(t, flat(here.bench(t, "compare", "base", new).want(t, Good).out), "new: the run is not complete, of 56 "+
		"planned trials; bench run --resume "+new+" continues it")
}

// endedEarly is the run in dir as it would be if it had been ended before its last trial.
func endedEarly(t *testing.T, dir string) string {
	t.Helper()
	_, _, config, err := results.ReadConfig(dir)
	if err != nil {
		t.Fatal(err)
	}
	h, err := results.ReadHeader(dir)
	if err != nil {
		t.Fatal(err)
	}
	trials, err := results.ReadTrials(dir)
	if err != nil {
		t.Fatal(err)
	}
	f, err := results.Create(t.TempDir(), h, config)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.AppendGroup(trials[:len(trials)-1]); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Finish(results.End{}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Dir()
}

// TestCompare_Broken: what broke comes first; a trial without a value is counted, not averaged
// away; what did not change is left out; no line is too wide.
func TestCompare_Broken(t *testing.T) {
	t.Parallel()
	here := twoRuns(t, small)
	breaks := regexp.MustCompile(`(?m)^(.*,)ok(,.*)$`)
	rewritten(t, here.path("new"), func(text string) string {
		seen := 0
		return breaks.ReplaceAllStringFunc(text, func(line string) string {
			if seen++; seen > 2 {
				return line
			}
			return breaks.ReplaceAllString(line, "${1}violation$2")
		})
	})
	text := here.bench(t, "compare", "base", "new").want(t, Missed).out
	first, table := strings.Index(text, "more violations: ok 7 -> 5, violation 0 -> 2"), strings.Index(text, "verdict")
	if first < 0 || table < first {
		t.Errorf("not first:\n%s", text)
	}
	has(t, text, "2 of 7 trials have no value", "comparisons show no difference", "other metrics changed")
	narrow(t, text)
	if strings.Contains(text, "geomean") || strings.Contains(text, "+0.00%") || strings.Contains(text, " delivered ") {
		t.Error(text)
	}
	all := here.bench(t, "compare", "base", "new", "--metrics", "all").want(t, Missed).out
	has(t, all, "delivered", " = ", "election_ms", "split_brain_ms")
	narrow(t, all)
}

// TestCompare_SaysOnce: a sentence about what changed stands in one place, wherever that is.
func TestCompare_SaysOnce(t *testing.T) {
	t.Parallel()
	here := newFolder(t)
	here.bench(t, "run", write(t, "small.yaml", small), "--set", "repetitions=20", "--set", "sweep=[]", "--out", "base").
		want(t, Good)
	here.bench(t, "run", write(t, "small.yaml", small), "--set", "repetitions=20", "--set", "sweep=[]", "--out", "new",
		"--set", "detector.delay=20ms").want(t, Good)
	compare := []string{"compare", "base/small", "new/small", "--metrics", "downtime_ms"}
	table, markdown := here.bench(t, compare...), here.bench(t, append(compare, "--format", "markdown")...)
	for name, text := range map[string]string{"table": table.out + table.errors, "markdown": markdown.out,
		"no failure": here.bench(t, append(compare, "--no-fail")...).out} {
		if n := strings.Count(flat(text), "slower by exactly "); n != 2 {
			t.Errorf("%s: of two cells %d sentences:\n%s", name, n, text)
		}
	}
}
