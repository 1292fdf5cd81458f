package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/conclave-bench/conclave/internal/base/text"
)

// behind is how the parser's own mistakes begin, which count lines from 0; those
// of the scanner count from 1.
var behind = text.Lazy(`^did not find expected (key|node|'|,|<)`)

var yamlLine = text.Lazy(`^yaml: (?:line (\d+): )?`)

// readYAML parses YAML, and so JSON. Nil if there is nothing in it, or nothing
// that can be read.
func (r *Reader) readYAML(at Place, data []byte) *Value {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		if err2 := dec.Decode(&second); err2 == nil {
			r.Add(at.offset(second.Line), "", "a second document; expected one %s in a file: "+
				"remove what follows the line \"---\"", r.noun)
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
		r.Add(at, "", "not YAML: %s", Clip(text))
		return nil
	}
	u := unfolder{Diagnostics: r.Diagnostics, at: at, open: map[*yaml.Node]bool{}}
	n, err := u.unfold(doc.Content[0], "", 0)
	if err != nil {
		r.Add(at, "", "%v", err)
		return nil
	}
	return n
}

// An unfolder turns YAML nodes into ours: aliases are replaced by what they
// stand for, and keys are checked.
type unfolder struct {
	*Diagnostics
	at    Place
	count int
	open  map[*yaml.Node]bool // anchors that are being unfolded
}

func (u *unfolder) unfold(y *yaml.Node, key string, depth int) (*Value, error) {
	u.count++
	if u.count > maxValues {
		return nil, fmt.Errorf("more than %d values, counting what aliases stand for", maxValues)
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("nested more than %d levels deep", maxDepth)
	}
	n := &Value{At: u.at.offset(y.Line)}
	if tag := y.ShortTag(); y.Kind == yaml.MappingNode && tag != "!!map" ||
		y.Kind == yaml.SequenceNode && tag != "!!seq" {
		u.Add(n.At, key, "tag %s; remove it", Clip(tag))
	}
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
		n.Kind = List
		for i, item := range y.Content {
			v, err := u.unfold(item, Item(key, i), depth+1)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, v)
		}
	case yaml.MappingNode:
		n.Kind = Map
		err = u.block(n, y, key, depth)
	default:
		u.scalar(n, y, key)
	}
	return n, err
}

func (u *unfolder) scalar(n *Value, y *yaml.Node, key string) {
	n.Text = y.Value
	switch tag := y.ShortTag(); tag {
	case "!!null":
		n.Kind = Null
	case "!!bool":
		n.Kind = Bool
	case "!!int":
		n.Kind = Int
	case "!!float":
		n.Kind = Float
	case "!!str", "!!timestamp":
		n.Kind = Text
	default:
		u.Add(n.At, key, "tag %s; expected a plain value: remove the tag", Clip(tag))
		n.Kind = Text
		if plain := (&yaml.Node{Kind: yaml.ScalarNode, Value: y.Value}); plain.ShortTag() != tag {
			u.scalar(n, plain, key)
		}
	}
}

func (u *unfolder) block(n *Value, y *yaml.Node, key string, depth int) error {
	var merged []*Value
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, v := y.Content[i], y.Content[i+1]
		at := u.at.offset(k.Line)
		for k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			u.Add(at, key, "a key that is a list or a block; expected a word")
			continue
		}
		if k.Style&yaml.TaggedStyle != 0 {
			u.Add(at, Join(key, k.Value), "tag %s; remove it", Clip(k.ShortTag()))
		}
		value, err := u.unfold(v, Join(key, k.Value), depth+1)
		if err != nil {
			return err
		}
		if k.ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		put(u.Diagnostics, n, key, &Pair{k.Value, at, value, v.Anchor != ""})
	}
	for _, m := range merged {
		u.merge(n, m, key)
	}
	return nil
}

// merge adds what n lacks of the blocks that "<<" names.
func (u *unfolder) merge(n, from *Value, key string) {
	switch from.Kind {
	case List:
		for _, m := range from.Items {
			u.merge(n, m, key)
		}
	case Map:
		for _, p := range from.Pairs {
			if n.Get(p.Name) == nil {
				put(u.Diagnostics, n, key, p)
			}
		}
	default:
		u.Add(from.At, key, "<< names %s; expected a block of keys", from.Kind)
	}
}

// putPair adds a key to a block. Two keys that differ in case alone are one key
// twice: whoever reads the file would take them for that.
func put(d *Diagnostics, n *Value, key string, p *Pair) {
	full := Join(key, p.Name)
	if strings.Contains(p.Name, ".") {
		head, rest, _ := strings.Cut(p.Name, ".")
		d.Add(p.At, full, "a dot in a key; write it as a block: %s: {%s: ...}", head, rest)
		return
	}
	if len(n.Pairs) >= MaxKeys {
		d.Add(n.At, key, "more than %d keys in one block", MaxKeys)
		return
	}
	for _, q := range n.Pairs {
		if strings.EqualFold(q.Name, p.Name) {
			d.Add(p.At, full, "appears twice, first as %q in %s; remove one", q.Name, q.At.Short())
			return
		}
	}
	n.Pairs = append(n.Pairs, p)
}
