package raynaloriginal

import (
	"bytes"
	"math/big"
)

// A fraction is a positive rational number of any size: numerator and
// denominator in big-endian bytes, as math/big writes them. A value is never
// modified, so copies may share the bytes.
type fraction struct{ num, den []byte }

func ratio(num, den int64) fraction {
	return fraction{big.NewInt(num).Bytes(), big.NewInt(den).Bytes()}
}

// times is f·g. It does not reduce: X is in lowest terms by itself, since the A
// have no common factor, and T does not outlive its poll.
func (f fraction) times(g fraction) fraction {
	return fraction{product(f.num, g.num), product(f.den, g.den)}
}

func (f fraction) equals(g fraction) bool {
	return bytes.Equal(product(f.num, g.den), product(g.num, f.den))
}

func product(a, b []byte) []byte {
	x, y := new(big.Int).SetBytes(a), new(big.Int).SetBytes(b)
	return x.Mul(x, y).Bytes()
}

// power is f to the s-th.
func (f fraction) power(s uint64) fraction {
	raise := func(b []byte) []byte {
		return new(big.Int).Exp(new(big.Int).SetBytes(b), new(big.Int).SetUint64(s), nil).Bytes()
	}
	return fraction{raise(f.num), raise(f.den)}
}
