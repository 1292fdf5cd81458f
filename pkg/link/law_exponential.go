package link

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/internal/base/exact"
	"github.com/conclave-bench/conclave/pkg/param"
)

func init() {
	Register(Distribution{
		Name: "exponential", Doc: "memoryless: mean in all, of which min is fixed", Rank: 5,
		Formula: "min − (mean − min) ln(1 − p)", Mean: "mean",
		Example: "mean: 1ms",
		Law:     &Exponential{},
	})
}

// Exponential has a Mean in all, of which Min is fixed. It is cut off at Max if that is set.
type Exponential struct{ Mean, Min, Max time.Duration }

// Params declares the parameters.
func (e *Exponential) Params() []param.Param {
	return []param.Param{{Name: "mean", Example: "5ms", Doc: "the mean, min " +
		"included", At: &e.Mean, Required: true},
		{Name: "min", Example: "1ms", Doc: "the smallest " +
			"delay", At: &e.Min}, {Name: "max", Example: "50ms", Doc: "the delay at which the " +
			"distribution is cut off", At: &e.Max}}
}

func (e *Exponential) check() error {
	if e.Mean < e.Min {
		return fmt.Errorf("latency: exponential with mean %v below its fixed part min %v", e.Mean, e.Min)
	}
	return nil
}

func (e *Exponential) quantile(p float64) float64 {
	return float64(e.Min) - float64(float64(e.Mean-e.Min)*exact.Log1p(-p))
}

func (e *Exponential) delay(u uint64) time.Duration { return clip(e.quantile(unit(u)), e.Min, e.Max) }
func (e *Exponential) bound() (time.Duration, bool) { return boundOf(e, e.quantile, e.Min, e.Max) }

func (e *Exponential) average() float64 {
	least, most := float64(e.Min), end(e.Max)
	rest := float64(e.Mean) - least // what is not fixed
	if rest == 0 {
		return least
	}
	return least - float64(rest*exact.Expm1(-(most-least)/rest))
}
