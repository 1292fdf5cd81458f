package configs

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/answers/report/export"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// TestRank_OneOutage: algorithms that mean different outages by downtime_ms are ranked by
// one that means the same for all of them, which the ranking says. A figure of what each means says
// that they differ.
func TestRank_OneOutage(t *testing.T) {
	t.Parallel()
	for algorithms, want := range map[string]string{
		"[bully, raft]":      "by downtime_served_ms, since downtime_ms means different outages for different algorithms here: ",
		"[bully, ring-list]": "by downtime_ms: ",
	} {
		e := must(experiment.Parse("rank.yaml", []byte("{name: rank, problem: election, algorithms: "+algorithms+
			", transport: sim, nodes: 5, repetitions: 8}"), experiment.Overrides{}))
		folder := must(results.InMemory(runner.Header(e, nil), must(e.Resolved())))
		must(runner.Run(context.Background(), e, folder, runner.Options{}))
		table := must(folder.Table())
		_, err := must(export.Find("pgfplots")).Write(&export.Run{Table: table},
			export.Options{Metrics: []string{"availability"}})
		if mixed := err != nil && strings.Contains(err.Error(), "availability_served"); mixed !=
			strings.Contains(algorithms, "raft") || !mixed && err != nil {
			t.Errorf("%s: a figure of availability: %v", algorithms, err)
		}
		r := compare.Rank(table)
		if r == nil || !strings.HasPrefix(r.Head(), want) || len(r.Standings) != 1 || !r.Standings[0].Duels[0].Shown() ||
			!strings.HasSuffix(r.Standings[0].Duels[0].String(), " as long as bully; 8 seed-matched pairs") {
			t.Errorf("%s: %+v", algorithms, r)
		}
	}
}

// TestRepetitions: a file that compares algorithms has as many repetitions as any verdict takes. Those with
// one show what happens, and those in reference hold exact counts against formulas.
func TestRepetitions(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, path := range must(filepath.Glob("../../../configs/*.yaml")) {
		compared += enough(t, path)
	}
	for _, path := range must(filepath.Glob("../../../configs/*/*.yaml")) {
		if in := filepath.Base(filepath.Dir(path)); in != "reference" && in != "systems" {
			compared += enough(t, path)
		}
	}
	if compared < 20 {
		t.Errorf("%d files compare algorithms", compared)
	}
}

// enough is 1 if the file compares algorithms in several repetitions.
func enough(t *testing.T, path string) int {
	e, err := experiment.Parse(path, must(os.ReadFile(path)), experiment.Overrides{})
	if err != nil {
		return 0 // TestSchema says why
	}
	labels := map[string]bool{}
	for i := range e.Cells {
		labels[e.Cells[i].Label] = true
	}
	if len(labels) < 2 || e.Repetitions == 1 || metric.Ranked(e.Problem) == nil {
		return 0
	}
	if stats.MinPairedP(e.Repetitions) > compare.DefaultAlpha {
		t.Errorf("%s: %d repetitions cannot tell any two of %d algorithms apart", path, e.Repetitions, len(labels))
	}
	return 1
}

// TestRank_Sentences: where algorithms mean different outages, no sentence contradicts a row: what is shown to be
// faster has the smaller figure in the column that the table has, and by one definition algorithms that serve alike
// are alike.
func TestRank_Sentences(t *testing.T) {
	t.Parallel()
	const (
		cut = `
nodes: 3
network: {latency: 0.2ms}
scenario: {kind: churn, duration: 12s}
faults: {events: [{at: 1s, do: cut, links: [[3, 1], [1, 3]], for: 10s}]}
repetitions: 10
algorithms:
  - {name: raft, params: {t_election: 50ms, t_election_spread: 50ms, heartbeat: 10ms}}
  - {name: raft, label: raft-pv, params: {pre_vote: true, t_election: 50ms, t_election_spread: 50ms, heartbeat: 10ms}}
  - multi-paxos
  - bully-quorum
  - zab-fle
  - stable-leader
`
		dead = `
nodes: 5
network: {latency: 1ms}
scenario: {kind: churn, duration: 6s}
faults:
  events: [{at: 1s, do: crash, who: [1], for: 4s}, {at: 1s, do: crash, who: [2], for: 4s}, {at: 1s, do: crash, who: [3], for: 4s}]
repetitions: 6
algorithms: [raft, multi-paxos, bully-quorum, zab-fle, bully]
`
	)
	for name, text := range map[string]string{"a link is cut": cut, "most are dead": dead} {
		e := must(experiment.Parse("sentences.yaml", []byte("name: sentences\nproblem: election\ntransport: sim\nseed: 1\n"+
			"time_limit: 30s\ndetector: {kind: heartbeat, interval: 10ms, timeout: 50ms}"+text), experiment.Overrides{}))
		folder := must(results.InMemory(runner.Header(e, nil), must(e.Resolved())))
		must(runner.Run(context.Background(), e, folder, runner.Options{}))
		table := must(folder.Table())
		figures := map[string]map[string]float64{}
		for _, c := range table.Cells() {
			figures[view.Label(c.Design)] = map[string]float64{}
			for _, m := range []string{"downtime_served_ms", "availability_led", "availability_served"} {
				figures[view.Label(c.Design)][m] = c.Describe(m).Center()
			}
		}
		if led := func(label string) float64 { return figures[label]["availability_led"] }; name == "a link is cut" &&
			math.Abs(led("raft")-led("stable-leader")) > 0.01 {
			t.Errorf("%s: raft %v, stable-leader %v", name, led("raft"), led("stable-leader"))
		}
		r := compare.Rank(table)
		if r == nil {
			continue
		}
		if r.Metric.Name != "downtime_served_ms" {
			t.Errorf("%s: ranked by %s, which the table does not have", name, r.Metric.Name)
		}
		for _, d := range r.Standings[0].Duels {
			if fast, slow := figures[d.Fast][r.Metric.Name], figures[d.Slow][r.Metric.Name]; d.Shown() && fast > slow {
				t.Errorf("%s: %s, but %v and %v", name, d, slow, fast)
			}
		}
	}
}
