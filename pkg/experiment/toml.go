package experiment

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
func readTOML(r *report, source string, data []byte) *node {
	t := tomlReader{report: r, source: source, root: &node{kind: block, at: origin{source, 1}}}
	for i, b := range data {
		if b == '\n' {
			t.ends = append(t.ends, i)
		}
	}
	t.parser.Reset(data)
	if err := t.read(); err != nil {
		t.place(err, data)
		r.add(t.here(), "", "not TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))
		return nil
	}
	if len(r.mistakes) > 0 {
		return t.root
	}
	var plain map[string]any
	if err := toml.Unmarshal(data, &plain); err != nil {
		at := origin{source: source}
		var de *toml.DecodeError
		if errors.As(err, &de) {
			at.line, _ = de.Position()
		}
		r.add(at, "", "not TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))
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
	report *report
	source string
	parser unstable.Parser
	ends   []int // offsets of the line ends
	root   *node
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
func (t *tomlReader) open(parent *node, keys []string, ofList bool) (*node, error) {
	last := keys[len(keys)-1:]
	if !ofList {
		return t.walk(parent, strings.Join(keys[:len(keys)-1], "."), last)
	}
	table := &node{kind: block, at: t.here()}
	rows := parent.get(last[0])
	if rows == nil {
		rows = &node{kind: list, at: t.here()}
		putPair(t.report, parent, strings.Join(keys[:len(keys)-1], "."),
			&pair{name: last[0], at: t.here(), value: rows})
	}
	if rows.kind != list {
		return nil, fmt.Errorf("%s is not a list of tables", last[0])
	}
	rows.items = append(rows.items, table)
	return table, nil
}

// walk follows keys from n, making the tables that are not there yet. Of a list
// of tables the last is meant.
func (t *tomlReader) walk(n *node, prefix string, keys []string) (*node, error) {
	for _, k := range keys {
		next := n.get(k)
		if next == nil {
			next = &node{kind: block, at: t.here()}
			putPair(t.report, n, prefix, &pair{name: k, at: t.here(), value: next})
		}
		if next.kind == list && len(next.items) > 0 {
			next = next.items[len(next.items)-1]
		}
		if next.kind != block {
			return nil, fmt.Errorf("%s is not a table", k)
		}
		n, prefix = next, join(prefix, k)
	}
	return n, nil
}

func (t *tomlReader) set(table *node, prefix string, e *unstable.Node, depth int) error {
	keys, err := t.keys(e)
	if err != nil {
		return err
	}
	at := t.here()
	table, err = t.walk(table, prefix, keys[:len(keys)-1])
	if err != nil {
		return err
	}
	v, err := t.value(e.Value(), join(prefix, strings.Join(keys, ".")), depth+1)
	if err != nil {
		return err
	}
	v.at = at
	prefix = join(prefix, strings.Join(keys[:len(keys)-1], "."))
	putPair(t.report, table, strings.TrimSuffix(prefix, "."),
		&pair{name: keys[len(keys)-1], at: at, value: v})
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

func (t *tomlReader) here() origin { return origin{t.source, max(t.line, 1)} }

func (t *tomlReader) value(e *unstable.Node, key string, depth int) (*node, error) {
	t.count++
	if depth > maxDepth || t.count > maxNodes {
		return nil, fmt.Errorf("%s: more than %d levels or %d values", key, maxDepth, maxNodes)
	}
	t.see(e.Raw)
	n := &node{kind: text, text: string(e.Data), at: t.here()}
	switch e.Kind {
	case unstable.Bool:
		n.kind = boolean
	case unstable.Float:
		n.kind, n.text = float, strings.ReplaceAll(n.text, "_", "")
	case unstable.Integer:
		n.kind = integer
		i, err := strconv.ParseInt(strings.ReplaceAll(n.text, "_", ""), 0, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is too large", key, n.text)
		}
		n.text = strconv.FormatInt(i, 10)
	case unstable.Array:
		n.kind, n.text = list, ""
		for it := e.Children(); it.Next(); {
			if it.Node().Kind == unstable.Comment {
				continue
			}
			item, err := t.value(it.Node(), key+"["+strconv.Itoa(len(n.items)+1)+"]", depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
	case unstable.InlineTable:
		n.kind, n.text = block, ""
		for it := e.Children(); it.Next(); {
			if err := t.set(n, key, it.Node(), depth+1); err != nil {
				return nil, err
			}
		}
	}
	return n, nil
}
