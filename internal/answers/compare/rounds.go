package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// pairRounds compares b with a round by round: the trials of one round have the luck of its
// start in common, so that they are no independent witnesses of a difference. Pairs of trials
// are made within rounds, each round has the centre of its pairs, and the signs of a round
// change together. Where the rounds of the runs do not match, N is 0.
func pairRounds(a, b *results.Cell, lucky [][2]*results.Trial, m *metric.Metric) Pairing {
	type both struct{ x, y []float64 }
	var rounds []*both
	var hosts []string
	of, partner := map[start]*both{}, map[start]start{}
	for _, p := range lucky {
		base, new := startOf(p[0]), startOf(p[1])
		r := of[base]
		if r == nil {
			if _, taken := partner[new]; taken {
				return Pairing{of: m}
			}
			r = &both{}
			of[base], partner[new], rounds = r, base, append(rounds, r)
			hosts = append(hosts, base.host)
		}
		if mate, known := partner[new]; !known || mate != base {
			return Pairing{of: m}
		}
		r.x, r.y = append(r.x, observed(p[0], m)), append(r.y, observed(p[1], m))
	}
	p := Pairing{of: m, rounds: true, hosts: hosts}
	each := make([]stats.Paired, len(rounds))
	ratios := true
	for i, r := range rounds {
		p := stats.Pairs(r.x, r.y, stats.Confidence)
		each[i] = p
		ratios = ratios && (p.N == 0 || p.Censored > 0 || !math.IsNaN(p.Ratio))
	}
	// against compares the rounds' centres with what they were if nothing differed.
	against := func(none float64, center func(*stats.Paired) float64) stats.Paired {
		x, y := make([]float64, len(each)), make([]float64, len(each))
		for i := range each {
			p := &each[i]
			x[i], y[i] = none, center(p)
			switch hidden := math.IsNaN(y[i]) && p.Censored > 0; {
			case hidden && p.Tendency > 0:
				y[i] = math.Inf(1)
			case hidden && p.Tendency < 0:
				x[i], y[i] = math.Inf(1), none
			}
		}
		return stats.Pairs(x, y, stats.Confidence)
	}
	p.Paired = against(0, func(p *stats.Paired) float64 { return p.Shift })
	if ratios {
		shifts := p.Paired
		p.Paired = against(1, func(p *stats.Paired) float64 { return p.Ratio })
		p.Shift, p.ShiftLow, p.ShiftHigh = shifts.Shift, shifts.ShiftLow, shifts.ShiftHigh
		p.SameShift = shifts.SameShift
	}
	p.Left += max(starts(a), starts(b)) - len(rounds)
	for i := range rounds {
		p.keys = append(p.keys, i)
	}
	return p
}

// A start is one of everything that trials ran on: a round on a machine.
type start struct {
	host  string
	round int
}

func startOf(t *results.Trial) start { return start{t.Host, t.Start()} }

func starts(c *results.Cell) int {
	seen := map[start]bool{}
	for _, t := range c.Trials {
		seen[startOf(t)] = true
	}
	return len(seen)
}

// centers are the medians of rounds: +Inf where time-outs hide one.
func centers(s results.Sample) (out []float64) {
	for _, g := range s.Groups() {
		slices.Sort(g)
		if v := stats.Quantile(g, 0.5); !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

// roundsNote says what rounds mean for the comparison; "" if there are none.
func roundsNote(m *matching) string {
	var base, new int
	for _, p := range m.pairs {
		base, new = max(base, p.base.Starts()), max(new, p.new.Starts())
	}
	switch {
	case base < 2 && new < 2:
		return ""
	case base < 2 || new < 2:
		alone, other := "NEW", "BASE"
		if new < 2 {
			alone, other = other, alone
		}
		return fmt.Sprintf("%s alone has rounds (%d): how much %s owes to the luck of its one start is in "+
			"no p and no interval; run both with the same --rounds", alone, max(base, new), other)
	case base != new:
		return fmt.Sprintf("BASE has %d rounds and NEW %d, so that they make no pairs: the medians of "+
			"rounds are compared by their ranks; run both with the same --rounds", base, new)
	}
	return ""
}

// A Spread is how much of a metric's variance lies between the rounds of a run: in each cell
// relative to the cell's mean, and over all cells.
type Spread struct {
	Metric    string
	Cells     int // whose variances are known
	Rounds    int
	Trials    int // of a cell in a round, about
	Share     float64
	Low, High float64 // 95 % interval of the share; NaN with several cells
	Best      int     // trials of a cell in a round that make the most of the time; 0: unknown
	RoundMS   float64 // what starting a round costs, as far as each cell is concerned
	TrialMS   float64
}

// Spreads splits the variance of the main metrics of a run on real nodes between its rounds
// and the trials within them; none if it has one round. The rounds of several cells are
// those of one start each; their variances are added as parts of the squared mean.
func Spreads(t *results.Table) (out []Spread) {
	cells := t.Cells()
	rounds := 0
	for _, c := range cells {
		rounds = max(rounds, c.Starts())
	}
	if rounds < 2 {
		return nil
	}
	for _, problem := range []algo.Problem{algo.Election, algo.MutualExclusion} {
		for _, m := range metric.Shown(problem, metric.Brief) {
			if s := spreadOf(t, cells, m, problem); s.Cells > 0 {
				s.Rounds = rounds
				out = append(out, s)
			}
		}
	}
	return out
}

func spreadOf(t *results.Table, cells []*results.Cell, m *metric.Metric, problem algo.Problem) Spread {
	s := Spread{Metric: m.Name, Low: math.NaN(), High: math.NaN(), RoundMS: math.NaN(), TrialMS: math.NaN()}
	var sum stats.Levels
	members := 0.0
	for _, c := range cells {
		groups := c.ByStart(m.Name).Groups()
		l := stats.VarianceLevels(groups, stats.Confidence)
		mean := c.Describe(m.Name).Mean
		if c.Get("problem") != string(problem) || math.IsNaN(l.Share()) || mean == 0 {
			continue
		}
		s.Cells++
		sum.Between += l.Between / (mean * mean)
		sum.Within += l.Within / (mean * mean)
		s.Low, s.High = l.Low, l.High
		members += float64(l.N) / float64(l.Groups)
	}
	if s.Cells == 0 {
		return s
	}
	s.Share, s.Trials = sum.Share(), int(math.Round(members/float64(s.Cells)))
	if s.Cells > 1 {
		s.Low, s.High = math.NaN(), math.NaN()
	}
	if t.Manifest == nil || t.Manifest.Costs == nil {
		return s
	}
	costs := t.Manifest.Costs
	s.RoundMS, s.TrialMS = costs.RoundMS/float64(len(cells)), costs.TrialMS
	s.Best = sum.Members(s.RoundMS, s.TrialMS, mostTrials)
	return s
}

// mostTrials stands for as many trials in a round as one likes.
const mostTrials = 1_000_000

// Unbounded says whether as many trials in a round as one likes help as much as rounds.
func (s Spread) Unbounded() bool { return s.Best == mostTrials }

// String says where the variance lies, and what would help.
func (s Spread) String() string {
	text := fmt.Sprintf("between rounds %s, between trials %s of the variance of %s", share(s.Share),
		share(1-s.Share), s.Metric)
	var rest []string
	if !math.IsNaN(s.Low) {
		rest = append(rest, fmt.Sprintf("of normal values, with 95 %% confidence, rounds have %s to %s",
			share(s.Low), share(s.High)))
	}
	rest = append(rest, fmt.Sprintf("%d rounds of %d trials in a cell", s.Rounds, s.Trials))
	text += " (" + strings.Join(rest, "; ") + ")"
	costs := fmt.Sprintf("a round costs %s ms to start for each cell, a trial %s ms",
		console.Number(s.RoundMS), console.Number(s.TrialMS))
	switch {
	case s.Best == 0:
	case s.Unbounded():
		text += ": more trials help as much as more rounds, and cost less: " + costs
	case s.Best < s.Trials:
		text += fmt.Sprintf(": more rounds, not more trials, would help: the most for the time are rounds "+
			"of %d; %s", s.Best, costs)
	case s.Best > s.Trials:
		text += fmt.Sprintf(": more trials in a round would help: the most for the time are rounds of %d; %s",
			s.Best, costs)
	default:
		text += ", which is the most for the time: " + costs
	}
	return text
}

// share is a part of a whole, in per cent.
func share(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }

// InRounds says whether rounds are what the row's test counts.
func (row *Row) InRounds() bool { return row.rounds }

// Tested is how many units the test by ranks compares on each side: trials, or rounds.
func (row *Row) Tested() (base, new int) {
	for _, n := range row.counts {
		base, new = base+n[0], new+n[1]
	}
	return base, new
}

// unit is what the row's tests count, and the key that says how many there are.
func (row *Row) unit() (unit, key string) {
	if row.rounds {
		return "rounds", "rounds"
	}
	return "trials", "repetitions"
}

// A luckKey is what the pairs of one repetition of both runs have in common, in all cells: the seed,
// the machine, and the how manieth it is where seeds stand more than once.
type luckKey struct {
	seed uint64
	host string
	nth  int
}

// luckOf is that of a trial of a cell, after those that were seen.
func luckOf(t *results.Trial, seen map[luckKey]int) luckKey {
	key := luckKey{seed: t.Seed, host: t.Host}
	key.nth = seen[key]
	seen[key]++
	return key
}

// signed are the pairs of each row, for stats.StepDown, and how luck numbers them; none if it has no pairs.
func (r *Report) signed() []stats.Signed {
	out, known, keys := make([]stats.Signed, len(r.Rows)), map[luckKey]int{}, map[*results.Cell][]int{}
	for i := range r.Rows {
		row := &r.Rows[i]
		p, cell := row.Paired, row.cells.base
		if p == nil {
			continue
		}
		out[i] = stats.Signed{Differences: p.Differences, Keys: p.keys}
		if p.rounds {
			continue
		}
		if keys[cell] == nil {
			seen := map[luckKey]int{}
			for _, t := range row.cells.lucky {
				key := luckOf(t[0], seen)
				if _, is := known[key]; !is {
					known[key] = len(known)
				}
				keys[cell] = append(keys[cell], known[key])
			}
		}
		out[i].Keys = keys[cell]
	}
	return out
}

// plural is what pairs are called in a sentence.
func (p *Pairing) plural() string {
	if p.rounds {
		return "rounds"
	}
	return "pairs"
}
