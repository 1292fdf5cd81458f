package experiment

import (
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// spread describes a duration or a distribution of durations, of those that are
// named.
func (d defs) spread(constant typ, names []string) object {
	options := []object{d.of(constant)}
	for _, dist := range link.Distributions {
		if !slices.Contains(names, dist.Name) {
			continue
		}
		keys := object{"distribution": object{"const": dist.Name, "description": dist.Doc}}
		for _, k := range dist.Keys {
			switch k.Of(&link.Latency{}).(type) {
			case *time.Duration:
				keys[k.Name] = d.of(constant)
			case *float64:
				keys[k.Name] = number(0, k.Most).json(d)
			case *[]time.Duration:
				keys[k.Name] = arrayOf(d.of(constant))
			case *[]string:
				keys[k.Name] = arrayOf(object{"type": "string", "pattern": `\S`})
			case *[][]time.Duration:
				keys[k.Name] = arrayOf(arrayOf(d.of(constant)))
			}
		}
		needed := append([]string{"distribution"}, dist.KeyNames()[:dist.Required]...)
		options = append(options, keyed(keys, needed...))
	}
	return anyOf(options...)
}

// topology describes a kind of graph in one word, or with its keys.
func (d defs) topology() object {
	words := slices.DeleteFunc(slices.Clone(graphKinds), func(s string) bool { return s == "file" })
	options := []object{enumOf(words)}
	id := id().json(d)
	pair := object{"type": "array", "items": id, "minItems": 2, "maxItems": 2}
	values := object{"shape": enumOf(treeShapes), "order": arrayOf(id), "degree": number(1, 1000).json(d),
		"path": object{"type": "string", "pattern": `\S`}, "edges": arrayOf(pair)}
	for _, kind := range graphKinds {
		keys := object{"kind": object{"const": kind}}
		for _, key := range graphKeys(kind)[1:] {
			keys[key] = values[key]
		}
		one := keyed(keys, "kind")
		if kind == "file" {
			one["oneOf"] = []object{given("path"), given("edges")}
		}
		options = append(options, one)
	}
	return anyOf(options...)
}

// event describes a line of a script, or of what goes wrong.
func (d defs) event(script bool) object {
	id, count := id().json(d), whole(1, 1e9).json(d)
	time := d.of(span(0, longest))
	several := object{"type": "array", "items": id, "minItems": 1}
	all := object{
		"at": time, "every": time, "wait": time, "by": time, "for": time,
		"rate": number(1e-6, 1e4).json(d), "after": enumOf([]string{"quiet", "release"}),
		"on": enumOf(wordsOf(harness.Triggers)), "kind": object{"type": "string", "pattern": `\S`},
		"count": count, "times": count, "do": d.verb(script), "node": id, "of": id, "target": id,
		"who":    anyOf(id, several, enumOf(wordsOf(harness.Choices))),
		"groups": object{"type": "array", "minItems": 1, "items": several},
		"links": object{"type": "array", "minItems": 1,
			"items": object{"type": "array", "items": id, "minItems": 2, "maxItems": 2}},
		"shape": enumOf(wordsOf(harness.Shapes)), "loss": number(0, 1).json(d), "latency": d.of(lasting()),
	}
	for _, word := range Instants {
		if p, ok := all[word.Name].(object); ok && word.Name != "kind" {
			p = object{"allOf": []object{p}}
			p["description"] = word.Doc
			all[word.Name] = p
		}
	}
	keys := object{}
	for _, key := range eventKeys(script) {
		keys[key] = all[key]
	}
	out := keyed(keys, "do")
	out["not"] = given("who", "node")
	rules := []object{instants(script), when("on", object{"const": "sent"}, given("kind"))}
	for i := range Verbs {
		if v := &Verbs[i]; script || !v.script {
			rules = append(rules, v.rule(script, id, several))
		}
	}
	out["allOf"] = rules
	return out
}

// verb describes what an event does. In a script it may be the algorithm's own.
func (d defs) verb(script bool) object {
	var options []object
	for _, v := range Verbs {
		if script || !v.script {
			options = append(options, object{"const": v.Name, "description": v.Doc})
		}
	}
	options = append(options, object{"const": partition, "description": "another word for cut"})
	if script {
		options = append(options, object{"type": "string", "pattern": `^[a-z0-9_-]{1,64}$`,
			"description": "an operation of the algorithm's own"})
	}
	return anyOf(options...)
}

// instants is which of the keys that say when go together.
func instants(script bool) object {
	starts := []string{"every", "rate", "on"}
	if script {
		starts = append(starts, "after")
	}
	var one []object
	for _, name := range starts {
		one = append(one, given(name))
	}
	other := object{"required": []string{"at"}, "not": anyOf(slices.Clone(one)...)}
	then := object{"oneOf": append(one, other),
		"dependentRequired": object{"wait": []string{"on"}, "count": []string{"on"}, "kind": []string{"on"}}}
	if script {
		then["not"] = given("at", "after")
	}
	never := refused([]string{"every", "rate", "after", "on", "wait"})
	out := when("do", object{"const": harness.DoDrop}, never)
	out["else"] = then
	return out
}

// rule is what a verb makes of the other keys.
func (v *Verb) rule(script bool, id, several object) object {
	names := []string{v.Name}
	if v.Name == harness.DoCut {
		names = append(names, partition)
	}
	then := refused(slices.DeleteFunc(eventKeys(script), v.takes))
	if slices.Contains(v.Keys, "who") {
		who := []object{id, several}
		if words := v.words(); len(words) > 0 {
			who = append(who, enumOf(words))
		}
		then["properties"].(object)["who"] = anyOf(who...)
	}
	var one []object
	for _, name := range v.one {
		one = append(one, given(name))
		if name == "who" {
			one = append(one, given("node"))
		}
	}
	if one != nil {
		then["oneOf"] = one
	}
	switch v.Name {
	case harness.DoSlow:
		then["required"] = []string{"by"}
	case harness.DoFlaky:
		then["anyOf"] = []object{given("loss"), given("latency")}
	}
	return when("do", enumOf(names), then)
}
