package work_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/pkg/experiment"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

func parsed(t *testing.T, transport, over string, repetitions int) *experiment.Experiment {
	t.Helper()
	return parsedAll(t, "bully, ring-list", transport, over, repetitions)
}

func parsedAll(t *testing.T, algorithms, transport, over string, repetitions int) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Parse("e.yaml", []byte(fmt.Sprintf("problem: election\nalgorithms: [%s]\n"+
		"transport: %s\nsweep: [{vary: nodes, over: %s}]\nrepetitions: %d\n", algorithms, transport, over, repetitions)),
		experiment.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestBlocks_Simulated: blocks have every trial once, in the order of execution; small runs and the ends
// of large ones consist of single trials, so that all workers end together.
func TestBlocks_Simulated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ repetitions, blocks, first int }{{2, 24, 1}, {10, 120, 1}, {500, 0, 24}} {
		e := parsed(t, "sim", "[3, 4, 5, 6, 7, 8]", c.repetitions)
		all := e.Trials()
		blocks := work.Blocks(e, all)
		var got []int
		for i, b := range blocks {
			trials, err := b.Of(e)
			if err != nil || b.Number != trials[0].Order {
				t.Fatalf("%v, %+v", err, b)
			}
			for _, one := range trials {
				got = append(got, one.Number)
			}
			if left := len(all) - len(got) + len(trials); len(trials) > 1+left/256 || i >= len(blocks)-200 && len(trials) > 1 {
				t.Errorf("block %d of %d has %d trials, and %d are left", i, len(blocks), len(trials), left)
			}
		}
		var want []int
		for _, one := range all {
			want = append(want, one.Number)
		}
		if !slices.Equal(got, want) || c.blocks > 0 && len(blocks) != c.blocks || len(blocks[0].Trials) != c.first {
			t.Errorf("%d repetitions: %d blocks, the first of %d", c.repetitions, len(blocks), len(blocks[0].Trials))
		}
	}
}

// TestBlocks_Costly: a block of long trials is one trial, as far as the estimate knows.
func TestBlocks_Costly(t *testing.T) {
	t.Parallel()
	e := parsed(t, "sim", "[1000, 1001, 1002]", 500)
	if b := work.Blocks(e, e.Trials())[0]; len(b.Trials) > 4 {
		t.Errorf("%d trials of %v", len(b.Trials), e.Cells[0].Plan.Nodes)
	}
}

// TestBlocks_Real: the algorithms at one point of the sweep share a machine, and points do not.
func TestBlocks_Real(t *testing.T) {
	t.Parallel()
	e := parsed(t, "nats", "[3, 5, 7]", 4)
	blocks := work.Blocks(e, e.Trials())
	if len(blocks) != 12 {
		t.Fatalf("%d blocks, want 12", len(blocks))
	}
	for _, b := range blocks {
		trials, err := b.Of(e)
		if err != nil || len(trials) != 2 || trials[0].Repetition != trials[1].Repetition ||
			trials[0].Plan.Nodes != trials[1].Plan.Nodes || trials[0].Cell == trials[1].Cell {
			t.Errorf("%v, %v", err, &b)
		}
	}
}

// TestBlocks_Busy: with few repetitions, too, all workers are busy until shortly before the end, if each takes
// the next block when it is done with one. Four algorithms; a trial takes what the plan says.
func TestBlocks_Busy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		points, repetitions, workers int
		least                        float64
	}{{6, 2, 4, 0.85}, {10, 10, 20, 0.85}} {
		for _, transport := range []string{"sim", "nats"} {
			over := make([]string, c.points)
			for i := range over {
				over[i] = fmt.Sprint(3 + i)
			}
			e := parsedAll(t, "bully, ring-list, chang-roberts, raft", transport, "["+strings.Join(over, ", ")+"]", c.repetitions)
			if cells := 4 * c.points; len(e.Cells) != cells {
				t.Fatalf("%d cells", len(e.Cells))
			}
			busy, sum := make([]time.Duration, c.workers), time.Duration(0)
			for _, b := range work.Blocks(e, e.Trials()) {
				trials, err := b.Of(e)
				if err != nil {
					t.Fatal(err)
				}
				next := slices.Index(busy, slices.Min(busy))
				for i := range trials {
					least, most := trials[i].Plan.Cost(e.Virtual())
					busy[next] += (least + most) / 2
					sum += (least + most) / 2
				}
			}
			share := float64(sum) / float64(slices.Max(busy)) / float64(c.workers)
			if share < c.least {
				t.Errorf("%s, %d cells × %d: %d workers are busy for %.0f %% of the run", transport, len(e.Cells),
					c.repetitions, c.workers, 100*share)
			}
			t.Logf("%s: %.3f", transport, share)
		}
	}
}

// TestBlock_Of: what is no block of the experiment is refused.
func TestBlock_Of(t *testing.T) {
	t.Parallel()
	e := parsed(t, "sim", "[3, 5]", 2)
	for _, b := range []work.Block{{}, {Number: 1, Trials: []int{9}, Orders: []int{1}},
		{Number: 1, Trials: []int{0}, Orders: []int{1}}, {Number: 1, Trials: []int{1, 1}, Orders: []int{1, 2}},
		{Number: 1, Trials: []int{1}}, {Trials: []int{1}, Orders: []int{1}}} {
		if _, err := b.Of(e); err == nil || !strings.Contains(err.Error(), "is not of an experiment of 4 cells and 2") {
			t.Errorf("%+v: %v", b, err)
		}
	}
	b := work.Block{Number: 3, Trials: []int{5, 6, 7}, Orders: []int{3, 4, 5}}
	if got := b.Only(func(trial int) bool { return trial != 6 }); got.String() != "3 (trials 5 7)" || got.Orders[1] != 5 {
		t.Errorf("%v", &got)
	}
}
