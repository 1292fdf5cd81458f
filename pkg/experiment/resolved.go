package experiment

import (
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/param"
)

// A summary gathers, cell by cell, what the resolved copy says: each key that
// has one value in all the cells that it means something to.
type summary struct {
	*draft
	values map[string]*common
	params map[*contender]map[string]*common
	means  map[string]bool // keys that mean something to some cell
	kinds  map[string][]string
	// detectors are, where some algorithm has one of its own, those of all.
	detectors map[*contender]*config.Value
}

// A common value is the one of all cells so far; differs if there is none.
type common struct {
	written *config.Value
	value   any
	text    string
	differs bool
	given   bool // by somebody, in some cell
}

func (c *common) add(written *config.Value, value any) *common {
	text := written.String()
	if c == nil {
		return &common{written: written, value: value, text: text}
	}
	c.differs = c.differs || c.text != text
	return c
}

func newSummary(d *draft) *summary {
	return &summary{draft: d, values: map[string]*common{}, means: map[string]bool{},
		params: map[*contender]map[string]*common{}, kinds: map[string][]string{},
		detectors: map[*contender]*config.Value{}}
}

// note adds a cell.
func (s *summary) note(v *variant, p *harness.Plan) {
	if s.owned() {
		s.detectors[v.contender] = v.asWritten()
	}
	s.Schema.Leaves(func(key string, f *config.Field) {
		l := v.leaves[key]
		if l == nil || l.Value == nil || key == "sweep" || key == "algorithms" || !v.means(key) {
			return
		}
		s.means[key] = true
		s.values[key] = s.values[key].add(config.Of(f).Write(l.Value), l.Value)
		s.values[key].given = s.values[key].given || l.Explicit()
	})
	for head, kind := range map[string]string{"scenario": p.Scenario.Kind(), "detector": p.Detector.Kind()} {
		if !slices.Contains(s.kinds[head], kind) {
			s.kinds[head] = append(s.kinds[head], kind)
		}
	}
	own := s.params[v.contender]
	if own == nil {
		own = map[string]*common{}
		s.params[v.contender] = own
	}
	for name, value := range p.Params {
		own[name] = own[name].add(writeParam(v.contender.param(name), value), value)
	}
}

// owned says whether some algorithm has a failure detector of its own.
func (d *draft) owned() bool {
	return slices.ContainsFunc(d.contenders, func(c *contender) bool { return c.own != nil })
}

// asWritten is the failure detector of the cell as the file would say it.
func (v *variant) asWritten() *config.Value {
	out := config.MapOf()
	f, _, _ := v.Schema.Find("detector")
	for i := range f.Sub {
		key := "detector." + f.Sub[i].Name
		if l := v.leaves[key]; l != nil && l.Value != nil && v.counts(key) {
			out.Set(f.Sub[i].Name, config.Of(&f.Sub[i]).Write(l.Value))
		}
	}
	return out
}

// checkOwn reports what an algorithm's own failure detector says in vain.
func (v *variant) checkOwn() {
	for i := range v.contender.own {
		own := &v.contender.own[i]
		at := own.value.At
		if v.varies("detector") {
			v.Add(at, own.key, "of %s alone, and the sweep varies the detector; leave one of them out, or "+
				"list the algorithm several times, with labels", v.contender.Label)
			return
		}
		if !v.counts(own.key) {
			v.Add(at, own.key, "means nothing for kind %s (has: %s); remove it or name another kind",
				v.Detector.Kind(), strings.Join(param.Names(v.Detector.Params()), ", "))
		}
	}
}

// unused reports the keys that somebody has set and that mean nothing to any
// cell.
func (s *summary) unused(d *draft) {
	d.Schema.Leaves(func(key string, _ *config.Field) {
		if l := d.leaves[key]; l.Explicit() {
			s.checkUsed(key, l.Raw.At)
		}
	})
	for _, a := range d.axes {
		for _, k := range a.keys {
			for _, c := range slices.Concat(k.sets...) {
				s.checkUsed(c.key, c.value.At)
			}
		}
	}
}

func (s *summary) checkUsed(key string, at config.Place) {
	head, rest, _ := strings.Cut(key, ".")
	if head == "faults" && !s.means[key] {
		s.Add(at, key, "means nothing with faults.crash_rate 0; remove it or set a rate")
		return
	}
	if key == "hosting.per_process" && !s.means[key] {
		s.Add(at, key, "means nothing where each process of the algorithm is one of the operating system; "+
			"remove it, or write run_as: %s", metric.RunAsGoroutine)
		return
	}
	if key == "hosting.reuse" && !s.means[key] {
		s.Add(at, key, "means nothing where processes of the algorithm share one of the operating system; "+
			"remove it, or write run_as: %s", metric.RunAsProcess)
		return
	}
	if slices.Contains(ofSessions, key) && !s.means[key] {
		s.Add(at, key, "means nothing where no algorithm has sessions; remove it")
		return
	}
	if s.means[key] || s.kinds[head] == nil || rest == "kind" {
		return
	}
	kind := s.kinds[head][0]
	var has []string
	if k := kindOf(kind); k != nil {
		has = k.Keys()
	} else if d := harness.DetectorOf(kind); d != nil {
		has = param.Names(d.Params())
	}
	list := "no keys"
	if len(has) > 0 {
		list = strings.Join(has, ", ")
	}
	s.Add(at, key, "means nothing for kind %s (has: %s); remove it or name another kind",
		strings.Join(s.kinds[head], ", "), list)
}

// algorithms is the contenders with the parameters that have one value.
func (s *summary) algorithms() []Algorithm {
	out := make([]Algorithm, len(s.contenders))
	for i, c := range s.contenders {
		out[i] = Algorithm{ID: c.ID, Label: c.Label, Set: c.Set, Params: map[string]any{}}
		for name, v := range s.params[c] {
			if !v.differs && !s.sweptKey("params."+name) {
				out[i].Params[name] = v.value
			}
		}
	}
	return out
}

// sweptKey says whether a key varies as a whole.
func (s *summary) sweptKey(key string) bool {
	return s.sweeps(func(k *swept) bool {
		return k.key == key || slices.ContainsFunc(slices.Concat(k.sets...),
			func(c change) bool { return c.key == key && c.rest == nil })
	})
}

// partly says whether parts of a leaf vary, so that the rest of it counts.
func (s *summary) partly(key string) bool {
	return s.sweeps(func(k *swept) bool { return strings.HasPrefix(k.key, key+".") })
}

// text is the resolved copy.
func (s *summary) text() []byte {
	return config.Encode("The experiment with every default written out.", s.block(s.Schema.Fields, ""))
}

func (s *summary) block(fields []config.Field, prefix string) *config.Value {
	out := config.Tall(config.MapOf())
	var derived []string
	for i := range fields {
		f := &fields[i]
		key := config.Join(prefix, f.Name)
		var v *config.Value
		switch {
		case key == "algorithms":
			v = s.entries()
		case key == "sweep":
			v = s.sweep()
		case key == "detector" && len(s.detectors) > 0: // stands with each algorithm
		case f.Sub != nil:
			v = s.block(f.Sub, key)
		case s.partly(key):
			v = config.Of(f).Write(s.leaves[key].Value)
		case s.values[key] != nil && !s.values[key].differs && !s.sweptKey(key):
			v = lines(s.values[key].written)
		case s.values[key] != nil && s.values[key].differs && !s.values[key].given:
			derived = append(derived, f.Name)
		}
		if v != nil && (v.Kind != config.Map || len(v.Pairs) > 0) {
			out.Set(f.Name, v)
		}
	}
	if len(derived) > 0 {
		out.Comment = followed + strings.Join(derived, ", ") + "."
	}
	return out
}

// followed begins a comment on what has no one value.
const followed = "Follow from what varies: "

// lines is v on one line, or a list of blocks on a line each.
func lines(v *config.Value) *config.Value {
	if v.Kind == config.List && len(v.Items) > 0 && v.Items[0].Kind == config.Map {
		return config.Tall(v)
	}
	return v
}

func (s *summary) entries() *config.Value {
	out := config.Tall(config.ListOf())
	for i, a := range s.algorithms() {
		params := config.Tall(config.MapOf())
		var derived []string
		for j := range s.contenders[i].alg.Spec.Params {
			p := &s.contenders[i].alg.Spec.Params[j]
			if v, ok := a.Params[p.Name]; ok {
				params.Set(p.Name, writeParam(p, v))
			} else if !s.sweptKey("params." + p.Name) {
				derived = append(derived, p.Name)
			}
		}
		e := config.Tall(config.MapOf())
		e.Set("name", config.TextOf(a.ID))
		if a.Set != "" {
			e.Set("set", config.TextOf(a.Set))
		}
		e.Set("label", config.TextOf(a.Label))
		if len(params.Pairs) > 0 {
			e.Set("params", params)
		}
		if own := s.detectors[s.contenders[i]]; own != nil {
			e.Set("detector", own)
		}
		if len(derived) > 0 {
			e.Comment = followed + strings.Join(derived, ", ") + "."
		}
		out.Items = append(out.Items, e)
	}
	return out
}

func (s *summary) sweep() *config.Value {
	out := config.ListOf()
	out.Tall = len(s.axes) > 0
	for _, a := range s.axes {
		var items []*config.Value
		for i := range a.keys {
			items = append(items, a.keys[i].resolved())
		}
		item := items[0]
		if len(items) > 1 {
			item = config.Tall(config.MapOf())
			item.Set("zip", config.Tall(config.ListOf(items...)))
		}
		out.Items = append(out.Items, item)
	}
	return out
}

// resolved is the key and its values; those of whole leaves as they are meant,
// so that no path in them is relative.
func (s *swept) resolved() *config.Value {
	over := config.ListOf()
	for i, v := range s.raw {
		if len(s.sets[i]) == 1 && s.sets[i][0].key == s.key {
			v = s.sets[i][0].meant()
		}
		over.Items = append(over.Items, v)
	}
	out := config.MapOf().With("vary", config.TextOf(s.key)).With("over", over)
	if s.names != nil {
		out = out.With("as", namesType().Write(s.names))
	}
	return out
}
