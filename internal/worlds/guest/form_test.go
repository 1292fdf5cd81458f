package guest

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A drawn is a type as a program declares it, and a value as it writes it and as the host writes it.
type drawn struct{ declared, written, want string }

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func drawString(t *rapid.T) string {
	return strings.ReplaceAll(rapid.String().Draw(t, "string"), "\x00", "0")
}

// drawType draws a type and a value of it.
func drawType(t *rapid.T, depth int) drawn {
	most := 8
	if depth == 0 {
		most = 6
	}
	switch i := rapid.IntRange(0, most).Draw(t, "type"); i {
	case 0, 1:
		n := text(rapid.Uint64Range(0, most53).Draw(t, "uint"))
		return drawn{[]string{`"uint"`, `"id"`}[i], n, n}
	case 2, 3:
		n := text(rapid.Int64Range(-most53, most53).Draw(t, "int"))
		return drawn{[]string{`"int"`, `"duration"`}[i-2], n, n}
	case 4:
		b := text(rapid.Bool().Draw(t, "bool"))
		return drawn{`"bool"`, b, b}
	case 5:
		x := rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64).Draw(t, "float")
		return drawn{`"float"`, strconv.FormatFloat(x, 'e', -1, 64), strconv.FormatFloat(x, 'g', -1, 64)}
	case 6:
		s := drawString(t)
		quoted := &request{}
		quoted.text("", s)
		return drawn{`"string"`, text(s), strings.TrimPrefix(string(quoted.b), `,"":`)}
	case 7:
		elem := drawType(t, depth-1)
		if elem.declared == `{"fields":[]}` {
			elem = drawn{`"bool"`, "true", "true"}
		}
		// All elements of a list have its type, and here its value.
		n := rapid.IntRange(0, 3).Draw(t, "length")
		return drawn{"[" + elem.declared + "]", "[" + join(elem.written, n) + "]", "[" + join(elem.want, n) + "]"}
	default:
		f := drawForm(t, depth-1)
		return drawn{`{"fields":` + f.declared + "}", f.written, f.want}
	}
}

const most53 = 1 << 53

func join(s string, n int) string {
	return strings.TrimSuffix(strings.Repeat(s+",", n), ",")
}

// drawForm draws a list of fields. They are written in any order.
func drawForm(t *rapid.T, depth int) drawn {
	var declared, written, want []string
	for i := range rapid.IntRange(0, 4).Draw(t, "fields") {
		d := drawType(t, depth)
		name := text(fmt.Sprint("f\"", i))
		declared = append(declared, "["+name+","+d.declared+"]")
		written = append(written, " "+name+" : "+d.written)
		want = append(want, name+":"+d.want)
	}
	if len(written) > 1 {
		written = rapid.Permutation(written).Draw(t, "order")
	}
	return drawn{"[" + strings.Join(declared, ",") + "]", "{" + strings.Join(written, ",") + "}",
		"{" + strings.Join(want, ",") + "}"}
}

// The fields of a message are the same after the way from a program to a program, in whatever order they
// were.
func TestMessage_RoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := drawForm(t, 3)
		var f form
		if err := f.UnmarshalJSON([]byte(d.declared)); err != nil {
			t.Fatal(err)
		}
		m := readMessage(t, (*algo.Form)(&f), d.written)
		if err := m.Form.Check(m.Body); err != nil {
			t.Fatal(err)
		}
		var q request
		q.message(&m)
		if string(q.b) != d.want {
			t.Fatalf("%s comes back as\n%s, want\n%s", d.written, q.b, d.want)
		}
		if again := readMessage(t, m.Form, string(q.b)); again.Body != m.Body {
			t.Fatalf("%s is %q, and after the way %q", d.written, m.Body, again.Body)
		}
	})
}

// readMessage is the message that a program sends with those fields.
func readMessage(t interface{ Fatal(...any) }, f *algo.Form, fields string) algo.Raw {
	r := newReader(&Program{kinds: map[string]known{"M": {Raw: algo.Raw{Name: "M", Form: f}}}})
	var a answer
	if err := r.read([]byte(`{"n":1,"effects":[{"kind":"M","msg":`+fields+`,"send":2}]}`), &a); err != nil {
		t.Fatal(fields, err)
	}
	return a.effects[0].Msg.(algo.Raw)
}

// A rich message has a field of each type.
type rich struct {
	Uint     uint64
	ID       algo.ID
	Int      int64
	Duration time.Duration
	Bool     bool
	Float    float64
	String   string
	List     []algo.ID
	Struct   struct {
		Name  string
		Pairs []struct{ Key, Value int64 }
	}
}

func (rich) Kind() string { return "M" }

const richFields = `[["Uint","uint"],["ID","id"],["Int","int"],["Duration","duration"],["Bool","bool"],` +
	`["Float","float"],["String","string"],["List",["id"]],["Struct",{"fields":[["Name","string"],` +
	`["Pairs",[{"fields":[["Key","int"],["Value","int"]]}]]]}]]`

// A message of a program has the bytes of a message of a plugin in Go with the same fields.
func TestMessage_Codec(t *testing.T) {
	t.Parallel()
	var f form
	if err := f.UnmarshalJSON([]byte(richFields)); err != nil {
		t.Fatal(err)
	}
	c, err := algo.NewCodec(rich{})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		var m rich
		m.Uint = rapid.Uint64Range(0, most53).Draw(t, "Uint")
		m.ID = algo.ID(rapid.Uint32().Draw(t, "ID"))
		m.Int = rapid.Int64Range(-most53, most53).Draw(t, "Int")
		m.Duration = time.Duration(rapid.Int64Range(-most53, most53).Draw(t, "Duration"))
		m.Bool = rapid.Bool().Draw(t, "Bool")
		m.Float = rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64).Draw(t, "Float")
		m.String = drawString(t)
		m.List = []algo.ID{} // and no null
		for range rapid.IntRange(0, 3).Draw(t, "List") {
			m.List = append(m.List, algo.ID(rapid.Uint32().Draw(t, "element")))
		}
		m.Struct.Name = drawString(t)
		m.Struct.Pairs = []struct{ Key, Value int64 }{}
		for range rapid.IntRange(0, 3).Draw(t, "Pairs") {
			m.Struct.Pairs = append(m.Struct.Pairs, struct{ Key, Value int64 }{
				rapid.Int64Range(-most53, most53).Draw(t, "Key"), rapid.Int64Range(-most53, most53).Draw(t, "Value")})
		}
		got := readMessage(t, (*algo.Form)(&f), text(m))
		if want := string(c.Append(nil, 0, m)[2:]); got.Body != want {
			t.Fatalf("%+v: %q, want %q", m, got.Body, want)
		}
	})
}

// Answers of any bytes, and of any order of bytes that answers have, never panic.
func TestAnswer_Hostile(t *testing.T) {
	t.Parallel()
	var f form
	if err := f.UnmarshalJSON([]byte(richFields)); err != nil {
		t.Fatal(err)
	}
	raw := algo.Raw{Name: "M", Form: (*algo.Form)(&f)}
	r := newReader(&Program{kinds: map[string]known{"M": {Raw: raw}}, names: []string{"M"}})
	pieces := []string{"{", "}", "[", "]", ",", ":", `"n"`, `"effects"`, `"send"`, `"kind"`, `"M"`, `"msg"`, `"Uint"`,
		`"List"`, `"Struct"`, `"Pairs"`, `"set"`, `"after"`, `"save"`, "1", "-1", "0.5", "true", "null", `"state"`, "\x00",
		"\xff", "\\", `"`, " "}
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), "")
		var a answer
		if err := r.read([]byte(line), &a); err == nil && !strings.HasPrefix(strings.TrimSpace(line), "{") {
			t.Fatalf("%q is an answer", line)
		}
		bytes := rapid.SliceOfN(rapid.ByteRange(0, 16), 0, 40).Draw(t, "bytes")
		if err := a.unpack(bytes, []algo.Raw{raw}); err == nil {
			for _, e := range a.effects {
				if m, is := e.Msg.(algo.Raw); is && m.Form.Check(m.Body) != nil {
					t.Fatalf("%v has the message %q", bytes, m.Body)
				}
			}
		}
	})
}
