package work

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A Block is trials that a worker elsewhere runs, all on one machine.
type Block struct {
	// Number identifies the block: the position in execution of the first trial that it was made with.
	// Division depends on the plan alone, so a resumed run gives its blocks the same numbers.
	Number int   `json:"number"`
	Trials []int `json:"trials"` // by number, in the order of execution
	Orders []int `json:"orders"` // of each of these trials, its position in execution
}

const (
	// blockCost is about how long a core has with a block of simulated trials: short, so that no worker
	// has much left when the others have nothing, and long beside what a message costs.
	blockCost = 250 * time.Millisecond
	// mostSimulated is how many simulated trials a block has at most. None has more than one
	// share of the trials that are not divided yet, so that the last blocks are single trials, however
	// wrong the estimate is.
	mostSimulated, shares = 256, 256
	// mostTogether is how many algorithms a block of real trials compares at most.
	mostTogether = 8
)

// Blocks divides trials of e, which stand in the order of execution.
func Blocks(e *experiment.Experiment, trials []experiment.Trial) []Block {
	if !e.Virtual() {
		return places(e, trials)
	}
	costs := make([]time.Duration, len(e.Cells))
	for i := range e.Cells {
		least, most := e.Cells[i].Plan.Cost(true)
		costs[i] = (least + most) / 2
	}
	var blocks []Block
	for len(trials) > 0 {
		var b Block
		most := min(mostSimulated, 1+len(trials)/shares, len(trials))
		for cost := time.Duration(0); len(b.Trials) < most && cost < blockCost; {
			t := &trials[len(b.Trials)]
			b.add(t)
			cost += costs[t.Cell-1]
		}
		blocks, trials = append(blocks, b), trials[len(b.Trials):]
	}
	return blocks
}

// places are blocks of real trials: those of one repetition that differ in their algorithm alone, which
// are compared with each other and therefore share a machine. The cells of each algorithm stand in the
// order of the sweep, so the n-th of one is at the point of the n-th of another.
func places(e *experiment.Experiment, trials []experiment.Trial) (blocks []Block) {
	place, cells := make([]int, len(e.Cells)), map[string]int{}
	for i := range e.Cells {
		label := e.Cells[i].Label
		place[i] = cells[label]
		cells[label]++
	}
	of := map[[2]int]int{} // the index of the block that is not full
	for i := range trials {
		t := &trials[i]
		key := [2]int{t.Repetition, place[t.Cell-1]}
		at, open := of[key]
		if !open || len(blocks[at].Trials) == mostTogether {
			at, blocks = len(blocks), append(blocks, Block{})
			of[key] = at
		}
		blocks[at].add(t)
	}
	return blocks
}

func (b *Block) add(t *experiment.Trial) {
	if len(b.Trials) == 0 {
		b.Number = t.Order
	}
	b.Trials, b.Orders = append(b.Trials, t.Number), append(b.Orders, t.Order)
}

// Only is the block with those of its trials alone that are wanted.
func (b *Block) Only(wanted func(trial int) bool) Block {
	out := Block{Number: b.Number}
	for i, n := range b.Trials {
		if wanted(n) {
			out.Trials, out.Orders = append(out.Trials, n), append(out.Orders, b.Orders[i])
		}
	}
	return out
}

// Of are the trials of the block in e. It came over a network: it may not be of e.
func (b *Block) Of(e *experiment.Experiment) (out []experiment.Trial, err error) {
	strange := len(b.Trials) == 0 || len(b.Trials) != len(b.Orders) || b.Number < 1
	for i := 0; i < len(b.Trials) && !strange; i++ {
		t, ok := e.Numbered(b.Trials[i], b.Orders[i])
		strange = !ok || slices.Contains(b.Trials[:i], t.Number)
		out = append(out, t)
	}
	if strange {
		return nil, fmt.Errorf("block %s is not of an experiment of %d cells and %d repetitions",
			b, len(e.Cells), e.Repetitions)
	}
	return out, nil
}

// String names the block by its number and its trials.
func (b *Block) String() string {
	text := strings.Trim(fmt.Sprint(b.Trials[:min(len(b.Trials), 8)]), "[]")
	if len(b.Trials) > 8 {
		text += fmt.Sprintf(" and %d more", len(b.Trials)-8)
	}
	return fmt.Sprintf("%d (trials %s)", b.Number, text)
}

// A Yield is what came of trials of a block.
type Yield struct {
	// Block has the trials that are done; its number is the position of the first. A block of simulated
	// trials is handed over as a whole, real trials one by one, so that a lost machine costs one.
	Block  Block
	Of     int             // the number of the block that they are of
	Last   bool            // nothing of that block is left
	Worker string          // its name
	Rows   []results.Trial // every attempt at every trial, without their design, which follows from the cell
	// Traces are the files of trials whose records are kept.
	Traces map[int][]byte
	Failed string          // why no worker could run the block; then there is nothing else
	Ran    *results.Worker // the machine, of trials on real nodes
	Keep   func()          // to be called once it is on disk
}

// A Queue hands blocks to workers elsewhere. One goroutine uses it.
type Queue interface {
	// Send hands blocks out. A block that is under way already is not handed out again.
	Send(ctx context.Context, blocks []Block) error
	// Next waits for what came of blocks, of this or of an earlier execution of the run: at least one.
	Next(ctx context.Context) ([]Yield, error)
	// Close ends the connection, and the run at the workers if it is over.
	Close(over bool) error
}

// A Feed is where a worker's blocks come from and what came of them goes.
type Feed interface {
	// Next waits for blocks; none: there will be no more.
	Next(ctx context.Context) ([]Block, error)
	// Yield takes in what came of a block. It may be called while Next waits, or while it is
	// called for another block.
	Yield(Yield) error
}
