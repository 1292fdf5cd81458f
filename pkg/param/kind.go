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
type Registry[D any] struct {
	list  []*D
	name  func(*D) string
	order func(a, b *D) int
}

// NewRegistry is one of declarations that have a name, listed in an order.
func NewRegistry[D any](name func(*D) string, order func(a, b *D) int) *Registry[D] {
	return &Registry[D]{name: name, order: order}
}

// Add makes d known. It is called by the declarations, before main.
func (r *Registry[D]) Add(d D) *D {
	r.list = append(r.list, &d)
	slices.SortStableFunc(r.list, r.order)
	return &d
}

// All is every declaration, in order.
func (r *Registry[D]) All() []*D { return r.list }

// Named is the declaration of that name; nil if there is none.
func (r *Registry[D]) Named(name string) *D {
	for _, d := range r.list {
		if r.name(d) == name {
			return d
		}
	}
	return nil
}

// Names are the names of all.
func (r *Registry[D]) Names() []string {
	names := make([]string, len(r.list))
	for i, d := range r.list {
		names[i] = r.name(d)
	}
	return names
}

// Encode is a kind as JSON: its name under a tag, and its parameters that are not zero.
func Encode(tag, name string, k Kind) ([]byte, error) {
	out := map[string]any{tag: name}
	if k != nil {
		for _, p := range k.Params() {
			if !p.IsZero() {
				out[p.Name] = p.At
			}
		}
	}
	return json.Marshal(out)
}

// Decode reads what Encode wrote. Of makes the kind of a name, with the defaults that it has; nil if
// there is none of the name.
func Decode[K Kind](b []byte, tag string, of func(name string) (K, bool)) (k K, err error) {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(b, &in); err != nil {
		return k, err
	}
	var name string
	if in[tag] != nil {
		if err := json.Unmarshal(in[tag], &name); err != nil {
			return k, fmt.Errorf("%s: %w", tag, err)
		}
	}
	if name == "" {
		return k, nil
	}
	k, ok := of(name)
	if !ok {
		return k, fmt.Errorf("%s: %q is unknown", tag, name)
	}
	for _, p := range k.Params() {
		if raw := in[p.Name]; raw != nil {
			if err := json.Unmarshal(raw, p.At); err != nil {
				return k, fmt.Errorf("%s: %w", p.Name, err)
			}
		}
	}
	return k, nil
}

// New is a zero value of the kind that example is of, a pointer to its struct.
func New[K Kind](example K) K {
	return reflect.New(reflect.TypeOf(example).Elem()).Interface().(K)
}
