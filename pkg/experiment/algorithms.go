package experiment

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
)

// An entry is one item of the list algorithms, as it was written.
type entry struct {
	name, label string
	params      *config.Value // nil: none
	at          config.Place
	key         string
}

// algorithmsType is the list of what is compared.
func algorithmsType() config.Type[[]entry] {
	name := config.SomeText("the name of an algorithm")
	block := config.Block[entry]{
		Missing: func(*config.Value, string) string { return "without a name, want {name, params, label}" },
		Fields: func(e *entry) []config.Field {
			return []config.Field{
				{Name: "name", Required: true, Of: name.To(&e.name)},
				{Name: "params", Of: paramsType().To(&e.params)},
				{Name: "label", Of: nameType("a label").To(&e.label)},
			}
		}}.Type()
	named := config.As(name, func(s string) entry { return entry{name: s} },
		func(e entry) string { return e.name })
	one := config.Union(named, block, func(entry) bool { return false }, nil)
	item := one
	item.Read = func(r *config.Reader, key string, v *config.Value) (entry, bool) {
		e, ok := one.Read(r, key, v)
		e.at, e.key = v.At, key
		return e, ok
	}
	item.Schema = func() config.Object {
		var names []string
		for _, a := range algo.All() {
			names = append(names, a.ID, a.Spec.Name)
		}
		slices.Sort(names)
		words := config.Choice(slices.Compact(names)...).Schema()
		o := block.Schema()
		o["properties"].(config.Object)["name"] = words
		return config.AnyOf(words, o)
	}
	t := config.Items(item, "", maxKeys, "algorithms")
	t.Name = "a list of algorithms, or of {name, params, label}"
	list := t.Schema
	t.Schema = func() config.Object {
		o := list()
		o["minItems"] = 1
		return o
	}
	return t.If(func(r *config.Reader, key string, v *config.Value) bool {
		switch {
		case v.Kind != config.List:
			r.Wrong(key, v, "a list, as ["+config.Clip(v.Text)+"]")
			return false
		case len(v.Items) == 0:
			r.Add(v.At, key, "an empty list, want at least one algorithm")
			return false
		}
		return true
	})
}

// paramsType is a block of parameters, which are read when the algorithm is known.
func paramsType() config.Type[*config.Value] {
	return config.Type[*config.Value]{Name: "a block, as {name: value}",
		Write: func(v *config.Value) *config.Value { return v },
		Read: func(r *config.Reader, key string, v *config.Value) (*config.Value, bool) {
			if v.Kind != config.Map {
				r.Wrong(key, v, "a block, as {name: value}")
			}
			return v, v.Kind == config.Map
		},
		Schema: func() config.Object {
			var fields []config.Field
			for _, a := range algo.All() {
				for i := range a.Spec.Params {
					p := &a.Spec.Params[i]
					fields = append(fields, config.Field{Name: p.Name, Doc: p.Doc, Of: paramSlot(p)})
				}
			}
			return config.BlockSchema(fields)
		}}
}

// findAlgorithms looks the algorithms up and reads their parameters.
func (d *draft) findAlgorithms() {
	l := d.leaves["algorithms"]
	if l == nil {
		d.Add(d.top(), "algorithms",
			"missing, want a list, as [bully, ring-list] (\"bench list\" shows all)")
		return
	}
	entries, _ := l.Value.([]entry)
	problem := d.problem(entries)
	labels := map[string]config.Place{}
	for _, e := range entries {
		a := d.contender(e, problem)
		if a == nil {
			continue
		}
		if first, twice := labels[a.Label]; twice {
			d.Add(e.at, e.key, "label %q stands twice, first in %s; give one another, as "+
				"{name: %s, label: ...}", a.Label, first.Short(), e.name)
		}
		labels[a.Label] = e.at
		d.contenders = append(d.contenders, a)
	}
	for _, o := range d.Open {
		d.overrideParam(o)
	}
}

// top is the origin of what is missing.
func (d *draft) top() config.Place {
	if d.file == "" {
		return config.Place{Source: "--algorithms"}
	}
	return config.Place{Source: d.file}
}

// problem is the one that the file names, or that of the names in full.
func (d *draft) problem(entries []entry) string {
	if l := d.leaves["problem"]; l != nil {
		s, _ := l.Value.(string)
		return s
	}
	found := ""
	for _, e := range entries {
		head, _, full := strings.Cut(e.name, "/")
		if full && (head == "election" || head == "mutex") && found == "" {
			found = head
		}
	}
	if found == "" && len(entries) > 0 {
		hint := "write problem: election or problem: mutex"
		for _, a := range algo.All() {
			if a.Spec.Name == entries[0].name {
				hint = "write problem: " + string(a.Problem)
				break
			}
		}
		d.Add(entries[0].at, "problem", "missing, and %s is not a name in full; %s",
			config.Clip(entries[0].name), hint)
	}
	if found != "" {
		d.fill(d.leaves, "problem", found)
	}
	return found
}

func (d *draft) contender(e entry, problem string) *contender {
	if e.name == "" || problem == "" && !strings.Contains(e.name, "/") {
		return nil
	}
	full := e.name
	if !strings.Contains(full, "/") {
		full = problem + "/" + full
	}
	if head, _, _ := strings.Cut(full, "/"); problem != "" && head != problem &&
		(head == "election" || head == "mutex") {
		d.Add(e.at, e.key, "%s, but the problem is %s; an experiment has one", config.Clip(full), problem)
		return nil
	}
	a, err := algo.Lookup(full)
	if err != nil {
		d.Add(e.at, e.key, "%s", d.unknownAlgorithm(full, problem))
		return nil
	}
	c := &contender{Algorithm: Algorithm{ID: a.ID, Label: e.label, Params: map[string]any{}},
		alg: a, at: e.at, key: e.key, origins: map[string]config.Place{}}
	if c.Label == "" {
		c.Label = a.Spec.Name
	}
	if e.params != nil && e.params.Kind == config.Map {
		for _, q := range e.params.Pairs {
			d.giveParam(c, q.Name, config.Join(e.key, "params."+q.Name), q.At, q.Value)
		}
	}
	return c
}

func (d *draft) unknownAlgorithm(full, problem string) string {
	ids := []string{}
	for _, a := range algo.All() {
		if problem == "" || string(a.Problem) == problem {
			ids = append(ids, a.ID)
		}
	}
	near := ""
	if len(full) <= 64 {
		near = algo.Nearest(strings.ToLower(full), ids)
	}
	_, short, _ := strings.Cut(full, "/")
	if near == "" {
		for _, a := range algo.All() {
			if a.Spec.Name == short {
				near = a.ID
			}
		}
	}
	text := "unknown algorithm " + strconv.Quote(config.Clip(full))
	if near != "" {
		return text + "; did you mean " + strconv.Quote(near) + "?"
	}
	return text + " (\"bench list\" shows all: " + strings.Join(ids, ", ") + ")"
}

// overrideParam sets a parameter of every algorithm that has it.
func (d *draft) overrideParam(o config.Assignment) {
	found := false
	for _, c := range d.contenders {
		if c.param(o.Key) != nil {
			found = true
			d.giveParam(c, o.Key, "params."+o.Key, o.At, o.Value)
		}
	}
	if !found && len(d.contenders) > 0 {
		d.Add(o.At, "params."+o.Key, "unknown parameter%s", d.paramsHint(o.Key))
	}
}

// paramsHint says which parameters there are.
func (d *draft) paramsHint(name string) string {
	var all, have []string
	for _, c := range d.contenders {
		var own []string
		for _, p := range c.alg.Spec.Params {
			own = append(own, p.Name)
		}
		all = append(all, own...)
		text := c.alg.ID + " has none"
		if len(own) > 0 {
			text = c.alg.ID + " has: " + strings.Join(own, ", ")
		}
		if !slices.Contains(have, text) {
			have = append(have, text)
		}
	}
	return d.Meant(name, all) + " (" + strings.Join(have, "; ") + ")"
}

// A contender is an algorithm of the experiment while it is being put together.
type contender struct {
	Algorithm
	alg     *algo.Algorithm
	at      config.Place
	key     string
	origins map[string]config.Place // of the parameters given
}

// param is the declaration of a parameter; nil if there is none of that name.
func (c *contender) param(name string) *algo.Param {
	for i := range c.alg.Spec.Params {
		if p := &c.alg.Spec.Params[i]; p.Name == name {
			return p
		}
	}
	return nil
}

func (d *draft) giveParam(c *contender, name, key string, at config.Place, v *config.Value) {
	p := c.param(name)
	if p == nil {
		var names []string
		for _, q := range c.alg.Spec.Params {
			names = append(names, q.Name)
		}
		has := "it has none"
		if len(names) > 0 {
			has = "has: " + strings.Join(names, ", ")
		}
		d.Add(at, key, "unknown parameter of %s%s (%s)", c.alg.ID, d.Meant(name, names), has)
		return
	}
	if x, ok := readParam(d.Reader, p, key, v); ok {
		c.Params[name] = x
		c.origins[name] = v.At
	}
}

// readParam gives a parameter's value the Go type that the Spec declares; false if
// it is wrong.
func readParam(r *config.Reader, p *algo.Param, key string, v *config.Value) (any, bool) {
	if v.Kind == config.List && p.PerProcess {
		out, good := make([]any, len(v.Items)), true
		for i, item := range v.Items {
			ok := item.Kind != config.List
			if !ok {
				r.Add(item.At, config.Item(key, i), "a list within a list")
			} else {
				out[i], ok = readParam(r, p, config.Item(key, i), item)
			}
			good = good && ok
		}
		return out, good
	}
	if v.Kind == config.List {
		r.Add(v.At, key, "%s, but it is the same for every process; to try several, write "+
			"sweep: [{vary: params.%s, over: [...]}]", v.Plain(), p.Name)
		return nil, false
	}
	x, ok := paramSlot(p).Read(r, key, v)
	if !ok {
		return nil, false
	}
	if err := p.Check(x); err != nil {
		r.Add(v.At, key, "%s", strings.TrimPrefix(err.Error(), "parameter "+p.Name+": "))
		return nil, false
	}
	return x, true
}

// writeParam writes it again.
func writeParam(p *algo.Param, x any) *config.Value {
	list, ok := x.([]any)
	if !ok {
		return paramSlot(p).Write(x)
	}
	out := config.ListOf()
	for _, item := range list {
		out.Items = append(out.Items, paramSlot(p).Write(item))
	}
	return out
}

// paramSlot is the type by which a parameter is read. Its own bounds are checked
// behind that, by the Spec.
func paramSlot(p *algo.Param) config.Slot {
	s := config.Words(p.Doc, func(string) string { return "a parameter of a known type" }).Into(nil)
	switch p.Type {
	case algo.Bool:
		s = config.Truth().Into(nil)
	case algo.Int:
		s = config.Whole[int64](-config.MaxInt, config.MaxInt).Into(nil)
	case algo.Float:
		s = config.Number(-math.MaxFloat64, math.Inf(1)).Into(nil)
	case algo.Duration:
		s = config.Duration(0, longest).Into(nil)
	case algo.Enum:
		s = config.Word(p.Choices...).Into(nil)
	}
	one := s.Schema
	s.Schema = func() config.Object {
		o := maps.Clone(one())
		for key, bound := range map[string]any{"minimum": p.Min, "maximum": p.Max} {
			switch bound.(type) {
			case int64, float64:
				o[key] = bound
			}
		}
		if p.PerProcess {
			return config.AnyOf(o, config.Object{"type": "array", "items": o})
		}
		return o
	}
	return s
}
