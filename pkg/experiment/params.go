package experiment

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A contender is an algorithm of the experiment while it is being put together.
type contender struct {
	Algorithm
	alg     *algo.Algorithm
	at      origin
	key     string
	origins map[string]origin // of the parameters given
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

func (d *draft) giveParam(c *contender, name, key string, at origin, n *node) {
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
		d.add(at, key, "unknown parameter of %s%s (%s)", c.alg.ID, meant(name, names), has)
		return
	}
	if v := d.paramValue(p, key, n); v != nil {
		c.Params[name] = v
		c.origins[name] = n.at
	}
}

// paramValue gives a parameter's value the Go type that the Spec declares; nil
// if it is wrong.
func (p *parser) paramValue(d *algo.Param, key string, n *node) any {
	if n.kind == list && d.PerProcess {
		out := make([]any, 0, len(n.items))
		for i, item := range n.items {
			if v := p.paramValue(d, numbered(key, i), item); v != nil && item.kind != list {
				out = append(out, v)
			} else if item.kind == list {
				p.add(item.at, numbered(key, i), "a list within a list")
			}
		}
		if len(out) < len(n.items) {
			return nil
		}
		return out
	}
	if n.kind == list {
		p.add(n.at, key, "%s, but it is the same for every process; to try several, write "+
			"sweep: [{vary: params.%s, over: [...]}]", n.plain(), d.Name)
		return nil
	}
	v := paramType(d).read(p, key, n)
	if v == nil {
		return nil
	}
	if err := d.Check(v); err != nil {
		p.add(n.at, key, "%s", strings.TrimPrefix(err.Error(), "parameter "+d.Name+": "))
		return nil
	}
	return v
}

// paramType is the type by which a parameter is read. Its own bounds are checked
// behind that, by the Spec.
func paramType(d *algo.Param) typ {
	t := typ{}
	switch d.Type {
	case algo.Bool:
		t = truth()
	case algo.Int:
		t = whole(-maxInt, maxInt)
	case algo.Float:
		t = number(-math.MaxFloat64, math.Inf(1))
	case algo.Duration:
		t = span(0, longest)
	case algo.Enum:
		t = word(d.Choices)
	}
	if t.name == "" {
		panic(fmt.Sprintf("experiment: parameter %s has the unknown type %d", d.Name, d.Type))
	}
	return t
}

// maxInt is the largest number that JSON carries whole.
const maxInt = 1<<53 - 1

// word is a choice that may also look like a number or a truth value.
func word(choices []string) typ {
	t := choice(choices...)
	read := t.read
	t.json = func(defs) object {
		var options []any
		for _, c := range choices {
			options = append(options, c)
			if v := plainValue(c); v != any(c) {
				options = append(options, v)
			}
		}
		return object{"enum": options}
	}
	t.read = func(p *parser, key string, n *node) any {
		if n.kind == boolean || n.kind == integer || n.kind == float {
			n = &node{kind: text, text: n.text, at: n.at}
		}
		return read(p, key, n)
	}
	return t
}

// formatValue is a typed value as it stands in a column of the design.
func formatValue(v any) string {
	switch v := v.(type) {
	case time.Duration:
		return milliseconds(v)
	case float64:
		return formatFloat(v)
	case []any:
		words := make([]string, len(v))
		for i, x := range v {
			words[i] = formatValue(x)
		}
		return strings.Join(words, " ")
	}
	return fmt.Sprint(v)
}

func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/1e6, 'f', -1, 64)
}
