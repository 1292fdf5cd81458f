package results

import (
	"math"
	"slices"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// An Observation is what a trial can say about a metric.
type Observation int

// The observations. A trial that broke a promise, or that the harness spoiled,
// is none of a working algorithm.
const (
	Nothing  Observation = iota
	Observed             // a value
	Censored             // larger than whatever was seen: a time that the limit cut short
)

// Observe returns what t says about the metric of that name. Trials with status ok alone
// give values; of what is looked for up to a bound they may say that it is beyond, and of an
// outage that it never ended. A
// timed-out trial is a censored observation of those of its metrics that a time limit
// censors, except that it may well have seen what comes early. Of a metric that is not
// declared nobody knows that, and it says nothing. The value is 0 unless there is one.
func (t *Trial) Observe(name string) (float64, Observation) {
	if t.Status != trace.OK && t.Status != trace.TimedOut {
		return 0, Nothing
	}
	m := metric.Named(name)
	if m == nil {
		return 0, Nothing
	}
	v, named := t.Figure(name)
	known := named && !math.IsNaN(v) && !math.IsInf(v, 0)
	switch {
	case t.Status == trace.OK && t.open(m):
		return 0, Censored
	case known && (t.Status == trace.OK || m.Early):
		return v, Observed
	case named && t.Status == trace.OK && m.AtLeast,
		named && t.Status == trace.TimedOut && m.Kind.Censored():
		return 0, Censored
	}
	return 0, Nothing
}

// open says whether the trial saw no end of what the metric is about.
func (t *Trial) open(m *metric.Metric) bool {
	n, named := 0.0, false
	if m.Open != "" {
		n, named = t.Figure(m.Open)
	}
	return named && n > 0
}

// Figure looks a metric up, whatever became of the trial, and says whether the trial names it at all.
func (t *Trial) Figure(name string) (float64, bool) {
	for _, m := range t.Metrics {
		if m.Name == name {
			return m.Value, true
		}
	}
	if t.held != nil {
		if v, named := t.held.of(t, name); named {
			return v, true
		}
	}
	for i := range fixed {
		if fixed[i].metric.Name == name {
			if t.Unseen && fixed[i].metric.Traffic {
				return math.NaN(), false
			}
			return fixed[i].of(t), true
		}
	}
	return 0, false
}

// fixed is where a trial holds the metrics that have a field of their own.
var fixed = []struct {
	metric *metric.Metric
	of     func(*Trial) float64
}{
	{metric.Operations, func(t *Trial) float64 { return float64(t.Operations) }},
	{metric.Completed, func(t *Trial) float64 { return float64(t.Completed) }},
	{metric.Duration, func(t *Trial) float64 { return t.DurationMS }},
	{metric.Messages, func(t *Trial) float64 { return float64(t.Messages) }},
	{metric.Delivered, func(t *Trial) float64 { return float64(t.Delivered) }},
	{metric.Lost, func(t *Trial) float64 { return float64(t.Lost) }},
	{metric.Duplicated, func(t *Trial) float64 { return float64(t.Duplicated) }},
	{metric.Undeliverable, func(t *Trial) float64 { return float64(t.Undeliverable) }},
	{metric.BytesSent, func(t *Trial) float64 { return float64(t.Bytes) }},
	{metric.DetectorMessages, func(t *Trial) float64 { return float64(t.DetectorMessages) }},
	{metric.LateShare, func(t *Trial) float64 { return t.LateShare }},
	{metric.SchedDelay, func(t *Trial) float64 { return t.SchedDelayP99MS }},
}

// Known lists the metrics that somebody can ask of the table: its own, and the fixed ones.
func (t *Table) Known() []string {
	return slices.Concat(t.Metrics, metric.Names(metric.Fixed()))
}

// Lacks says in words why the table has no metric of a name that Known does not list: it
// is called something else now, or nobody knows what it is. "" if there is nothing to say.
func (t *Table) Lacks(name string) string {
	if slices.Contains(t.Undeclared, name) {
		return metric.Unknown([]string{name})
	}
	return metric.Renamed(name)
}

// undeclared are the names that no metric of this version has.
func undeclared(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return metric.Named(name) != nil })
}

// declared are the others.
func declared(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return metric.Named(name) == nil })
}
