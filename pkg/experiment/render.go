package experiment

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

func textNode(s string) *node { return &node{kind: text, text: s} }

func intNode(i int64) *node { return &node{kind: integer, text: strconv.FormatInt(i, 10)} }

func floatNode(f float64) *node { return &node{kind: float, text: formatFloat(f)} }

func spanNode(d time.Duration) *node { return textNode(d.String()) }

func spansNode(spans []time.Duration) *node {
	out := &node{kind: list}
	for _, d := range spans {
		out.items = append(out.items, spanNode(d))
	}
	return out
}

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

func latencyNode(l link.Latency) *node {
	switch {
	case l.Distribution == "":
		return textNode(forever)
	case l.Fixed():
		return spanNode(l.Mean)
	}
	out := pairs("distribution", textNode(l.Distribution))
	for _, d := range link.Distributions {
		if d.Name != l.Distribution {
			continue
		}
		for i, k := range d.Keys {
			n, zero := latencyPart(k.Of(&l))
			if i < d.Required || !zero {
				out.pairs = append(out.pairs, &pair{name: k.Name, value: n})
			}
		}
	}
	return out
}

func latencyPart(v any) (n *node, zero bool) {
	switch v := v.(type) {
	case *time.Duration:
		return spanNode(*v), *v == 0
	case *float64:
		return floatNode(*v), *v == 0
	case *[]time.Duration:
		return spansNode(*v), *v == nil
	case *[]string:
		out := &node{kind: list}
		for _, word := range *v {
			out.items = append(out.items, textNode(word))
		}
		return out, *v == nil
	case *[][]time.Duration:
		out := &node{kind: list}
		for _, row := range *v {
			out.items = append(out.items, spansNode(row))
		}
		return out, *v == nil
	}
	panic(fmt.Sprintf("experiment: parameter of a latency not handled: %T", v))
}

func lossNode(l loss) *node {
	b := l.Burst
	if b == nil {
		return floatNode(l.Rate)
	}
	return pairs("burst", pairs("p_enter", floatNode(b.Enter), "p_leave", floatNode(b.Leave),
		"good", floatNode(b.Good), "bad", floatNode(b.Bad)))
}

func repetitionsNode(r repetitions) *node {
	if r.Until == nil {
		return intNode(int64(r.Max))
	}
	return pairs("min", intNode(int64(r.Min)), "max", intNode(int64(r.Max)),
		"until", pairs("metric", textNode(r.Until.Metric), "ci", floatNode(r.Until.CI)))
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
	for i := range events {
		out.items = append(out.items, eventNode(&events[i]))
	}
	return out
}

// eventNode writes an event as its verb has it: an instant that is the start of
// nothing, and zeros, are left out.
func eventNode(e *event) *node {
	id := func(p algo.ID) *node { return unless(p == algo.None, intNode(int64(p))) }
	count := func(n int) *node { return unless(n == 0, intNode(int64(n))) }
	word := func(s string) *node { return unless(s == "", textNode(s)) }
	time := func(d time.Duration) *node { return unless(d == 0, spanNode(d)) }
	single := e.After == "" && e.Every == 0 && e.Rate == 0 && e.On == "" && e.Do != harness.DoDrop
	who := word(e.Who)
	if len(e.Nodes) > 0 {
		who = idsNode(e.Nodes)
	}
	var loss, delay *node
	if e.Loss != nil {
		loss = floatNode(*e.Loss)
	}
	if e.Latency != nil {
		delay = latencyNode(*e.Latency)
	}
	return pairs(
		"at", unless(e.At == 0 && !single, spanNode(e.At)),
		"every", time(e.Every), "rate", unless(e.Rate == 0, floatNode(e.Rate)), "after", word(e.After),
		"on", word(e.On), "kind", word(e.Kind), "count", count(e.Count), "times", count(e.Times),
		"wait", time(e.Wait), "do", textNode(e.Do), "node", id(e.Node), "who", who,
		"of", id(e.Of), "target", id(e.Target), "groups", numbersNode(e.Groups),
		"links", numbersNode(e.Links), "shape", word(e.Shape), "loss", loss, "latency", delay,
		"by", time(e.By), "for", time(e.For))
}

// numbersNode is lists of processes; nothing if there are none.
func numbersNode[T []uint32 | [2]uint32](lists []T) *node {
	out := &node{kind: list}
	for _, l := range lists {
		side := &node{kind: list}
		for i := range len(l) {
			side.items = append(side.items, intNode(int64(l[i])))
		}
		out.items = append(out.items, side)
	}
	return unless(len(lists) == 0, out)
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
