package agent_test

import (
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"

	_ "github.com/conclave-bench/conclave/plugins/all"
)

// FuzzReport: whatever a plugin prints, the host takes for a report, or says that it
// is none; and nothing that it takes for one upsets who leads the trial.
func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"ready":true}`))
	f.Add([]byte(`{"record":{"Type":1,"Process":4000000000}}`))
	f.Add([]byte(`{"record":null,"bye":{"late":-1}}`))
	f.Add([]byte("token sent"))
	crash := harness.Scenario{Plot: &harness.LeaderCrash{Settle: 5 * time.Millisecond}}
	ring, err := algotest.Plan("election/raft", 3, crash, nil)
	must(f, err)
	lock, err := algotest.Plan("mutex/naimi-trehel", 3, harness.Scenario{Plot: &harness.Burst{}}, nil)
	must(f, err)
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, p := range []harness.Plan{ring, lock} {
			s, err := p.Setup()
			must(t, err)
			d := harness.NewCoordinator(s)
			d.Timeline()
			for id := algo.ID(1); id <= 3; id++ {
				r, wrong := agent.ParseReport(line, id, 3)
				if wrong != "" && !strings.Contains(wrong, "to its standard output") {
					t.Errorf("%q", wrong)
				}
				if wrong == "" && r != nil {
					d.Observe(r)
				}
			}
		}
	})
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
