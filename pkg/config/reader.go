package config

import (
	"strconv"
	"strings"
)

// A Reader reads values and collects what is wrong with them.
type Reader struct {
	*Diagnostics
	noun   string                // what a file holds
	isLeaf func(key string) bool // it has one value
	// nearest is the name among names that word most probably meant; "" if none is near.
	nearest func(word string, names []string) string
	// several is what to do about a list in place of one value; "" if there is nothing.
	several func(key string, v *Value) string
}

// Wrong reports a value of the wrong kind.
func (r *Reader) Wrong(key string, v *Value, want string) {
	what, remedy := v.Plain(), ""
	leaf := r.isLeaf(key)
	switch {
	case v.Kind == Null && leaf:
		remedy = "; leave the key out for its default"
	case v.Kind == Text:
		what = strconv.Quote(what)
		if isNumber(v.Text) {
			remedy = "; write it without the quotes"
		}
	case v.Kind == List && leaf && r.several != nil:
		remedy = r.several(key, v)
	}
	r.Add(v.At, key, "%s, expected %s%s", what, want, remedy)
}

// Meant suggests the word that another probably stands for, for the end of a
// message; "" if none is near.
func (r *Reader) Meant(word string, words []string) string {
	if near := r.near(word, words); near != "" {
		return "; did you mean " + strconv.Quote(near) + "?"
	}
	return ""
}

func (r *Reader) near(word string, words []string) string {
	if len(word) > 64 || r.nearest == nil { // nothing that we know is so long
		return ""
	}
	return r.nearest(strings.ToLower(word), words)
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

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// decimal refuses the other ways to write a whole number: 010 is 8 in YAML,
// which few of those who write it mean.
func (r *Reader) decimal(key string, v *Value) bool {
	if v.Kind != Int || IsDecimal(v.Text) {
		return true
	}
	r.Add(v.At, key, "%s, expected a whole number in plain decimal digits (0 in front makes it octal)",
		v.Plain())
	return false
}
