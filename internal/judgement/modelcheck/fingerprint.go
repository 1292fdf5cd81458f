package modelcheck

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A print spells out what a value holds, all the way down, unexported fields
// included: two values are equal exactly if their spellings are. Pointers are
// followed; one that was met before is spelled as the number of that meeting,
// so that circles end, and so that a value that is shared is not taken for two
// that are alike. Maps are spelled in the order of their keys' spellings. A nil
// slice or map is not an empty one: a process can tell them apart.
//
// Of an algo.Config the parts that never change are left out.
type print struct {
	b    []byte
	seen map[meeting]uint64
	err  error
}

type meeting struct {
	at  uintptr
	typ reflect.Type
}

var constant = reflect.TypeFor[algo.Config]()

// add spells v behind what is there. What has no value to compare, like a
// function, sets err.
func (p *print) add(v any) {
	clear(p.seen)
	guest, is := v.(algo.Guest)
	if !is {
		p.value(reflect.ValueOf(v))
		return
	}
	state := guest.State()
	if state == nil && p.err == nil {
		p.err = errors.New("its processes do not show their state: the spec of the program lacks states")
	}
	for _, variable := range state {
		p.text(variable[0])
		p.text(variable[1])
	}
}

// A fingerprint stands for a spelling. That two different ones have the same is
// as good as impossible.
type fingerprint [16]byte

func (p *print) sum() fingerprint {
	sum := sha256.Sum256(p.b)
	return fingerprint(sum[:16])
}

func (p *print) number(x uint64) { p.b = binary.AppendUvarint(p.b, x) }

func (p *print) text(s string) {
	p.number(uint64(len(s)))
	p.b = append(p.b, s...)
}

// present spells whether there is something, and returns it.
func (p *print) present(is bool) bool {
	if is {
		p.b = append(p.b, 1)
	} else {
		p.b = append(p.b, 0)
	}
	return is
}

func (p *print) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid: // a nil interface
		p.present(false)
	case reflect.Bool:
		p.present(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.b = binary.AppendVarint(p.b, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		p.number(v.Uint())
	case reflect.Float32, reflect.Float64:
		p.number(math.Float64bits(v.Float()))
	case reflect.Complex64, reflect.Complex128:
		p.number(math.Float64bits(real(v.Complex())))
		p.number(math.Float64bits(imag(v.Complex())))
	case reflect.String:
		p.text(v.String())
	case reflect.Struct:
		p.fields(v)
	case reflect.Slice:
		if p.present(!v.IsNil()) {
			p.number(uint64(v.Len()))
			p.elements(v)
		}
	case reflect.Array:
		p.elements(v)
	case reflect.Interface:
		if p.present(!v.IsNil()) {
			p.text(v.Elem().Type().String())
			p.value(v.Elem())
		}
	case reflect.Pointer:
		p.pointer(v)
	case reflect.Map:
		p.pairs(v)
	default: // func, chan, unsafe.Pointer
		if p.present(!v.IsNil()) && p.err == nil {
			p.err = fmt.Errorf("a %s cannot be compared: state is plain data", v.Type())
		}
	}
}

func (p *print) fields(v reflect.Value) {
	t := v.Type()
	for i := range t.NumField() {
		if t == constant {
			switch t.Field(i).Name {
			case "Peers", "Neighbors", "Ring", "Params":
				continue
			}
		}
		p.value(v.Field(i))
	}
}

func (p *print) elements(v reflect.Value) {
	for i := range v.Len() {
		p.value(v.Index(i))
	}
}

func (p *print) pointer(v reflect.Value) {
	if !p.present(!v.IsNil()) {
		return
	}
	at := meeting{v.Pointer(), v.Type()}
	if n, met := p.seen[at]; met {
		p.number(n)
		return
	}
	if p.seen == nil {
		p.seen = map[meeting]uint64{}
	}
	p.seen[at] = uint64(len(p.seen) + 1)
	p.number(0) // not met before
	p.value(v.Elem())
}

// pairs spells each pair apart and sorts them. What two pairs share is spelled
// twice: the number of its meeting would depend on the map's order.
func (p *print) pairs(v reflect.Value) {
	if !p.present(!v.IsNil()) {
		return
	}
	var all [][]byte
	for it := v.MapRange(); it.Next(); {
		one := print{err: p.err, seen: maps.Clone(p.seen)}
		one.value(it.Key())
		one.value(it.Value())
		all, p.err = append(all, one.b), one.err
	}
	slices.SortFunc(all, bytes.Compare)
	p.number(uint64(len(all)))
	for _, one := range all {
		p.text(string(one))
	}
}
