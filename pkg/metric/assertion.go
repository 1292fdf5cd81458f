package metric

import (
	"math"
	"strconv"
	"strings"
)

// An Amount is what an assertion holds a figure, or a change of it, against: a number in
// the metric's unit, or a part of something.
type Amount struct {
	Value   float64 // finite
	Percent bool    // Value is a part: 0.1 for 10 %
}

// ReadAmount reads an amount, as "12.5" or "10%"; ok is false if it is none.
func ReadAmount(text string) (a Amount, ok bool) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimRight(number, " "), 64)
	if percent {
		v /= 100
	}
	return Amount{v, percent}, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// Of is the amount in the metric's unit, where base is what a part is a part of.
func (a Amount) Of(base float64) float64 {
	if a.Percent {
		return a.Value * math.Abs(base)
	}
	return a.Value
}

// ReadField reads a value of a design, as "nodes=5"; ok is false if the text is none.
func ReadField(text string) (f Field, ok bool) {
	f.Name, f.Value, ok = strings.Cut(text, "=")
	return f, ok && f.Name != ""
}
