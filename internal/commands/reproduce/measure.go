package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Metrics beyond the columns of trials.csv: 1 for a trial that ended like that, and 0 for one that
// is ok. A kind of message, upper case, is one as well: how many were sent in a trial.
const (
	timeouts = "timeouts" // the time limit has cut it short
	broken   = "broken"   // a promise was broken
)

var ends = map[string]trace.Status{timeouts: trace.TimedOut, broken: trace.Violated}

// An Estimate is what a run has of a metric in a cell. A figure that does not exist
// is NaN.
type Estimate struct {
	Value     float64
	Low, High float64 // the 95 % interval; of every, min and max the extremes themselves
	Extremes  bool    // there is no interval: the figures are of these trials
	N         int     // trials, those included that the time limit cut short
}

// A stat condenses the trials of a cell.
type stat struct {
	name  string
	above float64 // of share above
}

const share = "share above"

// statNames lists what a statement can be about.
func statNames() []string { return []string{"every", "mean", "median", "min", "max", share + " X"} }

func parseStat(text string) (stat, error) {
	if rest, ok := strings.CutPrefix(text, share+" "); ok {
		v, err := strconv.ParseFloat(rest, 64)
		if err != nil {
			return stat{}, fmt.Errorf("%q, expected as: share above 100", text)
		}
		return stat{share, v}, nil
	}
	if text == "" {
		text = "every"
	}
	if strings.Contains(text, share) || !slices.Contains(statNames(), text) {
		return stat{}, fmt.Errorf("%q is none of: %s", text, strings.Join(statNames(), ", "))
	}
	return stat{name: text}, nil
}

// sample is what trials observed of a metric, and how many of them are known only to
// be larger than all of that.
func sample(trials []*results.Trial, metric string) (values []float64, censored int) {
	for _, t := range trials {
		switch {
		case ends[metric] != "":
			switch t.Status {
			case ends[metric]:
				values = append(values, 1)
			case trace.OK:
				values = append(values, 0)
			}
		case metric == strings.ToUpper(metric):
			if t.Status == trace.OK {
				values = append(values, sent(t, metric))
			}
		default:
			switch v, kind := t.Observe(metric); kind {
			case results.Observed:
				values = append(values, v)
			case results.Censored:
				censored++
			}
		}
	}
	return values, censored
}

func sent(t *results.Trial, kind string) float64 {
	for _, k := range t.Kinds {
		if k.Name == kind {
			return float64(k.Sent)
		}
	}
	return 0
}

// estimate condenses a sample. The interval of a mean is studentized, that of a median
// takes order statistics, and that of a share is Clopper and Pearson's.
func (s stat) estimate(values []float64, censored int) Estimate {
	d := stats.Describe(values, censored)
	n := d.N + d.Censored
	nan := math.NaN()
	e := Estimate{Value: nan, Low: nan, High: nan, N: n}
	switch s.name {
	case "median":
		e.Value, e.Low, e.High = d.Median, d.CILow, d.CIHigh
		if math.IsNaN(e.Low) && d.Censored > 0 && d.N > 0 && n >= stats.MinimumBootstrap {
			e.Low = slices.Max(values) // the end itself was cut short, and so is above that
		}
	case "mean":
		e.Value = d.Mean
		if e.Low, e.High = d.Min, d.Max; d.Min != d.Max || d.Censored > 0 {
			e.Low, e.High = stats.MeanInterval(values, stats.Confidence, 1)
		}
		if n < stats.MinimumBootstrap || d.Censored > 0 {
			e.Low, e.High = nan, nan
		}
	case share:
		count := d.Censored
		for _, v := range values {
			if v > s.above {
				count++
			}
		}
		if n > 0 {
			e.Value = float64(count) / float64(n)
			e.Low, e.High = stats.BinomialInterval(count, n, stats.Confidence)
		}
	case "min":
		e.Value, e.Low, e.High, e.Extremes = d.Min, d.Min, d.Min, true
	case "max":
		e.Value, e.Low, e.High, e.Extremes = d.Max, d.Max, d.Max, true
	default: // every
		e.Value, e.Low, e.High, e.Extremes = nan, d.Min, d.Max, true
		if d.Min == d.Max {
			e.Value = d.Min
		}
	}
	return e
}
