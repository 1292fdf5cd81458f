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

// Observe returns what t says about the metric of that name. Trials with status ok alone give values, but
// for metrics of a breach; of what is looked for up to a bound they may say that it is beyond, and of an
// outage that it never ended. A timed-out trial is a censored observation of those of its metrics that a
// time limit censors, except that it may well have seen what comes early. Of a metric that is not declared
// nobody knows that, and it says nothing. The value is 0 unless there is one.
func (t *Trial) Observe(name string) (float64, Observation) {
	m := metric.Named(name)
	if m == nil || !t.tells(m) {
		return 0, Nothing
	}
	v, named := t.Figure(name)
	known := named && !math.IsNaN(v) && !math.IsInf(v, 0)
	switch {
	case t.Status == trace.OK && t.open(m):
		return 0, Censored
	case known && (t.Status != trace.TimedOut || m.Early):
		return v, Observed
	case named && t.Status == trace.OK && m.AtLeast,
		named && t.Status == trace.TimedOut && m.Kind.Censored():
		return 0, Censored
	}
	return 0, Nothing
}

// tells says whether the trial can say something about a metric. One that broke a promise tells about what
// the breach itself is.
func (t *Trial) tells(m *metric.Metric) bool {
	return t.Status == trace.OK || t.Status == trace.TimedOut || t.Status == trace.Violated && m.Breach
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
// Every trial names the fixed ones, but where its messages are not seen those about messages; those
// that nobody set are 0. The value is NaN if there is none.
func (t *Trial) Figure(name string) (v float64, named bool) {
	v, named = t.figure(name)
	if m := metric.Named(name); m != nil && m.Always {
		named = !t.Unseen || !m.Traffic
	}
	if !named {
		v = math.NaN()
	}
	return v, named
}

// figure is what the trial was given, and 0 of what it was not.
func (t *Trial) figure(name string) (float64, bool) {
	for i := range t.own {
		if t.own[i].Name == name {
			return t.own[i].Value, true
		}
	}
	if t.held != nil {
		return t.held.of(t, name)
	}
	return 0, false
}

// Value is the figure of a metric; NaN if there is none.
func (t *Trial) Value(m *metric.Metric) float64 {
	v, _ := t.Figure(m.Name)
	return v
}

// Count is the figure of a metric that counts; 0 if there is none.
func (t *Trial) Count(m *metric.Metric) int64 {
	v := t.Value(m)
	if math.IsNaN(v) {
		return 0
	}
	return int64(v)
}

// Metrics are the figures that the trial was given, but for the fixed ones.
func (t *Trial) Metrics() (out []metric.Value) {
	for _, v := range t.own {
		if !v.Always() {
			out = append(out, v)
		}
	}
	if t.held == nil {
		return out
	}
	for _, m := range metric.All() {
		if v, named := t.held.of(t, m.Name); named && !m.Always {
			out = append(out, m.Of(v))
		}
	}
	return out
}

// Set gives the trial figures, in place of those that it has of these metrics. NaN is one that the
// trial could have had.
func (t *Trial) Set(values ...metric.Value) {
	if len(t.own) == 0 {
		t.own = slices.Clone(values)
		return
	}
	for _, v := range values {
		if i := slices.IndexFunc(t.own, func(o metric.Value) bool { return o.Name == v.Name }); i >= 0 {
			t.own[i] = v
		} else {
			t.own = append(t.own, v)
		}
	}
}

// With is the trial with these figures, like Set.
func (t Trial) With(values ...metric.Value) Trial {
	t.own = slices.Clone(t.own)
	t.Set(values...)
	return t
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
