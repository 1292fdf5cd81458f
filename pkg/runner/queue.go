package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/conclave-bench/conclave/internal/work"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Block is the trials of one repetition that a worker runs, all on one machine.
type Block struct {
	Repetition int   `json:"repetition"`
	Cells      []int `json:"cells"`  // by number, in the order of execution
	Orders     []int `json:"orders"` // of each of these trials, its position in execution
}

// trials are those of the block. It is what came over a network: it may not be of e.
func (b *Block) trials(e *experiment.Experiment) (out []experiment.Trial, err error) {
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

// A Yield is what came of a block.
type Yield struct {
	Rows   []results.Trial // every attempt at every trial
	Traces map[int][]byte  // of trials whose records are kept: the file
	Failed string          // why no worker could run it; then there is nothing else
	Keep   func() error    // to be called once it is on disk; nil: nobody waits for that
	// Worker is who ran it, of trials on real nodes. A feed knows all of it but the bus.
	Worker *results.Worker
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

// dispatch has trials run by workers, and what follows them.
func (r *run) dispatch(ctx context.Context, q Queue, todo []experiment.Trial) (err error) {
	defer func() { err = errors.Join(err, q.Close(err == nil)) }()
	for ; len(todo) > 0; todo = r.next() {
		waiting := map[int]experiment.Trial{}
		for _, t := range todo {
			waiting[t.Number] = t
		}
		if err := q.Send(ctx, blocksOf(todo)); err != nil {
			return err
		}
		for len(waiting) > 0 {
			y, err := q.Next(ctx)
			if err == nil {
				err = r.take(&y, waiting)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// blocksOf are the blocks of trials, which stand in the order of execution.
func blocksOf(todo []experiment.Trial) (blocks []Block) {
	for _, t := range todo {
		if n := len(blocks); n == 0 || blocks[n-1].Repetition != t.Repetition {
			blocks = append(blocks, Block{Repetition: t.Repetition})
		}
		b := &blocks[len(blocks)-1]
		b.Cells, b.Orders = append(b.Cells, t.Cell), append(b.Orders, t.Order)
	}
	return blocks
}

// take puts the rows of trials that are waited for on disk. The others have been there: a
// worker that was taken for dead has finished after all.
func (r *run) take(y *Yield, waiting map[int]experiment.Trial) error {
	if y.Failed != "" {
		return errors.New(y.Failed)
	}
	rows := slices.DeleteFunc(y.Rows, func(row results.Trial) bool {
		_, ok := waiting[row.Trial]
		return !ok
	})
	for trial, data := range y.Traces {
		if _, ok := waiting[trial]; ok {
			if err := r.store.KeepTrace(trial, data); err != nil {
				return err
			}
		}
	}
	if len(rows) > 0 {
		if err := r.store.AppendGroup(rows); err != nil {
			return err
		}
		r.meet(y.Worker)
	}
	for i := range rows {
		row := &rows[i]
		final := row.Status != trace.Invalid || row.Attempts > r.experiment.Retries
		t := waiting[row.Trial]
		if final {
			r.learn(row)
			delete(waiting, row.Trial)
		}
		r.tell(t, row, final)
	}
	if y.Keep == nil {
		return nil
	}
	return y.Keep()
}

// meet keeps what a worker says of its machine.
func (r *run) meet(w *results.Worker) {
	if w == nil {
		return
	}
	i, known := slices.BinarySearchFunc(r.workers, w.Host, func(o results.Worker, host string) int {
		return strings.Compare(o.Host, host)
	})
	if known {
		r.workers[i] = *w
	} else {
		r.workers = slices.Insert(r.workers, i, *w)
	}
}

// A Feed is where a worker's blocks come from and what came of them goes.
type Feed interface {
	// Next waits for blocks; none: there will be no more.
	Next(ctx context.Context) ([]Block, error)
	// Yield takes in what came of a block. It may be called while Next waits, or while it is
	// called for another block.
	Yield(b Block, y Yield) error
}

// Work runs blocks of e until there are no more, for a run elsewhere. The folder, of the
// same header, is where traces lie meanwhile; it gets no journal.
func Work(ctx context.Context, e *experiment.Experiment, f *results.Folder, feed Feed, o Options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &workStore{Folder: f, experiment: e, feed: feed, blocks: map[int]*underWay{}, fail: cancel}
	defer w.sending.Wait()
	r := &run{experiment: e, store: w, options: o, stopping: NewStopping(e),
		ahead: max(o.Workers, 1) * work.Ahead}
	if !e.Virtual() {
		w.bus = func() map[string]any { return r.bus }
	}
	r.schedule = &fed{ctx: ctx, cancel: cancel, store: w}
	if first := r.next(); len(first) > 0 {
		if err := r.here(ctx, first); err != nil {
			return err
		}
	}
	w.sending.Wait()
	return context.Cause(ctx)
}

// fed is a schedule that comes from a feed.
type fed struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	store  *workStore
}

func (s *fed) next() (out []experiment.Trial) {
	blocks, err := s.store.feed.Next(s.ctx)
	if err != nil {
		s.cancel(err)
		return nil
	}
	for _, b := range blocks {
		trials, err := s.store.begin(b)
		if err != nil {
			s.cancel(err)
			return nil
		}
		out = append(out, trials...)
	}
	return out
}

// workStore is the store of a worker: rows go to the feed once their block is complete.
type workStore struct {
	*results.Folder
	experiment *experiment.Experiment
	feed       Feed
	fail       context.CancelCauseFunc
	sending    sync.WaitGroup
	bus        func() map[string]any // what its bus alone costs; nil: it has none

	mu     sync.Mutex
	blocks map[int]*underWay // by repetition
}

type underWay struct {
	Block
	left map[int]bool // trials that are not finished
	rows []results.Trial
}

func (w *workStore) begin(b Block) ([]experiment.Trial, error) {
	trials, err := b.trials(w.experiment)
	if err != nil {
		return nil, err
	}
	u := &underWay{Block: b, left: map[int]bool{}}
	for _, t := range trials {
		u.left[t.Number] = true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blocks[b.Repetition] = u
	return trials, nil
}

// Attempts is none: a worker begins every trial anew.
func (w *workStore) Attempts(int) int { return 0 }

// Done is nothing, for the same reason.
func (w *workStore) Done() map[int]results.Outcome { return nil }

// AppendGroup keeps rows until their blocks are complete. In simulation the next trials do
// not wait for the network; on real nodes nothing else is under way during a trial.
func (w *workStore) AppendGroup(rows []results.Trial) error {
	w.mu.Lock()
	var ready []*underWay
	for i := range rows {
		u := w.blocks[rows[i].Repetition]
		u.rows = append(u.rows, rows[i])
		if rows[i].Status != trace.Invalid || rows[i].Attempts > w.experiment.Retries {
			delete(u.left, rows[i].Trial)
		}
		if len(u.left) == 0 {
			ready = append(ready, u)
			delete(w.blocks, u.Repetition)
		}
	}
	w.mu.Unlock()
	for _, u := range ready {
		if !w.experiment.Virtual() {
			if err := w.send(u); err != nil {
				return err
			}
			continue
		}
		w.sending.Go(func() {
			if err := w.send(u); err != nil {
				w.fail(err)
			}
		})
	}
	return nil
}

// send hands a complete block to the feed.
func (w *workStore) send(u *underWay) error {
	y := Yield{Rows: u.rows, Traces: map[int][]byte{}}
	if w.bus != nil {
		y.Worker = &results.Worker{Bus: w.bus()}
	}
	for i := range u.rows {
		data, err := w.TakeTrace(u.rows[i].Trial)
		if err != nil {
			return err
		}
		if data != nil {
			y.Traces[u.rows[i].Trial] = data
		}
	}
	return w.feed.Yield(u.Block, y)
}
