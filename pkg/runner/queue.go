package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// dispatch has trials run by workers, and what follows them. All are those of which todo is left: blocks are
// divided, and numbered, as if none had been run.
func (r *run) dispatch(ctx context.Context, all, todo []experiment.Trial) (err error) {
	q, err := r.options.Queue(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close(err == nil)) }()
	for ; len(todo) > 0; all, todo = r.batch() {
		waiting := map[int]int{}
		for i := range todo {
			waiting[todo[i].Number] = todo[i].Order
		}
		var blocks []work.Block
		for _, b := range work.Blocks(r.experiment, all) {
			b = b.Only(func(trial int) bool { return waiting[trial] > 0 })
			if len(b.Trials) > 0 {
				blocks = append(blocks, b)
			}
		}
		all, todo = nil, nil // a plan is large
		if err := q.Send(ctx, blocks); err != nil {
			return err
		}
		for len(waiting) > 0 {
			yields, err := q.Next(ctx)
			if err == nil {
				err = r.take(yields, waiting)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// take puts the rows of trials that are waited for, each with its position in execution, on disk, all at the
// price of one. The others have been there: a worker that was taken for dead has finished after all.
func (r *run) take(yields []work.Yield, waiting map[int]int) error {
	var rows []results.Trial
	taken := map[int]bool{}
	for i := range yields {
		y := &yields[i]
		if y.Failed != "" {
			y.Keep()
			return fmt.Errorf("block %s (worker %s): %s", &y.Block, y.Worker, y.Failed)
		}
		fresh := func(trial int) bool { return waiting[trial] > 0 && !taken[trial] }
		for trial, data := range y.Traces {
			if fresh(trial) {
				if err := r.store.KeepTrace(trial, data); err != nil {
					return err
				}
			}
		}
		before := len(rows)
		for k := range y.Rows {
			if fresh(y.Rows[k].Trial) {
				rows = append(rows, y.Rows[k])
			}
		}
		for k := before; k < len(rows); k++ {
			taken[rows[k].Trial] = true
		}
		if len(rows) > before {
			r.meet(y.Ran)
		}
	}
	if len(rows) > 0 {
		if err := r.store.AppendGroup(rows); err != nil {
			return err
		}
	}
	for i := range rows {
		t, ok := r.experiment.Numbered(rows[i].Trial, rows[i].RunOrder)
		if ok && r.conclusive(t, &rows[i]) {
			delete(waiting, t.Number)
		}
	}
	for i := range yields {
		yields[i].Keep()
	}
	return nil
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

// Work runs blocks of e until there are no more, for a run elsewhere. The folder, of the
// same header, is where traces lie meanwhile; it gets no journal.
func Work(ctx context.Context, e *experiment.Experiment, f *results.Folder, feed work.Feed, o Options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &workStore{Folder: f, experiment: e, feed: feed, of: map[int]*underWay{}, ctx: ctx, fail: cancel}
	defer w.sending.Wait()
	r := &run{experiment: e, store: w, options: o, stopping: NewStopping(e), schedule: w,
		ahead: max(o.Workers, 1) * work.Ahead}
	if !e.Virtual() {
		w.bus = func() map[string]any { return r.bus }
	}
	if first := r.next(); len(first) > 0 {
		if err := r.here(ctx, first); err != nil {
			return err
		}
	}
	w.sending.Wait()
	return context.Cause(ctx)
}

// workStore is the store of a worker: rows go to the feed once their block is complete, and on real nodes
// once their trial is. Its schedule comes from there.
type workStore struct {
	*results.Folder
	experiment *experiment.Experiment
	feed       work.Feed
	ctx        context.Context
	fail       context.CancelCauseFunc
	sending    sync.WaitGroup
	bus        func() map[string]any // what its bus alone costs; nil: it has none

	mu sync.Mutex
	of map[int]*underWay // by trial that is not finished
}

// underWay is a block of which trials are not finished.
type underWay struct {
	work.Block
	left int // of how many
	rows []results.Trial
}

func (w *workStore) next() (out []experiment.Trial) {
	blocks, err := w.feed.Next(w.ctx)
	for _, b := range blocks {
		var trials []experiment.Trial
		if trials, err = w.begin(b); err != nil {
			break
		}
		out = append(out, trials...)
	}
	if err != nil {
		w.fail(err)
		return nil
	}
	return out
}

func (w *workStore) begin(b work.Block) ([]experiment.Trial, error) {
	trials, err := b.Of(w.experiment)
	if err != nil {
		return nil, err
	}
	u := &underWay{Block: b, left: len(trials)}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range trials {
		w.of[trials[i].Number] = u
	}
	return trials, nil
}

// Attempts is none: a worker begins every trial anew.
func (w *workStore) Attempts(int) int { return 0 }

// Done is nothing, for the same reason.
func (w *workStore) Done() map[int]results.Outcome { return nil }

// AppendGroup keeps rows until they are handed over. In simulation the next trials do
// not wait for the network; on real nodes nothing else is under way during a trial.
func (w *workStore) AppendGroup(rows []results.Trial) error {
	var ready []work.Yield
	w.mu.Lock()
	for i := range rows {
		row := &rows[i]
		u := w.of[row.Trial]
		u.rows = append(u.rows, *row)
		if row.Status == trace.Invalid && row.Attempts <= w.experiment.Retries {
			continue
		}
		delete(w.of, row.Trial)
		y := work.Yield{Block: u.Block, Of: u.Number, Last: u.left == 1, Rows: u.rows}
		if u.left--; !w.experiment.Virtual() {
			y.Block = u.Only(func(trial int) bool { return trial == row.Trial })
			y.Block.Number, u.rows = row.RunOrder, nil
		}
		if y.Last || !w.experiment.Virtual() {
			ready = append(ready, y)
		}
	}
	w.mu.Unlock()
	for _, y := range ready {
		if !w.experiment.Virtual() {
			if err := w.send(y); err != nil {
				return err
			}
			continue
		}
		w.sending.Go(func() {
			if err := w.send(y); err != nil {
				w.fail(err)
			}
		})
	}
	return nil
}

// send hands trials over to the feed.
func (w *workStore) send(y work.Yield) error {
	y.Traces = map[int][]byte{}
	if w.bus != nil {
		h := w.Header()
		y.Ran = &results.Worker{Host: h.Where(), Machine: results.ThisSite().Machine, Bus: w.bus()}
	}
	for _, n := range y.Block.Trials {
		trace, err := w.TakeTrace(n)
		if err != nil {
			return err
		}
		if trace != nil {
			y.Traces[n] = trace
		}
	}
	return w.feed.Yield(y)
}
