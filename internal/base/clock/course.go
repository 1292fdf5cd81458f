package clock

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"
)

// A Sample is a question to another clock, and the answer. Asked and Got are instants of our
// clock, Heard and Answered of theirs. Whatever the network did, the question was heard
// after it was asked, and the answer was given before it came.
type Sample struct {
	Asked, Heard, Answered, Got time.Duration
	// How the systems adjust the clocks: read before Asked, and between Heard and Answered.
	Ours, Theirs Steering
}

const (
	// MaxRate is by how much, in ns a ns, one clock gains on another at any instant: time services
	// adjust each of the two by 500 ppm at most.
	MaxRate = 2*500e-6 + crystals
	// crystals is by how much two clocks differ that nobody adjusts: those of computers are right
	// to 100 ppm.
	crystals = 200e-6
	// glimpse is between two samples within which nobody adjusts a clock and then undoes that.
	// Services adjust one for a second and longer.
	glimpse = 500 * time.Millisecond
)

// resolution is how far readings of one clock by two processes of a machine can differ;
// see Monotonic.
const resolution = 200 * time.Nanosecond

// ErrSet says that the samples contradict each other.
var ErrSet = errors.New("its answers contradict each other: one of the two clocks was changed, or adjusted " +
	"by more than 500 ppm, or a machine stalled")

// drift is how far two clocks may part within such a span of time, at that rate.
func drift(d time.Duration, rate float64) time.Duration {
	return time.Duration(math.Ceil(float64(d) * rate))
}

// between is by how much one clock may have gained on the other between two samples, in ns a ns.
func between(a, b *Sample) float64 {
	steady := a.Ours.Known && a.Theirs.Known && b.Ours.Known && b.Theirs.Known &&
		a.Ours.Rate == b.Ours.Rate && a.Theirs.Rate == b.Theirs.Rate && b.Asked-a.Got <= glimpse
	if !steady {
		return MaxRate
	}
	return min(MaxRate, crystals+math.Abs(a.Ours.Rate-a.Theirs.Rate)+
		max(a.Ours.Wander, b.Ours.Wander)+max(a.Theirs.Wander, b.Theirs.Wander))
}

// A span holds by how much the other clock is ahead of ours; if low is above high, nothing.
type span struct{ low, high time.Duration }

// after is what is known of it so much later, or was so much earlier, at such a rate.
func (s span) after(d time.Duration, rate float64) span {
	return span{s.low - drift(d, rate), s.high + drift(d, rate)}
}

func (s span) and(o span) span { return span{max(s.low, o.low), min(s.high, o.high)} }

func (s span) empty() bool { return s.low > s.high }

// A reading is what a sample says: from its question to its answer, the other clock was so much
// ahead.
type reading struct {
	from, to time.Duration
	rate     float64 // by which the clocks part at most, from the reading before on
	said     span
	before   span // what it and all readings before it say of its end, and of any instant of it
	behind   span // likewise those after it, of its beginning
}

// A Course says how another clock runs: what it shows at an instant of ours, and by how much
// that can be wrong. The zero Course is that of our own clock.
type Course struct {
	readings []reading
	path     []knot // what is believed of it: between two of them, the clock runs evenly
	rate     float64
}

// A knot is an instant of our clock, and by how much the other one is ahead then.
type knot struct{ at, ahead time.Duration }

// Fit finds the course of a clock, from samples in their order that do not overlap. A sample
// bounds how far it is ahead from both sides: at Asked it was not past Heard yet, at Got it was not
// before Answered any more. The further an instant is from a sample, the less that says of it, by
// MaxRate, or by less if the systems did not adjust their clocks meanwhile. So the truth lies within
// Bound however unlike the ways of a question and of its answer are, and whenever clocks change their rates.
//
// If samples contradict each other, those before count no more; if the contradiction came to light
// after the instant from, the error is ErrSet.
func Fit(samples []Sample, from time.Duration) (Course, error) {
	var c Course
	for i, s := range samples {
		const slack = 1 // ns: instants are whole ones
		r := reading{from: s.Asked, to: s.Got, rate: MaxRate,
			said: span{s.Answered - s.Got - slack, s.Heard - s.Asked + slack}}
		r.said = r.said.after(r.to-r.from, MaxRate)
		r.before = r.said
		c.readings = append(c.readings, r)
		n := len(c.readings) - 1
		if n > 0 {
			c.readings[n].rate = between(&samples[i-1], &s)
			r.before = r.said.and(c.forth(n-1, r.to))
		}
		switch {
		case !r.before.empty():
			c.readings[n].before = r.before
		case r.to > from:
			return Course{}, ErrSet
		case r.said.empty(): // it was set between the question and the answer
			c.readings = nil
		default:
			c.readings = append(c.readings[:0], r)
			c.readings[0].before = r.said
		}
	}
	if len(c.readings) == 0 {
		return c, errors.New("fit a course: no samples")
	}
	for i := range slices.Backward(c.readings) {
		r := &c.readings[i]
		r.behind = r.said
		if i+1 < len(c.readings) {
			r.behind = r.said.and(c.back(i+1, r.from))
		}
	}
	c.choose()
	return c, nil
}

// forth is what the readings up to number i say of an instant after it, and before the end of the next.
func (c *Course) forth(i int, at time.Duration) span {
	r := &c.readings[i]
	if i+1 == len(c.readings) {
		return r.before.after(at-r.to, MaxRate)
	}
	next := &c.readings[i+1]
	return r.before.after(min(at, next.from)-r.to, next.rate).after(max(0, at-next.from), MaxRate)
}

// back is what the readings from number i on say of an instant before it, and after the beginning of the
// one before.
func (c *Course) back(i int, at time.Duration) span {
	r := &c.readings[i]
	if i == 0 {
		return r.behind.after(r.from-at, MaxRate)
	}
	last := &c.readings[i-1]
	return r.behind.after(r.from-max(at, last.to), r.rate).after(max(0, last.to-at), MaxRate)
}

// choose finds the path: as straight as it can be within the inner half of what is known.
func (c *Course) choose() {
	n := len(c.readings)
	middle := make([]knot, n)
	room := make([]float64, n) // on both sides of it
	for i, r := range c.readings {
		known := r.before.and(r.behind)
		room[i] = float64(known.high-known.low) / 4
		middle[i] = knot{r.from + (r.to-r.from)/2, known.low + (known.high-known.low)/2}
	}
	// From the last reading backwards, so that the last piece, which goes on, is as long as
	// possible.
	c.path = []knot{middle[n-1]}
	for end := n - 1; end > 0; {
		begin := end - 1
		least, most := math.Inf(-1), math.Inf(1) // rates at which a line from the end passes all in between
		for i := end - 1; i >= 0 && least <= most; i-- {
			fell, d := float64(middle[end].ahead-middle[i].ahead), float64(middle[end].at-middle[i].at)
			if rate := fell / d; least <= rate && rate <= most {
				begin = i
			}
			least, most = max(least, (fell-room[i])/d), min(most, (fell+room[i])/d)
		}
		c.path = append(c.path, middle[begin])
		end = begin
	}
	slices.Reverse(c.path)
	if n < 2 {
		return
	}
	// A piece that has only begun says little of the rate.
	last, since := middle[n-1], c.path[len(c.path)-2].at
	i := sort.Search(n-1, func(i int) bool { return middle[i].at > min(since, last.at-time.Second) })
	c.rate = rate(middle[max(i-1, 0)], last)
	c.rate = max(-MaxRate, min(c.rate, MaxRate))
}

func rate(a, b knot) float64 { return float64(b.ahead-a.ahead) / float64(b.at-a.at) }

// piece is the line that holds after so many knots.
func (c *Course) piece(passed int) (knot, float64) {
	switch {
	case passed == 0:
		return c.path[0], c.rate
	case passed == len(c.path):
		return c.path[passed-1], c.rate
	}
	return c.path[passed-1], rate(c.path[passed-1], c.path[passed])
}

// Own says whether this is our own clock's.
func (c *Course) Own() bool { return c.readings == nil }

// Since is the instant of our clock from which on it was compared.
func (c *Course) Since() time.Duration { return c.readings[0].from }

// Last is the instant of our clock at which it was compared last.
func (c *Course) Last() time.Duration { return c.readings[len(c.readings)-1].to }

// Theirs is what the other clock shows at an instant of ours.
func (c *Course) Theirs(ours time.Duration) time.Duration {
	if c.Own() {
		return ours
	}
	k, rate := c.piece(sort.Search(len(c.path), func(i int) bool { return c.path[i].at > ours }))
	return ours + k.ahead + time.Duration(math.Round(float64(ours-k.at)*rate))
}

// Ours is the instant of our clock at which the other one shows theirs.
func (c *Course) Ours(theirs time.Duration) time.Duration {
	if c.Own() {
		return theirs
	}
	k, rate := c.piece(sort.Search(len(c.path), func(i int) bool {
		return c.path[i].at+c.path[i].ahead > theirs
	}))
	return k.at + time.Duration(math.Round(float64(theirs-k.ahead-k.at)/(1+rate)))
}

// known is by how much the other clock is ahead at an instant: what the readings before it and
// those after it say, each by themselves. So it is true even if a clock was set once and no reading
// contradicts another.
func (c *Course) known(ours time.Duration) span {
	n := len(c.readings)
	before := sort.Search(n, func(i int) bool { return c.readings[i].to > ours }) - 1
	behind := sort.Search(n, func(i int) bool { return c.readings[i].from >= ours })
	all := span{math.MaxInt64, math.MinInt64}
	add := func(s span) { all = span{min(all.low, s.low), max(all.high, s.high)} }
	if before >= 0 {
		add(c.forth(before, ours))
	}
	if behind < n {
		add(c.back(behind, ours))
	}
	if before < 0 && behind == n { // within the only reading
		add(c.readings[0].said)
	}
	return all
}

// Bound is by how much Theirs can be wrong at an instant of our clock, and Ours with it: by no less
// than half of what the fastest answers around it took, and by no less than half of a step that no
// sample contradicts.
func (c *Course) Bound(ours time.Duration) time.Duration {
	if c.Own() {
		return 0
	}
	known, ahead := c.known(ours), c.Theirs(ours)-ours
	return max(known.high-ahead, ahead-known.low) + resolution
}

// Worst is the largest Bound from one instant of our clock to another.
func (c *Course) Worst(from, to time.Duration) time.Duration {
	if c.Own() {
		return 0
	}
	worst := max(c.Bound(from), c.Bound(to))
	for _, at := range c.marks() {
		if from < at && at < to {
			worst = max(worst, c.Bound(at))
		}
	}
	return worst
}

// marks are instants of our clock between which Bound is convex: knots are in the middle of readings.
func (c *Course) marks() (list []time.Duration) {
	for _, r := range c.readings {
		list = append(list, r.from, r.from+1, r.from+(r.to-r.from)/2, r.to-1, r.to)
	}
	return list
}

// Best is the least Bound of those around samples.
func (c *Course) Best() time.Duration {
	best := time.Duration(0)
	for i, r := range c.readings {
		if bound := c.Bound(r.from + (r.to-r.from)/2); i == 0 || bound < best {
			best = bound
		}
	}
	return best
}

// Rate is by how many ns in a ns the other clock gained on ours of late.
func (c *Course) Rate() float64 { return c.rate }

func (c *Course) String() string {
	if c.Own() {
		return "our own"
	}
	last := c.path[len(c.path)-1]
	return fmt.Sprintf("%v ahead (±%v), gaining %.2f ppm", last.ahead, c.Bound(last.at), c.rate*1e6)
}
