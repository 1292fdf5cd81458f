package clock

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// A truth is another clock, as only a test knows it.
type truth struct {
	ahead time.Duration
	ppm   float64
	step  time.Duration // by which it is set
	at    time.Duration // when
}

func (c truth) theirs(ours time.Duration) time.Duration {
	t := ours + c.ahead + time.Duration(math.Round(float64(ours)*c.ppm/1e6))
	if c.step != 0 && ours >= c.at {
		t += c.step
	}
	return t
}

// ask asks the clock in bursts of 20 each 100 ms, over a network whose ways there and back
// are not alike.
func (c truth) ask(r *rand.Rand, from, to time.Duration) (list []Sample) {
	for burst := from; burst < to; burst += 100 * time.Millisecond {
		at := burst
		for range 20 {
			var s Sample
			s.Asked = at
			at += 30*time.Microsecond + time.Duration(r.ExpFloat64()*2e5)
			s.Heard = c.theirs(at)
			at += time.Microsecond
			s.Answered = c.theirs(at)
			at += 8*time.Microsecond + time.Duration(r.ExpFloat64()*5e4)
			s.Got = at
			list = append(list, s)
		}
	}
	return list
}

// TestFitLine: the truth is within the bound, at every instant and in every one of many runs,
// also where the ways there and back differ; and the bound is worth having.
func TestFitLine(t *testing.T) {
	t.Parallel()
	for _, c := range []truth{
		{}, {ahead: 5 * time.Hour}, {ahead: -36 * time.Hour, ppm: 50}, {ahead: time.Minute, ppm: -400},
	} {
		for seed := range uint64(50) {
			r := rand.New(rand.NewPCG(seed, 1))
			const start, end = 1000 * time.Second, 1008 * time.Second
			l, err := FitLine(c.ask(r, start-time.Second, end+time.Second), start, end)
			if err != nil {
				t.Fatal(err)
			}
			for at := start; at <= end; at += 500 * time.Millisecond {
				off, bound := (l.Theirs(at) - c.theirs(at)).Abs(), l.Bound(at)
				if off > bound || bound > 60*time.Microsecond {
					t.Fatalf("%+v, seed %d, at %v: off by %v, bound %v", c, seed, at, off, bound)
				}
				if back := l.Ours(l.Theirs(at)) - at; back.Abs() > time.Nanosecond {
					t.Fatalf("there and back: %v", back)
				}
			}
			rate, bound := l.Rate()
			if off := math.Abs(rate - c.ppm/1e6); off > bound || bound > 20e-6 {
				t.Fatalf("%+v, seed %d: rate %g, bound %g", c, seed, rate, bound)
			}
		}
	}
}

// TestFitLine_SetClock: a clock that was set in between fits no line.
func TestFitLine_SetClock(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{time.Millisecond, -time.Millisecond, time.Hour, 200 * time.Microsecond} {
		c := truth{ahead: time.Hour, ppm: 20, step: step, at: 4 * time.Second}
		samples := c.ask(rand.New(rand.NewPCG(3, 4)), 0, 8*time.Second)
		if l, err := FitLine(samples, 0, 8*time.Second); !errors.Is(err, ErrNoLine) {
			t.Errorf("set by %v: %v, %v", step, &l, err)
		}
	}
}

// TestFitLine_NoWindow: an estimate before anything has run; and none without samples.
func TestFitLine_NoWindow(t *testing.T) {
	t.Parallel()
	c := truth{ahead: time.Hour, ppm: 50}
	samples := c.ask(rand.New(rand.NewPCG(5, 6)), 0, 2*time.Second)
	l, err := FitLine(samples, 2*time.Second, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []time.Duration{2 * time.Second, 12 * time.Second} { // what is to come, too
		if off, bound := (l.Theirs(at) - c.theirs(at)).Abs(), l.Bound(at); off > bound {
			t.Errorf("at %v: off by %v, bound %v", at, off, bound)
		}
	}
	if near, far := l.Bound(2*time.Second), l.Bound(12*time.Second); far < 2*near {
		t.Errorf("bound %v now, %v in 10 s: it must grow", near, far)
	}
	if _, err := FitLine(nil, 0, 0); err == nil {
		t.Error("no samples, and no error")
	}
	var own Line
	if own.Theirs(7) != 7 || own.Ours(7) != 7 || own.Bound(7) != 0 || !own.Own() {
		t.Errorf("our own clock: %v", &own)
	}
}
