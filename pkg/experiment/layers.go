package experiment

import (
	"slices"
	"strings"

	"github.com/spf13/viper"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A leaf is the value of one key: as it was written and as it is meant. Viper
// carries leaves without looking into them, so that it cannot fold the case of
// names, split them at dots or convert values.
type leaf struct {
	raw   *node
	value any // nil: wrong, and reported
}

func (l *leaf) explicit() bool { return l != nil && l.raw.at != byDefault }

// delimiter cannot occur in a key, so that viper never splits one of its own
// accord.
const delimiter = "\x00"

func viperKey(key string) string { return strings.ReplaceAll(key, ".", delimiter) }

// Layers merges the sources of a configuration: defaults, file, environment,
// --set, each over those before it.
type layers struct {
	*parser
	v      *viper.Viper
	params []assignment // overrides of parameters: of every algorithm that has them
	over   []assignment // overrides of other keys

	overrides []Override       // as they were given
	given     map[string]typed // by the key that the command line has set
}

// Typed is who has set a key on the command line, and to what.
type typed struct{ source, value string }

// An assignment gives one key, or a part of its value, a value.
type assignment struct {
	key  string
	node *node
	at   origin // of the key
}

func newLayers(p *parser) *layers {
	l := &layers{parser: p, v: viper.NewWithOptions(viper.KeyDelimiter(delimiter)),
		given: map[string]typed{}}
	leaves(schema, "", func(key string, f *field) {
		if f.def == "" {
			return
		}
		n := readYAML(p.report, byDefault.source, 0, []byte(f.def))
		l.v.SetDefault(viperKey(key), &leaf{n, f.typ.read(p, key, n)})
	})
	return l
}

// document adds the file's keys.
func (l *layers) document(root *node) {
	values := map[string]any{}
	for _, a := range l.flatten(schema, "", root) {
		f, _, _ := find(a.key)
		words := strings.Split(a.key, ".")
		m := values
		for _, w := range words[:len(words)-1] {
			next, ok := m[w].(map[string]any)
			if !ok {
				next = map[string]any{}
				m[w] = next
			}
			m = next
		}
		m[words[len(words)-1]] = &leaf{a.node, f.typ.read(l.parser, a.key, a.node)}
	}
	if err := l.v.MergeConfigMap(values); err != nil {
		l.add(root.at, "", "%v", err)
	}
}

// flatten takes a block apart into assignments to leaves, and reports the keys
// that are none.
func (l *layers) flatten(fields []field, prefix string, n *node) (out []assignment) {
	if n.kind != block {
		remedy := ""
		if n.kind == null {
			remedy = "; leave the key out for its defaults"
		}
		if n.kind == text && slices.ContainsFunc(fields, func(f field) bool { return f.name == "kind" }) {
			remedy = "; write {kind: " + n.plain() + "}"
		}
		l.add(n.at, prefix, "%s, want a block of keys (has: %s)%s", n.plain(), names(fields), remedy)
		return nil
	}
	for _, q := range n.pairs {
		key := join(prefix, q.name)
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == q.name })
		switch {
		case i >= 0 && fields[i].sub != nil:
			out = append(out, l.flatten(fields[i].sub, key, q.value)...)
		case i >= 0:
			out = append(out, assignment{key, q.value, q.at})
		case prefix == "" && strings.HasPrefix(q.name, "x-"): // holds anchors
		case strings.Contains(q.name, "."): // reported when it was read
		case prefix == "" && q.anchored:
			l.add(q.at, key, "unknown key; to hold an anchor, call it x-%s", q.name)
		default:
			l.unknown(q.at, key, fields)
		}
	}
	return out
}

func names(fields []field) string {
	words := make([]string, len(fields))
	for i, f := range fields {
		words[i] = f.name
	}
	return strings.Join(words, ", ")
}

// unknown reports a key that does not exist, with the one that was probably
// meant: beside it first, then anywhere.
func (l *layers) unknown(at origin, key string, beside []field) {
	if now := renamed(key); now != "" {
		l.add(at, key, "is called %s now", now)
		return
	}
	words := strings.Split(key, ".")
	last := words[len(words)-1]
	prefix := strings.TrimSuffix(key, last)
	near := ""
	if len(last) <= 64 {
		near = algo.Nearest(strings.ToLower(last), strings.Split(names(beside), ", "))
	}
	if near != "" {
		l.add(at, key, "unknown key; did you mean %q?", prefix+near)
		return
	}
	leaves(schema, "", func(other string, _ *field) {
		if near == "" && strings.HasSuffix(other, "."+strings.ToLower(last)) {
			near = other
		}
	})
	if near != "" {
		l.add(at, key, "unknown key; did you mean %q?", near)
		return
	}
	l.add(at, key, "unknown key (has: %s)", names(beside))
}

// override assigns a dotted key, which may name a block, a leaf or a part of a
// leaf.
func (l *layers) override(a assignment) {
	if name, ok := strings.CutPrefix(a.key, "params."); ok && name != "" {
		l.params = append(l.params, assignment{name, a.node, a.at})
		return
	}
	f, rest, isLeaf := find(a.key)
	switch {
	case f == nil && l.single(a.key) != "":
		l.add(a.at, a.key, "unknown key; %s is one value and has no parts", l.single(a.key))
	case f == nil:
		l.unknown(a.at, a.key, l.nearby(a.key))
	case !isLeaf:
		for _, b := range l.flatten(f.sub, a.key, a.node) {
			l.override(assignment{b.key, b.node, a.at})
		}
	default:
		key := strings.TrimSuffix(a.key, "."+strings.Join(rest, "."))
		before, _ := l.v.Get(viperKey(key)).(*leaf)
		raw := within(f, before, rest, a.node)
		l.v.Set(viperKey(key), &leaf{raw, f.typ.read(l.parser, key, raw)})
		l.over = append(l.over, a)
	}
}

// single is the leaf that a key lies in, if the leaf has no parts; else "".
func (l *layers) single(key string) string {
	for {
		i := strings.LastIndexByte(key, '.')
		if i < 0 {
			return ""
		}
		key = key[:i]
		if _, _, isLeaf := find(key); isLeaf {
			return key
		}
	}
}

// nearby is the fields of the innermost block that a key names.
func (l *layers) nearby(key string) []field {
	for {
		i := strings.LastIndexByte(key, '.')
		if i < 0 {
			return schema
		}
		key = key[:i]
		if f, _, isLeaf := find(key); f != nil && !isLeaf {
			return f.sub
		}
	}
}

// within is the value of a leaf of which one part is replaced.
func within(f *field, before *leaf, rest []string, n *node) *node {
	if len(rest) == 0 {
		return n
	}
	raw := &node{kind: block, at: n.at}
	if before != nil {
		raw = f.typ.expand(before.raw)
		if before.raw.at == byDefault {
			c := *raw
			c.at, raw = n.at, &c
		}
	}
	return put(raw, rest, n)
}

func put(n *node, path []string, v *node) *node {
	if len(path) == 0 {
		return v
	}
	next := n.get(path[0])
	if next == nil || next.kind != block {
		next = &node{kind: block, at: v.at}
	}
	return n.with(path[0], put(next, path[1:], v))
}

// merged is every leaf that has a value.
func (l *layers) merged() map[string]*leaf {
	out := map[string]*leaf{}
	leaves(schema, "", func(key string, _ *field) {
		if v, ok := l.v.Get(viperKey(key)).(*leaf); ok {
			out[key] = v
		}
	})
	return out
}

// ours are variables that mean something else: the mark of child processes, and
// what makes the tests thorough.
var ours = []string{"CONCLAVE_RUN", "CONCLAVE_NIGHTLY", "CONCLAVE_SCHEDULES"}

// environment applies the variables CONCLAVE_KEY__SUBKEY. An empty one counts as
// not set.
func (l *layers) environment(env []string) {
	seen := map[string]string{}
	for _, e := range slices.Sorted(slices.Values(env)) { // a block before its parts
		name, value, _ := strings.Cut(e, "=")
		rest, ok := strings.CutPrefix(name, "CONCLAVE_")
		if !ok || value == "" || slices.Contains(ours, name) {
			continue
		}
		at := origin{source: environment + name}
		key := strings.ReplaceAll(strings.ToLower(rest), "__", ".")
		if seen[key] != "" {
			l.add(at, key, "is also set by %s; remove one", seen[key])
			continue
		}
		seen[key] = name
		l.text(at, key, value, at.source)
	}
}

// settings applies --transport and --set key=value.
func (l *layers) settings(o Overrides) {
	if o.Transport != "" {
		l.set("transport", o.Transport, "--transport "+clip(o.Transport), "--transport")
	}
	for _, s := range o.Set {
		key, value, ok := strings.Cut(s, "=")
		source := "--set " + clip(s)
		if shown(value) == Hidden {
			source = "--set " + clip(key)
		}
		if !ok || key == "" {
			l.add(origin{source: source}, "", "want key=value, as --set nodes=7")
			continue
		}
		l.set(key, value, source, "--set")
	}
}

// set applies one of them. Which of two would count is nothing that a user should have
// to know.
func (l *layers) set(key, value, source, from string) {
	at := origin{source: source}
	if g, twice := l.given[key]; twice && g.value != value {
		l.add(at, key, "is also set by %s; leave one of them out", g.source)
		return
	}
	l.given[key] = typed{source, value}
	l.text(at, key, value, from)
}

// shown is a value for people, who may show it to others.
func shown(value string) string {
	if strings.Contains(value, "@") { // perhaps a password
		return Hidden
	}
	return value
}

// environment is what the origin of a value from there begins with.
const environment = "environment "

func (l *layers) text(at origin, key, value, from string) {
	if len(value) > maxSize {
		l.add(at, key, "a value of %d bytes, want at most %d", len(value), maxSize)
		return
	}
	if strings.Count(key, ".") >= maxDepth {
		l.add(at, key, "a key of more than %d parts", maxDepth)
		return
	}
	before := len(l.mistakes)
	n := readYAML(l.report, at.source, 0, []byte(value))
	if n == nil {
		if len(l.mistakes) == before {
			l.add(at, key, "no value, want one; \"\" is empty text")
		}
		return
	}
	l.override(assignment{key, n, at})
	if o := (Override{key, shown(value), from}); !slices.Contains(l.overrides, o) {
		l.overrides = append(l.overrides, o)
	}
}
