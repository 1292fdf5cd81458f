package stats

import (
	"math"
	"slices"

	"github.com/conclave-bench/conclave/internal/base/exact"
)

// A Course is what became of a figure over a history: values in the order of the commits that they
// belong to, taken apart into stretches in which the figure stays where it is, or drifts.
type Course struct {
	Shifts []Shift
	// Level is what the course says of each value; where there are modes, of the commonest.
	Level []float64
	// Modes are the levels that the figure switches between, whatever the commit; nil: there is one. A
	// switch is no shift.
	Modes []Mode
	// Outliers are the places of values that lie apart from those on both sides of them.
	Outliers []int
	// Noise is the standard deviation of a value around the course. NaN: too few values.
	Noise float64
	// Late is by how many of the last values nothing can be said yet, since they lie apart from
	// those before them, and are fewer than a stretch.
	Late int
}

// A Shift is where a figure leaves its level.
type Shift struct {
	// At is the place of the first value that is not at the old level, and Lo and Hi are between
	// which it may be: any place outside is 20 times less likely.
	At, Lo, Hi int
	// End is one past the last value that drifts, or At: the figure stepped.
	End int
	// Before and After are the level before the shift and the one behind it: of a drift, behind its end.
	Before, After float64
	// P is the probability of a shift as clear as this, or clearer, anywhere among the values around
	// it, if there is none: it counts all the places that were looked at.
	P float64
}

// Drifts says whether the figure moves from value to value, and not at once.
func (s *Shift) Drifts() bool { return s.End > s.At }

// ShortestStretch is of how many values a level must have for a shift to it to be reported. One or two
// that lie apart may be outliers.
const ShortestStretch = 3

// MinimumCourse is how many values it takes to tell anything of them.
const MinimumCourse = 6

// FollowCourse takes values apart at shifts whose P is alpha at most.
//
// Modes are found first (findModes), and what follows is of the values without them, unless a course
// without modes that drifts is more likely.
// Outliers are left out first: one or two values farther than four deviations from
// the medians of the five on either side and of those around it. The rest is divided into stretches
// that are level or drift in a line, by dynamic programming, so that the squared
// distances from it, with a charge for every stretch, are least (Jackson et al. 2005).
// The charge is low, so that no shift is missed. Then the least certain shift goes,
// one by one, as long as its P is above alpha: the P of Fisher's F, times the number
// of places that the shift could have been at (Bonferroni). The variance is that
// around the two stretches, drawn to that of the whole course (Smyth 2004), and is larger
// if neighbours resemble each other.
func FollowCourse(values []float64, alpha float64) Course {
	c := Course{Level: slices.Clone(values), Noise: math.NaN()}
	if len(values) < MinimumCourse {
		return c
	}
	modes := findModes(values, alpha)
	if modes == nil {
		return c.follow(values, alpha)
	}
	plain := c.follow(values, alpha)
	if plain.drifts() && plain.cost(values, modes.grid, alpha) < modes.cost {
		return plain // steps of a drift that are alike look like switches between modes
	}
	c = c.follow(modes.settled(), alpha)
	modes.widen(c.Shifts)
	c.Modes = modes.shares(c.Level[len(values)-1])
	return c
}

// follow takes values of one mode apart.
func (c Course) follow(values []float64, alpha float64) Course {
	c.Level = slices.Clone(c.Level)
	noise := differenceNoise(values)
	if noise == 0 { // most values are the one before
		noise = 1e-9 * max(math.Abs(Quantile(sorted(values), 0.5)), math.SmallestNonzeroFloat64)
	}
	c.Outliers, c.Late = apart(values, noise)
	f := &fitting{alpha: alpha, noise: noise}
	for i, v := range values {
		if !slices.Contains(c.Outliers, i) && i < len(values)-c.Late {
			f.at, f.y = append(f.at, i), append(f.y, v)
		}
	}
	if len(f.y) < MinimumCourse {
		return c
	}
	f.sum()
	f.divide()
	f.alike = f.resemblance()
	f.prune()
	c.Noise = math.Sqrt(f.residuals() / float64(max(1, len(f.y)-f.parameters())))
	c.Shifts = f.shifts()
	for i := range values {
		k, _ := slices.BinarySearch(f.at, i)
		c.Level[i] = f.level(min(k, len(f.y)-1))
	}
	return c
}

func (c *Course) drifts() bool {
	return slices.ContainsFunc(c.Shifts, func(s Shift) bool { return s.Drifts() })
}

// cost is -2 ln of the likelihood of a course without modes, comparable with the cost of a chain: steps and
// outliers cost the same, and the length and the slope of a drift what BIC charges for two parameters.
func (c *Course) cost(values []float64, grid, alpha float64) float64 {
	n, squares := float64(len(values)), 0.0
	total := outlierIs * float64(len(c.Outliers)+c.Late)
	for i, v := range values[:len(values)-c.Late] {
		if !slices.Contains(c.Outliers, i) {
			squares += float64((v - c.Level[i]) * (v - c.Level[i]))
		}
	}
	floor := noiseFloor(values, grid)
	variance := max(squares/n, floor*floor)
	for _, s := range c.Shifts {
		total += stepCharge(len(values), alpha)
		if s.Drifts() {
			total += 2 * exact.Log(n)
		}
	}
	return total + float64(n*exact.Log(variance)) + squares/variance
}

func sorted(values []float64) []float64 {
	s := slices.Clone(values)
	slices.Sort(s)
	return s
}

// differenceNoise is the deviation of values from their level, as the differences of neighbours tell
// it, few of which are across a shift: from the median of their absolute values.
func differenceNoise(values []float64) float64 {
	d := make([]float64, len(values)-1)
	for i := range d {
		d[i] = math.Abs(values[i+1] - values[i])
	}
	slices.Sort(d)
	return 1.4826 * Quantile(d, 0.5) / math.Sqrt2
}

// apart finds the values that lie farther than three deviations of the noise from the medians on both sides
// and not between them, and how many of the last lie so far from those before them.
func apart(values []float64, noise float64) (outliers []int, late int) {
	const side = 5
	n := len(values)
	median := func(from, to int) float64 { return Quantile(sorted(values[max(0, from):min(n, to)]), 0.5) }
	off := func(i int) float64 { return values[i] - median(i-side, i) }
	// Noise may have risen: then values around are no outliers. By chance, that of so many is seldom half as
	// much again.
	const around, louder = 20, 1.5
	limitAt := func(i int) float64 {
		here := differenceNoise(values[max(0, i-around):min(n, i+around)])
		if here < louder*noise {
			here = noise
		}
		return 3 * here
	}
	limit := limitAt(n - 1)
	// Of values that drift, each is far from the five before it, the last no more than three times as far as
	// the first. The first that is may be within the noise.
	part := math.Abs(off(n-1)) / 4
	for late < n-side && math.Abs(off(n-1-late)) > max(limit, part) {
		late++
	}
	end := n - late // outliers are before
	if before := off(max(0, end-1)); late >= ShortestStretch ||
		late > 0 && math.Abs(before) > max(limit/2, part) && before*off(end) > 0 {
		late = 0
	}
	for i, v := range values[:end] {
		left, right := median(i-side, i), median(i+1, min(n-late, i+1+side))
		switch {
		case i < ShortestStretch:
			left = right
		case n-late-1-i < ShortestStretch:
			right = left
		}
		beyond := max(min(left, right)-v, v-max(left, right)) // negative: between
		if around := median(i-side, min(n-late, i+1+side)); min(beyond, math.Abs(v-around)) > limitAt(i) {
			outliers = append(outliers, i)
		}
	}
	return outliers, late
}

// A fitting is a division of values into stretches.
type fitting struct {
	alpha, noise float64
	at           []int     // the place of each value in the history
	y            []float64 // values without outliers
	// sums up to each value: of the values, of their squares, and of their products with their places
	s, ss, ts []float64
	parts     []stretch
	alike     float64 // by how much neighbours that resemble each other make means less certain
}

// A stretch is the values of y from one place up to another, which are level or in a line.
type stretch struct {
	from, to int
	line     bool
}

func (s stretch) parameters() int {
	if s.line {
		return 2
	}
	return 1
}

func (f *fitting) sum() {
	center := Quantile(sorted(f.y), 0.5) // squares of small numbers lose nothing
	n := len(f.y)
	f.s, f.ss, f.ts = make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
	for i, v := range f.y {
		v -= center
		f.s[i+1], f.ss[i+1], f.ts[i+1] = f.s[i]+v, f.ss[i]+float64(v*v), f.ts[i]+float64(float64(i)*v)
	}
}

// rest is the sum of squares around a stretch, and the slope of its line.
func (f *fitting) rest(p stretch) (squares, slope float64) {
	n := float64(p.to - p.from)
	s := f.s[p.to] - f.s[p.from]
	squares = max(0, f.ss[p.to]-f.ss[p.from]-float64(s*s)/n)
	if !p.line {
		return squares, 0
	}
	middle := (float64(p.from) + float64(p.to-1)) / 2
	xy := f.ts[p.to] - f.ts[p.from] - float64(middle*s)
	xx := n * (float64(n*n) - 1) / 12
	return max(0, squares-float64(xy*xy)/xx), xy / xx
}

// ends are what the stretch says of its first and of its last value.
func (f *fitting) ends(p stretch) (first, last float64) {
	mean := 0.0
	for _, v := range f.y[p.from:p.to] {
		mean += v
	}
	mean /= float64(p.to - p.from)
	_, slope := f.rest(p)
	half := float64(slope * float64(p.to-1-p.from) / 2)
	return mean - half, mean + half
}

func (f *fitting) level(i int) float64 {
	for _, p := range f.parts {
		if i < p.to {
			first, _ := f.ends(p)
			_, slope := f.rest(p)
			return first + float64(slope*float64(i-p.from))
		}
	}
	return math.NaN()
}

// What a stretch costs in the division, in units of log n: BIC's for a level and its place, and
// for a slope besides.
const (
	chargeOfLevel = 2
	chargeOfSlope = 1.5
	shortestDrift = 4
)

// divide finds the stretches that cost least.
func (f *fitting) divide() {
	n := len(f.y)
	unit := exact.Log(float64(n))
	variance := f.noise * f.noise
	cost, last := make([]float64, n+1), make([]stretch, n+1)
	for to := 1; to <= n; to++ {
		cost[to] = math.Inf(1)
		for from := 0; from <= to-ShortestStretch; from++ {
			if math.IsInf(cost[from], 1) {
				continue
			}
			for _, line := range []bool{false, true} {
				if line && to-from < shortestDrift {
					continue
				}
				p := stretch{from, to, line}
				squares, _ := f.rest(p)
				total := cost[from] + squares/variance + float64(chargeOfLevel*unit)
				if line {
					total += float64(chargeOfSlope * unit)
				}
				if total < cost[to] {
					cost[to], last[to] = total, p
				}
			}
		}
	}
	for to := n; to > 0; to = last[to].from {
		f.parts = append(f.parts, last[to])
	}
	slices.Reverse(f.parts)
}

// prune takes the least certain shift away, until all are certain.
func (f *fitting) prune() {
	for {
		f.settle()
		weakest, p := -1, f.alpha
		line := false
		for i := range f.parts {
			if q := f.slopeP(i); q > p {
				weakest, p, line = i, q, true
			}
			if i > 0 {
				if q := f.borderP(i); q > p {
					weakest, p, line = i, q, false
				}
			}
		}
		switch {
		case weakest < 0:
			return
		case line:
			f.parts[weakest].line = false
		default:
			f.parts[weakest-1] = f.joined(weakest)
			f.parts = slices.Delete(f.parts, weakest, weakest+1)
		}
	}
}

// joined is what stretch i and the one before it are if nothing happens between them.
func (f *fitting) joined(i int) stretch {
	a, b := f.parts[i-1], f.parts[i]
	return stretch{a.from, b.to, a.line || b.line}
}

// settle moves the borders to where the squares are least, as long as they move.
func (f *fitting) settle() {
	for range 10 {
		moved := false
		for i := 1; i < len(f.parts); i++ {
			if k := f.best(i); k != f.parts[i].from {
				f.parts[i-1].to, f.parts[i].from, moved = k, k, true
			}
		}
		if !moved {
			return
		}
	}
}

// best is where the border before stretch i leaves least.
func (f *fitting) best(i int) int {
	at, least := f.parts[i].from, f.split(i, f.parts[i].from)
	for k := range f.places(i) {
		if v := f.split(i, k); v < least {
			at, least = k, v
		}
	}
	return at
}

// places are where the border before stretch i can be.
func (f *fitting) places(i int) func(func(int) bool) {
	a, b := f.parts[i-1], f.parts[i]
	least := func(p stretch) int {
		if p.line {
			return shortestDrift
		}
		return ShortestStretch
	}
	return func(yield func(int) bool) {
		for k := a.from + least(a); k <= b.to-least(b); k++ {
			if !yield(k) {
				return
			}
		}
	}
}

// split is the sum of squares with the border before stretch i at k.
func (f *fitting) split(i, k int) float64 {
	a, b := f.parts[i-1], f.parts[i]
	a.to, b.from = k, k
	left, _ := f.rest(a)
	right, _ := f.rest(b)
	return left + right
}

func (f *fitting) residuals() (squares float64) {
	for _, p := range f.parts {
		v, _ := f.rest(p)
		squares += v
	}
	return squares
}

func (f *fitting) parameters() (n int) {
	for _, p := range f.parts {
		n += p.parameters() + 1
	}
	return n - 1
}

// priorWeight is how many values the variance of the whole course counts for, beside those of the
// stretches in question.
const priorWeight = 10

// variance is that of values around these stretches, and its degrees of freedom. The variance of
// a mean of values that resemble their neighbours is larger than that of others by the factor that
// is part of it.
func (f *fitting) variance(parts ...stretch) (v, freedom float64) {
	whole := f.residuals() / float64(max(1, len(f.y)-f.parameters()))
	own, df := 0.0, 0.0
	for _, p := range parts {
		squares, _ := f.rest(p)
		own += squares
		df += float64(p.to - p.from - p.parameters())
	}
	weight := min(priorWeight, float64(max(1, len(f.y)-f.parameters())))
	v = (own + float64(weight*whole)) / (df + weight)
	floor := 1e-18 * max(1, math.Abs(f.y[0])) // rounding is no noise
	return max(v, floor) * f.alike, df + weight
}

// resemblance is by how much larger the variance of a mean is because neighbours resemble each
// other: (1+r)/(1-r) of a chain in which each does its neighbour (Bayley and Hammersley, 1946), r being
// their correlation around the stretches, before any has gone. It is too low there, by 1/n for each level
// and slope (Kendall 1954), and by as much again since the borders were chosen to leave little.
func (f *fitting) resemblance() float64 {
	var squares, products float64
	n, pairs, fitted := float64(len(f.y)), 0.0, 0.0
	for _, p := range f.parts {
		first, _ := f.ends(p)
		_, slope := f.rest(p)
		before := 0.0
		for i, y := range f.y[p.from:p.to] {
			off := y - first - float64(slope*float64(i))
			squares, products, before = squares+float64(off*off), products+float64(off*before), off
		}
		pairs, fitted = pairs+float64(p.to-p.from-1), fitted+float64(p.parameters())
	}
	if squares == 0 {
		return 1
	}
	r := products/pairs/(squares/n) + float64(2*fitted)/n
	r = max(0, min(r, 0.8))
	return (1 + r) / (1 - r)
}

// slopeP is the P of the slope of stretch i, over the places where a drift as long could be.
func (f *fitting) slopeP(i int) float64 {
	p := f.parts[i]
	if !p.line {
		return 0
	}
	with, _ := f.rest(p)
	p.line = false
	without, _ := f.rest(p)
	v, freedom := f.variance(f.parts[i])
	return f.searched(fisherTail((without-with)/v, 1, freedom), f.parts[i].from, f.parts[i].to)
}

// borderP is the P of the border before stretch i.
func (f *fitting) borderP(i int) float64 {
	a, b, whole := f.parts[i-1], f.parts[i], f.joined(i)
	squares, _ := f.rest(whole)
	more := float64(a.parameters() + b.parameters() - whole.parameters())
	v, freedom := f.variance(a, b)
	return f.searched(fisherTail(max(0, squares-f.split(i, b.from))/more/v, more, freedom), a.from, b.to)
}

// searched is a P that pays for what was looked at: a step and a drift at every place where the shift
// could be, and every end of the stretches beside it that is not an end of the course.
func (f *fitting) searched(p float64, from, to int) float64 {
	n := float64(max(1, len(f.y)-2*ShortestStretch+1))
	places := 2 * n
	for _, inside := range []bool{from > 0, to < len(f.y)} {
		if inside {
			places *= n / 2
		}
	}
	return min(1, p*places)
}

// fisherTail is the probability that Fisher's F is larger.
func fisherTail(x, d1, d2 float64) float64 {
	if x <= 0 {
		return 1
	}
	return betaInc(d2/(d2+float64(d1*x)), d2/2, d1/2)
}

// shifts tells what the borders and slopes mean.
func (f *fitting) shifts() (out []Shift) {
	for i, p := range f.parts {
		first, last := f.ends(p)
		before := first
		if i > 0 {
			_, before = f.ends(f.parts[i-1])
		}
		if !p.line {
			if i > 0 && !f.endsDrift(i) {
				out = append(out, f.step(i, before, first))
			}
			continue
		}
		s := Shift{At: f.at[p.from], Before: before, After: last, P: f.slopeP(i)}
		s.End = f.at[p.to-1] + 1
		if i+1 < len(f.parts) && f.endsDrift(i+1) && !f.parts[i+1].line {
			end, _, _, _ := f.kink(i + 1)
			s.End = f.at[end-1] + 1
			s.After, _ = f.ends(f.parts[i+1])
		}
		s.Lo, s.Hi = s.At, s.At
		if i > 0 && f.jumps(i) {
			out = append(out, f.step(i, before, first))
			s.Before = first
		} else if i > 0 && !f.parts[i-1].line {
			s.P = min(s.P, f.borderP(i))
			at, lo, hi, _ := f.kink(i)
			s.At, s.Lo, s.Hi = f.at[at], f.at[lo], f.at[hi]
		}
		out = append(out, s)
	}
	return out
}

func (f *fitting) step(i int, before, after float64) Shift {
	b := f.parts[i]
	s := Shift{At: f.at[b.from], End: f.at[b.from], Before: before, After: after, P: f.borderP(i)}
	s.Lo, s.Hi = s.At, s.At
	v, _ := f.variance(f.parts[i-1], b)
	least := f.split(i, b.from)
	for k := range f.places(i) {
		if f.split(i, k)-least <= likely*v {
			s.Lo, s.Hi = min(s.Lo, f.at[k]), max(s.Hi, f.at[k])
		}
	}
	return s
}

// likely is by how much the squares may be more, in variances, at a place that is 20 times less
// likely: 2 ln 20.
const likely = 5.99

// jumps says whether the level is another at the border before stretch i than where the stretch
// before it ends, beyond chance: whether a bend, of which the place is free, leaves more.
func (f *fitting) jumps(i int) bool {
	a, b := f.parts[i-1], f.parts[i]
	v, freedom := f.variance(a, b)
	squares := 0.0
	if a.line && b.line {
		squares, _ = f.rest(f.joined(i))
	} else {
		_, _, _, squares = f.kink(i)
	}
	return f.searched(fisherTail((squares-f.split(i, b.from))/v, 1, freedom), a.from, b.to) <= f.alpha
}

// endsDrift says whether stretch i is only where the drift before it ends.
func (f *fitting) endsDrift(i int) bool { return f.parts[i-1].line && !f.jumps(i) }

// kink is where a level bends into the drift that is stretch i, or a drift into the level that is: the
// first value that is off the level, or one past the last that drifts; between which places
// it may be, and the sum of squares.
func (f *fitting) kink(i int) (at, lo, hi int, least float64) {
	a, b := f.parts[i-1], f.parts[i]
	squares := map[int]float64{}
	least = math.Inf(1)
	for k := max(a.from+2, b.from-2*shortestDrift); k <= min(b.to-2, b.from+2*shortestDrift); k++ {
		squares[k] = f.bent(a.from, k, b.to, b.line)
		if squares[k] < least {
			at, least = k, squares[k]
		}
	}
	v, _ := f.variance(a, b)
	lo, hi = at, at
	for k, s := range squares {
		if s-least <= likely*v {
			lo, hi = min(lo, k), max(hi, k)
		}
	}
	return at, lo, hi, least
}

// bent is the sum of squares around a level up to k, or from k-1 on, which before or behind that
// moves with each value.
func (f *fitting) bent(from, k, to int, behind bool) float64 {
	n := float64(to - from)
	var x, xx, y, xy, yy float64
	for i := from; i < to; i++ {
		u, v := float64(min(0, i-k+1)), f.y[i]-f.y[from]
		if behind {
			u = float64(max(0, i-k+1))
		}
		x, xx, y, xy, yy = x+u, xx+float64(u*u), y+v, xy+float64(u*v), yy+float64(v*v)
	}
	sxx, sxy, syy := xx-float64(x*x)/n, xy-float64(x*y)/n, yy-float64(y*y)/n
	if sxx <= 0 {
		return syy
	}
	return syy - float64(sxy*sxy)/sxx
}
