package clock

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A truth is another clock, as only a test knows it.
type truth struct {
	ahead time.Duration
	ppm   float64
	bends []bend        // when its rate changes
	step  time.Duration // by which it is set
	at    time.Duration // when
	tells bool          // its system says how it adjusts the clock: ppm is what it does by itself
}

// A bend is the instant from which a clock gains so many ppm.
type bend struct {
	at  time.Duration
	ppm float64
}

func (c truth) theirs(ours time.Duration) time.Duration {
	ahead, ppm, since := 0.0, c.ppm, time.Duration(0)
	for _, b := range c.bends {
		if b.at >= ours {
			break
		}
		ahead += float64(b.at-since) * ppm / 1e6
		ppm, since = b.ppm, b.at
	}
	ahead += float64(ours-since) * ppm / 1e6
	t := ours + c.ahead + time.Duration(math.Round(ahead))
	if c.step != 0 && ours >= c.at {
		t += c.step
	}
	return t
}

// steered is what the system would say.
func (c truth) steered(at time.Duration) Steering {
	s := Steering{Known: c.tells}
	for _, b := range c.bends {
		if b.at < at {
			s.Rate = (b.ppm - c.ppm) / 1e6
		}
	}
	return s
}

// A way is the network to the other clock: the least that a question and an answer take, and what they
// take beyond that, in the mean.
type way struct{ there, back, more time.Duration }

var lan = way{8 * time.Microsecond, 4 * time.Microsecond, time.Microsecond}

// ask asks the clock in bursts of four, of which the fastest answer counts, with pauses in between.
func (c truth) ask(r *rand.Rand, w way, from, to, pause time.Duration) (list []Sample) {
	more := func() time.Duration { return time.Duration(r.ExpFloat64() * float64(w.more)) }
	for at := from; at < to; at += pause {
		var burst []Sample
		for range 4 {
			var s Sample
			s.Asked = at
			at += w.there + more()
			s.Ours, s.Theirs = Steering{Known: c.tells}, c.steered(at)
			s.Heard = c.theirs(at)
			at += time.Microsecond
			s.Answered = c.theirs(at)
			at += w.back + more()
			s.Got = at
			burst = append(burst, s)
		}
		list = append(list, slices.MinFunc(burst, func(a, b Sample) int { return int(a.Got - a.Asked - b.Got + b.Asked) }))
	}
	return list
}

// holds checks a course against the truth at many instants, and returns the largest bound.
func (c truth) holds(t *testing.T, l *Course, from, to, every time.Duration) (worst time.Duration) {
	t.Helper()
	check := func(at time.Duration) {
		off, bound := (l.Theirs(at) - c.theirs(at)).Abs(), l.Bound(at)
		if off > bound {
			t.Fatalf("%+v, at %v: off by %v, bound %v", c, at, off, bound)
		}
		if back := l.Ours(l.Theirs(at)) - at; back.Abs() > time.Nanosecond {
			t.Fatalf("there and back: %v", back)
		}
		worst = max(worst, bound)
	}
	for at := from; at <= to; at += every {
		check(at)
	}
	for _, r := range l.readings {
		for _, at := range []time.Duration{r.from - 1, r.from, (r.from + r.to) / 2, r.to, r.to + 1} {
			if from <= at && at <= to {
				check(at)
			}
		}
	}
	if c.step != 0 && from <= c.at && c.at <= to {
		check(c.at - 1)
		check(c.at)
	}
	if most := l.Worst(from, to); worst > most {
		t.Fatalf("%+v: a bound of %v, and none over %v", c, worst, most)
	}
	return worst
}

// TestFit: the truth is within the bound, at every instant and in every one of many runs,
// also where the ways there and back differ; and the bound of a quiet clock is worth having.
func TestFit(t *testing.T) {
	t.Parallel()
	for _, c := range []truth{
		{}, {ahead: 5 * time.Hour}, {ahead: -36 * time.Hour, ppm: 50}, {ahead: time.Minute, ppm: -400},
		{ahead: time.Minute, ppm: -150, tells: true},
	} {
		for seed := range uint64(10) {
			r := rand.New(rand.NewPCG(seed, 1))
			const start, end = 1000 * time.Second, 1004 * time.Second
			samples := c.ask(r, lan, start-2*time.Second, end+10*time.Millisecond, 5*time.Millisecond)
			l, err := Fit(samples, start)
			if err != nil {
				t.Fatal(err)
			}
			// 6 µs of the network, 5.5 µs of drift in 5 ms or 1 µs of what is known of it, and what is uneven.
			most := 18 * time.Microsecond
			if c.tells {
				most = 12 * time.Microsecond
			}
			if bound := c.holds(t, &l, start, end, 7*time.Millisecond); bound > most {
				t.Errorf("%+v, seed %d: bound %v", c, seed, bound)
			}
			if best := l.Best(); best > l.Worst(start, end) || best < 6*time.Microsecond {
				t.Errorf("%+v, seed %d: %v at best", c, seed, best)
			}
			if off := math.Abs(l.Rate() - c.ppm/1e6); off > 5e-6 {
				t.Errorf("%+v, seed %d: rate %g", c, seed, l.Rate())
			}
			// A clock that runs evenly has an even course: what takes a while takes as long by it.
			for at := start; at < end; at += 100 * time.Millisecond {
				took := l.Ours(c.theirs(at+10*time.Millisecond)) - l.Ours(c.theirs(at))
				if off := took - 10*time.Millisecond; off.Abs() > 100*time.Nanosecond {
					t.Errorf("%+v, seed %d: 10 ms take %v more", c, seed, off)
				}
			}
		}
	}
}

// TestFit_AnyClock: whatever the clock does within MaxRate, and whatever the network does, the truth is within
// the bound; if the clock is set once as well, either the samples tell, or the truth is within the bound.
func TestFit_AnyClock(t *testing.T) {
	t.Parallel()
	found, passed := 0, 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 2))
		any := func(most time.Duration) time.Duration { return time.Duration(r.Int64N(int64(most))) }
		const start, end = 10 * time.Second, 11 * time.Second
		c := truth{ahead: any(time.Hour) - 30*time.Minute}
		most := []float64{20, 100, 1e6 * MaxRate}[seed%3]
		c.ppm = most * (2*r.Float64() - 1)
		if c.tells = seed%4 < 2; c.tells { // what it does by itself; the rest is by order
			c.ppm, most = crystals*1e6*(2*r.Float64()-1), min(most, 900)
		}
		for range r.IntN(20) {
			c.bends = append(c.bends, bend{start - time.Second + any(3*time.Second), most * (2*r.Float64() - 1)})
			if r.IntN(2) == 0 { // as far as it goes
				c.bends[len(c.bends)-1].ppm = math.Copysign(most, c.bends[len(c.bends)-1].ppm)
			}
		}
		slices.SortFunc(c.bends, func(a, b bend) int { return int(a.at - b.at) })
		if seed%2 == 0 {
			c.step, c.at = any(400*time.Microsecond)-200*time.Microsecond, start+any(time.Second)
		}
		// From a few µs to some ms, and slow in one direction alone.
		scale := time.Duration(1) << r.IntN(9)
		w := way{any(20*time.Microsecond) * scale, any(20*time.Microsecond) * scale, any(20*time.Microsecond) * scale}
		samples := c.ask(r, w, start-time.Second, end+time.Second, time.Millisecond+any(30*time.Millisecond))
		l, err := Fit(samples, start)
		switch {
		case err == nil:
			c.holds(t, &l, start, end, 3*time.Millisecond)
			if c.step != 0 {
				passed++
				if l.Bound(c.at) < c.step.Abs()/2 {
					t.Errorf("a step of %v passed, and the bound is %v", c.step, l.Bound(c.at))
				}
			}
		case c.step != 0 && errors.Is(err, ErrSet):
			found++
		default:
			t.Fatalf("%+v, seed %d: %v", c, seed, err)
		}
	}
	if found < 10 || passed < 10 {
		t.Errorf("%d steps were found, and %d passed", found, passed)
	}
}

// TestFit_SmallBend: a clock that bends by a few ppm, as after each correction by a time service. The
// samples before and after agree on a few lines only, and none of them is the truth.
func TestFit_SmallBend(t *testing.T) {
	t.Parallel()
	for _, ppm := range []float64{2, 5, 10, 15, 20, 25, 40, 100, 500, -20, -500} {
		for seed := range uint64(3) {
			const start, end = 10 * time.Second, 13 * time.Second
			c := truth{ahead: time.Hour, ppm: 50, bends: []bend{{start + 1500*time.Millisecond, 50 + ppm}}}
			samples := c.ask(rand.New(rand.NewPCG(seed, 3)), lan, 0, end+10*time.Millisecond, 5*time.Millisecond)
			l, err := Fit(samples, start)
			if err != nil {
				t.Fatalf("%v ppm: %v", ppm, err)
			}
			if bound := c.holds(t, &l, start, end, time.Millisecond); bound < 6*time.Microsecond || bound > 22*time.Microsecond {
				t.Errorf("%v ppm: bound %v", ppm, bound)
			}
		}
	}
}

// TestFit_SetClock: a step of more than twice the bound contradicts the samples, as does one of
// what an answer takes and the clocks may part between two of them: of 20 µs, if it is known that nobody adjusted them.
func TestFit_SetClock(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{time.Millisecond, -time.Millisecond, time.Hour, 200 * time.Microsecond,
		40 * time.Microsecond, -40 * time.Microsecond, 25 * time.Microsecond, -25 * time.Microsecond,
		20 * time.Microsecond, -20 * time.Microsecond} {
		for seed := range uint64(5) {
			r := rand.New(rand.NewPCG(seed, 4))
			c := truth{ahead: time.Hour, ppm: 20, step: step, at: 4*time.Second + time.Duration(r.Int64N(1e7)),
				tells: step.Abs() <= 20*time.Microsecond}
			samples := c.ask(r, lan, 0, 8*time.Second, 5*time.Millisecond)
			if l, err := Fit(samples, 0); !errors.Is(err, ErrSet) {
				t.Errorf("set by %v: %v, %v", step, &l, err)
			}
			// Before the instant from which on it counts, it does not.
			l, err := Fit(samples, 5*time.Second)
			if err != nil {
				t.Fatalf("set by %v before: %v", step, err)
			}
			c.holds(t, &l, 5*time.Second, 7*time.Second, 10*time.Millisecond)
			if l.Since() < c.at-time.Millisecond {
				t.Errorf("set by %v at %v, and compared since %v", step, c.at, l.Since())
			}
		}
	}
}

// TestFit_NoWindow: an estimate before anything has run; and none without samples.
func TestFit_NoWindow(t *testing.T) {
	t.Parallel()
	c := truth{ahead: time.Hour, ppm: 50}
	samples := c.ask(rand.New(rand.NewPCG(5, 6)), lan, 0, 2*time.Second, 5*time.Millisecond)
	l, err := Fit(samples, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []time.Duration{2 * time.Second, 12 * time.Second} { // what is to come, too
		if off, bound := (l.Theirs(at) - c.theirs(at)).Abs(), l.Bound(at); off > bound || off > 100*time.Microsecond {
			t.Errorf("at %v: off by %v, bound %v", at, off, bound)
		}
	}
	if near, far := l.Bound(2*time.Second), l.Bound(12*time.Second); far < near+10*time.Millisecond {
		t.Errorf("bound %v now, %v in 10 s: it must grow", near, far)
	}
	one, err := Fit(samples[:1], 0)
	if s := samples[0]; err != nil || one.Bound(s.Asked+1) > time.Millisecond || one.Own() {
		t.Errorf("one sample: %v, %v", &one, err)
	}
	if _, err := Fit(nil, 0); err == nil {
		t.Error("no samples, and no error")
	}
	var own Course
	if own.Theirs(7) != 7 || own.Ours(7) != 7 || own.Bound(7) != 0 || own.Worst(1, 7) != 0 || !own.Own() {
		t.Errorf("our own clock: %v", &own)
	}
}

// TestFit_Bending: a rate that has just changed is that of the last second, not of a moment.
func TestFit_Bending(t *testing.T) {
	t.Parallel()
	c := truth{bends: []bend{{1990 * time.Millisecond, 500}}}
	l, err := Fit(c.ask(rand.New(rand.NewPCG(7, 8)), lan, 0, 2*time.Second, 5*time.Millisecond), 2*time.Second)
	if err != nil || l.Rate() < -20e-6 || l.Rate() > 40e-6 {
		t.Errorf("%v, %v", &l, err)
	}
}
