package stats

import (
	"math"
	"slices"
)

// hunter finds change points as Apache Otava does, which was Hunter: E-divisive (Matteson and James,
// JASA 109, 2014) in windows of 50 values, candidates by Student's t-test at ten times
// maxP, then the weakest goes until all have maxP (Fleming et al., ICPE 2023; docs/MATH.md there). It is
// the yardstick of FollowCourse.
func hunter(y []float64, maxP float64) []int {
	const window = 50
	found := map[int]bool{}
	for start := 0; start < len(y); {
		end := min(start+window, len(y))
		last := 0
		for _, at := range divide(y[start:end], 10*maxP) {
			found[start+at] = true
			last = max(last, start+at)
		}
		start = max(last, start+window/2)
	}
	var points []int
	for at := range found {
		points = append(points, at)
	}
	slices.Sort(points)
	for len(points) > 0 {
		weakest, worst := 0, -1.0
		for i, at := range points {
			from, to := 0, len(y)
			if i > 0 {
				from = points[i-1]
			}
			if i+1 < len(points) {
				to = points[i+1]
			}
			if p := studentP(y[from:at], y[at:to]); p > worst {
				weakest, worst = i, p
			}
		}
		if worst < maxP {
			break
		}
		points = slices.Delete(points, weakest, weakest+1)
	}
	return points
}

// divide splits where the divergence is largest, as long as the t-test has p at most.
func divide(y []float64, maxP float64) (points []int) {
	for {
		best, at, from, to := math.Inf(-1), 0, 0, 0
		ends := append(append([]int{0}, points...), len(y))
		for i := 1; i < len(ends); i++ {
			a, b := ends[i-1], ends[i]
			if b-a < 2 {
				continue
			}
			if q, tau := divergence(y[a:b]); q > best {
				best, at, from, to = q, a+tau, a, b
			}
		}
		if math.IsInf(best, -1) || studentP(y[from:at], y[at:to]) >= maxP {
			return points
		}
		points = append(points, at)
		slices.Sort(points)
	}
}

// divergence is the largest Q of X = y[:tau] and Y = y[tau:kappa], and its tau.
func divergence(y []float64) (best float64, at int) {
	best = math.Inf(-1)
	n := len(y)
	within := func(from, to int) (sum float64) {
		for i := from; i < to; i++ {
			for j := i + 1; j < to; j++ {
				sum += math.Abs(y[i] - y[j])
			}
		}
		return sum
	}
	for tau := 1; tau < n; tau++ {
		x := within(0, tau)
		across, inY := 0.0, 0.0
		for kappa := tau + 1; kappa <= n; kappa++ {
			for i := range tau {
				across += math.Abs(y[i] - y[kappa-1])
			}
			for i := tau; i < kappa-1; i++ {
				inY += math.Abs(y[i] - y[kappa-1])
			}
			k, m := float64(tau), float64(kappa-tau)
			q := 2 / (k + m) * across
			if tau > 1 {
				q -= 2 * m / (k + m) / (k - 1) * x
			}
			if kappa-tau > 1 {
				q -= 2 * k / (k + m) / (m - 1) * inY
			}
			if q > best {
				best, at = q, tau
			}
		}
	}
	return best, at
}

// studentP is the two-sided P of Student's t-test with equal variances, which Otava computes from
// deviations with n, not n-1.
func studentP(a, b []float64) float64 {
	if len(a)+len(b) <= 2 {
		return 1
	}
	moments := func(x []float64) (mean, variance float64) {
		for _, v := range x {
			mean += v / float64(len(x))
		}
		if len(x) < 2 {
			return mean, 0
		}
		for _, v := range x {
			variance += (v - mean) * (v - mean) / float64(len(x))
		}
		return mean, variance
	}
	ma, va := moments(a)
	mb, vb := moments(b)
	na, nb := float64(len(a)), float64(len(b))
	df := na + nb - 2
	pooled := ((na-1)*va + (nb-1)*vb) / df
	t2 := (ma - mb) * (ma - mb) / (pooled * (1/na + 1/nb))
	return fisherTail(t2, 1, df)
}
