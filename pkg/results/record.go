package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A plain Trial is what its tags say of it in the journal: the columns in front of the figures.
type plain Trial

// lists are what a trial has several of, behind the figures. The names of their columns stand
// once, since a trial may have tens of thousands of operations.
type lists struct {
	Metrics    []figure             `json:"metrics,omitempty"`
	Kinds      []trace.MessageCount `json:"kinds,omitempty"`
	Operations ops                  `json:"operation_columns,omitempty"`
	Outages    outs                 `json:"outage_columns,omitempty"`
}

// A figure is a metric.Value. JSON has no NaN: a figure that is not finite is null.
type figure struct {
	Name  string `json:"name"`
	Value number `json:"value"`
}

// recordOf is a trial as the journal holds it: plain, a field for each fixed metric, among them
// Trial.Unseen behind the counts of messages, and lists.
var recordOf = sync.OnceValue(func() (r struct {
	is      reflect.Type
	figures []int // which field is that of each fixed metric
	unseen  int
}) {
	fields := []reflect.StructField{{Name: "Plain", Type: reflect.TypeFor[plain](), Anonymous: true}}
	add := func(t reflect.Type, key string) int {
		n := len(fields)
		fields = append(fields, reflect.StructField{Name: "Field" + strconv.Itoa(n), Type: t,
			Tag: reflect.StructTag(`json:"` + key + `"`)})
		return n
	}
	for _, m := range fixed {
		t := reflect.TypeFor[number]()
		switch {
		case m.Whole():
			t = reflect.TypeFor[int64]()
		case m.Traffic && r.unseen == 0:
			r.unseen = add(reflect.TypeFor[bool](), "unseen,omitempty")
		}
		r.figures = append(r.figures, add(t, m.Name))
	}
	r.is = reflect.StructOf(append(fields, reflect.StructField{Name: "Lists", Type: reflect.TypeFor[lists](),
		Anonymous: true}))
	return r
})

// EncodeTrial is an attempt as JSON, as it stands in a journal, with its texts cleaned.
func EncodeTrial(t *Trial) ([]byte, error) {
	one := t.cleaned()
	all := lists{Kinds: one.Kinds, Operations: t.Ops, Outages: t.Outages}
	for _, v := range t.Metrics() {
		all.Metrics = append(all.Metrics, figure{v.Name, number(v.Value)})
	}
	of := recordOf()
	r := reflect.New(of.is).Elem()
	*r.Field(0).Addr().Interface().(*plain) = plain(one)
	*r.Field(r.NumField() - 1).Addr().Interface().(*lists) = all
	r.Field(of.unseen).SetBool(t.Unseen)
	for i, m := range fixed {
		v, _ := t.figure(m.Name)
		if to := r.Field(of.figures[i]); m.Whole() {
			to.SetInt(int64(v))
		} else {
			to.SetFloat(v)
		}
	}
	return json.Marshal(r.Addr().Interface())
}

// cleaned is t with its texts cleaned.
func (t *Trial) cleaned() Trial {
	one := *t
	one.Host, one.Reason, one.Design = clean(t.Host), clean(t.Reason), slices.Clone(t.Design)
	for i := range one.Design {
		one.Design[i].Value = clean(one.Design[i].Value)
	}
	one.Kinds = slices.Clone(t.Kinds)
	for i := range one.Kinds {
		one.Kinds[i].Name = clean(one.Kinds[i].Name)
	}
	return one
}

// DecodeTrial is the attempt that EncodeTrial has encoded, for a run with these columns of
// the design.
func DecodeTrial(data []byte, design []string) (*Trial, error) {
	of := recordOf()
	r := reflect.New(of.is).Elem()
	if err := json.Unmarshal(data, r.Addr().Interface()); err != nil {
		return nil, err
	}
	t := (*Trial)(r.Field(0).Addr().Interface().(*plain))
	if err := t.Design.name(design); err != nil {
		return nil, fmt.Errorf("trial %d: %w", t.Trial, err)
	}
	all := r.Field(r.NumField() - 1).Addr().Interface().(*lists)
	t.Round, t.Unseen = max(t.Round, 1), r.Field(of.unseen).Bool()
	t.Kinds, t.Ops, t.Outages = all.Kinds, all.Operations, all.Outages
	t.own = make([]metric.Value, 0, len(fixed)+len(all.Metrics))
	for i, m := range fixed {
		if v := r.Field(of.figures[i]); m.Whole() {
			t.own = append(t.own, m.Of(float64(v.Int())))
		} else {
			t.own = append(t.own, m.Of(v.Float()))
		}
	}
	for _, m := range all.Metrics {
		t.own = append(t.own, metric.Value{Name: m.Name, Value: float64(m.Value)})
	}
	return t, nil
}

// name gives the values the names of their columns.
func (d Design) name(columns []string) error {
	if len(d) != len(columns) {
		return fmt.Errorf("%d design values, expected %d", len(d), len(columns))
	}
	for i, name := range columns {
		d[i].Name = name
	}
	return nil
}

// MarshalJSON implements json.Marshaler: the values alone, for the names stand in the header.
func (d Design) MarshalJSON() ([]byte, error) {
	values := make([]string, len(d))
	for i, f := range d {
		values[i] = f.Value
	}
	return json.Marshal(values)
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *Design) UnmarshalJSON(b []byte) error {
	var values []string
	err := json.Unmarshal(b, &values)
	*d = make(Design, len(values))
	for i, v := range values {
		(*d)[i].Value = v
	}
	return err
}

// ops are operations as the journal holds them, by column.
type ops []trace.Operation

// MarshalJSON implements json.Marshaler.
func (o ops) MarshalJSON() ([]byte, error) {
	var row operation
	return appendColumns([]byte("{"), operations, len(o), func(i int) *operation {
		row.Operation = o[i]
		return &row
	})
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *ops) UnmarshalJSON(b []byte) error {
	rows, err := readColumns(b, operations, "operations")
	*o = make(ops, len(rows))
	for i := range rows {
		(*o)[i] = rows[i].Operation
	}
	return err
}

// outs are outages, likewise, with the definition that the Spec names, if it has some.
type outs []trace.Outage

// MarshalJSON implements json.Marshaler.
func (o outs) MarshalJSON() ([]byte, error) {
	b, rows := []byte("{"), make([]outage, len(o))
	for i := range o {
		rows[i].Outage = o[i]
	}
	if spec := specOf(o); spec != "" {
		b = append(strconv.AppendQuote(append(b, `"spec":`...), spec), ',')
	}
	return appendColumns(b, outages, len(o), func(i int) *outage { return &rows[i] })
}

// specOf is the definition that the Spec names; "": no outage is by that.
func specOf(of []trace.Outage) (spec string) {
	for i := range of {
		if of[i].Spec {
			spec = of[i].Definition
		}
	}
	return spec
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *outs) UnmarshalJSON(b []byte) error {
	var spec struct{ Spec string }
	if err := json.Unmarshal(b, &spec); err != nil {
		return err
	}
	rows, err := readColumns(b, outages, "outages")
	*o = make(outs, len(rows))
	for i := range rows {
		rows[i].Spec = rows[i].Definition == spec.Spec
		(*o)[i] = rows[i].Outage
	}
	return err
}

// appendColumns appends to b, which begins an object, the columns of rows of a table that do not
// follow from others, and ends it.
func appendColumns[T any](b []byte, fields []field[T], rows int, row func(int) *T) ([]byte, error) {
	for _, f := range fields {
		if f.derived {
			continue
		}
		start, set := len(b), !f.seldom
		b = append(strconv.AppendQuote(b, f.name), ':', '[')
		for i := range rows {
			if i > 0 {
				b = append(b, ',')
			}
			switch v := f.at(row(i)).(type) {
			case *string:
				text, err := json.Marshal(*v)
				if err != nil {
					return nil, err
				}
				b, set = append(b, text...), set || *v != ""
			case *time.Duration:
				b = appendNumber(b, inMS(*v))
			case *positive:
				b, set = appendNumber(b, float64(*v)), set || *v > 0
			case *bool:
				b = strconv.AppendInt(b, int64(bit(*v)), 10)
			case *uint64:
				b = strconv.AppendUint(b, *v, 10)
			default:
				b = strconv.AppendInt(b, wholeOf(v), 10)
			}
		}
		if b = append(b, ']', ','); !set {
			b = b[:start]
		}
	}
	b[len(b)-1] = '}'
	return b, nil
}

// readColumns is the inverse of appendColumns. What names the rows.
func readColumns[T any](b []byte, fields []field[T], what string) (rows []T, err error) {
	var columns map[string]json.RawMessage
	if err := json.Unmarshal(b, &columns); err != nil {
		return nil, err
	}
	for _, f := range fields {
		column, there := columns[f.name]
		if f.derived || !there && f.seldom {
			continue
		}
		var texts []string
		var numbers []float64
		if _, is := f.at(new(T)).(*string); is && there {
			err = json.Unmarshal(column, &texts)
		} else if there {
			numbers, err = parseNumbers(column)
		}
		if err != nil {
			return nil, fmt.Errorf("column %s of %s: %w", f.name, what, err)
		}
		n := len(texts) + len(numbers)
		if rows == nil {
			rows = make([]T, n)
		}
		if n != len(rows) {
			return nil, fmt.Errorf("columns of %s differ in length", what)
		}
		for i := range rows {
			switch v := f.at(&rows[i]).(type) {
			case *string:
				*v = texts[i]
			case *time.Duration:
				*v = instant(numbers[i])
			case *positive:
				*v = positive(numbers[i])
			default:
				n := numbers[i]
				if !(n >= 0 && n <= mostOf(v) && n == math.Trunc(n)) {
					return nil, fmt.Errorf("column %s of %s: %v, expected a whole number", f.name, what, n)
				}
				setWhole(v, int64(n))
			}
		}
	}
	return rows, nil
}

// mostOf is the largest number that what value points to holds in a column.
func mostOf(value any) float64 {
	switch value.(type) {
	case *bool:
		return 1
	case *int64, *uint64:
		return mostCount
	}
	return math.MaxUint32
}

func bit(v bool) int {
	if v {
		return 1
	}
	return 0
}

// A number is a float64 whose NaN is null.
type number float64

// MarshalJSON implements json.Marshaler.
func (v number) MarshalJSON() ([]byte, error) { return appendNumber(nil, float64(v)), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (v *number) UnmarshalJSON(b []byte) error {
	f, err := parseNumber(b)
	*v = number(f)
	return err
}

// parseNumbers reads an array of numbers.
func parseNumbers(b []byte) (out []float64, err error) {
	b, open := bytes.CutPrefix(b, []byte("["))
	b, closed := bytes.CutSuffix(b, []byte("]"))
	if !open || !closed {
		return nil, fmt.Errorf("%.80q, expected an array", b)
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return nil, nil
	}
	out = make([]float64, 0, bytes.Count(b, []byte(","))+1)
	for part := range bytes.SplitSeq(b, []byte(",")) {
		v, err := parseNumber(bytes.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func appendNumber(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

func parseNumber(b []byte) (float64, error) {
	switch string(b) {
	case "null":
		return math.NaN(), nil
	case "false": // of a block alone
		return unnamed, nil
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return 0, fmt.Errorf("number: %q, expected a decimal or null", b)
	}
	return v, nil
}

var (
	_ json.Marshaler   = number(0)
	_ json.Unmarshaler = (*number)(nil)
)
