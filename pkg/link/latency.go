package link

import (
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strconv"
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
//	cities       the same for Cities, of which Places may be left out: all
//	recorded     Values, one after the other, a new one Every so long, and round again; or Pairs,
//	             of which each link goes through its own
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

	Every time.Duration `json:"every,omitempty"` // from one of the recorded Values to the next
	Pairs []Pair        `json:"pairs,omitempty"` // in place of Values: a record for each link
}

// Constant is the distribution of a delay that is always d.
func Constant(d time.Duration) Latency { return Latency{Distribution: constant.Name, Mean: d} }

// Fixed says whether the delay is always the same: a constant.
func (l *Latency) Fixed() bool { return l.Distribution == constant.Name }

// Uniform is the distribution of a delay from lo to hi.
func Uniform(lo, hi time.Duration) Latency {
	return Latency{Distribution: uniform.Name, Min: lo, Max: hi}
}

// longest bounds every duration of a latency, so that sums cannot overflow.
const longest = 24 * time.Hour

// kind is the distribution of l, or nil. There are few, and the common ones come first.
func (l *Latency) kind() *Distribution {
	for _, d := range Distributions {
		if d.Name == l.Distribution {
			return d
		}
	}
	return nil
}

// checked is the distribution of an l that was checked.
func (l *Latency) checked() *Distribution {
	d := l.kind()
	if d == nil {
		panic(fmt.Sprintf("latency: unknown distribution %q was not checked", l.Distribution))
	}
	return d
}

// Check says what is wrong with l; nil if nothing is.
func (l *Latency) Check() error {
	values := slices.Concat(l.records()...)
	if l.Distribution == recorded.Name {
		values = slices.DeleteFunc(values, func(d time.Duration) bool { return d == Lost })
	}
	for _, d := range append(values, l.Mean, l.Min, l.Max, l.Median, l.Spread) {
		if d < 0 || d > longest {
			return fmt.Errorf("latency: %v, want a duration from 0 to %v", d, longest)
		}
	}
	if l.Max > 0 && l.Max < l.Min {
		return fmt.Errorf("latency: max %v is below min %v", l.Max, l.Min)
	}
	d := l.kind()
	if d == nil {
		var names []string
		for _, d := range Distributions {
			names = append(names, d.Name)
		}
		return fmt.Errorf("latency: unknown distribution %q (has: %s)", l.Distribution,
			strings.Join(names, ", "))
	}
	if d.check == nil {
		return nil
	}
	return d.check(l)
}

// CheckSpan says what is wrong with l as a delay that is not of a link; nil if
// nothing is.
func (l *Latency) CheckSpan() error {
	if d := l.kind(); d != nil && d.Links() {
		return fmt.Errorf("latency: %s says how far apart processes are: want a distribution that "+
			"depends on no link", d.Name)
	}
	return l.Check()
}

// Draw is the delay for the uniform random u. Constant, uniform and quantiles
// use whole numbers alone and so agree on every architecture. Regions has none: see
// Network.Flow.
func (l *Latency) Draw(u uint64) time.Duration {
	return l.checked().delay(l, u, 1)
}

// delay is the draw of l, which is of d, times the factor of the link.
func (d *Distribution) delay(l *Latency, u uint64, factor float64) (out time.Duration) {
	if d.draw != nil {
		out = d.draw(l, u)
	} else {
		out = l.cut(d, unit(u))
	}
	if factor != 1 {
		out = vary(out, factor)
	}
	return out
}

// text is l as it stands in a trace: "20ms", "uniform min 1ms max 3ms".
func (l *Latency) text() string {
	if l.Fixed() {
		return l.Mean.String()
	}
	out := l.Distribution
	for _, k := range l.checked().Keys {
		if v := reflect.ValueOf(k.Of(l)).Elem(); !v.IsZero() {
			out += fmt.Sprintf(" %s %v", k.Name, v.Interface())
		}
	}
	return out
}

// Literal is l as it stands in an experiment file: "20ms", "{distribution: uniform,
// min: 1ms, max: 3ms}".
func (l *Latency) Literal() string {
	if l.Fixed() {
		return l.Mean.String()
	}
	d := l.checked()
	out := "{distribution: " + d.Name
	for i, k := range d.Keys {
		if v := reflect.ValueOf(k.Of(l)).Elem(); i < d.Required || !v.IsZero() {
			out += ", " + k.Name + ": " + literal(v)
		}
	}
	return out + "}"
}

func literal(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = literal(v.Index(i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case reflect.String:
		return strconv.Quote(v.String())
	case reflect.Struct:
		p := v.Interface().(Pair)
		return fmt.Sprintf("{link: [%d, %d], values: %s}", p.From, p.To, literal(reflect.ValueOf(p.Values)))
	}
	if v.Interface() == any(Lost) {
		return LostWord
	}
	return fmt.Sprint(v.Interface())
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
	d := l.checked()
	if d.draw != nil {
		return d.draw(l, uint64(p*0x1p64))
	}
	return l.cut(d, p)
}

// cut is the quantile, cut off.
func (l *Latency) cut(d *Distribution, p float64) time.Duration {
	if d.Links() {
		panic("latency: " + d.Name + " is of links, and this is none: it was not checked")
	}
	least, most := l.cuts()
	return time.Duration(min(max(d.quantile(l, p), least), most))
}

// cuts are the least and the largest delay: a draw beyond is set to that.
func (l *Latency) cuts() (least, most float64) {
	if l.Max > 0 {
		return float64(l.Min), float64(l.Max)
	}
	return float64(l.Min), float64(longest)
}

// Bound is d, the largest delay that an algorithm has to reckon with, and
// whether none is larger. Of an unbounded distribution it is the 99.9th
// percentile; of regions, that of the longest link.
func (l *Latency) Bound() (d time.Duration, bounded bool) {
	switch kind := l.checked(); {
	case kind.series:
		for _, values := range l.records() {
			d = max(d, slices.Max(values))
		}
		return d, true
	case kind.Links():
		return l.farthest().Bound()
	case kind.draw != nil:
		return kind.draw(l, math.MaxUint64), true
	case l.Max > 0:
		return l.Max, true
	}
	d = l.quantile(0.999)
	return d, l.Draw(math.MaxUint64) == d // one that does not spread
}
