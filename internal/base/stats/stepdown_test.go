package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// family makes tests of pairs, cell by cell, whose trials of one repetition are pairs of one key.
func family(cells [][]float64) (p []float64, of []Signed) {
	for _, differences := range cells {
		zero := make([]float64, len(differences))
		paired := Pairs(zero, differences, .95)
		s := Signed{Differences: paired.Differences}
		for k := range differences {
			s.Keys = append(s.Keys, k)
		}
		p, of = append(p, paired.P), append(of, s)
	}
	return p, of
}

// TestStepDown_Exact: small families worked out by hand.
func TestStepDown_Exact(t *testing.T) {
	t.Parallel()
	rising := []float64{1, 2, 3, 4, 5, 6}
	for _, c := range []struct {
		what  string
		cells [][]float64
		want  []float64
	}{
		{"one test is as it was", [][]float64{rising}, []float64{2. / 64}},
		// Both reach 2/64 for the same two choices of signs.
		{"two tests that always agree cost each other nothing", [][]float64{rising, {10, 20, 30, 40, 50, 60}},
			[]float64{2. / 64, 2. / 64}},
		// They reach it for two choices each: 4 of 64.
		// 6 of ranks, or less, in 14 of 64
		{"two that never agree cost what Holm says", [][]float64{rising, {1, 2, 3, -4, -5, -6}},
			[]float64{4. / 64, 28. / 64}},
		{"one pair costs nothing", [][]float64{rising, {7}}, []float64{2. / 64, 1}},
		// 2 of 2^12 choices: all of them are looked at
		{"twelve pairs", [][]float64{{3, 1, 2, 12, 5, 6, 7, 4, 9, 10, 11, 8}, upTo(12)},
			[]float64{2. / 4096, 2. / 4096}},
		{"what never differs costs nothing", [][]float64{rising, {0, 0, 0, 0, 0, 0}}, []float64{2. / 64, 1}},
	} {
		p, of := family(c.cells)
		got := StepDown(p, of, 1)
		for i, want := range c.want {
			if want < 1 && !near(got[i], want) || want == 1 && got[i] < .5 {
				t.Errorf("%s: %v of P %v, want %v", c.what, got, p, c.want)
			}
		}
	}
	// Tests of another kind count as Holm counts them, and NaN not at all.
	p, of := family([][]float64{rising, rising})
	got := StepDown(append(p, .001, nan), append(of, Signed{}, Signed{}), 1)
	if want := []float64{2. / 64, 2. / 64, .001 + 2./64, nan}; !near(got[0], want[0]) || !near(got[1],
		want[1]) ||
		!(got[2] <= 3*.001) || !math.IsNaN(got[3]) {
		t.Errorf("%v, want at most %v", got, want)
	}
	// Two of another kind, before the pairs: 2 × 0.001, 1 × 0.01, and nothing.
	p, of = family([][]float64{rising})
	got = StepDown(append(p, .01, .001), append(of, Signed{}, Signed{}), 1)
	if want := []float64{2. / 64, .01, .002}; !slices.EqualFunc(got, want, near) {
		t.Errorf("%v, want %v", got, want)
	}
	// And behind them: the pairs cost what they and the two others do.
	got = StepDown(append(p, .04, .05), append(of, Signed{}, Signed{}), 1)
	if want := []float64{2./64 + 2*2./64, .09375, .09375}; !slices.EqualFunc(got, want, near) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := StepDown([]float64{.01, .02, nan}, make([]Signed, 3), 1); got[0] != .02 || got[1] != .02 {
		t.Errorf("%v, want Holm's", got)
	}
}

// TestStepDown_Drawn: where the choices are too many, ten thousand count, of which one swaps nothing.
func TestStepDown_Drawn(t *testing.T) {
	t.Parallel()
	var d, other []float64
	for k := range 20 {
		d = append(d, float64(k+1)*float64(1-2*(k%3%2)))
		other = append(other, float64(20-k)*float64(1-2*(k%4%2)))
	}
	p, of := family([][]float64{d, other})
	flips, others := newFlips(of[0]), newFlips(of[1])
	source := rand.NewPCG(5, 0)
	var below [2]float64
	for i := range 10_000 {
		swapped, bits := make([]bool, 20), uint64(0)
		if i > 0 {
			bits = source.Uint64()
		}
		for k := range swapped {
			swapped[k] = bits>>k&1 == 1
		}
		first, second := flips.p(swapped), others.p(swapped)
		if p[0] > p[1] {
			t.Fatalf("%v: the first is to be the smaller", p)
		}
		if min(first, second) <= p[0]*(1+rounding) {
			below[0]++
		}
		if second <= p[1]*(1+rounding) {
			below[1]++
		}
	}
	got := StepDown(p, of, 5)
	want := []float64{min(below[0]/1e4, 2*p[0]), min(max(below[0], below[1])/1e4, max(2*p[0], p[1]))}
	if !slices.EqualFunc(got, want, near) {
		t.Errorf("%v of %v, want %v", got, p, want)
	}
}

// TestDrawnSwaps: as many as take bounded work, and enough to tell five in a hundred.
func TestDrawnSwaps(t *testing.T) {
	t.Parallel()
	for pairs, want := range map[int]int{1: 9999, 40_000: 9999, 80_000: 5000, 400_000: 1000, 500_000: 999,
		1_000_000_000: 999} {
		if got := drawnSwaps(pairs); got != want {
			t.Errorf("%d pairs: %d, want %d", pairs, got, want)
		}
	}
}

// TestEachSwap: all choices but for mirror images, if they are no more than may be drawn and the
// one that swaps nothing; else that one and as many drawn ones, from one stream of bits.
func TestEachSwap(t *testing.T) {
	t.Parallel()
	look := func(keys, most int) (seen [][]bool) {
		eachSwap(keys, most, 3, func(swapped []bool) { seen = append(seen, slices.Clone(swapped)) })
		return seen
	}
	for _, c := range []struct {
		keys, most int
		all        bool
	}{{1, 1, true}, {2, 1, true}, {3, 3, true}, {3, 2, false}, {5, 15, true}, {5, 14, false}, {5, 100, true},
		{31, 20, false}, {70, 20, false}, {130, 20, false}} {
		seen := look(c.keys, c.most)
		source := rand.NewPCG(3, 0)
		for i, got := range seen {
			want := make([]bool, c.keys)
			var bits uint64
			for k := range want {
				switch {
				case c.all:
					want[k] = i>>k&1 == 1
				case i > 0:
					if k%64 == 0 {
						bits = source.Uint64()
					}
					want[k] = bits>>(k%64)&1 == 1
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%d keys: choice %d is %v, want %v", c.keys, i, got, want)
			}
		}
		if want := c.most + 1; c.all && len(seen) != 1<<(c.keys-1) || !c.all && len(seen) != want {
			t.Errorf("%d keys, %d at most: %d choices", c.keys, c.most, len(seen))
		}
	}
}

// TestFlips: with some pairs swapped P is that of these pairs, also where some do not differ, and
// where they are too many to be counted.
func TestFlips(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 9))
	for _, n := range []int{0, 1, 2, 3, 7, 12, exactLimit, exactLimit + 1, 60} {
		for round := range 6 {
			s := Signed{Differences: make([]float64, n), Keys: rng.Perm(n)}
			d, swapped := make([]float64, n), make([]bool, n)
			for i := range d {
				if d[i] = float64(rng.IntN(40) - 15); round < 2 { // none is 0, or equal
					d[i] = float64(i+1) * float64(1-2*rng.IntN(2))
				}
				if s.Differences[i] = d[i]; rng.IntN(2) == 0 {
					d[i], swapped[s.Keys[i]] = -d[i], true
				}
			}
			if n > 3 && round%2 == 0 {
				s.Differences[2], d[2] = math.NaN(), 0
			}
			rng.Shuffle(n, func(i, j int) { d[i], d[j] = d[j], d[i] })
			want, _ := signP(d)
			if got := newFlips(s).p(swapped); !near(got, want) {
				t.Errorf("%d pairs: %v, want %v of %v", n, got, want, d)
			}
		}
	}
}

// TestStepDown_AtMostHolm: whatever the tests and however they depend, nothing that Holm finds is lost.
func TestStepDown_AtMostHolm(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 7))
	for n := range 40 {
		var cells [][]float64
		for c := range 2 + n%7 {
			var d []float64
			for range 5 + n%17 + c%3 {
				d = append(d, math.Round(4*rng.NormFloat64())+float64(n%3))
			}
			cells = append(cells, d)
		}
		p, of := family(cells)
		if n%4 == 0 {
			of[1] = Signed{}
		}
		holm := Holm(p)
		for i, got := range StepDown(p, of, 1) {
			if got > holm[i]*(1+1e-9) || got < p[i]*(1-1e-9) && len(p) > 0 && holm[i] > got &&
				17 > len(cells[i]) {
				t.Errorf("%d: %v of P %v, Holm's is %v", n, got, p[i], holm[i])
			}
		}
	}
}

// TestStepDown_FalseAlarms: with many cells, of which some differ, those that do not are
// accused in 5 % of families at most, whether or not cells share their luck; and a small shift
// that all cells have is found in far more of them than Holm's method finds.
func TestStepDown_FalseAlarms(t *testing.T) {
	t.Parallel()
	families, cells, n := 25, 40, 10
	if slowtest.Night() {
		families = 2000
	}
	rng := rand.New(rand.NewPCG(14, 8))
	run := func(rho, shift float64, shifted int) (accused, found, holm int) {
		for range families {
			all := make([][]float64, cells)
			common := make([]float64, n)
			for k := range common {
				common[k] = rng.NormFloat64()
			}
			for c := range all {
				for k := range n {
					d := float64(math.Sqrt(rho)*common[k]) + float64(math.Sqrt(1-rho)*rng.NormFloat64())
					if c < shifted {
						d += shift
					}
					all[c] = append(all[c], d)
				}
			}
			p, of := family(all)
			wrong := false
			old := Holm(p)
			for c, adjusted := range StepDown(p, of, 1) {
				if adjusted <= .05 && c >= shifted {
					wrong = true
				}
				if adjusted <= .05 && c < shifted {
					found++
				}
				if old[c] <= .05 && c < shifted {
					holm++
				}
			}
			if wrong {
				accused++
			}
		}
		return accused, found, holm
	}
	noise := 4 * math.Sqrt(.05*.95/float64(families))
	for _, c := range []struct {
		rho, shift float64
		shifted    int
	}{{0, 0, 0}, {.9, 0, 0}, {0, 3, 5}, {.5, 3, 20}} {
		accused, found, holm := run(c.rho, c.shift, c.shifted)
		if share := float64(accused) / float64(families); share > .05+noise || found < holm {
			t.Errorf("%+v: %v of families have a false alarm; found %d, Holm %d", c, share, found, holm)
		}
	}
	_, found, holm := run(0, 2, cells)
	if found < families*cells/2 || holm > found/2 {
		t.Errorf("of %d cells with one small shift %d are found, by Holm's method %d", families*cells, found,
			holm)
	}
	t.Logf("of %d cells with one small shift %d are found, by Holm's method %d", families*cells, found, holm)
}

// TestSums_Signs: differences of one size have the P of McNemar's exact test, of few pairs and of many.
func TestSums_Signs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ n, negative int }{{8, 0}, {10, 1}, {10, 5}, {50, 12}, {200, 80}, {200, 100}, {200, 0}} {
		s := Signed{Mean: true}
		for i := range tt.n {
			d := 1.0
			if i < tt.negative {
				d = -1
			}
			s.Differences, s.Keys = append(s.Differences, d), append(s.Keys, i)
		}
		want := 0.0
		for k := 0; k <= min(tt.negative, tt.n-tt.negative); k++ {
			want += choose(tt.n, k)
		}
		want = min(1, 2*want/math.Pow(2, float64(tt.n)))
		if got := newSums(s).p(make([]bool, tt.n)); !near(got, want) {
			t.Errorf("%d of %d: %v, want %v", tt.negative, tt.n, got, want)
		}
	}
}
