package advise

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func (q *Request) workers() int {
	if q.Workers > 0 {
		return q.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// spreadOver calls do for 0 to n - 1 with so many workers.
func spreadOver(ctx context.Context, workers, n int, do func(i int) error) error {
	var (
		pool   sync.WaitGroup
		next   atomic.Int64
		failed sync.Once
		first  error
		stop   atomic.Bool
	)
	for range min(workers, max(n, 1)) {
		pool.Go(func() {
			for !stop.Load() && ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(i); err != nil {
					failed.Do(func() { first = err })
					stop.Store(true)
				}
			}
		})
	}
	pool.Wait()
	if first != nil {
		return first
	}
	return cancelled(ctx)
}

// An Outage is how long a crash of the leader leaves the system without one, in ms. What no trial could end
// is infinite.
type Outage struct {
	N                           int
	Median, MedianLow, MedianHi float64
	P99, P99Low, P99High        float64
	// Worst is the longest of a thousand crashes: the median of the longest of N / 1000 thousands, and
	// the least and the largest of them.
	Worst, WorstLow, WorstHigh float64
	Terms                      Terms
	values                     []float64
}

// Terms are what a mean outage is made of, in ms.
type Terms struct {
	Detection float64 // from the crash until the least time-out has expired
	Spread    float64 // the random part of the time-out, and ticks and polls
	Split     float64 // from the first candidacy to the one that succeeds
	Trips     float64 // of messages, from then on
	Writes    float64 // to stable storage
}

// Of are the terms with their names.
func (t *Terms) Of() []struct {
	Name, Means string
	Mean        float64
} {
	return []struct {
		Name, Means string
		Mean        float64
	}{
		{"detection", "from the crash until the least time-out has expired: a shorter time-out", t.Detection},
		{"spread", "the random part of the time-out, ticks and polls: a shorter interval", t.Spread},
		{"split votes", "from the first candidacy to the one that succeeds: fewer members, or a wider spread",
			t.Split},
		{"round trips", "messages of that candidacy: members that are closer", t.Trips},
		{"writes", "to stable storage meanwhile: faster disks", t.Writes},
	}
}

func (t *Terms) sum() float64 { return t.Detection + t.Spread + t.Split + t.Trips + t.Writes }

// thousand is how many crashes the worst is of.
const thousand = 1000

// outages simulates n crashes of the leader.
func (w *model) outages(ctx context.Context, x *Setting, n int, purpose string) (*Outage, error) {
	values, terms, err := w.crashes(ctx, x, n, purpose, true)
	if err != nil {
		return nil, err
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("%s: of %d crashes of the leader none made an outage", w.words(x), n)
	}
	o := &Outage{N: len(values), values: values, Terms: terms}
	if w.writes != nil && n >= thousand { // what they add to equal trials without them
		bare := *w
		bare.writes = nil
		_, without, err := bare.crashes(ctx, x, n, purpose, true)
		if err != nil {
			return nil, err
		}
		all := terms.sum()
		o.Terms = without
		o.Terms.Writes = max(all-without.sum(), 0)
	}
	var worst []float64
	for part := range slices.Chunk(values, thousand) {
		if len(part) == thousand {
			worst = append(worst, slices.Max(part))
		}
	}
	slices.Sort(worst)
	o.values = slices.Sorted(slices.Values(values))
	o.Median, o.P99 = stats.Quantile(o.values, 0.5), stats.Quantile(o.values, 0.99)
	o.MedianLow, o.MedianHi = stats.QuantileInterval(o.values, 0.5, stats.Confidence)
	o.P99Low, o.P99High = stats.QuantileInterval(o.values, 0.99, stats.Confidence)
	o.Worst, o.WorstLow, o.WorstHigh = math.NaN(), math.NaN(), math.NaN()
	if len(worst) > 0 {
		o.Worst, o.WorstLow, o.WorstHigh = stats.Quantile(worst, 0.5), worst[0], worst[len(worst)-1]
	}
	return o, nil
}

// beyond is the share of outages that are longer than d.
func (o *Outage) beyond(d time.Duration) float64 {
	n := 0
	for _, v := range o.values {
		if v > ms(d) {
			n++
		}
	}
	return float64(n) / float64(len(o.values))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// crashes are the outages of n crashes, and their mean terms.
func (w *model) crashes(ctx context.Context, x *Setting, n int, purpose string, dissect bool) (
	values []float64, mean Terms, err error) {
	p, err := w.crash(x)
	if err != nil {
		return nil, mean, err
	}
	values = make([]float64, n)
	terms := make([]Terms, n)
	err = w.each(ctx, n, func(i int) error {
		plan := p
		plan.Seed = harness.Derive(w.q.Seed, purpose, uint64(i))
		setup, err := plan.Setup()
		if err != nil {
			return err
		}
		setup.Virtual = true
		judge := check.NewJudge(setup)
		c := newCourse(w.Subject, setup, x)
		end := sim.Run(setup, trace.Tee(judge, c))
		v := judge.Finish(end)
		if v.Status == trace.Failed {
			return fmt.Errorf("%s: a trial could not be run: %s", w.words(x), v.Reason)
		}
		values[i] = w.outageOf(&v, setup, c)
		terms[i] = c.terms(values[i])
		return nil
	})
	if err != nil {
		return nil, mean, err
	}
	ended := 0.0
	for i := range terms {
		if !math.IsInf(values[i], 1) && !math.IsNaN(values[i]) {
			ended++
			mean.add(&terms[i])
		}
	}
	mean.divide(ended)
	// A trial in which the leader that crashed led nobody has no such outage.
	return slices.DeleteFunc(values, math.IsNaN), mean, nil
}

// outageOf is the outage of a trial in ms. Of a lease, who leads does not wait for others to notice, unless
// another definition is asked for.
func (w *model) outageOf(v *check.Verdict, setup *harness.Setup, c *course) float64 {
	switch {
	case w.outage != nil:
		return outageOf(v, w.outage)
	case w.store():
		return c.took()
	}
	return outageOf(v, metric.OutagesOf(setup.Alg.Spec.Service))
}

// outageOf is the outage of a trial in ms; infinite if it had no end, NaN if there is none that counts:
// an election was under way anyway.
func outageOf(v *check.Verdict, of *metric.Outages) float64 {
	value := math.Inf(1)
	for _, m := range v.Metrics {
		switch {
		case m.Name == of.Never.Name && m.Value > 0:
			return math.Inf(1)
		case m.Name == of.Downtime.Name && v.Status != trace.TimedOut:
			value = m.Value
		}
	}
	return value
}

func (t *Terms) add(o *Terms) {
	t.Detection, t.Spread, t.Split = t.Detection+o.Detection, t.Spread+o.Spread, t.Split+o.Split
	t.Trips, t.Writes = t.Trips+o.Trips, t.Writes+o.Writes
}

func (t *Terms) divide(n float64) {
	t.Detection, t.Spread, t.Split = t.Detection/n, t.Spread/n, t.Split/n
	t.Trips, t.Writes = t.Trips/n, t.Writes/n
}

// A course follows how a new leader comes to lead.
type course struct {
	least   time.Duration // that a follower waits
	anchor  algo.ID
	periods []algo.Period
	leader  algo.ID
	crashed time.Duration // negative: not yet
	heard   []time.Duration
	first   time.Duration // candidacy; negative: none
	contact time.Duration // when the first candidate, or the holder, last heard
	own     []time.Duration
	stood   time.Duration // the candidacy that succeeded
	led     time.Duration // from when on another process has led
}

// took is from the crash until another process led, in ms; infinite if none did.
func (c *course) took() float64 {
	if c.led < 0 {
		return math.Inf(1)
	}
	return ms(c.led - c.crashed)
}

func newCourse(s *Subject, setup *harness.Setup, x *Setting) *course {
	c := &course{anchor: setup.Alg.Spec.Survives.AnchorOf(setup.Params), periods: setup.Alg.Spec.Periods,
		leader: setup.Leader, crashed: -1, first: -1, stood: -1, led: -1, heard: make([]time.Duration,
			setup.Nodes),
		own: make([]time.Duration, setup.Nodes)}
	if tuned := setup.Alg.Spec.Tuned(algo.Patience, x.Params); tuned != nil {
		c.least = x.Params.Duration(tuned.Name)
	}
	return c
}

// Record sees each record.
func (c *course) Record(r *trace.Record) {
	i := r.Process - 1
	switch {
	case r.Type == trace.Crash && algo.ID(r.Process) == c.leader && c.crashed < 0:
		c.crashed = r.At
		if c.anchor != algo.None {
			c.contact = c.heard[i]
		}
	case r.Type == trace.Deliver && r.Plane == trace.Data && c.first < 0:
		if algo.ID(r.Peer) == c.leader || algo.ID(r.Peer) == c.anchor {
			c.heard[i] = r.At
		}
	case r.Type == trace.Timeout && c.crashed >= 0:
		c.own[i] = r.At
		if c.first < 0 && c.anchor == algo.None && !c.periodic(r.Text) {
			c.first, c.contact = r.At, c.heard[i]
		}
	case r.Type == trace.Elected && r.Process == r.Peer && c.crashed < 0:
		c.leader = algo.ID(r.Process)
	case r.Type == trace.Elected && r.Process == r.Peer && c.crashed >= 0 && c.led < 0:
		c.led = r.At
		if c.stood = c.own[i]; c.anchor != algo.None || c.first < 0 {
			c.first = c.stood
		}
	}
}

func (c *course) periodic(timer string) bool {
	return slices.ContainsFunc(c.periods, func(p algo.Period) bool { return string(p.Timer) == timer })
}

// terms are those of an outage of so many ms. Each ends at the end of the outage at the latest.
func (c *course) terms(outage float64) (t Terms) {
	if c.crashed < 0 || c.first < 0 || c.stood < 0 || math.IsInf(outage, 1) {
		return Terms{Detection: outage}
	}
	until := func(at time.Duration, from float64) float64 { return min(max(ms(at-c.crashed), from), outage) }
	first := until(c.first, 0)
	t.Detection = min(until(c.contact+c.least, 0), first)
	t.Spread = first - t.Detection
	stood := until(c.stood, first)
	t.Split = stood - first
	t.Trips = outage - stood
	return t
}
