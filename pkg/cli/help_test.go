package cli

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conclave-bench/conclave/internal/base/console"
)

// TestHelp_FitsTheTerminal: no help text is wider than a terminal.
func TestHelp_FitsTheTerminal(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	root := newStreams(nil, &out, &out, nil).root(nil)
	for todo := []*cobra.Command{root}; len(todo) > 0; todo = todo[1:] {
		out.Reset()
		if err := todo[0].Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > console.Columns {
				t.Errorf("%s --help: %d columns: %s", todo[0].CommandPath(), n, line)
			}
		}
		todo = append(todo, todo[0].Commands()...)
	}
}

// TestBench_Alone: bench alone is help on standard output, with commands in groups, the first ones first.
func TestBench_Alone(t *testing.T) {
	t.Parallel()
	r := bench(t).want(t, Good)
	golden(t, "bench.txt", r.out)
	if help := bench(t, "--help").want(t, Good); r.errors != "" || help.out != r.out {
		t.Errorf("standard error has %q; --help prints\n%s", r.errors, help.out)
	}
	for _, c := range newStreams(nil, &strings.Builder{}, &strings.Builder{}, nil).root(nil).Commands() {
		if c.GroupID == "" && !slices.Contains([]string{"completion", "help", "schema", "version"}, c.Name()) {
			t.Errorf("%s is in no group", c.Name())
		}
	}
}

// TestVersion_Flag: --version and -v print what bench version does.
func TestVersion_Flag(t *testing.T) {
	t.Parallel()
	want := bench(t, "version").want(t, Good)
	has(t, want.out, "conclave ", "algorithms")
	for _, flag := range []string{"--version", "-v"} {
		if r := bench(t, flag).want(t, Good); r != want {
			t.Errorf("%s: %+v, want %+v", flag, r, want)
		}
	}
}

// TestFlags_Alike: a concept has one name in all commands.
func TestFlags_Alike(t *testing.T) {
	t.Parallel()
	root := newStreams(nil, &strings.Builder{}, &strings.Builder{}, nil).root(nil)
	for todo := []*cobra.Command{root}; len(todo) > 0; todo = todo[1:] {
		c := todo[0]
		c.Flags().VisitAll(func(f *pflag.Flag) {
			several := f.Value.Type() == "stringSlice" || f.Value.Type() == "stringArray"
			switch {
			case f.Name == "metric" && several, f.Name == "metrics" && !several, f.Name == "param",
				f.Name == "silent", f.Name == "filter":
				t.Errorf("%s --%s", c.CommandPath(), f.Name)
			case f.Name == "set" && c.Flags().Lookup("seed") == nil, f.Name == "set" && c.Flags().Lookup("params") == nil,
				f.Name == "format" && c.Flags().Lookup("json") == nil,
				f.Name == "progress" && c.Flags().Lookup("quiet") == nil:
				t.Errorf("%s has --%s, and not what goes with it", c.CommandPath(), f.Name)
			}
		})
		todo = append(todo, c.Commands()...)
	}
}

// TestShorthands: flags for keys do what --set does.
func TestShorthands(t *testing.T) {
	t.Parallel()
	file := write(t, "small.yaml", small)
	plan := func(args ...string) string {
		return bench(t, append([]string{"plan", file, "--resolved"}, args...)...).want(t, Good).out
	}
	want := plan("--set", "seed=7", "--set", "repetitions=9", "--set", "params.t_answer=9ms")
	for _, name := range []string{"t_answer", "params.t_answer"} {
		if got := plan("--seed", "7", "--repetitions", "9", "--params", name+"=9ms"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if want == plan() {
		t.Error("the flags change nothing")
	}
}

// TestHelp_Brief: above its flags, a command has at most two paragraphs of prose and the exit codes.
func TestHelp_Brief(t *testing.T) {
	t.Parallel()
	root := newStreams(nil, &strings.Builder{}, &strings.Builder{}, nil).root(nil)
	for todo := []*cobra.Command{root}; len(todo) > 0; todo = todo[1:] {
		c, prose := todo[0], 0
		for _, part := range strings.Split(c.Long, "\n\n") {
			if !strings.HasPrefix(part, "Exit codes:") && !strings.HasPrefix(part, "  ") {
				prose++
			}
		}
		own := c.Name() != "completion" && !strings.HasPrefix(c.CommandPath(), "bench completion ")
		lists := c.Name() == "export" || c.Name() == "schema" // they have a list or an example between two
		if own && (prose > 2 || strings.Count(c.Long, "\n") > 18 && !lists) {
			t.Errorf("%s: %d paragraphs, %d lines", c.CommandPath(), prose, 1+strings.Count(c.Long, "\n"))
		}
		todo = append(todo, c.Commands()...)
	}
}

// TestCompletion_Bash: what is missing is told where the script is asked for.
func TestCompletion_Bash(t *testing.T) {
	t.Parallel()
	has(t, bench(t, "completion", "bash", "--help").want(t, Good).out, "_get_comp_words_by_ref",
		"source /usr/share/bash-completion/bash_completion")
}
