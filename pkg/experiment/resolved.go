package experiment

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// A summary gathers, cell by cell, what the resolved copy says: each key that
// has one value in all the cells that it means something to.
type summary struct {
	*draft
	values map[string]*common
	params map[*contender]map[string]*common
	means  map[string]bool // keys that mean something to some cell
	kinds  map[string][]string
}

// A common value is the one of all cells so far; differs if there is none.
type common struct {
	node    *node
	value   any
	text    string
	differs bool
}

func (c *common) add(n *node, value any) *common {
	text := n.String()
	if c == nil {
		return &common{n, value, text, false}
	}
	c.differs = c.differs || c.text != text
	return c
}

func newSummary(d *draft) *summary {
	return &summary{draft: d, values: map[string]*common{}, means: map[string]bool{},
		params: map[*contender]map[string]*common{}, kinds: map[string][]string{}}
}

// note adds a cell.
func (s *summary) note(v *variant, p *harness.Plan) {
	leaves(schema, "", func(key string, _ *field) {
		l := v.leaves[key]
		if l == nil || l.value == nil || key == "sweep" || key == "algorithms" || !v.means(key) {
			return
		}
		s.means[key] = true
		s.values[key] = s.values[key].add(render(key, l.value), l.value)
	})
	for head, kind := range map[string]string{
		"scenario": v.set.Scenario.Kind, "detector": v.set.Detector.Kind,
	} {
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
		own[name] = own[name].add(render("", value), value)
	}
}

// unused reports the keys that somebody has set and that mean nothing to any
// cell.
func (s *summary) unused(d *draft) {
	check := func(key string, at origin) {
		head, rest, _ := strings.Cut(key, ".")
		if head == "faults" && !s.means[key] {
			d.add(at, key, "means nothing with faults.crash_rate 0; remove it or set a rate")
			return
		}
		if s.means[key] || s.kinds[head] == nil || rest == "kind" {
			return
		}
		has := map[string][]string{}
		for _, kind := range s.kinds[head] {
			if k := kindOf(kind); k != nil {
				has[kind] = k.Keys
			} else {
				has[kind] = detectorKeys[kind]
			}
		}
		kind := s.kinds[head][0]
		list := "no keys"
		if len(has[kind]) > 0 {
			list = strings.Join(has[kind], ", ")
		}
		d.add(at, key, "means nothing for kind %s (has: %s); remove it or name another kind",
			strings.Join(s.kinds[head], ", "), list)
	}
	leaves(schema, "", func(key string, _ *field) {
		if l := d.leaves[key]; l.explicit() {
			check(key, l.raw.at)
		}
	})
	for _, a := range d.axes {
		for _, k := range a.keys {
			for i := range k.sets {
				for _, c := range k.sets[i] {
					check(c.key, c.node.at)
				}
			}
		}
	}
}

// algorithms is the contenders with the parameters that have one value.
func (s *summary) algorithms() []Algorithm {
	out := make([]Algorithm, len(s.contenders))
	for i, c := range s.contenders {
		out[i] = Algorithm{ID: c.ID, Label: c.Label, Params: map[string]any{}}
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
	for _, a := range s.axes {
		for _, k := range a.keys {
			if k.key == key {
				return true
			}
			for _, sets := range k.sets {
				if slices.ContainsFunc(sets, func(c change) bool { return c.key == key && c.rest == nil }) {
					return true
				}
			}
		}
	}
	return false
}

// partly says whether parts of a leaf vary, so that the rest of it counts.
func (s *summary) partly(key string) bool {
	for _, a := range s.axes {
		for _, k := range a.keys {
			if strings.HasPrefix(k.key, key+".") {
				return true
			}
		}
	}
	return false
}

// text is the resolved copy.
func (s *summary) text() []byte {
	root := s.block(schema, "")
	root.HeadComment = "The experiment with every default written out."
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		panic("experiment: resolved copy: " + err.Error()) // made of scalars, lists and maps alone
	}
	return b.Bytes()
}

func (s *summary) block(fields []field, prefix string) *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode}
	for i := range fields {
		f := &fields[i]
		key := join(prefix, f.name)
		var v *yaml.Node
		switch {
		case key == "algorithms":
			v = s.entries()
		case key == "sweep":
			v = s.sweep()
		case f.sub != nil:
			v = s.block(f.sub, key)
		case s.partly(key):
			v = render(key, s.leaves[key].value).yaml(true)
		case s.values[key] != nil && !s.values[key].differs && !s.sweptKey(key):
			v = lines(s.values[key].node)
		}
		if v != nil && (v.Kind != yaml.MappingNode || len(v.Content) > 0) {
			out.Content = append(out.Content, scalar("!!str", f.name), v)
		}
	}
	return out
}

// lines is n on one line, or a list of blocks on a line each.
func lines(n *node) *yaml.Node {
	out := n.yaml(true)
	if n.kind == list && len(n.items) > 0 && n.items[0].kind == block {
		out.Style = 0
	}
	return out
}

func (s *summary) entries() *yaml.Node {
	out := &yaml.Node{Kind: yaml.SequenceNode}
	for i, a := range s.algorithms() {
		params := &yaml.Node{Kind: yaml.MappingNode}
		var derived []string
		for _, p := range s.contenders[i].alg.Spec.Params {
			if v, ok := a.Params[p.Name]; ok {
				params.Content = append(params.Content, scalar("!!str", p.Name), render("", v).yaml(true))
			} else if !s.sweptKey("params." + p.Name) {
				derived = append(derived, p.Name)
			}
		}
		e := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
			scalar("!!str", "name"), scalar("!!str", a.ID),
			scalar("!!str", "label"), scalar("!!str", a.Label),
		}}
		if len(params.Content) > 0 {
			e.Content = append(e.Content, scalar("!!str", "params"), params)
		}
		if len(derived) > 0 {
			e.HeadComment = "Follow from what varies: " + strings.Join(derived, ", ") + "."
		}
		out.Content = append(out.Content, e)
	}
	return out
}

func (s *summary) sweep() *yaml.Node {
	out := &yaml.Node{Kind: yaml.SequenceNode}
	if len(s.axes) == 0 {
		out.Style = yaml.FlowStyle
	}
	for _, a := range s.axes {
		items := make([]*node, len(a.keys))
		for i := range a.keys {
			items[i] = a.keys[i].resolved()
		}
		if len(items) == 1 {
			out.Content = append(out.Content, items[0].yaml(true))
			continue
		}
		zip := &yaml.Node{Kind: yaml.SequenceNode}
		for _, n := range items {
			zip.Content = append(zip.Content, n.yaml(true))
		}
		out.Content = append(out.Content, &yaml.Node{Kind: yaml.MappingNode,
			Content: []*yaml.Node{scalar("!!str", "zip"), zip}})
	}
	return out
}

// resolved is the key and its values; those of whole leaves as they are meant,
// so that no path in them is relative.
func (s *swept) resolved() *node {
	over := &node{kind: list}
	for i, n := range s.raw {
		if len(s.sets[i]) == 1 && s.sets[i][0].key == s.key {
			n = render(s.key, s.sets[i][0].leaf.value)
		}
		over.items = append(over.items, n)
	}
	return pairs("vary", textNode(s.key), "over", over)
}

// render is a typed value as a user would write it.
func render(key string, v any) *node {
	switch v := v.(type) {
	case bool:
		return &node{kind: boolean, text: strconv.FormatBool(v)}
	case int64:
		if key == "scenario.initiators" && v == 0 {
			return textNode("all")
		}
		return intNode(v)
	case algo.ID:
		return intNode(int64(v))
	case float64:
		return &node{kind: float, text: formatFloat(v)}
	case time.Duration:
		return textNode(v.String())
	case string:
		return textNode(v)
	case []any:
		out := &node{kind: list}
		for _, x := range v {
			out.items = append(out.items, render("", x))
		}
		return out
	case []algo.ID:
		return idsNode(v)
	case link.Latency:
		return latencyNode(v)
	case loss:
		return lossNode(v)
	case []threshold:
		return thresholdsNode(v)
	case repetitions:
		return repetitionsNode(v)
	case graph:
		return graphNode(v)
	case []event:
		return eventsNode(v)
	case []harness.Expect:
		return expectNode(v)
	}
	panic("experiment: no form for the value of " + key)
}
