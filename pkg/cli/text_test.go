package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/metric"
)

func TestList_Golden(t *testing.T) {
	t.Parallel()
	words, metrics, _ := strings.Cut(bench(t, "list").want(t, Good).out, "Metrics of every trial\n")
	golden(t, "list.txt", words)
	for _, m := range metric.All() {
		if !strings.Contains(metrics, "\n  "+m.Name+" ") && !strings.HasPrefix(metrics, "  "+m.Name+" ") {
			t.Errorf("no line for %s", m.Name)
		}
	}
}

func TestDescribe_Golden(t *testing.T) {
	t.Parallel()
	golden(t, "describe.txt", bench(t, "describe", "test-everything").want(t, Good).out)
	golden(t, "describe.json",
		bench(t, "describe", "mutex/test-everything", "--json").want(t, Good).out)
}

func TestPlan_Golden(t *testing.T) {
	t.Parallel()
	path := write(t, "small.yaml", small)
	golden(t, "plan.txt", bench(t, "plan", path).want(t, Good).out)
}

// Estimates and hashes differ between machines and releases: of the JSON, the
// form alone is checked.
func TestPlan_JSON(t *testing.T) {
	t.Parallel()
	path := write(t, "small.yaml", small)
	var r struct {
		Trials int
		Cells  []struct {
			Design     map[string]string
			InModel    bool     `json:"in_model"`
			OutOfModel []string `json:"out_of_model"`
		}
	}
	if err := answer.Unmarshal([]byte(bench(t, "plan", path, "--json").want(t, Good).out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Trials != 56 || len(r.Cells) != 8 || r.Cells[1].InModel || len(r.Cells[1].OutOfModel) != 1 ||
		r.Cells[7].Design["nodes"] != "5" {
		t.Errorf("plan: %+v", r)
	}
}

func TestPlan_ResolvedIsAnExperiment(t *testing.T) {
	t.Parallel()
	resolved := bench(t, "plan", write(t, "small.yaml", small), "--resolved").want(t, Good).out
	again := bench(t, "plan", write(t, "again.yaml", resolved), "--resolved").want(t, Good).out
	if again != resolved {
		t.Errorf("the resolved experiment resolves to another:\n%s", again)
	}
}

func TestUsageErrors(t *testing.T) {
	t.Parallel()
	file := write(t, "small.yaml", small)
	wrong := write(t, "wrong.yaml", small+"repititions: 3\nnodes: -1\n")
	cases := []struct {
		name string
		args string
		says []string
	}{
		{"unknown verb", "rnu", []string{`unknown command "rnu"; did you mean "run"?`}},
		{"unknown verb with flags", "rnu --transport sim", []string{`did you mean "run"?`}},
		{"unknown topic", "help rnu", []string{`did you mean "run"?`}},
		{"unknown flag", "run --trasnport sim", []string{`unknown flag "--trasnport"`,
			`did you mean "--transport"?`}},
		{"a key as a flag", "run x --retries 3", []string{"write --set retries=VALUE"}},
		{"the last part of a key", "plan x --loss 3", []string{"write --set network.loss=VALUE"}},
		{"one metric where several may be", "report x --metric messages", []string{`"--metric"; write --metrics`}},
		{"several metrics where one may be", "bisect a b c --metrics messages", []string{`"--metrics"; write --metric`}},
		{"a seed that is none", "run " + file + " --seed two", []string{"seed=two", "expected a whole number"}},
		{"two seeds", "run " + file + " --seed 2 --set seed=3", []string{"leave one of them out"}},
		{"resume with a seed", "run --resume x --seed 2", []string{"--seed with --resume"}},
		{"report of nothing", "report nothing", []string{"nothing: no run there"}},
		{"export of nothing", "export nothing --json", []string{"nothing: no run there"}},
		{"a run of nothing", "replay nothing --trial 1", []string{"nothing: no run there"}},
		{"resume of nothing", "run --resume nothing", []string{"nothing: no run there"}},
		{"both formats", "trace x --trial 1 --json --format svg", []string{"both --json and --format svg"}},
		{"flag without value", "run --out", []string{"bench: run: flag needs an argument: --out"}},
		{"flag with a wrong value", "run x --workers many", []string{"--workers"}},
		{"no experiment", "run", []string{"expected FILE or --algorithms"}},
		{"two files", "run a.yaml b.yaml", []string{"2 files"}},
		{"file and algorithms", "run " + file + " --algorithms bully", []string{"--set"}},
		{"no such file", "run nowhere.yaml", []string{"bench: nowhere.yaml: "}},
		{"mistakes in the file, all of them", "run " + wrong,
			[]string{`did you mean "repetitions"?`, "wrong.yaml:11: nodes: "}},
		{"mistake in an override", "plan " + file + " --set network.loss=2",
			[]string{"--set network.loss=2"}},
		{"mode of progress", "run " + file + " --progress pretty", []string{`"pretty"`, "plain"}},
		{"workers with real nodes", "run " + file + " --transport nats --workers 2",
			[]string{"--transport sim"}},
		{"resume with a file", "run --resume x " + file, []string{"takes no FILE"}},
		{"resume with an override", "run --resume x --set seed=2", []string{"--set with --resume"}},
		{"unknown algorithm", "describe mutex/naimi-trehal",
			[]string{`did you mean "mutex/naimi-trehel"?`}},
		{"unknown name", "describe naimi-trehal", []string{`did you mean "mutex/naimi-trehel"?`}},
		{"too many names", "describe a b", []string{"expected one ID"}},
		{"an algorithm whose package would be a keyword", "new algorithm election/func",
			[]string{"func cannot be the name of a Go package", "election/func-1"}},
		{"an algorithm whose package would be a command", "new algorithm mutex/main", []string{"mutex/main-1"}},
		{"list of no such family", "list all", []string{`unknown family "all"`, "metrics"}},
		{"replay of no run", "replay", []string{"--trial N"}},
		{"init over a file", "init " + file, []string{"--force"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := bench(t, strings.Fields(c.args)...).want(t, Usage)
			has(t, r.errors, c.says...)
			if r.out != "" {
				t.Errorf("standard output has %q", r.out)
			}
			for line := range strings.Lines(r.errors) {
				if c.args != "" && !strings.HasPrefix(line, "bench: ") && !strings.HasPrefix(line, "  ") {
					t.Errorf("a line without the command's name: %q", line)
				}
			}
		})
	}
}

// The environment overrides the file, and names itself when it is wrong.
func TestEnvironment(t *testing.T) {
	var out, errors strings.Builder
	s := newStreams(nil, &out, &errors, []string{"CONCLAVE_NETWORK__LOSS=7"})
	if code := s.bench([]string{"plan", write(t, "small.yaml", small)}); code != Usage {
		t.Errorf("exit code %d", code)
	}
	has(t, errors.String(), "CONCLAVE_NETWORK__LOSS")
}

// bullyCases are the reference cases of one algorithm.
var bullyCases, _ = filepath.Abs("../../internal/commands/conform/testdata/cases/election/bully.yaml")

// Every example of every command runs as it stands.
func TestExamples(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "runs the examples of all commands")
	here := newFolder(t)
	here.put(t, "configs/quickstart.yaml", strings.NewReplacer("name: small", "name: quickstart",
		"{name: ring-list, label: ring}", "ring-list").Replace(small))
	if err := os.CopyFS(here.path("configs/papers"), os.DirFS(study(t, "bully-best", stated))); err != nil {
		t.Fatal(err)
	}
	here.bench(t, "run", "configs/quickstart.yaml").want(t, Good)
	for _, shard := range []string{"1/4", "2/4", "3/4", "4/4"} {
		here.bench(t, "run", "configs/quickstart.yaml", "--shard", shard).want(t, Good)
	}
	for _, folder := range []string{"results/base", "results/new"} {
		if err := os.CopyFS(here.path(folder), os.DirFS(here.latest(t, "results", "quickstart"))); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"cases.yaml": string(must(os.ReadFile(bullyCases))), "configs/tuning.yaml": noisy, "configs/rare.yaml": lossy,
		// a clone, as far as bench new looks
		"go.mod": "module " + program.Core + "\n", "plugins/all/all.go": "import (\n)\n",
		"scripts/algorithms/findings.yaml": "breaks:\n  - algorithm: a\n", "scripts/generate.sh": "",
	} {
		here.put(t, name, text)
	}
	var commands []*cobra.Command
	root := newStreams(nil, &strings.Builder{}, &strings.Builder{}, nil).root(nil)
	for todo := []*cobra.Command{root}; len(todo) > 0; todo = todo[1:] {
		commands = append(commands, todo[0])
		todo = append(todo, todo[0].Commands()...)
	}
	names := []string{}
	for _, c := range commands {
		names = append(names, c.Name())
		if c.Runnable() && c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			if strings.HasPrefix(c.CommandPath(), "bench history") { // it wants commits: TestHistory has it
				continue
			}
			if strings.HasPrefix(c.CommandPath(), "bench queue") { // it needs NATS: TestQueue has it
				continue
			}
			if strings.HasPrefix(c.CommandPath(), "bench fleet") { // it wants machines: scripts/fleet-trial.sh
				continue
			}
			if strings.HasPrefix(c.CommandPath(), "bench hub") || c.Name() == "join" { // they stay: TestRun_Hub
				continue
			}
			switch c.Name() {
			case "prove": // it wants plugins that are not linked here: docs/how-to/prove.md has it
				continue
			case "advise": // it wants pings and other plugins: docs/how-to/advise.md has it
				continue
			case "work", "workers": // they need NATS: internal/runs/queue has it
				continue
			case "calibrate": // it takes ten seconds: docs/explanation/twin.md has it
				continue
			case "twin": // it wants a run on real nodes: TestTwin has it
				continue
			case "diff": // its code says that they differ: TestDiff has it
				continue
			case "bisect": // it wants a repository: TestBisect has it
				continue
			case "gate": // likewise: TestGate has it
				continue
			case "serve": // it stays until Ctrl-C: TestServe has it
				continue
			}
			args := words(line)
			if len(args) == 0 || args[0] != "bench" {
				t.Errorf("%s: example %q", c.CommandPath(), line)
				continue
			}
			r := here.bench(t, args[1:]...)
			if r.code != Good {
				t.Errorf("%s: exit code %d\n%s%s", strings.TrimSpace(line), r.code, r.out, r.errors)
			}
		}
		if c == root { // the next command's examples begin without its file
			if err := os.Remove(here.path("experiment.yaml")); err != nil {
				t.Error(err)
			}
		}
	}
	for _, name := range []string{"run", "plan", "list", "describe", "verify", "replay", "compare", "init", "version"} {
		if !slices.Contains(names, name) {
			t.Errorf("no command %s", name)
		}
	}
}

// words splits a line as a shell does that knows single quotes alone.
func words(line string) []string {
	var out []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}

func TestHelp_NeedsNoStandardError(t *testing.T) {
	r := bench(t, "help", "run").want(t, Good)
	has(t, r.out, "--resume DIR", "Examples:")
	if r.errors != "" {
		t.Errorf("standard error has %q", r.errors)
	}
}

func TestVersion_JSON(t *testing.T) {
	d, err := answer.Decode([]byte(bench(t, "version", "--json").want(t, Good).out))
	if err != nil {
		t.Fatal(err)
	}
	if d.Facts["go"] != runtime.Version() || d.Facts["algorithms"] == 0.0 {
		t.Errorf("%+v", d)
	}
}

// TestVersion_Own: the version of a module of one's own is not sold as Conclave's.
func TestVersion_Own(t *testing.T) {
	t.Parallel()
	settings := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}}
	at := func(path, version string) debug.Module { return debug.Module{Path: path, Version: version} }
	lib, replaced := at(program.Core, "v1.2.3"), at(program.Core, "v0.0.0")
	replaced.Replace = &debug.Module{Path: "../conclave"}
	for _, test := range []struct {
		main          debug.Module
		deps          []*debug.Module
		version, says string
	}{
		{at(program.Core, "v1.2.3"), nil, "v1.2.3", "commit 0123456789ab"},
		{at(program.Core, ""), nil, "(devel)", "commit 0123456789ab"},
		{at("example.com/own", "v0.1.0"), []*debug.Module{&lib}, "v1.2.3", "example.com/own v0.1.0, commit 0123456789ab"},
		{at("example.com/own", ""), []*debug.Module{&replaced}, "(devel)", "example.com/own (devel), commit 0123456789ab"},
	} {
		var b build
		b.read(&debug.BuildInfo{Main: test.main, Deps: test.deps, Settings: settings})
		if b.Version != test.version || b.commit() != test.says {
			t.Errorf("%+v: %q, %q, want %q, %q", test.main, b.Version, b.commit(), test.version, test.says)
		}
	}
}

func TestNode(t *testing.T) {
	var text strings.Builder
	if code := nodeCommand([]string{"hots"}, &text); code != Usage {
		t.Errorf("node hots: exit code %d", code)
	}
}
