package algo

import (
	"encoding/binary"
	"math"
	"reflect"
)

// appendReflected is appendDirect by package reflect.
func appendReflected(b []byte, plan []field, v reflect.Value) []byte {
	for i := range plan {
		b = plan[i].append(b, v.Field(i))
	}
	return b
}

// append appends v, which is of the type that f was made of.
func (f *field) append(b []byte, v reflect.Value) []byte {
	switch f.op {
	case opUint:
		return binary.AppendUvarint(b, v.Uint())
	case opInt:
		return binary.AppendVarint(b, v.Int())
	case opBool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case opFloat:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float()))
	case opString:
		return append(binary.AppendUvarint(b, uint64(v.Len())), v.String()...)
	case opBytes:
		return append(binary.AppendUvarint(b, uint64(v.Len())), v.Bytes()...)
	case opStruct:
		return appendReflected(b, f.elem, v)
	case opSlice:
		b = binary.AppendUvarint(b, uint64(v.Len()))
	}
	for i := range v.Len() {
		b = f.elem[0].append(b, v.Index(i))
	}
	return b
}

// sizeReflected is how many bytes appendReflected appends.
func sizeReflected(plan []field, v reflect.Value) (n int) {
	for i := range plan {
		n += plan[i].sizeOf(v.Field(i))
	}
	return n
}

func (f *field) sizeOf(v reflect.Value) (size int) {
	switch f.op {
	case opUint:
		return sizeNumber(v.Uint())
	case opInt:
		x := v.Int()
		return sizeNumber(uint64(x)<<1 ^ uint64(x>>63))
	case opBool:
		return 1
	case opFloat:
		return 8
	case opString, opBytes:
		return sizeNumber(uint64(v.Len())) + v.Len()
	case opStruct:
		return sizeReflected(f.elem, v)
	case opSlice:
		size = sizeNumber(uint64(v.Len()))
	}
	for i := range v.Len() {
		size += f.elem[0].sizeOf(v.Index(i))
	}
	return size
}

// copyReflected is copyDirect by package reflect.
func copyReflected(k *kind, m Message) Message {
	own := reflect.New(k.typ).Elem()
	own.Set(reflect.ValueOf(m))
	detach(k.plan, own)
	return own.Interface().(Message)
}

// detach puts copies in place of what the struct v points to.
func detach(plan []field, v reflect.Value) {
	for i := range plan {
		plan[i].detach(v.Field(i))
	}
}

func (f *field) detach(v reflect.Value) {
	if f.plain {
		return
	}
	switch f.op {
	case opStruct:
		detach(f.elem, v)
		return
	case opBytes, opSlice:
		if v.Len() == 0 {
			v.SetZero()
			return
		}
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(own, v)
		v.Set(own)
	}
	for i := 0; f.op != opBytes && i < v.Len(); i++ {
		f.elem[0].detach(v.Index(i))
	}
}

// decodeReflected is decodeDirect by package reflect.
func decodeReflected(b []byte, k *kind) (Message, []byte, error) {
	v := reflect.New(k.typ).Elem()
	rest, err := fill(b, k.plan, v)
	if err != nil {
		return nil, nil, err
	}
	return v.Interface().(Message), rest, nil
}

func fill(b []byte, plan []field, v reflect.Value) (_ []byte, err error) {
	for i := range plan {
		if b, err = plan[i].decode(b, v.Field(i)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// decode reads v, which is of the type that f was made of.
func (f *field) decode(b []byte, v reflect.Value) ([]byte, error) {
	switch f.op {
	case opUint:
		x, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, noNumber(n)
		}
		if v.OverflowUint(x) {
			return nil, errRange
		}
		v.SetUint(x)
		return b[n:], nil
	case opInt:
		x, n := binary.Varint(b)
		if n <= 0 {
			return nil, noNumber(n)
		}
		if v.OverflowInt(x) {
			return nil, errRange
		}
		v.SetInt(x)
		return b[n:], nil
	case opBool:
		if len(b) < 1 {
			return nil, errShort
		}
		if b[0] > 1 {
			return nil, errRange
		}
		v.SetBool(b[0] == 1)
		return b[1:], nil
	case opFloat:
		if len(b) < 8 {
			return nil, errShort
		}
		v.SetFloat(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		return b[8:], nil
	case opStruct:
		return fill(b, f.elem, v)
	}
	return f.decodeList(b, v)
}

// decodeList reads a string, bytes, a slice or an array.
func (f *field) decodeList(b []byte, v reflect.Value) (_ []byte, err error) {
	n := f.length
	if f.op != opArray {
		if n, b, err = f.counted(b); err != nil {
			return nil, err
		}
	}
	switch f.op {
	case opString:
		v.SetString(string(b[:n]))
		return b[n:], nil
	case opBytes:
		if n > 0 {
			v.SetBytes(append([]byte(nil), b[:n]...))
		}
		return b[n:], nil
	case opSlice:
		if n > 0 {
			v.Set(reflect.MakeSlice(f.slice, n, n))
		}
	}
	for i := range n {
		if b, err = f.elem[0].decode(b, v.Index(i)); err != nil {
			return nil, err
		}
	}
	return b, nil
}
