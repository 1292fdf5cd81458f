package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// pattern draws a value for each digit: so many gaps above 0, with noise.
func pattern(digits string, gap, noise float64, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 4))
	return each(len(digits), func(i int) float64 {
		return float64(gap*float64(digits[i]-'0')) + float64(noise*r.NormFloat64())
	})
}

// TestFollowCourse_Modes: levels that come back are modes, and a step of all of them is a shift, even if it
// is as large as they are apart.
func TestFollowCourse_Modes(t *testing.T) {
	t.Parallel()
	const gap, noise = 0.05, 0.003
	for _, c := range []struct {
		name   string
		digits string
		modes  []float64 // levels at the end, in gaps
		shares []float64
		steps  []int // where there are steps up
	}{
		{"both come back", "000000001111111111000000000111111111", []float64{0, 1},
			[]float64{17. / 36, 19. / 36}, nil},
		{"there and back once", "000000001111111111000000000000000000", nil, nil, []int{8}},
		{"short visits", "000100100001000011000010000001000100", []float64{0, 1},
			[]float64{27. / 36, 9. / 36}, nil},
		{"three modes", "001122002111022001120022110012220011", []float64{0, 1, 2},
			[]float64{13. / 36, 12. / 36, 11. / 36}, nil},
		{"modes and a step as large", "000100100001000011000010" + "111211211121112112111121",
			[]float64{1, 2}, []float64{35. / 48, 13. / 48}, []int{24}},
		{"modes and a larger step", "000100100001000011000010" + "777877877787778778777787",
			[]float64{7, 8}, []float64{35. / 48, 13. / 48}, []int{24}},
		{"the same level all the time", "000000000000000000000000000000000000", nil, nil, nil},
		{"two steps up", "000000000000111111111111222222222222", nil, nil, []int{12, 24}},
	} {
		for seed := range uint64(20) {
			alpha := []float64{0.01, 0.0005}[seed%2] // the second is that of one series of twenty
			got := FollowCourse(pattern(c.digits, gap, noise, seed), alpha)
			if len(got.Modes) != len(c.modes) {
				t.Errorf("%s, seed %d: %+v, want %v", c.name, seed, got.Modes, c.modes)
				continue
			}
			for i, m := range got.Modes {
				if math.Abs(m.Level-gap*c.modes[i]) > noise || math.Abs(m.Share-c.shares[i]) > 0.03 {
					t.Errorf("%s, seed %d: %+v, want levels %v, shares %v", c.name, seed, got.Modes,
						c.modes, c.shares)
				}
			}
			var steps []Shift
			for _, s := range got.Shifts {
				if s.After > s.Before {
					steps = append(steps, s)
				}
			}
			if len(steps) != len(c.steps) {
				t.Errorf("%s, seed %d: %+v, want steps at %v", c.name, seed, got.Shifts, c.steps)
				continue
			}
			for i, s := range steps {
				if s.Lo > c.steps[i] || s.Hi < c.steps[i] || s.Drifts() {
					t.Errorf("%s, seed %d: %+v, want a step at %d", c.name, seed, s, c.steps[i])
				}
			}
			if got.Noise > 2*noise {
				t.Errorf("%s, seed %d: noise %v, want %v", c.name, seed, got.Noise, noise)
			}
		}
	}
}

// TestFollowCourse_ModeOrStep: where a step may as well be a switch of modes, the places of both are told.
func TestFollowCourse_ModeOrStep(t *testing.T) {
	t.Parallel()
	const digits, step, n = "000011110000111100001111000011112222111122221111", 28, 100
	held := 0
	for seed := range uint64(n) {
		for _, s := range FollowCourse(pattern(digits, 0.05, 0.003, seed), 0.01).Shifts {
			if s.Lo <= step && s.Hi >= step+4 && s.After > s.Before {
				held++
			}
		}
	}
	t.Logf("both places are told in %d of %d", held, n)
	if held < 80 {
		t.Errorf("both places are told in %d of %d series", held, n)
	}
}

// TestFollowCourse_ModeOfOne: a single value at the level to which the figure steps does not hide the steps.
func TestFollowCourse_ModeOfOne(t *testing.T) {
	t.Parallel()
	for digits, steps := range map[string]int{
		"000000000010000000000000111111111111111111111111": 1,
		"000000000000111111111111000000000000000100000000": 2,
	} {
		for seed := range uint64(20) {
			got := FollowCourse(pattern(digits, 7, 1, seed), 0.0005)
			if got.Modes != nil || len(got.Shifts) != steps {
				t.Errorf("%s, seed %d: modes %v, shifts %+v", digits, seed, got.Modes, got.Shifts)
			}
		}
	}
}

// TestFollowCourse_Rounded: values that are rounded are not in modes.
func TestFollowCourse_Rounded(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 4))
		v := each(60, func(int) float64 { return 100 + math.Round(0.6*r.NormFloat64()) })
		if got := FollowCourse(v, 0.01); got.Modes != nil {
			t.Errorf("seed %d: %v of %v", seed, got.Modes, v)
		}
	}
}

// TestFollowCourse_DriftIsNoMode: a drift whose steps are alike has no levels that come back, however far it
// has come.
func TestFollowCourse_DriftIsNoMode(t *testing.T) {
	t.Parallel()
	const level = 12
	values := []float64{100.09, 100.1, 100.15, 100.28, 100.1, 100.12, 100.25, 100.1, 100.1, 100.11, 100.11, 100.11,
		101.11, 102.11, 103.12, 104.15, 105.22, 106.24, 107.3, 108.38, 109.5, 110.56, 111.71, 112.79}
	check := func(name string, v []float64) {
		t.Helper()
		got := FollowCourse(v, 0.01)
		if got.Modes != nil || len(got.Shifts) != 1 || !got.Shifts[0].Drifts() {
			t.Errorf("%s, %d values: modes %v, shifts %+v", name, len(v), got.Modes, got.Shifts)
		}
	}
	for n := level + 6; n <= len(values); n++ {
		check("rounded", values[:n])
	}
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 4))
		check("drawn", each(20+int(seed), func(i int) float64 {
			return 100 + max(0, float64(i-level)) + float64(0.05*r.NormFloat64())
		}))
	}
}

// BenchmarkFollowCourse_Modes follows 500 values in two modes, with two steps.
func BenchmarkFollowCourse_Modes(b *testing.B) {
	v := noiseKinds[5].draw(rand.New(rand.NewPCG(1, 1)), 500)
	for i := range v {
		v[i] += 0.1 * float64(i/200)
	}
	for b.Loop() {
		FollowCourse(v, 0.001)
	}
}
