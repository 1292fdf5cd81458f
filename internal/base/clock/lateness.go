package clock

import (
	"math/bits"
	"time"
)

// Lateness counts durations from 0 on in buckets that are 1/32 wide of what they hold, so
// that any number of them takes the same memory, 15 KiB. The zero value holds none.
type Lateness struct {
	buckets [60 * 32]uint64
	n       uint64
	max     time.Duration
}

// Add counts d, which must not be negative.
func (l *Lateness) Add(d time.Duration) {
	l.buckets[bucket(uint64(d))]++
	l.n++
	l.max = max(l.max, d)
}

// Count is how many durations were added.
func (l *Lateness) Count() uint64 { return l.n }

// Max is the longest of them; 0 of none.
func (l *Lateness) Max() time.Duration { return l.max }

// Merge adds all that other counts.
func (l *Lateness) Merge(other *Lateness) {
	for i, n := range other.buckets {
		l.buckets[i] += n
	}
	l.n += other.n
	l.max = max(l.max, other.max)
}

// Quantile is the duration that a share q of them does not exceed, from 0 to 1, rounded up by at
// most 1/32; 0 of none.
func (l *Lateness) Quantile(q float64) time.Duration {
	rank := uint64(q * float64(l.n))
	for i, seen := 0, uint64(0); i < len(l.buckets); i++ {
		if seen += l.buckets[i]; seen > rank {
			shift := max(0, i/32-1)
			return min(l.max, time.Duration(uint64(i-shift*32+1)<<shift-1))
		}
	}
	return l.max
}

// bucket is v itself below 64; above, the position of the highest bit and the
// five bits after it.
func bucket(v uint64) int {
	shift := max(0, bits.Len64(v)-6)
	return shift*32 + int(v>>shift)
}
