package runner_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the tables of docs/explanation/stopping.md, with CONCLAVE_NIGHTLY=1")

// A chance draws values whose median is known. Those above limit are cut off: a time-out.
type chance struct {
	name          string
	draw          func(*rand.Rand) float64
	median, limit float64
}

func chances() []chance {
	two := func(share, a, b float64) func(*rand.Rand) float64 {
		return func(r *rand.Rand) float64 {
			if r.Float64() < share {
				return a + 2*r.Float64()
			}
			return b + 2*r.Float64()
		}
	}
	exponential := func(r *rand.Rand) float64 { return 30 * r.ExpFloat64() }
	none := math.Inf(1)
	return []chance{
		{"normal, deviation 10 %", func(r *rand.Rand) float64 { return 100 + 10*r.NormFloat64() }, 100, none},
		{"uniform, 20 to 40", func(r *rand.Rand) float64 { return 20 + 20*r.Float64() }, 30, none},
		{"log-normal, σ 0.5", func(r *rand.Rand) float64 { return 30 * math.Exp(0.5*r.NormFloat64()) }, 30, none},
		{"exponential", exponential, 30 * math.Ln2, none},
		{"exponential, 22 % timed out", exponential, 30 * math.Ln2, 45},
		{"exponential, in steps of 10", func(r *rand.Rand) float64 { return 10 * math.Ceil(exponential(r)/10) }, 30,
			none},
		{"two peaks, 55 % in the lower", two(0.55, 9, 19), 9 + 2*0.5/0.55, none},
		{"time-outs of Raft, 10 % vote twice", func(r *rand.Rand) float64 {
			v := 150 + 150*r.Float64()
			if r.Float64() < 0.1 {
				v += 150 + 150*r.Float64()
			}
			return v
		}, 150 + 150*0.5/0.9, none},
	}
}

// A stop is a rule, once with intervals for a fixed n and once with anytime.
type stop struct {
	least, most, percent int
	experiments          [2]*experiment.Experiment
	ranks                [2][][2]int // by n: the ends of the interval; 0: there is none
}

// methods are those of a stop's experiments.
var methods = [2]stats.Method{stats.FixedN, stats.Anytime}

func (s *stop) String() string { return fmt.Sprintf("%d, %d, %d %%", s.least, s.most, s.percent) }

func stops(t testing.TB) []stop {
	all := []stop{{least: 6, most: 100, percent: 20}, {least: 10, most: 100, percent: 10},
		{least: 10, most: 100, percent: 20}, {least: 10, most: 300, percent: 10}}
	upTo := make([]float64, 300)
	for i := range upTo {
		upTo[i] = float64(i + 1)
	}
	for i := range all {
		s := &all[i]
		for k, m := range methods {
			e, err := experiment.Load(write(t, fmt.Sprintf("problem: election\nalgorithms: [bully]\n"+
				"repetitions: {min: %d, max: %d, until: {metric: election_ms, ci: %d%%, anytime: %t}}\n",
				s.least, s.most, s.percent, m == stats.Anytime)), experiment.Overrides{})
			must(t, err)
			s.experiments[k], s.ranks[k] = e, make([][2]int, s.most+1)
			for n := range s.ranks[k] {
				if d := m.Describe(upTo[:n], 0); !math.IsNaN(d.CILow) {
					s.ranks[k][n] = [2]int{int(d.CILow), int(d.CIHigh)}
				}
			}
		}
	}
	return all
}

// A seen is what a cell has observed, in that order and sorted, and the interval of its median.
type seen struct {
	all, sorted []float64
	low, high   float64
}

func (c *chance) draws(s *seen, r *rand.Rand) {
	v := c.draw(r)
	if v > c.limit {
		v = math.Inf(1)
	}
	at, _ := slices.BinarySearch(s.sorted, v)
	s.all, s.sorted = append(s.all, v), slices.Insert(s.sorted, at, v)
}

// look finds the interval, and says whether there is one that is within the part of the median.
func (s *seen) look(k [2]int, part float64) bool {
	n := len(s.sorted)
	s.low, s.high = math.Inf(-1), math.Inf(1)
	if k[0] == 0 {
		return false
	}
	s.low, s.high = s.sorted[k[0]-1], s.sorted[k[1]-1]
	return !math.IsInf(s.high, 1) && (s.high-s.low)/2 <= part*(s.sorted[(n-1)/2]+s.sorted[n/2])/2
}

// until is a cell that the rule has ended.
func (c *chance) until(s *stop, method int, r *rand.Rand) *seen {
	var out seen
	for n := 1; ; n++ {
		c.draws(&out, r)
		if n >= s.least && out.look(s.ranks[method][n], float64(s.percent)/100) || n == s.most {
			return &out
		}
	}
}

// fixed is a cell of n trials.
func (c *chance) fixed(s *stop, method, n int, r *rand.Rand) *seen {
	var out seen
	for range n {
		c.draws(&out, r)
	}
	out.look(s.ranks[method][n], 0)
	return &out
}

func (s *seen) holds(v float64) bool { return s.low <= v && v <= s.high }

// asRun fails unless the runner ends the cell there, and the interval is the one it shows.
func (s *seen) asRun(t *testing.T, e *experiment.Experiment) {
	t.Helper()
	by := runner.NewStopping(e)
	var values []float64
	for i, v := range s.all {
		if !by.Needs(1, i+1) {
			t.Fatalf("%v: the runner ends after %d of %d", e.Until, i, len(s.all))
		}
		if math.IsInf(v, 1) {
			by.Add(row(i+1, trace.TimedOut, math.NaN()))
		} else {
			values = append(values, v)
			by.Add(row(i+1, trace.OK, v))
		}
	}
	d := by.Rule().Method().Describe(values, len(s.all)-len(values))
	if by.Needs(1, len(s.all)+1) || !math.IsInf(s.low, 0) && d.CILow != s.low ||
		!math.IsInf(s.high, 0) && d.CIHigh != s.high || d.Method == stats.Anytime != e.Until.Anytime {
		t.Fatalf("%v: after %d the runner goes on, or has another interval than [%v, %v]: %+v", e.Until,
			len(s.all), s.low, s.high, d)
	}
}

// everHolds says in how large a share of cells all the intervals that the rule would see, if
// it never stopped, have the median.
func (c *chance) everHolds(s *stop, method int, r *rand.Rand, runs int) float64 {
	held := 0
	for range runs {
		below, upTo, out := 0, 0, false // how many are below the median, and how many not above it
		for n := 1; n <= s.most; n++ {
			switch v := c.draw(r); {
			case v < c.median:
				below++
				upTo++
			case v == c.median:
				upTo++
			}
			if k := s.ranks[method][n]; n >= s.least && k[0] > 0 {
				out = out || upTo < k[0] || below >= k[1]
			}
		}
		if !out {
			held++
		}
	}
	return float64(held) / float64(runs)
}

// TestRule_Coverage holds docs/explanation/stopping.md to what the rule does: how often the interval at
// the stop has the median, and how often all those on the way have it. With anytime that is
// 95 % at least, but for chance, whatever is drawn.
func TestRule_Coverage(t *testing.T) {
	t.Parallel()
	runs := times(100, mostRuns)
	rules, rows := stops(t), [][]string(nil)
	for i, c := range chances() {
		for j := range rules {
			s := &rules[j]
			line := []string{c.name, s.String()}
			for k, m := range methods {
				if runs < mostRuns && (i+j)%4 != 1 { // by day some do
					line = append(line, "", "", "")
					continue
				}
				r := rand.New(rand.NewPCG(uint64(10*i+j), uint64(k)))
				held := 0
				var n []float64
				for run := range runs {
					cell := c.until(s, k, r)
					if run < checked {
						cell.asRun(t, s.experiments[k])
					}
					n = append(n, float64(len(cell.all)))
					if cell.holds(c.median) {
						held++
					}
				}
				slices.Sort(n)
				at, ever := float64(held)/float64(runs), c.everHolds(s, k, r, runs)
				line = append(line, share(at), share(ever), fmt.Sprintf("%.0f", stats.Quantile(n, 0.5)))
				if least := 0.95 - chanceOf(0.95, runs); m == stats.Anytime && min(at, ever) < least {
					t.Errorf("%s, %v: anytime holds the median in %v of the cells, in all looks in %v", c.name, s,
						at, ever)
				}
			}
			rows = append(rows, line)
		}
	}
	onPage(t, "| distribution | min, max, ci |", rows, runs)
}

// TestRule_Tests holds docs/explanation/stopping.md to how often tests that take n for fixed find a
// difference where there is none, once the rule has ended the cells.
func TestRule_Tests(t *testing.T) {
	t.Parallel()
	runs := times(25, mostRuns)
	s, rows := &stops(t)[2], [][]string(nil)
	for i, c := range chances() {
		for j, both := range []bool{true, false} {
			line := []string{c.name, map[bool]string{true: "both", false: "one, against 50"}[both]}
			for k := range methods {
				if runs < mostRuns && (i+j)%4 != 1 {
					line = append(line, "", "", "")
					continue
				}
				r := rand.New(rand.NewPCG(uint64(10*i+j), uint64(2+k)))
				byRanks, byPairs, apart := 0, 0, 0
				for range runs {
					a, b := c.until(s, k, r), c.fixed(s, k, 50, r)
					if both {
						b = c.until(s, k, r)
					}
					if stats.MannWhitney(a.all, b.all).P <= 0.05 {
						byRanks++
					}
					if stats.Pairs(a.all, b.all, 0.95).P <= 0.05 {
						byPairs++
					}
					if a.low > b.high || b.low > a.high {
						apart++
					}
				}
				for _, n := range []int{byRanks, byPairs, apart} {
					line = append(line, share(float64(n)/float64(runs)))
				}
			}
			rows = append(rows, line)
		}
	}
	onPage(t, "| distribution | stopped |", rows, runs)
}

const (
	mostRuns = 10_000 // cells behind a figure of the page, by night
	checked  = 5      // of them against the runner
)

func share(v float64) string { return fmt.Sprintf("%.3f", v) }

// chanceOf is how far a share of so many may be off.
func chanceOf(p float64, runs int) float64 { return 4 * math.Sqrt(p*(1-p)/float64(runs)) }

// onPage holds the rows of a table of docs/explanation/stopping.md, whose first line begins with head,
// to what was measured; an empty figure was not.
func onPage(t *testing.T, head string, rows [][]string, runs int) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "explanation", "stopping.md")
	b, err := os.ReadFile(path)
	must(t, err)
	lines := strings.Split(string(b), "\n")
	first := 2 + slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, head) })
	last := first
	for last < len(lines) && strings.HasPrefix(lines[last], "| ") {
		last++
	}
	var measured []string
	for _, row := range rows {
		measured = append(measured, "| "+strings.Join(row, " | ")+" |")
	}
	if *rewrite && runs == mostRuns && first >= 2 {
		lines = slices.Replace(lines, first, last, measured...)
		must(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644))
		return
	}
	if first < 2 || last-first != len(rows) {
		t.Fatalf("%s: %d rows below %q, want %d: CONCLAVE_NIGHTLY=1 go test ./pkg/runner -run TestRule_ -rewrite",
			path, last-first, head, len(rows))
	}
	for i, row := range rows {
		was := strings.Split(strings.Trim(lines[first+i], "| "), " | ")
		if len(was) != len(row) || !slices.Equal(was[:2], row[:2]) || !slices.EqualFunc(was[2:], row[2:],
			func(was, now string) bool { return alike(was, now, runs) }) {
			t.Errorf("%s: %s, but measured is %s", path, lines[first+i], measured[i])
		}
	}
}

// alike says whether chance alone may be between two figures: one of mostRuns, and one
// of runs. Shares have decimals; the others are medians of n.
func alike(was, now string, runs int) bool {
	a, errA := strconv.ParseFloat(was, 64)
	b, errB := strconv.ParseFloat(now, 64)
	switch {
	case errA != nil:
		return false
	case errB != nil || !strings.Contains(now, "."):
		return now == "" || math.Abs(a-b) <= 2+a*5/math.Sqrt(float64(runs))
	}
	p := min(max((a+b)/2, 0.01), 0.99)
	return math.Abs(a-b) <= 0.001+chanceOf(p, runs)+chanceOf(p, mostRuns)
}
