package configs

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/experiment"
)

// TestEstimate: of very many processes, a simulated election takes as long as where one
// begins it, up to as long as where all do, as after a crash that all are told of. Lists
// that messages carry count. The bounds are wide: one core took 2.3 s for ring-list with 500
// processes and 18 s with 1000, 1 s for bully with 1000, which has a claim for the worst.
func TestEstimate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		algorithm   string
		nodes       int
		above, most time.Duration // of the estimate at most
	}{
		{"ring-list", 50, 0, time.Second},
		{"ring-list", 500, time.Second, 10 * time.Second},
		{"ring-list", 1000, 9 * time.Second, time.Minute},
		{"bully", 1000, 0, 10 * time.Second},
	} {
		path := filepath.Join(t.TempDir(), "e.yaml")
		text := fmt.Sprintf("problem: election\nalgorithms: [%s]\ntransport: sim\nnodes: %d\nrepetitions: 1\n",
			test.algorithm, test.nodes)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		e, err := experiment.Load(path, experiment.Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		if least, most := e.Estimate(); least > most || most < test.above || most > test.most {
			t.Errorf("%s of %d: from %v to %v, want at most %v to %v", test.algorithm, test.nodes, least, most,
				test.above, test.most)
		}
	}
}
