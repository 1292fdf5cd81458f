package experiment

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// The keys of a range, and those that an expectation has where it counts over a time.
var (
	rangeKeys  = []string{"min", "max", "approx", "tol"}
	windowKeys = []string{"from", "to"}
)

// expectKeys is what a script can expect.
func expectKeys() (names []string) {
	for _, x := range check.Expectations {
		names = append(names, x.Name)
	}
	return names
}

// expectation is what a script should lead to: a block with a key for each of
// check.Expectations.
func expectation() typ {
	return typ{name: "a block of what comes out, as {sent: 5, leader: 3}",
		json: func(d defs) object {
			keys := object{}
			for i := range check.Expectations {
				x := &check.Expectations[i]
				keys[x.Name] = d.expected(x)
				keys[x.Name].(object)["description"] = x.Doc
			}
			return keyed(keys)
		},
		read: func(p *parser, key string, n *node) any {
			if n.kind != block {
				p.wrong(key, n, "a block, as {sent: 5, leader: 3}")
				return nil
			}
			before := len(p.mistakes)
			p.known(n, key, expectKeys(), "")
			var out []harness.Expect
			for i := range check.Expectations {
				if x := &check.Expectations[i]; n.get(x.Name) != nil {
					out = append(out, p.expected(join(key, x.Name), n.get(x.Name), x))
				}
			}
			if len(p.mistakes) > before {
				return nil
			}
			return out
		}}
}

// measured is the type of one value.
func measured(m check.Measure) typ {
	switch m {
	case check.Number:
		return number(0, maxInt)
	case check.Process, check.Processes:
		t := whole(0, maxID)
		t.name = "a process, or 0 for none"
		return t
	case check.Span:
		return span(0, longest)
	case check.Truth:
		return truth()
	}
	return whole(0, maxInt)
}

// expected reads one expectation.
func (p *parser) expected(key string, n *node, x *check.Expectation) harness.Expect {
	e := harness.Expect{Name: x.Name}
	switch {
	case x.Measure == check.Processes:
		for _, q := range readIDs(p, key, n) {
			e.List = append(e.List, int64(q))
		}
	case x.Measure == check.Counts:
		e.List = readList[int64](p, key, n, measured(x.Measure))
	case !x.ByKind && !x.ByProcess:
		e.Want = []harness.Range{p.bounds(key, n, x.Measure)}
	case n.kind != block:
		like := "{REQUEST: 4, TOKEN: 2}"
		if x.ByProcess {
			like = "{1: 3, 2: 3}"
		}
		p.wrong(key, n, "a block, as "+like)
	default:
		p.parts(key, n, x, &e)
	}
	return e
}

// parts reads what is expected of each kind of messages, or of each process.
func (p *parser) parts(key string, n *node, x *check.Expectation, e *harness.Expect) {
	if x.Window {
		at := span(0, longest)
		e.From, _ = p.part(n, key, "from", at).(time.Duration)
		to, given := p.part(n, key, "to", at).(time.Duration)
		if e.To = to; given && e.From >= to || n.get("to") == nil {
			p.add(n.at, key, "want from and to, one after the other, as {from: 20ms, to: 120ms, OK: 200}")
		}
	}
	for _, q := range n.pairs {
		if x.Window && slices.Contains(windowKeys, q.name) {
			continue
		}
		if x.ByProcess && !decimal().MatchString(q.name) {
			p.add(q.at, join(key, q.name), "want a process, as {3: ...}")
			continue
		}
		want := p.bounds(join(key, q.name), q.value, x.Measure)
		want.Part = q.name
		e.Want = append(e.Want, want)
	}
	slices.SortStableFunc(e.Want, func(a, b harness.Range) int {
		if x.ByProcess && len(a.Part) != len(b.Part) {
			return len(a.Part) - len(b.Part)
		}
		return strings.Compare(a.Part, b.Part)
	})
}

// bounds reads a value, or the bounds of one.
func (p *parser) bounds(key string, n *node, m check.Measure) (r harness.Range) {
	t := measured(m)
	if n.kind != block {
		r.Min = plainNumber(t.read(p, key, n))
		r.Max = r.Min
		return r
	}
	p.known(n, key, rangeKeys, "")
	of := func(name string) *float64 { return plainNumber(p.part(n, key, name, t)) }
	r.Min, r.Max = of("min"), of("max")
	if m == check.Count {
		t = number(0, maxInt) // a mean of them is no whole number
	}
	approx, tol := of("approx"), of("tol")
	switch {
	case (approx == nil) != (tol == nil), approx != nil && (r.Min != nil || r.Max != nil):
		p.add(n.at, key, "want min, max or both, or approx and tol, as {approx: 2.5, tol: 0.1}")
	case approx != nil:
		lo, hi := *approx-*tol, *approx+*tol
		r.Min, r.Max = &lo, &hi
	case r.Min == nil && r.Max == nil && len(n.pairs) == 0, r.Min != nil && r.Max != nil && *r.Min > *r.Max:
		p.add(n.at, key, "%s, want a value, or bounds, as {min: 1, max: 3}", n.plain())
	}
	return r
}

// plainNumber is a value as expectations hold it; nil if there is none.
func plainNumber(v any) *float64 {
	var f float64
	switch v := v.(type) {
	case int64:
		f = float64(v)
	case float64:
		f = v
	case time.Duration:
		f = float64(v)
	case bool:
		if v {
			f = 1
		}
	default:
		return nil
	}
	return &f
}

// expected describes one expectation.
func (d defs) expected(x *check.Expectation) object {
	t := measured(x.Measure)
	one := d.of(t)
	bounds := object{}
	for _, name := range rangeKeys {
		bounds[name] = one
		if x.Measure == check.Count && (name == "approx" || name == "tol") {
			bounds[name] = number(0, maxInt).json(d)
		}
	}
	ranges := keyed(bounds)
	ranges["minProperties"] = 1
	both := anyOf(one, ranges)
	switch {
	case x.Measure == check.Processes:
		return arrayOf(id().json(d))
	case x.Measure == check.Counts:
		return arrayOf(one)
	case x.ByProcess:
		return object{"type": "object", "patternProperties": object{"^[0-9]+$": both},
			"additionalProperties": false}
	case x.Window:
		return object{"type": "object", "required": windowKeys, "additionalProperties": both,
			"properties": object{"from": d.of(span(0, longest)), "to": d.of(span(0, longest))}}
	case x.ByKind:
		return object{"type": "object", "additionalProperties": both}
	}
	return both
}

// expectNode writes expectations down as they are read.
func expectNode(expects []harness.Expect) *node {
	out := &node{kind: block}
	put := func(to *node, name string, v *node) { to.pairs = append(to.pairs, &pair{name: name, value: v}) }
	for i := range expects {
		e := &expects[i]
		x := check.ExpectationOf(e.Name)
		v := &node{kind: block}
		switch {
		case x.Measure == check.Processes || x.Measure == check.Counts:
			v.kind = list
			for _, q := range e.List {
				v.items = append(v.items, intNode(q))
			}
		case !x.ByKind && !x.ByProcess:
			v = boundsNode(x.Measure, &e.Want[0])
		default:
			if x.Window {
				put(v, "from", spanNode(e.From))
				put(v, "to", spanNode(e.To))
			}
			for j := range e.Want {
				put(v, e.Want[j].Part, boundsNode(x.Measure, &e.Want[j]))
			}
		}
		put(out, e.Name, v)
	}
	return out
}

// boundsNode is a value, or its bounds.
func boundsNode(m check.Measure, r *harness.Range) *node {
	of := func(f *float64) *node {
		switch {
		case f == nil:
			return nil
		case m == check.Span:
			return spanNode(time.Duration(*f))
		case m == check.Truth:
			return &node{kind: boolean, text: strconv.FormatBool(*f == 1)}
		}
		return floatNode(*f)
	}
	if r.Min != nil && r.Max != nil && *r.Min == *r.Max {
		return of(r.Min)
	}
	return pairs("min", of(r.Min), "max", of(r.Max))
}

// expectations checks what a script expects against the cell.
func (v *variant) expectations(list []harness.Expect, p *harness.Plan) {
	var kinds []string
	for _, c := range v.contenders {
		for _, m := range c.alg.Spec.Messages {
			kinds = append(kinds, m.Kind())
		}
	}
	for i := range list {
		e := &list[i]
		x := check.ExpectationOf(e.Name)
		wrong := func(format string, args ...any) {
			v.wrong("scenario.expect", e.Name+": "+format, args...)
		}
		process := func(q float64) {
			if q > float64(p.Nodes) {
				wrong("process %v of %d", q, p.Nodes)
			}
		}
		if x.Problem != "" && x.Problem != v.contender.alg.Problem {
			wrong("means nothing for problem %s; remove it", v.contender.alg.Problem)
		}
		for _, q := range e.List {
			if x.Measure == check.Processes {
				process(float64(q))
			}
		}
		for _, want := range e.Want {
			if x.Measure == check.Process && want.Max != nil {
				process(*want.Max)
			}
			if q, err := strconv.ParseFloat(want.Part, 64); x.ByProcess && err == nil {
				process(q)
			}
			if x.ByKind && !slices.Contains(kinds, want.Part) {
				wrong("no message is called %q%s (has: %s)", clip(want.Part), meant(want.Part, kinds),
					strings.Join(kinds, ", "))
			}
		}
	}
}
