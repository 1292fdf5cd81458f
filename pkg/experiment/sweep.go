package experiment

import (
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/pkg/config"
)

// maxAxes bounds the dimensions of a sweep, and the keys of a zip.
const maxAxes = 64

// A dimension is one item of the list sweep: keys that vary together.
type dimension struct {
	vary []varied
	at   config.Place
	key  string
}

// varied is one key and the values that it takes.
type varied struct {
	key    string
	values []*config.Value
	names  []string     // of the values in results; nil: they are what they are
	at     config.Place // of the key's name
	over   config.Place
	name   string // "sweep[1].vary"
}

// sweepType is the list of dimensions.
func sweepType(schema func() *config.Schema) config.Type[[]dimension] {
	one := variedType(schema)
	zips := func() []config.Field {
		return []config.Field{{Name: "zip", Example: "[{vary: nodes, over: [3, 5]}, {vary: " +
			"network.latency, over: [1ms, 2ms]}]", Doc: "keys that vary together: the first values of " +
			"all, then the second ones", Required: true,
			Of: config.Items(one, "", maxAxes, "keys").Into(nil)}}
	}
	item := config.Type[dimension]{Name: "{vary, over} or {zip: [{vary, over}, ...]}",
		Keys: func() []config.Field { return append(one.Keys(), zips()...) },
		Read: func(r *config.Reader, key string, v *config.Value) (dimension, bool) {
			return readDimension(r, key, v, one)
		},
		Schema: func() config.Object {
			zip := config.BlockSchema(zips())
			return config.AnyOf(one.Schema(), zip)
		}}
	return config.Items(item, "{vary: nodes, over: [3, 5]}", maxAxes, "dimensions")
}

func readDimension(r *config.Reader, key string, v *config.Value, one config.Type[varied]) (dimension, bool) {
	d := dimension{at: v.At, key: key}
	before := r.Count()
	if v.Kind != config.Map {
		r.Wrong(key, v, "{vary: key, over: [...]} or {zip: [...]}")
		return d, false
	}
	zip := v.Get("zip")
	if zip == nil {
		w, ok := one.Read(r, key, v)
		d.vary = append(d.vary, w)
		return d, ok
	}
	r.Unknown(key, v, []string{"zip"}, " beside zip")
	if zip.Kind != config.List || len(zip.Items) == 0 {
		r.Wrong(config.Join(key, "zip"), zip, "a list of {vary: key, over: [...]}")
		return d, false
	}
	if len(zip.Items) > maxAxes {
		r.Add(zip.At, key, "%d keys, expected at most %d", len(zip.Items), maxAxes)
		return d, false
	}
	for i, item := range zip.Items {
		w, _ := one.Read(r, config.Item(config.Join(key, "zip"), i), item)
		d.vary = append(d.vary, w)
	}
	for _, w := range d.vary[1:] {
		if len(w.values) != len(d.vary[0].values) {
			r.Add(w.over, key, "%s and %s have %d and %d values; keys in a zip vary together",
				d.vary[0].key, w.key, len(d.vary[0].values), len(w.values))
		}
	}
	return d, r.Count() == before
}

func variedType(schema func() *config.Schema) config.Type[varied] {
	return config.Block[varied]{Want: "{vary: key, over: [...]}",
		Missing: func(*config.Value, string) string {
			return "expected both vary and over, as {vary: nodes, over: [3, 5]}"
		},
		Fields: func(w *varied) []config.Field {
			key := keyType(schema).Into(func(s string) { w.key = strings.TrimSpace(s) })
			return []config.Field{
				{Name: "vary", Example: "nodes", With: "over: [3, 5]", Doc: "the key that " +
					"varies", Required: true, Of: key},
				{Name: "over", Example: "[3, 5, 9]", With: "vary: nodes", Doc: "its " +
					"values", Required: true, Of: overType().To(&w.values)},
				{Name: "as", Example: "[none, killed]",
					With: "vary: faults.events, over: [[], [{at: 1s, do: crash, who: leader}]]",
					Doc:  "what results call the values",
					Of:   namesType().To(&w.names)},
			}
		},
		Check: func(r *config.Reader, key string, v *config.Value, w *varied) {
			w.at, w.over, w.name = v.At, v.At, config.Join(key, "vary")
			if name := v.Get("vary"); name != nil {
				w.at = name.At
			}
			if over := v.Get("over"); over != nil {
				w.over = over.At
			}
			if as := v.Get("as"); as != nil {
				w.checkNames(r, config.Join(key, "as"), as.At)
			}
		}}.Type()
}

// namesType is what results call the values.
func namesType() config.Type[[]string] {
	t := config.Items(nameType("a name"), "none, killed", maxCells, "names")
	t.Name = "a list of names"
	return t
}

// checkNames says what is wrong with the names of the values.
func (w *varied) checkNames(r *config.Reader, key string, at config.Place) {
	if len(w.names) != len(w.values) && w.names != nil && w.values != nil {
		r.Add(at, key, "%d names, expected one for each of %d values", len(w.names), len(w.values))
	}
	for i, name := range w.names {
		j := slices.Index(w.names, name)
		if j < i && i < len(w.values) && w.values[j].String() != w.values[i].String() {
			r.Add(at, key, "%q is the name of two values; results could not tell them apart", name)
		}
	}
	if _, fixed := covered[w.key]; fixed {
		r.Add(at, key, "results have a column of %s, with its values; leave \"as\" out", w.key)
	}
}

// keyType is a key that may vary.
func keyType(schema func() *config.Schema) config.Type[string] {
	t := config.SomeText("a key")
	t.Schema = func() config.Object {
		var keys, parts []string
		schema := schema()
		for _, f := range schema.Fields {
			if f.Vary && f.Sub != nil {
				keys = append(keys, f.Name)
			}
		}
		schema.Leaves(func(key string, f *config.Field) {
			if schema.Varies(key) {
				keys = append(keys, key)
				if config.Of(f).Expand != nil {
					parts = append(parts, strings.ReplaceAll(key, ".", `\.`))
				}
			}
		})
		for _, a := range runnable() {
			for _, p := range a.Spec.Params {
				keys = append(keys, "params."+p.Name)
			}
		}
		slices.Sort(keys)
		return config.AnyOf(config.Object{"enum": slices.Compact(keys)}, config.Object{"type": "string",
			"pattern": `^\s*(` + strings.Join(parts, "|") + `)\..`})
	}
	return t
}

// overType is the values, which are read when the key is known.
func overType() config.Type[[]*config.Value] {
	return config.Type[[]*config.Value]{Name: "a list of values",
		Read: func(r *config.Reader, key string, v *config.Value) ([]*config.Value, bool) {
			if v.Kind != config.List || len(v.Items) == 0 {
				r.Add(v.At, key, "%s, expected a list of values, as [3, 5]", v.Plain())
				return nil, false
			}
			if len(v.Items) > maxCells {
				r.Add(v.At, key, "%d values, expected at most %d", len(v.Items), maxCells)
				return nil, false
			}
			return v.Items, true
		},
		Write: func(values []*config.Value) *config.Value { return config.ListOf(values...) },
		Schema: func() config.Object {
			return config.Object{"type": "array", "minItems": 1, "maxItems": maxCells}
		}}
}
