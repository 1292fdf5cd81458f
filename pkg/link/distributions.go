package link

import (
	"cmp"
	"math"
	"math/bits"
	"time"

	"github.com/conclave-bench/conclave/pkg/param"
)

// A Distribution declares one kind of latency: all that its users need to know of
// it.
type Distribution struct {
	Name, Doc string
	// Formula is Q(p), the delay that a share p of all delays does not exceed, before
	// it is cut off, in terms of the parameters; Mean is the mean of that.
	Formula, Mean string
	Example       string // the required parameters, as an experiment file may say them
	Rank          int    // its place in lists; 0: behind the others, by name
	Law           Law    // a zero one
}

// A Law is a distribution with the values of its parameters, of which those come first that are
// required.
type Law interface {
	param.Kind
	// check says what is wrong beyond the bounds of durations; nil if nothing is.
	check() error
	// delay is the delay for the uniform random u. The largest u gives the largest delay. What
	// uses whole numbers alone gives the same on every architecture.
	delay(u uint64) time.Duration
	// average is the mean, cut-offs included, in nanoseconds. Products in sums stand in a
	// conversion of their own, so that every processor rounds alike.
	average() float64
	// bound is Latency.Bound.
	bound() (d time.Duration, bounded bool)
}

// A placed Law is that of links between places.
type placed interface {
	Law
	// trips is how many places there are, and the round trip from the p-th to the q-th.
	trips() (places int, trip func(p, q int) time.Duration)
	// named is the places, if they have names that the experiment gives.
	named() []string
	// spread is the sigma of the logarithm by which the delay of a link varies.
	spread() float64
}

// Links says whether the latency depends on the link, so that it means nothing
// elsewhere.
func (d *Distribution) Links() bool {
	_, is := d.Law.(placed)
	return is || d.Recorded()
}

// Recorded says whether the delays are a record, which may stand in a file: see ReadRecord.
func (d *Distribution) Recorded() bool {
	_, is := d.Law.(*Recorded)
	return is
}

var distributions = param.NewRegistry("distribution",
	func(d *Distribution) (string, Law) { return d.Name, d.Law },
	func(a, b *Distribution) int {
		if a.Links() != b.Links() {
			return map[bool]int{false: -1, true: 1}[a.Links()]
		}
		return cmp.Or(cmp.Compare(uint(a.Rank)-1, uint(b.Rank)-1), cmp.Compare(a.Name, b.Name))
	})

// Register makes d known. It is called by the declarations, before main.
func Register(d Distribution) { distributions.Add(d) }

// Distributions is every kind of latency, in the order of the documentation.
func Distributions() []*Distribution { return distributions.All() }

// DistributionOf is the distribution of a name; nil if there is none.
func DistributionOf(name string) *Distribution { return distributions.Named(name) }

// anyway is the part of a law that is right whatever its durations are.
type anyway struct{}

func (anyway) check() error { return nil }

// share is a part of d in proportion to u: 0 for the least u, d for the largest.
func share(u uint64, d time.Duration) time.Duration {
	hi, _ := bits.Mul64(u, uint64(d)+1)
	return time.Duration(hi)
}

// unit maps u into the open interval (0, 1). With one bit more, the largest u
// would be rounded to 1, whose quantile is infinite.
// It is rounded before it is used, so that no machine fuses the product with a sum.
func unit(u uint64) float64 { return float64((float64(u>>12) + 0.5) * 0x1p-52) }

// end is the largest delay of what is cut off at most, if that is set.
func end(most time.Duration) float64 {
	if most > 0 {
		return float64(most)
	}
	return float64(longest)
}

// clip is a quantile, cut off.
func clip(q float64, least, most time.Duration) time.Duration {
	return time.Duration(min(max(q, float64(least)), end(most)))
}

// boundOf is the bound of a law by its quantiles: where nothing cuts it off, the 99.9th percentile.
func boundOf(l Law, quantile func(p float64) float64, least, most time.Duration) (time.Duration, bool) {
	if most > 0 {
		return most, true
	}
	d := clip(quantile(0.999), least, most)
	return d, l.delay(math.MaxUint64) == d // one that does not spread
}
