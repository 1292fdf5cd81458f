package stats

import (
	"cmp"
	"encoding/json"
	"math"
	"math/big"
	"slices"
)

// A Sum is an exact sum of finite numbers: its value depends on neither their order nor how they were
// divided. Its parts do not overlap (J. R. Shewchuk, Adaptive Precision Floating-Point Arithmetic,
// Discrete & Computational Geometry 18, 1997), and it is encoded as them.
type Sum []float64

// Add adds numbers.
func (s *Sum) Add(values ...float64) {
	for _, x := range values {
		kept := (*s)[:0]
		for _, y := range *s {
			if math.Abs(x) < math.Abs(y) {
				x, y = y, x
			}
			high := x + y
			if low := y - (high - x); low != 0 {
				kept = append(kept, low)
			}
			x = high
		}
		*s = append(kept, x)
	}
}

// exact is the value; no float64 needs more bits.
func (s Sum) exact() *big.Float {
	all := new(big.Float).SetPrec(2200)
	for _, x := range s {
		all.Add(all, big.NewFloat(x))
	}
	return all
}

// Value is the nearest float64.
func (s Sum) Value() float64 {
	v, _ := s.exact().Float64()
	return v
}

// binBits are those of a significand by which bins differ: values of one bin differ by less than a part
// in 2^binBits.
const binBits = 10

// A Sketch is a sample of which only counts are kept, in bins whose width is a part in 1024 of their
// values: a histogram as of HdrHistogram, or of DDSketch with a linearly interpolated mapping (Masson, Rim
// and Lee, DDSketch, PVLDB 12, 2019). Bins never change, so that a sketch depends on neither the order of
// the values nor how they were divided. Least and most value, mean and deviation are exact. So is a
// quantile that falls on a bin whose values are equal, as whole numbers up to 2047 are; any other is off
// by less than 0.1 %. The zero value has no members.
type Sketch struct {
	n            int
	sum, squares Sum
	bins         []bin // ascending
}

// A bin is values with equal first bits.
type bin struct {
	key       int32
	n         int
	low, high float64
}

func binOf(v float64) int32 {
	key := int32(math.Float64bits(math.Abs(v)) >> (52 - binBits))
	if v < 0 {
		return -1 - key
	}
	return key
}

// Add takes in a finite value.
func (s *Sketch) Add(v float64) {
	s.add(v, 1)
	s.sum.Add(v)
	high := float64(v * v)
	s.squares.Add(high, math.FMA(v, v, -high))
}

// add counts a value n times, and does not sum it.
func (s *Sketch) add(v float64, n int) {
	s.put(bin{binOf(v), n, v, v})
	s.n += n
}

func (s *Sketch) put(b bin) {
	at, found := slices.BinarySearchFunc(s.bins, b.key, func(b bin, key int32) int {
		return cmp.Compare(b.key, key)
	})
	if !found {
		s.bins = slices.Insert(s.bins, at, b)
		return
	}
	to := &s.bins[at]
	to.n, to.low, to.high = to.n+b.n, min(to.low, b.low), max(to.high, b.high)
}

// Merge takes in the values of another sketch.
func (s *Sketch) Merge(o *Sketch) {
	for _, b := range o.bins {
		s.put(b)
	}
	s.n += o.n
	s.sum.Add(o.sum...)
	s.squares.Add(o.squares...)
}

// N is how many values it has.
func (s *Sketch) N() int { return s.n }

// Equal counts the values that equal v, one of those that a bin alone can have.
func (s *Sketch) Equal(v float64) int {
	for _, b := range s.bins {
		if b.low == v && b.high == v {
			return b.n
		}
	}
	return 0
}

// Ends are the least and the most value; NaN of none.
func (s *Sketch) Ends() (least, most float64) {
	if s.n == 0 {
		return math.NaN(), math.NaN()
	}
	return s.bins[0].low, s.bins[len(s.bins)-1].high
}

// ordered is the value at an index of the sorted sample, about; +Inf behind the last.
func (s *Sketch) ordered(i int) float64 {
	for _, b := range s.bins {
		if i >= b.n {
			i -= b.n
			continue
		}
		if b.low == b.high || i == 0 {
			return b.low
		}
		return b.low + float64((b.high-b.low)*float64(i)/float64(b.n-1))
	}
	return math.Inf(1)
}

// Median is that of the values, of as many more that are n times v, and of censored ones, which are larger
// than all; +Inf where it falls among those.
func (s *Sketch) Median(censored int, v float64, n int) float64 {
	all := Sketch{n: s.n, bins: slices.Clone(s.bins)}
	if math.IsInf(v, 1) {
		censored += n
	} else if n > 0 {
		all.add(v, n)
	}
	return quantileOf(all.n+censored, all.ordered, 0.5)
}

// Describe condenses the sketch as the function of that name does a sample.
func (s *Sketch) Describe(censored int) Summary {
	nan := math.NaN()
	d := Summary{N: s.n, Censored: censored, Mean: nan, SD: nan, Min: nan, Max: nan, Method: FixedN}
	least, most := s.Ends()
	d.Min = least
	if s.n > 0 && censored == 0 {
		d.Max = most
		d.Mean, d.SD = s.moments()
	}
	d.ranks(s.n+censored, s.ordered)
	return d
}

// moments are the mean and the standard deviation, rounded once.
func (s *Sketch) moments() (mean, deviation float64) {
	n := big.NewFloat(float64(s.n))
	sum := s.sum.exact()
	middle := new(big.Float).Quo(sum, n)
	mean, _ = middle.Float64()
	if s.n < 2 {
		return mean, math.NaN()
	}
	squares := s.squares.exact()
	squares.Sub(squares, middle.Mul(middle, sum))
	if squares.Sign() <= 0 {
		return mean, 0
	}
	squares.Quo(squares, big.NewFloat(float64(s.n-1)))
	deviation, _ = squares.Sqrt(squares).Float64()
	return mean, deviation
}

// encoded is a Sketch as JSON, bin by bin in columns.
type encoded struct {
	N       int       `json:"n"`
	Sum     Sum       `json:"sum"`
	Squares Sum       `json:"squares"`
	Keys    []int32   `json:"keys"` // each less the one before
	Counts  []int     `json:"counts"`
	Low     []float64 `json:"low"`
	Apart   []float64 `json:"high"` // 0 where it is low
}

// MarshalJSON implements json.Marshaler.
func (s Sketch) MarshalJSON() ([]byte, error) {
	e := encoded{N: s.n, Sum: s.sum, Squares: s.squares}
	last := int32(0)
	for _, b := range s.bins {
		e.Keys, last = append(e.Keys, b.key-last), b.key
		e.Counts, e.Low = append(e.Counts, b.n), append(e.Low, b.low)
		if b.high == b.low {
			b.high = 0
		}
		e.Apart = append(e.Apart, b.high)
	}
	return json.Marshal(e)
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Sketch) UnmarshalJSON(data []byte) error {
	var e encoded
	if err := json.Unmarshal(data, &e); err != nil {
		return err
	}
	*s = Sketch{n: e.N, sum: e.Sum, squares: e.Squares}
	last := int32(0)
	for i := range min(len(e.Keys), len(e.Counts), len(e.Low), len(e.Apart)) {
		last += e.Keys[i]
		b := bin{last, e.Counts[i], e.Low[i], e.Apart[i]}
		if b.high == 0 {
			b.high = b.low
		}
		s.bins = append(s.bins, b)
	}
	return nil
}
