package clock

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// A Sample is a question to another clock, and the answer. Asked and Got are instants of our
// clock, Heard and Answered of theirs. Whatever the network did, the question was heard
// after it was asked, and the answer was given before it came.
type Sample struct {
	Asked, Heard, Answered, Got time.Duration
}

// A Line says how another clock runs: what it shows at an instant of ours, and by how much
// that can be wrong. The zero Line is that of our own clock.
type Line struct {
	origin  time.Duration // of ours, from which the lines count
	offset  time.Duration // of theirs at the origin, roughly
	at      float64       // ns by which theirs is ahead of that at the origin
	rate    float64       // by which it gets ahead in a ns of ours
	corners []corner      // of all lines that no sample contradicts
}

// A corner is a line: ns ahead at the origin, and in each ns from there.
type corner struct{ at, rate float64 }

// MaxRate is by how much, in ns a ns, one clock may run faster than another. Crystals differ
// by 100 ppm at most, and time services adjust a clock by at most 500 ppm.
const MaxRate = 1e-3

// resolution is how far readings of one clock by two processes of a machine can differ;
// see Monotonic.
const resolution = 200 * time.Nanosecond

// ErrNoLine says that the other clock did not run evenly: no line agrees with all samples.
var ErrNoLine = errors.New("no line fits the samples: one of the two clocks was set or adjusted, " +
	"or a machine stood still")

// FitLine finds the lines that no sample contradicts, and chooses the one in their middle
// from instant from to instant to of our clock. A sample bounds the distance of the clocks
// from both sides: at Asked theirs was not past Heard yet, at Got it was not before Answered
// any more. So the truth lies within Bound however unlike the ways of a question and of its
// answer are, as long as both clocks run evenly.
func FitLine(samples []Sample, from, to time.Duration) (Line, error) {
	if len(samples) == 0 {
		return Line{}, errors.New("fit a line: no samples")
	}
	first := samples[0]
	l := Line{origin: first.Asked, offset: first.Heard - first.Asked}
	// The slowest answer bounds where a line passes the first sample.
	wide := 1.01*float64(first.Got-first.Asked) + 1
	l.corners = []corner{{-wide, -MaxRate}, {wide, -MaxRate}, {wide, MaxRate}, {-wide, MaxRate}}
	for _, s := range samples {
		l.clip(s.Asked, float64(s.Heard-s.Asked-l.offset), 1)
		l.clip(s.Got, float64(s.Answered-s.Got-l.offset), -1)
	}
	if len(l.corners) == 0 {
		return Line{}, ErrNoLine
	}
	a, b := float64(from-l.origin), float64(max(to, from+time.Millisecond)-l.origin)
	low, high := l.span(a)
	left := (low + high) / 2
	low, high = l.span(b)
	l.rate = ((low+high)/2 - left) / (b - a)
	l.at = left - float64(l.rate*a)
	return l, nil
}

// clip drops the lines that are above y, or below it for sign -1, at an instant of our clock
// (I. Sutherland and G. Hodgman, Communications of the ACM 17(1), 1974).
func (l *Line) clip(at time.Duration, y float64, sign float64) {
	const slack = 1 // ns: instants are whole ones
	x := float64(at - l.origin)
	over := func(c corner) float64 { return sign*(c.at+float64(c.rate*x)-y) - slack }
	if !slices.ContainsFunc(l.corners, func(c corner) bool { return over(c) > 0 }) {
		return
	}
	var kept []corner
	for i, c := range l.corners {
		next := l.corners[(i+1)%len(l.corners)]
		a, b := over(c), over(next)
		if a <= 0 {
			kept = append(kept, c)
		}
		if (a <= 0) != (b <= 0) {
			t := a / (a - b)
			kept = append(kept, corner{c.at + float64(t*(next.at-c.at)),
				c.rate + float64(t*(next.rate-c.rate))})
		}
	}
	l.corners = kept
}

// span is the range of all lines, so many ns after the origin.
func (l *Line) span(x float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, c := range l.corners {
		y := c.at + float64(c.rate*x)
		low, high = min(low, y), max(high, y)
	}
	return low, high
}

// Own says whether this is our own clock's.
func (l *Line) Own() bool { return l.corners == nil }

// Theirs is what the other clock shows at an instant of ours.
func (l *Line) Theirs(ours time.Duration) time.Duration {
	if l.Own() {
		return ours
	}
	x := float64(ours - l.origin)
	return ours + l.offset + time.Duration(math.Round(l.at+float64(l.rate*x)))
}

// Ours is the instant of our clock at which the other one shows theirs.
func (l *Line) Ours(theirs time.Duration) time.Duration {
	if l.Own() {
		return theirs
	}
	// theirs = origin + offset + at + (1 + rate)·x
	x := (float64(theirs-l.origin-l.offset) - l.at) / (1 + l.rate)
	return l.origin + time.Duration(math.Round(x))
}

// Bound is by how much Theirs can be wrong at an instant of our clock, and Ours with it:
// half the width of the interval that holds the truth, about.
func (l *Line) Bound(ours time.Duration) time.Duration {
	if l.Own() {
		return 0
	}
	x := float64(ours - l.origin)
	y := l.at + float64(l.rate*x)
	low, high := l.span(x)
	return time.Duration(math.Ceil(max(high-y, y-low))) + resolution
}

// Rate is by how many ns in a ns the other clock gains on ours; and by how much that can be
// wrong.
func (l *Line) Rate() (rate, bound float64) {
	for _, c := range l.corners {
		bound = max(bound, math.Abs(c.rate-l.rate))
	}
	return l.rate, bound
}

func (l *Line) String() string {
	rate, bound := l.Rate()
	return fmt.Sprintf("%v ahead (±%v), gaining %.2f ppm (±%.2f)", l.Theirs(l.origin)-l.origin,
		l.Bound(l.origin), rate*1e6, bound*1e6)
}
