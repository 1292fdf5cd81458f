package runner

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/mutex/central"
)

// A probed machine answers probes with shares, or says why they were skewed.
type probed struct {
	shares []harness.Share
	why    string
	runs   int
}

func (p *probed) Baseline() (map[string]any, error)    { return nil, nil }
func (p *probed) Network(string) (*link.Matrix, error) { return nil, nil }
func (p *probed) Close()                               {}

func (p *probed) Run(_ context.Context, s *harness.Setup, _ trace.Sink) (end harness.End, q harness.Quality, err error) {
	if !s.Probe || s.TimeLimit > probeTime {
		return end, q, errors.New("expected a short probe")
	}
	p.runs++
	q.Shares = p.shares
	if p.why != "" {
		end.Invalid = []string{p.why}
	}
	return end, q, nil
}

// TestRun_Probe: many nodes are probed once before the first trial. What a machine does not bear is refused with what
// was measured, and with how many it bears; skew by other programs, if it lasts.
func TestRun_Probe(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	bears := harness.Share{Host: "lab1", Nodes: 75, Started: 75, Fits: 400, Cores: 2, PerNode: 3 * mb, Memory: 900 * mb}
	short := harness.Share{Host: "lab2", Nodes: 75, Started: 25, Fits: 40, Cores: 1, PerNode: 3 * mb, Memory: 50 * mb}
	cut, tasks := bears, short
	cut.Cut, tasks.Tasks = true, true
	for name, c := range map[string]struct {
		machines int
		m        probed
		runs     int
		want     string // of the error
		note     string
	}{
		"few nodes on each": {2, probed{}, 0, "", ""},
		"all bear them":     {1, probed{shares: []harness.Share{bears}}, 1, "", ""},
		"one has the rest": {1, probed{shares: []harness.Share{cut, bears}}, 1, "",
			"lab1: it has 75 nodes of a trial, as many as it bears by a probe trial; other hosts have the rest"},
		"too little memory": {1, probed{shares: []harness.Share{bears, short}}, 1, "150 nodes are too many, by a probe trial " +
			"before the first one: lab2 (1 core) bears 40 of its 75 nodes: 25 were started, a node takes 3.1 MB, and 52 MB " +
			"are left; use 80 nodes or fewer, write hosting: {run_as: goroutine}, or spread the nodes over more machines", ""},
		"too few processes": {1, probed{shares: []harness.Share{tasks}}, 1,
			"25 were started, and its limit of processes and threads is reached first; use 40 nodes or fewer", ""},
		"skewed": {1, probed{shares: []harness.Share{bears}, why: "handlers ran late"}, 4, "150 nodes are too many for these " +
			"machines as they are now: all of 4 probe trials before the first one were skewed, such as: handlers ran late; " +
			"their 2 cores bear about 200 such nodes when idle", ""},
	} {
		e, err := experiment.Parse("x.yaml", []byte("algorithms: [mutex/central]\nretries: 3\n"+
			"sweep: [{vary: nodes, over: [3, 150]}]\n"), experiment.Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		r := &run{experiment: e}
		err = r.probe(t.Context(), &c.m, c.machines, "x")
		got := ""
		if err != nil {
			got = err.Error()
			var refused *TooManyError
			if !errors.As(err, &refused) || refused.Exit() != 2 {
				t.Errorf("%s: %T", name, err)
			}
		}
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
		if notes := strings.Join(r.notes, "\n"); notes != c.note {
			t.Errorf("%s: notes %q, want %q", name, notes, c.note)
		}
		if err == nil {
			err = r.probe(t.Context(), &c.m, c.machines, "x")
		}
		if c.m.runs != c.runs {
			t.Errorf("%s: %d probes, want %d (%v)", name, c.m.runs, c.runs, err)
		}
	}
}
