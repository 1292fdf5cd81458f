package diagram

import (
	"math"
	"slices"
	"time"
)

// A scale puts instants on a line. It is the same everywhere, but that a long time
// in which nothing happens is cut short, with a mark.
type scale struct {
	at     []time.Duration
	x      []float64
	unit   float64 // pixels per ns
	broken []int   // i: the time between at[i] and at[i+1] is cut short
}

// Sizes along the line, in pixels.
const (
	mostUnit  = 116 // that a message of middling latency is wide, if there is room
	leastUnit = 24
	perArrow  = 26 // wide in all, for each of the first few hundred messages
	perOther  = 11 // and for each of the others
	hundreds  = 200
	longest   = 3.2 // of these latencies without any event, before time is cut short
	broken    = 0.8 // of these latencies is what is left
)

// newScale places instants, which include both ends of what is drawn. A message takes
// latency; there are arrows of them.
func newScale(instants []time.Duration, latency time.Duration, arrows, width int) *scale {
	slices.Sort(instants)
	instants = slices.Compact(instants)
	s := &scale{at: instants, x: make([]float64, len(instants))}
	if latency <= 0 {
		span := instants[len(instants)-1] - instants[0]
		latency = max(1, span/time.Duration(max(1, min(len(instants), 40))))
	}
	room := float64(max(width, min(arrows, hundreds)*perArrow+max(arrows-hundreds, 0)*perOther))
	whole := float64(instants[len(instants)-1]-instants[0]) / float64(latency)
	if unit := min(mostUnit, room/max(whole, 1)); unit > 0.7*mostUnit {
		s.place(latency, unit, math.Inf(1))
		return s
	}
	low, high := float64(leastUnit), float64(mostUnit)
	if s.place(latency, high, longest) > room {
		for range 20 { // to a ten-thousandth of a pixel
			if mid := (low + high) / 2; s.place(latency, mid, longest) > room {
				high = mid
			} else {
				low = mid
			}
		}
		s.place(latency, low, longest)
	}
	return s
}

// place sets x so that latency is unit wide, with more than that many of them without
// an event cut short, and returns how wide all is.
func (s *scale) place(latency time.Duration, unit, longest float64) float64 {
	s.unit, s.broken = unit/float64(latency), s.broken[:0]
	for i := 1; i < len(s.at); i++ {
		gap := float64(s.at[i]-s.at[i-1]) * s.unit
		if gap > longest*unit {
			gap = broken * unit
			s.broken = append(s.broken, i-1)
		}
		s.x[i] = s.x[i-1] + gap
	}
	return s.x[len(s.x)-1]
}

// of is where t stands; what is before the first or after the last instant stands
// with it.
func (s *scale) of(t time.Duration) float64 {
	i, exact := slices.BinarySearch(s.at, t)
	switch {
	case exact:
		return s.x[i]
	case i == 0:
		return 0
	case i == len(s.at):
		return s.x[i-1]
	}
	share := float64(t-s.at[i-1]) / float64(s.at[i]-s.at[i-1])
	return s.x[i-1] + share*(s.x[i]-s.x[i-1])
}

// A tick is an instant with its name.
type tick struct {
	x    float64
	text string
}

// ticks are round instants, as near to each other as their names allow, and those at
// which time goes on after it was cut short.
func (s *scale) ticks() (out []tick) {
	const apart = 62
	step := niceStep(apart / s.unit)
	add := func(x float64, text string) {
		if n := len(out); n == 0 || x-out[n-1].x >= apart-16 {
			out = append(out, tick{x, text})
		}
	}
	for i := range s.at {
		if slices.Contains(s.broken, i-1) || i == 0 {
			add(s.x[i], s.at[i].Round(max(step/10, 1)).String())
		}
		if i+1 == len(s.at) || slices.Contains(s.broken, i) {
			continue
		}
		first := time.Duration(math.Ceil(float64(s.at[i])/float64(step))) * step
		for t := first; t < s.at[i+1]; t += step {
			add(s.of(t), t.String())
		}
	}
	last := len(s.at) - 1
	if t := s.at[last]; t%step == 0 {
		add(s.x[last], t.String())
	}
	return out
}

// niceStep is 1, 2 or 5 times a power of ten, and at least least.
func niceStep(least float64) time.Duration {
	for step := time.Duration(1); ; step *= 10 {
		for _, k := range []time.Duration{1, 2, 5} {
			if float64(k*step) >= least || step > time.Hour {
				return k * step
			}
		}
	}
}

// A row is a part of the line that fits on the page.
type row struct{ from, to float64 }

// rows divides the line where few messages are on their way: crossing says how many
// are at x.
func (s *scale) rows(width float64, crossing func(x float64) int) (out []row) {
	end := s.x[len(s.x)-1]
	start := 0.0
	for end-start > width {
		best, least := start+width, math.MaxInt
		for i := 1; i < len(s.x); i++ {
			x := (s.x[i-1] + s.x[i]) / 2
			if x < start+0.62*width || x > start+width {
				continue
			}
			if n := crossing(x); n <= least {
				best, least = x, n
			}
		}
		out = append(out, row{start, best})
		start = best
	}
	return append(out, row{start, end})
}
