package rare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Scenarios are those with outages that are measured, and with an end that waits for them.
var Scenarios = []string{"leader-crash", "cold-start"}

// Patience is the time-out by which the algorithm of a plan, or else its failure detector,
// gives up a leader, and its name. Zero: it has none, or not one for all processes.
func Patience(p *harness.Plan) (name string, d time.Duration) {
	alg, err := algo.Lookup(p.Algorithm)
	if err != nil {
		return "", 0
	}
	if patience := alg.Spec.Tuned(algo.Patience, p.Params); patience != nil {
		d, _ = p.Params[patience.Name].(time.Duration)
		return patience.Name, d
	}
	if key := p.Detector.Tuned(); key != nil {
		if set, ok := key.Value().(time.Duration); ok {
			return "detector." + key.Name, set
		}
	}
	return "", 0
}

// Refuse says why the outages of a plan are not estimated, with the remedy; nil if they are.
func Refuse(p *harness.Plan) error {
	alg, err := algo.Lookup(p.Algorithm)
	switch {
	case err != nil:
		return err
	case alg.Problem != algo.Election:
		return fmt.Errorf("%s has no leader, and so no outages", p.Algorithm)
	case !slices.Contains(Scenarios, p.Scenario.Kind()):
		return fmt.Errorf("scenario.kind %s: a trial is followed until its outage is over; write "+
			"scenario: {kind: %s}", p.Scenario.Kind(), strings.Join(Scenarios, "} or {kind: "))
	}
	return nil
}

// Outages makes the trials of a plan, one for each height. What is measured is the longest outage
// of a trial whose downtime counts, by the definition of the algorithm's Spec, in
// nanoseconds. Beyond the bound a path is followed no further.
func Outages(p *harness.Plan, bound time.Duration) (trials []Trial) {
	for _, h := range heights {
		trials = append(trials, func(b Branch, until float64, peaks bool) (Path, error) {
			plan := *p
			plan.Seed = b[0].Seed
			plan.TimeLimit += 2 * bound
			setup, err := plan.Setup()
			if err != nil {
				return Path{}, err
			}
			setup.Virtual = true
			w := &watcher{track: track{branch: b[1:], until: until, keep: peaks}, bound: bound, height: h,
				judge: check.NewJudge(setup), periods: setup.Alg.Spec.Periods}
			w.follow(setup, w, nil)
			return w.path(setup)
		})
	}
	return trials
}

// heights are the importance functions, the better one first. A vote that is split or a message
// that is lost costs a time-out, and after a time-out much is drawn anew: paths that part at another
// record have their next time-out settled already. The age of the outage is for algorithms
// that wait for none.
var heights = []func(w *watcher, r *trace.Record, age time.Duration) float64{
	func(w *watcher, r *trace.Record, _ time.Duration) float64 {
		if r.Type == trace.Suspect || r.Type == trace.Timeout && !w.periodic(r.Text) {
			w.waits++
		}
		return float64(w.waits)
	},
	func(_ *watcher, _ *trace.Record, age time.Duration) float64 { return float64(age) },
}

// Heights are their names.
var Heights = []string{"time-outs and suspicions", "age of the outage"}

// periodic says whether a timer only says how often something is sent.
func (w *watcher) periodic(timer string) bool {
	return slices.ContainsFunc(w.periods, func(p algo.Period) bool { return string(p.Timer) == timer })
}

// A watcher follows a path by its records.
type watcher struct {
	track
	judge   *check.Judge
	bound   time.Duration
	height  func(*watcher, *trace.Record, time.Duration) float64
	periods []algo.Period

	since   time.Duration // of the outage that goes on
	down    bool
	longest time.Duration
	waits   int // time-outs and suspicions in outages
}

// Record sees each record before the judge does, and before the process handles the event.
func (w *watcher) Record(r *trace.Record) {
	if w.left {
		return
	}
	w.records++
	if w.down {
		w.climb(r)
		if w.left {
			return
		}
	}
	w.redraw()
	w.judge.Record(r)
	switch r.Type {
	case trace.Send, trace.Duplicate, trace.Deliver, trace.Lose, trace.Undelivered:
	default: // only these begin or end an outage
		w.since, w.down = w.judge.Outage()
	}
}

// climb notes how high the path is at r, in an outage that has lasted until then at least.
func (w *watcher) climb(r *trace.Record) {
	age := r.At - w.since
	w.longest = max(w.longest, age)
	if age > w.bound {
		w.rise(math.Inf(1))
	} else {
		w.rise(w.height(w, r, age))
	}
}

// path is what the path has come to.
func (w *watcher) path(setup *harness.Setup) (Path, error) {
	p := Path{Events: w.events}
	if err := w.fault(setup); err != nil {
		return p, err
	}
	if !w.left {
		end := w.sim.End()
		v := w.judge.Finish(end)
		switch {
		case v.Status == trace.Failed:
			return p, fmt.Errorf("%s: a trial could not be run: %s", setup.Label, v.Reason)
		case v.Status == trace.Violated && v.Within(&setup.Plan):
			p.Broken = v.Reason
		}
		if w.down { // and the system is quiescent, or it does so without end
			w.rise(math.Inf(1))
		}
		p.Events, p.Value = end.Events, float64(w.longest)
	}
	p.Top, p.Peaks = w.top, w.peaks
	return p, nil
}
