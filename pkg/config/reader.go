package config

import (
	"strconv"
	"strings"
)

// A Reader reads values and collects what is wrong with them.
type Reader struct {
	*Diagnostics
	Schema *Schema
	// Nearest is the name among names that word most probably meant; "" if none is near.
	Nearest func(word string, names []string) string
	// Remedy is what to do about a list in place of one value; "" if there is nothing.
	Remedy func(key string, v *Value) string
}

// Wrong reports a value of the wrong kind.
func (r *Reader) Wrong(key string, v *Value, want string) {
	what, remedy := v.Plain(), ""
	leaf := r.Schema.Leaf(key) != nil
	switch {
	case v.Kind == Null && leaf:
		remedy = "; leave the key out for its default"
	case v.Kind == Text:
		what = strconv.Quote(what)
		if isNumber(v.Text) {
			remedy = "; write it without the quotes"
		}
	case v.Kind == List && leaf && r.Remedy != nil:
		remedy = r.Remedy(key, v)
	}
	r.Add(v.At, key, "%s, want %s%s", what, want, remedy)
}

// Meant suggests the word that another probably stands for, for the end of a
// message; "" if none is near.
func (r *Reader) Meant(word string, words []string) string {
	if near := r.nearest(word, words); near != "" {
		return "; did you mean " + strconv.Quote(near) + "?"
	}
	return ""
}

func (r *Reader) nearest(word string, words []string) string {
	if len(word) > 64 || r.Nearest == nil { // nothing that we know is so long
		return ""
	}
	return r.Nearest(strings.ToLower(word), words)
}

// Unknown reports the keys of a block that are none of names; of says what they
// would be keys of.
func (r *Reader) Unknown(key string, v *Value, names []string, of string) {
	for _, p := range v.Pairs {
		if !contains(names, p.Name) {
			r.Add(p.At, Join(key, p.Name), "unknown key%s%s (has: %s)",
				of, r.Meant(p.Name, names), strings.Join(names, ", "))
		}
	}
}

// Part reads one key of a block by its type; the zero value if it is not there or
// wrong.
func Part[T any](r *Reader, key string, v *Value, name string, t Type[T]) (x T) {
	if w := v.Get(name); w != nil {
		x, _ = t.Read(r, Join(key, name), w)
	}
	return x
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}
