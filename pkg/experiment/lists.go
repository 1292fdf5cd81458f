package experiment

import (
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// An entry is one item of the list algorithms, as it was written.
type entry struct {
	name, label string
	params      *node // nil: none
	at          origin
	key         string
}

func numbered(key string, i int) string { return key + "[" + strconv.Itoa(i+1) + "]" }

// items reads a list of at most so many things, each by read; nil if one is wrong.
func items[T any](
	p *parser, key string, n *node, like string, most int, things string, read func(key string, n *node) T,
) any {
	if n.kind != list {
		p.wrong(key, n, "a list, as ["+like+"]")
		return nil
	}
	if len(n.items) > most {
		p.add(n.at, key, "%d %s, want at most %d", len(n.items), things, most)
		return nil
	}
	before := len(p.mistakes)
	out := make([]T, 0, len(n.items))
	for i, item := range n.items {
		out = append(out, read(numbered(key, i), item))
	}
	if len(p.mistakes) > before {
		return nil
	}
	return out
}

var entryKeys = []string{"name", "params", "label"}

// algorithms is the list of what is compared.
func algorithms() typ {
	return typ{name: "a list of algorithms, or of {name, params, label}",
		json: func(d defs) object {
			var options []object
			for _, p := range []algo.Problem{algo.Election, algo.MutualExclusion} {
				if len(idsOf(p)) > 0 {
					options = append(options, d.entry(p))
				}
			}
			return object{"type": "array", "minItems": 1, "maxItems": maxKeys, "items": anyOf(options...)}
		},
		read: func(p *parser, key string, n *node) any {
			if n.kind == list && len(n.items) == 0 {
				p.add(n.at, key, "an empty list, want at least one algorithm")
				return nil
			}
			return items(p, key, n, clip(n.text), maxKeys, "algorithms", p.entry)
		}}
}

func (p *parser) entry(key string, n *node) entry {
	e := entry{at: n.at, key: key}
	name := words("the name of an algorithm", anyText)
	if n.kind != block {
		e.name, _ = name.read(p, key, n).(string)
		return e
	}
	p.known(n, key, entryKeys, "")
	if n.get("name") == nil {
		p.add(n.at, key, "without a name, want {name, params, label}")
	}
	e.name, _ = p.part(n, key, "name", name).(string)
	e.label, _ = p.part(n, key, "label", label()).(string)
	if v := n.get("params"); v != nil {
		if v.kind != block {
			p.wrong(join(key, "params"), v, "a block, as {name: value}")
		}
		e.params = v
	}
	return e
}

// maxAxes bounds the dimensions of a sweep, and the keys of a zip.
const maxAxes = 64

// A dimension is one item of the list sweep: keys that vary together.
type dimension struct {
	vary []varied
	at   origin
	key  string
}

// varied is one key and the values that it takes.
type varied struct {
	key    string
	values []*node
	at     origin // of the key's name
	over   origin
	name   string // "sweep[1].vary"
}

// sweep is the list of dimensions.
func sweep() typ {
	return typ{name: "a list of {vary, over} or {zip: [{vary, over}, ...]}",
		json: func(d defs) object {
			zip := keyed(object{"zip": object{"type": "array", "minItems": 1, "maxItems": maxAxes,
				"items": d.varied()}}, "zip")
			return object{"type": "array", "maxItems": maxAxes, "items": anyOf(d.varied(), zip)}
		},
		read: func(p *parser, key string, n *node) any {
			return items(p, key, n, "{vary: nodes, over: [3, 5]}", maxAxes, "dimensions", p.dimension)
		}}
}

func (p *parser) dimension(key string, n *node) dimension {
	d := dimension{at: n.at, key: key}
	if n.kind != block {
		p.wrong(key, n, "{vary: key, over: [...]} or {zip: [...]}")
		return d
	}
	zip := n.get("zip")
	if zip == nil {
		d.vary = append(d.vary, p.varied(key, n))
		return d
	}
	p.known(n, key, []string{"zip"}, " beside zip")
	if zip.kind != list || len(zip.items) == 0 {
		p.wrong(join(key, "zip"), zip, "a list of {vary: key, over: [...]}")
		return d
	}
	if len(zip.items) > maxAxes {
		p.add(zip.at, key, "%d keys, want at most %d", len(zip.items), maxAxes)
		return d
	}
	for i, item := range zip.items {
		d.vary = append(d.vary, p.varied(numbered(join(key, "zip"), i), item))
	}
	for _, v := range d.vary[1:] {
		if len(v.values) != len(d.vary[0].values) {
			p.add(v.over, key, "%s and %s have %d and %d values; keys in a zip vary together",
				d.vary[0].key, v.key, len(d.vary[0].values), len(v.values))
		}
	}
	return d
}

func (p *parser) varied(key string, n *node) varied {
	v := varied{at: n.at, over: n.at, name: join(key, "vary")}
	if n.kind != block {
		p.wrong(key, n, "{vary: key, over: [...]}")
		return v
	}
	p.known(n, key, []string{"vary", "over"}, "")
	name, over := n.get("vary"), n.get("over")
	if name == nil || over == nil {
		p.add(n.at, key, "want both vary and over, as {vary: nodes, over: [3, 5]}")
		return v
	}
	v.at, v.over = name.at, over.at
	v.key, _ = words("a key", anyText).read(p, v.name, name).(string)
	v.key = strings.TrimSpace(v.key)
	if over.kind != list || len(over.items) == 0 {
		p.add(over.at, join(key, "over"), "%s, want a list of values, as [3, 5]", over.plain())
		return v
	}
	if len(over.items) > maxCells {
		p.add(over.at, join(key, "over"), "%d values, want at most %d", len(over.items), maxCells)
		return v
	}
	v.values = over.items
	return v
}
