package stats

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
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
	if got := StepDown([]float64{.01, .02, nan}, make([]Signed, 3), 1); got[0] != .02 || got[1] != .02 {
		t.Errorf("%v, want Holm's", got)
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
	if os.Getenv("CONCLAVE_NIGHTLY") != "" {
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
