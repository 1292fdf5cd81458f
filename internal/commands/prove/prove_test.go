package prove

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/judgement/prove"
	"github.com/conclave-bench/conclave/pkg/algo"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

// TestScripts tries budgets beyond the models of all algorithms, and tells how many finds have scripts.
func TestScripts(t *testing.T) {
	want := os.Getenv("PROVE")
	if want == "" {
		t.Skip()
	}
	for _, b := range []prove.Budget{{Losses: 1}, {Crashes: 1}, {Copies: 1}, {Overtakes: 1}, {Suspicions: 1}} {
		for _, a := range algo.All() {
			if !strings.Contains(a.ID, want) && want != "all" || strings.Contains(a.ID, "test-") {
				continue
			}
			requests, timeouts, err := prove.Defaults(a.ID)
			if err != nil {
				t.Fatal(err)
			}
			q := prove.System{Nodes: 3, Requests: requests, Budget: b, Canonical: true}
			q.Timeouts = timeouts
			s, err := prove.Search(context.Background(), a.ID, q, prove.Limits{Workers: 1, Time: 3 * time.Second,
				States: 200_000})
			if err != nil {
				t.Logf("%s %+v: ERROR %v", a.ID, b, err)
				continue
			}
			beyond, err := q.Beyond(a.ID)
			if err != nil {
				t.Fatal(err)
			}
			if s.Find == nil {
				t.Logf("%s %+v: %d states %s, depth %d clocks %v, ok", a.ID, b, s.States, s.Bound, s.Depth, s.Clocks)
				continue
			}
			f, err := script(context.Background(), a, &q, s.Find, beyond)
			if f == nil {
				t.Logf("%s %+v: FOUND %s after %d; NO SCRIPT: %v; beyond %q\n%v", a.ID, b, s.Find.Broken, len(s.Find.Schedule), err, beyond, s.Find)
				continue
			}
			left, _ := f.Removable(context.Background())
			t.Logf("%s %+v: FOUND %s after %d; script of %d, %s %s; in model %v; removable %v; beyond %q", a.ID, b, s.Find.Broken,
				len(s.Find.Schedule), len(f.Schedule.Events), f.Rule, f.Text, f.InModel, left, beyond)
		}
	}
}
