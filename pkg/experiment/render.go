package experiment

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/harness"
)

func textNode(s string) *node { return &node{kind: text, text: s} }

func intNode(i int64) *node { return &node{kind: integer, text: strconv.FormatInt(i, 10)} }

func floatNode(f float64) *node { return &node{kind: float, text: formatFloat(f)} }

func spanNode(d time.Duration) *node { return textNode(d.String()) }

func idsNode(ids []algo.ID) *node {
	out := &node{kind: list}
	for _, id := range ids {
		out.items = append(out.items, intNode(int64(id)))
	}
	return out
}

// pairs makes a block of names and nodes; nil nodes are left out.
func pairs(args ...any) *node {
	out := &node{kind: block}
	for i := 0; i < len(args); i += 2 {
		if v, _ := args[i+1].(*node); v != nil {
			out.pairs = append(out.pairs, &pair{name: args[i].(string), value: v})
		}
	}
	return out
}

// unless is n, or nothing if the value is the zero one.
func unless(zero bool, n *node) *node {
	if zero {
		return nil
	}
	return n
}

func latencyNode(l bus.Latency) *node {
	if l.Distribution == "constant" {
		return spanNode(l.Mean)
	}
	out := pairs("distribution", textNode(l.Distribution))
	for _, d := range bus.Distributions {
		if d.Name != l.Distribution {
			continue
		}
		for i, key := range d.Keys {
			n, zero := latencyPart(&l, key)
			if i < d.Required || !zero {
				out.pairs = append(out.pairs, &pair{name: key, value: n})
			}
		}
	}
	return out
}

func latencyPart(l *bus.Latency, key string) (n *node, zero bool) {
	switch key {
	case "mean":
		return spanNode(l.Mean), l.Mean == 0
	case "min":
		return spanNode(l.Min), l.Min == 0
	case "max":
		return spanNode(l.Max), l.Max == 0
	case "median":
		return spanNode(l.Median), l.Median == 0
	case "alpha":
		return floatNode(l.Alpha), l.Alpha == 0
	case "sigma":
		if l.Distribution == "normal" {
			return spanNode(l.Spread), false
		}
		return floatNode(l.Sigma), false
	case "values":
		out := &node{kind: list}
		for _, v := range l.Values {
			out.items = append(out.items, spanNode(v))
		}
		return out, false
	}
	panic("experiment: key of a latency not handled: " + key)
}

func graphNode(g graph) *node {
	s := g.Shape
	if g.Auto || s.Kind != "tree" && s.Kind != "random" && s.Kind != "file" && s.Order == nil {
		return textNode(s.Kind)
	}
	var edges *node
	if s.Kind == "file" {
		edges = &node{kind: list}
		for _, e := range s.Edges {
			edges.items = append(edges.items, idsNode(e[:]))
		}
	}
	return pairs("kind", textNode(s.Kind),
		"shape", unless(s.Tree == "", textNode(s.Tree)),
		"degree", unless(s.Degree == 0, floatNode(s.Degree)),
		"edges", edges,
		"order", unless(s.Order == nil, idsNode(s.Order)))
}

func eventsNode(events []event) *node {
	out := &node{kind: list}
	for _, e := range events {
		groups := &node{kind: list}
		for _, g := range e.Groups {
			side := &node{kind: list}
			for _, q := range g {
				side.items = append(side.items, intNode(int64(q)))
			}
			groups.items = append(groups.items, side)
		}
		id := func(p algo.ID) *node { return unless(p == algo.None, intNode(int64(p))) }
		out.items = append(out.items, pairs(
			"at", unless(e.After != "", spanNode(e.At)),
			"after", unless(e.After == "", textNode(e.After)),
			"do", textNode(e.Do), "node", id(e.Node), "of", id(e.Of), "target", id(e.Target),
			"groups", unless(len(e.Groups) == 0, groups)))
	}
	return out
}

func expectNode(e *harness.Expect) *node {
	count := func(p *int64) *node {
		if p == nil {
			return nil
		}
		return intNode(*p)
	}
	out := pairs("sent", count(e.Sent), "delivered", count(e.Delivered))
	if e.SentByKind != nil {
		kinds := &node{kind: block}
		for _, k := range slices.Sorted(maps.Keys(e.SentByKind)) {
			kinds.pairs = append(kinds.pairs, &pair{name: k, value: intNode(e.SentByKind[k])})
		}
		out.pairs = append(out.pairs, &pair{name: "sent_by_kind", value: kinds})
	}
	if e.Leader != nil {
		out.pairs = append(out.pairs, &pair{name: "leader", value: intNode(int64(*e.Leader))})
	}
	if e.CSOrder != nil {
		out.pairs = append(out.pairs, &pair{name: "cs_order", value: idsNode(e.CSOrder)})
	}
	if e.AllInformedAt != nil {
		out.pairs = append(out.pairs, &pair{name: "all_informed_at", value: spanNode(*e.AllInformedAt)})
	}
	return out
}

func scalar(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

// yaml is n for the encoder; flow writes it on one line.
func (n *node) yaml(flow bool) *yaml.Node {
	out := &yaml.Node{}
	if flow {
		out.Style = yaml.FlowStyle
	}
	switch n.kind {
	case list:
		out.Kind = yaml.SequenceNode
		for _, item := range n.items {
			out.Content = append(out.Content, item.yaml(flow))
		}
	case block:
		out.Kind = yaml.MappingNode
		for _, p := range n.pairs {
			out.Content = append(out.Content, scalar("!!str", p.name), p.value.yaml(flow))
		}
	case float:
		if !strings.Contains(n.text, ".") {
			return scalar("!!int", n.text)
		}
		return scalar("!!float", n.text)
	default:
		return scalar(map[kind]string{null: "!!null", boolean: "!!bool", integer: "!!int",
			text: "!!str"}[n.kind], n.text)
	}
	return out
}
