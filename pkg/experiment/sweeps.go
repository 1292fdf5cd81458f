package experiment

import (
	"slices"
	"strconv"
	"strings"
)

// A draft is an experiment that is being put together.
type draft struct {
	*layers
	leaves     map[string]*leaf // merged from all sources
	contenders []*contender
	axes       []axis
	notes      []string
}

// An axis is a dimension of the sweep, its values read and checked.
type axis struct {
	keys []swept
	at   origin
}

// length is how many values the axis has.
func (a *axis) length() int { return len(a.keys[0].raw) }

// concerns says whether the axis changes anything for c: one that varies only a
// parameter that c does not have has a single, missing value there.
func (a *axis) concerns(c *contender) bool {
	return slices.ContainsFunc(a.keys, func(s swept) bool {
		return s.param == "" || c.param(s.param) != nil
	})
}

// swept is one varied key with what each value changes.
type swept struct {
	varied
	param string // of "params.x"; "" for other keys
	raw   []*node
	sets  [][]change           // by value; nil for a parameter
	given []map[*contender]any // by value; of a parameter
}

// A change is one leaf that a swept value sets, or a part of it.
type change struct {
	key  string // of the leaf
	rest []string
	node *node
	leaf *leaf // nil if it depends on the leaf's other parts
}

func (c *change) full() string {
	return strings.Join(append([]string{c.key}, c.rest...), ".")
}

// rank orders sources: the higher one prevails.
func rank(o origin) int {
	switch {
	case strings.HasPrefix(o.source, "--set "):
		return 2
	case strings.HasPrefix(o.source, "environment "):
		return 1
	}
	return 0
}

// findSweep reads what varies. A key that the command line or the environment
// has set does not vary any more.
func (d *draft) findSweep() {
	l := d.leaves["sweep"]
	dimensions, _ := l.value.([]dimension)
	var all []varied
	for _, dim := range dimensions {
		a := axis{at: dim.at}
		tuples := make([]string, len(dim.vary[0].values))
		for _, v := range dim.vary {
			if d.settled(l.raw.at, v) {
				continue
			}
			for _, w := range all {
				if covers(v.key, w.key) || covers(w.key, v.key) {
					d.add(v.at, v.name, "%s is varied twice, first as %s in %s", v.key, w.key, place(w.at))
				}
			}
			all = append(all, v)
			s, ok := d.swept(v)
			if !ok {
				continue
			}
			a.keys = append(a.keys, s)
			for i := range tuples {
				tuples[i] += s.signature(i) + "\x00"
			}
		}
		if len(a.keys) == 0 {
			continue
		}
		for i, t := range tuples {
			if j := slices.Index(tuples, t); j < i {
				n := a.keys[0].raw[i]
				d.add(n.at, a.keys[0].key, "the value %s stands twice in the sweep; remove one", n.plain())
			}
		}
		d.axes = append(d.axes, a)
	}
}

// covers says whether part is key, or a part of it.
func covers(key, part string) bool {
	return key == part || strings.HasPrefix(part, key+".")
}

// settled says whether an override of v's key takes it out of the sweep.
func (d *draft) settled(sweep origin, v varied) bool {
	for _, o := range slices.Concat(d.over, prefixed(d.params)) {
		if o.key == "sweep" || rank(o.at) < rank(sweep) {
			continue
		}
		switch {
		case !covers(o.key, v.key) && !covers(v.key, o.key):
		case rank(o.at) == rank(sweep), !covers(o.key, v.key):
			d.add(o.at, o.key, "%s is varied by the sweep (%s); change the sweep instead", v.key, v.at)
		default:
			d.notes = append(d.notes, o.at.String()+" replaces the sweep over "+v.key)
			return true
		}
	}
	return false
}

func prefixed(params []assignment) []assignment {
	out := slices.Clone(params)
	for i := range out {
		out[i].key = "params." + out[i].key
	}
	return out
}

// signature identifies value i, however it is written.
func (s *swept) signature(i int) string {
	if s.param != "" {
		for _, v := range s.given[i] {
			return formatValue(v) // one type for all, or they differ anyway
		}
	}
	var words []string
	for _, c := range s.sets[i] {
		text := c.node.String()
		if c.leaf != nil && c.leaf.value != nil {
			text = render(c.key, c.leaf.value).String()
		}
		words = append(words, c.full()+"="+text)
	}
	slices.Sort(words)
	return strings.Join(words, "\x00")
}

// swept checks a varied key and each of its values.
func (d *draft) swept(v varied) (swept, bool) {
	s := swept{varied: v, raw: v.values}
	if name, ok := strings.CutPrefix(v.key, "params."); ok {
		s.param = name
		return s, d.sweptParam(&s)
	}
	f, rest, isLeaf := find(v.key)
	switch {
	case f == nil:
		d.unknownVaried(v)
		return s, false
	case !sweepable(v.key):
		d.add(v.at, v.name, "%s cannot vary within an experiment; run it again with --set %s=...",
			v.key, v.key)
		return s, false
	case v.key == "topology.path" || v.key == "topology.edges":
		d.add(v.at, v.name, "vary topology as a whole, as over: [{kind: file, path: ...}]")
		return s, false
	}
	for _, n := range v.values {
		if isLeaf {
			key := strings.TrimSuffix(v.key, "."+strings.Join(rest, "."))
			s.sets = append(s.sets, []change{d.change(f, key, rest, n)})
			continue
		}
		var sets []change
		for _, a := range d.flatten(f.sub, v.key, n) {
			g, _, _ := find(a.key)
			sets = append(sets, d.change(g, a.key, nil, a.node))
		}
		s.sets = append(s.sets, sets)
	}
	return s, true
}

func (d *draft) change(f *field, key string, rest []string, n *node) change {
	c := change{key: key, rest: rest, node: n}
	raw := within(f, d.leaves[key], rest, n)
	value := f.typ.read(d.parser, key, raw)
	if len(rest) == 0 {
		c.leaf = &leaf{raw, value}
	}
	return c
}

func (d *draft) unknownVaried(v varied) {
	if now := renamed(v.key); now != "" {
		d.add(v.at, v.name, "%q is called %s now", v.key, now)
		return
	}
	if d.param(v.key) {
		d.add(v.at, v.name, "unknown key %q; did you mean \"params.%s\"?", v.key, v.key)
		return
	}
	var keys []string
	leaves(schema, "", func(key string, _ *field) {
		if sweepable(key) {
			keys = append(keys, key)
		}
	})
	hint := meant(v.key, keys)
	if hint == "" {
		for _, k := range keys {
			if strings.HasSuffix(k, "."+v.key) {
				hint = "; did you mean " + strconv.Quote(k) + "?"
			}
		}
	}
	if hint == "" {
		hint = " (has: " + strings.Join(keys, ", ") + ", params.*)"
	}
	d.add(v.at, v.name, "unknown key %q%s", clip(v.key), hint)
}

// param says whether some algorithm has the parameter.
func (d *draft) param(name string) bool {
	return slices.ContainsFunc(d.contenders, func(c *contender) bool { return c.param(name) != nil })
}

func (d *draft) sweptParam(s *swept) bool {
	if !d.param(s.param) {
		if len(d.contenders) > 0 {
			d.add(s.at, s.name, "unknown parameter %q%s", clip(s.param), d.paramsHint(s.param))
		}
		return false
	}
	for _, n := range s.raw {
		given := map[*contender]any{}
		for _, c := range d.contenders {
			if p := c.param(s.param); p != nil {
				if v := d.paramValue(p, s.key, n); v != nil {
					given[c] = v
				}
			}
		}
		s.given = append(s.given, given)
		s.sets = append(s.sets, nil)
	}
	return true
}

// combinations is how many cells contender c has; at most one beyond the limit.
func (d *draft) combinations(c *contender) int {
	n := 1
	for i := range d.axes {
		if d.axes[i].concerns(c) {
			n = min(n*d.axes[i].length(), maxCells+1)
		}
	}
	return n
}

// each calls visit with the position on every axis, the last one fastest; -1
// where the axis does not concern c.
func (d *draft) each(c *contender, visit func(at []int)) {
	at := make([]int, len(d.axes))
	for i := range d.axes {
		if !d.axes[i].concerns(c) {
			at[i] = -1
		}
	}
	for {
		visit(at)
		i := len(at) - 1
		for ; i >= 0; i-- {
			if at[i] < 0 {
				continue
			}
			if at[i]++; at[i] < d.axes[i].length() {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return
		}
	}
}
