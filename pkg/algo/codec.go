package algo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"strings"
	"unsafe"
)

// CodecVersion is the first byte of every encoded message.
const CodecVersion = 1

// A Codec turns messages into bytes and back. An encoded message stands on its
// own: version, index of its kind, then its fields in order, integers as
// variable-length numbers (signed ones zigzag), strings and slices behind their
// length. It holds no field names and no types: both ends have the Spec.
//
// A kind is told by its Go type, but for Raw, which is told by its name and whose body
// is encoded as it is.
//
// A Codec does not change after NewCodec and may be shared.
type Codec struct {
	kinds []kind
}

type kind struct {
	name  string
	typ   reflect.Type
	id    unsafe.Pointer // of typ, see inside
	zero  Message
	plan  []field
	plain bool // holds no pointer: a copy of the value shares nothing
}

// Raw is a message of the kind Name whose body nobody but the algorithm reads: for
// algorithms that are not written in Go, or whose messages are encoded already. A Spec
// declares such a kind as Raw{Name: "REQUEST"}, beside messages of Go types if it likes.
// The body is a string because a message, once sent, does not change.
type Raw struct{ Name, Body string }

// Kind is r.Name.
func (r Raw) Kind() string { return r.Name }

// String is the body in quotes, as transcripts show it.
func (r Raw) String() string { return fmt.Sprintf("{%#q}", r.Body) }

var rawType = reflect.TypeFor[Raw]()

type field struct {
	op     fieldOp
	plain  bool    // holds no pointer
	width  uint8   // of a number: bytes in memory
	elem   []field // of a struct; of a slice or array: one, its element
	offset uintptr // in memory, from where its struct begins
	stride uintptr // in memory, from one element to the next
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
		k.id, _ = inside(m)
		if t != rawType {
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
			return fmt.Errorf("message %v: it is of kind %q and of kind %q, but a Go type tells one kind; "+
				"give each kind a type of its own, or declare both as algo.Raw", t, k.name, name)
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

func planType(t reflect.Type, depth int) (f field, plain bool, err error) {
	if depth > 8 {
		return f, false, errors.New("nested too deep")
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
	t, _ := inside(m)
	for i := range c.kinds {
		if k := &c.kinds[i]; k.id == t && (k.typ != rawType || k.name == m.Kind()) {
			return uint8(i), true
		}
	}
	return 0, false
}

// inside is what an interface value holds: a number that its type alone has, and where the value
// lies. Package reflect tells both, at ten times the cost, which every message would pay.
func inside(m any) (typ, value unsafe.Pointer) {
	words := (*[2]unsafe.Pointer)(unsafe.Pointer(&m))
	return words[0], words[1]
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
	_, value := inside(m) // which lies in memory: a struct that holds no bare pointer
	return appendStruct(b, c.kinds[kind].plan, value)
}

// Encode is Append for a message whose kind has yet to be found.
func (c *Codec) Encode(b []byte, m Message) ([]byte, error) {
	kind, ok := c.KindOf(m)
	if !ok {
		return b, fmt.Errorf("message %T is not declared in the Spec", m)
	}
	return c.Append(b, kind, m), nil
}

func appendStruct(b []byte, plan []field, at unsafe.Pointer) []byte {
	for i := range plan {
		b = appendValue(b, &plan[i], unsafe.Add(at, plan[i].offset))
	}
	return b
}

// appendValue appends the value that lies at an address, which is of the type that f was made of.
func appendValue(b []byte, f *field, at unsafe.Pointer) []byte {
	switch f.op {
	case opUint:
		return binary.AppendUvarint(b, f.unsigned(at))
	case opInt:
		return binary.AppendVarint(b, f.signed(at))
	case opBool:
		if *(*bool)(at) {
			return append(b, 1)
		}
		return append(b, 0)
	case opFloat:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(*(*float64)(at)))
	case opString:
		s := *(*string)(at)
		return append(binary.AppendUvarint(b, uint64(len(s))), s...)
	case opBytes:
		s := *(*[]byte)(at)
		return append(binary.AppendUvarint(b, uint64(len(s))), s...)
	case opStruct:
		return appendStruct(b, f.elem, at)
	}
	n := f.length
	if f.op == opSlice {
		s := *(*[]byte)(at) // of other elements, but a slice is where it begins and how many it has
		n, at = len(s), unsafe.Pointer(unsafe.SliceData(s))
		b = binary.AppendUvarint(b, uint64(n))
	}
	if e := &f.elem[0]; e.op == opUint && e.width == 4 { // lists of processes are what is long
		for _, x := range unsafe.Slice((*uint32)(at), n) {
			b = binary.AppendUvarint(b, uint64(x))
		}
		return b
	}
	for i := range n {
		b = appendValue(b, &f.elem[0], unsafe.Add(at, uintptr(i)*f.stride))
	}
	return b
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
	_, value := inside(m)
	return head + sizeStruct(c.kinds[kind].plan, value)
}

func sizeStruct(plan []field, at unsafe.Pointer) (n int) {
	for i := range plan {
		n += sizeValue(&plan[i], unsafe.Add(at, plan[i].offset))
	}
	return n
}

// sizeValue is how many bytes appendValue appends.
func sizeValue(f *field, at unsafe.Pointer) (size int) {
	switch f.op {
	case opUint:
		return sizeNumber(f.unsigned(at))
	case opInt:
		x := f.signed(at)
		return sizeNumber(uint64(x)<<1 ^ uint64(x>>63))
	case opBool:
		return 1
	case opFloat:
		return 8
	case opString, opBytes:
		n := len(*(*string)(at)) // which of bytes stands in the same place
		return sizeNumber(uint64(n)) + n
	case opStruct:
		return sizeStruct(f.elem, at)
	}
	n := f.length
	if f.op == opSlice {
		s := *(*[]byte)(at)
		n, at = len(s), unsafe.Pointer(unsafe.SliceData(s))
		size = sizeNumber(uint64(n))
	}
	if e := &f.elem[0]; e.op == opUint && e.width == 4 {
		for _, x := range unsafe.Slice((*uint32)(at), n) {
			size += sizeNumber(uint64(x))
		}
		return size
	}
	for i := range n {
		size += sizeValue(&f.elem[0], unsafe.Add(at, uintptr(i)*f.stride))
	}
	return size
}

// sizeNumber is how many bytes a variable-length number takes: one for every seven bits.
func sizeNumber(x uint64) int { return (bits.Len64(x|1) + 6) / 7 }

// Copy is m as Decode makes it of its encoding: it shares nothing with m that can change.
func (c *Codec) Copy(kind uint8, m Message) Message {
	k := &c.kinds[kind]
	if k.plain {
		return m
	}
	own := reflect.New(k.typ)
	own.Elem().Set(reflect.ValueOf(m))
	at := own.UnsafePointer()
	copyStruct(k.plan, at)
	m = k.zero
	(*[2]unsafe.Pointer)(unsafe.Pointer(&m))[1] = at // as in Decode
	return m
}

// copyStruct puts copies in place of what the struct that lies at an address points to.
func copyStruct(plan []field, at unsafe.Pointer) {
	for i := range plan {
		if f := &plan[i]; !f.plain {
			copyValue(f, unsafe.Add(at, f.offset))
		}
	}
}

func copyValue(f *field, at unsafe.Pointer) {
	n := f.length
	switch f.op {
	case opBytes:
		b := (*[]byte)(at)
		*b = append([]byte(nil), *b...)
		return
	case opStruct:
		copyStruct(f.elem, at)
		return
	case opSlice:
		if n = len(*(*[]byte)(at)); n == 0 {
			*(*[]byte)(at) = nil
			return
		}
		old := reflect.NewAt(f.slice, at).Elem()
		own := reflect.MakeSlice(f.slice, n, n)
		reflect.Copy(own, old)
		old.Set(own)
		at = own.UnsafePointer()
	}
	if e := &f.elem[0]; !e.plain {
		for i := range n {
			copyValue(e, unsafe.Add(at, uintptr(i)*f.stride))
		}
	}
}

func (f *field) unsigned(at unsafe.Pointer) uint64 {
	switch f.width {
	case 1:
		return uint64(*(*uint8)(at))
	case 2:
		return uint64(*(*uint16)(at))
	case 4:
		return uint64(*(*uint32)(at))
	}
	return *(*uint64)(at)
}

// setUnsigned sets a number of either kind to as much of x as there is room for.
func (f *field) setUnsigned(at unsafe.Pointer, x uint64) {
	switch f.width {
	case 1:
		*(*uint8)(at) = uint8(x)
	case 2:
		*(*uint16)(at) = uint16(x)
	case 4:
		*(*uint32)(at) = uint32(x)
	default:
		*(*uint64)(at) = x
	}
}

func (f *field) signed(at unsafe.Pointer) int64 {
	switch f.width {
	case 1:
		return int64(*(*int8)(at))
	case 2:
		return int64(*(*int16)(at))
	case 4:
		return int64(*(*int32)(at))
	}
	return *(*int64)(at)
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
		return Raw{k.name, string(b[2:])}, b[1], nil
	}
	if len(k.plan) == 0 {
		if len(b) > 2 {
			return nil, 0, errTrailing
		}
		return k.zero, b[1], nil
	}
	at := reflect.New(k.typ).UnsafePointer()
	rest, err := decodeStruct(b[2:], k.plan, at)
	if err == nil && len(rest) > 0 {
		err = errTrailing
	}
	if err != nil {
		return nil, 0, fmt.Errorf("message %s: %w", k.name, err)
	}
	m := k.zero
	(*[2]unsafe.Pointer)(unsafe.Pointer(&m))[1] = at // see inside: nobody else has what lies there
	return m, b[1], nil
}

func decodeStruct(b []byte, plan []field, at unsafe.Pointer) (_ []byte, err error) {
	for i := range plan {
		if b, err = decodeValue(b, &plan[i], unsafe.Add(at, plan[i].offset)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// decodeValue reads the value that is to lie at an address, which is of the type that f was made of.
func decodeValue(b []byte, f *field, at unsafe.Pointer) ([]byte, error) {
	switch f.op {
	case opUint:
		x, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, noNumber(n)
		}
		if f.setUnsigned(at, x); f.unsigned(at) != x {
			return nil, errRange
		}
		return b[n:], nil
	case opInt:
		x, n := binary.Varint(b)
		if n <= 0 {
			return nil, noNumber(n)
		}
		if f.setUnsigned(at, uint64(x)); f.signed(at) != x {
			return nil, errRange
		}
		return b[n:], nil
	case opBool:
		if len(b) < 1 {
			return nil, errShort
		}
		if b[0] > 1 {
			return nil, errRange
		}
		*(*bool)(at) = b[0] == 1
		return b[1:], nil
	case opFloat:
		if len(b) < 8 {
			return nil, errShort
		}
		*(*float64)(at) = math.Float64frombits(binary.LittleEndian.Uint64(b))
		return b[8:], nil
	case opStruct:
		return decodeStruct(b, f.elem, at)
	case opArray:
		return decodeElements(b, f, at, f.length)
	}
	return decodeCounted(b, f, at)
}

// decodeCounted reads what stands behind its length: a string, bytes, a slice.
func decodeCounted(b []byte, f *field, at unsafe.Pointer) ([]byte, error) {
	count, n := binary.Uvarint(b)
	if n <= 0 {
		return nil, noNumber(n)
	}
	b = b[n:]
	size := 1
	if f.op == opSlice {
		size = f.elem[0].size
	}
	if count > uint64(len(b)/size) { // refuse before allocating
		return nil, errShort
	}
	switch f.op {
	case opString:
		*(*string)(at) = string(b[:count])
		return b[count:], nil
	case opBytes:
		if count > 0 {
			*(*[]byte)(at) = append([]byte(nil), b[:count]...)
		}
		return b[count:], nil
	}
	if count == 0 {
		return b, nil
	}
	s := reflect.MakeSlice(f.slice, int(count), int(count))
	reflect.NewAt(f.slice, at).Elem().Set(s)
	return decodeElements(b, f, s.UnsafePointer(), int(count))
}

func decodeElements(b []byte, f *field, at unsafe.Pointer, n int) (_ []byte, err error) {
	if e := &f.elem[0]; e.op == opUint && e.width == 4 {
		list := unsafe.Slice((*uint32)(at), n)
		for i := range list {
			x, n := binary.Uvarint(b)
			if n <= 0 {
				return nil, noNumber(n)
			}
			if x > math.MaxUint32 {
				return nil, errRange
			}
			list[i], b = uint32(x), b[n:]
		}
		return b, nil
	}
	for i := range n {
		if b, err = decodeValue(b, &f.elem[0], unsafe.Add(at, uintptr(i)*f.stride)); err != nil {
			return nil, err
		}
	}
	return b, nil
}
