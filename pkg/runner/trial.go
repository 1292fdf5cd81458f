package runner

import (
	"context"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A finished trial waits to be committed.
type finished struct {
	trial experiment.Trial
	row   results.Trial
	o     work.Outcome
}

// most is how many trials are committed at once.
const most = 256

// simulateRound runs the trials of one round on all cores, commits them in groups, and returns the first
// ones of the next. It has simulators of its own.
func (r *run) simulateRound(ctx context.Context, todo []experiment.Trial) ([]experiment.Trial, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var rest []experiment.Trial
	done := r.pool(ctx, cancel, todo, &rest)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var group []finished
	var failed error
	commit := func() {
		if failed == nil {
			if failed = r.commit(group); failed != nil {
				cancel(failed)
			}
		}
		group = group[:0]
	}
	for open := true; open; {
		select {
		case f, ok := <-done:
			if open = ok; ok {
				group = append(group, f)
			}
			if len(group) >= most {
				commit()
			}
		case <-tick.C:
			commit()
		}
	}
	commit()
	if failed != nil {
		return nil, failed
	}
	return rest, context.Cause(ctx)
}

// pool starts the workers for a round; the channel is closed when all have ended, and rest
// is what the next round begins with.
func (r *run) pool(ctx context.Context, cancel context.CancelCauseFunc,
	first []experiment.Trial, rest *[]experiment.Trial) <-chan finished {
	workers := r.options.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	todo := make(chan experiment.Trial)
	judged := make(chan struct{}, max(workers, r.ahead))
	done := make(chan finished, 4*workers)
	var pool sync.WaitGroup
	for range workers {
		pool.Go(func() {
			begun := time.Now()
			err := r.simulateAll(ctx, workers, todo, func(t experiment.Trial, o work.Outcome) {
				r.mu.Lock()
				r.inTrials += time.Since(begun) / time.Duration(workers)
				r.mu.Unlock()
				f := finished{t, r.row(t, 1, o), o}
				r.learn(&f.row)
				done <- f
				select {
				case judged <- struct{}{}:
				case <-ctx.Done():
				}
				begun = time.Now()
			})
			if err != nil {
				cancel(err)
			}
		})
	}
	go func() {
		defer close(todo)
		trials, owed, ok := first, 0, true
		for ; len(trials) > 0 && trials[0].Round == first[0].Round; trials = r.next() {
			if owed, ok = hand(ctx, trials, todo, judged, owed, r.ahead); !ok {
				return
			}
		}
		hand(ctx, nil, todo, judged, owed, 0)
		*rest = trials
	}()
	go func() { pool.Wait(); close(done) }()
	return done
}

// simulateAll simulates trials until there are no more, and hands each outcome to emit.
func (r *run) simulateAll(ctx context.Context, workers int, todo <-chan experiment.Trial,
	emit func(experiment.Trial, work.Outcome)) error {
	if r.options.children() {
		c := r.options.simulators()
		c.Workers, c.Keep, c.Dir = workers, r.experiment.Trace, r.store.Dir()
		return c.Run(ctx, todo, emit)
	}
	for t := range todo {
		plan := t.Plan
		plan.Trial = transport.Sim.Name
		o, err := work.SimulateTraced(&plan, r.experiment.Trace, r.store, &r.firsts, t.Number)
		if err != nil {
			return err
		}
		emit(t, o)
	}
	return nil
}

// hand gives trials to the workers, which owe some already, and returns when all but a few are
// judged: how many are owed then. It is false if ctx ended before.
func hand(ctx context.Context, trials []experiment.Trial, todo chan<- experiment.Trial,
	judged <-chan struct{}, owed, few int) (int, bool) {
	for owed += len(trials); len(trials) > 0 || owed > few; {
		var to chan<- experiment.Trial
		var t experiment.Trial
		if len(trials) > 0 {
			to, t = todo, trials[0]
		}
		select {
		case to <- t:
			trials = trials[1:]
		case <-judged:
			owed--
		case <-ctx.Done():
			return owed, false
		}
	}
	return owed, true
}

// commit puts a group of trials on disk and reports them.
func (r *run) commit(group []finished) error {
	if len(group) == 0 {
		return nil
	}
	rows := make([]results.Trial, len(group))
	for i := range group {
		rows[i] = group[i].row
	}
	if err := r.store.AppendGroup(rows); err != nil {
		return err
	}
	for i := range group {
		f := &group[i]
		r.cal.add(f.trial, f.o, &f.row)
		r.addHandling(f)
		r.tell(f.trial, &f.row, true)
	}
	return nil
}

// addHandling adds what the handlers of a trial cost.
func (r *run) addHandling(f *finished) {
	label := r.experiment.Cells[f.trial.Cell-1].Plan.Label
	if r.handlers == nil {
		r.handlers = map[string]*harness.Handling{}
	}
	if r.handlers[label] == nil {
		r.handlers[label] = &harness.Handling{}
	}
	r.handlers[label].Add(f.o.Handling)
}

// handlersTook is what handlers cost in the trials that this process has led, by algorithm.
func (r *run) handlersTook() (list []results.Handlers) {
	for _, label := range slices.Sorted(maps.Keys(r.handlers)) {
		h := r.handlers[label]
		if h.Sampled > 0 {
			took := results.Handlers{Label: label, Events: h.Events, Sampled: h.Sampled,
				MeanUS: float64(h.CPU) / 1e3 / float64(h.Sampled)}
			if h.Passed {
				took.PerSecond = 1e6 / took.MeanUS
			}
			list = append(list, took)
		}
	}
	return list
}

// Row is what the tables say about a trial by its verdict and its end alone.
func Row(v *check.Verdict, end harness.End) results.Trial {
	figures := append(v.Figures(end.At), metric.LateShare.Of(math.NaN()), metric.SchedDelay.Of(math.NaN()))
	return results.Trial{Status: v.Status, Reason: v.Reason, Unseen: v.Unseen, Ops: v.Operations,
		Outages: v.Outages, Kinds: v.Kinds}.With(figures...)
}

// row turns an attempt into what the tables say about it.
func (r *run) row(t experiment.Trial, attempt int, o work.Outcome) results.Trial {
	v := &o.Verdict
	row := Row(v, o.End)
	row.Trial, row.Cell, row.Repetition, row.Round, row.RunOrder = t.Number, t.Cell, t.Repetition, t.Round,
		t.Order
	row.Seed, row.Attempts, row.InModel = t.Seed, attempt, v.Within(&t.Plan)
	row.Design = r.experiment.Cells[t.Cell-1].Design
	row.Reason = work.Reason(&t.Plan, v)
	h := r.store.Header()
	row.Host = h.Where()
	if q := o.Quality; q != nil {
		figures := []metric.Value{metric.SchedDelay.Of(ms(q.SchedDelayP99))}
		if v.Totals.Delivered > 0 {
			figures = append(figures, metric.LateShare.Of(float64(v.Totals.Late)/float64(v.Totals.Delivered)))
		}
		figures = append(figures, metric.BusyShare.Of(q.Busy), metric.StealShare.Of(q.Stolen),
			metric.Throttled.Of(ms(q.Throttled)))
		if !v.Unseen {
			figures = append(figures, metric.Handling.Of(ms(q.Usage.Handling)))
		}
		if v.Completed > 0 && q.Usage.CPU > 0 && !v.Unseen {
			figures = append(figures, usage(&q.Usage, t.Plan.Nodes, v.Completed)...)
		}
		if q.ClockError > 0 {
			figures = append(figures, metric.ClockError.Of(float64(q.ClockError)/1e3))
		}
		if w := q.Wire; w != nil {
			figures = append(figures, packets(w)...)
		}
		if why := withheld(q, o.End.At); why != "" && row.Status == trace.OK {
			row.Reason = strings.TrimPrefix(row.Reason+"; "+why, "; ")
		}
		row.Set(figures...)
	}
	return row
}

// packets is what happened on the wire.
func packets(w *harness.Packets) []metric.Value {
	us := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
	return []metric.Value{
		metric.Packets.Of(float64(w.Sent)), metric.PacketsLost.Of(float64(w.Lost)),
		metric.PacketsMissed.Of(float64(w.Missed)), metric.PacketDelayP50.Of(us(w.DelayP50)),
		metric.PacketDelayP99.Of(us(w.DelayP99)), metric.PacketDelayMax.Of(us(w.DelayMax)),
	}
}

// usage is what the nodes used for each operation.
func usage(u *harness.Usage, nodes, operations int) []metric.Value {
	each := func(sum float64) float64 { return sum / float64(operations) }
	mean := func(sum float64) float64 { return each(sum / float64(nodes)) }
	return []metric.Value{
		metric.CPU.Of(mean(ms(u.CPU))), metric.BusiestCPU.Of(each(ms(u.BusiestCPU))),
		metric.Switches.Of(mean(float64(u.Switches))),
		metric.BusiestSwitches.Of(each(float64(u.BusiestSwitches))),
		metric.InvoluntarySwitches.Of(mean(float64(u.Involuntary))),
	}
}

// mostWithheld is the share of a trial's processor time that others may take without a
// mark. What of it matters shows in the trial's lateness, but for what ran at the
// same time and is not measured.
const mostWithheld = 0.05

// withheld marks a trial, which took so long, whose processors were given to others.
func withheld(q *harness.Quality, took time.Duration) string {
	var parts []string
	if share := float64(q.Throttled) / float64(took); took > 0 && share > mostWithheld {
		parts = append(parts, fmt.Sprintf("throttled: a quota kept processors from running for %.0f %% of "+
			"the trial; raise the limit of the control group", 100*share))
	}
	if q.Stolen > mostWithheld {
		parts = append(parts, fmt.Sprintf("steal: the hypervisor gave %.0f %% of the processors to others",
			100*q.Stolen))
	}
	return strings.Join(parts, "; ")
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
