package experiment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The bounds of what is read. A file of nested aliases grows when it is
// unfolded: the number of nodes is counted behind that.
const (
	maxSize  = 1 << 20
	maxNodes = 400_000
	maxDepth = 64
	maxKeys  = 1000 // of one block
)

type kind uint8

const (
	null kind = iota
	boolean
	integer
	float
	text
	list
	block
)

func (k kind) String() string {
	return [...]string{"nothing", "true or false", "a whole number", "a number", "text",
		"a list", "a block of keys"}[k]
}

// A node is one value of a configuration, with its place. All formats are read
// into it, so that everything behind it sees one language and says where.
type node struct {
	kind  kind
	text  string // of a scalar, as it was written
	items []*node
	pairs []*pair // of a block, in the order of the file
	at    origin
}

type pair struct {
	name  string
	at    origin
	value *node
	// anchored says that the value is there to be repeated elsewhere.
	anchored bool
}

// get is the value of a key; nil if there is none.
func (n *node) get(name string) *node {
	for _, p := range n.pairs {
		if p.name == name {
			return p.value
		}
	}
	return nil
}

// with is a copy of block n in which name has the value v.
func (n *node) with(name string, v *node) *node {
	c := *n
	c.pairs = slices.Clone(n.pairs)
	for i, p := range c.pairs {
		if p.name == name {
			c.pairs[i] = &pair{name: name, at: v.at, value: v}
			return &c
		}
	}
	c.pairs = append(c.pairs, &pair{name: name, at: v.at, value: v})
	return &c
}

// String is n on one line, with texts in quotes so that no two values look the
// same.
func (n *node) String() string { return n.line(strconv.Quote) }

// bare is n on one line as a user would write it.
func (n *node) bare() string { return n.line(func(s string) string { return s }) }

func (n *node) line(quote func(string) string) string {
	switch n.kind {
	case list:
		words := make([]string, len(n.items))
		for i, item := range n.items {
			words[i] = item.line(quote)
		}
		return "[" + strings.Join(words, ", ") + "]"
	case block:
		words := make([]string, len(n.pairs))
		for i, p := range n.pairs {
			words[i] = p.name + ": " + p.value.line(quote)
		}
		return "{" + strings.Join(words, ", ") + "}"
	case null:
		return "nothing"
	case text:
		return quote(n.text)
	}
	return n.text
}

// plain is n for a message.
func (n *node) plain() string { return clip(n.bare()) }

// behind is how the parser's own mistakes begin, which count lines from 0; those
// of the scanner count from 1.
var behind = lazy(`^did not find expected (key|node|'|,|<)`)

var yamlLine = lazy(`^yaml: (?:line (\d+): )?`)

// readYAML parses YAML, and so JSON. Nil if there is nothing in it, or nothing
// that can be read.
func readYAML(r *report, source string, line int, data []byte) *node {
	at := origin{source, line}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		if err2 := dec.Decode(&second); err2 == nil {
			r.add(at.offset(second.Line), "", "a second document; want one experiment in a file: "+
				"remove what follows the line \"---\"")
			return nil
		} else if !errors.Is(err2, io.EOF) {
			err = err2
		}
	}
	if err != nil {
		text := yamlLine().ReplaceAllString(err.Error(), "")
		if where := yamlLine().FindStringSubmatch(err.Error()); where != nil && where[1] != "" {
			n, _ := strconv.Atoi(where[1])
			if behind().MatchString(text) {
				n++
			}
			at = at.offset(n)
		}
		r.add(at, "", "not YAML: %s", clip(text))
		return nil
	}
	u := unfolder{report: r, at: at, open: map[*yaml.Node]bool{}}
	n, err := u.unfold(doc.Content[0], "", 0)
	if err != nil {
		r.add(at, "", "%v", err)
		return nil
	}
	return n
}

// offset is line n of a source that stands at o; what is not a file has no lines.
func (o origin) offset(n int) origin {
	if o.line > 0 {
		o.line += n - 1
	}
	return o
}

// An unfolder turns YAML nodes into ours: aliases are replaced by what they
// stand for, and keys are checked.
type unfolder struct {
	report *report
	at     origin
	count  int
	open   map[*yaml.Node]bool // anchors that are being unfolded
}

func (u *unfolder) unfold(y *yaml.Node, key string, depth int) (*node, error) {
	u.count++
	if u.count > maxNodes {
		return nil, fmt.Errorf("more than %d values, counting what aliases stand for", maxNodes)
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("nested more than %d levels deep", maxDepth)
	}
	n := &node{at: u.at.offset(y.Line)}
	var err error
	switch y.Kind {
	case yaml.AliasNode:
		if u.open[y.Alias] {
			return nil, fmt.Errorf("alias *%s stands within its own anchor", y.Value)
		}
		u.open[y.Alias] = true
		defer delete(u.open, y.Alias)
		return u.unfold(y.Alias, key, depth+1)
	case yaml.SequenceNode:
		n.kind = list
		for i, item := range y.Content {
			v, err := u.unfold(item, key+"["+strconv.Itoa(i+1)+"]", depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, v)
		}
	case yaml.MappingNode:
		n.kind = block
		err = u.block(n, y, key, depth)
	default:
		u.scalar(n, y, key)
	}
	return n, err
}

func (u *unfolder) scalar(n *node, y *yaml.Node, key string) {
	n.text = y.Value
	switch tag := y.ShortTag(); tag {
	case "!!null":
		n.kind = null
	case "!!bool":
		n.kind = boolean
	case "!!int":
		n.kind = integer
	case "!!float":
		n.kind = float
	case "!!str", "!!timestamp":
		n.kind = text
	default:
		u.report.add(n.at, key, "tag %s; want a plain value", clip(tag))
		n.kind = text
		if plain := (&yaml.Node{Kind: yaml.ScalarNode, Value: y.Value}); plain.ShortTag() != tag {
			u.scalar(n, plain, key)
		}
	}
}

func (u *unfolder) block(n *node, y *yaml.Node, key string, depth int) error {
	var merged []*node
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, v := y.Content[i], y.Content[i+1]
		at := u.at.offset(k.Line)
		for k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			u.report.add(at, key, "a key that is a list or a block; want a word")
			continue
		}
		value, err := u.unfold(v, join(key, k.Value), depth+1)
		if err != nil {
			return err
		}
		if k.ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		u.put(n, key, &pair{k.Value, at, value, v.Anchor != ""})
	}
	for _, m := range merged {
		u.merge(n, m, key)
	}
	return nil
}

// merge adds what n lacks of the blocks that "<<" names.
func (u *unfolder) merge(n, from *node, key string) {
	switch from.kind {
	case list:
		for _, m := range from.items {
			u.merge(n, m, key)
		}
	case block:
		for _, p := range from.pairs {
			if n.get(p.name) == nil {
				putPair(u.report, n, key, p)
			}
		}
	default:
		u.report.add(from.at, key, "<< names %s; want a block of keys", from.kind)
	}
}

func (u *unfolder) put(n *node, key string, p *pair) { putPair(u.report, n, key, p) }

// putPair adds a key to a block. Two keys that differ in case alone are one key
// twice: whoever reads the file would take them for that.
func putPair(r *report, n *node, key string, p *pair) {
	full := join(key, p.name)
	if strings.Contains(p.name, ".") {
		head, rest, _ := strings.Cut(p.name, ".")
		r.add(p.at, full, "a dot in a key; write it as a block: %s: {%s: ...}", head, rest)
		return
	}
	if len(n.pairs) >= maxKeys {
		r.add(n.at, key, "more than %d keys in one block", maxKeys)
		return
	}
	for _, q := range n.pairs {
		if strings.EqualFold(q.name, p.name) {
			r.add(p.at, full, "stands twice, first as %q in %s; remove one", q.name, place(q.at))
			return
		}
	}
	n.pairs = append(n.pairs, p)
}

func place(o origin) string {
	if o.line > 0 {
		return "line " + strconv.Itoa(o.line)
	}
	return o.source
}

func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}
