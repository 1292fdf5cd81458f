package host

import (
	"testing"
	"time"
)

// TestMachine_Lead: a bad moment does not make all trials wait, and a node that was late counts for
// a while.
func TestMachine_Lead(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, c := range []struct {
		took  []time.Duration
		want  time.Duration
		known bool
	}{
		{[]time.Duration{ms}, 4 * ms, true},
		{[]time.Duration{20 * ms}, 60 * ms, false},
		{[]time.Duration{20 * ms, ms}, 4 * ms, true},
		{[]time.Duration{20 * ms, 30 * ms}, 60 * ms, false},
		{[]time.Duration{20 * ms, 90 * ms, 30 * ms}, 90 * ms, true},
		{[]time.Duration{time.Second}, 500 * ms, false},
	} {
		m := &Machine{leads: map[int]lead{}}
		for _, d := range c.took {
			m.took(5, d)
		}
		if l := m.leads[5]; l.Duration != c.want || l.known != c.known {
			t.Errorf("after %v the lead is %v, %v, want %v, %v", c.took, l.Duration, l.known, c.want, c.known)
		}
		m.missed(5, ms)
		if l := m.leads[5]; l.Duration != min(2*c.want+ms, 500*ms) || !l.known {
			t.Errorf("after %v, and a miss, the lead is %v, %v", c.took, l.Duration, l.known)
		}
		for range 1000 {
			m.kept(5)
		}
		if l := m.leads[5].Duration; l < c.want || l > c.want+time.Microsecond {
			t.Errorf("after %v, a miss, and a thousand trials in time, the lead is %v", c.took, l)
		}
		if m.leads[6].known {
			t.Error("of six nodes it is known")
		}
	}
}
