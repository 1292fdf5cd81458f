package config

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/conclave-bench/conclave/internal/base/text"
)

// Kind is the form of a Value.
type Kind uint8

// The forms of values.
const (
	Null Kind = iota
	Bool
	Int
	Float
	Text
	List
	Map
)

func (k Kind) String() string {
	return [...]string{"nothing", "true or false", "a whole number", "a number", "text",
		"a list", "a block of keys"}[k]
}

// A Value is one value of a configuration as it was written, with its place. All
// formats are read into it, so that everything after that sees one language.
type Value struct {
	Kind  Kind
	Text  string // of a scalar, as it was written
	Items []*Value
	Pairs []*Pair // of a block, in the order of the file
	At    Place

	Tall    bool   // written on several lines
	Comment string // written above it
}

// A Pair is a key of a block and its value.
type Pair struct {
	Name  string
	At    Place
	Value *Value
	// Anchored says that the value is there to be repeated elsewhere.
	Anchored bool
}

// TextOf is a text that stands in no file, as are the values of the other makers.
func TextOf(s string) *Value { return &Value{Kind: Text, Text: s} }

// IntOf is a whole number.
func IntOf(i int64) *Value { return &Value{Kind: Int, Text: strconv.FormatInt(i, 10)} }

// FloatOf is a number.
func FloatOf(f float64) *Value { return &Value{Kind: Float, Text: FormatFloat(f)} }

// FormatFloat writes a number in plain decimal digits.
func FormatFloat(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// ListOf is a list.
func ListOf(items ...*Value) *Value { return &Value{Kind: List, Items: items} }

// MapOf is a block of keys.
func MapOf(pairs ...*Pair) *Value { return &Value{Kind: Map, Pairs: pairs} }

// Wrap makes the block {name: v} of a value that is no block.
func Wrap(name string, v *Value) *Value {
	if v.Kind == Map {
		return v
	}
	return &Value{Kind: Map, At: v.At, Pairs: []*Pair{{Name: name, At: v.At, Value: v}}}
}

// Get is the value of a key; nil if there is none.
func (v *Value) Get(name string) *Value {
	for _, p := range v.Pairs {
		if p.Name == name {
			return p.Value
		}
	}
	return nil
}

// With is a copy of block v in which name has the value w.
func (v *Value) With(name string, w *Value) *Value {
	c := *v
	c.Pairs = slices.Clone(v.Pairs)
	pair := &Pair{Name: name, At: w.At, Value: w}
	if i := slices.IndexFunc(c.Pairs, func(p *Pair) bool { return p.Name == name }); i >= 0 {
		c.Pairs[i] = pair
	} else {
		c.Pairs = append(c.Pairs, pair)
	}
	return &c
}

// with is a copy of v in which the part that path names is w; blocks that are not
// there are made.
func (v *Value) with(path []string, w *Value) *Value {
	if len(path) == 0 {
		return w
	}
	next := v.Get(path[0])
	if next == nil || next.Kind != Map {
		next = &Value{Kind: Map, At: w.At}
	}
	return v.With(path[0], next.with(path[1:], w))
}

// String is v on one line, with texts in quotes so that no two values look the
// same.
func (v *Value) String() string { return v.line(strconv.Quote) }

// Bare is v on one line as a user would write it.
func (v *Value) Bare() string { return v.line(func(s string) string { return s }) }

// Plain is v for a message.
func (v *Value) Plain() string { return Clip(v.Bare()) }

// Duration is what v says if it is a duration with its unit.
func (v *Value) Duration() (time.Duration, bool) {
	if v.Kind != Text {
		return 0, false
	}
	d, err := time.ParseDuration(v.Text)
	return d, err == nil
}

func (v *Value) line(quote func(string) string) string {
	switch v.Kind {
	case List:
		words := make([]string, len(v.Items))
		for i, item := range v.Items {
			words[i] = item.line(quote)
		}
		return "[" + strings.Join(words, ", ") + "]"
	case Map:
		words := make([]string, len(v.Pairs))
		for i, p := range v.Pairs {
			words[i] = p.Name + ": " + p.Value.line(quote)
		}
		return "{" + strings.Join(words, ", ") + "}"
	case Null:
		return "nothing"
	case Text:
		return quote(v.Text)
	}
	return v.Text
}

// Set adds a key to block v.
func (v *Value) Set(name string, w *Value) { v.Pairs = append(v.Pairs, &Pair{Name: name, Value: w}) }

// Tall is a copy of v that is written on several lines.
func Tall(v *Value) *Value {
	c := *v
	c.Tall = true
	return &c
}

// Encode writes a block as YAML, below a comment.
func Encode(comment string, v *Value) []byte {
	root := v.yaml()
	root.HeadComment = comment
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	_ = enc.Encode(root) // scalars, lists and blocks can all be written
	return b.Bytes()
}

func (v *Value) yaml() *yaml.Node {
	out := &yaml.Node{HeadComment: v.Comment}
	if !v.Tall {
		out.Style = yaml.FlowStyle
	}
	switch v.Kind {
	case List:
		out.Kind = yaml.SequenceNode
		for _, item := range v.Items {
			out.Content = append(out.Content, item.yaml())
		}
		return out
	case Map:
		out.Kind = yaml.MappingNode
		for _, p := range v.Pairs {
			out.Content = append(out.Content, TextOf(p.Name).yaml(), p.Value.yaml())
		}
		return out
	}
	tag := [...]string{Null: "!!null", Bool: "!!bool", Int: "!!int", Float: "!!float", Text: "!!str"}[v.Kind]
	if v.Kind == Float && !strings.Contains(v.Text, ".") {
		tag = "!!int"
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: v.Text}
}

// Join is the dotted name of a key in a block.
func Join(key, name string) string {
	if key == "" || name == "" {
		return key + name
	}
	return key + "." + name
}

// Item is the name of the i-th item of a list, counted from 0.
func Item(key string, i int) string { return key + "[" + strconv.Itoa(i+1) + "]" }

// plainValue is YAML as JSON has it; of text that is no YAML, the text.
func plainValue(text string) any {
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		return text
	}
	return v
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

var decimal = text.Lazy(`^[+-]?(0|[1-9][0-9]*)$`)

// IsDecimal says whether s is a whole number in plain decimal digits.
func IsDecimal(s string) bool { return decimal().MatchString(s) }
