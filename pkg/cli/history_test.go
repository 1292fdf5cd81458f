package cli

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/commands/history"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// TestHistory: what is added is analyzed against the repository's line of commits, blessed, drawn and
// traced to its cause.
func TestHistory(t *testing.T) {
	t.Parallel()
	here := commitsIn(t, plain, plain, renamed, renamed)
	here.put(t, "small.yaml", small)
	add := func(commit string, set ...string) string {
		t.Helper()
		args := []string{"run", "small.yaml", "--out", "out-" + commit, "--quiet", "--progress", "none"}
		here.bench(t, append(args, set...)...).want(t, Good)
		return here.bench(t, "history", "add", here.latest(t, "out-"+commit, "small"), "--commit", commit).want(t,
			Good).out
	}
	has(t, add("c0"), "history: small, 8 cells, of "+here.git(t, "rev-parse", "--short=12", "c0")+" commit 0\n")
	add("c1")
	r := here.bench(t, "history", "analyze").want(t, Good)
	has(t, r.out, "2 runs of 2 commits; 40 exact series, 0 noisy\n\nnothing changed\n")
	add("c2", "--set", "detector.delay=25ms")
	r = here.bench(t, "history", "analyze").want(t, Missed)
	narrow(t, r.out)
	has(t, r.out, here.git(t, "rev-parse", "--short=12", "c2")+" commit 2\n",
		"changed, worse: small: bully nodes=3 loss=0: downtime_ms 38 -> 53 (+39.47%),", "the experiment has changed, too, which may be the cause\n",
		"8 unblessed changes for the worse")
	has(t, here.bench(t, "history", "analyze", "--where", "label=ring", "--where", "nodes=3").want(t, Missed).out,
		"2 unblessed changes for the worse")
	has(t, here.bench(t, "history", "analyze", "--since", "c2").want(t, Good).out, "nothing changed")
	has(t, here.bench(t, "history", "analyze", "--at", "c1").want(t, Good).out, "nothing changed",
		"note: 1 run is of commits that are not on this branch: left out")

	r = here.bench(t, "history", "analyze", "--cause", "--where", "nodes=3", "--where", "label=bully", "--where",
		"loss=0").want(t, Missed)
	has(t, r.out, "the first commit that changed trial 1 of small:\n", "p2 sends COORDINATOR to p1",
		"p2 sends VICTORY to p1")
	has(t, here.bench(t, "history", "analyze", "--format", "markdown").want(t, Missed).out,
		"## 8 changes for the worse in 3 runs\n",
		"<summary>all 8</summary>")

	here.bench(t, "history", "bless", "c2", "--where", "label=bully", "--reason", "slower links").want(t, Good)
	var got trends
	r = here.bench(t, "history", "analyze", "--format", "json").want(t, Missed)
	if err := answer.Unmarshal([]byte(r.out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Runs != 3 || len(got.Findings) != 8 || got.Bad != 4 || len(got.Series) != 40 ||
		got.Findings[0].Blessed != "slower links" {
		t.Errorf("%d runs, %d findings, %d bad, %d series", got.Runs, len(got.Findings), got.Bad,
			len(got.Series))
	}
	here.bench(t, "history", "bless", "c2", "--reason", "slower links").want(t, Good)
	has(t, here.bench(t, "history", "analyze").want(t, Good).out, "blessed: slower links")

	here.bench(t, "history", "report").want(t, Good)
	has(t, here.read(t, "trends.html"), "blessed: slower links")
	has(t, here.bench(t, "history", "roc").want(t, CouldNotRun).errors, "no noisy series has 20 values or more")
}

// TestHistory_Backfill: what a history lacks is run with the program of each commit, once.
func TestHistory_Backfill(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "builds programs of several commits")
	here := commitsIn(t, plain, plain, half, plain)
	here.put(t, "small.yaml", small)
	const store = "git:refs/notes/conclave"
	r := here.bench(t, "history", "backfill", "c0..c1", "small.yaml", "--store", store).want(t, Good)
	has(t, r.out, "1 run of small added, 0 were there, 0 skipped")
	r = here.bench(t, "history", "backfill", "c0..", "small.yaml", "--store", store).want(t, Incomplete)
	has(t, r.out, "1 run of small added, 1 were there, 1 skipped")
	has(t, r.errors, "bench:   skipped: it does not build: ", " commit 3\n")
	has(t, here.bench(t, "history", "analyze", "--store", store).want(t, Good).out, "2 runs of 2 commits",
		"nothing changed")
	here.clean(t)
	if text := here.git(t, "status", "--porcelain"); text != "?? small.yaml" {
		t.Errorf("the working tree: %s", text)
	}
}

func TestHistory_Mistakes(t *testing.T) {
	t.Parallel()
	here := commitsIn(t, plain)
	here.put(t, "small.yaml", small)
	here.bench(t, "run", "small.yaml", "--out", "out", "--quiet", "--progress", "none").want(t, Good)
	run := here.latest(t, "out", "small")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{}, "expected add, analyze, bless, backfill, report or roc"},
		{[]string{"add"}, "expected a run"},
		{[]string{"add", "nowhere"}, "nowhere"},
		{[]string{"add", run, "--commit", "nothing"}, `"nothing" is no commit of this repository`},
		{[]string{"add", run, "--commit", "c0", "--store", "small.yaml"}, "small.yaml is a file"},
		{[]string{"add", run, "--commit", "c0", "--store", "git:a..b"}, "not a valid name of a git reference"},
		{[]string{"analyze"}, "history has no runs; bench history add RUN adds one"},
		{[]string{"analyze", "--format", "xml"}, "xml"},
		{[]string{"analyze", "--alpha", "2"}, "--alpha 2"},
		{[]string{"analyze", "--least", "5"}, "--least 5"},
		{[]string{"analyze", "--where", "x"}, `--where "x"`},
		{[]string{"bless", "c0"}, "expected --reason"},
		{[]string{"bless", "--reason", "x"}, "0 arguments"},
		{[]string{"bless", "nothing", "--reason", "x"}, "is no commit"},
		{[]string{"backfill", "c0", "small.yaml"}, `"c0" is no range`},
		{[]string{"backfill", "c0..c0", "small.yaml"}, "no commit is in c0..c0"},
		{[]string{"roc", "--alarms", "-1"}, "--alarms -1"},
	} {
		r := here.bench(t, append([]string{"history"}, c.args...)...)
		if r.code != Usage && r.code != CouldNotRun || !strings.Contains(flat(r.errors), c.want) {
			t.Errorf("%v: %d %s; want %s", c.args, r.code, r.errors, c.want)
		}
	}
	here.bench(t, "history", "add", run, "--commit", "c0").want(t, Good)
	has(t, flat(here.bench(t, "history", "add", run, "--commit", strings.Repeat("a", 40)).want(t, Good).out),
		"small, 8 cells")
	has(t, flat(here.bench(t, "history", "analyze", "--since", strings.Repeat("b", 40)).want(t, Usage).errors),
		"is not among the analysed commits")
}

// TestHistory_Where: --where finds what that of bench compare finds, and is the same mistake where it finds
// nothing. An example of the help blesses what it names.
func TestHistory_Where(t *testing.T) {
	t.Parallel()
	here := commitsIn(t, plain, plain)
	here.put(t, "small.yaml", small)
	var runs []string
	for i, delay := range []string{"5ms", "25ms"} {
		out := fmt.Sprint("out", i)
		here.bench(t, "run", "small.yaml", "--out", out, "--quiet", "--progress", "none", "--set",
			"detector.delay="+delay).want(t, Good)
		runs = append(runs, here.latest(t, out, "small"))
		here.bench(t, "history", "add", runs[i], "--commit", fmt.Sprint("c", i)).want(t, Good)
	}
	for where, found := range map[string]bool{"label=bully": true, "algorithm=bully": true, "nodes=3.0": true,
		"algorithm=election/bully": true, "nodes=99": false, "algorithm=nobody": false, "nosuch=1": false} {
		a := here.bench(t, "history", "analyze", "--where", where)
		b := here.bench(t, "compare", runs[0], runs[1], "--where", where)
		if found && (a.code != Missed || b.code != Missed) || !found && (a.code != Usage || b.code != Usage) {
			t.Errorf("--where %s: history analyze %d, compare %d: %s", where, a.code, b.code, a.errors)
		}
	}
	has(t, flat(here.bench(t, "history", "analyze", "--where", "nosuch=1").want(t, Usage).errors),
		`--where: unknown column "nosuch" (has: problem, algorithm, `)
	has(t, flat(here.bench(t, "history", "bless", "c1", "--where", "nosuch=1", "--reason", "x").want(t,
		Usage).errors), `unknown column "nosuch"`)
	has(t, flat(here.bench(t, "history", "report", "--where", "label=raft").want(t, Usage).errors),
		`unknown value of label "raft" (has: bully, ring)`)
	has(t, here.bench(t, "history", "analyze", "--where", "transport=nats").want(t, Good).out,
		"no cell has transport=nats")
	has(t, here.bench(t, "compare", runs[0], runs[1], "--where", "transport=nats").want(t, Good).out,
		"no cell has transport=nats")
	for _, format := range []string{"csv", "json", "markdown", "latex", "junit", "gobench", "github", "bmf", "hgrm",
		"pgfplots"} {
		has(t, here.bench(t, "export", runs[0], "--format", format, "--where", "transport=nats").want(t, Good).errors,
			"no cell has transport=nats")
		here.bench(t, "export", runs[0], "--format", format, "--where", "label=raft").want(t, Usage)
	}
	has(t, here.bench(t, "report", runs[0], "--figures", "f", "--where", "transport=nats").want(t, Good).errors,
		"no cell has transport=nats")
	here.bench(t, "report", runs[0], "--figures", "f", "--where", "label=raft").want(t, Usage)
	here.bench(t, "history", "bless", "c1", "--where", "algorithm=bully", "--reason", "meant").want(t, Good)
	here.bench(t, "history", "analyze", "--where", "label=bully").want(t, Good)
	here.bench(t, "history", "analyze", "--where", "label=ring").want(t, Missed)
}

// TestHistory_Git: what is not history's stays as it is, and no word of the command line is an option of git
// or of the compiler.
func TestHistory_Git(t *testing.T) {
	t.Parallel()
	here := commitsIn(t, plain, plain)
	here.put(t, "small.yaml", small)
	here.bench(t, "run", "small.yaml", "--out", "out", "--quiet", "--progress", "none").want(t, Good)
	here.put(t, "main.go", "package main\n\nfunc main() {}\n") // what go build has without a package
	here.git(t, "add", "main.go")
	here.git(t, "commit", "--quiet", "--message", "a program at the top")
	run, branch := here.latest(t, "out", "small"), here.git(t, "rev-parse", "--abbrev-ref", "HEAD")
	refs := here.git(t, "show-ref", "--head")
	harm := "--output=harm"
	for _, args := range [][]string{
		{"history", "add", run, "--commit", "c0", "--store", "git:" + branch},
		{"history", "add", run, "--commit", "c0", "--store", "git:HEAD"},
		{"history", "add", run, "--commit", "c0", "--store", "git:--upload-pack=touch harm; false"},
		{"history", "add", run, "--commit", "c0", "--store", "git:new", "--push", "--upload-pack=touch harm; false"},
		{"history", "add", run, "--commit", "c0", "--store", "git:new", "--push", ""},
		{"history", "add", run, "--commit", harm},
		{"history", "bless", "c0", "--reason", "x", "--store", "git:" + branch},
		{"history", "bless", "--reason", "x", "--", harm},
		{"history", "backfill", "c0..c1", "small.yaml", "--store", "git:" + branch},
		{"history", "backfill", "small.yaml", "--", harm + "..c1"},
		{"history", "analyze", "--store", "git:refs/tags/c0"},
		{"gate", "--base", harm, "small.yaml", "--package", "."},
		{"bisect", "small.yaml", "--trial", "1", "--", harm, "c1"},
	} {
		r := here.bench(t, args...)
		if r.code != Usage {
			t.Errorf("%q: %d %s", args, r.code, r.errors)
		}
	}
	here.bench(t, "history", "backfill", "c1..HEAD", "small.yaml", "--package",
		"-o="+filepath.Join(here.git(t, "rev-parse", "--show-toplevel"), "harm"))
	if _, err := os.Stat(here.path("harm")); err == nil {
		t.Error("a word was taken for an option")
	}
	if now := here.git(t, "show-ref", "--head"); now != refs {
		t.Errorf("references were\n%s\nand are\n%s", refs, now)
	}
}

// TestHistory_Shallow: a clone that lacks the commits of the runs says that, and what gets them.
func TestHistory_Shallow(t *testing.T) {
	t.Parallel()
	here := commitsIn(t, plain, plain)
	here.put(t, "small.yaml", small)
	here.bench(t, "run", "small.yaml", "--out", "out", "--quiet", "--progress", "none").want(t, Good)
	top := here.dir
	store := filepath.Join(top, "kept")
	here.bench(t, "history", "add", here.latest(t, "out", "small"), "--commit", "c0", "--store", store).want(t, Good)
	here.git(t, "clone", "--quiet", "--depth=1", "file://"+filepath.ToSlash(top), "shallow")
	here = here.in("shallow")
	has(t, flat(here.bench(t, "history", "analyze", "--store", store).want(t, Usage).errors),
		"none of the 1 runs", "is a shallow clone: git fetch --unshallow", "fetch-depth: 0")
	here.bench(t, "history", "analyze", "--store", store, "--all").want(t, Good)
	here.bench(t, "history", "add", filepath.Join(top, "out", "small", "latest"), "--commit", "HEAD", "--store",
		store).want(t, Good)
	has(t, flat(here.bench(t, "history", "analyze", "--store", store).want(t, Good).out), "is a shallow clone")
}

// TestMarkdownTrends: a pull request is told of the newest changes first.
func TestMarkdownTrends(t *testing.T) {
	var a history.Analysis
	for i := range 5 {
		f := &history.Finding{Kind: history.Changed, Verdict: history.Worse}
		f.Commit.Hash = strings.Repeat(fmt.Sprint(i), 40)
		f.From, f.To = f.Commit, f.Commit
		a.Findings = append(a.Findings, f)
	}
	var text strings.Builder
	if err := answer.Named("markdown").Write(&text, a.Document("")); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text.String(), "\n")
	for i, want := range []string{"## 5 changes for the worse in 0 runs", "", "- 0 runs of 0 commits", "", "The newest 3 of 5:", "",
		"- 4444", "- 3333", "- 2222", ""} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d: %s; want %s", i+1, lines[i], want)
		}
	}
}

// trends are what programs read of an analysis.
type trends struct {
	Runs     int
	Bad      int `json:"worse_unblessed"`
	Findings []struct {
		Kind             history.Kind
		Verdict          history.Verdict
		Subject, Blessed string
		Unmeasured       int
	}
	Series []struct{ Values []float64 }
}

const slowing = `
name: slowing
problem: mutex
algorithms: [{name: test-slower, params: {after: %s}}]
transport: %s
nodes: 2
scenario: {kind: sequential, requests: 1}
repetitions: 9
`

// slowed adds runs of a program that is 1 % slower with each commit from one on, and tells what is found
// whenever one has been added. It stops at what the machine has spoiled, and says how.
func slowed(t *testing.T, transport string, commits, from int, found func(last int, r trends)) (spoiled string) {
	t.Helper()
	const tolerance = 0.004 // of what the machine adds to a wait: less than half of a commit
	// so long that it matters little how late a busy machine wakes a process
	const quick = 100 * time.Millisecond
	here := commitsIn(t, make([]string, commits)...)
	var added []float64 // to the wait, as a factor
	for i := range commits {
		after := time.Duration(math.Pow(1.01, float64(max(0, i-from+1))) * float64(quick))
		here.put(t, "slowing.yaml", fmt.Sprintf(slowing, after, transport))
		ran := here.bench(t, "run", "slowing.yaml", "--out", "out", "--quiet", "--progress", "none")
		if ran.code == Incomplete {
			return fmt.Sprintf("commit %d: %s", i, ran.errors)
		}
		ran.want(t, Good)
		here.bench(t, "history", "add", "out/slowing/latest", "--commit", fmt.Sprint("c", i)).want(t, Good)
		var got trends
		r := here.bench(t, "history", "analyze", "--format", "json", "--metrics", "waiting_ms", "--least", "0.1%")
		if err := answer.Unmarshal([]byte(r.out), &got); err != nil {
			t.Fatalf("%v: %s%s", err, r.out, r.errors)
		}
		if values := got.Series[0].Values; transport == "nats" {
			added = append(added, values[len(values)-1]*1e6/float64(after))
			if least, most := slices.Min(added), slices.Max(added); most > least*(1+tolerance) {
				return fmt.Sprintf("commit %d: the machine makes waits %.5f to %.5f times as long", i, least, most)
			}
		}
		found(i, got)
	}
	return ""
}

// TestHistory_Exact: each of twelve commits that make a simulated figure 1 % worse is named as soon as
// it is added.
func TestHistory_Exact(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "makes runs of many commits")
	const from = 2
	slowed(t, "sim", from+12, from, func(last int, r trends) {
		if want := max(0, last-from+1); len(r.Findings) != want {
			t.Fatalf("commit %d: %d findings, want %d", last, len(r.Findings), want)
		}
		for i, f := range r.Findings {
			if f.Subject != fmt.Sprint("commit ", from+i) || f.Verdict != history.Worse ||
				f.Unmeasured > 0 {
				t.Errorf("finding %d: %+v", i, f)
			}
		}
	})
}

// TestHistory_Drift: the same on real processes is told by the fourth commit, and its place within two. A
// machine that does other work besides may lengthen a run by more than a commit does: what it has spoiled
// is measured again, and not judged if it stays as busy.
func TestHistory_Drift(t *testing.T) {
	slowtest.Skip(t, "it runs 24 experiments on real processes")
	const from = 12
	spoiled, misjudgements := 0, 0
	for {
		var wrong []string
		why := slowed(t, "nats", from+12, from, func(last int, r trends) {
			if text := misjudged(r, from, last); text != "" {
				wrong = append(wrong, fmt.Sprintf("commit %d: %s, in %.5v", last, text, r.Series[0].Values))
			}
		})
		switch {
		case why != "":
			t.Log(why)
			if spoiled++; spoiled == 4 {
				t.Log("not judged: this machine is busy")
				return
			}
		case len(wrong) == 0:
			return
		default:
			t.Log(strings.Join(wrong, "\n"))
			if misjudgements++; misjudgements == 2 { // three in a hundred series are, by chance
				t.Fatal("a drift of 1 % a commit is told late, elsewhere, or where there is none")
			}
		}
	}
}

// misjudged is what is wrong with findings of a drift that began at a commit, when another is the last.
func misjudged(r trends, from, last int) string {
	switch {
	case last < from && len(r.Findings) > 0:
		return "nothing has changed, and this is found: " + r.Findings[0].Subject
	case last < from+3: // the fourth
		return ""
	case len(r.Findings) == 0:
		return "nothing is found"
	}
	drifts := false
	for _, f := range r.Findings {
		if f.Verdict != history.Worse {
			return fmt.Sprintf("%s is found to be %s", f.Subject, f.Verdict)
		}
		drifts = drifts || f.Kind == history.Drift
	}
	var at int
	if _, err := fmt.Sscanf(r.Findings[0].Subject, "commit %d", &at); err != nil || at < from-2 ||
		at > from+2 {
		return "the change is found at " + r.Findings[0].Subject
	}
	if last > from+7 && !drifts {
		return "no drift is found, but " + string(r.Findings[0].Kind)
	}
	return ""
}
