package link

import (
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/param"
)

func init() {
	Register(Distribution{
		Name: "quantiles", Rank: 7,
		Doc:     "equally spaced quantiles from least to largest, straight lines between",
		Formula: "the line through the points (i / (k − 1), values[i]), i from 0, of k values",
		Mean:    "that of the lines",
		Example: "values: [1ms, 2ms, 4ms]",
		Law:     &Quantiles{},
	})
}

// Quantiles has equally spaced quantiles as its Values, from the least to the largest.
type Quantiles struct{ Values []time.Duration }

// Params declares the parameters.
func (q *Quantiles) Params() []param.Param {
	return []param.Param{{Name: "values", Example: "[1ms, 2ms, 8ms]", Doc: "delays at equal steps of " +
		"probability, from the smallest to the largest", At: &q.Values, Required: true}}
}

func (q *Quantiles) check() error {
	if len(q.Values) < 2 || !slices.IsSorted(q.Values) {
		return fmt.Errorf("latency: quantiles %v: expected two or more, ascending", q.Values)
	}
	return nil
}

func (q *Quantiles) delay(u uint64) time.Duration {
	i, rest := bits.Mul64(u, uint64(len(q.Values)-1))
	return q.Values[i] + share(rest, q.Values[i+1]-q.Values[i])
}

func (q *Quantiles) bound() (time.Duration, bool) { return q.Values[len(q.Values)-1], true }

func (q *Quantiles) average() float64 {
	sum := -float64(q.Values[0]+q.Values[len(q.Values)-1]) / 2
	for _, v := range q.Values {
		sum += float64(v)
	}
	return sum / float64(len(q.Values)-1)
}
