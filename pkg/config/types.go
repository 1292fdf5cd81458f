package config

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/text"
)

// A Type says how values of the Go type T are written in a configuration. The
// zero Type is none.
type Type[T any] struct {
	Name  string   // "a whole number from 1 to 9"; stands in messages and in the documentation
	Words []string // those that it takes, if it takes words
	// Read is the value; false if it is wrong, which has then been reported.
	Read func(r *Reader, key string, v *Value) (T, bool)
	// Write is the value as a user would write it.
	Write func(T) *Value
	// Schema is what JSON Schema can say of it.
	Schema func() Object
	// Expand makes a block of a scalar where both forms exist, so that an override
	// can reach a part of it. Nil: the value has no parts.
	Expand func(*Value) *Value
	// Keys are those of a block among its forms, with zero values, for documents; nil: there are none. Of a
	// list they are those of an item.
	Keys func() []Field
	// Section is where documents have its keys, if those stand in several places; "": where it stands.
	Section string
	isList  bool
}

// A Slot is a Type without its Go type, and the place where its values go.
type Slot struct {
	Name    string
	Words   []string
	Read    func(r *Reader, key string, v *Value) (any, bool)
	Write   func(any) *Value
	Schema  func() Object
	Expand  func(*Value) *Value
	Keys    func() []Field
	Section string
	isList  bool
	Set     func(any)
	get     func() (value any, isZero bool)
}

// Into makes a Slot of which the values go to set.
func (t Type[T]) Into(set func(T)) Slot { return t.Through(nil, set) }

// To makes a Slot of which the values go to where p points.
func (t Type[T]) To(p *T) Slot {
	return t.Through(func() T { return *p }, func(x T) { *p = x })
}

// Through makes a Slot of which the values go to set and come from get, which
// writes them; nil: they are not written.
func (t Type[T]) Through(get func() T, set func(T)) Slot {
	s := Slot{
		Name: t.Name, Words: t.Words, Schema: t.Schema, Expand: t.Expand,
		Keys: t.Keys, Section: t.Section, isList: t.isList,
		Read:  func(r *Reader, key string, v *Value) (any, bool) { return t.Read(r, key, v) },
		Write: func(x any) *Value { return t.Write(x.(T)) },
		Set:   func(x any) { set(x.(T)) },
	}
	if get != nil {
		s.get = func() (any, bool) {
			x := get()
			return x, reflect.ValueOf(&x).Elem().IsZero()
		}
	}
	return s
}

// As is a Type whose values are those of t in another form.
func As[A, B any](t Type[A], in func(A) B, out func(B) A) Type[B] {
	return Type[B]{
		Name: t.Name, Words: t.Words, Schema: t.Schema, Expand: t.Expand,
		Keys: t.Keys, Section: t.Section, isList: t.isList,
		Read: func(r *Reader, key string, v *Value) (b B, ok bool) {
			a, ok := t.Read(r, key, v)
			if ok {
				b = in(a)
			}
			return b, ok
		},
		Write: func(b B) *Value { return t.Write(out(b)) },
	}
}

// Optional is a Type of pointers; nil is a value that is not there.
func Optional[T any](t Type[T]) Type[*T] {
	return As(t, func(x T) *T { return &x }, func(p *T) T { return *p })
}

// If reads with t what passes a first check, which reports what does not.
func (t Type[T]) If(passes func(r *Reader, key string, v *Value) bool) Type[T] {
	read := t.Read
	t.Read = func(r *Reader, key string, v *Value) (none T, ok bool) {
		if !passes(r, key, v) {
			return none, false
		}
		return read(r, key, v)
	}
	return t
}

// Want reads with t what is of a kind; of anything else it says what it wants.
func (t Type[T]) Want(kind Kind, want string) Type[T] {
	return t.If(func(r *Reader, key string, v *Value) bool {
		if v.Kind != kind {
			r.Wrong(key, v, want)
		}
		return v.Kind == kind
	})
}

// Unless reads with t what nothing speaks against; why says what does.
func (t Type[T]) Unless(why func(v *Value) string) Type[T] {
	return t.If(func(r *Reader, key string, v *Value) bool {
		text := why(v)
		if text != "" {
			r.Add(v.At, key, "%s", text)
		}
		return text == ""
	})
}

// Or is t, or a word that means x, which is written for what is so.
func (t Type[T]) Or(word string, x T, is func(T) bool) Type[T] {
	out := t
	out.Name, out.Words = t.Name+", or "+word, append([]string{word}, t.Words...)
	out.Read = func(r *Reader, key string, v *Value) (T, bool) {
		if v.Kind == Text && v.Text == word {
			return x, true
		}
		return t.Read(r, key, v)
	}
	out.Write = func(y T) *Value {
		if is(y) {
			return TextOf(word)
		}
		return t.Write(y)
	}
	out.Schema = func() Object { return anyOf(Object{"const": word}, t.Schema()) }
	if t.Expand != nil {
		out.Expand = func(v *Value) *Value {
			if v.Kind == Text && v.Text == word {
				return &Value{Kind: Map, At: v.At}
			}
			return t.Expand(v)
		}
	}
	return out
}

// Like is t with another description in JSON Schema.
func (t Type[T]) Like(o Object) Type[T] {
	t.Schema = func() Object { return o }
	return t
}

// Named is t, which JSON Schema says once, under a name, and refers to elsewhere.
func (t Type[T]) Named(name string) Type[T] {
	schema := t.Schema
	t.Schema = func() Object {
		o := maps.Clone(schema())
		o[def] = name
		return o
	}
	return t
}

// In is t whose keys documents have in a section of their own, since they stand in several places.
func (t Type[T]) In(section string) Type[T] {
	t.Section = section
	return t
}

// Called is t with another name.
func (t Type[T]) Called(name string) Type[T] {
	t.Name = name
	return t
}

type integer interface {
	~int | ~int64 | ~uint32 | ~uint64
}

// MaxInt is the largest number that JSON carries whole.
const MaxInt = 1<<53 - 1

// Whole is a whole number within bounds, which are at most MaxInt.
func Whole[T integer](lo, hi int64) Type[T] {
	name := "a whole number"
	if lo > -MaxInt {
		name += " from " + strconv.FormatInt(lo, 10) + " to " + strconv.FormatInt(hi, 10)
	}
	t := Type[T]{Name: name, Write: func(x T) *Value { return IntOf(int64(x)) }}
	t.Read = func(r *Reader, key string, v *Value) (T, bool) {
		if v.Kind != Int {
			r.Wrong(key, v, name)
			return 0, false
		}
		if !r.decimal(key, v) {
			return 0, false
		}
		i, err := strconv.ParseInt(v.Text, 10, 64)
		if err != nil || i < lo || i > hi {
			r.Add(v.At, key, "%s, expected %s", v.Plain(), name)
			return 0, false
		}
		return T(i), true
	}
	return t.Like(Object{"type": "integer", "minimum": lo, "maximum": hi})
}

// Number is a finite number within bounds; an infinite upper one is none.
func Number(lo, hi float64) Type[float64] {
	t := Type[float64]{Name: "a number", Write: FloatOf}
	schema := Object{"type": "number"}
	if !math.IsInf(hi, 0) {
		t.Name += " from " + FormatFloat(lo) + " to " + FormatFloat(hi)
		schema["minimum"], schema["maximum"] = lo, hi
	}
	name := t.Name
	t.Read = func(r *Reader, key string, v *Value) (float64, bool) {
		if v.Kind != Int && v.Kind != Float {
			r.Wrong(key, v, name)
			return 0, false
		}
		if !r.decimal(key, v) {
			return 0, false
		}
		f, err := strconv.ParseFloat(strings.Replace(v.Text, ".inf", "inf", 1), 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || f < lo || f > hi {
			r.Add(v.At, key, "%s, expected %s", v.Plain(), name)
			return 0, false
		}
		if Vanishes(v.Text, f) {
			r.Add(v.At, key, "%s, which is so small that it would count as 0; write 0, or a larger number",
				v.Plain())
			return 0, false
		}
		return f + 0, true // no negative zero
	}
	return t.Like(schema)
}

// Vanishes says whether the text of a number is not 0, and the number is, or is so close to it that its
// square would be.
func Vanishes(text string, f float64) bool {
	const least = 1e-150
	digits, _, _ := strings.Cut(strings.ToLower(text), "e")
	return math.Abs(f) < least && strings.ContainsAny(digits, "123456789")
}

const percentPattern = `^(100|[1-9][0-9]?(\.[0-9]+)?|0\.[0-9]*[1-9][0-9]*)%$`

var percentRule = text.Lazy(percentPattern)

// Fraction is a Share, or 0.
func Fraction() Type[float64] {
	t := Share()
	read := t.Read
	t.Read = func(r *Reader, key string, v *Value) (float64, bool) {
		if v.Kind == Text && v.Text == "0%" || (v.Kind == Int || v.Kind == Float) && v.Text == "0" {
			return 0, true
		}
		return read(r, key, v)
	}
	return t.Like(anyOf(Object{"type": "string", "pattern": "^0%$|" + percentPattern},
		Object{"type": "number", "minimum": 0, "maximum": 1}))
}

// Share is a part of a whole: a percentage, or a fraction above 0.
func Share() Type[float64] {
	const name = "a percentage up to 100%, as 5%, or a fraction above 0, as 0.05"
	t := Type[float64]{Name: name, Write: FloatOf}
	t.Read = func(r *Reader, key string, v *Value) (float64, bool) {
		digits, percent := strings.CutSuffix(v.Text, "%")
		f, err := strconv.ParseFloat(digits, 64)
		switch {
		case v.Kind == Int || v.Kind == Float:
			if !r.decimal(key, v) {
				return 0, false
			}
		case v.Kind == Text && percent && percentRule().MatchString(v.Text):
			f /= 100
		default:
			r.Wrong(key, v, name)
			return 0, false
		}
		if err != nil || math.IsNaN(f) || f <= 0 || f > 1 {
			remedy := ""
			if !percent && f > 1 && f <= 100 {
				remedy = "; write " + v.Plain() + "%"
			}
			r.Add(v.At, key, "%s, expected %s%s", v.Plain(), name, remedy)
			return 0, false
		}
		return f, true
	}
	return t.Like(anyOf(Object{"type": "string", "pattern": percentPattern},
		Object{"type": "number", "exclusiveMinimum": 0, "maximum": 1}))
}

const durationPattern = `^([0-9]+(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+$`

var durationRule = text.Lazy(durationPattern)

// Duration is a duration within bounds, which are at least 0; it has a unit.
func Duration(lo, hi time.Duration) Type[time.Duration] {
	name := "a duration from " + lo.String() + " to " + hi.String()
	t := Type[time.Duration]{Name: name, Write: func(d time.Duration) *Value { return TextOf(d.String()) }}
	t.Read = func(r *Reader, key string, v *Value) (time.Duration, bool) {
		word := strings.TrimSpace(v.Text)
		switch {
		case v.Kind == Int || v.Kind == Float, v.Kind == Text && isNumber(word):
			r.Add(v.At, key, "%s has no unit; write %sms (units: ns, us, ms, s, m, h)", v.Plain(), word)
			return 0, false
		case v.Kind != Text:
			r.Wrong(key, v, name)
			return 0, false
		}
		d, err := time.ParseDuration(v.Text)
		negative := err == nil && d < 0
		if !durationRule().MatchString(v.Text) && !negative {
			r.Add(v.At, key, "%q, expected a duration with its unit%s", Clip(v.Text), tidied(v.Text))
			return 0, false
		}
		if err != nil || d < lo || d > hi { // an error here: too large
			r.Add(v.At, key, "%s, expected %s", v.Plain(), name)
			return 0, false
		}
		return d, true
	}
	return t.Like(Object{"type": "string", "pattern": durationPattern,
		"examples": []string{"5ms"}}).Named("duration")
}

// tidied is the remedy for a duration that is almost one.
func tidied(s string) string {
	t := strings.ToLower(strings.Join(strings.Fields(s), ""))
	if durationRule().MatchString(t) {
		return "; write " + t
	}
	return ", as 5ms (units: ns, us, ms, s, m, h)"
}

// Choice is one of some words.
func Choice(words ...string) Type[string] {
	name := "one of " + strings.Join(words, ", ")
	t := Type[string]{Name: name, Words: words, Write: TextOf}
	t.Read = func(r *Reader, key string, v *Value) (string, bool) {
		if v.Kind != Text {
			r.Wrong(key, v, name)
			return "", false
		}
		if !slices.Contains(words, v.Text) {
			r.Add(v.At, key, "%q, expected %s%s", Clip(v.Text), name, r.Meant(v.Text, words))
			return "", false
		}
		return v.Text, true
	}
	return t.Like(enum(words))
}

// Word is a Choice whose words may look like numbers or truth values.
func Word(words ...string) Type[string] {
	t := Choice(words...)
	read := t.Read
	t.Read = func(r *Reader, key string, v *Value) (string, bool) {
		if v.Kind == Bool || v.Kind == Int || v.Kind == Float {
			v = &Value{Kind: Text, Text: v.Text, At: v.At}
		}
		return read(r, key, v)
	}
	t.Schema = func() Object {
		var options []any
		for _, w := range words {
			options = append(options, w)
			if v := plainValue(w); v != any(w) {
				options = append(options, v)
			}
		}
		return Object{"enum": options}
	}
	return t
}

// Truth is true or false.
func Truth() Type[bool] {
	const name = "true or false"
	return Type[bool]{Name: name,
		Write: func(b bool) *Value { return &Value{Kind: Bool, Text: strconv.FormatBool(b)} },
		Read: func(r *Reader, key string, v *Value) (bool, bool) {
			if v.Kind != Bool {
				r.Wrong(key, v, name)
				return false, false
			}
			return strings.EqualFold(v.Text, "true"), true
		}}.Like(Object{"type": "boolean"})
}

// Words is text for which wants returns "", or else what it wants instead.
func Words(name string, wants func(string) string) Type[string] {
	t := Type[string]{Name: name, Write: TextOf}
	t.Read = func(r *Reader, key string, v *Value) (string, bool) {
		switch v.Kind {
		case Text:
			if want := wants(v.Text); want != "" {
				r.Add(v.At, key, "%q, expected %s", Clip(v.Text), want)
				return "", false
			}
			return v.Text, true
		case Int, Float, Bool:
			r.Add(v.At, key, "%s, expected text; write %q, with the quotes", v.Plain(), v.Text)
		default:
			r.Wrong(key, v, name)
		}
		return "", false
	}
	return t.Like(Object{"type": "string"})
}

// SomeText is text that is not blank.
func SomeText(name string) Type[string] {
	return Words(name, func(s string) string {
		if strings.TrimSpace(s) == "" || strings.ContainsRune(s, 0) {
			return "some text"
		}
		return ""
	}).Like(Object{"type": "string", "pattern": `\S`})
}

// An Object is a part of a JSON Schema.
type Object map[string]any

func enum(words []string) Object { return Object{"enum": words} }

func anyOf(options ...Object) Object { return Object{"anyOf": options} }

// AnyOf is what one of some types accepts.
func AnyOf(options ...Object) Object { return anyOf(options...) }

// def is the key under which a part says its name: it stands in several places,
// and the schema says it once.
const def = "$def"
