package tune

import (
	"math"
	"time"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// speedOf condenses trials in which leaders crashed, by a metric of downtime.
func speedOf(trials []results.Trial, by *metric.Metric) Speed {
	var values []float64
	censored := 0
	for i := range trials {
		switch v, kind := trials[i].Observe(by.Name); kind {
		case results.Observed:
			values = append(values, v)
		case results.Censored:
			censored++
		}
	}
	d := stats.Describe(values, censored)
	return Speed{Downtime: d.Median, Low: d.CILow, High: d.CIHigh, N: d.N + d.Censored, Censored: d.Censored}
}

// warmUp is the beginning of a trial that counts for nothing, since nobody can have been
// silent for long: the longest that anything waits in it.
func warmUp(e *experiment.Experiment) time.Duration {
	p := &e.Cells[0].Plan
	setup, err := p.Setup()
	if err != nil { // the plan was made here
		return p.Detector.Notice()
	}
	return max(setup.Params.Timeout(), p.Detector.Notice(), time.Millisecond)
}

// add takes in trials of a setting of that logarithm in which nothing happened to anybody. Those that were
// not judged are none.
func (q *Quiet) add(trials []results.Trial, warm time.Duration, x float64) {
	from := float64(warm) / float64(time.Millisecond)
	for i := range trials {
		t := &trials[i]
		if t.Status == trace.Invalid || t.Status == trace.Failed {
			continue
		}
		mistakes := 0
		for _, op := range t.Ops {
			needless := op.Origin == trace.Mistrusted || op.Origin == trace.Unneeded
			if needless && (op.End < 0 || op.Cause >= warm) {
				mistakes++
			}
		}
		hours := (t.Value(metric.Duration) - from) / float64(time.Hour/time.Millisecond)
		q.trials = append(q.trials, stats.Count{X: x, Exposure: hours, Events: float64(mistakes)})
		q.Mistakes += mistakes
		q.Hours += hours
		q.quality(t)
	}
	q.Recurrence, q.Duration, q.Accuracy = math.NaN(), math.NaN(), math.NaN()
	if q.times > 0 {
		q.Recurrence, q.Duration = q.live/q.times, q.against/q.times
	}
	if q.live > 0 {
		q.Accuracy = q.correct / q.live
	}
	if seconds := q.live / 1000; seconds > 0 {
		q.Messages, q.Heartbeats = q.sent/seconds, q.beats/seconds
	}
}

// quality adds the detector's measures of a trial. All processes are up throughout, so that
// every trial has its time to the same pairs.
func (q *Quiet) quality(t *results.Trial) {
	q.live += t.Value(metric.Duration)
	q.sent += t.Value(metric.Messages)
	q.beats += t.Value(metric.DetectorMessages)
	if v, kind := t.Observe(metric.QueryAccuracy.Name); kind == results.Observed {
		q.correct += float64(v * t.Value(metric.Duration))
	}
	if v, kind := t.Observe(metric.MistakeRecurrence.Name); kind == results.Observed && v > 0 {
		times := t.Value(metric.Duration) / v // of each pair
		q.times += times
		if d, kind := t.Observe(metric.MistakeDuration.Name); kind == results.Observed {
			q.against += float64(d * times)
		}
	}
}

// judge works out the figures, and says what the rate is beside the budget.
func (q *Quiet) judge(budget float64) Verdict {
	var events []float64
	for _, t := range q.trials {
		events = append(events, t.Events)
	}
	q.Rate = float64(q.Mistakes) / q.Hours
	q.Dispersion = stats.Dispersion(events)
	lo, hi := stats.PoissonInterval(float64(q.Mistakes)/q.Dispersion, confidence)
	q.RateLow, q.RateHigh = lo*q.Dispersion/q.Hours, hi*q.Dispersion/q.Hours
	switch {
	case q.RateHigh <= budget:
		return Within
	case q.RateLow > budget:
		return Over
	}
	return Undecided
}
