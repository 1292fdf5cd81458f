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
	if l.Distribution == regions {
		return l.overPlaces()
	}
	return time.Duration(math.Round(l.average()))
}

// Means returns the average latency of each link, from one process to another.
func (n *Network) Means() func(from, to uint32) time.Duration {
	l := &n.Latency
	if l.Distribution != regions {
		all := l.Average()
		return func(uint32, uint32) time.Duration { return all }
	}
	places := len(l.Places)
	table := make([]time.Duration, places*places)
	for i := range table {
		table[i] = l.between(i/places, i%places).Average()
	}
	return func(from, to uint32) time.Duration {
		return table[int(from-1)%places*places+int(to-1)%places]
	}
}

// average is in nanoseconds. Products in sums stand in a conversion of their own, so that
// every processor rounds them alike.
func (l *Latency) average() float64 {
	least, most := float64(l.Min), float64(longest)
	if l.Max > 0 {
		most = float64(l.Max)
	}
	switch l.Distribution {
	case "uniform":
		return (least + float64(l.Max)) / 2
	case "normal":
		return cutNormal(float64(l.Mean), float64(l.Spread), least, most)
	case "lognormal":
		return cutLognormal(float64(l.Median), l.Sigma, most)
	case "exponential":
		rest := float64(l.Mean) - least // what is not fixed
		if rest == 0 {
			return least
		}
		return least - float64(rest*math.Expm1(-(most-least)/rest))
	case "pareto":
		logs := math.Log(most / least)
		if l.Alpha == 1 {
			return least + float64(least*logs)
		}
		return least - float64(least*math.Expm1((1-l.Alpha)*logs))/(l.Alpha-1)
	case "quantiles":
		sum := -float64(l.Values[0]+l.Values[len(l.Values)-1]) / 2
		for _, v := range l.Values {
			sum += float64(v)
		}
		return sum / float64(len(l.Values)-1)
	}
	return float64(l.Mean)
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
