package link

import (
	"fmt"
	"math"
	"time"

	"github.com/conclave-bench/conclave/internal/base/exact"
	"github.com/conclave-bench/conclave/pkg/param"
)

func init() {
	Register(Distribution{
		Name: "lognormal", Doc: "skewed to the right: median, and sigma of the logarithm (a number)", Rank: 4,
		Formula: "median e^(sigma z(p))", Mean: "median e^(sigma² / 2)",
		Example: "median: 1ms, sigma: 0.5",
		Law:     &Lognormal{},
	})
}

// Lognormal is cut off at Max if that is set.
type Lognormal struct {
	Median, Max time.Duration
	Sigma       float64 // of the logarithm
}

// mostSigma bounds the sigma of a logarithm.
const mostSigma = 10

// Params declares the parameters.
func (n *Lognormal) Params() []param.Param {
	return []param.Param{{Name: "median", Example: "2ms", Doc: "the median " +
		"delay", At: &n.Median, Required: true},
		{Name: "sigma", Example: "0.5", Doc: "standard deviation of the " +
			"logarithm", At: &n.Sigma, Max: mostSigma, Required: true}, {Name: "max", Example: "50ms",
			Doc: "the delay at which the distribution is cut off", At: &n.Max}}
}

func (n *Lognormal) check() error {
	if n.Median <= 0 || !(n.Sigma >= 0 && n.Sigma <= mostSigma) {
		return fmt.Errorf("latency: lognormal with median %v, sigma %v: expected a median above 0 "+
			"and a sigma from 0 to 10", n.Median, n.Sigma)
	}
	return nil
}

func (n *Lognormal) quantile(p float64) float64 {
	return float64(n.Median) * exact.Exp(n.Sigma*math.Sqrt2*exact.Erfinv(2*p-1))
}

func (n *Lognormal) delay(u uint64) time.Duration { return clip(n.quantile(unit(u)), 0, n.Max) }
func (n *Lognormal) bound() (time.Duration, bool) { return boundOf(n, n.quantile, 0, n.Max) }

func (n *Lognormal) average() float64 {
	median, sigma, most := float64(n.Median), n.Sigma, end(n.Max)
	if sigma == 0 {
		return min(median, most)
	}
	b := exact.Log(most/median) / sigma
	return float64(median*exact.Exp(sigma*sigma/2)*below(b-sigma)) + float64(most*below(-b))
}
