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
	switch d := l.kind(); {
	case d == nil: // none at all
		return 0
	case d.series:
		return l.overRecord()
	case d.Links():
		return l.overPlaces()
	default:
		least, most := l.cuts()
		return time.Duration(math.Round(d.average(l, least, most)))
	}
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

// means is the same for what all links are.
func (l *Latency) means() func(from, to uint32) time.Duration {
	d := l.checked()
	if len(l.Pairs) > 0 {
		table := map[[2]uint32]time.Duration{}
		for i := range l.Pairs {
			table[[2]uint32{l.Pairs[i].From, l.Pairs[i].To}] = l.alone(i).Average()
		}
		return func(from, to uint32) time.Duration { return table[[2]uint32{from, to}] }
	}
	if d.trips == nil {
		all := l.Average()
		return func(uint32, uint32) time.Duration { return all }
	}
	places, trip := d.trips(l)
	table := make([]time.Duration, places*places)
	for i := range table {
		table[i] = l.half(trip(i/places, i%places)).Average()
	}
	return func(from, to uint32) time.Duration {
		return table[int(from-1)%places*places+int(to-1)%places]
	}
}

// cutNormal is the mean of a normal variable, where what is below least or above most
// counts as that.
func cutNormal(mean, sigma, least, most float64) float64 {
	if sigma == 0 {
		return min(max(mean, least), most)
	}
	a, b := (least-mean)/sigma, (most-mean)/sigma
	inside := below(b) - below(a)
	return float64(least*below(a)) + float64(most*below(-b)) + float64(mean*inside) -
		float64(sigma*(density(b)-density(a)))
}

// cutLognormal is the mean of a lognormal variable, where what is above most counts as
// that.
func cutLognormal(median, sigma, most float64) float64 {
	if sigma == 0 {
		return min(median, most)
	}
	b := math.Log(most/median) / sigma
	return float64(median*math.Exp(sigma*sigma/2)*below(b-sigma)) + float64(most*below(-b))
}

// below is the share of a standard normal variable that does not exceed z.
func below(z float64) float64 { return float64(math.Erfc(-z/math.Sqrt2) / 2) }

// density is that of a standard normal variable.
func density(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
