package work

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A Block is the trials of one repetition that a worker elsewhere runs, all on one machine.
type Block struct {
	Repetition int   `json:"repetition"`
	Cells      []int `json:"cells"`  // by number, in the order of execution
	Orders     []int `json:"orders"` // of each of these trials, its position in execution
}

// Blocks are those of trials, which stand in the order of execution.
func Blocks(todo []experiment.Trial) (blocks []Block) {
	for _, t := range todo {
		if n := len(blocks); n == 0 || blocks[n-1].Repetition != t.Repetition {
			blocks = append(blocks, Block{Repetition: t.Repetition})
		}
		b := &blocks[len(blocks)-1]
		b.Cells, b.Orders = append(b.Cells, t.Cell), append(b.Orders, t.Order)
	}
	return blocks
}

// Trials are those of the block. It came over a network: it may not be of e.
func (b *Block) Trials(e *experiment.Experiment) (out []experiment.Trial, err error) {
	var all []experiment.Trial
	if b.Repetition >= 1 && b.Repetition <= e.Repetitions && len(b.Cells) == len(b.Orders) {
		all = e.Block(b.Repetition, 0, nil)
	}
	of := map[int]experiment.Trial{}
	for _, t := range all {
		of[t.Cell] = t
	}
	for i, cell := range b.Cells {
		t, ok := of[cell]
		if !ok {
			return nil, fmt.Errorf("block %+v is not of an experiment of %d cells and %d repetitions", *b,
				len(e.Cells), e.Repetitions)
		}
		delete(of, cell) // not twice
		t.Order = b.Orders[i]
		out = append(out, t)
	}
	return out, nil
}

// A Yield is what came of a block, also on its way.
type Yield struct {
	Block  Block             `json:"block"`
	Worker string            `json:"worker"`         // its name
	Rows   []json.RawMessage `json:"rows,omitempty"` // every attempt at every trial: see results.EncodeTrial
	// Traces are the files of trials whose records are kept; who carries a Yield carries them, too.
	Traces map[int][]byte  `json:"-"`
	Failed string          `json:"failed,omitempty"` // why no worker could run it; then there is nothing else
	Ran    *results.Worker `json:"ran,omitempty"`    // the machine, of trials on real nodes
	Keep   func()          `json:"-"`                // to be called once it is on disk
}

// A Queue hands blocks to workers elsewhere. One goroutine uses it.
type Queue interface {
	// Send hands blocks out. A block that is under way already is not handed out again.
	Send(ctx context.Context, blocks []Block) error
	// Next waits for what came of a block, of this or of an earlier execution of the run.
	Next(ctx context.Context) (Yield, error)
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
