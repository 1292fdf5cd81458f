package experiment

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/files"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/link"
)

// part reads one key of a value that is a block, by its type.
func (p *parser) part(n *node, key, name string, t typ) any {
	v := n.get(name)
	if v == nil {
		return nil
	}
	return t.read(p, join(key, name), v)
}

// known reports the keys of a block that are none of names.
func (p *parser) known(n *node, key string, names []string, of string) {
	for _, q := range n.pairs {
		if !slices.Contains(names, q.name) {
			p.add(q.at, join(key, q.name), "unknown key%s%s (has: %s)",
				of, meant(q.name, names), strings.Join(names, ", "))
		}
	}
}

// wrapped makes {name: n} of a scalar.
func wrapped(name string) func(*node) *node {
	return func(n *node) *node {
		if n.kind == block {
			return n
		}
		return &node{kind: block, at: n.at, pairs: []*pair{{name: name, at: n.at, value: n}}}
	}
}

// latency is the latency of links: a duration, a distribution of durations, or
// regions.
func latency() typ { return spread(true) }

// lasting is a duration or a distribution of durations, of no link.
func lasting() typ { return spread(false) }

func spread(links bool) typ {
	var names, others []string
	for _, d := range link.Distributions {
		if links || !d.Links() {
			names = append(names, d.Name)
		} else {
			others = append(others, d.Name)
		}
	}
	kinds := choice(names...).but(func(p *parser, key string, n *node) bool {
		other := slices.Contains(others, n.text)
		if other {
			p.add(n.at, key, "%s is for network.latency alone, want %s", n.text, choice(names...).name)
		}
		return !other
	})
	constant := span(0, longest)
	return typ{
		name:    "a duration, or {distribution: " + strings.Join(names, "|") + ", ...}",
		choices: names,
		def:     map[bool]string{true: "latency", false: "lasting"}[links],
		json:    func(d defs) object { return d.spread(constant, names) },
		read: func(p *parser, key string, n *node) any {
			if n.kind != block {
				if n.kind == list || n.kind == null {
					p.wrong(key, n, "a duration or {distribution: ...}")
					return nil
				}
				if d, ok := constant.read(p, key, n).(time.Duration); ok {
					return link.Constant(d)
				}
				return nil
			}
			if n.get("distribution") == nil {
				p.add(n.at, key, "no distribution; write {distribution: one of %s, ...}",
					strings.Join(names, ", "))
				return nil
			}
			name, _ := p.part(n, key, "distribution", kinds).(string)
			i := slices.IndexFunc(link.Distributions,
				func(d *link.Distribution) bool { return d.Name == name })
			if i < 0 {
				return nil
			}
			return p.distribution(key, n, link.Distributions[i])
		},
		expand: func(n *node) *node {
			if n.kind == block {
				return n
			}
			c := wrapped("mean")(n)
			return c.with("distribution", &node{kind: text, text: link.Constant(0).Distribution, at: n.at})
		},
	}
}

// forever is the downtime of who does not come back.
const forever = "forever"

// downtime is a latency, or for ever, which is none. One of nothing would be no
// crash that anybody could see.
func downtime() typ {
	t := lasting()
	read, expand := t.read, t.expand
	t.name += ", or " + forever
	t.choices = append([]string{forever}, t.choices...)
	lasts := t
	t.def = "downtime"
	t.json = func(d defs) object { return anyOf(object{"const": forever}, d.of(lasts)) }
	t.read = func(p *parser, key string, n *node) any {
		switch {
		case n.kind == text && n.text == forever:
			return link.Latency{}
		case n.kind == text && !strings.ContainsAny(n.text, "0123456789"):
			p.add(n.at, key, "%q, want a duration, as 500ms, {distribution: ...} or %s%s", clip(n.text),
				forever, meant(n.text, []string{forever}))
			return nil
		}
		l, ok := read(p, key, n).(link.Latency)
		if !ok {
			return nil
		}
		if d, bounded := l.Bound(); bounded && d == 0 {
			p.add(n.at, key, "%s, want a time above 0, or %s", n.plain(), forever)
			return nil
		}
		return l
	}
	t.expand = func(n *node) *node {
		if n.kind == text && n.text == forever {
			return &node{kind: block, at: n.at}
		}
		return expand(n)
	}
	return t
}

func (p *parser) distribution(key string, n *node, d *link.Distribution) any {
	before := len(p.mistakes)
	names := d.KeyNames()
	p.known(n, key, append([]string{"distribution"}, names...), " of "+d.Name)
	l := link.Latency{Distribution: d.Name}
	for i, k := range d.Keys {
		if v := n.get(k.Name); v != nil {
			p.latencyPart(join(key, k.Name), v, &k, &l)
		} else if i < d.Required {
			p.add(n.at, key, "%s without %s (needs: %s)", d.Name, k.Name,
				strings.Join(names[:d.Required], ", "))
		}
	}
	if len(p.mistakes) > before {
		return nil
	}
	if err := l.Check(); err != nil {
		p.add(n.at, key, "%s", strings.TrimPrefix(err.Error(), "latency: "))
		return nil
	}
	return l
}

// latencyPart reads a parameter of a distribution.
func (p *parser) latencyPart(key string, n *node, k *link.Key, l *link.Latency) {
	delay := span(0, longest)
	switch to := k.Of(l).(type) {
	case *time.Duration:
		*to, _ = delay.read(p, key, n).(time.Duration)
	case *float64:
		*to, _ = number(0, k.Most).read(p, key, n).(float64)
	case *[]time.Duration:
		*to = readList[time.Duration](p, key, n, delay)
	case *[]string:
		*to = readList[string](p, key, n, words("the name of a place", anyText))
	case *[][]time.Duration:
		if n.kind != list {
			p.wrong(key, n, "a list with a row for each place, as [[1ms, 80ms], [80ms, 1ms]]")
		}
		for i, row := range n.items {
			*to = append(*to, readList[time.Duration](p, numbered(key, i), row, delay))
		}
	}
}

// readList reads a list whose items are all of type t. Nil if one is wrong.
func readList[T any](p *parser, key string, n *node, t typ) []T {
	if n.kind != list {
		p.add(n.at, key, "%s, want a list of which each is %s", n.plain(), t.name)
		return nil
	}
	out := make([]T, 0, len(n.items))
	for _, item := range n.items {
		if v, ok := t.read(p, key, item).(T); ok {
			out = append(out, v)
		}
	}
	if len(out) < len(n.items) {
		return nil
	}
	return out
}

// A loss is what the key network.loss says.
type loss struct {
	Rate  float64
	Burst *link.Burst // in place of Rate
}

var burstKeys = []string{"p_enter", "p_leave", "good", "bad"}

// lossRate is a probability, or bursts of loss. In the bad state of those
// everything is lost, and in the good one nothing, unless they say otherwise.
func lossRate() typ {
	rate := number(0, 1)
	const like = "{burst: {p_enter: 0.01, p_leave: 0.1}}"
	return typ{
		name: rate.name + ", or {burst: {" + strings.Join(burstKeys, ", ") + "}}",
		def:  "loss",
		json: func(d defs) object {
			keys := object{}
			for _, name := range burstKeys {
				keys[name] = rate.json(d)
			}
			return anyOf(rate.json(d), keyed(object{"burst": keyed(keys, burstKeys[:2]...)}, "burst"))
		},
		expand: func(n *node) *node {
			if n.kind == block {
				return n
			}
			return &node{kind: block, at: n.at}
		},
		read: func(p *parser, key string, n *node) any {
			if n.kind != block {
				if r, ok := rate.read(p, key, n).(float64); ok {
					return loss{Rate: r}
				}
				return nil
			}
			before := len(p.mistakes)
			p.known(n, key, []string{"burst"}, "")
			b := n.get("burst")
			if b == nil || b.kind != block {
				p.add(n.at, key, "%s, want %s", n.plain(), like)
				return nil
			}
			key = join(key, "burst")
			p.known(b, key, burstKeys, "")
			for _, name := range burstKeys[:2] {
				if b.get(name) == nil {
					p.add(b.at, key, "without %s, as %s", name, like)
				}
			}
			out := &link.Burst{Bad: 1}
			for i, to := range []*float64{&out.Enter, &out.Leave, &out.Good, &out.Bad} {
				if v, ok := p.part(b, key, burstKeys[i], rate).(float64); ok {
					*to = v
				}
			}
			if len(p.mistakes) > before {
				return nil
			}
			if err := out.Check(); err != nil {
				p.add(b.at, key, "%s", strings.TrimPrefix(err.Error(), "burst: "))
				return nil
			}
			return loss{Burst: out}
		},
	}
}

// A graph is what the key topology says.
type graph struct {
	Auto  bool
	Shape algo.Shape
}

var graphKinds = []string{"auto", "complete", "ring", "bidirectional-ring", "logical-ring",
	"grid", "tree", "random", "file"}

var treeShapes = []string{"path", "star", "binary", "balanced", "random"}

// graphKeys are the keys that mean something for a kind of graph.
func graphKeys(kind string) []string {
	switch kind {
	case "ring", "bidirectional-ring", "logical-ring":
		return []string{"kind", "order"}
	case "tree":
		return []string{"kind", "shape", "order"}
	case "random":
		return []string{"kind", "degree"}
	case "file":
		return []string{"kind", "path", "edges"}
	}
	return []string{"kind"}
}

func topology() typ {
	kinds := choice(graphKinds...)
	return typ{
		name:    "one of " + strings.Join(graphKinds, ", ") + ", or {kind: ..., ...}",
		choices: graphKinds,
		expand:  wrapped("kind"),
		def:     "topology",
		json:    defs.topology,
		read: func(p *parser, key string, n *node) any {
			if n.kind != block {
				n = wrapped("kind")(n)
				kind, ok := kinds.read(p, key, n.pairs[0].value).(string)
				if ok && kind == "file" {
					p.add(n.at, key, "file without a path; write {kind: file, path: ...}")
					return nil
				}
				return asGraph(ok, kind, algo.Shape{Kind: kind})
			}
			if n.get("kind") == nil {
				p.add(n.at, key, "no kind; write {kind: one of %s, ...}", strings.Join(graphKinds, ", "))
				return nil
			}
			kind, ok := p.part(n, key, "kind", kinds).(string)
			if !ok {
				return nil
			}
			before := len(p.mistakes)
			p.known(n, key, graphKeys(kind), " of "+kind)
			s := algo.Shape{Kind: kind}
			s.Tree, _ = p.part(n, key, "shape",
				choice(treeShapes...)).(string)
			s.Degree, _ = p.part(n, key, "degree", number(1, 1000)).(float64)
			if order := n.get("order"); order != nil {
				s.Order = readIDs(p, join(key, "order"), order)
			}
			if kind == "file" {
				s.Edges = p.edges(key, n)
			}
			return asGraph(len(p.mistakes) == before, kind, s)
		},
	}
}

// asGraph fills in the defaults of a shape; nil if it is not ok.
func asGraph(ok bool, kind string, s algo.Shape) any {
	if !ok {
		return nil
	}
	if kind == "tree" && s.Tree == "" {
		s.Tree = "binary"
	}
	if kind == "random" && s.Degree == 0 {
		s.Degree = 4
	}
	return graph{Auto: kind == "auto", Shape: s}
}

// maxEdges bounds the graph of a file: it stands whole in the resolved copy.
const maxEdges = 20_000

// edges are those of a file, or those that stand in the experiment itself, as
// they do in its resolved copy.
func (p *parser) edges(key string, n *node) (out [][2]algo.ID) {
	path, inline := n.get("path"), n.get("edges")
	switch {
	case (path == nil) == (inline == nil):
		p.add(n.at, key, "kind file: want one of path and edges; write {kind: file, path: ...}")
		return nil
	case inline != nil && inline.kind != list:
		p.wrong(join(key, "edges"), inline, "a list of pairs, as [[1, 2], [2, 3]]")
		return nil
	case inline != nil:
		for _, item := range inline.items {
			ids := readIDs(p, join(key, "edges"), item)
			if ids == nil {
				continue
			}
			if len(ids) != 2 {
				p.add(item.at, join(key, "edges"), "%s, want two processes", item.plain())
				continue
			}
			out = append(out, [2]algo.ID{ids[0], ids[1]})
		}
		return out
	}
	name, ok := words("the path of a file", anyText).read(p, join(key, "path"), path).(string)
	if !ok {
		return nil
	}
	out, err := readEdges(p.path(path.at, name))
	if err != nil {
		p.add(path.at, join(key, "path"), "%s: %v", clip(name), err)
	} else if len(out) == 0 || len(out) > maxEdges {
		p.add(path.at, join(key, "path"), "%s: %d edges, want 1 to %d", clip(name), len(out), maxEdges)
	}
	return out
}

func readEdges(path string) ([][2]algo.ID, error) {
	data, err := files.Read(path, maxSize)
	if err != nil {
		return nil, reason(err)
	}
	return algo.ReadEdges(bytes.NewReader(data))
}

// path is where a named file is: beside the experiment that names it, or, for
// an override, in the working directory.
func (p *parser) path(at origin, name string) string {
	if at.source == p.file && !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(p.file), name)
	}
	if full, err := filepath.Abs(name); err == nil {
		return full
	}
	return name
}

func anyText(s string) string {
	if strings.TrimSpace(s) == "" || strings.ContainsRune(s, 0) {
		return "some text"
	}
	return ""
}

const maxID = 100_000

// id is a process.
func id() typ {
	t := whole(1, maxID)
	read := t.read
	t.name = "a process"
	t.read = func(p *parser, key string, n *node) any {
		if v, ok := read(p, key, n).(int64); ok {
			return algo.ID(v)
		}
		return nil
	}
	return t
}

func readIDs(p *parser, key string, n *node) []algo.ID {
	return readList[algo.ID](p, key, n, id())
}

// idList is a list of processes.
func idList() typ {
	t := typ{name: "a list of processes"}
	t.json = func(d defs) object { return arrayOf(id().json(d)) }
	t.read = func(p *parser, key string, n *node) any {
		if ids := readIDs(p, key, n); ids != nil {
			return ids
		}
		return nil
	}
	return t
}

// initiators is how many processes begin; all of them is 0, as in the plan.
func initiators() typ {
	count := whole(1, maxID)
	return typ{name: "a whole number of processes, or all", choices: []string{"all"},
		json: func(d defs) object { return anyOf(object{"const": "all"}, count.json(d)) },
		read: func(p *parser, key string, n *node) any {
			switch {
			case n.kind == text && n.text == "all":
				return int64(0)
			case n.kind == integer:
				return count.read(p, key, n)
			}
			p.wrong(key, n, "a whole number, or all")
			return nil
		}}
}
