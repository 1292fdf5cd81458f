package clock

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSteering: what adjtimex says of a clock, by the units of its man page.
func TestSteering(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		read unix.Timex
		left int64
		want Steering
	}{
		"left alone":           {unix.Timex{Tick: 10_000}, 0, Steering{Known: true}},
		"by 50 ppm":            {unix.Timex{Tick: 10_000, Freq: 50 << 16}, 0, Steering{Known: true, Rate: 50e-6}},
		"a tick longer":        {unix.Timex{Tick: 10_001, Freq: -50 << 16}, 0, Steering{Known: true, Rate: 50e-6}},
		"400 µs to go":         {unix.Timex{Tick: 10_000, Offset: -400}, 0, Steering{Known: true, Wander: 100e-6}},
		"in ns":                {unix.Timex{Tick: 10_000, Offset: 4000, Status: unix.STA_NANO}, 0, Steering{Known: true, Wander: 1e-6}},
		"adjtime is under way": {unix.Timex{Tick: 10_000}, -1, Steering{}},
		"pulses":               {unix.Timex{Tick: 10_000, Status: unix.STA_PPSFREQ}, 0, Steering{}},
	} {
		got := steering(&c.read, c.left)
		near := func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 }
		if got.Known != c.want.Known || !near(got.Rate, c.want.Rate) || !near(got.Wander, c.want.Wander) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	d := Distortion{Bends: []Bend{{5, 100e-6}, {9, -300e-6}}}
	for now, want := range map[time.Duration]float64{4: 0, 5: 100e-6, 9: -200e-6} {
		if got := d.steered(now); got-want > 1e-12 || want-got > 1e-12 {
			t.Errorf("at %d: %g, want %g", now, got, want)
		}
	}
}

// TestBetween: clocks that nobody adjusted differ little; in a glimpse, what was adjusted is seen.
func TestBetween(t *testing.T) {
	t.Parallel()
	a := Sample{Ours: Steering{Known: true, Rate: 10e-6}, Theirs: Steering{Known: true, Rate: -20e-6}, Got: 1}
	for name, c := range map[string]struct {
		change func(*Sample)
		want   float64
	}{
		"left alone":        {func(*Sample) {}, crystals + 30e-6},
		"wandering":         {func(b *Sample) { b.Theirs.Wander, b.Ours.Wander = 5e-6, 1e-6 }, crystals + 36e-6},
		"at most":           {func(b *Sample) { b.Theirs.Wander = 1 }, MaxRate},
		"ours adjusted":     {func(b *Sample) { b.Ours.Rate++ }, MaxRate},
		"theirs adjusted":   {func(b *Sample) { b.Theirs.Rate++ }, MaxRate},
		"ours unknown":      {func(b *Sample) { b.Ours.Known = false }, MaxRate},
		"theirs unknown":    {func(b *Sample) { b.Theirs.Known = false }, MaxRate},
		"more than glimpse": {func(b *Sample) { b.Asked += glimpse }, MaxRate},
	} {
		b := a
		b.Asked = 2
		c.change(&b)
		if got := between(&a, &b); got < c.want-1e-12 || got > c.want+1e-12 {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}
