package experiment

import (
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/pkg/config"
)

// findSweep reads what varies. A key that the command line or the environment
// has set does not vary any more.
func (d *draft) findSweep() {
	l := d.leaves["sweep"]
	dimensions, _ := l.Value.([]dimension)
	var all []varied
	for _, dim := range dimensions {
		a := axis{at: dim.at}
		tuples := make([]string, len(dim.vary[0].values))
		for _, v := range dim.vary {
			if d.settled(l.Raw.At, v) {
				continue
			}
			for _, w := range all {
				if covers(v.key, w.key) || covers(w.key, v.key) {
					d.Add(v.at, v.name, "%s is varied twice, first as %s in %s", v.key, w.key, w.at.Short())
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
				d.Add(n.At, a.keys[0].key, "the value %s appears twice in the sweep; remove one", n.Plain())
			}
		}
		d.axes = append(d.axes, a)
	}
}

// settled says whether an override of v's key takes it out of the sweep.
func (d *draft) settled(sweep config.Place, v varied) bool {
	for _, o := range slices.Concat(d.Over, prefixed(d.Open)) {
		if o.Key == "sweep" || o.At.Layer < sweep.Layer {
			continue
		}
		switch {
		case !covers(o.Key, v.key) && !covers(v.key, o.Key):
		case o.At.Layer == sweep.Layer, !covers(o.Key, v.key):
			d.Add(o.At, o.Key, "%s is varied by the sweep (%s); change the sweep instead", v.key, v.at)
		default:
			d.notes = append(d.notes, o.At.String()+" replaces the sweep over "+v.key)
			return true
		}
	}
	return false
}

func prefixed(params []config.Assignment) []config.Assignment {
	out := slices.Clone(params)
	for i := range out {
		out[i].Key = "params." + out[i].Key
	}
	return out
}

// swept checks a varied key and each of its values.
func (d *draft) swept(v varied) (swept, bool) {
	s := swept{varied: v, raw: v.values}
	if name, ok := strings.CutPrefix(v.key, "params."); ok {
		s.param = name
		return s, d.sweptParam(&s)
	}
	f, rest, isLeaf := d.Schema.Find(v.key)
	switch {
	case f == nil:
		d.unknownVaried(v)
		return s, false
	case !d.Schema.Varies(v.key):
		d.Add(v.at, v.name, "%s cannot vary within an experiment; run it again with --set %s=...",
			v.key, v.key)
		return s, false
	case v.key == "topology.path" || v.key == "topology.edges":
		d.Add(v.at, v.name, "vary topology as a whole, as over: [{kind: file, path: ...}]")
		return s, false
	}
	for _, n := range v.values {
		var sets []change
		if isLeaf {
			key := strings.TrimSuffix(v.key, "."+strings.Join(rest, "."))
			sets = append(sets, d.change(f, key, rest, n))
		} else {
			for _, a := range d.Flatten(f.Sub, v.key, n) {
				sets = append(sets, d.change(d.Schema.Leaf(a.Key), a.Key, nil, a.Value))
			}
		}
		s.sets = append(s.sets, sets)
	}
	return s, true
}

func (d *draft) change(f *config.Field, key string, rest []string, n *config.Value) change {
	c := change{key: key, field: f, rest: rest, value: n}
	leaf := d.Change(f, key, d.leaves[key], rest, n)
	if len(rest) == 0 {
		c.leaf = leaf
	}
	return c
}

func (d *draft) unknownVaried(v varied) {
	if now := d.Schema.Renamed(v.key); now != "" {
		d.Add(v.at, v.name, "%q is called %s now", v.key, now)
		return
	}
	if d.param(v.key) {
		d.Add(v.at, v.name, "unknown key %q; did you mean \"params.%s\"?", v.key, v.key)
		return
	}
	var keys []string
	d.Schema.Leaves(func(key string, _ *config.Field) {
		if d.Schema.Varies(key) {
			keys = append(keys, key)
		}
	})
	hint := d.Meant(v.key, keys)
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
	d.Add(v.at, v.name, "unknown key %q%s", config.Clip(v.key), hint)
}

func (d *draft) sweptParam(s *swept) bool {
	if !d.param(s.param) {
		if len(d.contenders) > 0 {
			d.Add(s.at, s.name, "unknown parameter %q%s", config.Clip(s.param), d.paramsHint(s.param))
		}
		return false
	}
	for _, n := range s.raw {
		given := map[*contender]any{}
		for _, c := range d.contenders {
			if p := c.param(s.param); p != nil {
				if v, ok := readParam(d.Reader, p, s.key, n); ok {
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
