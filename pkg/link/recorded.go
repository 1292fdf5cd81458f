package link

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"
)

// MostRecorded bounds a record: it stands whole in the resolved copy of the experiment.
const MostRecorded = 20_000

// MostInPairs bounds the records of all pairs together.
const MostInPairs = 20 * MostRecorded

var recorded = Distribution{
	Name: "recorded",
	Doc: "a record of delays and losses (values, a file, or pairs), a new one every so long, and round " +
		"again after the last; each link begins at a place of its own, and those of pairs at one place",
	Formula: "values[(place + floor(t / every)) mod k], of k values, for a message sent at t; " +
		"place is drawn for each link, or for all pairs",
	Mean:    "that of the values but the losses",
	Example: "every: 10ms, values: [1ms, 2ms]",
	Keys:    []Key{keyEvery, keyValues, keyPairs}, Required: 1,
	check:  (*Latency).checkRecorded,
	series: true,
}

// A Pair is the record of a link in one direction.
type Pair struct {
	From   uint32          `json:"from"`
	To     uint32          `json:"to"`
	Values []time.Duration `json:"values"`
}

func (l *Latency) checkRecorded() error {
	if l.Every < time.Millisecond {
		return fmt.Errorf("latency: recorded: every %v, want 1ms or more", l.Every)
	}
	if len(l.Pairs) == 0 {
		return checkValues("", l.Values)
	}
	if len(l.Values) > 0 {
		return fmt.Errorf("latency: recorded: values and pairs: want one of them")
	}
	seen, all := map[[2]uint32]bool{}, 0
	for i := range l.Pairs {
		p := &l.Pairs[i]
		link := [2]uint32{p.From, p.To}
		if p.From == 0 || p.To == 0 || p.From == p.To || seen[link] {
			return fmt.Errorf("latency: recorded: pair [%d, %d]: want two processes, each pair once",
				p.From, p.To)
		}
		seen[link] = true
		if all += len(p.Values); all > MostInPairs {
			return fmt.Errorf("latency: recorded: more than %d values in all pairs: want fewer", MostInPairs)
		}
		if err := checkValues(fmt.Sprintf(" pair [%d, %d]:", p.From, p.To), p.Values); err != nil {
			return err
		}
	}
	return nil
}

func checkValues(of string, values []time.Duration) error {
	if len(values) == 0 || len(values) > MostRecorded {
		return fmt.Errorf("latency: recorded:%s %d values, want 1 to %d of them, or a file", of, len(values),
			MostRecorded)
	}
	if slices.Max(values) == Lost {
		return fmt.Errorf("latency: recorded:%s all of it is %s, want a delay", of, LostWord)
	}
	return nil
}

// Covers says which link between the processes 1 to n the pairs of l leave out; nil if none.
func (l *Latency) Covers(n int) error {
	if len(l.Pairs) == 0 {
		return nil
	}
	has := map[[2]uint32]bool{}
	for i := range l.Pairs {
		has[[2]uint32{l.Pairs[i].From, l.Pairs[i].To}] = true
	}
	for from := uint32(1); from <= uint32(n); from++ {
		for to := uint32(1); to <= uint32(n); to++ {
			if from != to && !has[[2]uint32{from, to}] {
				return fmt.Errorf("no record from %d to %d, and %d processes need one: add a file "+
					"%d-%d.txt, or run fewer nodes", from, to, n, from, to)
			}
		}
	}
	return nil
}

// pair is the record of a link; of one without a record, any.
func (l *Latency) pair(from, to uint32) *Latency {
	i := slices.IndexFunc(l.Pairs, func(p Pair) bool { return p.From == from && p.To == to })
	return l.alone(max(i, 0))
}

// alone is the i-th pair as a record of one link.
func (l *Latency) alone(i int) *Latency {
	return &Latency{Distribution: recorded.Name, Every: l.Every, Values: l.Pairs[i].Values}
}

// place is where in the record a link begins: those of pairs, which were recorded together, all
// at one place of the shortest.
func (l *Latency) place(seed uint64, from, to uint32) uint64 {
	places := len(l.Values)
	if len(l.Pairs) > 0 {
		from, to, places = 0, 0, MostRecorded
		for i := range l.Pairs {
			places = min(places, len(l.Pairs[i].Values))
		}
	}
	u := Mix(Mix(seed^0x7265636f72646564) ^ uint64(from)<<32 ^ uint64(to))
	k, _ := bits.Mul64(u, uint64(places))
	return k
}

// recorded is the delay of the link at an instant, as a constant, and whether what is sent then is
// lost.
func (c *condition) recorded(l *Latency, at time.Duration) (*Latency, *Distribution, bool) {
	k := (c.place + uint64(at/l.Every)) % uint64(len(l.Values))
	if c.now == nil {
		c.now = new(Latency)
	}
	*c.now = Constant(max(l.Values[k], 0))
	return c.now, &constant, l.Values[k] == Lost
}

// overRecord is the mean of the delays of the record, or of all pairs.
func (l *Latency) overRecord() time.Duration {
	sum, n := 0.0, 0
	for _, values := range l.records() {
		for _, d := range values {
			if d != Lost {
				sum += float64(d)
				n++
			}
		}
	}
	return time.Duration(math.Round(sum / float64(n)))
}

// records are that of all links, or those of the pairs.
func (l *Latency) records() (out [][]time.Duration) {
	if len(l.Pairs) == 0 {
		return [][]time.Duration{l.Values}
	}
	for i := range l.Pairs {
		out = append(out, l.Pairs[i].Values)
	}
	return out
}

// lossRate is the share of the time in which a link loses what is sent, mean over the pairs; 0 of
// what is no record.
func (l *Latency) lossRate() float64 {
	d := l.kind()
	if d == nil || !d.series {
		return 0
	}
	sum, records := 0.0, l.records()
	for _, values := range records {
		lost := 0
		for _, d := range values {
			if d == Lost {
				lost++
			}
		}
		sum += float64(lost) / float64(len(values))
	}
	return sum / float64(len(records))
}
