package clock

import (
	"math"
	"slices"
	"time"
)

// A Step leads from one clock to another one, by the course of the second one as the first one shows
// it; or, if Back is set, by that of the first one as the second one shows it.
type Step struct {
	*Course
	Back bool
}

// to is what the clock shows to which the step leads, when the one before shows at.
func (s Step) to(at time.Duration) time.Duration {
	if s.Back {
		return s.Course.Ours(at)
	}
	return s.Course.Theirs(at)
}

// from is the opposite of to.
func (s Step) from(at time.Duration) time.Duration {
	if s.Back {
		return s.Course.Theirs(at)
	}
	return s.Course.Ours(at)
}

// A Path leads from our clock to another one, by way of those that each step leads to. The empty
// Path leads nowhere: it is that of our own clock.
type Path []Step

// PathOf is the path of a single course.
func PathOf(c Course) Path {
	if c.Own() {
		return nil
	}
	return Path{{Course: &c}}
}

// Then is the path with one more step.
func (p Path) Then(s Step) Path { return append(slices.Clip(p), s) }

// Own says whether this is our own clock's.
func (p Path) Own() bool { return len(p) == 0 }

// Theirs is what the other clock shows at an instant of ours.
func (p Path) Theirs(ours time.Duration) time.Duration {
	for _, s := range p {
		ours = s.to(ours)
	}
	return ours
}

// Ours is the instant of our clock at which the other one shows theirs.
func (p Path) Ours(theirs time.Duration) time.Duration {
	for _, s := range slices.Backward(p) {
		theirs = s.from(theirs)
	}
	return theirs
}

// Rate is by how many ns in a ns the other clock gained on ours of late.
func (p Path) Rate() float64 {
	rate := 1.0
	for _, s := range p {
		if s.Back {
			rate /= 1 + s.Course.Rate()
		} else {
			rate *= 1 + s.Course.Rate()
		}
	}
	return rate - 1
}

// marks are the instants of our clock between which the path is straight.
func (p Path) marks() (list []time.Duration) {
	for i, s := range p {
		for _, k := range s.path {
			at := k.at
			if s.Back {
				at += k.ahead
			}
			list = append(list, p[:i].Ours(at))
		}
	}
	return list
}

// Apart is by how much an instant can be wrong that is taken from one clock to another by their paths,
// from one instant of our clock to another one: by how far the paths are apart from what the course of
// the second clock, as the first one shows it, says; and by how much that can be wrong.
func Apart(first, second Path, course *Course, from, to time.Duration) (worst time.Duration) {
	wrong := func(at, one time.Duration) { // an instant of our clock, and what the first one shows then
		if from <= at && at <= to {
			worst = max(worst, (second.Theirs(at)-course.Theirs(one)).Abs()+course.Bound(one))
		}
	}
	// Between two of these instants, this is convex.
	for _, at := range slices.Concat([]time.Duration{from, to}, first.marks(), second.marks()) {
		wrong(at, first.Theirs(at))
	}
	for _, one := range course.marks() {
		wrong(first.Ours(one), one)
	}
	// An error of seconds of one clock is one of those of another one, to within their rates.
	return worst + time.Duration(math.Ceil(float64(worst)*MaxRate))
}
