package param

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// A Kind is one of several of its sort: its parameters, and by way of its type what it does. It is
// shared by all copies of what holds it, and does not change once it is made.
type Kind interface{ Params() []Param }

// A Registry has what was declared of each kind of a sort, by name.
type Registry[D any, K Kind] struct {
	list  []*D
	tag   string // the key that names a kind
	of    func(*D) (name string, zero K)
	order func(a, b *D) int
}

// NewRegistry is one of declarations that have a name and a zero value of the kind, listed in an
// order.
func NewRegistry[D any, K Kind](tag string, of func(*D) (name string, zero K),
	order func(a, b *D) int) *Registry[D, K] {
	return &Registry[D, K]{tag: tag, of: of, order: order}
}

// Add makes d known. It is called by the declarations, before main.
func (r *Registry[D, K]) Add(d D) *D {
	r.list = append(r.list, &d)
	slices.SortStableFunc(r.list, r.order)
	return &d
}

// All is every declaration, in order.
func (r *Registry[D, K]) All() []*D { return r.list }

// Named is the declaration of that name; nil if there is none.
func (r *Registry[D, K]) Named(name string) *D {
	for _, d := range r.list {
		if own, _ := r.of(d); own == name {
			return d
		}
	}
	return nil
}

// Names are the names of all.
func (r *Registry[D, K]) Names() []string {
	names := make([]string, len(r.list))
	for i, d := range r.list {
		names[i], _ = r.of(d)
	}
	return names
}

// Of is the declaration of a kind and its name; nil of one that is not declared.
func (r *Registry[D, K]) Of(k K) (*D, string) {
	for _, d := range r.list {
		if name, zero := r.of(d); any(zero) != nil && reflect.TypeOf(zero) == reflect.TypeOf(k) {
			return d, name
		}
	}
	return nil, ""
}

// New is a kind by its name, with zero parameters; false if there is none.
func (r *Registry[D, K]) New(name string) (k K, ok bool) {
	if d := r.Named(name); d != nil {
		if _, zero := r.of(d); any(zero) != nil {
			return New(zero), true
		}
	}
	return k, false
}

// Encode is a kind as JSON: its name under the tag, and its parameters, and more, that are not zero.
func (r *Registry[D, K]) Encode(k K, more ...Param) ([]byte, error) {
	out := map[string]any{}
	if d, name := r.Of(k); d != nil {
		out[r.tag] = name
		more = append(k.Params(), more...)
	}
	for _, p := range more {
		if !p.IsZero() {
			out[p.Name] = p.At
		}
	}
	return json.Marshal(out)
}

// Decode reads what Encode wrote, with the same parameters besides.
func (r *Registry[D, K]) Decode(b []byte, more ...Param) (k K, err error) {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(b, &in); err != nil {
		return k, err
	}
	name := ""
	if in[r.tag] != nil {
		if err := json.Unmarshal(in[r.tag], &name); err != nil {
			return k, fmt.Errorf("%s: %w", r.tag, err)
		}
	}
	if name != "" {
		made, ok := r.New(name)
		if !ok {
			return k, fmt.Errorf("%s: %q is unknown", r.tag, name)
		}
		k, more = made, append(made.Params(), more...)
	}
	for _, p := range more {
		if raw := in[p.Name]; raw != nil {
			if err := json.Unmarshal(raw, p.At); err != nil {
				return k, fmt.Errorf("%s: %w", p.Name, err)
			}
		}
	}
	return k, nil
}

// Keys is every parameter of the kinds, each once and in an order that all of them have, with the
// names of the kinds that have it. One whose defaults differ has them in its Note.
func (r *Registry[D, K]) Keys() (keys []Param, of [][]string) {
	presets, differ := map[string]string{}, map[string]bool{} // of a key: "kind preset, " for each
	for _, d := range r.list {
		name, zero := r.of(d)
		if any(zero) == nil {
			continue
		}
		at := len(keys)
		for _, k := range slices.Backward(zero.Params()) {
			i := slices.IndexFunc(keys, func(other Param) bool { return other.Name == k.Name })
			if i < 0 {
				i = at
				keys, of = slices.Insert(keys, i, k), slices.Insert(of, i, []string(nil))
			}
			at, of[i] = i, append(of[i], name)
			if preset := k.Preset(); preset != "" {
				presets[k.Name] += name + " " + preset + ", "
			}
			differ[k.Name] = differ[k.Name] || k.Preset() != keys[i].Preset()
		}
	}
	for i := range keys {
		if k := &keys[i]; differ[k.Name] {
			k.Default, k.Note = nil, presets[k.Name]+"else "+k.Note
		}
	}
	return keys, of
}

// New is a zero value of the kind that example is of: a pointer to its struct.
func New[K Kind](example K) K {
	if t := reflect.TypeOf(example); t.Kind() == reflect.Pointer {
		return reflect.New(t.Elem()).Interface().(K)
	}
	return example // it has no parameters
}

// With is a copy of k in which a parameter has another value.
func With[K Kind](k K, name string, v any) K {
	out := New(k)
	reflect.ValueOf(out).Elem().Set(reflect.ValueOf(k).Elem())
	Find(out.Params(), name).Set(v)
	return out
}
