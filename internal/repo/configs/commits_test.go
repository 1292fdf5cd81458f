package configs

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// commits is an experiment of thirteen cells: one raft, of which in each all that is named
// takes 1 % longer than in the one before.
func commits(slower map[string]time.Duration) string {
	var zip []string
	for key, value := range slower {
		var over []string
		for k := range 13 {
			over = append(over, (time.Duration(math.Round(float64(value) * math.Pow(1.01, float64(k))))).String())
		}
		zip = append(zip, fmt.Sprintf("{vary: %s, over: [%s]}", key, strings.Join(over, ", ")))
	}
	return `
name: commits
problem: election
algorithms: [{name: raft, params: {heartbeat: 50ms, t_election: 240ms, t_election_spread: 240ms}}]
transport: sim
nodes: 5
network: {latency: {distribution: lognormal, median: 2ms, sigma: 0.5}}
detector: {kind: none}
scenario: {kind: leader-crash, settle: 500ms}
repetitions: 6
seed: 3
sweep: [{zip: [` + strings.Join(zip, ", ") + `]}]
`
}

// TestCompare_TwelveCommits: twelve commits of 1 % each are twelve findings, of six trials
// each. Where the whole world is slower by 1 %, so is each trial, exactly. Where it is the
// time-out alone, each trial is later by exactly what the time-out is longer.
func TestCompare_TwelveCommits(t *testing.T) {
	t.Parallel()
	whole := map[string]time.Duration{
		"network.latency.median": 2 * time.Millisecond, "scenario.settle": 500 * time.Millisecond,
		"params.heartbeat": 50 * time.Millisecond, "params.t_election": 240 * time.Millisecond,
		"params.t_election_spread": 240 * time.Millisecond,
	}
	timeout := map[string]time.Duration{"params.t_election": 240 * time.Millisecond}
	for name, test := range map[string]struct {
		slower map[string]time.Duration
		says   string
	}{
		"whole":   {whole, "slower by exactly 1%, in 6 of 6 pairs"},
		"timeout": {timeout, "slower by exactly 2."},
	} {
		e := must(experiment.Parse("commits.yaml", []byte(commits(test.slower)), experiment.Overrides{}))
		folder := must(results.InMemory(runner.Header(e, nil), must(e.Resolved())))
		must(runner.Run(context.Background(), e, folder, runner.Options{}))
		all := must(folder.Table())
		ignore := all.Design[len(results.DesignColumns()):]
		ignore = append([]string{"latency_ms"}, ignore...)
		cells := all.Cells()
		for i := 1; i < len(cells); i++ {
			base, new := *all, *all
			base.Trials, new.Trials = trialsOf(cells[i-1]), trialsOf(cells[i])
			r := must(compare.Compare(&base, &new, compare.Options{
				Metrics: []string{"downtime_ms"}, Ignore: ignore, Threshold: compare.DefaultThreshold,
			}))
			row := r.Rows[0]
			if row.Test != compare.Pairs || row.P != 2.0/64 || row.Verdict != compare.Small ||
				!strings.HasPrefix(row.Paired.String(), test.says) || len(r.Findings()) != 1 {
				t.Errorf("%s: commit %d: %s, p %v, %v, %v", name, i, row.Verdict, row.P, row.Paired, r.Findings())
			}
		}
	}
}

func trialsOf(c *results.Cell) (out []results.Trial) {
	for _, t := range c.Trials {
		out = append(out, *t)
	}
	return out
}
