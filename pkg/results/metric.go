package results

import (
	"math"
	"slices"
	"strings"
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

// Observe returns what t says about a metric: a column of trials.csv that holds
// numbers. Trials with status ok alone give values. A timed-out trial is a
// censored observation of those of its metrics that are times, except that it may
// well have seen the detection. The value is 0 unless there is one.
func (t *Trial) Observe(metric string) (float64, Observation) {
	if t.Status != OK && t.Status != Timeout {
		return 0, Nothing
	}
	v, named := t.metric(metric)
	known := named && !math.IsNaN(v) && !math.IsInf(v, 0)
	switch {
	case known && (t.Status == OK || metric == "detection_ms" || metric == "suspicion_ms"):
		return v, Observed
	case named && t.Status == Timeout && isTime(metric):
		return 0, Censored
	}
	return 0, Nothing
}

// metric looks a column up, and says whether the trial names it at all.
func (t *Trial) metric(name string) (float64, bool) {
	for _, m := range t.Metrics {
		if m.Name == name {
			return m.Value, true
		}
	}
	for i := range common {
		if common[i].name == name {
			return common[i].of(t), true
		}
	}
	return 0, false
}

// counting is how many of common count: the first ones.
const counting = 9

// common are the columns of Common, and where a trial holds them.
var common = []struct {
	name string
	of   func(*Trial) float64
}{
	{"operations", func(t *Trial) float64 { return float64(t.Operations) }},
	{"completed", func(t *Trial) float64 { return float64(t.Completed) }},
	{"messages", func(t *Trial) float64 { return float64(t.Messages) }},
	{"delivered", func(t *Trial) float64 { return float64(t.Delivered) }},
	{"lost", func(t *Trial) float64 { return float64(t.Lost) }},
	{"duplicated", func(t *Trial) float64 { return float64(t.Duplicated) }},
	{"undeliverable", func(t *Trial) float64 { return float64(t.Undeliverable) }},
	{"bytes", func(t *Trial) float64 { return float64(t.Bytes) }},
	{"detector_messages", func(t *Trial) float64 { return float64(t.DetectorMessages) }},
	{"duration_ms", func(t *Trial) float64 { return t.DurationMS }},
	{"late_share", func(t *Trial) float64 { return t.LateShare }},
	{"sched_delay_p99_ms", func(t *Trial) float64 { return t.SchedDelayP99MS }},
}

// Common lists the columns of trials.csv that hold figures whatever the experiment:
// Counts, and three that count nothing. All other figures are the metrics.
func Common() []string {
	names := make([]string, len(common))
	for i := range common {
		names[i] = common[i].name
	}
	return names
}

// Counts lists the columns of trials.csv that count, whatever the experiment.
func Counts() []string { return Common()[:counting] }

// isTime says whether a metric is the time until something happens, which a
// time limit censors. Split brain is a state that lasts, not one waited for; what
// the network and the machine took is known whenever the trial ends.
func isTime(metric string) bool {
	switch metric {
	case "split_brain_ms", "latency_requested_ms", "latency_drawn_ms", "order_delay_ms",
		"latency_achieved_ms", "outage_requested_ms", "outage_achieved_ms", "delay_error_p50_ms",
		"delay_error_p99_ms", "sched_delay_p99_ms", "throttled_ms":
		return false
	}
	return strings.HasSuffix(metric, "_ms")
}

// LargerIsBetter says in which direction a metric improves. Of most it is less:
// times, messages, bytes, what went wrong.
func LargerIsBetter(metric string) bool {
	return slices.Contains([]string{"completed", "availability", "throughput_per_s", "fairness"}, metric)
}

// IsCount says whether a metric counts what happened, so that two simulations of
// one seed give it exactly the same value: messages, not times or shares of time.
func IsCount(metric string) bool {
	switch metric {
	case "message_delays", "leader_changes", "violations", "max_bypass", "never_granted", "tokens_lost",
		"tokens_doubled", "crashes", "pauses", "false_suspicions", "faults_skipped":
		return true
	}
	return slices.Contains(Counts(), metric) || strings.HasPrefix(metric, "messages_per_") ||
		strings.HasPrefix(metric, "bytes_per_")
}
