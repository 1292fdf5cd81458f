package stats

import (
	"cmp"
	"math"
	"slices"

	"github.com/conclave-bench/conclave/internal/base/exact"
)

// A Mode is one of several levels that a series goes to and comes back from, whatever the commit: a
// processor has two frequencies, a process one of two places.
type Mode struct {
	Level float64 // at the end of the series
	Share float64 // of the values that are in some mode
}

const (
	leastModal  = 12 // values, for modes to be looked for
	leastOfMode = 3  // values of each mode
	mostModes   = 4
	apartModes  = 5 // deviations between modes; half as many would fit the two halves of normal noise
	// A single value may be an outlier, unless modes are so many deviations apart that it would
	// hardly be at the level of a mode by chance, or there are so many of them.
	farModes  = 12
	manyBrief = 4
	// A value farther from each mode, in squares of deviations, is an outlier, and what one costs:
	// it is rare, and may be anywhere.
	outlying  = 16
	outlierIs = 20
)

// A chain is values that switch between modes: a hidden Markov chain. A value is the level of its stretch,
// plus the offset of the mode that it is in, plus normal noise. The mode depends on that of the value before.
// Costs are -2 ln of likelihoods.
type chain struct {
	y       []float64
	noise   float64
	grid    float64   // the least difference of values: they may be rounded
	offsets []float64 // of each mode from the commonest
	begin   []float64 // what it costs to begin in each mode,
	move    [][]float64
	modes   []int  // of each value; -1: outlier
	fresh   []bool // which values begin a stretch
	cost    float64
}

// findModes finds the modes of values; nil: there are none.
//
// Offsets are tried by which many successive values differ. Of the chains that fit, that of the least cost
// is taken (Schwarz, 1978), if each of its modes is left and comes back, and if it costs less than what
// might look like it: steps and outliers, or noise that is not the same all the time. A step is charged so
// much that chance pays it with probability alpha, so that switches are taken for a step only where
// they are too unlikely: a step moves all modes, and for good.
func findModes(values []float64, alpha float64) *chain {
	if len(values) < leastModal {
		return nil
	}
	distinct := slices.Compact(sorted(values))
	grid := math.Inf(1) // values that are rounded to whole numbers are no modes
	for i := 1; i < len(distinct); i++ {
		grid = min(grid, distinct[i]-distinct[i-1])
	}
	differences := make([]float64, len(values)-1)
	for i := range differences {
		differences[i] = math.Abs(values[i+1] - values[i])
	}
	slices.Sort(differences)
	charge := stepCharge(len(values), alpha)
	// The differences within a mode are normal. Where neighbours are often in different modes, only the least
	// are within one.
	for _, q := range []struct{ share, of float64 }{{0.25, 0.3186}, {0.1, 0.1257}} {
		noise := max(Quantile(differences, q.share)/q.of/math.Sqrt2, grid/math.Sqrt(12))
		best := searchModes(values, commonGaps(differences, noise), noise, grid, charge)
		if best == nil {
			continue
		}
		none := unevenNoise(values, best.noise)
		for _, n := range []float64{noise, Describe(values, 0).SD} {
			none = min(none, fitChain(values, []float64{0}, n, grid, charge).cost)
		}
		if best.cost < none {
			return best
		}
	}
	return nil
}

// stepCharge is what a step costs, so that chance pays it with probability alpha.
func stepCharge(values int, alpha float64) float64 { return 2 * exact.Log(float64(values)/alpha) }

// noiseFloor is the least noise of values that may be rounded.
func noiseFloor(values []float64, grid float64) float64 {
	return max(grid/math.Sqrt(12), 1e-9*math.Abs(values[0]), math.SmallestNonzeroFloat64)
}

// searchModes adds modes as long as that costs less; nil: there are none.
func searchModes(values, gaps []float64, noise, grid, charge float64) (best *chain) {
	offsets, least := []float64{0}, math.Inf(1)
	for len(offsets) < mostModes {
		var next *chain // two of three modes may not fit yet
		for _, o := range widened(offsets, gaps, noise) {
			for _, step := range []float64{math.Inf(1), charge} {
				c := fitChain(values, o, noise, grid, step)
				if next == nil || c.cost < next.cost {
					next = c
				}
				if c.recurs() && (best == nil || c.cost < best.cost) {
					best = c
				}
			}
		}
		if next == nil || next.cost >= least {
			break
		}
		offsets, least = next.offsets, next.cost
	}
	return best
}

// commonGaps are differences, of these sorted ones, that three neighbours or more have.
func commonGaps(differences []float64, noise float64) (gaps []float64) {
	const most = 3
	from, _ := slices.BinarySearch(differences, 4*noise)
	rest := slices.Clone(differences[from:])
	for len(gaps) < most {
		lo, hi := 0, 0 // the most that lie within two deviations of a difference, either way
		for i, j := 0, 0; i < len(rest); i++ {
			for j < len(rest) && rest[j]-rest[i] <= 8*noise {
				j++
			}
			if j-i > hi-lo {
				lo, hi = i, j
			}
		}
		if hi-lo < 3 {
			break
		}
		gaps = append(gaps, rest[(lo+hi)/2])
		rest = slices.Delete(rest, lo, hi)
	}
	return gaps
}

// widened are the offsets with one more, which is a gap from one of them, from the least on.
func widened(offsets, gaps []float64, noise float64) (out [][]float64) {
	near := func(x float64) func(float64) bool {
		return func(y float64) bool { return math.Abs(x-y) < 3*noise }
	}
	for _, gap := range gaps {
		for _, o := range offsets {
			for _, x := range []float64{o + gap, o - gap} {
				w := sorted(append(slices.Clone(offsets), x))
				least := w[0]
				for i := range w {
					w[i] -= least
				}
				known := func(other []float64) bool {
					return slices.EqualFunc(w, other, func(a, b float64) bool { return near(a)(b) })
				}
				if !slices.ContainsFunc(offsets, near(x)) && !slices.ContainsFunc(out, known) {
					out = append(out, w)
				}
			}
		}
	}
	return out
}

// fitChain fits a chain, beginning with these offsets, to values of which a step has this charge: infinite if
// there is none.
func fitChain(values, offsets []float64, noise, grid, charge float64) *chain {
	k := len(offsets)
	c := &chain{y: values, offsets: slices.Clone(offsets), noise: noise, grid: grid}
	c.begin = slices.Repeat([]float64{2 * exact.Log(float64(k))}, k)
	for range k {
		c.move = append(c.move, slices.Clone(c.begin))
	}
	floor := noiseFloor(values, grid)
	n := float64(len(values))
	for range 4 {
		c.noise = max(c.noise, floor)
		c.cost = float64(2*n*exact.Log(c.noise)) + c.divide(charge) + float64(float64(k*k-1)*exact.Log(n))
		before := c.noise
		c.estimate()
		if math.Abs(c.noise-before) < 1e-6*before {
			break
		}
	}
	c.noise = max(c.noise, floor)
	return c
}

// A walk follows the values of a stretch, each of which is in the mode that it is nearest to.
type walk struct {
	c        *chain
	mode     int
	sum, n   float64 // of values without their offsets
	cost     float64
	outlier  bool // the last value
	variance float64
}

func (c *chain) walk(from, mode int) walk {
	return walk{c: c, mode: mode, sum: c.y[from] - c.offsets[mode], n: 1, variance: c.noise * c.noise}
}

func (w *walk) step(v float64) {
	v -= w.sum / w.n
	to, off := 0, math.Inf(1)
	for m, o := range w.c.offsets {
		if d := math.Abs(v - o); d < off {
			to, off = m, d
		}
	}
	// The squares around the mean of all grow by this (Welford, 1962).
	squares := off * off / w.variance * w.n / (w.n + 1)
	if w.outlier = squares > outlying; w.outlier {
		w.cost += outlierIs
		return
	}
	w.cost += squares + w.c.move[w.mode][to]
	w.sum, w.n, w.mode = w.sum+w.sum/w.n+v-w.c.offsets[to], w.n+1, to
}

// divide finds the stretches and modes that cost least, and their cost.
func (c *chain) divide(charge float64) float64 {
	n, k := len(c.y), len(c.offsets)
	type end struct{ from, mode, before int } // of a stretch: its first value and mode, and the mode before
	cost, last := make([][]float64, n+1), make([][]end, n+1)
	for i := range cost {
		cost[i], last[i] = slices.Repeat([]float64{math.Inf(1)}, k), make([]end, k)
	}
	for from := range c.y {
		if from > 0 && (math.IsInf(charge, 1) || !c.moves(from)) {
			continue
		}
		for m := range k {
			start, before := c.begin[m], -1
			if from > 0 {
				start = math.Inf(1)
				for b := range k {
					if x := cost[from][b] + c.move[b][m] + charge; x < start {
						start, before = x, b
					}
				}
			}
			if math.IsInf(start, 1) {
				continue
			}
			w := c.walk(from, m)
			for to := from + 1; ; to++ {
				if to-from >= ShortestStretch && start+w.cost < cost[to][w.mode] {
					cost[to][w.mode], last[to][w.mode] = start+w.cost, end{from, m, before}
				}
				if to == n {
					break
				}
				w.step(c.y[to])
			}
		}
	}
	mode := 0
	for m := range k {
		if cost[n][m] < cost[n][mode] {
			mode = m
		}
	}
	total := cost[n][mode]
	c.modes, c.fresh = make([]int, n), make([]bool, n)
	for to := n; to > 0; {
		e := last[to][mode]
		c.fresh[e.from] = true
		w := c.walk(e.from, e.mode)
		c.modes[e.from] = e.mode
		for i := e.from + 1; i < to; i++ {
			w.step(c.y[i])
			if c.modes[i] = w.mode; w.outlier {
				c.modes[i] = -1
			}
		}
		to, mode = e.from, e.before
	}
	return total
}

// moves says whether the values from a place on are others than those before, so that a stretch may begin
// there.
func (c *chain) moves(at int) bool {
	const side = ShortestStretch
	if at < side || at > len(c.y)-side {
		return false
	}
	off := 0.0
	for i := range side {
		off += c.y[at+i] - c.y[at-1-i]
	}
	return math.Abs(off) > side*2*c.noise
}

// stretches yields where each stretch begins and ends.
func (c *chain) stretches(yield func(from, to int) bool) {
	for from := 0; from < len(c.y); {
		to := from + 1
		for to < len(c.y) && !c.fresh[to] {
			to++
		}
		if !yield(from, to) {
			return
		}
		from = to
	}
}

// estimate takes offsets, noise and what moves cost from the modes that the values are in.
func (c *chain) estimate() {
	k := len(c.offsets)
	off := make([]float64, len(c.y)) // of values from the levels of their stretches
	sums, counts, moves := make([]float64, k), make([]float64, k), make([][]float64, k)
	for m := range k { // half a move of each kind keeps any from being impossible
		moves[m] = slices.Repeat([]float64{0.5}, k)
	}
	free, before := 0.0, -1
	for from, to := range c.stretches {
		sum, n := 0.0, 0.0
		for i := from; i < to; i++ {
			if m := c.modes[i]; m >= 0 {
				sum, n = sum+c.y[i]-c.offsets[m], n+1
			}
		}
		free += n - 1
		for i := from; i < to; i++ {
			m := c.modes[i]
			if m < 0 {
				continue
			}
			off[i] = c.y[i] - sum/n
			sums[m], counts[m] = sums[m]+off[i], counts[m]+1
			if before >= 0 {
				moves[before][m]++
			}
			before = m
		}
	}
	for m := range k {
		if counts[m] > 0 {
			c.offsets[m] = sums[m] / counts[m]
		}
		c.begin[m] = -2 * exact.Log((counts[m]+0.5)/(float64(len(c.y))+float64(0.5*float64(k))))
		for to, n := range moves[m] {
			all := 0.0
			for _, v := range moves[m] {
				all += v
			}
			c.move[m][to] = -2 * exact.Log(n/all)
		}
	}
	squares := 0.0
	for i, m := range c.modes {
		if m >= 0 {
			rest := off[i] - c.offsets[m]
			squares += float64(rest * rest)
		}
	}
	c.noise = math.Sqrt(squares / max(1, free))
	commonest := 0
	for m := range k {
		if counts[m] > counts[commonest] {
			commonest = m
		}
	}
	common := c.offsets[commonest]
	for m := range k {
		c.offsets[m] -= common
	}
}

// recurs says whether the modes are apart, and each is left and comes back within a stretch: of
// two, the values go to the other three times or more. There and back once may be a regression and
// its remedy.
func (c *chain) recurs() bool {
	k := len(c.offsets)
	gap, o := math.Inf(1), sorted(c.offsets)
	for i := 1; i < k; i++ {
		gap = min(gap, (o[i]-o[i-1])/c.noise)
	}
	type spell struct {
		mode, n int
		first   bool // of its stretch
	}
	var spells []spell
	values, brief, entered := make([]int, k), make([]int, k), make([]int, k)
	for from, to := range c.stretches {
		first := true
		for _, m := range c.modes[from:to] {
			if m < 0 {
				continue
			}
			values[m]++
			if last := len(spells) - 1; !first && spells[last].mode == m {
				spells[last].n++
			} else {
				spells, first = append(spells, spell{m, 1, first}), false
			}
		}
	}
	for _, s := range spells {
		if s.n == 1 {
			brief[s.mode]++
		}
	}
	total, last := 0, -1
	for _, s := range spells {
		if s.first {
			last = -1
		}
		if s.n == 1 && gap < farModes && brief[s.mode] < manyBrief {
			continue
		}
		if last >= 0 && s.mode != last {
			entered[s.mode]++
			total++
		}
		last = s.mode
	}
	return gap >= apartModes && total >= 2*k-1 && slices.Min(entered) > 0 && slices.Min(values) >= leastOfMode
}

// unevenNoise is the cost of values at one level whose noise is another from some place on.
func unevenNoise(y []float64, noise float64) float64 {
	const least = 6 // values on each side
	n, middle := len(y), Quantile(sorted(y), 0.5)
	squares := make([]float64, n+1)
	for i, v := range y {
		v -= middle
		squares[i+1] = squares[i] + float64(v*v)
	}
	cost := func(from, to int) float64 {
		n := float64(to - from)
		return n + float64(n*exact.Log(max(noise*noise*1e-6, (squares[to]-squares[from])/n)))
	}
	best := math.Inf(1)
	for i := least; i <= n-least; i++ {
		best = min(best, cost(0, i)+cost(i, n)+float64(3*exact.Log(float64(n))))
	}
	return best
}

// settled are the values as if all were in the commonest mode.
func (c *chain) settled() []float64 {
	out := slices.Clone(c.y)
	for i, m := range c.modes {
		if m >= 0 {
			out[i] -= c.offsets[m]
		}
	}
	return out
}

// shares are the modes where the commonest has this level, the lowest first.
func (c *chain) shares(level float64) (out []Mode) {
	counts, all := make([]float64, len(c.offsets)), 0.0
	for _, m := range c.modes {
		if m >= 0 {
			counts[m]++
			all++
		}
	}
	for m, o := range c.offsets {
		out = append(out, Mode{level + o, counts[m] / all})
	}
	slices.SortFunc(out, func(a, b Mode) int { return cmp.Compare(a.Level, b.Level) })
	return out
}

// widen lets a step be at any place where a switch of modes explains as much: of 100, 105 and 110 ms, the
// first or the second rise may be the step.
func (c *chain) widen(shifts []Shift) {
	for i := range shifts {
		s := &shifts[i]
		if s.Drifts() {
			continue
		}
		from, to := 0, len(c.y)
		if i > 0 {
			from = shifts[i-1].End
		}
		if i+1 < len(shifts) {
			to = shifts[i+1].At
		}
		ahead := c.forwards(c.y[from:to], s.Before)
		behind := c.backwards(c.y[from:to], s.After)
		total, least := make([]float64, to-from), math.Inf(1)
		for k := 1; k < to-from; k++ {
			total[k] = math.Inf(1)
			for m := range c.offsets {
				total[k] = min(total[k], ahead[k-1][m]+behind[k][m])
			}
			least = min(least, total[k])
		}
		for k := 1; k < to-from; k++ {
			if total[k]-least <= likely {
				s.Lo, s.Hi = min(s.Lo, from+k), max(s.Hi, from+k)
			}
		}
	}
}

// off is what it costs that a value is in a mode where the commonest has this level.
func (c *chain) off(v, level float64, mode int) float64 {
	d := (v - level - c.offsets[mode]) / c.noise
	return min(d*d, outlying)
}

// forwards is the least cost of the values up to each, by the mode that it is in.
func (c *chain) forwards(y []float64, level float64) [][]float64 {
	out := make([][]float64, len(y))
	for i, v := range y {
		for m := range c.offsets {
			reach := c.begin[m]
			if i > 0 {
				reach = math.Inf(1)
				for b := range c.offsets {
					reach = min(reach, out[i-1][b]+c.move[b][m])
				}
			}
			out[i] = append(out[i], reach+c.off(v, level, m))
		}
	}
	return out
}

// backwards is the least cost of the values from each on, by the mode of the value before it.
func (c *chain) backwards(y []float64, level float64) [][]float64 {
	out := make([][]float64, len(y)+1)
	out[len(y)] = make([]float64, len(c.offsets))
	for i := len(y) - 1; i >= 0; i-- {
		for b := range c.offsets {
			least := math.Inf(1)
			for m := range c.offsets {
				least = min(least, c.move[b][m]+c.off(y[i], level, m)+out[i+1][m])
			}
			out[i] = append(out[i], least)
		}
	}
	return out
}
