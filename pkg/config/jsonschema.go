package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
)

// JSON describes the language in JSON Schema, draft 2020-12: for editors, which
// complete keys and mark mistakes by it. It follows from the declarations of keys
// alone: a file that it accepts may still be wrong in what goes beyond one value,
// but it refuses none that is right. Top is what the whole says besides.
func (s *Schema) JSON(top Object) ([]byte, error) {
	root := BlockSchema(s.Fields)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["patternProperties"] = Object{"^x-": Object{"description": "holds anchors; not read"}}
	maps.Copy(root, top)
	defs := Object{}
	root, _ = hoist(root, defs).(Object)
	root["$defs"] = defs
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(root)
	return b.Bytes(), err
}

// hoist is a part in which those that have a name are references; they go to defs.
func hoist(part any, defs Object) any {
	switch part := part.(type) {
	case []Object:
		out := make([]any, len(part))
		for i, o := range part {
			out[i] = hoist(o, defs)
		}
		return out
	case Object:
		out := Object{}
		for key, p := range part {
			out[key] = hoist(p, defs)
		}
		name, ok := out[def].(string)
		if !ok {
			return out
		}
		delete(out, def)
		ref := Object{"$ref": "#/$defs/" + name}
		for _, own := range []string{"description", "default"} {
			if v, ok := out[own]; ok {
				ref[own] = v
				delete(out, own)
			}
		}
		defs[name] = out
		return ref
	}
	return part
}

// BlockSchema is a block with exactly these keys. A key that stands there twice
// has one of two types.
func BlockSchema(fields []Field) Object {
	properties := Object{}
	var required []string
	for i := range fields {
		f := &fields[i]
		o := describe(f)
		if before, twice := properties[f.Name].(Object); twice {
			o = eitherOf(before, o)
		}
		properties[f.Name] = o
		if f.Required {
			required = append(required, f.Name)
		}
	}
	out := Object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

func eitherOf(a, b Object) Object {
	if reflect.DeepEqual(a, b) {
		return a
	}
	options, _ := a["anyOf"].([]Object)
	if options == nil {
		options = []Object{a}
	}
	if slices.ContainsFunc(options, func(o Object) bool { return reflect.DeepEqual(o, b) }) {
		return a
	}
	return anyOf(append(slices.Clip(options), b)...)
}

func describe(f *Field) Object {
	if f.Sub != nil {
		o := BlockSchema(f.Sub)
		o["description"] = f.Doc
		return o
	}
	of := Of(f)
	o := maps.Clone(of.Schema())
	if f.Doc != "" {
		o["description"] = f.Doc + " (" + of.Name + ")"
	}
	if f.Note != "" {
		o["description"] = f.Doc + " (" + of.Name + "); by default: " + f.Note
	}
	if preset := f.Preset(); preset != "" {
		o["default"] = plainValue(preset)
	}
	return o
}
