package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/commands/catalog"
	"github.com/conclave-bench/conclave/internal/commands/progress"
	"github.com/conclave-bench/conclave/pkg/experiment"
)

// completed asks as the shell does what can stand in the last of the words.
func completed(t testing.TB, bench func(testing.TB, ...string) ran, words ...string) (found []string, d cobra.ShellCompDirective) {
	t.Helper()
	out := bench(t, append([]string{"__complete"}, words...)...).want(t, Good).out
	lines := strings.Split(strings.TrimSpace(out), "\n")
	last := lines[len(lines)-1]
	if err := json.Unmarshal([]byte(strings.TrimPrefix(last, ":")), &d); err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	for _, line := range lines[:len(lines)-1] {
		word, _, _ := strings.Cut(line, "\t")
		found = append(found, word)
	}
	return found, d
}

func TestComplete(t *testing.T) {
	t.Parallel()
	const (
		words   = cobra.ShellCompDirectiveNoFileComp
		more    = words | cobra.ShellCompDirectiveNoSpace
		files   = cobra.ShellCompDirectiveDefault
		kinds   = cobra.ShellCompDirectiveFilterFileExt
		folders = cobra.ShellCompDirectiveFilterDirs
	)
	for _, c := range []struct {
		line string // an underscore is an empty word
		d    cobra.ShellCompDirective
		want []string // all of them
	}{
		{"describe election/", words, []string{"election/bully", "election/bully-ok", "election/raft",
			"election/ring-list"}},
		{"describe bu", words, []string{"bully", "bully-ok"}},
		{"describe bully _", words, nil},
		{"verify mutex/n", words, []string{"mutex/naimi-trehel"}},
		{"run --algorithms ri", more, []string{"ring-list"}},
		{"run --algorithms bully,", more, []string{"bully,election/bully-ok", "bully,election/raft",
			"bully,election/ring-list"}},
		{"plan --algorithms mutex/test-greedy,mutex/n", more,
			[]string{"mutex/test-greedy,mutex/naimi-trehel"}},
		{"run --set network.lo", more, []string{"network.loss="}},
		{"plan --set params.mod", more, []string{"params.mode="}},
		{"run --set params.mode=", words, []string{"params.mode=fast", "params.mode=safe"}},
		{"run --set transport=", words, []string{"transport=nats", "transport=sim", "transport=bubble"}},
		{"run --set hosting.reuse=", words, []string{"hosting.reuse=true", "hosting.reuse=false"}},
		{"run --set nodes=", words, nil},
		{"run --set nothing=", words, nil},
		{"run --transport _", words, []string{"nats", "sim", "bubble"}},
		{"plan --transport _", words, []string{"nats", "sim", "bubble"}},
		{"run --progress _", words, progress.Modes},
		{"compare --format _", words, []string{"text", "json", "csv", "markdown", "latex", "junit", "html"}},
		{"run _", kinds, experiment.Extensions()},
		{"plan _", kinds, experiment.Extensions()},
		{"run a.yaml _", words, nil},
		{"run --resume _", folders, nil},
		{"run --out _", folders, nil},
		{"run --workers _", words, nil},
		{"replay _", folders, nil},
		{"replay results/x --trial _", words, nil},
		{"verify bully --cases _", files, nil},
		{"schema _", words, schemas},
		{"list _", words, catalog.Families()},
		{"serve _", folders, nil},
		{"serve results _", words, nil},
		{"serve --port _", words, nil},
		{"serve --po", words, []string{"--port"}},
		{"run --serv", words, []string{"--serve"}},
		{"run --serve --port _", words, nil},
	} {
		line := strings.Split(c.line, " ")
		if line[len(line)-1] == "_" {
			line[len(line)-1] = ""
		}
		if got, d := completed(t, bench, line...); d != c.d || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, directive %d, want %q, %d", c.line, got, d, c.want, c.d)
		}
	}
}

// Keys and kinds of scenarios are many: some are looked for.
func TestComplete_Keys(t *testing.T) {
	t.Parallel()
	keys, _ := completed(t, bench, "run", "--set", "")
	for _, want := range []string{"nodes=", "repetitions=", "scenario.kind=", "bus.tls.ca=", "params.patience="} {
		if !slices.Contains(keys, want) {
			t.Errorf("no %s among %q", want, keys)
		}
	}
	out := bench(t, "__complete", "run", "--set", "scenario.kind=").want(t, Good).out
	has(t, out, "scenario.kind=churn\t", "scenario.kind=open\trequests arrive as a Poisson process")
}

// Columns, their values and metrics are those of the runs that stand before the flag,
// of both if there are two.
func TestComplete_Runs(t *testing.T) {
	t.Parallel()
	const (
		words = cobra.ShellCompDirectiveNoFileComp
		more  = words | cobra.ShellCompDirectiveNoSpace
	)
	here := newFolder(t)
	file := write(t, "small.yaml", small)
	for _, set := range []string{"nodes=3", "nodes=7"} {
		here.bench(t, "run", file, "--set", "sweep=[]", "--set", set, "--set", "repetitions=1", "--quiet",
			"--out", set[6:]).want(t, Good)
	}
	for _, c := range []struct {
		line string // an underscore is an empty word
		d    cobra.ShellCompDirective
		want []string
	}{
		{"export 3/small --where no", more, []string{"nodes="}},
		{"export 3/small --where nodes=", words, []string{"nodes=3"}},
		{"compare 3/small 7/small --where nodes=", words, []string{"nodes=3", "nodes=7"}},
		{"compare 3/small --where label=", words, []string{"label=bully", "label=ring"}},
		{"compare 3/small 7/small --where nothing=", words, nil},
		{"compare 3/small 7/small --ignore l", more, []string{"label", "latency_model", "latency_ms", "loss"}},
		{"compare 3/small 7/small --ignore label,loss,l", more,
			[]string{"label,loss,latency_model", "label,loss,latency_ms"}},
		{"export 3/small --metrics elec", more, []string{"election_ms"}},
		{"report 3/small --metrics elec", more, []string{"election_ms"}},
		{"report 3/small 7/small --x n", words, []string{"nodes"}},
		{"report 3/small --series _", words, []string{"label", "topology"}},
		{"export 3/small --metrics election_ms,duration_ms,d", more, []string{
			"election_ms,duration_ms,detection_ms", "election_ms,duration_ms,downtime_ms",
			"election_ms,duration_ms,downtime_agreed_ms", "election_ms,duration_ms,downtime_led_ms",
			"election_ms,duration_ms,downtime_served_ms",
			"election_ms,duration_ms,delay_error_p50_ms", "election_ms,duration_ms,delay_error_p99_ms",
			"election_ms,duration_ms,delivered", "election_ms,duration_ms,duplicated",
			"election_ms,duration_ms,detector_messages"}},
		{"compare nowhere --metrics _", more, nil},
		{"export --where _", more, nil},
	} {
		got, d := completed(t, here.bench, strings.Split(strings.TrimSuffix(c.line, "_"), " ")...)
		if d != c.d || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, directive %d, want %q, %d", c.line, got, d, c.want, c.d)
		}
	}
	out := here.bench(t, "__complete", "compare", "3/small", "7/small", "--where", "nod").want(t, Good).out
	has(t, out, "nodes=\t3, 7\n")

	// Each word that is offered is one that the command takes.
	metrics, _ := completed(t, here.bench, "export", "3/small", "--metrics", "")
	columns, _ := completed(t, here.bench, "export", "3/small", "--where", "")
	if len(metrics) < 20 || len(columns) < 10 {
		t.Errorf("offered are %q and %q", metrics, columns)
	}
	here.bench(t, "export", "3/small", "--format", "csv", "--metrics", strings.Join(metrics, ",")).want(t, Good)
	here.bench(t, "compare", "3/small", "7/small", "--ignore", "nodes", "--no-fail", "--metrics",
		strings.Join(metrics, ",")).want(t, Good)
	for _, column := range columns {
		values, _ := completed(t, here.bench, "export", "3/small", "--where", column)
		for _, value := range values {
			here.bench(t, "export", "3/small", "--format", "csv", "--where", value).want(t, Good)
		}
		if len(values) == 0 {
			t.Errorf("no value of %s", column)
		}
	}
}

// Each word that is offered is one that the command takes.
func TestComplete_OffersWhatIsTaken(t *testing.T) {
	t.Parallel()
	file := write(t, "small.yaml", small)
	keys, _ := completed(t, bench, "plan", "--set", "")
	for _, key := range keys {
		values, _ := completed(t, bench, "plan", "--set", key)
		for _, value := range values {
			r := bench(t, "plan", file, "--set", value)
			if strings.Contains(r.errors, "unknown key") || strings.Contains(r.errors, "expected ") {
				t.Errorf("--set %s: %s", value, r.errors)
			}
		}
	}
}

func TestSchema_IsJSON(t *testing.T) {
	t.Parallel()
	var s struct {
		Schema     string `json:"$schema"`
		Properties map[string]any
	}
	out := bench(t, "schema").want(t, Good).out
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.Schema, "2020-12") || s.Properties["repetitions"] == nil {
		t.Errorf("%s with %d keys", s.Schema, len(s.Properties))
	}
	has(t, out, `"mutex/test-everything"`, `"patience"`)
}
