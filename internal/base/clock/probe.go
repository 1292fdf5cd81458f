package clock

import (
	"math/bits"
	"time"
)

// tick is how often a Probe looks whether the machine lets it run.
const tick = time.Millisecond

// A Probe measures how late this machine runs what is due: every millisecond it
// wants to run, and notes by how much it was late. A tick that was missed
// altogether counts with the lateness that it met, so that one stall of 100 ms is
// a hundred late ticks and not one.
type Probe struct {
	stop chan struct{}
	done chan struct{}
	late lateness
}

// NewProbe starts a probe. Stop it.
func NewProbe() (*Probe, error) {
	alarm, err := NewAlarm()
	if err != nil {
		return nil, err
	}
	p := &Probe{stop: make(chan struct{}), done: make(chan struct{})}
	go p.run(alarm)
	return p, nil
}

func (p *Probe) run(alarm *Alarm) {
	defer close(p.done)
	defer alarm.Close()
	due, over := Monotonic()+tick, false
	for !over {
		alarm.Set(due)
		select {
		case <-p.stop:
			over = true // what was due by now counts: the machine may not have let it run at all
		case <-alarm.C:
		}
		for now := Monotonic(); due <= now; due += tick {
			p.late.add(now - due)
		}
	}
}

// Stop ends the probe and returns the median, the 99th percentile and the largest
// lateness since it began; the first two are rounded up by at most 1/32. All are
// zero if no tick was due.
func (p *Probe) Stop() (p50, p99, worst time.Duration) {
	close(p.stop)
	<-p.done
	return p.late.quantile(0.50), p.late.quantile(0.99), p.late.max
}

// lateness counts durations in buckets that are 1/32 wide of what they hold, so
// that a probe of any length takes the same memory.
type lateness struct {
	buckets [60 * 32]uint64
	n       uint64
	max     time.Duration
}

func (l *lateness) add(d time.Duration) {
	l.buckets[bucket(uint64(d))]++
	l.n++
	l.max = max(l.max, d)
}

// bucket is v itself below 64; above, the position of the highest bit and the
// five bits after it.
func bucket(v uint64) int {
	shift := max(0, bits.Len64(v)-6)
	return shift*32 + int(v>>shift)
}

// quantile is the upper edge of the bucket that holds the q-quantile.
func (l *lateness) quantile(q float64) time.Duration {
	rank := uint64(q * float64(l.n))
	for i, seen := 0, uint64(0); i < len(l.buckets); i++ {
		if seen += l.buckets[i]; seen > rank {
			shift := max(0, i/32-1)
			return min(l.max, time.Duration(uint64(i-shift*32+1)<<shift-1))
		}
	}
	return l.max
}
