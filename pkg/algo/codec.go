package algo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"strings"
)

// CodecVersion is the first byte of every encoded message.
const CodecVersion = 1

// A Codec turns messages into bytes and back. An encoded message stands on its
// own: version, index of its kind, then its fields in order, integers as
// variable-length numbers (signed ones zigzag), strings and slices behind their
// length. It holds no field names and no types: both ends have the Spec.
//
// The Go type of a message determines its kind; the kind of a Raw is its name, and its
// body is encoded as it is.
//
// A Codec does not change after NewCodec and may be shared.
//
// The fields of a message are reached in one of two ways, which do the same: directly in memory
// (codec_direct.go), or by package reflect (codec_reflect.go), which takes several times as long, and
// is the only one under the build tag purego.
type Codec struct {
	kinds    []kind
	reflects bool // goes by package reflect in any case
}

type kind struct {
	name  string
	typ   reflect.Type
	id    typeID
	zero  Message
	plan  []field
	plain bool  // holds no pointer: a copy of the value shares nothing
	form  *Form // of a Raw; nil: not known
}

// Raw is a message of the kind Name whose body only the algorithm reads: for algorithms
// that are not written in Go, or whose messages are encoded already. A Spec declares
// such a kind as Raw{Name: "REQUEST"}, beside messages of Go types if it likes. The body
// is a string because a message, once sent, does not change. With a Form, which all messages of
// a kind share, its fields are known.
type Raw struct {
	Name, Body string
	Form       *Form
}

// Kind is r.Name.
func (r Raw) Kind() string { return r.Name }

// String is the message as transcripts show it: its fields, or the body in quotes if they are not known.
func (r Raw) String() string {
	if r.Form == nil {
		return fmt.Sprintf("{%#q}", r.Body)
	}
	var p printer
	if err := r.Form.Read(r.Body, &p); err != nil {
		return fmt.Sprintf("{%#q: %v}", r.Body, err)
	}
	return p.Builder.String()
}

var rawType = reflect.TypeFor[Raw]()

type field struct {
	op     fieldOp
	plain  bool    // holds no pointer
	width  uint8   // of a number: bytes in memory
	elem   []field // of a struct; of a slice or array: one, its element
	offset uintptr // in memory, in bytes from where its struct begins
	stride uintptr // in memory, in bytes from one element to the next
	length int     // of an array
	slice  reflect.Type
	size   int // smallest encoded size of an element, to bound allocation
}

type fieldOp uint8

const (
	opUint fieldOp = iota
	opInt
	opBool
	opFloat
	opString
	opBytes
	opSlice
	opArray
	opStruct
)

// NewCodec makes the codec of these kinds of messages, given as zero values; of a Raw,
// the name alone counts.
func NewCodec(messages ...Message) (*Codec, error) {
	c := &Codec{}
	if len(messages) > math.MaxUint8 {
		return nil, fmt.Errorf("%d kinds of messages, at most %d", len(messages), math.MaxUint8)
	}
	for _, m := range messages {
		t := reflect.TypeOf(m)
		if t == nil || t.Kind() != reflect.Struct {
			return nil, fmt.Errorf("message %T: want a struct value", m)
		}
		if err := c.refuse(m.Kind(), t); err != nil {
			return nil, err
		}
		k := kind{name: m.Kind(), typ: t, plain: true}
		k.id = idOf(m)
		if raw, is := m.(Raw); is {
			if k.form = raw.Form; k.form != nil {
				if err := k.form.defect(0); err != nil {
					return nil, fmt.Errorf("message %s: %w", k.name, err)
				}
			}
		} else {
			var err error
			if k.plan, k.plain, err = planStruct(t, 0); err != nil {
				return nil, fmt.Errorf("message %s: %w", k.name, err)
			}
			k.zero = reflect.Zero(t).Interface().(Message)
		}
		c.kinds = append(c.kinds, k)
	}
	return c, nil
}

// refuse says why no kind can have this name and type, next to those that there are.
func (c *Codec) refuse(name string, t reflect.Type) error {
	if !kindName(name) {
		return fmt.Errorf("message %v: kind %q: want 1 to 64 letters, digits, '_' and '-'", t, name)
	}
	for i := range c.kinds {
		switch k := &c.kinds[i]; {
		case k.name == name:
			return fmt.Errorf("message %v: kind %q is taken", t, name)
		case k.typ == t && t != rawType:
			return fmt.Errorf("message %v: it is of kind %q and of kind %q, but a Go type stands for one "+
				"kind; give each kind a type of its own, or declare both as algo.Raw", t, k.name, name)
		}
	}
	return nil
}

// kindName says whether s can name a kind in tables, traces and scripts.
func kindName(s string) bool {
	odd := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
	}
	return s != "" && len(s) <= 64 && strings.IndexFunc(s, odd) < 0
}

func planStruct(t reflect.Type, depth int) (plan []field, plain bool, err error) {
	plain = true
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			return nil, false, fmt.Errorf("field %s is not exported", f.Name)
		}
		p, pl, err := planType(f.Type, depth+1)
		if err != nil {
			return nil, false, fmt.Errorf("field %s: %w", f.Name, err)
		}
		p.offset, p.plain = f.Offset, pl
		plan, plain = append(plan, p), plain && pl
	}
	return plan, plain, nil
}

// maxDepth is how many types may hold one another.
const maxDepth = 8

var errDeep = errors.New("nested too deep")

func planType(t reflect.Type, depth int) (f field, plain bool, err error) {
	if depth > maxDepth {
		return f, false, errDeep
	}
	switch t.Kind() {
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return field{op: opUint, size: 1, width: uint8(t.Size())}, true, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return field{op: opInt, size: 1, width: uint8(t.Size())}, true, nil
	case reflect.Bool:
		return field{op: opBool, size: 1}, true, nil
	case reflect.Float64:
		return field{op: opFloat, size: 8}, true, nil
	case reflect.String:
		return field{op: opString, size: 1}, true, nil // strings are immutable
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return field{op: opBytes, size: 1}, false, nil
		}
		e, plain, err := planType(t.Elem(), depth+1)
		e.plain = plain
		if err == nil && e.size == 0 {
			err = errors.New("a slice of empty values")
		}
		return field{op: opSlice, elem: []field{e}, stride: t.Elem().Size(), slice: t, size: 1}, false, err
	case reflect.Array:
		e, plain, err := planType(t.Elem(), depth+1)
		e.plain = plain
		return field{op: opArray, elem: []field{e}, stride: t.Elem().Size(), length: t.Len(),
			size: t.Len() * e.size}, plain, err
	case reflect.Struct:
		plan, plain, err := planStruct(t, depth+1)
		size := 0
		for _, p := range plan {
			size += p.size
		}
		return field{op: opStruct, elem: plan, size: size}, plain, err
	}
	return f, false, fmt.Errorf("a %s cannot travel in a message", t)
}

// Kinds is the names of the kinds, in the order of their indexes.
func (c *Codec) Kinds() []string {
	out := make([]string, len(c.kinds))
	for i := range c.kinds {
		out[i] = c.kinds[i].name
	}
	return out
}

// KindOf is the index of m's kind, and whether it is one of the codec's.
func (c *Codec) KindOf(m Message) (uint8, bool) {
	id := idOf(m)
	for i := range c.kinds {
		if k := &c.kinds[i]; k.id == id && (k.typ != rawType || k.name == m.Kind()) {
			return uint8(i), true
		}
	}
	return 0, false
}

// Plain says whether messages of this kind hold no pointer, so that a copy of
// the value shares nothing with the original.
func (c *Codec) Plain(kind uint8) bool { return c.kinds[kind].plain }

// Append appends the encoding of m, whose kind is given, to b.
func (c *Codec) Append(b []byte, kind uint8, m Message) []byte {
	b = append(b, CodecVersion, kind)
	if raw, ok := m.(Raw); ok {
		return append(b, raw.Body...)
	}
	if len(c.kinds[kind].plan) == 0 {
		return b
	}
	if c.reflects {
		return appendReflected(b, c.kinds[kind].plan, reflect.ValueOf(m))
	}
	return appendDirect(b, c.kinds[kind].plan, m)
}

// Encode is Append for a message whose kind has yet to be found.
func (c *Codec) Encode(b []byte, m Message) ([]byte, error) {
	kind, ok := c.KindOf(m)
	if !ok {
		return b, fmt.Errorf("message %T is not declared in the Spec", m)
	}
	return c.Append(b, kind, m), nil
}

// Size is how many bytes Append appends.
func (c *Codec) Size(kind uint8, m Message) int {
	const head = 2
	if raw, ok := m.(Raw); ok {
		return head + len(raw.Body)
	}
	if len(c.kinds[kind].plan) == 0 {
		return head
	}
	if c.reflects {
		return head + sizeReflected(c.kinds[kind].plan, reflect.ValueOf(m))
	}
	return head + sizeDirect(c.kinds[kind].plan, m)
}

// sizeNumber is how many bytes a variable-length number takes: one for every seven bits.
func sizeNumber(x uint64) int { return (bits.Len64(x|1) + 6) / 7 }

// Copy is m as Decode makes it of its encoding: it shares nothing with m that can change.
func (c *Codec) Copy(kind uint8, m Message) Message {
	k := &c.kinds[kind]
	if k.plain {
		return m
	}
	if c.reflects {
		return copyReflected(k, m)
	}
	return copyDirect(k, m)
}

// Errors of Decode.
var (
	errShort    = errors.New("message ends early")
	errTrailing = errors.New("bytes behind the message")
	errRange    = errors.New("number out of range")
)

// noNumber is why a variable-length number could not be read: package binary
// answers with 0 where bytes are missing, with less where there are too many.
func noNumber(n int) error {
	if n < 0 {
		return errRange
	}
	return errShort
}

// Decode reads one message, which must fill b. Hostile bytes give an error;
// what is allocated stays in proportion to len(b).
func (c *Codec) Decode(b []byte) (Message, uint8, error) {
	if len(b) < 2 {
		return nil, 0, errShort
	}
	if b[0] != CodecVersion {
		return nil, 0, fmt.Errorf("message of version %d, want %d", b[0], CodecVersion)
	}
	if int(b[1]) >= len(c.kinds) {
		return nil, 0, fmt.Errorf("message of unknown kind %d", b[1])
	}
	k := &c.kinds[b[1]]
	if k.typ == rawType {
		m := Raw{k.name, string(b[2:]), k.form}
		if k.form != nil {
			if err := k.form.Check(m.Body); err != nil {
				return nil, 0, fmt.Errorf("message %s: %w", k.name, err)
			}
		}
		return m, b[1], nil
	}
	if len(k.plan) == 0 {
		if len(b) > 2 {
			return nil, 0, errTrailing
		}
		return k.zero, b[1], nil
	}
	decode := decodeDirect
	if c.reflects {
		decode = decodeReflected
	}
	m, rest, err := decode(b[2:], k)
	if err == nil && len(rest) > 0 {
		err = errTrailing
	}
	if err != nil {
		return nil, 0, fmt.Errorf("message %s: %w", k.name, err)
	}
	return m, b[1], nil
}

// counted reads the length of what f stands for, which is refused before anything is allocated if b
// cannot hold so much.
func (f *field) counted(b []byte) (count int, rest []byte, err error) {
	n, width := binary.Uvarint(b)
	if width <= 0 {
		return 0, nil, noNumber(width)
	}
	size := 1
	if f.op == opSlice {
		size = f.elem[0].size
	}
	if rest = b[width:]; n > uint64(len(rest)/size) {
		return 0, nil, errShort
	}
	return int(n), rest, nil
}
