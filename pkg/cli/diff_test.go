package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// TestDiff_Algorithms: the first message at which two algorithms part, on one trial.
func TestDiff_Algorithms(t *testing.T) {
	t.Parallel()
	file := write(t, "small.yaml", small)
	r := bench(t, "diff", "bully", "ring-list", file, "--trial", "8", "--events", "2").want(t, Missed)
	narrow(t, r.out)
	has(t, r.out, "A  bully\nB  ring-list\nleader-crash, 3 processes, repetition 1, seed ",
		"the same: 6 events, up to ", "they diverge at message 1:\n  A  ", "p1 sends ELECTION{Attempt:",
		"p1 sends ELECTION{List:[1]} to p2", "what followed the last common event:\n", "  A  ... and ",
		"sent ANSWER", "messages_per_election  ")
	if strings.Contains(r.out, "variables differ") {
		t.Error("no variable of theirs has the same name")
	}
	// Trial 8 is bully's and trial 36 that of ring, of the same trial: any of both names it.
	other := bench(t, "diff", "bully", "ring-list", file, "--trial", "36", "--events", "2").want(t, Missed)
	if other.out != r.out {
		t.Errorf("trial 36 is another trial than trial 8:\n%s\nand\n%s", other.out, r.out)
	}
	// The label of the file is the trial that the file has.
	has(t, bench(t, "diff", "ring", "ring-list", file, "--trial", "36").want(t, Good).out, "to the last\n")
	r = bench(t, "diff", "bully", "ring-list", file, "--trial", "8", "--json").want(t, Missed)
	got, err := answer.Decode([]byte(r.out))
	if err != nil {
		t.Fatal(err)
	}
	parts, follows, outcome := got.Table("parts_at_message"), got.Table("follows"), got.Table("outcome")
	if got.Facts["same"] != false || got.Facts["common_events"] != 6.0 || got.Facts["common_messages"] != 0.0 ||
		len(parts) != 2 || parts[1]["message"] != "ELECTION" || parts[1]["side"] != "B" || len(follows) != 20 ||
		len(outcome) < 4 || outcome[0]["name"] != "messages" || got.Exit != Missed {
		t.Errorf("%+v", got)
	}
}

// TestDiff_Params: the draws are those of the trial; only the parameter differs.
func TestDiff_Params(t *testing.T) {
	t.Parallel()
	r := bench(t, "diff", "bully", "bully,t_answer=90ms,est=[3,1,2]", "--nodes", "3").want(t, Missed)
	has(t, r.out, "variables differ from event 1 on, p1 at 0s: A sets ", "t 26ms", "t 90ms")
	has(t, bench(t, "diff", "bully", "election/bully,params.t_answer=26ms").want(t, Good).out,
		"B  election/bully,params.t_answer=26ms", "the same: ", "to the last")
}

// TestDiff_Set: a set of parameters stands for its values; those beside it come first.
func TestDiff_Set(t *testing.T) {
	t.Parallel()
	values := "raft,check_quorum=true,heartbeat=100ms,pre_vote=true,pre_vote_lease=false,sticky=drop,t_election=1s," +
		"t_election_spread=1s,tick=100ms"
	has(t, bench(t, "diff", "raft,set=etcd", values).want(t, Good).out, "to the last\n")
	has(t, bench(t, "diff", "raft,set=etcd", "raft, set=etcd,pre_vote=false").want(t, Missed).out,
		"A sets preVote true, B preVote false")
}

// TestDiff_Subject: what follows from an algorithm's own time-outs is the same for both.
func TestDiff_Subject(t *testing.T) {
	t.Parallel()
	r := bench(t, "diff", "bully", "bully,t_answer=90ms,t_coordinator=200ms", "--events", "3").want(t, Missed)
	has(t, r.out, "they diverge at message", "election_ms")
	if strings.Contains(r.out, "crashes") {
		t.Errorf("the crash is not at the same instant:\n%s", r.out)
	}
}

// TestDiff_Folders: a trial is that of its trace, or is simulated again if it is what was recorded.
func TestDiff_Folders(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	file := write(t, "small.yaml", small)
	for _, keep := range []string{"all", "none"} {
		bench(t, "run", file, "--out", filepath.Join(root, keep), "--quiet", "--set", "trace="+keep).want(t, Good)
	}
	kept, again := latest(t, root+"/all", "small"), latest(t, root+"/none", "small")
	has(t, bench(t, "diff", kept, again, "--trial", "3").want(t, Good).out, "trial 3\n\nthe same: ")
	bench(t, "run", file, "--out", filepath.Join(root, "seed"), "--quiet", "--set", "seed=2").want(t, Good)
	other := latest(t, root+"/seed", "small")
	has(t, bench(t, "diff", kept, other, "--trial", "3").want(t, Missed).out, "p3 crashes", "they diverge at message")

	// A run of another build: its trial had more messages.
	e, err := experiment.Load(file, experiment.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	config, _ := e.Resolved()
	attempts, err := results.ReadAttempts(again, 3)
	if err != nil {
		t.Fatal(err)
	}
	attempts[0].Set(metric.Messages.Of(attempts[0].Value(metric.Messages) + 1))
	store, err := results.Create(root, runner.Header(e, nil), config)
	if err == nil {
		err = store.AppendGroup(attempts)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	has(t, bench(t, "diff", again, store.Dir(), "--trial", "3").want(t, CouldNotRun).errors,
		"trial 3 differs from the record in ", "messages was 6 and is 5; another build ran it")
}

func TestDiff_Mistakes(t *testing.T) {
	t.Parallel()
	file := write(t, "small.yaml", small)
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ args, says string }{
		"one side":         {"bully", "1 argument, expected two sides"},
		"two kinds":        {"bully " + dir, "bully is an algorithm and " + dir + " is a folder"},
		"unknown":          {"bully buly", `did you mean "election/bully"?`},
		"problems":         {"bully naimi-trehel", "solve different problems"},
		"folders and FILE": {dir + " " + dir + " " + file, "have their experiments; leave " + file + " out"},
		"folders and set":  {dir + " " + dir + " --set nodes=3", "are for algorithms"},
		"no FILE":          {self + " " + self, "expected what both programs simulate"},
		"which trial":      {"bully bully " + file, "56 trials; add --trial N"},
		"which, of builds": {self + " " + self + " " + file, "56 trials; add --trial N"},
		"no such trial":    {"bully bully " + file + " --trial 57", "trials 1 to 56"},
		"nodes and FILE":   {"bully bully " + file + " --nodes 3", "--set nodes=5"},
		"param":            {"bully bully,t_answer", `"t_answer", expected NAME=VALUE`},
		"unknown param":    {"bully bully,t_answr=1ms", "t_answer"},
		"in the file":      {"bully bully,t_answr=1ms --trial 1 " + file, "t_answer"},
		"several nodes":    {"bully bully --nodes 3,5", "expected one number"},
		"no set":           {"bully bully,set=etcd", `unknown set "etcd": bully has none`},
		"an experiment":    {file + " " + file, "is an experiment, which both sides share"},
		"no program":       {"./no-bench ./no-bench " + file, "./no-bench: there is no such folder or program"},
		"no folder":        {"results/x results/y", "results/x: there is no such folder or program"},
		"number":           {"bully bully --events -1", "no number below 0"},
		"no word":          {"bully ,", "an empty word"},
	} {
		t.Run(name, func(t *testing.T) {
			has(t, bench(t, append([]string{"diff"}, strings.Fields(test.args)...)...).want(t, Usage).errors,
				test.says)
		})
	}
	empty := write(t, "bench", "")
	r := bench(t, "diff", empty, empty, file, "--trial", "1").want(t, CouldNotRun)
	has(t, r.errors, "does not simulate trial 1: fork/exec")
	if strings.HasSuffix(r.errors, ":\n") {
		t.Errorf("nothing behind the colon: %q", r.errors)
	}
}
