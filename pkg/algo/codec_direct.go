//go:build !purego

package algo

import (
	"encoding/binary"
	"math"
	"reflect"
	"unsafe"
)

// All that pkg/algo does with package unsafe is in this file. It relies on two things that Go does not
// promise: an interface value is a number of its type and a pointer to the value, and a slice begins
// with a pointer to its elements, followed by their number. TestCodec_BothWays would notice a change.

// A typeID is a number that a type alone has.
type typeID = unsafe.Pointer

func idOf(m any) typeID {
	id, _ := inside(m)
	return id
}

// inside is what an interface value holds: a number that its type alone has, and where the value
// lies. Package reflect tells both, at ten times the cost, which every message would pay.
func inside(m any) (typ, value unsafe.Pointer) {
	words := (*[2]unsafe.Pointer)(unsafe.Pointer(&m))
	return words[0], words[1]
}

// appendDirect appends the fields of m, which lies in memory: a struct that holds no bare pointer.
func appendDirect(b []byte, plan []field, m Message) []byte {
	_, value := inside(m)
	return appendStruct(b, plan, value)
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

// sizeDirect is how many bytes appendDirect appends.
func sizeDirect(plan []field, m Message) int {
	_, value := inside(m)
	return sizeStruct(plan, value)
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

// copyDirect is a copy of m that shares nothing with it that can change.
func copyDirect(k *kind, m Message) Message {
	own := reflect.New(k.typ)
	own.Elem().Set(reflect.ValueOf(m))
	at := own.UnsafePointer()
	copyStruct(k.plan, at)
	m = k.zero
	(*[2]unsafe.Pointer)(unsafe.Pointer(&m))[1] = at // as in decodeDirect
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

// decodeDirect reads the fields of a message of kind k.
func decodeDirect(b []byte, k *kind) (Message, []byte, error) {
	at := reflect.New(k.typ).UnsafePointer()
	rest, err := decodeStruct(b, k.plan, at)
	if err != nil {
		return nil, nil, err
	}
	m := k.zero
	(*[2]unsafe.Pointer)(unsafe.Pointer(&m))[1] = at // see inside: nobody else has what lies there
	return m, rest, nil
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
	count, b, err := f.counted(b)
	if err != nil {
		return nil, err
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
	s := reflect.MakeSlice(f.slice, count, count)
	reflect.NewAt(f.slice, at).Elem().Set(s)
	return decodeElements(b, f, s.UnsafePointer(), count)
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
