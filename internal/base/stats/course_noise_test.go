package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// A noiseKind is a kind of noise that machines make, in logarithms of the figure.
type noiseKind struct {
	name   string
	draw   func(r *rand.Rand, n int) []float64
	before noiseScore // of the program as it was before it looked for modes
	most   int        // series of 1000 that may raise a false alarm
}

// noiseKinds are those of the table in docs/how-to/history.md.
var noiseKinds = []noiseKind{
	{"normal, 2 %", func(r *rand.Rand, n int) []float64 {
		return each(n, func(int) float64 { return 0.02 * r.NormFloat64() })
	}, noiseScore{alarms: 2, growing: 0.167, steps: [2]int{100, 100}, drift: 100}, 65},
	{"Student's t with 3 degrees, 2 %", func(r *rand.Rand, n int) []float64 {
		return each(n, func(int) float64 {
			chi := 0.0
			for range 3 {
				chi += math.Pow(r.NormFloat64(), 2)
			}
			return 0.02 * r.NormFloat64() / math.Sqrt(chi)
		})
	}, noiseScore{alarms: 3, growing: 0.354, steps: [2]int{100, 100}, drift: 100}, 65},
	{"neighbours correlated by 0.5, 2 %", func(r *rand.Rand, n int) []float64 {
		x := 0.0
		return each(n, func(int) float64 {
			x = float64(0.5*x) + float64(math.Sqrt(0.75)*r.NormFloat64())
			return 0.02 * x
		})
	}, noiseScore{alarms: 37, growing: 2.354, steps: [2]int{89, 100}, drift: 97}, 65},
	{"1 %, from the middle on 4 %", func(r *rand.Rand, n int) []float64 {
		return each(n, func(i int) float64 {
			if i > n/2 {
				return 0.04 * r.NormFloat64()
			}
			return 0.01 * r.NormFloat64()
		})
	}, noiseScore{alarms: 168, growing: 4.125, steps: [2]int{92, 100}, drift: 95}, 65},
	{"two modes 5 % apart, 70 % and 30 %", func(r *rand.Rand, n int) []float64 {
		return each(n, func(int) float64 {
			if r.Float64() < 0.3 {
				return 0.05 + float64(0.003*r.NormFloat64())
			}
			return 0.003 * r.NormFloat64()
		})
	}, noiseScore{alarms: 383, growing: 5.375, steps: [2]int{86, 100}, drift: 96}, 65},
	{"two modes 5 % apart that stay with 0.9", staying(0.003),
		noiseScore{alarms: 968, growing: 7.958, steps: [2]int{80, 100}, drift: 82}, 65},
	// The modes are hardly far enough apart.
	{"the same with noise of 1 %", staying(0.01),
		noiseScore{alarms: 841, growing: 8.479, steps: [2]int{79, 100}, drift: 78}, 500},
}

// staying draws two modes that stay with probability 0.9.
func staying(noise float64) func(r *rand.Rand, n int) []float64 {
	return func(r *rand.Rand, n int) []float64 {
		mode := 0.0
		return each(n, func(int) float64 {
			if r.Float64() < 0.1 {
				mode = 0.05 - mode
			}
			return mode + float64(noise*r.NormFloat64())
		})
	}
}

func each(n int, value func(i int) float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = value(i)
	}
	return out
}

// A noiseScore is what a course tells of series with one kind of noise.
type noiseScore struct {
	alarms  int     // series of noise alone, of 1000, in which it tells a shift
	growing float64 // alarms that are new, in 100 commits that each were the last
	steps   [2]int  // of 100, found within 15 commits, by the sizes in stepSizes
	delay   float64 // mean commits until a step of 5 % is found
	drift   int     // of 100
}

var stepSizes = [2]float64{0.05, 0.10}

// scoreNoise follows series of 60 values.
func scoreNoise(kind noiseKind, series, steps, growing int) (s noiseScore) {
	const n, at, alpha = 60, 30, 0.01
	r := rand.New(rand.NewPCG(5, 6))
	alarms := 0
	for range series {
		if len(FollowCourse(kind.draw(r, n), alpha).Shifts) > 0 {
			alarms++
		}
	}
	s.alarms = per(1000, alarms, series)
	fresh := 0
	for range growing {
		v, last := kind.draw(r, n), 0
		for m := 12; m <= n; m++ {
			k := len(FollowCourse(v[:m], alpha).Shifts)
			fresh, last = fresh+max(0, k-last), k
		}
	}
	s.growing = 100 * float64(fresh) / float64(max(1, growing)*(n-12))
	for k, size := range stepSizes {
		found, delay := 0, 0
		for range steps {
			v := kind.draw(r, n)
			for i := at; i < n; i++ {
				v[i] += size
			}
			if m := foundAfter(v, at, 15); m > 0 {
				found, delay = found+1, delay+m
			}
		}
		s.steps[k] = per(100, found, steps)
		if size == 0.05 {
			s.delay = float64(delay) / float64(max(1, found))
		}
	}
	drifts := 0
	for range steps {
		v := kind.draw(r, n)
		for i := at; i < n; i++ {
			v[i] += float64(0.005 * float64(min(i-at, 10)))
		}
		for _, x := range FollowCourse(v, alpha).Shifts {
			if x.Lo <= at+11 && max(x.Hi, x.End) >= at-1 && x.After > x.Before {
				drifts++
				break
			}
		}
	}
	s.drift = per(100, drifts, steps)
	return s
}

// foundAfter is after how many commits the step at a place is found; 0: not within so many.
func foundAfter(v []float64, at, within int) int {
	for m := 1; m <= within; m++ {
		for _, x := range FollowCourse(v[:at+m], 0.01).Shifts {
			if x.Lo <= at+1 && x.Hi >= at-1 && x.After > x.Before {
				return m
			}
		}
	}
	return 0
}

func per(of, k, n int) int { return int(math.Round(float64(of*k) / float64(max(1, n)))) }

// document is where the table of noise stands.
const document = "../../../docs/how-to/history.md"

// TestFollowCourse_Noise: of noise alone, 65 series of 1000 raise a false alarm at most, and as many steps
// and drifts are found as before modes were looked for. The slow test also holds the document to its figures.
func TestFollowCourse_Noise(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	series, steps := slowtest.Times(300, 1000), slowtest.Times(30, 200)
	// Four deviations of what is drawn here, beside the 1000 and the 200 of the table.
	slack := func(of, p float64, n int) int {
		if slowtest.Asked() {
			return 0
		}
		return int(of * 4 * math.Sqrt(p*(1-p)/float64(n)))
	}
	for _, kind := range noiseKinds {
		s, was := scoreNoise(kind, series, steps, slowtest.Times(5, 100)), kind.before
		if limit := kind.most + slack(1000, float64(kind.most)/1000, series); s.alarms > limit {
			t.Errorf("%s: %d of 1000 series raise a false alarm, want %d at most", kind.name, s.alarms, limit)
		}
		row := fmt.Sprintf("| %s | %d, %d | %.1f, %.1f |", kind.name, was.alarms, s.alarms, was.growing,
			s.growing)
		for i, found := range s.steps {
			before := was.steps[i]
			if least := before - slack(100, min(0.99, float64(before)/100), steps); found < least {
				t.Errorf("%s: of steps of %g %%, %d of 100 are found, want %d", kind.name, 100*stepSizes[i],
					found, least)
			}
			row += fmt.Sprintf(" %d, %d |", before, found)
		}
		if least := was.drift - slack(100, min(0.99, float64(was.drift)/100), steps); s.drift < least {
			t.Errorf("%s: %d of 100 drifts are found, want %d", kind.name, s.drift, least)
		}
		row += fmt.Sprintf(" %d, %d |", was.drift, s.drift)
		t.Logf("%s steps of 5 %% after %.1f commits", row, s.delay)
		if slowtest.Asked() && !strings.Contains(string(text), row+"\n") {
			t.Errorf("%s lacks the row\n%s", document, row)
		}
	}
}

// TestFollowCourse_NoModes: noise of other kinds is not taken for modes.
func TestFollowCourse_NoModes(t *testing.T) {
	t.Parallel()
	n := slowtest.Times(100, 1000)
	for _, kind := range noiseKinds[:4] {
		r := rand.New(rand.NewPCG(8, 9))
		found := 0
		for range n {
			if FollowCourse(kind.draw(r, 60), 0.01).Modes != nil {
				found++
			}
		}
		t.Logf("%s: modes in %d of %d series", kind.name, found, n)
		if found > n/100 {
			t.Errorf("%s: modes in %d of %d series", kind.name, found, n)
		}
	}
}
