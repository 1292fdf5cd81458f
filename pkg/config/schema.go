package config

import (
	"cmp"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/pkg/param"
)

// A Field declares one key.
type Field = param.Param

// A Schema is the language of a configuration: every key, with its type, its
// default and what it is.
type Schema struct {
	Fields []Field
	Noun   string // what a file holds: "experiment"
	Needs  string // its least content: "algorithms: [...]"
	Begin  string // where to begin with an empty file
	// Open is the block of which overrides may set any key; the caller knows them.
	Open string
}

// Find is the leaf that a dotted key names or lies within, and what of the key
// lies within the leaf. Of a block leaf is false.
func (s *Schema) Find(key string) (f *Field, rest []string, leaf bool) {
	words := strings.Split(key, ".")
	fields := s.Fields
	for i, w := range words {
		j := slices.IndexFunc(fields, func(f Field) bool { return f.Name == w })
		if j < 0 {
			return nil, nil, false
		}
		f = &fields[j]
		if f.Sub == nil {
			rest = words[i+1:]
			if len(rest) > 0 && Of(f).Expand == nil {
				return nil, nil, false
			}
			return f, rest, true
		}
		fields = f.Sub
	}
	return f, nil, false
}

// Leaf is the leaf of that key; nil if there is none.
func (s *Schema) Leaf(key string) *Field {
	if f, rest, leaf := s.Find(key); leaf && len(rest) == 0 {
		return f
	}
	return nil
}

// Leaves calls visit for every leaf, in the order of the schema.
func (s *Schema) Leaves(visit func(key string, f *Field)) { leaves(s.Fields, "", visit) }

func leaves(fields []Field, prefix string, visit func(key string, f *Field)) {
	for i := range fields {
		f := &fields[i]
		key := Join(prefix, f.Name)
		if f.Sub != nil {
			leaves(f.Sub, key, visit)
			continue
		}
		visit(key, f)
	}
}

// Varies says whether a key may have several values within one configuration.
func (s *Schema) Varies(key string) bool {
	fields := s.Fields
	for _, w := range strings.Split(key, ".") {
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == w })
		if i < 0 {
			return false
		}
		if fields[i].Vary {
			return true
		}
		fields = fields[i].Sub
	}
	return false
}

// Renamed is what a key is called now that had another name in earlier versions;
// "" if it had none.
func (s *Schema) Renamed(key string) string {
	fields, now := s.Fields, ""
	words := strings.Split(key, ".")
	renamed := false
	for i, w := range words {
		j := slices.IndexFunc(fields, func(f Field) bool { return f.Name == w || f.Was == w })
		if j < 0 || fields[j].Sub == nil {
			if j >= 0 {
				renamed = renamed || fields[j].Name != w
				w = fields[j].Name
			}
			now = Join(now, strings.Join(append([]string{w}, words[i+1:]...), "."))
			break
		}
		renamed = renamed || fields[j].Name != w
		now, fields = Join(now, fields[j].Name), fields[j].Sub
	}
	if !renamed {
		return ""
	}
	return now
}

// nearby is the fields of the innermost block that a key names.
func (s *Schema) nearby(key string) []Field {
	for i := strings.LastIndexByte(key, '.'); i >= 0; i = strings.LastIndexByte(key, '.') {
		key = key[:i]
		if f, _, leaf := s.Find(key); f != nil && !leaf {
			return f.Sub
		}
	}
	return s.Fields
}

// single is the leaf without parts that a key lies in; "" if there is none.
func (s *Schema) single(key string) string {
	for i := strings.LastIndexByte(key, '.'); i >= 0; i = strings.LastIndexByte(key, '.') {
		key = key[:i]
		if _, _, leaf := s.Find(key); leaf {
			return key
		}
	}
	return ""
}

// Names is the names of fields as a list in words.
func Names(fields []Field) string { return strings.Join(param.Names(fields), ", ") }

// A Key documents one key of a schema.
type Key struct {
	Path, Type, Default, Doc string
	Title                    string   // as that of its Field
	Values                   []string // the words that it takes, if it takes words
}

// A Nested is a key at any depth.
type Nested struct {
	Path string // as "network.links[].loss": behind a list come the keys of an item
	*Field
	See string // of it or of the innermost block around it that has one
}

// Every calls visit for every key, blocks and those within values included, in the order of the schema, but
// for keys that have a section of their own.
func (s *Schema) Every(visit func(n Nested)) { every(s.Fields, "", "", visit) }

// EveryOf does so for keys that are not those of a schema.
func EveryOf(fields []Field, visit func(n Nested)) { every(fields, "", "", visit) }

func every(fields []Field, prefix, page string, visit func(n Nested)) {
	for i := range fields {
		f := &fields[i]
		n := Nested{Join(prefix, f.Name), f, cmp.Or(f.See, page)}
		visit(n)
		if f.Sub != nil {
			every(f.Sub, n.Path, n.See, visit)
			continue
		}
		of := Of(f)
		if of.Keys == nil || of.Section != "" {
			continue
		}
		if of.isList {
			n.Path += "[]"
		}
		every(of.Keys(), n.Path, n.See, visit)
	}
}

// Keys is every key, in the order of the schema. A default in parentheses follows
// from something else.
func (s *Schema) Keys() []Key {
	var out []Key
	s.Leaves(func(key string, f *Field) {
		of := Of(f)
		k := Key{Path: key, Type: of.Name, Default: f.Preset(), Doc: f.Doc, Title: f.Title, Values: of.Words}
		if f.Note != "" {
			k.Default = "(" + f.Note + ")"
		}
		out = append(out, k)
	})
	return out
}
