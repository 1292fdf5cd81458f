package link

import (
	"fmt"
	"math"
	"time"

	"github.com/conclave-bench/conclave/internal/base/exact"
)

// A Variation makes links differ: the latency of each is multiplied by a factor of its own,
// e^(Sigma Z − Sigma²/2) with a standard normal Z, whose mean over links is 1. Without Over a
// link keeps its factor for the whole trial. With it, Z drifts: it is an autoregression of
// first order, in steps of an eighth of Over, whose correlation falls to 1/e after Over
// (G. E. Uhlenbeck, L. S. Ornstein, On the theory of the Brownian motion, Physical Review 36,
// 1930, seen at equal intervals).
//
// The factor is a function of the seed, the link and the time alone. So both planes meet the
// same, and so do the incarnations of a process.
type Variation struct {
	Sigma    float64       `json:"sigma"`              // of the factor's logarithm, above 0, at most 3
	Over     time.Duration `json:"over,omitempty"`     // 0: for the whole trial
	Directed bool          `json:"directed,omitempty"` // both directions of a link differ, too
}

// steps is how often Z changes in the time in which its correlation falls to 1/e.
const steps = 8

// MostSigma bounds the sigma of a variation: beyond it a link in a hundred would be a
// thousand times as slow as another.
const MostSigma = 3

// Check says what is wrong with v; nil if nothing is.
func (v *Variation) Check() error {
	if !(v.Sigma > 0 && v.Sigma <= MostSigma) {
		return fmt.Errorf("variation: sigma %v, expected a number above 0, at most %d", v.Sigma, MostSigma)
	}
	if v.Over != 0 && (v.Over < time.Millisecond || v.Over > longest) {
		return fmt.Errorf("variation: over %v, expected a duration from 1ms to %v, or none", v.Over, longest)
	}
	return nil
}

// factor is that for a Z.
func (v *Variation) factor(z float64) float64 {
	return exact.Exp(float64(v.Sigma*z) - float64(v.Sigma*v.Sigma/2))
}

// A pace is the factor of one link, for the step that was asked for last.
type pace struct {
	base   uint64 // of the link's draws
	step   int64
	known  bool
	factor float64
}

// pace begins that of a link.
func (v *Variation) pace(seed uint64, from, to uint32) pace {
	if !v.Directed && from > to {
		from, to = to, from
	}
	return pace{base: Mix(Mix(seed^0x766172696174696f) ^ uint64(from)<<32 ^ uint64(to))}
}

// at is the factor at an instant.
func (v *Variation) at(p *pace, now time.Duration) float64 {
	var step int64
	if v.Over > 0 {
		step = int64(now / max(v.Over/steps, 1))
	}
	if !p.known || step != p.step {
		p.step, p.known = step, true
		p.factor = v.factor(v.level(p.base, step))
	}
	return p.factor
}

// depth is how many steps back a level is made of: what went before weighs less than one
// in a million.
const depth = 14 * steps

// level is Z of a step. It is summed anew for each, rather than carried on from the step
// before, so that it does not depend on which steps somebody asked for.
func (v *Variation) level(base uint64, step int64) float64 {
	if v.Over == 0 {
		return normal01(base, 0)
	}
	decay := exact.Exp(-1.0 / steps)
	sum, weight := 0.0, math.Sqrt(1-float64(decay*decay))
	for k := int64(0); k < depth; k++ {
		sum += float64(weight * normal01(base, step-k))
		weight *= decay
	}
	return sum
}

// normal01 is the standard normal draw of a step.
func normal01(base uint64, step int64) float64 {
	p := float64(unit(draw(base, uint64(step))))
	return math.Sqrt2 * exact.Erfinv(float64(2*p)-1)
}

// vary is a latency times the factor, cut off at the longest that there is.
func vary(d time.Duration, factor float64) time.Duration {
	return time.Duration(min(math.Round(float64(d)*factor), float64(longest)))
}
