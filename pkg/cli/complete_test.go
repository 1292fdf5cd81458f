package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// completed asks as the shell does what can stand in the last of the words.
func completed(t testing.TB, words ...string) (found []string, d cobra.ShellCompDirective) {
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
		{"describe election/", words, []string{"election/bully", "election/ring-list"}},
		{"describe bu", words, []string{"bully"}},
		{"describe bully _", words, nil},
		{"verify mutex/n", words, []string{"mutex/naimi-trehel"}},
		{"run --algorithms ri", more, []string{"ring-list"}},
		{"run --algorithms bully,", more, []string{"bully,election/ring-list"}},
		{"plan --algorithms mutex/test-greedy,mutex/n", more,
			[]string{"mutex/test-greedy,mutex/naimi-trehel"}},
		{"run --set network.lo", more, []string{"network.loss="}},
		{"plan --set params.mod", more, []string{"params.mode="}},
		{"run --set params.mode=", words, []string{"params.mode=fast", "params.mode=safe"}},
		{"run --set transport=", words, []string{"transport=nats", "transport=sim"}},
		{"run --set hosting.reuse=", words, []string{"hosting.reuse=true", "hosting.reuse=false"}},
		{"run --set nodes=", words, nil},
		{"run --set nothing=", words, nil},
		{"run --transport _", words, []string{"nats", "sim"}},
		{"plan --transport _", words, []string{"nats", "sim"}},
		{"run --progress _", words, progressModes},
		{"compare --format _", words, compareFormats},
		{"run _", kinds, extensions},
		{"plan _", kinds, extensions},
		{"run a.yaml _", words, nil},
		{"run --resume _", folders, nil},
		{"run --out _", folders, nil},
		{"run --workers _", words, nil},
		{"replay _", folders, nil},
		{"replay results/x --trial _", words, nil},
		{"verify bully --cases _", files, nil},
		{"schema _", words, nil},
		{"list _", words, nil},
	} {
		line := strings.Split(c.line, " ")
		if line[len(line)-1] == "_" {
			line[len(line)-1] = ""
		}
		if got, d := completed(t, line...); d != c.d || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, directive %d, want %q, %d", c.line, got, d, c.want, c.d)
		}
	}
}

// Keys and kinds of scenarios are many: some are looked for.
func TestComplete_Keys(t *testing.T) {
	keys, _ := completed(t, "run", "--set", "")
	for _, want := range []string{"nodes=", "repetitions=", "scenario.kind=", "bus.tls.ca=", "params.patience="} {
		if !slices.Contains(keys, want) {
			t.Errorf("no %s among %q", want, keys)
		}
	}
	out := bench(t, "__complete", "run", "--set", "scenario.kind=").want(t, Good).out
	has(t, out, "scenario.kind=churn\t", "scenario.kind=open\trequests arrive as a Poisson process")
}

// Each word that is offered is one that the command takes.
func TestComplete_OffersWhatIsTaken(t *testing.T) {
	file := write(t, "small.yaml", small)
	keys, _ := completed(t, "plan", "--set", "")
	for _, key := range keys {
		values, _ := completed(t, "plan", "--set", key)
		for _, value := range values {
			r := bench(t, "plan", file, "--set", value)
			if strings.Contains(r.errors, "unknown key") || strings.Contains(r.errors, "want one of") {
				t.Errorf("--set %s: %s", value, r.errors)
			}
		}
	}
}

func TestSchema_IsJSON(t *testing.T) {
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
