package prove

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"unsafe"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A flattener writes what a value holds as bytes, all the way down and with its unexported fields, and
// makes the value of the bytes again. Two values have the same bytes exactly if a process cannot tell
// them apart: a nil slice is not an empty one, addresses and spare capacity do not count, pairs of maps
// come in the order of the bytes of their keys. A pointer that was met before is written as the number of
// that meeting, so that circles end and what is shared stays shared.
//
// Each type is compiled once, into functions that reach its fields by their offsets. A flattener is for
// one goroutine.
type flattener struct {
	coders map[reflect.Type]*coder
	types  []reflect.Type // of what interfaces hold, by number
	number map[reflect.Type]int

	constants []reflect.Value // parts of configurations, which never change, by number
	same      map[header]uint64
	kept      []reflect.Value

	b    []byte
	out  map[meeting]uint64
	in   []unsafe.Pointer
	err  error
	deep int // of maps
	// alike has a nil slice or map be written as an empty one is: what is written then is compared, and not
	// restored.
	alike bool
}

// A header is where a part of a configuration lies.
type header struct {
	at  unsafe.Pointer
	n   int
	typ reflect.Type
}

type meeting struct {
	at  unsafe.Pointer
	typ reflect.Type
}

// A coder is what a type was compiled into.
type coder struct {
	put func(f *flattener, at unsafe.Pointer)
	get func(f *flattener, at unsafe.Pointer)
}

func newFlattener() *flattener {
	return &flattener{
		coders: map[reflect.Type]*coder{}, number: map[reflect.Type]int{}, same: map[header]uint64{},
	}
}

// errShort is of bytes that no value has.
var errShort = errors.New("a state ends early")

// append appends what lies at an address, which is of type t, to b.
func (f *flattener) append(b []byte, t reflect.Type, at unsafe.Pointer) ([]byte, error) {
	f.b, f.err = b, nil
	clear(f.out)
	f.of(t).put(f, at)
	return f.b, f.err
}

// restore makes the value at an address what it was when b was written.
func (f *flattener) restore(b []byte, t reflect.Type, at unsafe.Pointer) error {
	f.b, f.err, f.in = b, nil, f.in[:0]
	f.of(t).get(f, at)
	if f.err == nil && len(f.b) > 0 {
		f.err = errors.New("bytes behind a state")
	}
	return f.err
}

// of is the coder of a type. It may be used before it is complete, by a type that holds itself.
func (f *flattener) of(t reflect.Type) *coder {
	c, known := f.coders[t]
	if !known {
		c = &coder{}
		f.coders[t] = c
		*c = f.compile(t)
	}
	return c
}

func (f *flattener) compile(t reflect.Type) coder {
	switch t.Kind() {
	case reflect.Bool, reflect.Uint8:
		return coder{
			func(f *flattener, at unsafe.Pointer) { f.b = append(f.b, *(*byte)(at)) },
			func(f *flattener, at unsafe.Pointer) { *(*byte)(at) = f.byte() },
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return signed(t)
	case reflect.Uint, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return unsigned(t)
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return fixed(t)
	case reflect.String:
		return coder{
			func(f *flattener, at unsafe.Pointer) { f.text(*(*string)(at)) },
			func(f *flattener, at unsafe.Pointer) { *(*string)(at) = string(f.take()) },
		}
	case reflect.Struct:
		return f.structure(t)
	case reflect.Array:
		return f.array(t)
	case reflect.Slice:
		return f.slice(t)
	case reflect.Pointer:
		return f.pointer(t)
	case reflect.Interface:
		return inside(t)
	case reflect.Map:
		return f.table(t)
	}
	return refused(t)
}

// refused is the coder of what has no value to compare, like a function: nil alone will do.
func refused(t reflect.Type) coder {
	return coder{
		func(f *flattener, at unsafe.Pointer) {
			if !reflect.NewAt(t, at).Elem().IsNil() {
				f.fail(fmt.Errorf("a %s cannot be compared: state is plain data", t))
			}
		},
		func(_ *flattener, at unsafe.Pointer) { reflect.NewAt(t, at).Elem().SetZero() },
	}
}

func signed(t reflect.Type) coder {
	return coder{
		func(f *flattener, at unsafe.Pointer) {
			f.b = binary.AppendVarint(f.b, reflect.NewAt(t, at).Elem().Int())
		},
		func(f *flattener, at unsafe.Pointer) {
			x, n := binary.Varint(f.b)
			f.skip(n)
			reflect.NewAt(t, at).Elem().SetInt(x)
		},
	}
}

func unsigned(t reflect.Type) coder {
	return coder{
		func(f *flattener, at unsafe.Pointer) {
			f.uint(reflect.NewAt(t, at).Elem().Uint())
		},
		func(f *flattener, at unsafe.Pointer) { reflect.NewAt(t, at).Elem().SetUint(f.number64()) },
	}
}

// fixed is of numbers that are written as they lie in memory.
func fixed(t reflect.Type) coder {
	size := int(t.Size())
	return coder{
		func(f *flattener, at unsafe.Pointer) { f.b = append(f.b, unsafe.Slice((*byte)(at), size)...) },
		func(f *flattener, at unsafe.Pointer) {
			if len(f.b) < size {
				f.fail(errShort)
				return
			}
			copy(unsafe.Slice((*byte)(at), size), f.b)
			f.b = f.b[size:]
		},
	}
}

// fixedParts are the fields of an algo.Config that never change.
var fixedParts = []string{"Peers", "Neighbors", "Ring", "Params"}

var configuration = reflect.TypeFor[algo.Config]()

// unchanging is the coder of a part of a configuration that never changes: a number stands for it.
func unchanging(t reflect.Type) coder {
	return coder{
		func(f *flattener, at unsafe.Pointer) { f.uint(f.constant(reflect.NewAt(t, at).Elem())) },
		func(f *flattener, at unsafe.Pointer) {
			n := f.number64()
			if n >= uint64(len(f.constants)) || f.constants[n].Type() != t {
				f.fail(errShort)
				return
			}
			reflect.NewAt(t, at).Elem().Set(f.constants[n])
		},
	}
}

// constant is the number of a part of a configuration.
func (f *flattener) constant(v reflect.Value) uint64 {
	at := header{v.UnsafePointer(), v.Len(), v.Type()}
	n, known := f.same[at]
	if !known {
		n = uint64(slices.IndexFunc(f.constants, func(c reflect.Value) bool {
			return c.Type() == v.Type() && reflect.DeepEqual(c.Interface(), v.Interface())
		}))
		if n == math.MaxUint64 {
			n = uint64(len(f.constants))
		}
		own := reflect.New(v.Type()).Elem() // which keeps its memory from being used for another
		own.Set(v)
		if f.same[at] = n; n == uint64(len(f.constants)) {
			f.constants = append(f.constants, own)
		} else {
			f.kept = append(f.kept, own)
		}
	}
	return n
}

func (f *flattener) structure(t reflect.Type) coder {
	type part struct {
		*coder
		offset uintptr
	}
	var parts []part
	for i := range t.NumField() {
		field := t.Field(i)
		if t == configuration && slices.Contains(fixedParts, field.Name) {
			c := unchanging(field.Type)
			parts = append(parts, part{&c, field.Offset})
			continue
		}
		parts = append(parts, part{f.of(field.Type), field.Offset})
	}
	return coder{
		func(f *flattener, at unsafe.Pointer) {
			for _, p := range parts {
				p.put(f, unsafe.Add(at, p.offset))
			}
		},
		func(f *flattener, at unsafe.Pointer) {
			for _, p := range parts {
				p.get(f, unsafe.Add(at, p.offset))
			}
		},
	}
}

func (f *flattener) array(t reflect.Type) coder {
	e, stride, n := f.of(t.Elem()), t.Elem().Size(), t.Len()
	return coder{
		func(f *flattener, at unsafe.Pointer) {
			for i := range n {
				e.put(f, unsafe.Add(at, uintptr(i)*stride))
			}
		},
		func(f *flattener, at unsafe.Pointer) {
			for i := range n {
				e.get(f, unsafe.Add(at, uintptr(i)*stride))
			}
		},
	}
}

func (f *flattener) slice(t reflect.Type) coder {
	e, stride := f.of(t.Elem()), t.Elem().Size()
	return coder{
		func(f *flattener, at unsafe.Pointer) {
			v := reflect.NewAt(t, at).Elem()
			n, first := v.Len(), v.UnsafePointer()
			if f.vacant(v.IsNil(), n) {
				return
			}
			f.uint(uint64(n))
			for i := range n {
				e.put(f, unsafe.Add(first, uintptr(i)*stride))
			}
		},
		func(f *flattener, at unsafe.Pointer) {
			v := reflect.NewAt(t, at).Elem()
			switch f.byte() {
			case isNil:
				v.SetZero()
				return
			case isEmpty:
				v.Set(reflect.MakeSlice(t, 0, 0))
				return
			}
			n := f.length()
			own := reflect.MakeSlice(t, n, n)
			first := own.UnsafePointer()
			for i := range n {
				e.get(f, unsafe.Add(first, uintptr(i)*stride))
			}
			v.Set(own)
		},
	}
}

func (f *flattener) pointer(t reflect.Type) coder {
	e := f.of(t.Elem())
	return coder{
		func(f *flattener, at unsafe.Pointer) {
			p := *(*unsafe.Pointer)(at)
			if !f.present(p != nil) {
				return
			}
			if f.deep > 0 {
				f.fail(fmt.Errorf("a %s in a map cannot be copied", t))
				return
			}
			m := meeting{p, t}
			if n, met := f.out[m]; met {
				f.uint(n)
				return
			}
			if f.out == nil {
				f.out = map[meeting]uint64{}
			}
			f.out[m] = uint64(len(f.out) + 1)
			f.uint(0)
			e.put(f, p)
		},
		func(f *flattener, at unsafe.Pointer) {
			if f.byte() == 0 {
				*(*unsafe.Pointer)(at) = nil
				return
			}
			if n := f.number64(); n > 0 {
				if n > uint64(len(f.in)) {
					f.fail(errShort)
					return
				}
				*(*unsafe.Pointer)(at) = f.in[n-1]
				return
			}
			p := reflect.New(t.Elem()).UnsafePointer()
			f.in = append(f.in, p)
			*(*unsafe.Pointer)(at) = p
			e.get(f, p)
		},
	}
}

// inside is the coder of an interface: the number of the type that it holds, and the value.
func inside(t reflect.Type) coder {
	return coder{
		func(f *flattener, at unsafe.Pointer) {
			v := reflect.NewAt(t, at).Elem()
			if !f.present(!v.IsNil()) {
				return
			}
			typ := v.Elem().Type()
			n, known := f.number[typ]
			if !known {
				n = len(f.types)
				f.types, f.number[typ] = append(f.types, typ), n
			}
			f.uint(uint64(n))
			own := reflect.New(typ)
			own.Elem().Set(v.Elem())
			f.of(typ).put(f, own.UnsafePointer())
		},
		func(f *flattener, at unsafe.Pointer) {
			v := reflect.NewAt(t, at).Elem()
			if f.byte() == 0 {
				v.SetZero()
				return
			}
			n := f.number64()
			if n >= uint64(len(f.types)) || !f.types[n].AssignableTo(t) {
				f.fail(errShort)
				return
			}
			own := reflect.New(f.types[n])
			f.of(f.types[n]).get(f, own.UnsafePointer())
			v.Set(own.Elem())
		},
	}
}

// table is the coder of a map. Pairs are written apart, and sorted.
func (f *flattener) table(t reflect.Type) coder {
	k, e := f.of(t.Key()), f.of(t.Elem())
	return coder{
		func(f *flattener, at unsafe.Pointer) {
			v := reflect.NewAt(t, at).Elem()
			if f.vacant(v.IsNil(), v.Len()) {
				return
			}
			f.deep++
			begun, all := f.b, [][2][]byte{}
			key, value := reflect.New(t.Key()), reflect.New(t.Elem())
			for it := v.MapRange(); it.Next(); {
				key.Elem().SetIterKey(it)
				value.Elem().SetIterValue(it)
				f.b = nil
				k.put(f, key.UnsafePointer())
				at := len(f.b)
				e.put(f, value.UnsafePointer())
				all = append(all, [2][]byte{f.b[:at], f.b[at:]})
			}
			f.deep--
			slices.SortFunc(all, func(a, b [2][]byte) int {
				return cmp.Or(bytes.Compare(a[0], b[0]), bytes.Compare(a[1], b[1]))
			})
			f.b = begun
			f.uint(uint64(len(all)))
			for _, pair := range all {
				f.b = append(append(f.b, pair[0]...), pair[1]...)
			}
		},
		func(f *flattener, at unsafe.Pointer) {
			v := reflect.NewAt(t, at).Elem()
			switch f.byte() {
			case isNil:
				v.SetZero()
				return
			case isEmpty:
				v.Set(reflect.MakeMap(t))
				return
			}
			own := reflect.MakeMap(t)
			for range f.length() {
				key, value := reflect.New(t.Key()), reflect.New(t.Elem())
				k.get(f, key.UnsafePointer())
				e.get(f, value.UnsafePointer())
				own.SetMapIndex(key.Elem(), value.Elem())
			}
			v.Set(own)
		},
	}
}

func (f *flattener) fail(err error) {
	if f.err == nil {
		f.err = err
	}
	if len(f.b) > 0 && errors.Is(err, errShort) {
		f.b = nil
	}
}

func (f *flattener) uint(x uint64) { f.b = binary.AppendUvarint(f.b, x) }

func (f *flattener) text(s string) {
	f.uint(uint64(len(s)))
	f.b = append(f.b, s...)
}

// present writes whether there is something, and returns it.
func (f *flattener) present(is bool) bool {
	if is {
		f.b = append(f.b, 1)
	} else {
		f.b = append(f.b, 0)
	}
	return is
}

// What a slice or map begins with.
const (
	isNil = iota
	hasSome
	isEmpty
)

// vacant writes whether a slice or map is nil or empty, and says whether it is one of the two.
func (f *flattener) vacant(null bool, n int) bool {
	switch {
	case n > 0:
		f.b = append(f.b, hasSome)
		return false
	case null || f.alike:
		f.b = append(f.b, isNil)
	default:
		f.b = append(f.b, isEmpty)
	}
	return true
}

func (f *flattener) byte() byte {
	if len(f.b) == 0 {
		f.fail(errShort)
		return 0
	}
	x := f.b[0]
	f.b = f.b[1:]
	return x
}

func (f *flattener) skip(n int) {
	if n <= 0 {
		f.fail(errShort)
		return
	}
	f.b = f.b[n:]
}

func (f *flattener) number64() uint64 {
	x, n := binary.Uvarint(f.b)
	f.skip(n)
	return x
}

// length is a number of things, each of which takes a byte at least.
func (f *flattener) length() int {
	n := f.number64()
	if n > uint64(len(f.b)) {
		f.fail(errShort)
		return 0
	}
	return int(n)
}

// take is bytes behind their number.
func (f *flattener) take() []byte {
	n := f.length()
	b := f.b[:n]
	f.b = f.b[n:]
	return b
}
