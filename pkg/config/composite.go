package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/pkg/param"
)

// Items is a list of things, of which the keys are numbered; most bounds their
// number, or 0 does not. Like is an item as an example.
func Items[T any](item Type[T], like string, most int, things string) Type[[]T] {
	t := Type[[]T]{Name: "a list of " + item.Name, Write: writeAll(item), Keys: item.Keys,
		Section: item.Section, isList: true}
	t.Read = func(r *Reader, key string, v *Value) ([]T, bool) {
		if v.Kind != List {
			r.Wrong(key, v, "a list, as ["+like+"]")
			return nil, false
		}
		if most > 0 && len(v.Items) > most {
			r.Add(v.At, key, "%d %s, expected at most %d", len(v.Items), things, most)
			return nil, false
		}
		return readAll(r, v, item, func(i int) string { return Item(key, i) })
	}
	t.Schema = func() Object {
		o := Object{"type": "array", "items": item.Schema()}
		if most > 0 {
			o["maxItems"] = most
		}
		return o
	}
	return t
}

// Each is a list of scalars, told about under the key of the list.
func Each[T any](item Type[T]) Type[[]T] {
	t := Type[[]T]{Name: "a list of which each is " + item.Name, Write: writeAll(item)}
	t.Read = func(r *Reader, key string, v *Value) ([]T, bool) {
		if v.Kind != List {
			r.Add(v.At, key, "%s, expected %s", v.Plain(), t.Name)
			return nil, false
		}
		return readAll(r, v, item, func(int) string { return key })
	}
	t.Schema = func() Object { return Object{"type": "array", "items": item.Schema()} }
	return t
}

func readAll[T any](r *Reader, v *Value, item Type[T], key func(i int) string) ([]T, bool) {
	out := make([]T, 0, len(v.Items))
	good := true
	for i, w := range v.Items {
		x, ok := item.Read(r, key(i), w)
		out, good = append(out, x), good && ok
	}
	if !good {
		return nil, false
	}
	return out, true
}

func writeAll[T any](item Type[T]) func([]T) *Value {
	return func(list []T) *Value {
		out := ListOf()
		for _, x := range list {
			out.Items = append(out.Items, item.Write(x))
		}
		return out
	}
}

// Union is written as a block, or in another form: plain says of which values.
// Expand makes a block of the other form.
func Union[T any](other, block Type[T], plain func(T) bool, expand func(*Value) *Value) Type[T] {
	keys, isList := block.Keys, block.isList
	if keys == nil {
		keys, isList = other.Keys, other.isList
	}
	return Type[T]{
		Name: other.Name + ", or " + block.Name, Words: other.Words,
		Keys: keys, Section: block.Section, isList: isList,
		Read: func(r *Reader, key string, v *Value) (T, bool) {
			if v.Kind == Map {
				return block.Read(r, key, v)
			}
			return other.Read(r, key, v)
		},
		Write: func(x T) *Value {
			if plain(x) {
				return other.Write(x)
			}
			return block.Write(x)
		},
		Schema: func() Object { return anyOf(other.Schema(), block.Schema()) },
		Expand: expand,
	}
}

// A Block is a value with keys of its own.
type Block[T any] struct {
	// Fields are the keys, whose values go to where the argument points.
	Fields func(*T) []Field
	Like   string // an example
	Want   string // what stands here, in messages; "": a block, as the example
	// Missing is the message about a required key that is not there; nil: the usual one.
	Missing func(v *Value, name string) string
	// Check reports what goes beyond one key, and fills in what follows from others. Some
	// of the keys may be wrong.
	Check func(r *Reader, key string, v *Value, x *T)
	// Valid is what is wrong with a value whose keys are right, after "topic: ".
	Valid func(x *T) error
}

// Type is the block as a type.
func (b Block[T]) Type() Type[T] {
	var zero T
	if b.Want == "" {
		b.Want = "a block, as " + b.Like
	}
	if b.Missing == nil {
		b.Missing = func(_ *Value, name string) string { return "without " + name + ", as " + b.Like }
	}
	t := Type[T]{Name: "{" + Names(b.Fields(&zero)) + "}"}
	t.Read = func(r *Reader, key string, v *Value) (x T, ok bool) {
		if v.Kind != Map {
			r.Wrong(key, v, b.Want)
			return x, false
		}
		before := r.Count()
		fields := b.Fields(&x)
		r.Unknown(key, v, param.Names(fields), "")
		readFields(r, key, v, fields, b.Missing)
		if b.Check != nil {
			b.Check(r, key, v, &x)
		}
		if r.Count() == before && b.Valid != nil {
			r.invalid(key, v, b.Valid(&x))
		}
		return x, r.Count() == before
	}
	t.Write = func(x T) *Value { return MapOf(writeFields(b.Fields(&x))...) }
	t.Schema = func() Object { return BlockSchema(b.Fields(new(T))) }
	t.Keys = func() []Field { return b.Fields(new(T)) }
	return t
}

// invalid reports what is wrong with a value as a whole, if anything is.
func (r *Reader) invalid(key string, v *Value, err error) {
	if err != nil {
		_, text, _ := strings.Cut(err.Error(), ": ")
		r.Add(v.At, key, "%s", text)
	}
}

// readFields reads the keys of a block, and reports those that are missing.
func readFields(r *Reader, key string, v *Value, fields []Field, missing func(*Value, string) string) {
	for _, f := range fields {
		if f.Required && v.Get(f.Name) == nil {
			r.Add(v.At, key, "%s", missing(v, f.Name))
		}
	}
	for i := range fields {
		f := &fields[i]
		w := v.Get(f.Name)
		if preset := f.Preset(); w == nil && preset != "" {
			w = r.readYAML(ByDefault, []byte(preset))
		}
		if w == nil {
			continue
		}
		of := Of(f)
		if x, ok := of.Read(r, Join(key, f.Name), w); ok {
			of.Set(x)
		}
	}
}

// writeFields leaves out what is zero and need not be there.
func writeFields(fields []Field) (pairs []*Pair) {
	for i := range fields {
		f := &fields[i]
		of := Of(f)
		if of.get == nil {
			continue
		}
		if x, isZero := of.get(); !isZero || f.Required || f.Always || f.Preset() != "" {
			pairs = append(pairs, &Pair{Name: f.Name, Value: of.Write(x)})
		}
	}
	return pairs
}

// Variants is a block of which one key, the tag, says which others there are.
type Variants[T any] struct {
	Tag string
	// Doc is what the tag says, and Example a value of it, for documents.
	Doc, Example string
	Names        []string         // the values of the tag
	Get          func(*T) string  // the tag
	Set          func(*T, string) // likewise
	Kinds        Type[string]     // of the tag; by default a Choice of the names
	Valid        func(x *T) error // as of a Block
	// Fields are the keys of a variant besides the tag, those required first.
	Fields func(name string, x *T) []Field
}

// Type is the block as a type.
func (d Variants[T]) Type() Type[T] {
	if d.Kinds.Read == nil {
		d.Kinds = Choice(d.Names...)
	}
	t := Type[T]{Name: "{" + d.Tag + ": " + strings.Join(d.Names, "|") + ", ...}", Words: d.Names}
	t.Read = func(r *Reader, key string, v *Value) (x T, ok bool) {
		if v.Get(d.Tag) == nil {
			r.Add(v.At, key, "no %s; write {%s: one of %s, ...}", d.Tag, d.Tag, strings.Join(d.Names, ", "))
			return x, false
		}
		name := Part(r, key, v, d.Tag, d.Kinds)
		if name == "" {
			return x, false
		}
		d.Set(&x, name)
		before := r.Count()
		fields := d.Fields(name, &x)
		r.Unknown(key, v, append([]string{d.Tag}, param.Names(fields)...), " of "+name)
		var needed []string
		for _, f := range fields {
			if f.Required {
				needed = append(needed, f.Name)
			}
		}
		readFields(r, key, v, fields, func(_ *Value, missing string) string {
			return fmt.Sprintf("%s without %s (needs: %s)", name, missing, strings.Join(needed, ", "))
		})
		if r.Count() == before && d.Valid != nil {
			r.invalid(key, v, d.Valid(&x))
		}
		return x, r.Count() == before
	}
	t.Write = func(x T) *Value {
		name := d.Get(&x)
		tag := &Pair{Name: d.Tag, Value: TextOf(name)}
		return MapOf(append([]*Pair{tag}, writeFields(d.Fields(name, &x))...)...)
	}
	t.Keys = func() []Field {
		all := []Field{{Name: d.Tag, Required: true, Of: d.Kinds.Into(nil), Doc: d.Doc, Example: d.Example}}
		for _, name := range d.Names {
			for _, f := range d.Fields(name, new(T)) {
				if at := slices.IndexFunc(all, func(g Field) bool { return g.Name == f.Name }); at < 0 {
					f.Only = []string{name}
					all = append(all, f)
				} else {
					all[at].Only = append(all[at].Only, name)
				}
			}
		}
		return all
	}
	t.Schema = func() Object {
		all := []Field{{Name: d.Tag, Required: true, Of: d.Kinds.Into(nil)}}
		for _, name := range d.Names {
			for _, f := range d.Fields(name, new(T)) {
				f.Required = false
				all = append(all, f)
			}
		}
		return BlockSchema(all)
	}
	return t
}

// Part reads one key of a block by its type; the zero value if it is not there or
// wrong.
func Part[T any](r *Reader, key string, v *Value, name string, t Type[T]) (x T) {
	if w := v.Get(name); w != nil {
		x, _ = t.Read(r, Join(key, name), w)
	}
	return x
}

// Based is a block of which some keys may stand in a file of their own, in YAML, which the key
// name gives: those beside that key go over them. Read reads the file that a value names.
func (t Type[T]) Based(name string, read func(at Place, path string) ([]byte, error)) Type[T] {
	plain := t.Read
	t.Read = func(r *Reader, key string, v *Value) (none T, ok bool) {
		from := v.Get(name)
		if v.Kind != Map || from == nil {
			return plain(r, key, v)
		}
		data, err := read(from.At, from.Text)
		if err != nil {
			r.Add(from.At, Join(key, name), "%s: %v", Clip(from.Text), err)
			return none, false
		}
		before := r.Count()
		base := r.readYAML(Place{Source: from.Text, Line: 1, Layer: from.At.Layer}, data)
		switch {
		case r.Count() > before:
			return none, false
		case base == nil || base.Kind != Map:
			r.Add(from.At, Join(key, name), "%s: not a block of keys", Clip(from.Text))
			return none, false
		}
		merged := &Value{Kind: Map, At: v.At}
		for _, p := range append(slices.Clone(v.Pairs), base.Pairs...) {
			if p.Name != name && merged.Get(p.Name) == nil {
				merged.Pairs = append(merged.Pairs, p)
			}
		}
		return plain(r, key, merged)
	}
	return t
}
