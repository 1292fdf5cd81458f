package algo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Form is the fields of a kind of messages that is declared at run time, as those of programs in other
// languages are. A Raw of that kind has them in its body, encoded as a Codec encodes the fields of a struct.
type Form []FormField

// A FormField is one field of a Form.
type FormField struct {
	Name string
	Type FormType
}

// A FormType is the type of a field.
type FormType struct {
	Base   FormBase
	Elem   *FormType // of a list
	Fields Form      // of a struct
}

// A FormBase is what a field is made of.
type FormBase uint8

// What fields are made of, and the Go types that are encoded alike.
const (
	FormUint   FormBase = iota // uint64, and ID
	FormInt                    // int64, and time.Duration
	FormBool                   // bool
	FormFloat                  // float64
	FormString                 // string
	FormList                   // a slice
	FormStruct                 // a struct
)

// size is how many bytes a value takes at least.
func (t *FormType) size() int {
	switch t.Base {
	case FormFloat:
		return 8
	case FormStruct:
		n := 0
		for i := range t.Fields {
			n += t.Fields[i].Type.size()
		}
		return n
	}
	return 1
}

// Zero is the body in which all fields have their zero values.
func (f Form) Zero() string {
	size := 0
	for i := range f {
		size += f[i].Type.size()
	}
	return string(make([]byte, size))
}

// A FormReader gets the values in a body, in their order.
type FormReader interface {
	Uint(uint64)
	Int(int64)
	Bool(bool)
	Float(float64)
	String(string)
	// Open begins a list or a struct, Field a field of a struct and Close ends it. Item comes before each
	// element of a list but the first.
	Open(FormBase)
	Field(name string, first bool)
	Item()
	Close(FormBase)
}

// Read hands r the values of a body, which must hold all fields and nothing else. Hostile bytes give an
// error.
func (f Form) Read(body string, r FormReader) error {
	rest, err := f.read(body, r)
	if err == nil && rest != "" {
		err = errTrailing
	}
	return err
}

func (f Form) read(b string, r FormReader) (rest string, err error) {
	r.Open(FormStruct)
	for i := range f {
		r.Field(f[i].Name, i == 0)
		if b, err = f[i].Type.read(b, r); err != nil {
			return b, fmt.Errorf("field %s: %w", f[i].Name, err)
		}
	}
	r.Close(FormStruct)
	return b, nil
}

func (t *FormType) read(b string, r FormReader) (rest string, err error) {
	switch t.Base {
	case FormStruct:
		return t.Fields.read(b, r)
	case FormBool:
		if b == "" || b[0] > 1 {
			return b, errShort
		}
		r.Bool(b[0] == 1)
		return b[1:], nil
	case FormFloat:
		if len(b) < 8 {
			return b, errShort
		}
		r.Float(math.Float64frombits(binary.LittleEndian.Uint64([]byte(b[:8]))))
		return b[8:], nil
	}
	x, width := uvarint(b)
	if width <= 0 {
		return b, noNumber(width)
	}
	b = b[width:]
	switch t.Base {
	case FormUint:
		r.Uint(x)
	case FormInt:
		r.Int(int64(x>>1) ^ -int64(x&1))
	case FormString:
		if x > uint64(len(b)) {
			return b, errShort
		}
		r.String(b[:x])
		return b[x:], nil
	case FormList:
		if least := t.Elem.size(); least == 0 || x > uint64(len(b)/least) {
			return b, errShort
		}
		r.Open(FormList)
		for i := range x {
			if i > 0 {
				r.Item()
			}
			if b, err = t.Elem.read(b, r); err != nil {
				return b, err
			}
		}
		r.Close(FormList)
	}
	return b, nil
}

// uvarint is binary.Uvarint of a string.
func uvarint(b string) (x uint64, width int) {
	for i := 0; i < len(b) && i < binary.MaxVarintLen64; i++ {
		c := b[i]
		if i == binary.MaxVarintLen64-1 && c > 1 {
			return 0, -i
		}
		x |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return x, i + 1
		}
	}
	return 0, min(0, binary.MaxVarintLen64-1-len(b))
}

// Check says what is wrong with a body; nil: it holds all fields and nothing else.
func (f Form) Check(body string) error { return f.Read(body, nowhere{}) }

// defect says what no form can have. Depth is how many types hold it.
func (f Form) defect(depth int) error {
	seen := map[string]bool{}
	for i := range f {
		name := f[i].Name
		if name == "" || seen[name] {
			return fmt.Errorf("field %q: no name, or twice the same", name)
		}
		if err := f[i].Type.defect(depth + 1); err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
		seen[name] = true
	}
	return nil
}

func (t *FormType) defect(depth int) error {
	switch {
	case depth > maxDepth:
		return errDeep
	case t.Base != FormList:
		return t.Fields.defect(depth)
	case t.Elem.size() == 0:
		return errors.New("a list of empty values")
	}
	return t.Elem.defect(depth + 1)
}

// A printer writes a body as fmt writes a struct with its names, which is how transcripts show messages.
type printer struct{ strings.Builder }

func (p *printer) Uint(x uint64)   { p.WriteString(strconv.FormatUint(x, 10)) }
func (p *printer) Int(x int64)     { p.WriteString(strconv.FormatInt(x, 10)) }
func (p *printer) Bool(x bool)     { p.WriteString(strconv.FormatBool(x)) }
func (p *printer) Float(x float64) { p.WriteString(strconv.FormatFloat(x, 'g', -1, 64)) }
func (p *printer) String(s string) { p.WriteString(s) }

func (p *printer) Open(b FormBase) { p.WriteByte(map[FormBase]byte{FormList: '[', FormStruct: '{'}[b]) }
func (p *printer) Item()           { p.WriteByte(' ') }
func (p *printer) Close(b FormBase) {
	p.WriteByte(map[FormBase]byte{FormList: ']', FormStruct: '}'}[b])
}

func (p *printer) Field(name string, first bool) {
	if !first {
		p.WriteByte(' ')
	}
	p.WriteString(name + ":")
}

// nowhere is a reader that only wants to know whether a body is one.
type nowhere struct{}

func (nowhere) Uint(uint64)        {}
func (nowhere) Int(int64)          {}
func (nowhere) Bool(bool)          {}
func (nowhere) Float(float64)      {}
func (nowhere) String(string)      {}
func (nowhere) Open(FormBase)      {}
func (nowhere) Field(string, bool) {}
func (nowhere) Item()              {}
func (nowhere) Close(FormBase)     {}
