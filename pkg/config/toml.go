package config

import (
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// readTOML parses TOML. The parser, which knows positions, builds the nodes; the
// decoder then says whether the tables fit together. It comes second because it
// is slow where a block has very many keys, which the first refuses.
func readTOML(d *Diagnostics, at Place, data []byte) *Value {
	t := tomlReader{Diagnostics: d, at: at, root: &Value{Kind: Map, At: at}}
	before := d.Count()
	for i, b := range data {
		if b == '\n' {
			t.ends = append(t.ends, i)
		}
	}
	t.parser.Reset(data)
	if err := t.read(); err != nil {
		t.place(err, data)
		d.Add(t.here(), "", "not TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))
		return nil
	}
	if d.Count() > before {
		return t.root
	}
	var plain map[string]any
	if err := toml.Unmarshal(data, &plain); err != nil {
		at.Line = 0
		var de *toml.DecodeError
		if errors.As(err, &de) {
			at.Line, _ = de.Position()
		}
		d.Add(at, "", "not TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))
		return nil
	}
	return t.root
}

// place moves to the line of a parser's error, which is a part of the data.
func (t *tomlReader) place(err error, data []byte) {
	var pe *unstable.ParserError
	if errors.As(err, &pe) && len(pe.Highlight) > 0 {
		if i := cap(data) - cap(pe.Highlight); i >= 0 && i < len(data) {
			t.line = sort.SearchInts(t.ends, i) + 1
		}
	}
}

type tomlReader struct {
	*Diagnostics
	at     Place // its line 1
	parser unstable.Parser
	ends   []int // offsets of the line ends
	root   *Value
	line   int // of the last key
	count  int
}

func (t *tomlReader) read() error {
	table, prefix := t.root, ""
	for t.parser.NextExpression() {
		e := t.parser.Expression()
		switch e.Kind {
		case unstable.KeyValue:
			if err := t.set(table, prefix, e, 0); err != nil {
				return err
			}
		case unstable.Table, unstable.ArrayTable:
			keys, err := t.keys(e)
			if err != nil {
				return err
			}
			parent, err := t.walk(t.root, "", keys[:len(keys)-1])
			if err != nil {
				return err
			}
			prefix = strings.Join(keys, ".")
			if table, err = t.open(parent, keys, e.Kind == unstable.ArrayTable); err != nil {
				return err
			}
		}
	}
	return t.parser.Error()
}

// open is the table that a header names: the one that is there, or a new one.
func (t *tomlReader) open(parent *Value, keys []string, ofList bool) (*Value, error) {
	last := keys[len(keys)-1:]
	if !ofList {
		return t.walk(parent, strings.Join(keys[:len(keys)-1], "."), last)
	}
	table := &Value{Kind: Map, At: t.here()}
	rows := parent.Get(last[0])
	if rows == nil {
		rows = &Value{Kind: List, At: t.here()}
		put(t.Diagnostics, parent, strings.Join(keys[:len(keys)-1], "."),
			&Pair{Name: last[0], At: t.here(), Value: rows})
	}
	if rows.Kind != List {
		return nil, fmt.Errorf("%s is not a list of tables", last[0])
	}
	rows.Items = append(rows.Items, table)
	return table, nil
}

// walk follows keys from n, making the tables that are not there yet. Of a list
// of tables the last is meant.
func (t *tomlReader) walk(n *Value, prefix string, keys []string) (*Value, error) {
	for _, k := range keys {
		next := n.Get(k)
		if next == nil {
			next = &Value{Kind: Map, At: t.here()}
			put(t.Diagnostics, n, prefix, &Pair{Name: k, At: t.here(), Value: next})
		}
		if next.Kind == List && len(next.Items) > 0 {
			next = next.Items[len(next.Items)-1]
		}
		if next.Kind != Map {
			return nil, fmt.Errorf("%s is not a table", k)
		}
		n, prefix = next, Join(prefix, k)
	}
	return n, nil
}

func (t *tomlReader) set(table *Value, prefix string, e *unstable.Node, depth int) error {
	keys, err := t.keys(e)
	if err != nil {
		return err
	}
	at := t.here()
	table, err = t.walk(table, prefix, keys[:len(keys)-1])
	if err != nil {
		return err
	}
	v, err := t.value(e.Value(), Join(prefix, strings.Join(keys, ".")), depth+1)
	if err != nil {
		return err
	}
	v.At = at
	prefix = Join(prefix, strings.Join(keys[:len(keys)-1], "."))
	put(t.Diagnostics, table, strings.TrimSuffix(prefix, "."),
		&Pair{Name: keys[len(keys)-1], At: at, Value: v})
	return nil
}

func (t *tomlReader) keys(e *unstable.Node) (out []string, err error) {
	for it := e.Key(); it.Next(); {
		k := it.Node()
		out = append(out, string(k.Data))
		t.see(k.Raw)
		if len(out) > maxDepth {
			return nil, fmt.Errorf("a key of more than %d parts", maxDepth)
		}
	}
	return out, nil
}

// see remembers the line of what is being read.
func (t *tomlReader) see(r unstable.Range) {
	if r.Length > 0 {
		t.line = sort.SearchInts(t.ends, int(r.Offset)) + 1
	}
}

func (t *tomlReader) here() Place { return t.at.offset(max(t.line, 1)) }

func (t *tomlReader) value(e *unstable.Node, key string, depth int) (*Value, error) {
	t.count++
	if depth > maxDepth || t.count > maxValues {
		return nil, fmt.Errorf("%s: more than %d levels or %d values", key, maxDepth, maxValues)
	}
	t.see(e.Raw)
	n := &Value{Kind: Text, Text: string(e.Data), At: t.here()}
	switch e.Kind {
	case unstable.Bool:
		n.Kind = Bool
	case unstable.Float:
		n.Kind, n.Text = Float, strings.ReplaceAll(n.Text, "_", "")
	case unstable.Integer:
		n.Kind = Int
		i, err := strconv.ParseInt(strings.ReplaceAll(n.Text, "_", ""), 0, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is too large", key, n.Text)
		}
		n.Text = strconv.FormatInt(i, 10)
	case unstable.Array:
		n.Kind, n.Text = List, ""
		for it := e.Children(); it.Next(); {
			if it.Node().Kind == unstable.Comment {
				continue
			}
			item, err := t.value(it.Node(), Item(key, len(n.Items)), depth+1)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, item)
		}
	case unstable.InlineTable:
		n.Kind, n.Text = Map, ""
		for it := e.Children(); it.Next(); {
			if err := t.set(n, key, it.Node(), depth+1); err != nil {
				return nil, err
			}
		}
	}
	return n, nil
}
