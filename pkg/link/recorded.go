package link

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/param"
)

// MostRecorded bounds a record: two days of pings, one a second.
const MostRecorded = 200_000

// MostInPairs bounds the records of all pairs together.
const MostInPairs = 20 * MostRecorded

func init() {
	Register(Distribution{
		Name: "recorded", Rank: 3,
		Doc: "a record of delays and losses (values, a file, or pairs), a new one every so long, and round " +
			"again after the last; each link begins at a place of its own, and those of pairs at one place",
		Formula: "values[(place + floor(t / every)) mod k], of k values, for a message sent at t; " +
			"place is drawn for each link, or for all pairs; with block anew for each block, in which t " +
			"counts from its beginning",
		Mean:    "that of the values but the losses",
		Example: "every: 10ms, values: [1ms, 2ms]",
		Law:     &Recorded{},
	})
}

// Recorded has Values, one after the other, a new one after Every, and round again; or Pairs, of
// which each link goes through its own. With Block it is resampled: time is divided into blocks of that
// length, and each block is a stretch of the record that begins at a place of its own, the same for all
// Pairs (H. R. Künsch, The jackknife and the bootstrap for general stationary observations, Annals of
// Statistics 17(3), 1989). So bursts stay together up to that length.
type Recorded struct {
	Every  time.Duration
	Block  time.Duration // 0: the record is not resampled
	Values Record
	Pairs  []Pair // in place of Values

	places int           // at which a block can begin; 0: at each of Values
	most   time.Duration // see Summarize; 0: not known
	mean   float64
}

// Summarize remembers what is asked for in every trial. The record has been checked, and must not change
// afterwards.
func (l *Recorded) Summarize() {
	l.mean = l.average()
	l.most, _ = l.bound()
}

// A Record is delays, and Lost where what is sent is lost.
type Record []time.Duration

// Literal is the record as a file says it.
func (r Record) Literal() string {
	words := make([]string, len(r))
	for i, d := range r {
		if words[i] = d.String(); d == Lost {
			words[i] = LostWord
		}
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// Params declares the parameters.
func (l *Recorded) Params() []param.Param {
	return []param.Param{{Name: "every", Example: "100ms", Doc: "the time between two delays of the " +
		"record", At: &l.Every, Required: true},
		{Name: "block", Example: "1m", Doc: "the time after which a link continues at another place of " +
			"the record, drawn anew; by default it never does", At: &l.Block},
		{Name: "values", Example: "[10ms, lost, 11ms]", Doc: "the record for all " +
			"links", At: &l.Values}, {Name: "pairs", Example: "[{link: [1, 2], values: [10ms, 12ms]}, " +
			"{link: [2, 1], values: [10ms, 12ms]}]", Doc: "a record for each link", At: &l.Pairs}}
}

// A Pair is the record of a link in one direction.
type Pair struct {
	From   uint32 `json:"from"`
	To     uint32 `json:"to"`
	Values Record `json:"values"`
}

// Literal is the pair as a file says it.
func (p Pair) Literal() string {
	return fmt.Sprintf("{link: [%d, %d], values: %s}", p.From, p.To, p.Values.Literal())
}

func (l *Recorded) check() error {
	if l.most > 0 { // it has been checked
		return nil
	}
	if l.Every < time.Millisecond {
		return fmt.Errorf("latency: recorded: every %v, expected 1ms or more", l.Every)
	}
	if l.Block != 0 && (l.Block < l.Every || l.Block > longest) {
		return fmt.Errorf("latency: recorded: block %v, expected a time from every (%v) to %v, or none",
			l.Block, l.Every, longest)
	}
	if len(l.Pairs) == 0 {
		return checkValues("", l.Values)
	}
	if len(l.Values) > 0 {
		return fmt.Errorf("latency: recorded: values and pairs: leave one of them out")
	}
	seen, all := map[[2]uint32]bool{}, 0
	for i := range l.Pairs {
		p := &l.Pairs[i]
		link := [2]uint32{p.From, p.To}
		if p.From == 0 || p.To == 0 || p.From == p.To || seen[link] {
			return fmt.Errorf("latency: recorded: pair [%d, %d]: expected two processes, each pair once",
				p.From, p.To)
		}
		seen[link] = true
		if all += len(p.Values); all > MostInPairs {
			return fmt.Errorf("latency: recorded: more than %d values in all pairs: expected "+
				"fewer", MostInPairs)
		}
		if err := checkValues(fmt.Sprintf(" pair [%d, %d]:", p.From, p.To), p.Values); err != nil {
			return err
		}
	}
	return nil
}

func checkValues(of string, values []time.Duration) error {
	if err := inBounds(slices.DeleteFunc(slices.Clone(values), func(d time.Duration) bool {
		return d == Lost
	})); err != nil {
		return err
	}
	if len(values) == 0 || len(values) > MostRecorded {
		return fmt.Errorf("latency: recorded:%s %d values, expected 1 to %d of them, or a "+
			"file", of, len(values),
			MostRecorded)
	}
	if slices.Max(values) == Lost {
		return fmt.Errorf("latency: recorded:%s all of it is %s, expected a delay", of, LostWord)
	}
	return nil
}

// Covers says which link between the processes 1 to n the pairs of l leave out; nil if none.
func (l *Latency) Covers(n int) error {
	r, _ := l.Law.(*Recorded)
	if r == nil || len(r.Pairs) == 0 {
		return nil
	}
	has := map[[2]uint32]bool{}
	for _, p := range r.Pairs {
		has[[2]uint32{p.From, p.To}] = true
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
func (l *Recorded) pair(from, to uint32) *Recorded {
	i := slices.IndexFunc(l.Pairs, func(p Pair) bool { return p.From == from && p.To == to })
	return l.alone(max(i, 0))
}

// alone is the i-th pair as a record of one link.
func (l *Recorded) alone(i int) *Recorded {
	return &Recorded{Every: l.Every, Block: l.Block, Values: l.Pairs[i].Values, places: l.shortest()}
}

// shortest is the length of the shortest record.
func (l *Recorded) shortest() int {
	places := MostRecorded
	for _, values := range l.records() {
		places = min(places, len(values))
	}
	return places
}

// place is where in the record a link begins: those of pairs, which were recorded together, all
// at one place of the shortest.
func (l *Recorded) place(seed uint64, from, to uint32) uint64 {
	return among(l.home(seed, from, to), l.shortest())
}

// home is what a link draws its places by. Those of pairs have one.
func (l *Recorded) home(seed uint64, from, to uint32) uint64 {
	if len(l.Pairs) > 0 {
		from, to = 0, 0
	}
	return Mix(Mix(seed^0x7265636f72646564) ^ uint64(from)<<32 ^ uint64(to))
}

// among is one of n places.
func among(u uint64, n int) uint64 {
	k, _ := bits.Mul64(u, uint64(n))
	return k
}

// A turn is what blocks draw by, from one of them on.
type turn struct{ block, home uint64 }

// enter makes c the condition of a link that goes through a record.
func (c *condition) enter(l *Recorded, seed uint64, from, to uint32) {
	c.place = l.place(seed, from, to)
	if c.block = l.Block; l.Block > 0 {
		c.turns = []turn{{0, l.home(seed, from, to)}}
	}
}

// redraw has the blocks after that of an instant draw by seed as well.
func (c *condition) redraw(seed uint64, at time.Duration) {
	if c != nil && c.block > 0 {
		last := c.turns[len(c.turns)-1].home
		c.turns = append(c.turns, turn{uint64(at/c.block) + 1, Mix(last ^ seed)})
	}
}

// spot is the place in a record that is resampled at an instant.
func (c *condition) spot(l *Recorded, at time.Duration) uint64 {
	block, home := uint64(at/l.Block), c.turns[0].home
	for _, t := range c.turns[1:] {
		if t.block <= block {
			home = t.home
		}
	}
	return among(Mix(home+block*golden), cmp.Or(l.places, len(l.Values))) + uint64(at%l.Block/l.Every)
}

// recorded is the delay of the link at an instant, as a constant, and whether what is sent then is
// lost.
func (c *condition) recorded(l *Recorded, at time.Duration) (now Law, lost bool) {
	k := c.place + uint64(at/l.Every)
	if l.Block > 0 {
		k = c.spot(l, at)
	}
	k %= uint64(len(l.Values))
	c.now.Mean = max(l.Values[k], 0)
	return &c.now, l.Values[k] == Lost
}

func (l *Recorded) delay(uint64) time.Duration { panic(ofLinks) }

func (l *Recorded) bound() (d time.Duration, bounded bool) {
	if l.most > 0 {
		return l.most, true
	}
	for _, values := range l.records() {
		d = max(d, slices.Max(values))
	}
	return d, true
}

// average is the mean of the delays of the record, or of all pairs.
func (l *Recorded) average() float64 {
	if l.mean > 0 {
		return l.mean
	}
	sum, n := 0.0, 0
	for _, values := range l.records() {
		for _, d := range values {
			if d != Lost {
				sum += float64(d)
				n++
			}
		}
	}
	return sum / float64(n)
}

// records are that of all links, or those of the pairs.
func (l *Recorded) records() (out []Record) {
	if len(l.Pairs) == 0 {
		return []Record{l.Values}
	}
	for i := range l.Pairs {
		out = append(out, l.Pairs[i].Values)
	}
	return out
}

// lossRate is the share of the time in which a link loses what is sent, mean over the pairs; 0 of
// what is no record.
func (l *Latency) lossRate() float64 {
	r, is := l.Law.(*Recorded)
	if !is {
		return 0
	}
	sum, records := 0.0, r.records()
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
