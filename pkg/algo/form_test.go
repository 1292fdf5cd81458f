package algo

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// goTypes are the Go types that are encoded as the bases are.
var goTypes = map[FormBase]reflect.Type{FormUint: reflect.TypeFor[uint64](), FormInt: reflect.TypeFor[int64](),
	FormBool: reflect.TypeFor[bool](), FormFloat: reflect.TypeFor[float64](), FormString: reflect.TypeFor[string]()}

// drawForm draws a form, and the struct that is encoded as it is.
func drawForm(t *rapid.T, depth int) (f Form, s reflect.Type) {
	var fields []reflect.StructField
	for i := range rapid.IntRange(0, 4).Draw(t, "fields") {
		ft, typ := drawType(t, depth)
		name := string(rune('A' + i))
		f = append(f, FormField{name, ft})
		fields = append(fields, reflect.StructField{Name: name, Type: typ})
	}
	return f, reflect.StructOf(fields)
}

func drawType(t *rapid.T, depth int) (FormType, reflect.Type) {
	most := FormStruct
	if depth == 0 {
		most = FormString
	}
	switch base := FormBase(rapid.IntRange(0, int(most)).Draw(t, "base")); base {
	case FormList:
		elem, typ := drawType(t, depth-1)
		if elem.size() == 0 {
			elem, typ = FormType{Base: FormBool}, goTypes[FormBool]
		}
		return FormType{Base: FormList, Elem: &elem}, reflect.SliceOf(typ)
	case FormStruct:
		f, typ := drawForm(t, depth-1)
		return FormType{Base: FormStruct, Fields: f}, typ
	default:
		return FormType{Base: base}, goTypes[base]
	}
}

// drawValue fills v with anything.
func drawValue(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			drawValue(t, v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), rapid.IntRange(0, 3).Draw(t, "length"), 3))
		for i := range v.Len() {
			drawValue(t, v.Index(i))
		}
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, "uint"))
	case reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "int"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Float64:
		v.SetFloat(rapid.Float64().Draw(t, "float"))
	case reflect.String:
		v.SetString(rapid.String().Draw(t, "string"))
	}
}

// A form reads what a codec writes of the struct that is like it, and shows it as fmt shows the struct. Whatever
// else is in a body is refused, or is a message; it never panics.
func TestForm_Codec(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f, typ := drawForm(t, 3)
		if err := f.defect(0); err != nil {
			t.Fatal(err)
		}
		plan, _, err := planStruct(typ, 0)
		if err != nil {
			t.Fatal(err)
		}
		v := reflect.New(typ).Elem()
		if zero := string(appendReflected(nil, plan, v)); f.Zero() != zero {
			t.Fatalf("zero is %q, want %q", f.Zero(), zero)
		}
		drawValue(t, v)
		body := string(appendReflected(nil, plan, v))
		if err := f.Check(body); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%+v", v.Interface())
		if got := (Raw{Name: "M", Body: body, Form: &f}).String(); got != want {
			t.Fatalf("it is shown as\n%s, want\n%s", got, want)
		}
		if f.Check(body+"\x00") == nil {
			t.Fatal("a byte too many is no error")
		}
		for cut := range body {
			if f.Check(body[:cut]) == nil {
				t.Fatalf("%q, cut to %d bytes, is no error", body, cut)
			}
		}
		hostile := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "hostile")
		if at := rapid.IntRange(0, len(body)).Draw(t, "at"); rapid.Bool().Draw(t, "inside") {
			hostile = slices.Concat([]byte(body[:at]), hostile, []byte(body[at:]))
		}
		raw := Raw{Name: "M", Body: string(hostile), Form: &f}
		if text := raw.String(); (f.Check(raw.Body) != nil) != strings.HasPrefix(text, "{"+fmt.Sprintf("%#q", raw.Body)+": ") {
			t.Fatalf("%q is shown as %s, and %v", hostile, text, f.Check(raw.Body))
		}
		c, err := NewCodec(Raw{Name: "M", Form: &f})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = c.Decode(append([]byte{CodecVersion, 0}, hostile...))
		if (err == nil) != (f.Check(raw.Body) == nil) {
			t.Fatalf("the codec says %v, the form %v", err, f.Check(raw.Body))
		}
	})
}

// What no form can have is refused, however deep it is.
func TestForm_Defects(t *testing.T) {
	t.Parallel()
	list := func(t FormType) FormType { return FormType{Base: FormList, Elem: &t} }
	fields := func(f ...FormField) FormType { return FormType{Base: FormStruct, Fields: f} }
	deep := FormType{}
	for range maxDepth + 1 {
		deep = list(deep)
	}
	for name, c := range map[string]struct {
		f    Form
		want string
	}{
		"no name":    {Form{{"", FormType{}}}, "no name"},
		"twice":      {Form{{"a", FormType{}}, {"a", FormType{}}}, "twice the same"},
		"inside":     {Form{{"a", fields(FormField{"", FormType{}})}}, "field a: field \"\": no name"},
		"in a list":  {Form{{"a", list(fields(FormField{"", FormType{}}))}}, "field a: field \"\": no name"},
		"nothing":    {Form{{"a", list(fields())}}, "field a: a list of empty values"},
		"of nothing": {Form{{"a", list(list(fields()))}}, "field a: a list of empty values"},
		"deep":       {Form{{"a", deep}}, "field a: nested too deep"},
	} {
		if err := c.f.defect(0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
