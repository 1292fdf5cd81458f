package link

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/internal/base/exact"
	"github.com/conclave-bench/conclave/pkg/param"
)

func init() {
	Register(Distribution{
		Name: "pareto", Doc: "heavy tail: never below min, P(more than x) = (min/x)^alpha", Rank: 6,
		Formula: "min (1 − p)^(−1 / alpha)",
		Mean:    "min alpha / (alpha − 1) if alpha > 1, else infinite",
		Example: "min: 1ms, alpha: 3",
		Law:     &Pareto{},
	})
}

// Pareto has the scale Min and the shape Alpha. It is cut off at Max if that is set.
type Pareto struct {
	Min, Max time.Duration
	Alpha    float64
}

const mostAlpha = 1000

// Params declares the parameters.
func (r *Pareto) Params() []param.Param {
	return []param.Param{{Name: "min", Example: "1ms", Doc: "the smallest delay", At: &r.Min, Required: true},
		{Name: "alpha", Example: "3", Doc: "the exponent of the tail: the smaller, the " +
			"heavier", At: &r.Alpha, Max: mostAlpha, Required: true}, {Name: "max", Example: "50ms",
			Doc: "the delay at which the distribution is cut off", At: &r.Max}}
}

func (r *Pareto) check() error {
	if r.Min <= 0 || !(r.Alpha > 0 && r.Alpha <= mostAlpha) {
		return fmt.Errorf("latency: pareto with min %v, alpha %v: expected both above 0", r.Min, r.Alpha)
	}
	return nil
}

func (r *Pareto) quantile(p float64) float64 {
	return float64(r.Min) * exact.Exp(-exact.Log1p(-p)/r.Alpha)
}

func (r *Pareto) delay(u uint64) time.Duration { return clip(r.quantile(unit(u)), r.Min, r.Max) }
func (r *Pareto) bound() (time.Duration, bool) { return boundOf(r, r.quantile, r.Min, r.Max) }

func (r *Pareto) average() float64 {
	least, most := float64(r.Min), end(r.Max)
	logs := exact.Log(most / least)
	if r.Alpha == 1 {
		return least + float64(least*logs)
	}
	return least - float64(least*exact.Expm1((1-r.Alpha)*logs))/(r.Alpha-1)
}
