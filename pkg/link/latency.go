package link

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"
)

// A Latency is the distribution of a link's one-way delay. Which fields mean
// something depends on Distribution:
//
//	constant     Mean
//	uniform      Min, Max
//	normal       Mean, Spread (standard deviation); cut off at Min (0 if unset) and at Max if set
//	lognormal    Median, Sigma (of the logarithm); cut off at Max if set
//	exponential  Mean of the whole, of which Min is fixed; cut off at Max if set
//	pareto       Min (the scale), Alpha (the shape); cut off at Max if set
//	quantiles    Values: equally spaced quantiles from the least to the largest
//	regions      Places, and what the two processes of the link have between them: half of
//	             their round trip, times a lognormal factor of median 1 and Sigma if set;
//	             RoundTrips from each of Places to each, in place of the measured ones
//
// "Cut off" means that a draw beyond the bound is set to the bound.
type Latency struct {
	Distribution string          `json:"distribution"`
	Mean         time.Duration   `json:"mean,omitempty"`
	Min          time.Duration   `json:"min,omitempty"`
	Max          time.Duration   `json:"max,omitempty"`
	Median       time.Duration   `json:"median,omitempty"`
	Spread       time.Duration   `json:"spread,omitempty"`
	Sigma        float64         `json:"sigma,omitempty"`
	Alpha        float64         `json:"alpha,omitempty"`
	Values       []time.Duration `json:"values,omitempty"`

	Places     []string          `json:"places,omitempty"` // of process 1, 2, ..., and round again
	RoundTrips [][]time.Duration `json:"round_trips,omitempty"`
}

// Constant is the distribution of a delay that is always d.
func Constant(d time.Duration) Latency { return Latency{Distribution: "constant", Mean: d} }

// Uniform is the distribution of a delay from lo to hi.
func Uniform(lo, hi time.Duration) Latency {
	return Latency{Distribution: "uniform", Min: lo, Max: hi}
}

// A Distribution documents one kind of latency.
type Distribution struct {
	Name, Doc string
	Keys      []string // required first
	Required  int
}

// Distributions is every kind of latency, in the order of the documentation.
var Distributions = []Distribution{
	{"constant", "every message takes mean", []string{"mean"}, 1},
	{"uniform", "anything from min to max, equally likely", []string{"min", "max"}, 2},
	{"normal", "bell-shaped around mean with standard deviation sigma (a duration), never below min",
		[]string{"mean", "sigma", "min", "max"}, 2},
	{"lognormal", "skewed to the right: median, and sigma of the logarithm (a number)",
		[]string{"median", "sigma", "max"}, 2},
	{"exponential", "memoryless: mean in all, of which min is fixed",
		[]string{"mean", "min", "max"}, 1},
	{"pareto", "heavy tail: never below min, P(more than x) = (min/x)^alpha",
		[]string{"min", "alpha", "max"}, 2},
	{"quantiles", "equally spaced quantiles from least to largest, straight lines between",
		[]string{"values"}, 1},
	{regions, "half the round trip between two places: measured (" + strings.Join(Places, ", ") +
		") or given by round_trips, a row each; process i is in the i-th, and round again; sigma spreads it",
		[]string{"places", "sigma", "round_trips"}, 1},
}

// longest bounds every duration of a latency, so that sums cannot overflow.
const longest = 24 * time.Hour

// Check says what is wrong with l; nil if nothing is.
func (l *Latency) Check() error {
	for _, d := range append([]time.Duration{l.Mean, l.Min, l.Max, l.Median, l.Spread}, l.Values...) {
		if d < 0 || d > longest {
			return fmt.Errorf("latency: %v, want a duration from 0 to %v", d, longest)
		}
	}
	if l.Max > 0 && l.Max < l.Min {
		return fmt.Errorf("latency: max %v is below min %v", l.Max, l.Min)
	}
	switch l.Distribution {
	case "constant", "normal":
	case "uniform":
		if l.Max < l.Min {
			return fmt.Errorf("latency: uniform from %v to %v: max is below min", l.Min, l.Max)
		}
	case "lognormal":
		if l.Median <= 0 || !(l.Sigma >= 0 && l.Sigma <= 10) {
			return fmt.Errorf("latency: lognormal with median %v, sigma %v: want a median above 0 "+
				"and a sigma from 0 to 10", l.Median, l.Sigma)
		}
	case "exponential":
		if l.Mean < l.Min {
			return fmt.Errorf("latency: exponential with mean %v below its fixed part min %v", l.Mean, l.Min)
		}
	case "pareto":
		if l.Min <= 0 || !(l.Alpha > 0 && l.Alpha <= 1000) {
			return fmt.Errorf("latency: pareto with min %v, alpha %v: want both above 0", l.Min, l.Alpha)
		}
	case "quantiles":
		if len(l.Values) < 2 || !slices.IsSorted(l.Values) {
			return fmt.Errorf("latency: quantiles %v: want two or more, ascending", l.Values)
		}
	case regions:
		return l.checkRegions()
	default:
		var names []string
		for _, d := range Distributions {
			names = append(names, d.Name)
		}
		return fmt.Errorf("latency: unknown distribution %q (has: %s)", l.Distribution,
			strings.Join(names, ", "))
	}
	return nil
}

// CheckSpan says what is wrong with l as a delay that is not of a link; nil if
// nothing is.
func (l *Latency) CheckSpan() error {
	if l.Distribution == regions {
		return errors.New("latency: regions says how far apart processes are: want a distribution that " +
			"depends on no link")
	}
	return l.Check()
}

// Draw is the delay for the uniform random u. Constant, uniform and quantiles
// use whole numbers alone and so agree on every architecture. Regions has none: see
// Network.Flow.
func (l *Latency) Draw(u uint64) time.Duration {
	switch l.Distribution {
	case "constant":
		return l.Mean
	case "uniform":
		return l.Min + share(u, l.Max-l.Min)
	case "quantiles":
		steps := uint64(len(l.Values) - 1)
		i, rest := bits.Mul64(u, steps)
		return l.Values[i] + share(rest, l.Values[i+1]-l.Values[i])
	}
	return l.quantile(unit(u))
}

// text is l as it stands in a trace: "20ms", "uniform min 1ms max 3ms".
func (l *Latency) text() string {
	if l.Distribution == "constant" {
		return l.Mean.String()
	}
	out := l.Distribution
	say := func(name string, zero bool, value any) {
		if !zero {
			out += fmt.Sprintf(" %s %v", name, value)
		}
	}
	say("mean", l.Mean == 0, l.Mean)
	say("median", l.Median == 0, l.Median)
	say("sigma", l.Spread == 0, l.Spread)
	say("sigma", l.Sigma == 0, l.Sigma)
	say("alpha", l.Alpha == 0, l.Alpha)
	say("min", l.Min == 0, l.Min)
	say("max", l.Max == 0, l.Max)
	say("values", l.Values == nil, l.Values)
	return out
}

// share is a part of d in proportion to u: 0 for the least u, d for the largest.
func share(u uint64, d time.Duration) time.Duration {
	hi, _ := bits.Mul64(u, uint64(d)+1)
	return time.Duration(hi)
}

// unit maps u into the open interval (0, 1). With one bit more, the largest u
// would be rounded to 1, whose quantile is infinite.
func unit(u uint64) float64 { return (float64(u>>12) + 0.5) * 0x1p-52 }

// quantile is the delay that a share p of all delays does not exceed.
func (l *Latency) quantile(p float64) time.Duration {
	var d float64
	switch l.Distribution {
	case "normal":
		d = float64(l.Mean) + float64(float64(l.Spread)*math.Sqrt2*math.Erfinv(2*p-1))
	case "lognormal":
		d = float64(l.Median) * math.Exp(l.Sigma*math.Sqrt2*math.Erfinv(2*p-1))
	case "exponential":
		d = float64(l.Min) - float64(float64(l.Mean-l.Min)*math.Log1p(-p))
	case "pareto":
		d = float64(l.Min) * math.Exp(-math.Log1p(-p)/l.Alpha)
	case "constant", "uniform", "quantiles":
		return l.Draw(uint64(p * 0x1p64))
	case regions:
		panic("latency: regions is of links, and this is none: it was not checked")
	default:
		panic(fmt.Sprintf("latency: unknown distribution %q was not checked", l.Distribution))
	}
	most := float64(longest)
	if l.Max > 0 {
		most = float64(l.Max)
	}
	return time.Duration(min(max(d, float64(l.Min)), most))
}

// Bound is d, the largest delay that an algorithm has to reckon with, and
// whether none is larger. Of an unbounded distribution it is the 99.9th
// percentile; of regions, that of the longest link.
func (l *Latency) Bound() (d time.Duration, bounded bool) {
	switch l.Distribution {
	case "constant":
		return l.Mean, true
	case "uniform":
		return l.Max, true
	case "quantiles":
		return l.Values[len(l.Values)-1], true
	case regions:
		return l.farthest().Bound()
	}
	if l.Max > 0 {
		return l.Max, true
	}
	d = l.quantile(0.999)
	return d, l.Draw(math.MaxUint64) == d // one that does not spread
}
