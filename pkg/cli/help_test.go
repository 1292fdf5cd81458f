package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

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

// TestCompletion_Bash: what is missing is told where the script is asked for.
func TestCompletion_Bash(t *testing.T) {
	t.Parallel()
	has(t, bench(t, "completion", "bash", "--help").want(t, Good).out, "_get_comp_words_by_ref",
		"source /usr/share/bash-completion/bash_completion")
}
