package link

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/param"
)

func init() {
	Register(Distribution{
		Name: "constant", Doc: "every message takes mean", Rank: 1,
		Formula: "mean", Mean: "mean",
		Example: "mean: 1ms",
		Law:     &constant{},
	})
}

type constant struct {
	anyway
	Mean time.Duration
}

// Constant is the distribution of a delay that is always d.
func Constant(d time.Duration) Latency { return Latency{&constant{Mean: d}} }

// Fixed says whether the delay is always the same: a constant.
func (l *Latency) Fixed() bool {
	_, is := l.Law.(*constant)
	return is
}

func (c *constant) Params() []param.Param {
	return []param.Param{{Name: "mean", Example: "2ms", Doc: "the delay", At: &c.Mean, Required: true}}
}

func (c *constant) delay(uint64) time.Duration   { return c.Mean }
func (c *constant) average() float64             { return float64(c.Mean) }
func (c *constant) bound() (time.Duration, bool) { return c.Mean, true }
