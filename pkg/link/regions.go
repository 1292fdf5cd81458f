package link

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/param"
)

func init() {
	Register(Distribution{
		Name: "regions", Rank: 1,
		Doc: "half the round trip between two places: measured (" + strings.Join(Places, ", ") +
			") or given by round_trips, a row each; process i is in the i-th, and round again; " +
			"sigma spreads it",
		Formula: "(round trip / 2) e^(sigma z(p)) of each link",
		Mean:    "over the links between different places, one process in each",
		Example: "places: [ireland, oregon]",
		Law:     &Regions{},
	})
}

// Regions is half of the round trip that the places of two processes have between them, times a
// lognormal factor of median 1 and Sigma if that is set. RoundTrips are from each of Places to each,
// in place of the measured ones.
type Regions struct {
	Places     []string // of process 1, 2, ..., and round again
	Sigma      float64
	RoundTrips [][]time.Duration
}

// Params declares the parameters.
func (l *Regions) Params() []param.Param {
	return []param.Param{{Name: "places", Example: "[virginia, tokyo]", Doc: "the place of each process, " +
		"in turn", At: &l.Places, Unit: "the name of a place", Required: true},
		{Name: "sigma", Example: "0.1", Doc: "standard deviation of the logarithm of each " +
			"delay", At: &l.Sigma, Max: mostSigma}, {Name: "round_trips", Example: "[[1ms, 80ms], [80ms, " +
			"1ms]]", Doc: "round trips between the places, a row for each; by default those that are " +
			"built in", At: &l.RoundTrips}}
}

// Places are those of which the round trips are built in: regions of Amazon EC2.
var Places = []string{
	"california", "oregon", "virginia", "tokyo", "ireland", "sydney", "sao-paulo", "singapore",
}

// measured is the mean round trips between the Places in milliseconds: P. Bailis,
// A. Davidson, A. Fekete, A. Ghodsi, J. M. Hellerstein, I. Stoica, Highly Available
// Transactions: Virtues and Limitations, Proceedings of the VLDB Endowment 7(3),
// 2013, Table 1c: a ping every second for a week. Within a place, where the
// processes are neighbors, it is Table 1a: two hosts of one availability zone, H1
// and H2.
var measured = [][]float64{
	{0.55, 22.5, 84.5, 143.7, 169.8, 179.1, 185.9, 186.9},
	{22.5, 0.55, 82.9, 135.1, 170.6, 200.6, 207.8, 234.4},
	{84.5, 82.9, 0.55, 202.4, 107.9, 265.6, 163.4, 253.5},
	{143.7, 135.1, 202.4, 0.55, 278.3, 144.2, 301.4, 90.6},
	{169.8, 170.6, 107.9, 278.3, 0.55, 346.2, 239.8, 234.1},
	{179.1, 200.6, 265.6, 144.2, 346.2, 0.55, 333.6, 243.1},
	{185.9, 207.8, 163.4, 301.4, 239.8, 333.6, 0.55, 362.8},
	{186.9, 234.4, 253.5, 90.6, 234.1, 243.1, 362.8, 0.55},
}

func (l *Regions) check() error {
	if len(l.Places) == 0 {
		return fmt.Errorf("latency: regions without places: expected the place of each process in turn")
	}
	if err := checkSigma("regions", l.Sigma); err != nil {
		return err
	}
	if l.RoundTrips != nil {
		return l.checkRoundTrips()
	}
	for _, place := range l.Places {
		if !slices.Contains(Places, place) {
			return fmt.Errorf("latency: unknown place %q (has: %s); for others, round_trips says how far "+
				"apart they are", place, strings.Join(Places, ", "))
		}
	}
	return nil
}

func checkSigma(of string, sigma float64) error {
	if !(sigma >= 0 && sigma <= mostSigma) {
		return fmt.Errorf("latency: %s with sigma %v: expected 0 to %v", of, sigma, mostSigma)
	}
	return nil
}

func (l *Regions) checkRoundTrips() error {
	if len(l.RoundTrips) != len(l.Places) {
		return fmt.Errorf("latency: %d rows of round_trips for %d places: expected one each",
			len(l.RoundTrips), len(l.Places))
	}
	for p, row := range l.RoundTrips {
		if len(row) != len(l.Places) {
			return fmt.Errorf("latency: round_trips from %q: %d of them for %d places: expected one each, "+
				"its own included", l.Places[p], len(row), len(l.Places))
		}
		for q, d := range row {
			if d < 0 || d > longest || d == 0 && p != q {
				return fmt.Errorf("latency: round trip from %q to %q: %v, expected a duration above 0, "+
					"at most %v", l.Places[p], l.Places[q], d, longest)
			}
		}
	}
	return nil
}

func (l *Regions) trips() (places int, trip func(p, q int) time.Duration) {
	if l.RoundTrips != nil {
		return len(l.Places), func(p, q int) time.Duration { return l.RoundTrips[p][q] }
	}
	return len(l.Places), func(p, q int) time.Duration {
		ms := measured[slices.Index(Places, l.Places[p])][slices.Index(Places, l.Places[q])]
		return time.Duration(math.Round(ms * float64(time.Millisecond)))
	}
}

func (l *Regions) named() []string              { return l.Places }
func (l *Regions) spread() float64              { return l.Sigma }
func (l *Regions) delay(uint64) time.Duration   { panic(ofLinks) }
func (l *Regions) average() float64             { return overPlaces(l) }
func (l *Regions) bound() (time.Duration, bool) { return farthest(l).bound() }

// ofLinks is what a law panics with that is of links, and was asked for a delay that is of none.
const ofLinks = "latency: of links, and this is none: it was not checked"

// Places are those of process 1, 2, ..., and round again; nil: it is not of places with names.
func (l *Latency) Places() []string {
	if law, is := l.Law.(placed); is {
		return law.named()
	}
	return nil
}

// between is the law of the link between two processes, l being of links.
// Process 1 is in the first of the places, process 2 in the second, and after the last
// it begins again.
func between(l placed, from, to uint32) Law {
	places, trip := l.trips()
	n := uint32(places)
	return half(l, trip(int((from-1)%n), int((to-1)%n)))
}

// half is the law of a link with such a round trip: half of it, or spread around that.
func half(l placed, trip time.Duration) Law {
	if sigma := l.spread(); sigma != 0 {
		return &Lognormal{Median: trip / 2, Sigma: sigma}
	}
	return &constant{Mean: trip / 2}
}

// farthest is the law of the longest link.
func farthest(l placed) Law {
	places, trip := l.trips()
	longest := trip(0, 0)
	for p := range places {
		for q := range places {
			longest = max(longest, trip(p, q))
		}
	}
	return half(l, longest)
}

// overPlaces is the mean over the links, one process being in each of the places.
func overPlaces(l placed) float64 {
	n, trip := l.trips()
	average := func(p, q int) time.Duration {
		link := Latency{half(l, trip(p, q))}
		return link.Average()
	}
	if n == 1 {
		return float64(average(0, 0))
	}
	var sum time.Duration
	for p := range n {
		for q := range n {
			if p != q {
				sum += average(p, q)
			}
		}
	}
	return float64(sum / time.Duration(n*(n-1)))
}
