package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Number is v with about four significant digits, "n/a" if there is none, and with
// an exponent only where no metric of a sane run is.
func Number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "n/a"
	}
	if math.Abs(v) >= 1e15 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	decimals := 3
	for limit := 10.0; decimals > 0 && math.Abs(v) >= limit; limit *= 10 {
		decimals--
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		return "0"
	}
	return text
}

// Percent is a change as a percentage with its sign.
func Percent(fraction float64) string {
	switch {
	case math.IsNaN(fraction):
		return "n/a"
	case math.IsInf(fraction, 0):
		return "from 0"
	}
	if math.Abs(fraction) >= 1e13 {
		return fmt.Sprintf("%+.3g%%", fraction*100)
	}
	return fmt.Sprintf("%+.2f%%", 100*fraction)
}

// P is a probability as statisticians write it.
func P(p float64) string {
	switch {
	case math.IsNaN(p):
		return "n/a"
	case p < 0.001:
		return "<0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}
