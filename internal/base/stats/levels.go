package stats

import (
	"math"
	"slices"
)

// Levels say how much of a sample's variance lies between groups, such as the rounds of a
// run, and how much between the members of a group.
type Levels struct {
	N, Groups int
	// Between and Within are unbiased estimates of the two variances. Between may come out
	// negative, where groups differ by less than their members let expect.
	Between, Within float64
	// Low and High are the interval of the share that is between groups.
	Low, High float64
}

// VarianceLevels splits the variance by the one-way analysis of a model with random effects,
// for groups of any sizes (Searle, Casella and McCulloch, Variance Components, 1992, section
// 3.6). With groups of equal size the estimates are those of Kalibera and Jones (Rigorous
// benchmarking in reasonable time, ISMM 2013). The interval is exact for normal
// values in groups of equal size (Searle, Linear Models, 1971, chapter 9). Everything is
// NaN unless there are two groups, and one that has two members, and if a member is not
// finite: the variance of what is censored is not known. The shares are NaN if all are equal.
func VarianceLevels(groups [][]float64, confidence float64) Levels {
	nan := math.NaN()
	all, sizes := pooled(groups)
	l := Levels{N: len(all), Groups: len(sizes), Between: nan, Within: nan, Low: nan, High: nan}
	k, n := float64(len(sizes)), float64(len(all))
	// Where some are infinite, but not all, the variances come to NaN.
	if l.Groups < 2 || l.N == l.Groups || math.IsInf(all[0].value, 0) {
		return l
	}
	means := make([]float64, len(sizes))
	grand, squares := 0.0, 0.0
	for _, x := range all {
		means[x.group] += x.value
		grand += x.value / n
	}
	for i, size := range sizes {
		means[i] /= float64(size)
	}
	within, between := 0.0, 0.0
	for _, x := range all {
		off := x.value - means[x.group]
		within += float64(off * off)
	}
	for i, size := range sizes {
		off := means[i] - grand
		between += float64(float64(size) * float64(off*off))
		squares += float64(float64(size) * float64(size))
	}
	typical := (n - squares/n) / (k - 1) // size of a group
	within, between = within/(n-k), between/(k-1)
	if all[0].value == all[l.N-1].value { // else rounding would look like a variance
		within, between = 0, 0
	}
	l.Within, l.Between = within, (between-within)/typical
	end := func(tail float64) float64 {
		x := betaQuantile(tail, (k-1)/2, (n-k)/2)
		f := between / within / ((n - k) * x / ((k - 1) * (1 - x)))
		if math.IsInf(f, 1) {
			return 1
		}
		return max(0, (f-1)/(f+typical-1))
	}
	l.Low, l.High = end((1+confidence)/2), end((1-confidence)/2)
	return l
}

// Share is the part of the variance that is between groups, from 0 to 1; NaN where nothing
// varies or nothing is known.
func (l *Levels) Share() float64 {
	between := max(l.Between, 0)
	return between / (between + l.Within)
}

// Members is how many members of a group make a mean as precise as a given time allows,
// where a member costs so much, and a group so much besides: the root of the ratio of the
// costs times that of the variances (Kalibera and Jones, 2013). It is at most
// most, which is the answer where groups do not differ, and 0 if nothing is known.
func (l *Levels) Members(group, member float64, most int) int {
	best := math.Ceil(math.Sqrt(group / member * l.Within / max(l.Between, 0)))
	if math.IsNaN(best) {
		return 0
	}
	return int(max(1, min(best, float64(most))))
}

// DescribeGroups is Describe for a sample that comes in groups, such as rounds: the interval
// of the median is that of GroupedQuantile, and the method Grouped. Members that are infinite
// are censored. One group is a sample like any other, and Anytime knows no groups.
func (m Method) DescribeGroups(groups [][]float64) Summary {
	values := slices.Concat(groups...)
	censored := 0
	for _, v := range values {
		if math.IsInf(v, 1) {
			censored++
		}
	}
	s := m.Describe(values, censored)
	some := slices.DeleteFunc(slices.Clone(groups), func(g []float64) bool { return len(g) == 0 })
	if len(some) > 1 && m != Anytime {
		t := GroupedQuantile(some, 0.5, Confidence)
		s.CILow, s.CIHigh, s.Method = t.Low, t.High, Grouped
	}
	return s
}
