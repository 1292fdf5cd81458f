package experiment

import (
	"math"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// An Until ends a cell before its last repetition, once enough is known.
type Until struct {
	Metric string
	// CI is the half-width of the 95 % interval of the metric's median, relative
	// to the median, at which a cell is precise: above 0, and 1 at most.
	CI float64
}

// repetitions is what the key of that name says: how many each cell has, or a
// rule by which it has at least Min.
type repetitions struct {
	Min, Max int
	Until    *Until // nil: Max for all
}

const (
	mostRepetitions = 100_000
	// mostUntil bounds the repetitions under a rule, which looks at a cell's whole
	// sample after each of them.
	mostUntil = 10_000
	// fewestUntil is the least sample whose median has an interval of 95 %.
	fewestUntil  = 6
	usualMinimum = 10
)

var (
	repetitionKeys = []string{"min", "max", "until"}
	untilKeys      = []string{"metric", "ci"}
)

const likeUntil = "{min: 10, max: 100, until: {metric: election_ms, ci: 5%}}"

// repeated is a number of repetitions, or the rule by which each cell ends. A plain
// number is the most, so that an override can add a rule to it.
func repeated() typ {
	count := whole(1, mostRepetitions)
	return typ{
		name:   count.name + ", or {min, max, until: {metric, ci}}",
		expand: wrapped("max"),
		json: func(d defs) object {
			bounds := whole(fewestUntil, mostUntil).json(d)
			rule := keyed(object{"metric": anyMetric(), "ci": share().json(d)}, untilKeys...)
			return anyOf(count.json(d), keyed(object{"min": bounds, "max": bounds, "until": rule},
				repetitionKeys[1:]...))
		},
		read: func(p *parser, key string, n *node) any {
			if n.kind != block {
				if n.kind != integer {
					p.wrong(key, n, "a whole number, or "+likeUntil)
					return nil
				}
				if v, ok := count.read(p, key, n).(int64); ok {
					return repetitions{Min: int(v), Max: int(v)}
				}
				return nil
			}
			before := len(p.mistakes)
			p.known(n, key, repetitionKeys, "")
			last := n.at
			for _, q := range n.pairs {
				last = q.at
			}
			for _, name := range repetitionKeys[1:] {
				if n.get(name) == nil {
					p.add(last, key, "without %s, want %s", name, likeUntil)
				}
			}
			bounds := whole(fewestUntil, mostUntil)
			most, _ := p.part(n, key, "max", bounds).(int64)
			least, given := p.part(n, key, "min", bounds).(int64)
			if !given {
				least = min(usualMinimum, most)
			}
			r := repetitions{Min: int(least), Max: int(most)}
			r.Until = p.until(join(key, "until"), n.get("until"))
			if most > 0 && r.Min > r.Max {
				p.add(n.get("min").at, join(key, "min"), "%d is above max, %d", r.Min, r.Max)
			}
			if len(p.mistakes) > before {
				return nil
			}
			return r
		},
	}
}

// until reads the rule; whether there is such a metric is known later.
func (p *parser) until(key string, n *node) *Until {
	switch {
	case n == nil:
		return nil
	case n.kind != block:
		p.wrong(key, n, "{metric: election_ms, ci: 5%}")
		return nil
	}
	p.known(n, key, untilKeys, "")
	for _, name := range untilKeys {
		if n.get(name) == nil {
			p.add(n.at, key, "without %s, as {metric: election_ms, ci: 5%%}", name)
		}
	}
	u := &Until{}
	u.Metric, _ = p.part(n, key, "metric", words("the name of a metric", anyText)).(string)
	u.CI, _ = p.part(n, key, "ci", share()).(float64)
	return u
}

const percentPattern = `^(100|[1-9][0-9]?(\.[0-9]+)?|0\.[0-9]*[1-9][0-9]*)%$`

var percentRule = lazy(percentPattern)

// share is a part of a whole: a percentage, or a fraction.
func share() typ {
	const name = "a percentage up to 100%, as 5%, or a fraction above 0, as 0.05"
	out := anyOf(object{"type": "string", "pattern": percentPattern},
		object{"type": "number", "exclusiveMinimum": 0, "maximum": 1})
	return typ{name: name, json: out.itself, read: func(p *parser, key string, n *node) any {
		digits, percent := strings.CutSuffix(n.text, "%")
		v, err := strconv.ParseFloat(digits, 64)
		switch {
		case n.kind == integer || n.kind == float:
			if !p.decimal(key, n) {
				return nil
			}
		case n.kind == text && percent && percentRule().MatchString(n.text):
			v /= 100
		default:
			p.wrong(key, n, name)
			return nil
		}
		if err != nil || math.IsNaN(v) || v <= 0 || v > 1 {
			remedy := ""
			if !percent && v > 1 && v <= 100 {
				remedy = "; write " + n.plain() + "%"
			}
			p.add(n.at, key, "%s, want %s%s", n.plain(), name, remedy)
			return nil
		}
		return v
	}}
}

// checkUntil says whether trials of the problem have the metric of the rule.
func (d *draft) checkUntil(s *settings) {
	u := s.Repetitions.Until
	if u == nil {
		return
	}
	at := d.leaves["repetitions"].raw.at
	if n := d.leaves["repetitions"].raw.get("until"); n != nil && n.get("metric") != nil {
		at = n.get("metric").at
	}
	d.checkMetric(at, "repetitions.until.metric", u.Metric, s)
}

// checkMetric refuses a name that is no metric of the problem.
func (d *draft) checkMetric(at origin, key, name string, s *settings) {
	if why := metric.Missing(name, algo.Problem(s.Problem)); why != "" {
		d.add(at, key, "%s", why)
	}
}

// anyMetric is the name of a metric of any problem.
func anyMetric() object { return enumOf(metric.Names(metric.All())) }
