package stats

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// realSeries is the real runs in testdata/course.csv: a column for each series of one unchanged
// program, measured
// on a machine that did other work besides. Logarithms, as a history takes them.
func realSeries(t *testing.T) (series [][]float64, names []string) {
	t.Helper()
	f, err := os.Open("testdata/course.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	names = rows[0]
	series = make([][]float64, len(names))
	for _, row := range rows[1:] {
		for i, text := range row {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			series[i] = append(series[i], math.Log(v))
		}
	}
	return series, names
}

// A truth is what was added to a series: where a change is, or from where to where.
type truth struct{ from, to int }

// score counts true changes that were found, and told changes that are none. A drift is found by a
// change anywhere in it.
type score struct{ found, missed, wrong int }

func (s *score) add(truths []truth, told []truth) {
	for _, x := range truths {
		if slices.ContainsFunc(told, func(y truth) bool { return y.from <= x.to+2 && y.to >= x.from-2 }) {
			s.found++
		} else {
			s.missed++
		}
	}
	for _, y := range told {
		if !slices.ContainsFunc(truths, func(x truth) bool { return y.from <= x.to+2 && y.to >= x.from-2 }) {
			s.wrong++
		}
	}
}

func (s *score) recall() float64    { return float64(s.found) / float64(max(1, s.found+s.missed)) }
func (s *score) precision() float64 { return float64(s.found) / float64(max(1, s.found+s.wrong)) }

func (s *score) String() string {
	return fmt.Sprintf("recall %.3f precision %.3f (%d found, %d missed, %d wrong)", s.recall(),
		s.precision(), s.found,
		s.missed, s.wrong)
}

// contest adds something to real series, at many places, and scores both: ours with an alpha that it keeps,
// the yardstick with its default, which it does not keep, see TestFollowCourse_Pays.
func contest(t *testing.T, change func(y []float64, r *rand.Rand) []truth) (ours, theirs score) {
	series, _ := realSeries(t)
	for i, from := range series {
		for k := range uint64(6) {
			r := rand.New(rand.NewPCG(uint64(i), k))
			y := slices.Clone(from)
			truths := change(y, r)
			var told []truth
			for _, s := range FollowCourse(y, 0.01).Shifts {
				told = append(told, truth{s.At, max(s.At, s.End-1)})
			}
			ours.add(truths, told)
			for j := range y {
				y[j] = math.Exp(y[j])
			}
			told = nil
			for _, at := range hunter(y, 0.001) {
				told = append(told, truth{at, at})
			}
			theirs.add(truths, told)
		}
	}
	return ours, theirs
}

// TestFollowCourse_AgainstHunter: on real runs with steps and outliers of known places, no less is found, and
// no more is told that is not there, than by the yardstick; with drifts, more is right, and it is told
// earlier.
func TestFollowCourse_AgainstHunter(t *testing.T) {
	t.Parallel()
	var ours, theirs score
	for _, c := range []struct {
		name   string
		drift  bool
		change func(y []float64, r *rand.Rand) []truth
	}{
		{"nothing", false, func([]float64, *rand.Rand) []truth { return nil }},
		{"outliers", false, withOutliers(func([]float64, *rand.Rand) []truth { return nil })},
		{"step of 5 %", false, stepOf(0.05)},
		{"step of 10 %", false, stepOf(0.10)},
		{"step of 20 %", false, stepOf(0.20)},
		{"there and back", false, func(y []float64, r *rand.Rand) []truth {
			a := 10 + r.IntN(10)
			b := a + 12 + r.IntN(10)
			for i := a; i < b; i++ {
				y[i] += 0.2
			}
			return []truth{{a, a}, {b, b}}
		}},
		{"step and outliers", false, withOutliers(stepOf(0.2))},
		{"drift of 1 %", true, driftOf(0.01, 20)},
		{"drift of 3 %", true, driftOf(0.03, 10)},
	} {
		a, b := contest(t, c.change)
		t.Logf("%-18s ours %v, hunter's %v", c.name, &a, &b)
		if !c.drift {
			ours, theirs = ours.plus(a), theirs.plus(b)
		}
		if a.recall() < b.recall() || a.wrong > b.wrong || c.drift && a.wrong == b.wrong {
			t.Errorf("%s: %v is no better than %v", c.name, &a, &b)
		}
	}
	t.Logf("but for drifts: ours %v, hunter's %v", &ours, &theirs)
	if ours.recall() < theirs.recall() || ours.precision() < theirs.precision() {
		t.Errorf("%v is less than %v", &ours, &theirs)
	}
}

func (s score) plus(o score) score {
	return score{s.found + o.found, s.missed + o.missed, s.wrong + o.wrong}
}

func withOutliers(change func([]float64, *rand.Rand) []truth) func([]float64, *rand.Rand) []truth {
	return func(y []float64, r *rand.Rand) []truth {
		for range 3 {
			y[r.IntN(len(y))] += 0.3 + r.Float64()
		}
		return change(y, r)
	}
}

// TestFollowCourse_Drift: a drift of 1 % a value is told by the fourth of them where the noise allows, and
// its place is known within two, however short the time before.
func TestFollowCourse_Drift(t *testing.T) {
	t.Parallel()
	const n, drifts = 100, 12
	for _, start := range []int{12, 20, 40} {
		late := 0
		for seed := range uint64(n) {
			r := rand.New(rand.NewPCG(seed, 7))
			y := make([]float64, start+drifts)
			for i := range y {
				y[i] = 0.003*r.NormFloat64() + 0.01*float64(max(0, i-start+1))
			}
			if s := FollowCourse(y[:start+4], 0.01).Shifts; len(s) != 1 || s[0].At < start-2 ||
				s[0].At > start+2 {
				late++
			}
			s := FollowCourse(y, 0.01).Shifts
			if len(s) != 1 || !s[0].Drifts() || s[0].At < start-2 || s[0].At > start+2 || s[0].End != len(y) {
				t.Errorf("%d values before, seed %d: %+v", start, seed, s)
			}
		}
		t.Logf("%d values before: %d of %d not told by the fourth", start, late, n)
		if late > n/20 {
			t.Errorf("%d values before: %d of %d are not told by the fourth", start, late, n)
		}
	}
}

// TestFollowCourse_Pays: of series of noise alone no more have a shift than alpha says. Tails that are
// longer, and neighbours that resemble each other much, cost something; the yardstick more.
func TestFollowCourse_Pays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		most int // of 1000
		draw func(r *rand.Rand, last float64) float64
	}{
		{"normal", 10, func(r *rand.Rand, _ float64) float64 { return r.NormFloat64() }},
		{"exponential", 25, func(r *rand.Rand, _ float64) float64 { return r.ExpFloat64() }},
		{"correlated by 0.3", 30, func(r *rand.Rand, last float64) float64 {
			return 0.3*last +
				r.NormFloat64()
		}},
		{"correlated by 0.5", 75, func(r *rand.Rand, last float64) float64 {
			return 0.5*last +
				r.NormFloat64()
		}},
	} {
		ours, theirs := 0, 0
		for seed := range uint64(1000) {
			r := rand.New(rand.NewPCG(seed, 3))
			y := make([]float64, 8+int(seed%70))
			for i := range y {
				y[i] = c.draw(r, y[max(0, i-1)])
			}
			if len(FollowCourse(y, 0.01).Shifts) > 0 {
				ours++
			}
			if seed < 200 && len(hunter(y, 0.001)) > 0 {
				theirs++
			}
		}
		t.Logf("%s: %d of 1000 at alpha 0.01, by the yardstick %d of 200 at 0.001", c.name, ours, theirs)
		if ours > c.most || ours/5 > theirs {
			t.Errorf("%s: %d of 1000 series of noise have a shift, at alpha 0.01; by the yardstick %d of 200",
				c.name, ours,
				theirs)
		}
	}
}

func TestFollowCourse_Cases(t *testing.T) {
	t.Parallel()
	flat := func(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }
	noise := []float64{0.3, -0.5, 0.1, 0.4, -0.2, -0.4, 0.5, 0, -0.1, 0.2}
	noisy := slices.Concat(noise, noise)
	for _, c := range []struct {
		name     string
		y        []float64
		at       []int
		outliers []int
		late     int
	}{
		{"too few", []float64{1, 1, 9, 9, 9}, nil, nil, 0},
		{"equal", flat(20, 5), nil, nil, 0},
		{"exact step", slices.Concat(flat(8, 5), flat(5, 6)), []int{8}, nil, 0},
		{"outlier", slices.Concat(noisy, []float64{30}, noisy), nil, []int{20}, 0},
		{"two outliers", slices.Concat(noisy, []float64{30, 31}, noisy), nil, []int{20, 21}, 0},
		{"the last lies apart", slices.Concat(noisy, []float64{30}), nil, nil, 1},
		{"the last two lie apart", slices.Concat(noisy, []float64{30, 30}), nil, nil, 2},
		{"the last two lie apart, the one before does not", slices.Concat(noisy, []float64{1.5, 30, 30}), nil,
			nil, 2},
		{"the last three are a step", slices.Concat(noisy, []float64{30, 30.2, 29.9}), []int{20}, nil, 0},
		{"an outlier before a step", slices.Concat(noisy, []float64{-40, 0.2, -0.3, 0.1, 0}, flat(1, 30),
			flat(9, 30.1)),
			[]int{25}, []int{20}, 0},
	} {
		got := FollowCourse(c.y, 0.001)
		var at []int
		for _, s := range got.Shifts {
			at = append(at, s.At)
			if s.Drifts() || s.Lo > s.At || s.Hi < s.At {
				t.Errorf("%s: %+v", c.name, s)
			}
		}
		if !slices.Equal(at, c.at) || !slices.Equal(got.Outliers, c.outliers) || got.Late != c.late {
			t.Errorf("%s: shifts at %v, outliers %v, late %d; want %v, %v, %d", c.name, at, got.Outliers,
				got.Late, c.at,
				c.outliers, c.late)
		}
		if len(got.Level) != len(c.y) {
			t.Errorf("%s: %d levels of %d values", c.name, len(got.Level), len(c.y))
		}
	}
}

func BenchmarkFollowCourse(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	y := make([]float64, 500)
	for i := range y {
		y[i] = r.NormFloat64() + float64(i/100)
	}
	for b.Loop() {
		FollowCourse(y, 0.001)
	}
}

func stepOf(size float64) func(y []float64, r *rand.Rand) []truth {
	return func(y []float64, r *rand.Rand) []truth {
		at := 10 + r.IntN(len(y)-20)
		for i := at; i < len(y); i++ {
			y[i] += size
		}
		return []truth{{at, at}}
	}
}

func driftOf(each float64, n int) func(y []float64, r *rand.Rand) []truth {
	return func(y []float64, r *rand.Rand) []truth {
		at := 10 + r.IntN(len(y)-20-n)
		for i := at; i < len(y); i++ {
			y[i] += each * float64(min(n, i-at+1))
		}
		return []truth{{at, at + n - 1}}
	}
}
