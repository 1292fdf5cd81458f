package link

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"
)

// A Distribution declares one kind of latency: all that anybody has to know of it.
type Distribution struct {
	Name, Doc string
	// Formula is Q(p), the delay that a share p of all delays does not exceed, before
	// it is cut off, in terms of the keys; Mean is the mean of that.
	Formula, Mean string
	Keys          []Key // required first
	Required      int
	Example       string // the required keys, as an experiment file may say them

	check func(l *Latency) error
	// quantile is Q(p) in nanoseconds, before it is cut off.
	quantile func(l *Latency, p float64) float64
	// draw, in place of quantile, is the delay for the uniform random u, in whole
	// numbers alone: the same on every architecture. The largest u gives the largest
	// delay, and nothing is cut off.
	draw func(l *Latency, u uint64) time.Duration
	// average is the mean of what is cut off at least and most, in nanoseconds. Products
	// in sums stand in a conversion of their own, so that every processor rounds alike.
	average func(l *Latency, least, most float64) float64
	// trips, in place of all of these, makes it a distribution of links: how many places
	// there are, and the round trip from the p-th to the q-th.
	trips func(l *Latency) (places int, trip func(p, q int) time.Duration)
	// series, in place of all of these, says that the delay depends on the time: see recorded.
	series bool
}

// Links says whether the latency depends on the link, so that it means nothing
// elsewhere.
func (d *Distribution) Links() bool { return d.trips != nil || d.series }

// Recorded says whether the delays are a record, which may stand in a file: see ReadRecord.
func (d *Distribution) Recorded() bool { return d.series }

// KeyNames are the names of d.Keys.
func (d *Distribution) KeyNames() []string {
	names := make([]string, len(d.Keys))
	for i, k := range d.Keys {
		names[i] = k.Name
	}
	return names
}

// A Key is a parameter of distributions, by its name in the experiment file.
type Key struct {
	Name string
	// Most is the largest value of a number, which is at least 0. Durations go from
	// 0 to 24 h.
	Most float64
	// Of is where the value stands in l: a *time.Duration, a *float64, a
	// *[]time.Duration, a *[]string, a *[][]time.Duration or a *[]Pair.
	Of func(l *Latency) any
}

var (
	keyMean   = Key{Name: "mean", Of: func(l *Latency) any { return &l.Mean }}
	keyMin    = Key{Name: "min", Of: func(l *Latency) any { return &l.Min }}
	keyMax    = Key{Name: "max", Of: func(l *Latency) any { return &l.Max }}
	keyMedian = Key{Name: "median", Of: func(l *Latency) any { return &l.Median }}
	keySpread = Key{Name: "sigma", Of: func(l *Latency) any { return &l.Spread }}
	keySigma  = Key{Name: "sigma", Most: 10, Of: func(l *Latency) any { return &l.Sigma }}
	keyAlpha  = Key{Name: "alpha", Most: 1000, Of: func(l *Latency) any { return &l.Alpha }}
	keyValues = Key{Name: "values", Of: func(l *Latency) any { return &l.Values }}
	keyPlaces = Key{Name: "places", Of: func(l *Latency) any { return &l.Places }}
	keyEvery  = Key{Name: "every", Of: func(l *Latency) any { return &l.Every }}
	keyPairs  = Key{Name: "pairs", Of: func(l *Latency) any { return &l.Pairs }}
	keyTrips  = Key{Name: "round_trips", Of: func(l *Latency) any { return &l.RoundTrips }}
)

// Distributions is every kind of latency, in the order of the documentation.
var Distributions []*Distribution

// What they do looks distributions up, so that the list cannot be made before they are.
func init() {
	Distributions = []*Distribution{&constant, &uniform, &normal, &lognormal, &exponential,
		&pareto, &quantiles, &regions, &cities, &recorded}
}

var constant = Distribution{
	Name: "constant", Doc: "every message takes mean",
	Formula: "mean", Mean: "mean",
	Example: "mean: 1ms",
	Keys:    []Key{keyMean}, Required: 1,
	draw:    func(l *Latency, _ uint64) time.Duration { return l.Mean },
	average: func(l *Latency, _, _ float64) float64 { return float64(l.Mean) },
}

var uniform = Distribution{
	Name: "uniform", Doc: "any value from min to max, equally likely",
	Formula: "min + p (max − min)", Mean: "(min + max) / 2",
	Example: "min: 1ms, max: 3ms",
	Keys:    []Key{keyMin, keyMax}, Required: 2,
	check: func(l *Latency) error {
		if l.Max < l.Min {
			return fmt.Errorf("latency: uniform from %v to %v: max is below min", l.Min, l.Max)
		}
		return nil
	},
	draw:    func(l *Latency, u uint64) time.Duration { return l.Min + share(u, l.Max-l.Min) },
	average: func(l *Latency, _, _ float64) float64 { return (float64(l.Min) + float64(l.Max)) / 2 },
}

var normal = Distribution{
	Name:    "normal",
	Doc:     "bell-shaped around mean with standard deviation sigma (a duration), never below min",
	Formula: "mean + sigma z(p)", Mean: "mean",
	Example: "mean: 2ms, sigma: 200us",
	Keys:    []Key{keyMean, keySpread, keyMin, keyMax}, Required: 2,
	quantile: func(l *Latency, p float64) float64 {
		return float64(l.Mean) + float64(float64(l.Spread)*math.Sqrt2*math.Erfinv(2*p-1))
	},
	average: func(l *Latency, least, most float64) float64 {
		return cutNormal(float64(l.Mean), float64(l.Spread), least, most)
	},
}

var lognormal = Distribution{
	Name: "lognormal", Doc: "skewed to the right: median, and sigma of the logarithm (a number)",
	Formula: "median e^(sigma z(p))", Mean: "median e^(sigma² / 2)",
	Example: "median: 1ms, sigma: 0.5",
	Keys:    []Key{keyMedian, keySigma, keyMax}, Required: 2,
	check: func(l *Latency) error {
		if l.Median <= 0 || !(l.Sigma >= 0 && l.Sigma <= keySigma.Most) {
			return fmt.Errorf("latency: lognormal with median %v, sigma %v: want a median above 0 "+
				"and a sigma from 0 to 10", l.Median, l.Sigma)
		}
		return nil
	},
	quantile: func(l *Latency, p float64) float64 {
		return float64(l.Median) * math.Exp(l.Sigma*math.Sqrt2*math.Erfinv(2*p-1))
	},
	average: func(l *Latency, _, most float64) float64 {
		return cutLognormal(float64(l.Median), l.Sigma, most)
	},
}

var exponential = Distribution{
	Name: "exponential", Doc: "memoryless: mean in all, of which min is fixed",
	Formula: "min − (mean − min) ln(1 − p)", Mean: "mean",
	Example: "mean: 1ms",
	Keys:    []Key{keyMean, keyMin, keyMax}, Required: 1,
	check: func(l *Latency) error {
		if l.Mean < l.Min {
			return fmt.Errorf("latency: exponential with mean %v below its fixed part min %v", l.Mean, l.Min)
		}
		return nil
	},
	quantile: func(l *Latency, p float64) float64 {
		return float64(l.Min) - float64(float64(l.Mean-l.Min)*math.Log1p(-p))
	},
	average: func(l *Latency, least, most float64) float64 {
		rest := float64(l.Mean) - least // what is not fixed
		if rest == 0 {
			return least
		}
		return least - float64(rest*math.Expm1(-(most-least)/rest))
	},
}

var pareto = Distribution{
	Name: "pareto", Doc: "heavy tail: never below min, P(more than x) = (min/x)^alpha",
	Formula: "min (1 − p)^(−1 / alpha)",
	Mean:    "min alpha / (alpha − 1) if alpha > 1, else infinite",
	Example: "min: 1ms, alpha: 3",
	Keys:    []Key{keyMin, keyAlpha, keyMax}, Required: 2,
	check: func(l *Latency) error {
		if l.Min <= 0 || !(l.Alpha > 0 && l.Alpha <= keyAlpha.Most) {
			return fmt.Errorf("latency: pareto with min %v, alpha %v: want both above 0", l.Min, l.Alpha)
		}
		return nil
	},
	quantile: func(l *Latency, p float64) float64 {
		return float64(l.Min) * math.Exp(-math.Log1p(-p)/l.Alpha)
	},
	average: func(l *Latency, least, most float64) float64 {
		logs := math.Log(most / least)
		if l.Alpha == 1 {
			return least + float64(least*logs)
		}
		return least - float64(least*math.Expm1((1-l.Alpha)*logs))/(l.Alpha-1)
	},
}

var quantiles = Distribution{
	Name: "quantiles", Doc: "equally spaced quantiles from least to largest, straight lines between",
	Formula: "the line through the points (i / (k − 1), values[i]), i from 0, of k values",
	Mean:    "that of the lines",
	Example: "values: [1ms, 2ms, 4ms]",
	Keys:    []Key{keyValues}, Required: 1,
	check: func(l *Latency) error {
		if len(l.Values) < 2 || !slices.IsSorted(l.Values) {
			return fmt.Errorf("latency: quantiles %v: want two or more, ascending", l.Values)
		}
		return nil
	},
	draw: func(l *Latency, u uint64) time.Duration {
		steps := uint64(len(l.Values) - 1)
		i, rest := bits.Mul64(u, steps)
		return l.Values[i] + share(rest, l.Values[i+1]-l.Values[i])
	},
	average: func(l *Latency, _, _ float64) float64 {
		sum := -float64(l.Values[0]+l.Values[len(l.Values)-1]) / 2
		for _, v := range l.Values {
			sum += float64(v)
		}
		return sum / float64(len(l.Values)-1)
	},
}

var regions = Distribution{
	Name: "regions",
	Doc: "half the round trip between two places: measured (" + strings.Join(Places, ", ") +
		") or given by round_trips, a row each; process i is in the i-th, and round again; sigma spreads it",
	Formula: "(round trip / 2) e^(sigma z(p)) of each link",
	Mean:    "over the links between different places, one process in each",
	Example: "places: [ireland, oregon]",
	Keys:    []Key{keyPlaces, keySigma, keyTrips}, Required: 1,
	check: (*Latency).checkRegions,
	trips: (*Latency).regionTrips,
}
