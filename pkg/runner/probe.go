package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

const (
	// probeFrom is how many nodes a machine has before a run asks whether it bears them.
	probeFrom = 100
	// probeTime is how long the nodes of a probe run, at most.
	probeTime = 2 * time.Second
	// leastProbes is how many are made at least where all were skewed: a machine is busy now and then.
	leastProbes = 3
)

// A TooManyError says that the machines do not bear the largest cell of an experiment.
type TooManyError struct{ why string }

func (e *TooManyError) Error() string { return e.why }

// Exit is the exit code of a command whose configuration asks for too much.
func (e *TooManyError) Exit() int { return 2 }

// probe finds out, before the first trial, whether the machines bear the largest cell, if that has many
// nodes for each.
func (r *run) probe(ctx context.Context, m Machine, machines int, token string) error {
	cell := slices.MaxFunc(r.experiment.Cells, func(a, b experiment.Cell) int {
		return a.Plan.Nodes - b.Plan.Nodes
	})
	if r.probed || cell.Plan.Nodes < probeFrom*max(machines, 1) {
		return nil
	}
	r.probed = true
	plan := cell.Plan
	plan.Probe, plan.TimeLimit = true, min(plan.TimeLimit, probeTime)
	var why []string
	probes, cores := max(leastProbes, 1+r.experiment.Retries), 0
	for i := range probes {
		plan.Trial = fmt.Sprintf("%s-probe-%d", token, i+1)
		o, err := work.Host(ctx, m, &plan, nil)
		if err != nil {
			return err
		}
		shares := o.Quality.Shares
		if slices.ContainsFunc(shares, func(s harness.Share) bool { return s.Short() }) {
			return &TooManyError{unbearable(&plan, shares)}
		}
		if o.Verdict.Status != trace.Invalid {
			r.notes = append(r.notes, cutShares(shares)...)
			return nil
		}
		why, cores = append(why, o.Verdict.Reason), 0
		for i := range shares {
			cores += shares[i].Cores
		}
	}
	slices.Sort(why)
	return &TooManyError{fmt.Sprintf("%d nodes are too many for these machines as they are now: all of "+
		"%d probe trials before the first one were skewed, such as: %s; their %s about %d such nodes when "+
		"idle; use fewer nodes, or spread them over more machines with --hosts", plan.Nodes, probes,
		why[len(why)/2], console.Plural(cores, "core bears", "cores bear"),
		experiment.Bears(cores, plan.PerProcess > 0))}
}

// cutShares are notes on machines that get fewer nodes than their share, since they bear no more.
func cutShares(shares []harness.Share) (notes []string) {
	for i := range shares {
		if s := &shares[i]; s.Cut {
			notes = append(notes, fmt.Sprintf("%s: it has %d nodes of a trial, as many as it bears by a "+
				"probe trial; other hosts have the rest", s.Host, s.Nodes))
		}
	}
	return notes
}

// unbearable says what was measured of the machines that do not bear a plan, and how many nodes would fit.
func unbearable(p *harness.Plan, shares []harness.Share) string {
	var found []string
	fits, weakest := 0, 1.0
	for i := range shares {
		s := &shares[i]
		fits += s.Fits
		if !s.Short() {
			continue
		}
		weakest = min(weakest, float64(s.Fits)/float64(s.Nodes))
		what := fmt.Sprintf("a node takes %s, and %s are left", console.Bytes(float64(s.PerNode)),
			console.Bytes(float64(s.Memory)))
		if s.Tasks {
			what = "and its limit of processes and threads is reached first"
		}
		found = append(found, fmt.Sprintf("%s (%s) bears %d of its %d nodes: %d were started, %s", s.Host,
			console.Plural(s.Cores, "core", "cores"), s.Fits, s.Nodes, s.Started, what))
	}
	if p.Hosts != nil || fits >= p.Nodes { // no host may take what another one cannot
		fits = int(weakest * float64(p.Nodes))
	}
	remedy := fmt.Sprintf("use %d nodes or fewer", fits)
	if p.PerProcess == 0 {
		remedy += fmt.Sprintf(", write hosting: {run_as: %s}", metric.RunAsGoroutine)
	}
	return fmt.Sprintf("%d nodes are too many, by a probe trial before the first one: %s; %s, or spread the "+
		"nodes over more machines with --hosts", p.Nodes, strings.Join(found, "; "), remedy)
}
