package config

import (
	"slices"
	"strings"

	"github.com/spf13/viper"

	"github.com/conclave-bench/conclave/pkg/param"
)

// A Leaf is the value of one key: as it was written and as it is meant.
type Leaf struct {
	Raw   *Value
	Value any // nil: wrong, and reported
}

// Explicit says whether somebody set the leaf.
func (l *Leaf) Explicit() bool { return l != nil && l.Raw.At.Layer != Defaults }

// An Assignment gives one key, or a part of its value, a value.
type Assignment struct {
	Key   string
	Value *Value
	At    Place // of the key
}

// An Override is a value that went over that of the file, as it was given.
type Override struct {
	Key, Value string
	From       Place
}

// Layers merges the sources of a configuration: defaults, file, environment,
// command line, each over those before it.
//
// Viper holds the values by key and says which one prevails. It carries leaves
// without looking into them, so that it cannot fold the case of names, split them
// at dots or convert values; and it knows no places. The rest is done here.
type Layers struct {
	*Reader
	Schema *Schema
	// Open are the overrides of keys in the schema's open block, without its name;
	// Over are the others.
	Open, Over []Assignment
	Overrides  []Override // as they were given

	v     *viper.Viper
	given map[string]Override // by the key that the command line has set
}

// delimiter cannot occur in a key, so that viper never splits one of its own
// accord.
const delimiter = "\x00"

func viperKey(key string) string { return strings.ReplaceAll(key, ".", delimiter) }

// NewLayers holds the defaults of a schema. Nearest is the name among names that a word most
// probably meant, and several what to do about a list in place of one value; "" if nothing.
func NewLayers(s *Schema, nearest func(word string, names []string) string,
	several func(key string, v *Value) string) *Layers {
	r := &Reader{Diagnostics: &Diagnostics{}, noun: s.Noun, nearest: nearest, several: several,
		isLeaf: func(key string) bool { return s.Leaf(key) != nil }}
	l := &Layers{Reader: r, Schema: s, v: viper.NewWithOptions(viper.KeyDelimiter(delimiter)),
		given: map[string]Override{}}
	s.Leaves(func(key string, f *Field) {
		if preset := f.Preset(); preset != "" {
			l.v.SetDefault(viperKey(key), l.leaf(f, key, l.readYAML(ByDefault, []byte(preset))))
		}
	})
	return l
}

func (l *Layers) leaf(f *Field, key string, v *Value) *Leaf {
	x, ok := Of(f).Read(l.Reader, key, v)
	if !ok {
		x = nil
	}
	return &Leaf{v, x}
}

// Document adds the file's keys.
func (l *Layers) Document(root *Value) {
	values := map[string]any{}
	for _, a := range l.Flatten(l.Schema.Fields, "", root) {
		block, words := values, strings.Split(a.Key, ".")
		for _, w := range words[:len(words)-1] {
			if block[w] == nil {
				block[w] = map[string]any{}
			}
			block = block[w].(map[string]any)
		}
		block[words[len(words)-1]] = l.leaf(l.Schema.Leaf(a.Key), a.Key, a.Value)
	}
	if err := l.v.MergeConfigMap(values); err != nil {
		l.Add(root.At, "", "%v", err)
	}
}

// Merged is every leaf that has a value.
func (l *Layers) Merged() map[string]*Leaf {
	out := map[string]*Leaf{}
	l.Schema.Leaves(func(key string, _ *Field) {
		if v, ok := l.v.Get(viperKey(key)).(*Leaf); ok {
			out[key] = v
		}
	})
	return out
}

// Flatten takes a block apart into assignments to leaves, and reports the keys
// that are none.
func (l *Layers) Flatten(fields []Field, prefix string, v *Value) (out []Assignment) {
	if v.Kind != Map {
		remedy := ""
		if v.Kind == Null {
			remedy = "; leave the key out for its defaults"
		}
		if v.Kind == Text && contains(param.Names(fields), "kind") {
			remedy = "; write {kind: " + v.Plain() + "}"
		}
		l.Add(v.At, prefix, "%s, expected a block of keys (has: %s)%s", v.Plain(), Names(fields), remedy)
		return nil
	}
	for _, p := range v.Pairs {
		key := Join(prefix, p.Name)
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == p.Name })
		switch {
		case i >= 0 && fields[i].Sub != nil:
			out = append(out, l.Flatten(fields[i].Sub, key, p.Value)...)
		case i >= 0:
			out = append(out, Assignment{key, p.Value, p.At})
		case prefix == "" && strings.HasPrefix(p.Name, "x-"): // holds anchors
		case strings.Contains(p.Name, "."): // reported when it was read
		case prefix == "" && p.Anchored:
			l.Add(p.At, key, "unknown key; to hold an anchor, call it x-%s", p.Name)
		default:
			l.unknown(p.At, key, fields)
		}
	}
	return out
}

// unknown reports a key that does not exist, with the one that was probably
// meant: beside it first, then anywhere.
func (l *Layers) unknown(at Place, key string, beside []Field) {
	if now := l.Schema.Renamed(key); now != "" {
		l.Add(at, key, "is called %s now", now)
		return
	}
	last := key[strings.LastIndexByte(key, '.')+1:]
	near := l.near(last, param.Names(beside))
	if near != "" {
		near = strings.TrimSuffix(key, last) + near
	} else {
		l.Schema.Leaves(func(other string, _ *Field) {
			if near == "" && strings.HasSuffix(other, "."+strings.ToLower(last)) {
				near = other
			}
		})
	}
	if near != "" {
		l.Add(at, key, "unknown key; did you mean %q?", near)
		return
	}
	l.Add(at, key, "unknown key (has: %s)", Names(beside))
}

// override assigns a dotted key, which may name a block, a leaf or a part of a
// leaf.
func (l *Layers) override(a Assignment) {
	if name, ok := strings.CutPrefix(a.Key, l.Schema.Open+"."); ok && name != "" && l.Schema.Open != "" {
		l.Open = append(l.Open, Assignment{name, a.Value, a.At})
		return
	}
	f, rest, leaf := l.Schema.Find(a.Key)
	switch {
	case f == nil && l.Schema.single(a.Key) != "":
		l.Add(a.At, a.Key, "unknown key; %s is one value and has no parts", l.Schema.single(a.Key))
	case f == nil:
		l.unknown(a.At, a.Key, l.Schema.nearby(a.Key))
	case !leaf:
		for _, b := range l.Flatten(f.Sub, a.Key, a.Value) {
			l.override(Assignment{b.Key, b.Value, a.At})
		}
	default:
		key := strings.TrimSuffix(a.Key, "."+strings.Join(rest, "."))
		before, _ := l.v.Get(viperKey(key)).(*Leaf)
		l.v.Set(viperKey(key), l.Change(f, key, before, rest, a.Value))
		l.Over = append(l.Over, a)
	}
}

// Change is the leaf of a field of which one part gets another value; without a
// part, all of it does.
func (l *Layers) Change(f *Field, key string, before *Leaf, part []string, v *Value) *Leaf {
	if len(part) > 0 {
		raw := &Value{Kind: Map, At: v.At}
		if before != nil {
			raw = Of(f).Expand(before.Raw)
			if !before.Explicit() || before.Raw.Kind != Map { // it is a block by this value
				c := *raw
				c.At, raw = v.At, &c
			}
		}
		v = raw.with(part, v)
	}
	return l.leaf(f, key, v)
}

// Environment applies the variables PREFIX_KEY__SUBKEY of an environment, but for
// those that mean something else. An empty one counts as not set.
func (l *Layers) Environment(prefix string, env, but []string) {
	seen := map[string]string{}
	for _, e := range slices.Sorted(slices.Values(env)) { // a block before its parts
		name, value, _ := strings.Cut(e, "=")
		rest, ok := strings.CutPrefix(name, prefix+"_")
		if !ok || value == "" || slices.Contains(but, name) {
			continue
		}
		at := Place{Layer: Environment, Source: "environment " + name}
		key := strings.ReplaceAll(strings.ToLower(rest), "__", ".")
		if seen[key] != "" {
			l.Add(at, key, "is also set by %s; remove one", seen[key])
			continue
		}
		seen[key] = name
		l.assign(at, key, value, at)
	}
}

// Set applies key=value of the command line's flag; hide says of which values the
// place must not tell.
func (l *Layers) Set(flag, assignment string, hide func(value string) bool) {
	key, value, ok := strings.Cut(assignment, "=")
	source := flag + " " + Clip(assignment)
	if hide(value) {
		source = flag + " " + Clip(key)
	}
	if !ok || key == "" {
		l.Add(Place{Layer: Command, Source: source}, "", "expected key=value, as --set nodes=7")
		return
	}
	l.Assign(key, value, source, flag)
}

// Assign gives a key a value in YAML. Which of two would count is nothing that a
// user should have to know.
func (l *Layers) Assign(key, value, source, from string) {
	at := Place{Layer: Command, Source: source}
	if g, twice := l.given[key]; twice && g.Value != value {
		l.Add(at, key, "is also set by %s; leave one of them out", g.From)
		return
	}
	l.Claim(key, value, source)
	l.assign(at, key, value, Place{Layer: Command, Source: from})
}

// Claim notes that the command line has given a key a value by other means.
func (l *Layers) Claim(key, value, source string) {
	l.given[key] = Override{key, value, Place{Layer: Command, Source: source}}
}

func (l *Layers) assign(at Place, key, value string, from Place) {
	if len(value) > MaxSize {
		l.Add(at, key, "a value of %d bytes, expected at most %d", len(value), MaxSize)
		return
	}
	if strings.Count(key, ".") >= maxDepth {
		l.Add(at, key, "a key of more than %d parts", maxDepth)
		return
	}
	before := l.Count()
	v := l.readYAML(at, []byte(value))
	if v == nil {
		if l.Count() == before {
			l.Add(at, key, "no value, expected one; \"\" is empty text")
		}
		return
	}
	l.override(Assignment{key, v, at})
	if o := (Override{key, value, from}); !slices.Contains(l.Overrides, o) {
		l.Overrides = append(l.Overrides, o)
	}
}
