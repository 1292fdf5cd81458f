package experiment_test

import (
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/experiment"
)

// TestSystems: what only bench-systems links is said to be there; it is no other algorithm with a letter changed.
func TestSystems(t *testing.T) {
	t.Parallel()
	for problem, names := range experiment.Systems {
		for _, name := range names {
			text := "problem: " + problem + "\nalgorithms: [" + name + "]\n"
			_, err := experiment.Parse("x.yaml", []byte(text), experiment.Overrides{})
			want := "x.yaml:2: algorithms[1]: " + problem + "/" + name + " is not linked into this program; " +
				"libraries and systems run in bench-systems (go install "
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v; expected %q", err, want)
			}
		}
	}
}
