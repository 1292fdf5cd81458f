package link

import (
	"math"
	"time"

	"github.com/conclave-bench/conclave/internal/base/exact"
	"github.com/conclave-bench/conclave/pkg/param"
)

func init() {
	Register(Distribution{
		Name: "normal", Rank: 3,
		Doc:     "bell-shaped around mean with standard deviation sigma (a duration), never below min",
		Formula: "mean + sigma z(p)", Mean: "mean",
		Example: "mean: 2ms, sigma: 200us",
		Law:     &Normal{},
	})
}

// Normal is cut off at Min, and at Max if that is set.
type Normal struct {
	anyway
	Mean, Sigma, Min, Max time.Duration
}

// Params declares the parameters.
func (n *Normal) Params() []param.Param {
	return []param.Param{{Name: "mean", Example: "2ms", Doc: "the mean, before it is cut " +
		"off", At: &n.Mean, Required: true},
		{Name: "sigma", Example: "200us", Doc: "standard deviation, a " +
			"duration", At: &n.Sigma, Required: true}, {Name: "min", Example: "1ms", Doc: "the smallest " +
			"delay", At: &n.Min}, {Name: "max", Example: "50ms", Doc: "the delay at which the " +
			"distribution is cut off", At: &n.Max}}
}

func (n *Normal) quantile(p float64) float64 {
	return float64(n.Mean) + float64(float64(n.Sigma)*math.Sqrt2*exact.Erfinv(2*p-1))
}

func (n *Normal) delay(u uint64) time.Duration { return clip(n.quantile(unit(u)), n.Min, n.Max) }
func (n *Normal) bound() (time.Duration, bool) { return boundOf(n, n.quantile, n.Min, n.Max) }

func (n *Normal) average() float64 {
	mean, sigma, least, most := float64(n.Mean), float64(n.Sigma), float64(n.Min), end(n.Max)
	if sigma == 0 {
		return min(max(mean, least), most)
	}
	a, b := (least-mean)/sigma, (most-mean)/sigma
	inside := below(b) - below(a)
	return float64(least*below(a)) + float64(most*below(-b)) + float64(mean*inside) -
		float64(sigma*(density(b)-density(a)))
}

// below is the share of a standard normal variable that does not exceed z.
func below(z float64) float64 { return float64(exact.Erfc(-z/math.Sqrt2) / 2) }

// density is that of a standard normal variable.
func density(z float64) float64 { return exact.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
