package check

import (
	"math"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

const (
	// batch is how many successive times MSER-5 takes together.
	batch = 5
	// fewestInSeries is how many operations it takes to tell: ten batches.
	fewestInSeries = 10 * batch
	// mostLags bounds how many means of batches the autocorrelation is summed over.
	mostLags = 1000
)

// steady says how the times of the operations of a trial follow each other, from their
// cause to their end; nothing if there are too few.
func steady(ops []trace.Operation) (out []metric.Value) {
	var all, measured []float64 // in ns, which are whole
	for _, op := range ops {
		if op.Status != trace.Completed && op.Status != trace.Warmup {
			continue
		}
		took := float64(op.End - op.Cause)
		all = append(all, took)
		if op.Status == trace.Completed {
			measured = append(measured, took)
		}
	}
	if len(all) >= fewestInSeries {
		out = append(out, metric.WarmupFound.Of(mser(all)))
	}
	if len(measured) >= fewestInSeries {
		first, n := correlation(measured)
		out = append(out, metric.Autocorrelation.Of(first), metric.EffectiveOperations.Of(n))
	}
	return out
}

// mser is how many values MSER-5 cuts from the beginning (White, Cobb and Spratt, WSC 2000;
// White, Simulation 69(6), 1997): as many batches of five as make the standard error of
// the mean of the rest least. If that is more than half of them, the values have not
// become steady while they were watched (Franklin and White, WSC 2008): NaN. The last five
// batches are never left alone, since so few may be alike by chance.
func mser(values []float64) float64 {
	sums := make([]float64, len(values)/batch)
	for i := range sums {
		for _, v := range values[i*batch : (i+1)*batch] {
			sums[i] += v
		}
	}
	least, cut := math.Inf(1), 0
	origin := sums[len(sums)-1] // so that what is constant in the end has no error at all
	var n, sum, squares float64
	for i := len(sums) - 1; i >= 0; i-- {
		d := sums[i] - origin
		n, sum, squares = n+1, sum+d, squares+float64(d*d)
		if n < batch {
			continue
		}
		if e := (squares - float64(sum*sum)/n) / (n * n); e <= least {
			least, cut = e, i
		}
	}
	if cut > len(sums)/2 {
		return math.NaN()
	}
	return float64(cut * batch)
}

// correlation is the autocorrelation of values of lag 1, and how many independent ones
// would have a mean as good as theirs: n s² / (b s² of the means of batches of b times the
// sum of their autocorrelations). There are at most mostLags batches, and the sum ends where
// two successive ones of them no longer add up to more than 0 (Geyer's initial positive
// sequence, Statistical Science 7(4), 1992). Both are NaN if all values are equal.
func correlation(values []float64) (first, effective float64) {
	x := centred(values)
	variance := product(x, 0)
	if variance == 0 {
		return math.NaN(), math.NaN()
	}
	size := (len(x) + mostLags - 1) / mostLags
	means := make([]float64, len(x)/size)
	for i := range means {
		for _, v := range x[i*size : (i+1)*size] {
			means[i] += v / float64(size)
		}
	}
	means = centred(means)
	of := product(means, 0)
	sum := -of
	for lag := 0; lag+1 < len(means); lag += 2 {
		two := product(means, lag) + product(means, lag+1)
		if two <= 0 {
			break
		}
		sum += 2 * two
	}
	n := float64(len(x))
	effective = n
	if sum > 0 {
		effective = min(n, variance/n/(sum/float64(len(means)))*float64(len(means)))
	}
	return product(x, 1) / variance, effective
}

// centred are values less their mean.
func centred(values []float64) []float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v - sum/float64(len(values))
	}
	return out
}

// product is the sum of the products of values that are lag apart.
func product(x []float64, lag int) (sum float64) {
	for i := range x[lag:] {
		sum += float64(x[i] * x[i+lag])
	}
	return sum
}
