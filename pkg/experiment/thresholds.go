package experiment

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/metric"
)

// A Threshold is what a figure must not go beyond in any of the cells that it is
// about; bench run exits 4 if one does.
type Threshold struct {
	Metric   string
	Stat     string   // one of Stats
	Max, Min *float64 // in the metric's unit; nil: no bound
	Where    []Field  // columns of the design and their values; empty: every cell
}

// Stats are the figures of a sample that a threshold can be about; the first is
// meant where none is named.
var Stats = []string{"median", "mean", "min", "max", "p90", "p95", "p99"}

// String is the threshold in words.
func (t Threshold) String() string {
	var bounds []string
	if t.Max != nil {
		bounds = append(bounds, "at most "+formatFloat(*t.Max))
	}
	if t.Min != nil {
		bounds = append(bounds, "at least "+formatFloat(*t.Min))
	}
	return t.Stat + " of " + t.Metric + " " + strings.Join(bounds, " and ")
}

// Covers says whether a cell of that design has all the values of where. Of an
// algorithm, "raft" means "election/raft".
func Covers(where, design []Field) bool {
	for _, want := range where {
		if !slices.ContainsFunc(design, want.matches) {
			return false
		}
	}
	return true
}

func (f Field) matches(of Field) bool {
	return f.Name == of.Name && (f.Value == of.Value ||
		f.Name == "algorithm" && strings.HasSuffix(of.Value, "/"+f.Value))
}

// A threshold as it was written.
type threshold struct {
	Threshold
	at  *node
	key string
}

const likeThreshold = "{metric: downtime_ms, stat: p95, max: 500}"

var thresholdKeys = []string{"metric", "stat", "max", "min", "where"}

// thresholds is the list of them.
func thresholds() typ {
	read := func(p *parser, key string, n *node) any {
		return items(p, key, n, likeThreshold, maxKeys, "thresholds", p.threshold)
	}
	describe := func(d defs) object {
		bound := amount().json(d)
		one := keyed(object{"metric": anyMetric(), "stat": enumOf(Stats),
			"max": bound, "min": bound, "where": object{"type": "object",
				"additionalProperties": object{"type": []string{"string", "number", "boolean"}}},
		}, "metric")
		one["anyOf"] = []object{given("max"), given("min")}
		return object{"type": "array", "maxItems": maxKeys, "items": one}
	}
	return typ{name: "a list of {metric, stat, max, min, where}", json: describe, read: read}
}

func (p *parser) threshold(key string, n *node) threshold {
	t := threshold{at: n, key: key}
	if n.kind != block {
		p.wrong(key, n, likeThreshold)
		return t
	}
	p.known(n, key, thresholdKeys, "")
	if n.get("metric") == nil {
		p.add(n.at, key, "without metric, as %s", likeThreshold)
	}
	if n.get("max") == nil && n.get("min") == nil {
		p.add(n.at, key, "without max or min, as %s", likeThreshold)
	}
	t.Metric, _ = p.part(n, key, "metric", words("the name of a metric", anyText)).(string)
	t.Stat, _ = p.part(n, key, "stat", choice(Stats...)).(string)
	if t.Stat == "" {
		t.Stat = Stats[0]
	}
	if v, ok := p.part(n, key, "max", amount()).(float64); ok {
		t.Max = &v
	}
	if v, ok := p.part(n, key, "min", amount()).(float64); ok {
		t.Min = &v
	}
	if t.Max != nil && t.Min != nil && *t.Min > *t.Max {
		p.add(n.get("min").at, join(key, "min"), "%v is above max, %v", *t.Min, *t.Max)
	}
	w := n.get("where")
	if w == nil {
		return t
	}
	if w.kind != block {
		p.wrong(join(key, "where"), w, "columns and values, as {algorithm: raft}")
		return t
	}
	for _, q := range w.pairs {
		if q.value.kind == block || q.value.kind == list || q.value.kind == null {
			p.wrong(join(key, "where."+q.name), q.value, "one value")
			continue
		}
		t.Where = append(t.Where, Field{q.name, q.value.text})
	}
	return t
}

// amount is a bound: a number in the metric's unit, or a duration, which is
// milliseconds.
func amount() typ {
	plain, lasting := number(-1e15, 1e15), span(0, longest)
	read := func(p *parser, key string, n *node) any {
		if n.kind != text {
			return plain.read(p, key, n)
		}
		if d, ok := lasting.read(p, key, n).(time.Duration); ok {
			return float64(d) / float64(time.Millisecond)
		}
		return nil
	}
	describe := func(d defs) object { return anyOf(plain.json(d), d.of(lasting)) }
	return typ{name: "a number in the metric's unit, or a duration", json: describe, read: read}
}

// checkThresholds holds them against the cells, now that these are known.
func (d *draft) checkThresholds(s *settings, e *Experiment) {
	for i := range s.Thresholds {
		t := &s.Thresholds[i]
		d.checkMetric(t.at.get("metric").at, join(t.key, "metric"), t.Metric, s)
		isSpan := func(n *node) bool { return n != nil && n.kind == text }
		m := metric.Named(t.Metric)
		if m != nil && m.Unit != metric.Milliseconds && (isSpan(t.at.get("max")) || isSpan(t.at.get("min"))) {
			d.add(t.at.at, t.key, "a duration for %s, which is none; want a number", clip(t.Metric))
		}
		if !slices.ContainsFunc(e.Cells, func(c Cell) bool { return Covers(t.Where, c.Design) }) {
			d.checkWhere(t, e)
		}
	}
}

// checkWhere says why a threshold is about no cell.
func (d *draft) checkWhere(t *threshold, e *Experiment) {
	where := t.at.get("where")
	for _, f := range t.Where {
		if !slices.Contains(e.Columns, f.Name) {
			d.add(where.get(f.Name).at, join(t.key, "where."+f.Name), "no column of the design%s (has: %s)",
				meant(f.Name, e.Columns), strings.Join(e.Columns, ", "))
			return
		}
	}
	d.add(where.at, join(t.key, "where"), "no cell has %s", whereText(t.Where))
}

func whereText(where []Field) string {
	words := make([]string, len(where))
	for i, f := range where {
		words[i] = fmt.Sprintf("%s %s", f.Name, clip(f.Value))
	}
	return strings.Join(words, " and ")
}

func thresholdsNode(all []threshold) *node {
	out := &node{kind: list}
	for i := range all {
		t := &all[i]
		bound := func(v *float64) *node {
			if v == nil {
				return nil
			}
			return floatNode(*v)
		}
		where := &node{kind: block}
		for _, f := range t.Where {
			where.pairs = append(where.pairs, &pair{name: f.Name, value: textNode(f.Value)})
		}
		out.items = append(out.items, pairs("metric", textNode(t.Metric), "stat", textNode(t.Stat),
			"max", bound(t.Max), "min", bound(t.Min), "where", unless(len(t.Where) == 0, where)))
	}
	return out
}
