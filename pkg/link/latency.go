package link

import (
	"fmt"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/param"
)

// A Latency is the distribution of a link's one-way delay; without a Law it is none.
type Latency struct{ Law Law }

// longest bounds every duration of a latency, so that sums cannot overflow.
const longest = 24 * time.Hour

// Distribution is the name of the distribution; "": none.
func (l *Latency) Distribution() string {
	_, name := distributions.Of(l.Law)
	return name
}

// MarshalJSON writes the name of the distribution and its parameters.
func (l Latency) MarshalJSON() ([]byte, error) { return distributions.Encode(l.Law) }

// UnmarshalJSON reads them.
func (l *Latency) UnmarshalJSON(b []byte) (err error) {
	l.Law, err = distributions.Decode(b)
	return err
}

// checked is the law of an l that was checked.
func (l *Latency) checked() Law {
	if l.Law == nil {
		panic("latency: no distribution, and it was not checked")
	}
	return l.Law
}

// Check says what is wrong with l; nil if nothing is.
func (l *Latency) Check() error {
	if l.Law == nil {
		return fmt.Errorf("latency: unknown distribution %q (has: %s)", "",
			strings.Join(distributions.Names(), ", "))
	}
	ends := map[string]time.Duration{}
	for _, p := range l.Law.Params() {
		var values []time.Duration
		switch at := p.At.(type) {
		case *time.Duration:
			values, ends[p.Name] = []time.Duration{*at}, *at
		case *[]time.Duration:
			values = *at
		}
		if err := inBounds(values); err != nil {
			return err
		}
	}
	if least, most := ends["min"], ends["max"]; most > 0 && most < least {
		return fmt.Errorf("latency: max %v is below min %v", most, least)
	}
	return l.Law.check()
}

func inBounds(values []time.Duration) error {
	for _, d := range values {
		if d < 0 || d > longest {
			return fmt.Errorf("latency: %v, expected a duration from 0 to %v", d, longest)
		}
	}
	return nil
}

// CheckSpan says what is wrong with l as a delay that is not of a link; nil if
// nothing is.
func (l *Latency) CheckSpan() error {
	if d, _ := distributions.Of(l.Law); d != nil && d.Links() {
		return fmt.Errorf("latency: %s says how far apart processes are: expected a distribution that "+
			"depends on no link", d.Name)
	}
	return l.Check()
}

// Draw is the delay for the uniform random u. Constant, uniform and quantiles
// use whole numbers alone and so agree on every architecture. Regions has none: see
// Network.Flow.
func (l *Latency) Draw(u uint64) time.Duration { return l.checked().delay(u) }

// delayed is the draw of a law, times the factor of the link.
func delayed(l Law, u uint64, factor float64) time.Duration {
	if factor != 1 {
		return vary(l.delay(u), factor)
	}
	return l.delay(u)
}

// text is l as it stands in a trace: "20ms", "uniform min 1ms max 3ms".
func (l *Latency) text() string {
	if l.Fixed() {
		return l.Average().String()
	}
	out := l.Distribution()
	for _, p := range l.checked().Params() {
		if !p.IsZero() {
			out += fmt.Sprintf(" %s %v", p.Name, p.Value())
		}
	}
	return out
}

// Literal is l as it stands in an experiment file: "20ms", "{distribution: uniform,
// min: 1ms, max: 3ms}".
func (l *Latency) Literal() string {
	if l.Fixed() {
		return l.Average().String()
	}
	return param.Block("distribution", l.Distribution(), l.checked().Params())
}

// Bound is d, the largest delay that an algorithm has to reckon with, and
// whether none is larger. Of an unbounded distribution it is the 99.9th
// percentile; of regions, that of the longest link.
func (l *Latency) Bound() (d time.Duration, bounded bool) { return l.checked().bound() }
