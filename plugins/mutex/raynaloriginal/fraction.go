package raynaloriginal

import (
	"bytes"
	"math"
	"math/big"
)

// A Fraction is a positive rational number of any size: numerator and
// denominator in big-endian bytes, as math/big writes them. A value is never
// modified, so copies may share the bytes.
type Fraction struct{ Num, Den []byte }

func ratio(num, den int64) Fraction {
	return Fraction{big.NewInt(num).Bytes(), big.NewInt(den).Bytes()}
}

// times is f·g. It does not reduce: X is in lowest terms by itself, since the A
// have no common factor, and T does not outlive its poll.
func (f Fraction) times(g Fraction) Fraction {
	return Fraction{product(f.Num, g.Num), product(f.Den, g.Den)}
}

func (f Fraction) equals(g Fraction) bool {
	return bytes.Equal(product(f.Num, g.Den), product(g.Num, f.Den))
}

func product(a, b []byte) []byte {
	x, y := new(big.Int).SetBytes(a), new(big.Int).SetBytes(b)
	return x.Mul(x, y).Bytes()
}

// power is f to the s-th.
func power(f Fraction, s int64) Fraction {
	raise := func(b []byte) []byte {
		return new(big.Int).Exp(new(big.Int).SetBytes(b), big.NewInt(s), nil).Bytes()
	}
	return Fraction{raise(f.Num), raise(f.Den)}
}

// exponent is s, if b is a to the s-th: the only whole number with
// bits-1 <= s·log2(a) < bits.
func exponent(b []byte, a int64) int64 {
	bits := new(big.Int).SetBytes(b).BitLen()
	return int64(math.Ceil(float64(bits-1) / math.Log2(float64(a))))
}
