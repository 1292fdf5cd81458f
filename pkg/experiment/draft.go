package experiment

import (
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
)

// A draft is an experiment that is being put together. Its settings are those of the
// file, and then of one cell after the other.
type draft struct {
	*config.Layers
	*settings
	file       string                  // "" if there is none
	leaves     map[string]*config.Leaf // merged from all sources
	contenders []*contender
	skipped    []string // systems that are not installed, each with its remedy
	axes       []axis
	notes      []string
	repeated   string // which cells are the same, though they must not be; "": none
}

// A contender is an algorithm of the experiment while it is being put together.
type contender struct {
	Algorithm
	alg     *algo.Algorithm
	at      config.Place
	key     string
	origins map[string]config.Place // of the parameters given
	own     []change                // of the failure detector
}

// param is the declaration of a parameter; nil if there is none of that name.
func (c *contender) param(name string) *algo.Param {
	for i := range c.alg.Spec.Params {
		if p := &c.alg.Spec.Params[i]; p.Name == name {
			return p
		}
	}
	return nil
}

// An axis is a dimension of the sweep, its values read and checked.
type axis struct {
	keys []swept
	at   config.Place
}

// length is how many values the axis has.
func (a *axis) length() int { return len(a.keys[0].raw) }

// concerns says whether the axis changes anything for c: one that varies only a
// parameter that c does not have has a single, missing value there.
func (a *axis) concerns(c *contender) bool {
	return slices.ContainsFunc(a.keys, func(s swept) bool {
		return s.param == "" || c.param(s.param) != nil
	})
}

// swept is one varied key with what each value changes.
type swept struct {
	varied
	param string // of "params.x"; "" for other keys
	raw   []*config.Value
	sets  [][]change           // by value; nil for a parameter
	given []map[*contender]any // by value; of a parameter
}

// A change is one leaf that a swept value sets, or a part of it.
type change struct {
	key   string // of the leaf
	field *config.Field
	rest  []string
	value *config.Value
	leaf  *config.Leaf // nil if it depends on the leaf's other parts
}

func (c *change) full() string {
	return strings.Join(append([]string{c.key}, c.rest...), ".")
}

// meant is the value that the change sets, as it would be written with every default.
func (c *change) meant() *config.Value {
	if c.leaf != nil && c.leaf.Value != nil {
		return config.Of(c.field).Write(c.leaf.Value)
	}
	return c.value
}

// signature identifies value i, however it is written.
func (s *swept) signature(i int) string {
	if s.param != "" {
		for _, v := range s.given[i] {
			return formatValue(v) // one type for all, or they differ anyway
		}
	}
	var words []string
	for _, c := range s.sets[i] {
		words = append(words, c.full()+"="+c.meant().String())
	}
	slices.Sort(words)
	return strings.Join(words, "\x00")
}

// value is what the parameter is for c at position i, if c has it.
func (s *swept) value(i int, c *contender) (any, bool) {
	if s.param == "" {
		return nil, false
	}
	v, ok := s.given[i][c]
	return v, ok
}

// top is the origin of what is missing.
func (d *draft) top() config.Place {
	if d.file == "" {
		return config.Place{Source: "--algorithms"}
	}
	return config.Place{Source: d.file}
}

// fill gives a key that nobody has set the value that follows from others.
func (d *draft) fill(leaves map[string]*config.Leaf, key, text string) {
	if leaves[key] == nil {
		v := &config.Value{Kind: config.Text, Text: text, At: config.ByDefault}
		if config.IsDecimal(text) && key != "name" {
			v.Kind = config.Int
		}
		leaves[key] = d.Change(d.Schema.Leaf(key), key, nil, nil, v)
	}
}

// newDraft is an experiment of defaults.
func newDraft(file string, at folder) *draft {
	s := &settings{files: at}
	schema := schemaOf(s)
	several := func(key string, v *config.Value) string {
		if !schema.Varies(key) {
			return ""
		}
		return "; to try several, write sweep: [{vary: " + key + ", over: " + config.Clip(v.Bare()) + "}]"
	}
	return &draft{Layers: config.NewLayers(schema, algo.Nearest, several), settings: s, file: file}
}

// covers says whether part is key, or a part of it.
func covers(key, part string) bool {
	return key == part || strings.HasPrefix(part, key+".")
}

// sweeps says whether there is a varied key of which is is true.
func (d *draft) sweeps(is func(s *swept) bool) bool {
	return slices.ContainsFunc(d.axes, func(a axis) bool {
		return slices.ContainsFunc(a.keys, func(s swept) bool { return is(&s) })
	})
}

// varies says whether the sweep varies anything in a block.
func (d *draft) varies(block string) bool {
	return d.sweeps(func(s *swept) bool { return covers(block, s.key) })
}

// param says whether some algorithm has the parameter.
func (d *draft) param(name string) bool {
	return slices.ContainsFunc(d.contenders, func(c *contender) bool { return c.param(name) != nil })
}

// overrides are those that were given, without what nobody may see.
func (d *draft) overrides() (out []Override) {
	for _, g := range d.Layers.Overrides {
		o := Override{g.Key, g.Value, g.From.Source}
		if secret(o.Value) {
			o.Value = Hidden
		}
		if !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return out
}

// secret says whether a value must not be shown: it may hold a password.
func secret(value string) bool { return strings.Contains(value, "@") }
