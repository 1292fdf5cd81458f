package export

import (
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestCaveats: what the run says of itself, and what is wrong with cells, goes with the figures into each
// format that people read; beside a table that has no place for it.
func TestCaveats(t *testing.T) {
	t.Parallel()
	r := runOf(spec{label: "bully", nodes: 3, status: trace.Unknown}, spec{label: "bully", nodes: 3, status: trace.OK},
		spec{label: "ring", nodes: 3, status: trace.OK})
	const says = "1 of 2 trials have no verdict: bully"
	for _, format := range []string{"csv", "json", "markdown", "latex"} {
		f, err := Find(format)
		must(t, err)
		files, err := f.Write(r, Options{})
		must(t, err)
		last := files[len(files)-1]
		if !strings.Contains(string(last.Data), says) {
			t.Errorf("%s does not say %q:\n%s", format, says, last.Data)
		}
		if (format == "csv") != last.Beside || last.Beside && last.Name != files[0].Name+".caveats.txt" {
			t.Errorf("%s: the last file is %s", format, last.Name)
		}
	}
	sound := runOf(spec{label: "bully", nodes: 3, status: trace.OK})
	f, err := Find("csv")
	must(t, err)
	if files, err := f.Write(sound, Options{}); err != nil || len(files) != 1 {
		t.Errorf("%d files of a run without caveats: %v", len(files), err)
	}
}
