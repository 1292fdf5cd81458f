package runner

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/host"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// An outcome is one attempt at a trial.
type outcome struct {
	verdict check.Verdict
	end     harness.End
	quality *host.Quality // nil: simulated
	trace   trace.List
	kinds   []string
}

// The metrics of real trials that no record tells.
const (
	busyShare  = "busy_share"
	stealShare = "steal_share"
	throttled  = "throttled_ms"
)

// mostKept bounds the records that are held back in case a trial fails.
const mostKept = 500_000

// hosted runs one trial on real nodes.
func hosted(ctx context.Context, m machine, p *harness.Plan, keep string) (outcome, error) {
	setup, err := p.Setup()
	if err != nil {
		return outcome{}, err
	}
	var o outcome
	judge := check.NewJudge(setup)
	sink := trace.Sink(judge)
	switch keep {
	case "all":
		sink = trace.Tee(judge, &o.trace)
	case "failures":
		sink = trace.Tee(judge, trace.SinkFunc(func(r *trace.Record) {
			if len(o.trace) < mostKept {
				o.trace = append(o.trace, *r)
			}
		}))
	}
	var q host.Quality
	if o.end, q, err = m.Run(ctx, setup, sink); err != nil {
		return o, err
	}
	o.quality, o.verdict, o.kinds = &q, judge.Finish(o.end), setup.Alg.Codec.Kinds()
	o.verdict.JudgeTimes()
	return o, nil
}

// simulated runs one trial in virtual time. A trace of failures costs nothing
// until there is one: the trial is then run again, and is the same.
func simulated(p *harness.Plan, keep string) (outcome, error) {
	setup, err := p.Setup()
	if err != nil {
		return outcome{}, err
	}
	setup.Virtual = true
	judge := check.NewJudge(setup)
	o := outcome{kinds: setup.Alg.Codec.Kinds()}
	if keep == "all" {
		o.end = sim.Run(setup, trace.Tee(judge, &o.trace))
	} else {
		o.end = sim.Run(setup, judge)
	}
	o.verdict = judge.Finish(o.end)
	if keep == "failures" && o.verdict.Status != check.OK {
		sim.Run(setup, &o.trace)
	}
	return o, nil
}

// A finished trial waits to be committed.
type finished struct {
	trial experiment.Trial
	row   results.Trial
	o     outcome
}

// most is how many trials are committed at once.
const most = 256

// simulate runs trials and what follows them on all cores, and commits them in groups.
func (r *run) simulate(ctx context.Context, todo []experiment.Trial) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := r.pool(ctx, cancel, todo)
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
		return failed
	}
	return context.Cause(ctx)
}

// pool starts the workers; the channel is closed when all have ended.
func (r *run) pool(ctx context.Context, cancel context.CancelCauseFunc,
	first []experiment.Trial) <-chan finished {
	workers := r.options.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	todo := make(chan experiment.Trial)
	judged := make(chan struct{}, workers)
	done := make(chan finished, 4*workers)
	var pool sync.WaitGroup
	for range workers {
		pool.Go(func() {
			for t := range todo {
				plan := t.Plan
				plan.Trial = "sim"
				begun := time.Now()
				o, err := simulated(&plan, r.experiment.Trace)
				r.mu.Lock()
				r.inTrials += time.Since(begun) / time.Duration(workers)
				r.mu.Unlock()
				if err == nil {
					err = r.keepTrace(t, 1, o)
				}
				if err != nil {
					cancel(err)
					return
				}
				o.trace = nil // a group of them would fill the memory
				f := finished{t, r.row(t, 1, o), o}
				r.learn(&f.row)
				done <- f
				select {
				case judged <- struct{}{}:
				case <-ctx.Done():
				}
			}
		})
	}
	go func() {
		defer close(todo)
		for trials := first; len(trials) > 0; trials = r.next() {
			if !hand(ctx, trials, todo, judged) {
				return
			}
		}
	}()
	go func() { pool.Wait(); close(done) }()
	return done
}

// hand gives trials to the workers, and returns when all are judged. It is false if
// ctx ended before.
func hand(ctx context.Context, trials []experiment.Trial, todo chan<- experiment.Trial,
	judged <-chan struct{}) bool {
	for given, left := 0, len(trials); left > 0; {
		to := todo
		var t experiment.Trial
		if given < len(trials) {
			t = trials[given]
		} else {
			to = nil
		}
		select {
		case to <- t:
			given++
		case <-judged:
			left--
		case <-ctx.Done():
			return false
		}
	}
	return true
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
	if err := r.folder.AppendGroup(rows); err != nil {
		return err
	}
	for i := range group {
		f := &group[i]
		r.cal.add(f.trial, f.o, &f.row)
		r.tell(f.trial, &f.row, true)
	}
	return nil
}

// row turns an attempt into what the tables say about it.
func (r *run) row(t experiment.Trial, attempt int, o outcome) results.Trial {
	v := &o.verdict
	cell := &r.experiment.Cells[t.Cell-1]
	row := results.Trial{
		Trial: t.Number, Cell: t.Cell, Repetition: t.Repetition, Order: t.Order, Seed: t.Seed,
		Status: string(v.Status), Reason: v.Reason, Attempts: attempt, InModel: t.Plan.InModel,
		Operations: len(v.Operations), Completed: v.Completed, DurationMS: ms(o.end.At),
		Messages: v.Totals.Sent, Delivered: v.Totals.Delivered, Lost: v.Totals.Lost,
		Duplicated: v.Totals.Duplicated, Undeliverable: v.Totals.Undeliverable,
		Bytes: v.Totals.Bytes, DetectorMessages: v.Totals.Detector,
		LateShare: math.NaN(), SchedDelayP99MS: math.NaN(),
	}
	for _, f := range cell.Design {
		row.Design = append(row.Design, results.Field{Name: f.Name, Value: f.Value})
	}
	for _, m := range v.Metrics {
		row.Metrics = append(row.Metrics, results.Metric{Name: m.Name, Value: m.Value})
	}
	if q := o.quality; q != nil {
		row.SchedDelayP99MS = ms(q.SchedDelayP99)
		if v.Totals.Delivered > 0 {
			row.LateShare = float64(v.Totals.Late) / float64(v.Totals.Delivered)
		}
		row.Metrics = append(row.Metrics, results.Metric{Name: busyShare, Value: q.Busy},
			results.Metric{Name: stealShare, Value: q.Stolen},
			results.Metric{Name: throttled, Value: ms(q.Throttled)})
		if why := withheld(q, o.end.At); why != "" && row.Status == results.OK {
			row.Reason = strings.TrimPrefix(row.Reason+"; "+why, "; ")
		}
	}
	for _, op := range v.Operations {
		row.Ops = append(row.Ops, results.Operation{
			Process: uint32(op.Process), CauseMS: ms(op.Cause), BeginMS: after(op.Begin),
			EndMS: after(op.End), Status: op.Status,
		})
	}
	for _, k := range v.Kinds {
		row.Kinds = append(row.Kinds, results.Kind{
			Kind: k.Name, Sent: k.Sent, Delivered: k.Delivered, Lost: k.Lost, Bytes: k.Bytes,
		})
	}
	return row
}

// mostWithheld is the share of a trial's processor time that others may take without a
// mark. What of it matters shows in the trial's lateness, but for what ran at the
// same time and is not measured.
const mostWithheld = 0.05

// withheld marks a trial, which took so long, whose processors were given to others.
func withheld(q *host.Quality, took time.Duration) string {
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

// after is an instant in ms; NaN for one that has not come.
func after(d time.Duration) float64 {
	if d < 0 {
		return math.NaN()
	}
	return ms(d)
}

// Replay runs one trial of e again, with its records. In simulation it is the
// same trial to the last event; on real nodes it has the same plan and luck.
func Replay(ctx context.Context, e *experiment.Experiment, number int, o Options) (
	check.Verdict, harness.End, trace.List, *algo.Algorithm, error) {
	var found *experiment.Trial
	for _, t := range e.Trials() {
		if t.Number == number {
			found = &t
			break
		}
	}
	if found == nil {
		return check.Verdict{}, harness.End{}, nil, nil, noTrial(number, e.Most())
	}
	plan := found.Plan
	plan.Trial = "replay"
	alg, err := algo.Lookup(plan.Algorithm)
	if err != nil {
		return check.Verdict{}, harness.End{}, nil, nil, err
	}
	var out outcome
	if e.Transport == "sim" {
		out, err = simulated(&plan, "all")
		return out.verdict, out.end, out.trace, alg, err
	}
	m, _, err := newMachine(ctx, e, o, host.MachineConfig{
		Nodes: plan.Nodes, Run: "replay", Pause: plan.LongestPause(),
	})
	if err != nil {
		return check.Verdict{}, harness.End{}, nil, nil, err
	}
	defer m.Close()
	out, err = hosted(ctx, m, &plan, "all")
	return out.verdict, out.end, out.trace, alg, err
}
