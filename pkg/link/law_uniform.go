package link

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/param"
)

func init() {
	Register(Distribution{
		Name: "uniform", Doc: "any value from min to max, equally likely", Rank: 2,
		Formula: "min + p (max − min)", Mean: "(min + max) / 2",
		Example: "min: 1ms, max: 3ms",
		Law:     &uniform{},
	})
}

type uniform struct{ Min, Max time.Duration }

// Uniform is the distribution of a delay from lo to hi.
func Uniform(lo, hi time.Duration) Latency { return Latency{&uniform{lo, hi}} }

func (u *uniform) Params() []param.Param {
	return []param.Param{{Name: "min", Example: "1ms", Doc: "the smallest " +
		"delay", At: &u.Min, Required: true}, {Name: "max", Example: "3ms", Doc: "the largest " +
		"delay", At: &u.Max, Required: true}}
}

func (u *uniform) check() error {
	if u.Max < u.Min {
		return fmt.Errorf("latency: uniform from %v to %v: max is below min", u.Min, u.Max)
	}
	return nil
}

func (u *uniform) delay(r uint64) time.Duration { return u.Min + share(r, u.Max-u.Min) }
func (u *uniform) average() float64             { return (float64(u.Min) + float64(u.Max)) / 2 }
func (u *uniform) bound() (time.Duration, bool) { return u.Max, true }
