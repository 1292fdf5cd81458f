package link

import (
	"math"
	"time"
)

// Average is the mean of the distribution, cut-offs included: what the mean of very
// many draws comes to, rounded to a nanosecond. Of regions it is the mean over the links
// between different places, one process being in each. A distribution whose mean would
// be infinite, as pareto's with an alpha of 1, is cut off at 24 h, as its draws are.
func (l *Latency) Average() time.Duration {
	if l.Law == nil { // none at all
		return 0
	}
	return time.Duration(math.Round(l.Law.average()))
}

// Means returns the average latency of each link, from one process to another: of those
// that vary, over all that may come of it.
func (n *Network) Means() func(from, to uint32) time.Duration {
	all := n.Latency.means()
	if len(n.Links) == 0 {
		return all
	}
	own := map[[2]uint32]time.Duration{}
	for i := range n.Links {
		if l := n.Links[i].Latency; l != nil {
			for _, of := range n.Links[i].Links {
				own[of] = l.Average()
			}
		}
	}
	return func(from, to uint32) time.Duration {
		if d, is := own[[2]uint32{from, to}]; is {
			return d
		}
		return all(from, to)
	}
}

// Slowest is the average latency of the link on which it is the largest. In a trial in which it varies it is
// that of a slow one, as Bound's. Where a link can be full, the wait for it is not known before, and
// Slowest is what Bound returns.
func (n *Network) Slowest() time.Duration {
	if n.limited() || n.AtMost > 0 {
		d, _ := n.Bound()
		return d
	}
	d := n.Latency.Slowest()
	for i := range n.Links {
		if l := n.Links[i].Latency; l != nil {
			d = max(d, l.Slowest())
		}
	}
	if v := n.Variation; v != nil {
		d = vary(d, max(v.factor(slowTrial), 1))
	}
	return d
}

// Slowest is the average latency of the link on which it is the largest.
func (l *Latency) Slowest() (most time.Duration) {
	switch law := l.checked().(type) {
	case *Recorded:
		for i := range law.Pairs {
			own := Latency{law.alone(i)}
			most = max(most, own.Average())
		}
		if most > 0 {
			return most
		}
	case placed:
		far := Latency{farthest(law)}
		return far.Average()
	}
	return l.Average()
}

// means is the same for what all links are.
func (l *Latency) means() func(from, to uint32) time.Duration {
	switch law := l.checked().(type) {
	case *Recorded:
		if len(law.Pairs) == 0 {
			break
		}
		table := map[[2]uint32]time.Duration{}
		for i := range law.Pairs {
			own := Latency{law.alone(i)}
			table[[2]uint32{law.Pairs[i].From, law.Pairs[i].To}] = own.Average()
		}
		return func(from, to uint32) time.Duration { return table[[2]uint32{from, to}] }
	case placed:
		places, trip := law.trips()
		table := make([]time.Duration, places*places)
		for i := range table {
			own := Latency{half(law, trip(i/places, i%places))}
			table[i] = own.Average()
		}
		return func(from, to uint32) time.Duration {
			return table[int(from-1)%places*places+int(to-1)%places]
		}
	}
	all := l.Average()
	return func(uint32, uint32) time.Duration { return all }
}
