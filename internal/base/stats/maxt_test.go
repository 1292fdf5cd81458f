package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// against are the differences of each two of several samples, whose members of one index are a pair.
func against(samples [][]float64) (out []Signed) {
	for i, a := range samples {
		for _, b := range samples[i+1:] {
			s := Signed{}
			for k := range a {
				s.Differences, s.Keys = append(s.Differences, b[k]-a[k]), append(s.Keys, k)
			}
			out = append(out, s)
		}
	}
	return out
}

// TestStepDownMax: of one test the P is the share of swaps; all that are far apart stand out among 66 with
// eight pairs, and the order of the tests does not matter.
func TestStepDownMax(t *testing.T) {
	t.Parallel()
	own, adjusted := StepDownMax([]Signed{{Differences: []float64{3, 1, 2, -1}, Keys: []int{0, 1, 2, 3}}}, 1)
	// Of eight choices up to the sign three have a sum of 5 at least: 3+1+2-1, 3+1+2+1 and 3-1+2+1.
	if own[0] != 3./8 || adjusted[0] != own[0] {
		t.Errorf("one test: %v, %v", own, adjusted)
	}
	random := rand.New(rand.NewPCG(12, 1))
	var apart [][]float64
	luck := normals(random, 8)
	for i := range 12 {
		sample := normals(random, 8)
		for k := range sample {
			sample[k] = luck[k] + 0.05*sample[k] + float64(i)
		}
		apart = append(apart, sample)
	}
	all := against(apart)
	_, adjusted = StepDownMax(all, 1)
	if slices.Max(adjusted) > 0.05 {
		t.Errorf("twelve that are far apart: %v", adjusted)
	}
	slices.Reverse(all)
	_, reversed := StepDownMax(all, 1)
	slices.Reverse(reversed)
	if !slices.Equal(adjusted, reversed) {
		t.Error("the order of the tests matters")
	}
	// What is infinite has a sign, one difference is none, and one that is missing is left out.
	own, adjusted = StepDownMax([]Signed{{Differences: []float64{inf, 2, 2, 2, 2, 2}, Keys: []int{0, 1, 2, 3, 4, 5}},
		{Differences: []float64{nan, 3}, Keys: []int{0, 1}}, {}}, 1)
	if own[0] != 1./32 || adjusted[0] != 1./32 || !math.IsNaN(own[1]+adjusted[1]+own[2]+adjusted[2]) {
		t.Errorf("special ones: %v, %v", own, adjusted)
	}
}

// studentT is |t| of differences, some of which have the other sign.
func studentT(s Signed, swapped int) float64 {
	var signed []float64
	for i, d := range s.Differences {
		if swapped>>s.Keys[i]&1 == 1 {
			d = -d
		}
		signed = append(signed, d)
	}
	mean, deviation := moments(signed)
	switch n := float64(len(signed)); {
	case math.Abs(mean) < 1e-9:
		return 0
	case deviation < 1e-9:
		return inf
	default:
		return math.Abs(mean) / deviation * math.Sqrt(n-1)
	}
}

// TestStepDownMax_Plain: it is what its definition says, over all swaps.
func TestStepDownMax_Plain(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(12, 3))
	const keys = 6
	for range 40 {
		var of []Signed
		for range 2 + random.IntN(3) {
			s, some := Signed{}, random.IntN(3)
			for k := range keys - random.IntN(4) {
				d := float64(random.IntN(7) - 2)
				switch some {
				case 0:
					d = random.NormFloat64() + 0.5
				case 1:
					d = float64(random.IntN(2) * random.IntN(2))
				}
				s.Differences, s.Keys = append(s.Differences, d), append(s.Keys, keys-1-k)
			}
			of = append(of, s)
		}
		own, adjusted := StepDownMax(of, 1)
		for i, s := range of {
			// Of the tests whose statistics are no larger: the step-down method has the largest of these P.
			want, alone := 0.0, 0.0
			for _, other := range of {
				least := studentT(other, 0)
				if least < studentT(s, 0)*(1-1e-9) {
					continue
				}
				p := 0.0
				for swapped := range 1 << keys {
					most := 0.0
					for _, o := range of {
						if studentT(o, 0) <= least*(1+1e-9) {
							most = max(most, studentT(o, swapped))
						}
					}
					if most >= least*(1-1e-9) {
						p += 1. / (1 << keys)
					}
				}
				want = max(want, p)
			}
			for swapped := range 1 << keys {
				if studentT(s, swapped) >= studentT(s, 0)*(1-1e-9) {
					alone += 1. / (1 << keys)
				}
			}
			if own[i] != alone || adjusted[i] != want {
				t.Errorf("%v: P %v and %v, want %v and %v", of, own[i], adjusted[i], alone, want)
			}
		}
	}
}

// TestStepDownMax_Special: signs alone, values that are equal but for rounding, and any scale.
func TestStepDownMax_Special(t *testing.T) {
	t.Parallel()
	p := func(differences ...float64) float64 {
		s := Signed{Differences: differences}
		for i := range differences {
			s.Keys = append(s.Keys, i)
		}
		own, adjusted := StepDownMax([]Signed{s}, 1)
		if own[0] != adjusted[0] {
			t.Errorf("%v: P %v alone, and %v", differences, own, adjusted)
		}
		return own[0]
	}
	third := 0.1
	third += 0.2
	for name, c := range map[string][2]float64{
		"signs alone":         {p(inf, inf, -inf, inf, inf), p(1, 1, -1, 1, 1)},
		"a sign below":        {p(-inf, 3, 1, 2, -1), p(-3, 3, 1, 2, -1)},
		"one is missing":      {p(nan, 3, 1, 2, -1), p(3, 1, 2, -1)},
		"large":               {p(3e200, 1e200, 2e200, -1e200), 3. / 8},
		"nothing":             {p(0, 0, 0), 1},
		"of sum 0":            {p(0.1, 0.2, -third), 1},
		"all but equal":       {p(third, 0.3, 0.3, 0.3, 0.3), 1. / 16},
		"few all but equal":   {p(0.3, third, third), 1. / 4},
		"more choices looked": {p(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), 1. / 2048},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: P %v, want %v", name, c[0], c[1])
		}
	}
	if own, adjusted := StepDownMax(nil, 1); len(own)+len(adjusted) > 0 {
		t.Errorf("no test: %v, %v", own, adjusted)
	}
}

// TestStepDownMax_Alarms: among twelve equal algorithms no order is found oftener than the level allows,
// whether their times are normal or have a long tail.
func TestStepDownMax_Alarms(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(12, 2))
	runs := slowtest.Times(60, 400)
	for _, n := range []int{8, 20} {
		for name, draw := range map[string]func() float64{"normal": random.NormFloat64,
			"exponential": random.ExpFloat64, "cubed": func() float64 { return math.Pow(random.NormFloat64(), 3) }} {
			alarms := 0
			for range runs {
				samples := make([][]float64, 12)
				for i := range samples {
					for range n {
						samples[i] = append(samples[i], draw())
					}
				}
				if _, adjusted := StepDownMax(against(samples), 1); slices.Min(adjusted) <= 0.05 {
					alarms++
				}
			}
			t.Logf("n = %d, %s: %d alarms of %d", n, name, alarms, runs)
			if most := float64(0.05*float64(runs)) + 3.5*math.Sqrt(float64(0.05*0.95*float64(runs))); float64(alarms) > most {
				t.Errorf("n = %d, %s: %d alarms of %d", n, name, alarms, runs)
			}
		}
	}
}

func TestStudentSize(t *testing.T) {
	t.Parallel()
	// Student's t with 9 degrees of freedom is beyond 2.262 with 5 %, and with 1 beyond 25.45 with a half of 5 %.
	for _, c := range []struct {
		n, tests int
		want     float64
	}{{10, 1, 2.2622 / math.Sqrt(10)}, {2, 2, 25.4517 / math.Sqrt2}} {
		if got := StudentSize(c.n, c.tests, 0.05); !within(got, c.want, 1e-4) {
			t.Errorf("%d of %d tests: %v, want %v", c.n, c.tests, got, c.want)
		}
	}
	if !(StudentSize(6, 36, 0.05) > StudentSize(9, 36, 0.05)) {
		t.Error("fewer need more")
	}
	if !math.IsNaN(StudentSize(1, 1, 0.05)) || !math.IsNaN(StudentSize(9, 0, 0.05)) {
		t.Error("a size of nothing")
	}
}
