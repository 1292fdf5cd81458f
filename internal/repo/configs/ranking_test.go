package configs

import (
	"context"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/answers/report/export"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// TestRank_OneOutage: algorithms that mean different outages by downtime_ms are ranked by
// one that means the same for all of them, which the ranking says. A figure of what each means says
// that they differ.
func TestRank_OneOutage(t *testing.T) {
	t.Parallel()
	for algorithms, want := range map[string]string{
		"[bully, raft]":      "by downtime_agreed_ms, since downtime_ms means different outages for different algorithms here: ",
		"[bully, ring-list]": "by downtime_ms: ",
	} {
		e := must(experiment.Parse("rank.yaml", []byte("{name: rank, problem: election, algorithms: "+algorithms+
			", transport: sim, nodes: 5, repetitions: 8}"), experiment.Overrides{}))
		folder := must(results.InMemory(runner.Header(e, nil), must(e.Resolved())))
		must(runner.Run(context.Background(), e, folder, runner.Options{}))
		table := must(folder.Table())
		files := must(must(export.Find("pgfplots")).Write(&export.Run{Table: table},
			export.Options{Metrics: []string{"availability"}}))
		picture := string(files[len(files)-1].Data)
		if said := strings.Contains(picture, "its own definition"); said != compare.Mixed(table) ||
			said != strings.Contains(algorithms, "raft") {
			t.Errorf("%s: a figure of availability says that definitions differ: %v", algorithms, said)
		}
		r := compare.Rank(table)
		if r == nil || !strings.HasPrefix(r.Head(), want) || len(r.Duels) != 1 || !r.Duels[0].Shown() ||
			!strings.HasSuffix(r.Duels[0].String(), " slower than bully, n = 8 each, same luck") {
			t.Errorf("%s: %+v", algorithms, r)
		}
	}
}
