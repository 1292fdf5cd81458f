package experiment

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// An object is a part of a JSON Schema.
type object map[string]any

// itself describes a type that is the same everywhere. The caller may change it.
func (o object) itself(defs) object { return maps.Clone(o) }

// defs are the parts that have a name, because they stand in several places.
type defs map[string]object

// of is the schema of a type, or a reference to it.
func (d defs) of(t typ) object {
	if t.def == "" {
		return t.json(d)
	}
	return d.named(t.def, func() object { return t.json(d) })
}

// named is a reference to a part, which is made if it is not there.
func (d defs) named(name string, make func() object) object {
	if d[name] == nil {
		d[name] = object{} // it may refer to itself
		d[name] = make()
	}
	return object{"$ref": "#/$defs/" + name}
}

// JSONSchema describes the language of experiment files in JSON Schema, draft
// 2020-12: for editors, which complete keys and mark mistakes by it. It knows the
// algorithms that are linked in. A file that it accepts may still be wrong, in
// what goes beyond one value: Load has the last word.
func JSONSchema() ([]byte, error) {
	d := defs{}
	root := d.block(schema)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "An experiment of Conclave"
	root["description"] = "What \"bench run\" takes, in YAML, TOML or JSON."
	root["required"] = []string{"algorithms"}
	root["patternProperties"] = object{"^x-": object{"description": "holds anchors; not read"}}
	root["anyOf"] = d.problems()
	root["$defs"] = d
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(root)
	return b.Bytes(), err
}

// block is a block of keys, each described.
func (d defs) block(fields []field) object {
	properties := object{}
	for i := range fields {
		f := &fields[i]
		var p object
		if f.sub != nil {
			p = d.keys(f)
			p["description"] = f.doc
		} else {
			p = maps.Clone(d.of(f.typ))
			p["description"] = f.doc + " (" + f.typ.name + ")"
			if f.note != "" {
				p["description"] = f.doc + " (" + f.typ.name + "); by default: " + f.note
			}
			if f.def != "" {
				p["default"] = plainValue(f.def)
			}
		}
		properties[f.name] = p
	}
	return keyed(properties)
}

// keys is what a block holds.
func (d defs) keys(f *field) object {
	if sweepable(f.name) { // and so stands in sweeps as well
		return d.named(f.name+"-keys", func() object { return d.block(f.sub) })
	}
	return d.block(f.sub)
}

// plainValue is YAML as JSON has it.
func plainValue(text string) any {
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		panic("experiment: default " + text + ": " + err.Error()) // a test reads all defaults
	}
	return v
}

// keyed is a block with exactly these keys, of which some are needed.
func keyed(properties object, required ...string) object {
	out := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

func arrayOf(items object) object { return object{"type": "array", "items": items} }

func enumOf(words []string) object { return object{"enum": words} }

func anyOf(options ...object) object { return object{"anyOf": options} }

// given says that all these keys are there.
func given(names ...string) object { return object{"required": names} }

// when adds to what a key's value implies.
func when(key string, is, then object) object {
	return object{"if": object{"properties": object{key: is}, "required": []string{key}}, "then": then}
}

// refused are keys that must not be there.
func refused(names []string) object {
	properties := object{}
	for _, name := range names {
		properties[name] = false
	}
	return object{"properties": properties}
}

// problems is what the algorithms can be: all of one problem, which the file names
// unless one of them is named in full.
func (d defs) problems() []object {
	var out []object
	for _, p := range []algo.Problem{algo.Election, algo.MutualExclusion} {
		if len(idsOf(p)) == 0 {
			continue
		}
		full := "^" + string(p) + "/"
		one := object{"properties": object{
			"problem":    object{"const": p},
			"algorithms": object{"items": d.entry(p)},
		}, "anyOf": []object{given("problem"), {"properties": object{"algorithms": object{
			"contains": object{
				"anyOf": []object{{"type": "string", "pattern": full},
					{"type": "object", "properties": object{"name": object{"pattern": full}}}},
			}}}}}}
		out = append(out, one)
	}
	return out
}

// idsOf are the names of the algorithms of a problem, in full.
func idsOf(p algo.Problem) (ids []string) {
	for _, a := range algo.All() {
		if a.Problem == p {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// entry is one of the algorithms of a problem, with its own parameters.
func (d defs) entry(p algo.Problem) object {
	return d.named("algorithm-"+string(p), func() object {
		var names []string
		var own []object
		for _, a := range algo.All() {
			if a.Problem != p {
				continue
			}
			names = append(names, a.ID, a.Spec.Name)
			own = append(own, when("name", enumOf([]string{a.ID, a.Spec.Name}),
				object{"properties": object{"params": d.params(a.Spec.Params)}}))
		}
		whole := keyed(object{"name": enumOf(names), "params": object{"type": "object"},
			"label": label().json(d)}, "name")
		whole["allOf"] = own
		return anyOf(enumOf(names), whole)
	})
}

func (d defs) params(list []algo.Param) object {
	properties := object{}
	for i := range list {
		p := maps.Clone(d.param(&list[i]))
		p["description"] = list[i].Doc
		properties[list[i].Name] = p
	}
	return keyed(properties)
}

func (d defs) param(p *algo.Param) object {
	out := maps.Clone(d.of(paramType(p)))
	for key, bound := range map[string]any{"minimum": p.Min, "maximum": p.Max} {
		switch bound.(type) {
		case int64, float64:
			out[key] = bound
		}
	}
	if p.PerProcess {
		return anyOf(out, arrayOf(out))
	}
	return out
}

// varied is one key and the values that it takes.
func (d defs) varied() object {
	return d.named("varied", func() object {
		var keys, parts []string
		var rules []object
		rule := func(key string, items object) {
			keys = append(keys, key)
			rules = append(rules, when("vary", object{"const": key},
				object{"properties": object{"over": object{"items": items}}}))
		}
		for i := range schema {
			if f := &schema[i]; f.sub != nil && sweepable(f.name) {
				rule(f.name, d.keys(f))
			}
		}
		leaves(schema, "", func(key string, f *field) {
			if !sweepable(key) {
				return
			}
			rule(key, d.of(f.typ))
			if f.typ.expand != nil {
				parts = append(parts, strings.ReplaceAll(key, ".", `\.`))
			}
		})
		for _, name := range paramNames() {
			var options []object
			for _, a := range algo.All() {
				for i := range a.Spec.Params {
					if a.Spec.Params[i].Name == name {
						options = append(options, d.param(&a.Spec.Params[i]))
					}
				}
			}
			rule("params."+name, anyOf(options...))
		}
		out := keyed(object{
			"vary": anyOf(enumOf(keys), object{"type": "string",
				"pattern": `^(` + strings.Join(parts, "|") + `)\..`}),
			"over": object{"type": "array", "minItems": 1, "maxItems": maxCells},
		}, "vary", "over")
		out["allOf"] = rules
		return out
	})
}

// paramNames are the parameters of all algorithms, each once.
func paramNames() (names []string) {
	for _, a := range algo.All() {
		for _, p := range a.Spec.Params {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
