package host

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
)

// A place is a machine in a network: its clock, and how far it is from each other one, one way.
type place struct {
	ahead time.Duration
	gains float64
	ways  map[int]time.Duration
}

func (p *place) shows(at time.Duration) time.Duration {
	return at + p.ahead + time.Duration(float64(at)*p.gains)
}

// opposite is the true instant at which the clock of p shows at.
func (p *place) opposite(at time.Duration) time.Duration {
	guess := at - p.ahead
	for range 4 {
		guess += at - p.shows(guess)
	}
	return guess
}

// asks is what place by learns of the clock of place of in nine seconds, by answers of which each way takes up to
// a tenth longer than it must.
func asks(t *testing.T, places []place, by, of int) comparison {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(by), uint64(of)))
	var samples []clock.Sample
	late := func(d time.Duration) time.Duration { return d + time.Duration(r.Float64()*float64(d)/10) }
	for at := time.Duration(0); at < 9*time.Second; at += 50 * time.Millisecond {
		heard := at + late(places[by].ways[of])
		got := heard + late(places[of].ways[by])
		samples = append(samples, clock.Sample{Asked: places[by].shows(at), Heard: places[of].shows(heard),
			Answered: places[of].shows(heard), Got: places[by].shows(got), Ours: clock.Steering{Known: true},
			Theirs: clock.Steering{Known: true}})
	}
	c, err := clock.Fit(samples, samples[0].Asked)
	if err != nil {
		t.Fatal(err)
	}
	return comparison{of: of, by: by, course: c, source: exchange}
}

// TestRelate: what hosts know of each other counts, where that is more than what the lead knows of them; and
// no time between two clocks is wrong by more than is said, whatever ways are asymmetric.
func TestRelate(t *testing.T) {
	t.Parallel()
	const µs, ms = time.Microsecond, time.Millisecond
	const hour = time.Hour
	for name, c := range map[string]struct {
		ways     [][]time.Duration  // from one to another one; 0: they do not ask
		straight int                // clocks whose path is one step
		most     [][2]time.Duration // of pairs 0-1, 1-2, 0-3 ..., least and most
	}{
		"a lead far from hosts that are near to each other": {[][]time.Duration{
			{0, 2 * ms, 2 * ms, 2 * ms}, {2 * ms, 0, 50 * µs, 50 * µs}, {2 * ms, 50 * µs, 0, 50 * µs},
			{2 * ms, 50 * µs, 50 * µs, 0}}, 1, [][2]time.Duration{{2 * ms, 3 * ms}, {50 * µs, 100 * µs}, {50 * µs, 200 * µs}}},
		"a ring of equal distances": {[][]time.Duration{
			{0, 2500 * µs, 2500 * µs, 2500 * µs}, {2500 * µs, 0, 2500 * µs, 2500 * µs}, {2500 * µs, 2500 * µs, 0, 2500 * µs},
			{2500 * µs, 2500 * µs, 2500 * µs, 0}}, 3, [][2]time.Duration{{2 * ms, 3 * ms}, {2 * ms, 4 * ms}, {2 * ms, 4 * ms}}},
		"asymmetric": {[][]time.Duration{
			{0, 4 * ms, ms, ms}, {ms, 0, 300 * µs, 2 * ms}, {4 * ms, 100 * µs, 0, 3 * ms}, {ms, ms, ms, 0}}, 2,
			[][2]time.Duration{{ms, 5 * ms}, {150 * µs, 400 * µs}, {ms, 5 * ms}}},
		"two that cannot ask each other": {[][]time.Duration{
			{0, ms, ms, ms}, {ms, 0, 0, ms}, {ms, 0, 0, 50 * µs}, {ms, ms, 50 * µs, 0}}, 2,
			[][2]time.Duration{{ms, 2 * ms}, {ms, 3 * ms}, {50 * µs, 200 * µs}}},
	} {
		places := []place{{}, {ahead: hour, gains: 40e-6}, {ahead: -30 * hour, gains: -90e-6},
			{ahead: 3 * 365 * 24 * hour}}
		var list []comparison
		for by := range places {
			places[by].ways = map[int]time.Duration{}
			for of, way := range c.ways[by] {
				places[by].ways[of] = way
			}
		}
		for by := range places {
			for of := by + 1; of < len(places); of++ {
				if c.ways[by][of] > 0 {
					list = append(list, asks(t, places, by, of))
				}
			}
		}
		paths, reached := relate(3, list)
		straight := 0
		for i, p := range paths {
			if !reached[i] {
				t.Fatalf("%s: nothing leads to clock %d", name, i)
			}
			if len(p) == 1 {
				straight++
			}
		}
		if straight != c.straight {
			t.Errorf("%s: %d paths are straight, want %d", name, straight, c.straight)
		}
		from, to := 3*time.Second, 6*time.Second
		known := errorsOf(paths, reached, list, from, to)
		for a := range places {
			for b := range places {
				for at := from; at <= to; at += 10 * ms {
					// What b shows when a shows what it does at an instant of the lead's clock, by their paths.
					truth := places[b].shows(places[a].opposite(paths[a].Theirs(at)))
					if off := paths[b].Theirs(at) - truth; off.Abs() > known[a][b].within {
						t.Fatalf("%s: a time from clock %d to %d is off by %v, known to %v", name, a, b, off, known[a][b].within)
					}
				}
			}
		}
		for i, got := range []time.Duration{known[0][1].within, known[1][2].within, known[2][3].within} {
			if got < c.most[i][0] || got > c.most[i][1] {
				t.Errorf("%s: the clocks of pair %d are known to %v, want from %v to %v", name, i, got, c.most[i][0], c.most[i][1])
			}
		}
	}
}

// TestRelate_Unreached: a clock that nobody has compared is not reached, and nothing is known of it.
func TestRelate_Unreached(t *testing.T) {
	t.Parallel()
	places := []place{{ways: map[int]time.Duration{1: 1000}}, {ways: map[int]time.Duration{0: 1000}}, {}}
	list := []comparison{asks(t, places, 0, 1)}
	paths, reached := relate(2, list)
	known := errorsOf(paths, reached, list, 0, time.Second)
	if reached[2] || !reached[1] || known[1][2].within < 24*time.Hour || known[0][1].within > time.Millisecond {
		t.Errorf("%v: %v", reached, known)
	}
}

// relies is what the place by is promised of a reference that shows true time, by so much, on a wall clock that is
// wrong by off.
func relies(t *testing.T, places []place, by, of int, within, off time.Duration) comparison {
	t.Helper()
	var samples []clock.Sample
	for at := time.Duration(0); at < 9*time.Second; at += 50 * time.Millisecond {
		shown := places[by].shows(at)
		samples = append(samples, clock.Sample{Asked: shown, Got: shown + 1000, Heard: at + off + within,
			Answered: at + off - within, Ours: clock.Steering{Known: true}, Theirs: clock.Steering{Known: true}})
	}
	c, err := clock.Fit(samples, samples[0].Asked)
	if err != nil {
		t.Fatal(err)
	}
	return comparison{of: of, by: by, course: c, source: exchange << 2}
}

// TestRelate_References: hosts that a time service binds to one reference are bound to each other by the sum, where
// that is less than by exchange; a promise that exchanges and the other promises contradict does not count.
func TestRelate_References(t *testing.T) {
	t.Parallel()
	const µs, ms = time.Microsecond, time.Millisecond
	const utc = 4
	far := map[int]time.Duration{0: 10 * ms, 1: 10 * ms, 2: 10 * ms, 3: 10 * ms}
	places := []place{{ways: far}, {ahead: 3 * 365 * 24 * time.Hour, gains: 40e-6, ways: far},
		{ahead: -30 * time.Hour, gains: -90e-6, ways: far}, {ahead: time.Hour, ways: far}}
	var exchanges []comparison
	for by := range places {
		for of := by + 1; of < len(places); of++ {
			exchanges = append(exchanges, asks(t, places, by, of))
		}
	}
	type promise struct {
		by          int
		within, off time.Duration
	}
	for name, c := range map[string]struct {
		promises []promise
		most     map[[2]int]time.Duration
		by       map[[2]int]string
	}{
		"two": {[]promise{{1, 30 * µs, 20 * µs}, {2, 40 * µs, -30 * µs}},
			map[[2]int]time.Duration{{1, 2}: 200 * µs, {1, 3}: 11 * ms},
			map[[2]int]string{{1, 2}: "chrony", {0, 1}: "exchange", {1, 3}: "exchange"}},
		"the lead, too": {[]promise{{0, 20 * µs, 0}, {1, 30 * µs, 20 * µs}, {2, 40 * µs, -30 * µs}},
			map[[2]int]time.Duration{{1, 2}: 200 * µs, {0, 2}: 200 * µs},
			map[[2]int]string{{0, 1}: "chrony", {1, 2}: "chrony", {0, 3}: "exchange"}},
		"one alone": {[]promise{{1, 30 * µs, 0}}, map[[2]int]time.Duration{{1, 2}: 11 * ms},
			map[[2]int]string{{1, 2}: "exchange"}},
		"worse than exchanges": {[]promise{{1, 300 * ms, 0}, {2, 300 * ms, 0}},
			map[[2]int]time.Duration{{1, 2}: 11 * ms}, map[[2]int]string{{1, 2}: "exchange"}},
		"one of three is false": {[]promise{{1, 30 * µs, 0}, {2, 40 * µs, 0}, {3, 10 * µs, 3 * 365 * 24 * time.Hour}},
			map[[2]int]time.Duration{{1, 2}: 200 * µs, {1, 3}: 11 * ms},
			map[[2]int]string{{1, 2}: "chrony", {1, 3}: "exchange"}},
		"one of two is false": {[]promise{{1, 30 * µs, 0}, {2, 40 * µs, 30 * ms}},
			map[[2]int]time.Duration{{1, 2}: 11 * ms}, map[[2]int]string{{1, 2}: "exchange"}},
	} {
		var promises []comparison
		for _, p := range c.promises {
			promises = append(promises, relies(t, places, p.by, utc, p.within, p.off))
		}
		paths, reached := relate(3, exchanges)
		list := slices.Concat(exchanges, unopposed(paths, reached, exchanges, promises))
		paths, reached = relate(3, list)
		from, to := 3*time.Second, 6*time.Second
		known := errorsOf(paths, reached, list, from, to)
		for a := range places {
			for b := range places {
				for at := from; at <= to; at += 10 * ms {
					truth := places[b].shows(places[a].opposite(paths[a].Theirs(at)))
					if off := paths[b].Theirs(at) - truth; off.Abs() > known[a][b].within {
						t.Fatalf("%s: a time from clock %d to %d is off by %v, known to %v", name, a, b, off, known[a][b].within)
					}
				}
			}
		}
		for pair, most := range c.most {
			if got := known[pair[0]][pair[1]].within; got > most {
				t.Errorf("%s: the clocks %v are known to %v, want %v", name, pair, got, most)
			}
		}
		for pair, by := range c.by {
			if got := known[pair[0]][pair[1]].by.String(); got != by {
				t.Errorf("%s: the clocks %v are known by %q, want %q", name, pair, got, by)
			}
		}
	}
}
