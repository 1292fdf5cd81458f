package compare

import (
	"cmp"
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

// byRound are the pairs of trials of each round, and the machine that it was on. It fails if the rounds
// of the runs do not match.
func byRound(lucky [][2]*results.Trial) (rounds [][][2]*results.Trial, hosts []string, ok bool) {
	number, partner := map[start]int{}, map[start]start{}
	for _, p := range lucky {
		base, new := startOf(p[0]), startOf(p[1])
		i, known := number[base]
		if !known {
			if _, taken := partner[new]; taken {
				return nil, nil, false
			}
			i = len(rounds)
			number[base], partner[new] = i, base
			rounds, hosts = append(rounds, nil), append(hosts, base.host)
		}
		if mate, known := partner[new]; !known || mate != base {
			return nil, nil, false
		}
		rounds[i] = append(rounds[i], p)
	}
	return rounds, hosts, true
}

// pairRounds compares b with a round by round: the trials of one round have the luck of its
// start in common, so that they are no independent witnesses of a difference. Pairs of trials
// are made within rounds, each round has the centre of its pairs, or the mean of its parts, and the signs
// of a round change together. Where the rounds of the runs do not match, N is 0.
func pairRounds(a, b *results.Cell, lucky [][2]*results.Trial, m *metric.Metric, of part) Pairing {
	rounds, hosts, ok := byRound(lucky)
	if !ok {
		return Pairing{of: m}
	}
	p := Pairing{of: m, rounds: true, hosts: hosts}
	for i := range rounds {
		p.keys = append(p.keys, i)
	}
	if of != nil {
		x, y := make([]stats.Part, len(rounds)), make([]stats.Part, len(rounds))
		for i, pairs := range rounds {
			x[i], y[i] = stats.Together(partsOf(pairs, 0, of)), stats.Together(partsOf(pairs, 1, of))
		}
		p.Paired = stats.PooledPairs(x, y, stats.Confidence, bootstrapSeed)
		p.Left += max(starts(a), starts(b)) - len(rounds)
		return p
	}
	each := make([]stats.Paired, len(rounds))
	ratios := true
	for i, pairs := range rounds {
		x, y := make([]float64, len(pairs)), make([]float64, len(pairs))
		for k, p := range pairs {
			x[k], y[k] = observed(p[0], m), observed(p[1], m)
		}
		p := stats.Pairs(x, y, stats.Confidence)
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
func centers(s *results.Sample) (out []float64) {
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
		return fmt.Sprintf("only %s has rounds (%d): no p-value or interval covers the effect of the "+
			"single start of %s; run both with the same --rounds", alone, max(base, new), other)
	case base != new:
		return fmt.Sprintf("BASE has %d rounds and NEW %d, so that they cannot be paired: the medians of "+
			"rounds are compared by rank; run both with the same --rounds", base, new)
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
		rest = append(rest, fmt.Sprintf("95 %% interval of the share of rounds, for normal values: %s to %s",
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
		text += fmt.Sprintf(": more rounds would help, not more trials: most efficient are rounds "+
			"of %d; %s", s.Best, costs)
	case s.Best > s.Trials:
		text += fmt.Sprintf(": more trials in a round would help: most efficient are rounds of %d; %s",
			s.Best, costs)
	default:
		text += ", which is the most efficient division: " + costs
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

func (k luckKey) compare(other luckKey) int {
	return cmp.Or(cmp.Compare(k.seed, other.seed), strings.Compare(k.host, other.host),
		cmp.Compare(k.nth, other.nth))
}

// luckOf is that of a trial of a cell, after those that were seen.
func luckOf(t *results.Trial, seen map[luckKey]int) luckKey {
	key := luckKey{seed: t.Seed, host: t.Host}
	key.nth = seen[key]
	seen[key]++
	return key
}

// A numbering counts the repetitions of all cells, each once, as stats.Signed wants them.
type numbering map[luckKey]int

func (n numbering) of(key luckKey) int {
	number, known := n[key]
	if !known {
		number = len(n)
		n[key] = number
	}
	return number
}

// signed are the pairs of each row, for stats.StepDown, and how luck numbers them; none if it has no pairs.
func signed(rows []*Row) []stats.Signed {
	out, number, keys := make([]stats.Signed, len(rows)), numbering{}, map[*results.Cell][]int{}
	for i, row := range rows {
		p, cell := row.Paired, row.cells.base
		if p == nil {
			continue
		}
		out[i] = stats.Signed{Differences: p.Differences, Keys: p.keys,
			Mean: row.Test == MeanPairs || row.Test == TailPairs}
		if p.rounds {
			continue
		}
		if keys[cell] == nil {
			for _, key := range lucks(row.cells.lucky) {
				keys[cell] = append(keys[cell], number.of(key))
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
