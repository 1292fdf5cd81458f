package reproduce

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
)

// A point is the cell at which a formula is evaluated. What it lacks is noted.
type point struct {
	cell *experiment.Cell
	err  error
}

// N is how many processes there are.
func (p *point) N() float64 { return float64(p.cell.Plan.Nodes) }

// column is a number of the design.
func (p *point) column(name string) float64 {
	for _, f := range p.cell.Design {
		if f.Name == name {
			v, err := strconv.ParseFloat(f.Value, 64)
			if err != nil {
				p.err = fmt.Errorf("column %s: %q is no number", name, f.Value)
			}
			return v
		}
	}
	p.err = fmt.Errorf("the design has no column %s", name)
	return math.NaN()
}

// param is a duration among the algorithm's parameters, in milliseconds.
func (p *point) param(name string) float64 {
	params := algo.Params(p.cell.Plan.Params)
	if _, ok := params[name]; !ok {
		p.err = fmt.Errorf("%s has no parameter %s", p.cell.Algorithm, name)
		return math.NaN()
	}
	return params.Duration(name).Seconds() * 1000
}

// D is the diameter of the topology.
func (p *point) D() float64 {
	g, err := algo.Build(p.cell.Plan.Shape, p.cell.Plan.Nodes, 0)
	if err != nil {
		p.err = err
		return math.NaN()
	}
	longest := 0
	for _, from := range g.Peers() {
		distance := map[algo.ID]int{from: 0}
		for queue := []algo.ID{from}; len(queue) > 0; queue = queue[1:] {
			for _, next := range g.Adjacent(queue[0]) {
				if _, seen := distance[next]; !seen {
					distance[next] = distance[queue[0]] + 1
					longest = max(longest, distance[next])
					queue = append(queue, next)
				}
			}
		}
	}
	return float64(longest)
}

// E is the number of links.
func (p *point) E() float64 {
	g, err := algo.Build(p.cell.Plan.Shape, p.cell.Plan.Nodes, 0)
	if err != nil {
		p.err = err
		return math.NaN()
	}
	return float64(len(g.Edges()))
}

// claim is the bound that the algorithm's own Spec states.
func (p *point) claim(metric, load string) (lo, hi float64) {
	a, err := algo.Lookup(p.cell.Algorithm)
	if err != nil {
		p.err = err
		return math.NaN(), math.NaN()
	}
	for _, c := range a.Spec.Claims {
		if c.Metric == metric && c.Load == load {
			return c.Bound(p.cell.Plan.Nodes)
		}
	}
	p.err = fmt.Errorf("%s claims nothing about %s under %s load", p.cell.Algorithm, metric, load)
	return math.NaN(), math.NaN()
}

// split is how likely Raft's vote is split in the first term, if messages take d and
// all timers start at one instant and are set to something between τ and τ + s. One
// of N is down. A process that is first, at t, has asked everybody by t + d; those that have
// not timed out by then vote for it. It needs a majority m with its own vote, so that
// it fails if m' = N - m or more others have timed out, which of N - 1 uniform draws
// means: the least lies within d/s of the (m'+1)th. The spacings of uniform draws are
// exchangeable, so that this is as likely as m' draws or more below d/s.
func (p *point) split() float64 {
	n := p.cell.Plan.Nodes
	m := n/2 + 1
	return atLeastOf(n-1, n-m, p.column("latency_ms")/p.param("t_election_spread"))
}

// atLeastOf is the probability of k successes or more in n trials.
func atLeastOf(n, k int, x float64) float64 {
	sum, ways := 0.0, 1.0 // to choose i of n
	for i := 0; i <= n; i++ {
		if i >= k {
			sum += ways * math.Pow(x, float64(i)) * math.Pow(1-x, float64(n-i))
		}
		ways = ways * float64(n-i) / float64(i+1)
	}
	return sum
}

// undelayed is the median of Raft's downtime if messages took no time: τ and the least
// of N - 1 draws from the spread, less the silence before the crash, which is uniform
// up to half of τ. Where messages take time it is a bound from below.
func (p *point) undelayed() float64 {
	const steps = 2000
	tau, spread := p.param("t_election"), p.param("t_election_spread")
	below := func(x float64) (share float64) {
		for i := range steps {
			silence := tau / 2 * (float64(i) + 0.5) / steps
			draw := 0.0
			if over := x + silence - tau; over >= spread {
				draw = 1
			} else if over > 0 {
				draw = over / spread
			}
			share += (1 - math.Pow(1-draw, p.N()-1)) / steps
		}
		return share
	}
	lo, hi := tau/2, tau+spread
	for range 50 {
		if mid := (lo + hi) / 2; below(mid) < 0.5 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// formulas is what can be asserted, under the name that the reader sees. N is the
// number of processes, E that of links, D the diameter, K the size of a quorum, d the delay of a
// message; τ (or T) and s are the least election time-out and its spread, in ms. A round of
// ble is its time-out.
var formulas = map[string]func(*point) float64{
	"N":        func(p *point) float64 { return p.N() },
	"N-1":      func(p *point) float64 { return p.N() - 1 },
	"N-2":      func(p *point) float64 { return p.N() - 2 },
	"2N":       func(p *point) float64 { return 2 * p.N() },
	"2N-1":     func(p *point) float64 { return 2*p.N() - 1 },
	"2N-2":     func(p *point) float64 { return 2*p.N() - 2 },
	"2N-4":     func(p *point) float64 { return 2*p.N() - 4 },
	"3N-4":     func(p *point) float64 { return 3*p.N() - 4 },
	"3N-6":     func(p *point) float64 { return 3*p.N() - 6 },
	"4N-4":     func(p *point) float64 { return 4*p.N() - 4 },
	"2(N-1)":   func(p *point) float64 { return 2 * (p.N() - 1) },
	"3(N-1)":   func(p *point) float64 { return 3 * (p.N() - 1) },
	"2N²":      func(p *point) float64 { return 2 * p.N() * p.N() },
	"N²":       func(p *point) float64 { return p.N() * p.N() },
	"N²-1":     func(p *point) float64 { return p.N()*p.N() - 1 },
	"N²-N-1":   func(p *point) float64 { return p.N()*p.N() - p.N() - 1 },
	"N²+N-5":   func(p *point) float64 { return p.N()*p.N() + p.N() - 5 },
	"N(N-1)":   func(p *point) float64 { return p.N() * (p.N() - 1) },
	"(N-1)²":   func(p *point) float64 { return (p.N() - 1) * (p.N() - 1) },
	"2(N-1)²":  func(p *point) float64 { return 2 * (p.N() - 1) * (p.N() - 1) },
	"4N":       func(p *point) float64 { return 4 * p.N() },
	"N(N+1)/2": func(p *point) float64 { return p.N() * (p.N() + 1) / 2 },
	"N H(N)":   func(p *point) float64 { return p.N() * algo.Harmonic(p.cell.Plan.Nodes) },
	"2N⌊log2 N⌋+2N": func(p *point) float64 {
		return p.N() * (2*math.Floor(math.Log2(p.N())) + 2)
	},
	"2N⌊log2 N⌋+3N": func(p *point) float64 {
		return p.N() * (2*math.Floor(math.Log2(p.N())) + 3)
	},
	"8N+8⌈N log2 N⌉": func(p *point) float64 { return 8 * (p.N() + math.Ceil(p.N()*math.Log2(p.N()))) },
	"3-5/N+2/N²":     func(p *point) float64 { return (3*p.N() - 2) * (p.N() - 1) / (p.N() * p.N()) },
	"2.441716N":      func(p *point) float64 { return 2.441716 * p.N() },
	"M(N)N": func(p *point) float64 { // the claim without WAKE
		lo, hi := p.claim("messages/election", "mean")
		return (lo+hi)/2 - p.N()
	},
	"N/2":      func(p *point) float64 { return p.N() / 2 },
	"N-1/N":    func(p *point) float64 { return p.N() - 1/p.N() },
	"ln N":     func(p *point) float64 { return math.Log(p.N()) },
	"log2 N":   func(p *point) float64 { return math.Log2(p.N()) },
	"H(N-1)":   func(p *point) float64 { return algo.Harmonic(p.cell.Plan.Nodes - 1) },
	"4(N-1)/N": func(p *point) float64 { return 4 * (p.N() - 1) / p.N() },
	"4(N-1)²/N²": func(p *point) float64 {
		return 4 * (p.N() - 1) * (p.N() - 1) / (p.N() * p.N())
	},
	"6N+4·2^⌈lg N⌉-8": func(p *point) float64 {
		return 6*p.N() + float64(4*math.Exp2(math.Ceil(math.Log2(p.N())))) - 8
	},
	"(N-1)(N+2)/2N": func(p *point) float64 { return (p.N() - 1) * (p.N() + 2) / (2 * p.N()) },
	"2(N²-1)/3N":    func(p *point) float64 { return 2 * (p.N()*p.N() - 1) / (3 * p.N()) },
	"2^(N-1)+2^(N-2)-2+(N-2)2^(N-3)": func(p *point) float64 {
		return math.Exp2(p.N()-1) + math.Exp2(p.N()-2) - 2 + (p.N()-2)*math.Exp2(p.N()-3)
	},
	"2E":  func(p *point) float64 { return 2 * p.E() },
	"2NE": func(p *point) float64 { return 2 * p.N() * p.E() },
	"4N H(N)+2N": func(p *point) float64 {
		return p.N() * (4*algo.Harmonic(p.cell.Plan.Nodes) + 2)
	},
	"2N-k-1": func(p *point) float64 {
		return 2*p.N() - float64(algo.Params(p.cell.Plan.Params).Int("k")) - 1
	},
	"6(√N-1)":      func(p *point) float64 { return 6 * (math.Sqrt(p.N()) - 1) },
	"3log2(N+1)":   func(p *point) float64 { return 3 * math.Log2(p.N()+1) },
	"3log2(N+1)-3": func(p *point) float64 { return 3 * (math.Log2(p.N()+1) - 1) },
	"2E+2N+1":      func(p *point) float64 { return 2*(p.E()+p.N()) + 1 },
	"2E+5N log2 N+N-1": func(p *point) float64 {
		return 2*p.E() + float64(5*p.N()*math.Log2(p.N())) + p.N() - 1
	},
	"D+1":     func(p *point) float64 { return p.D() + 1 },
	"N-1+D":   func(p *point) float64 { return p.N() - 1 + p.D() },
	"3N-1":    func(p *point) float64 { return 3*p.N() - 1 },
	"2DE":     func(p *point) float64 { return 2 * p.D() * p.E() },
	"2(N-1)E": func(p *point) float64 { return 2 * (p.N() - 1) * p.E() },
	"2D":      func(p *point) float64 { return 2 * p.D() },
	"3D+1":    func(p *point) float64 { return 3*p.D() + 1 },
	"3(K-1)": func(p *point) float64 {
		lo, _ := p.claim("messages/entry", "burst")
		return lo
	},
	"5(K-1)": func(p *point) float64 {
		_, hi := p.claim("messages/entry", "burst")
		return hi
	},
	"2.5T": func(p *point) float64 { return 2.5 * p.param("hb_delay") },
	"4T": func(p *point) float64 {
		if p.cell.Algorithm == "election/ble" {
			return 4 * p.param("hb_delay")
		}
		return 4 * p.param("t_election")
	},
	"τ/2": func(p *point) float64 { return p.param("t_election") / 2 },
	"3τ/4+s/5": func(p *point) float64 {
		return 3*p.param("t_election")/4 + p.param("t_election_spread")/5
	},
	"m(τ,s)": (*point).undelayed,
	"1-(1-d/s)^(N-1)": func(p *point) float64 {
		return 1 - math.Pow(1-p.column("latency_ms")/p.param("t_election_spread"), p.N()-1)
	},
	"P(split)": (*point).split,
}

// formulaNames lists them.
func formulaNames() []string { return slices.Sorted(maps.Keys(formulas)) }

func evaluate(formula string, c *experiment.Cell) (float64, error) {
	p := &point{cell: c}
	v := formulas[formula](p)
	if p.err != nil {
		return math.NaN(), fmt.Errorf("%s: %w", formula, p.err)
	}
	return v, nil
}
