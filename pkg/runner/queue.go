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

// dispatch has trials run by workers, and what follows them.
func (r *run) dispatch(ctx context.Context, todo []experiment.Trial) (err error) {
	q, err := r.options.Queue(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close(err == nil)) }()
	for ; len(todo) > 0; todo = r.next() {
		waiting := map[int]experiment.Trial{}
		for _, t := range todo {
			waiting[t.Number] = t
		}
		if err := q.Send(ctx, work.Blocks(todo)); err != nil {
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

// take puts the rows of trials that are waited for on disk. The others have been there: a
// worker that was taken for dead has finished after all.
func (r *run) take(y *work.Yield, waiting map[int]experiment.Trial) error {
	if y.Failed != "" {
		y.Keep()
		return fmt.Errorf("block %d (worker %s): %s", y.Block.Repetition, y.Worker, y.Failed)
	}
	var rows []results.Trial
	for _, data := range y.Rows {
		row, err := results.DecodeTrial(data, r.experiment.Columns)
		if err != nil {
			return fmt.Errorf("a result of block %d (worker %s) cannot be read: %w", y.Block.Repetition,
				y.Worker, err)
		}
		if _, ok := waiting[row.Trial]; ok {
			rows = append(rows, *row)
		}
	}
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
		r.meet(y.Ran)
	}
	for i := range rows {
		t := waiting[rows[i].Trial]
		if r.conclusive(t, &rows[i]) {
			delete(waiting, t.Number)
		}
	}
	y.Keep()
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
	w := &workStore{Folder: f, experiment: e, feed: feed, blocks: map[int]*underWay{}, ctx: ctx, fail: cancel}
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

// workStore is the store of a worker: rows go to the feed once their block is complete. Its schedule
// comes from there.
type workStore struct {
	*results.Folder
	experiment *experiment.Experiment
	feed       work.Feed
	ctx        context.Context
	fail       context.CancelCauseFunc
	sending    sync.WaitGroup
	bus        func() map[string]any // what its bus alone costs; nil: it has none

	mu     sync.Mutex
	blocks map[int]*underWay // by repetition
}

type underWay struct {
	work.Block
	left map[int]bool // trials that are not finished
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
	trials, err := b.Trials(w.experiment)
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
	y := work.Yield{Block: u.Block, Traces: map[int][]byte{}}
	if w.bus != nil {
		h := w.Header()
		y.Ran = &results.Worker{Host: h.Where(), Machine: results.ThisSite().Machine, Bus: w.bus()}
	}
	for i := range u.rows {
		row, err := results.EncodeTrial(&u.rows[i])
		if err != nil {
			return err
		}
		trace, err := w.TakeTrace(u.rows[i].Trial)
		if err != nil {
			return err
		}
		if y.Rows = append(y.Rows, row); trace != nil {
			y.Traces[u.rows[i].Trial] = trace
		}
	}
	return w.feed.Yield(y)
}
