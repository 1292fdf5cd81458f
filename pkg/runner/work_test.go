package runner_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// elsewhere is a queue with workers on machines of their own, in one process: each block is a
// worker's.
type elsewhere struct {
	t      *testing.T
	text   string
	yields []work.Yield
}

// measuring is a machine of which the bus alone takes that long.
type measuring struct {
	simulating
	median float64
}

func (m measuring) Baseline() (map[string]any, error) {
	return map[string]any{"round_trip_p50_us": m.median, "round_trip_p99_us": 2 * m.median, "round_trips": 200.0}, nil
}

func (q *elsewhere) Send(ctx context.Context, blocks []work.Block) error {
	for _, b := range blocks {
		rep := (b.Trials[0]-1)%3 + 1 // of three
		e, f := created(q.t, q.text, q.t.TempDir())
		feed := &one{block: b, name: []string{"lab2", "lab1"}[rep%2]}
		err := runner.Work(ctx, e, f, feed, runner.Options{Machine: func(context.Context, *experiment.Experiment,
			runner.Options, runner.Room) (runner.Machine, []results.Site, error) {
			m := measuring{simulating{new([]string), &sync.Mutex{}}, float64(100 * rep)}
			return m, nil, nil
		}})
		if err != nil {
			return err
		}
		q.yields = append(q.yields, feed.yields...)
	}
	return nil
}

func (q *elsewhere) Next(context.Context) (all []work.Yield, err error) {
	all, q.yields = q.yields[:1], q.yields[1:]
	return all, nil
}

func (*elsewhere) Close(bool) error { return nil }

// one is a feed of one block, for a worker of that name.
type one struct {
	block  work.Block
	name   string
	given  bool
	yields []work.Yield
}

func (f *one) Next(context.Context) ([]work.Block, error) {
	if f.given {
		return nil, nil
	}
	f.given = true
	return []work.Block{f.block}, nil
}

func (f *one) Yield(y work.Yield) error {
	y.Ran.Host, y.Keep = f.name, func() {}
	f.yields = append(f.yields, y)
	return nil
}

// TestWork_Bus: what the bus alone costs on each worker's machine is in the manifest, the newest of
// each, and stays there when nothing is left to run.
func TestWork_Bus(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("rounds: 3", "rounds: 1", "repetitions: 7", "repetitions: 3").Replace(inRounds)
	e, f := created(t, text, t.TempDir())
	o := runner.Options{Queue: func(context.Context) (runner.Queue, error) {
		return &elsewhere{t: t, text: text}, nil
	}}
	for range 2 { // the second time nothing runs
		_, err := runner.Run(t.Context(), e, f, o)
		must(t, err)
		m, err := results.ReadManifest(f.Dir())
		must(t, err)
		trips := m.RoundTrips()
		if len(m.Workers) != 2 || len(trips) != 2 || trips[0].Hosts[0] != "lab1" || trips[0].Median != 300 ||
			trips[1].Hosts[0] != "lab2" || trips[1].Median != 200 || trips[1].P99 != 400 || trips[1].Measured != 200 {
			t.Fatalf("workers %+v, trips %+v", m.Workers, trips)
		}
		if len(m.Machines()) != 1 || !m.Complete {
			t.Errorf("machines %+v, complete %t", m.Machines(), m.Complete)
		}
	}
}
