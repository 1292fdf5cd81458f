package link

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

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

// checkRegions says what is wrong with l, which is of regions; nil if nothing is.
func (l *Latency) checkRegions() error {
	if len(l.Places) == 0 {
		return fmt.Errorf("latency: regions without places: want the place of each process in turn")
	}
	if err := l.checkSigma(); err != nil {
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

func (l *Latency) checkSigma() error {
	if !(l.Sigma >= 0 && l.Sigma <= keySigma.Most) {
		return fmt.Errorf("latency: %s with sigma %v: want 0 to %v", l.Distribution, l.Sigma, keySigma.Most)
	}
	return nil
}

func (l *Latency) checkRoundTrips() error {
	if len(l.RoundTrips) != len(l.Places) {
		return fmt.Errorf("latency: %d rows of round_trips for %d places: want one each",
			len(l.RoundTrips), len(l.Places))
	}
	for p, row := range l.RoundTrips {
		if len(row) != len(l.Places) {
			return fmt.Errorf("latency: round_trips from %q: %d of them for %d places: want one each, "+
				"its own included", l.Places[p], len(row), len(l.Places))
		}
		for q, d := range row {
			if d < 0 || d > longest || d == 0 && p != q {
				return fmt.Errorf("latency: round trip from %q to %q: %v, want a duration above 0, "+
					"at most %v", l.Places[p], l.Places[q], d, longest)
			}
		}
	}
	return nil
}

// regionTrips are the round trips from the p-th to the q-th of l.Places.
func (l *Latency) regionTrips() (places int, trip func(p, q int) time.Duration) {
	if l.RoundTrips != nil {
		return len(l.Places), func(p, q int) time.Duration { return l.RoundTrips[p][q] }
	}
	return len(l.Places), func(p, q int) time.Duration {
		ms := measured[slices.Index(Places, l.Places[p])][slices.Index(Places, l.Places[q])]
		return time.Duration(math.Round(ms * float64(time.Millisecond)))
	}
}

// link is the latency of the link between two processes, l being of links.
// Process 1 is in the first of the places, process 2 in the second, and after the last
// it begins again.
func (l *Latency) link(from, to uint32) *Latency {
	places, trip := l.checked().trips(l)
	n := uint32(places)
	return l.half(trip(int((from-1)%n), int((to-1)%n)))
}

// half is the latency of a link with such a round trip: half of it, or spread around that
// by Sigma.
func (l *Latency) half(trip time.Duration) *Latency {
	if l.Sigma == 0 {
		return &Latency{Distribution: constant.Name, Mean: trip / 2}
	}
	return &Latency{Distribution: lognormal.Name, Median: trip / 2, Sigma: l.Sigma}
}

// farthest is the latency of the longest link.
func (l *Latency) farthest() *Latency {
	places, trip := l.checked().trips(l)
	longest := trip(0, 0)
	for p := range places {
		for q := range places {
			longest = max(longest, trip(p, q))
		}
	}
	return l.half(longest)
}

// overPlaces is the mean over the links, one process being in each of the places.
func (l *Latency) overPlaces() time.Duration {
	n, trip := l.checked().trips(l)
	if n == 1 {
		return l.half(trip(0, 0)).Average()
	}
	var sum time.Duration
	for p := range n {
		for q := range n {
			if p != q {
				sum += l.half(trip(p, q)).Average()
			}
		}
	}
	return sum / time.Duration(n*(n-1))
}
