package explore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Worst is the schedule that costs most of all that were tried.
type Worst struct {
	Found   // Schedule is a small one that costs as much, but for a hundredth of a time
	Metric  *metric.Metric
	Value   float64 // what Schedule costs
	Bound   *Bound  // nil: nothing is stated about it
	Command string  // that finds it again
}

// A Bound is what theory allows a schedule to cost.
type Bound struct {
	Value float64
	Text  string // what it is, in words
}

// climb is how many schedules are made of one where the costliest is looked for: some at random, of
// which the costliest is changed again and again, and every change is kept that costs no less.
const (
	climb = 256
	bases = 16
)

// timed says whether a time without a leader is looked for that only the loss of one begins: otherwise
// nobody leads until somebody is told to begin, and the longer that takes the more it would cost.
func (m *maker) timed(n int, s *Schedule) bool {
	cost := m.options.Maximise
	return cost != nil && cost.Unit == metric.Milliseconds && m.options.Faults != None &&
		m.alg.Spec.Survives.CrashesOf(n, s.params()) > 0
}

// trim leaves out events of s at random, down to as many as the options allow. The delays of single
// messages do not count: they are what the network does anyway.
func (m *maker) trim(s *Schedule) *Schedule {
	most := m.options.Events
	if most == 0 {
		return s
	}
	var counted []int
	for i := range s.Events {
		if e := &s.Events[i]; e.Do != harness.DoFlaky || e.Latency == nil || e.For != tick {
			counted = append(counted, i)
		}
	}
	m.rng.Shuffle(len(counted), func(i, j int) { counted[i], counted[j] = counted[j], counted[i] })
	out := counted[min(most, len(counted)):]
	slices.Sort(out)
	for _, i := range slices.Backward(out) {
		s.Events = slices.Delete(s.Events, i, i+1)
	}
	s.tidy()
	return s
}

// modest says whether something happens in s, with no more events than one may have, and is over soon
// enough: the cost is to be what the algorithm makes of faults, and not how many there are or how long
// they last. A schedule that was made of another may have as many and last as long.
func (s *Schedule) modest(of *Schedule) bool {
	if !s.asks() {
		return false
	}
	events, end := 32, time.Duration(s.Nodes)*s.network().Latency+10*s.unit()
	if of != nil {
		events, end = max(events, len(of.Events)), max(end, of.last())
	}
	load := s.Algorithm.Problem == algo.MutualExclusion && of == nil // it lasts until somebody starves
	return len(s.Events) <= events && (s.last() <= end || load)
}

// Costs are the metrics that can be maximised, by the words for the usual ones.
func Costs(alg *algo.Algorithm) map[string]*metric.Metric {
	out := map[string]*metric.Metric{}
	for _, m := range metric.Columns(alg.Problem) {
		if m.Better == metric.Lower {
			out[m.Name] = m
			if m.Claim != "" {
				out["messages"] = m
			}
		}
	}
	if alg.Problem == algo.Election {
		out["outage"] = metric.OutagesOf(alg.Spec.Service).Longest
	} else {
		out["bypass"] = metric.MaxBypass
	}
	return out
}

// cost simulates the schedule and returns what it costs; NaN: nothing, or it breaks a promise.
func (s *Schedule) cost(ctx context.Context, m *metric.Metric, sink trace.Sink) (float64, *breach, error) {
	p, err := s.Plan()
	if err != nil {
		return 0, nil, err
	}
	alg, v, err := simulate(ctx, &p, sink)
	if err != nil {
		return 0, nil, err
	}
	if v.Beyond != "" && s.within() { // by its records it is not
		return math.NaN(), nil, nil
	}
	if b := broke(alg, v, s.Unseen(), ""); b != nil {
		return math.NaN(), b, nil
	}
	return costOf(v, m), nil, nil
}

// costOf is the metric of a verdict; NaN: it has none.
func costOf(v *check.Verdict, m *metric.Metric) float64 {
	i := slices.IndexFunc(v.Metrics, func(x metric.Value) bool { return x.Name == m.Name })
	if i < 0 {
		return math.NaN()
	}
	return v.Metrics[i].Value
}

// climb tries the schedules of a family, each changed from the costliest so far.
func (s *search) climb(ctx context.Context, number uint64) error {
	mk := s.maker(number)
	size := uint64(climb)
	if all := s.options.Schedules; all > 0 {
		size = min(size, all-number*climb)
	}
	best := &Worst{Metric: s.options.Maximise, Value: math.Inf(-1)}
	var seen, delicate moments // of the present trial, and of the costliest
	for i := range size {
		if ctx.Err() != nil || s.first.Load() < number {
			break
		}
		next := mk.draw
		if i >= bases && best.First != nil {
			next = func() *Schedule { return mk.vary(best.First, delicate) }
		}
		now := mk.trim(next())
		for range 20 {
			if now.modest(best.First) {
				break
			}
			now = mk.trim(next())
		}
		if !now.modest(best.First) {
			continue
		}
		seen = seen[:0]
		value, b, err := now.cost(ctx, s.options.Maximise, &seen)
		switch {
		case ctx.Err() != nil:
			continue
		case err != nil:
			return err
		}
		s.tried.Add(1)
		if b != nil && s.options.Faults != All {
			s.keep(number, number*climb+i+1, now, &breach{rule: b.rule, text: b.text})
			return nil
		}
		if value >= best.Value {
			best.Value, best.Found = value, Found{Number: number*climb + i + 1, First: now, Schedule: now}
			delicate = append(delicate[:0], seen...)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.worst; best.First != nil &&
		(w == nil || best.Value > w.Value || best.Value == w.Value && best.Number < w.Number) {
		s.worst = best
	}
	return nil
}

// loss is the share of a time that may go for a schedule that can be read.
const loss = 0.01

// shrink replaces the schedule of w by a simple one that costs as much.
func (w *Worst) shrink(ctx context.Context) error {
	least := w.Value
	if w.Metric.Unit == metric.Milliseconds {
		least *= 1 - loss
	}
	w.simplify(ctx, w.First.within(), func(s *Schedule) (bool, error) {
		value, b, err := s.cost(ctx, w.Metric, nil)
		return b == nil && value >= least, err
	})
	p, err := w.Schedule.Plan()
	if err != nil {
		return err
	}
	alg, v, err := simulate(context.Background(), &p, nil)
	if err != nil {
		return err
	}
	if w.Value = costOf(v, w.Metric); !(w.Value >= least) {
		return w.Schedule.moody()
	}
	w.Bound = w.Schedule.bound(alg, &p, v, w.Metric)
	return w.place("")
}

// bound is what theory allows s to cost: what is claimed of messages in the worst case, the promise of a
// leader in time, or how often others may enter before a request is starved.
func (s *Schedule) bound(alg *algo.Algorithm, p *harness.Plan, v *check.Verdict, m *metric.Metric) *Bound {
	switch {
	case m.Claim != "":
		var out *Bound
		for _, c := range alg.Spec.Claims {
			if c.Metric != m.Claim || c.Bound == nil || c.Load != "worst" {
				continue
			}
			if _, most := c.Bound(s.Nodes); out == nil || most > out.Value {
				out = &Bound{most, fmt.Sprintf("claimed for the worst case (%s): %s", c.Source.Meaning(),
					c.Text)}
			}
		}
		return out
	case m == metric.MaxBypass && alg.Spec.Promises.StarvationFree:
		if setup, err := p.Setup(); err == nil {
			_, others := check.Patience(setup)
			return &Bound{float64(others), "what the rule starvation allows once faults have ended"}
		}
	case strings.HasPrefix(m.Name, "downtime_") || strings.HasPrefix(m.Name, "longest_outage_"):
		return s.promised(alg, p, v, m)
	}
	return nil
}

// promised is how long the outages that m is about may last: each from where it counts to the last
// event in it, and then for as long as the promise of a leader allows.
func (s *Schedule) promised(alg *algo.Algorithm, p *harness.Plan, v *check.Verdict, m *metric.Metric) *Bound {
	promise, within := p.Live(&alg.Spec)
	of := metric.OutagesOf(alg.Spec.Service)
	for _, service := range algo.Services() {
		if o := metric.OutagesOf(service); m == o.Downtime || m == o.Longest {
			of = o
		}
	}
	var longest, most, sum, n time.Duration
	for i := range v.Outages {
		o := &v.Outages[i]
		if within == 0 || o.Definition != of.Service.String() || o.End < 0 {
			continue
		}
		last := o.Cause
		for k := range s.Events {
			if e := &s.Events[k]; e.At < o.End {
				last = max(last, min(over(e), o.End)) // what goes on could as well end with the outage
			}
		}
		switch {
		case m == of.Longest && o.End-o.Begin > longest:
			longest, most = o.End-o.Begin, last+within-o.Begin
		case m != of.Longest && o.Status == trace.Completed: // the downtime is the mean of all
			sum, n = sum+last+within-o.Cause, n+1
			most = sum / n
		}
	}
	if most == 0 {
		return nil
	}
	return &Bound{float64(most) / float64(time.Millisecond), fmt.Sprintf(
		"until the last event of the outage, and %d time-outs from there to a leader", promise.Timeouts)}
}

// Word is what --maximise calls the metric.
func Word(alg *algo.Algorithm, m *metric.Metric) string {
	out := m.Name
	for word, of := range Costs(alg) {
		if of == m && len(word) < len(out) {
			out = word
		}
	}
	return out
}

// Name is the metric and the algorithm: of the experiment, and of its file.
func (w *Worst) Name() string {
	alg := w.Schedule.Algorithm
	word := strings.TrimSuffix(Word(alg, w.Metric), "_ms")
	return strings.ReplaceAll(word, "_", "-") + "-" + alg.Spec.Name
}

// Theory is what the cost is of what theory allows, in words.
func (w *Worst) Theory() string {
	switch {
	case w.Bound == nil && w.Metric.Claim != "":
		return fmt.Sprintf("no worst case of %s is claimed", w.Metric.Name)
	case w.Bound == nil:
		return fmt.Sprintf("no figure for %s is stated", w.Metric.Name)
	}
	return fmt.Sprintf("%.3g times %s, %s", w.Value/w.Bound.Value, config.FormatFloat(w.Bound.Value),
		w.Bound.Text)
}

// File is the schedule as an experiment, which fails if it does not cost exactly that.
func (w *Worst) File() ([]byte, error) {
	alg := w.Schedule.Algorithm
	value := config.FormatFloat(w.Value)
	about := []string{fmt.Sprintf("The costliest schedule of a search: %s %s.", w.Metric.Name, value)}
	if w.Command != "" {
		about = append(about, "Found by: "+w.Command)
	}
	about = append(about, "Theory: "+w.Theory()+".")
	for _, why := range w.OutOfModel {
		about = append(about, fmt.Sprintf("It is beyond the model of %s: %s.", alg.ID, why))
	}
	return w.Schedule.file("worst-"+w.Name(), about, fmt.Sprintf(
		"thresholds: [{metric: %s, min: %s, max: %s}]", w.Metric.Name, value, value)), nil
}

// Reproduces loads the experiment in the file and says whether its trial costs as much.
func (w *Worst) Reproduces(path string) error {
	p, err := planIn(path)
	if err != nil {
		return err
	}
	_, v, err := simulate(context.Background(), &p, nil)
	if err != nil {
		return err
	}
	if got := costOf(v, w.Metric); got != w.Value {
		return fmt.Errorf("%s has %s %v, and the schedule that it was made from %v", path, w.Metric.Name, got,
			w.Value)
	}
	return nil
}
