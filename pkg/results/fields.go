package results

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/files"
)

// A Type is what the fields of a column hold, unless they are empty.
type Type string

// The types.
const (
	Text  Type = "text"
	Whole Type = "integer" // of 64 bits
	Real  Type = "real"    // of 64 bits
	Truth Type = "boolean"
)

// A Column is one of a table on disk.
type Column struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
	// Doc is what it means: a phrase. See is the page that explains it, from docs/; "" for none.
	Doc string `json:"-"`
	See string `json:"-"`
}

// A field declares a column of the tables whose rows are made of a T: its name, and where a T has
// the value. Everything that writes or reads the column asks the declaration.
type field[T any] struct {
	name string
	// at points to the value, whose type says what the column holds: *string, *bool, *int64 and
	// *int of at least 0, *uint32, *uint64, *ordinal, *time.Duration of an instant, *float64 of a
	// figure, *positive.
	at func(*T) any
	// doc and see are as those of a Column.
	doc, see string
	// derived marks what follows from other columns: the journal does not have it, and readers
	// of a table check it and leave it.
	derived bool
	// seldom marks what the journal leaves out where no value is set.
	seldom bool
}

// An ordinal counts from 1.
type ordinal int

// A positive number is empty in a table where it is 0.
type positive float64

func names[T any](fields []field[T]) (out []string) {
	for i := range fields {
		out = append(out, fields[i].name)
	}
	return out
}

// columnsOf are the columns of those fields with their types.
func columnsOf[T any](fields []field[T]) (out []Column) {
	for _, f := range fields {
		c := Column{Name: f.name, Type: Whole, Doc: f.doc, See: f.see}
		switch f.at(new(T)).(type) {
		case *string:
			c.Type = Text
		case *bool:
			c.Type = Truth
		case *time.Duration, *float64, *positive:
			c.Type = Real
		}
		out = append(out, c)
	}
	return out
}

// appendRow appends the fields of one to a row.
func appendRow[T any](row []string, fields []field[T], one *T) []string {
	for i := range fields {
		row = append(row, textOf(fields[i].at(one)))
	}
	return row
}

// textOf is a value as tables have it.
func textOf(value any) string {
	switch v := value.(type) {
	case *string:
		return *v
	case *bool:
		return strconv.FormatBool(*v)
	case *time.Duration:
		return Number(inMS(*v))
	case *positive:
		if *v == 0 {
			return ""
		}
		return Number(float64(*v))
	case *float64:
		return Number(*v)
	case *uint64:
		return strconv.FormatUint(*v, 10)
	}
	return strconv.FormatInt(wholeOf(value), 10)
}

// wholeOf is a whole number of less than 64 bits.
func wholeOf(value any) int64 {
	switch v := value.(type) {
	case *int:
		return int64(*v)
	case *ordinal:
		return int64(*v)
	case *uint32:
		return int64(*v)
	case *int64:
		return *v
	}
	panic(fmt.Sprintf("results: a column of %T", value))
}

// setWhole sets one.
func setWhole(value any, n int64) {
	switch v := value.(type) {
	case *int:
		*v = int(n)
	case *ordinal:
		*v = ordinal(n)
	case *uint32:
		*v = uint32(n)
	case *int64:
		*v = n
	case *uint64:
		*v = uint64(n)
	case *bool:
		*v = n != 0
	}
}

// readRow reads the fields of one from a row.
func readRow[T any](p *reader, fields []field[T], one *T) {
	for i := range fields {
		p.value(fields[i].at(one))
	}
}

// Number formats v for a table: the shortest decimal fraction that reads back
// as v, without an exponent; empty if v is not finite.
func Number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	if v == 0 {
		v = 0 // a negative zero would print its sign
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Finite is v for JSON, which has no NaN: nil, and so null, if v is not finite.
func Finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// inMS is an instant of an operation as the files have it; NaN is one that has not come.
func inMS(at time.Duration) float64 {
	if at < 0 {
		return math.NaN()
	}
	return float64(at) / float64(time.Millisecond)
}

// instant is what inMS wrote.
func instant(ms float64) time.Duration {
	if math.IsNaN(ms) {
		return -1
	}
	return time.Duration(math.Round(ms * float64(time.Millisecond)))
}

// byteOrderMark is what spreadsheets put in front of a table that they save.
const byteOrderMark = "\ufeff"

// mostRow bounds a row of a table.
const mostRow = files.MiB

// eachRow hands the rows of the table at path to visit after its header to
// begin. An error names file, line and, where there is one, the column.
func eachRow(path string, begin func([]string) error, visit func([]string) error) error {
	file, err := files.Open(path)
	if err != nil {
		return fault("table", err)
	}
	defer file.Close() // opened for reading: nothing can be lost
	r := csv.NewReader(files.Lines(file, mostRow))
	r.ReuseRecord = true
	for first := true; ; first = false {
		row, err := r.Read()
		switch {
		case err == io.EOF && first:
			return fmt.Errorf("%s: empty, expected a header and rows", path)
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", path, err)
		case first:
			header := slices.Clone(row)
			header[0] = strings.TrimPrefix(header[0], byteOrderMark)
			err = begin(header)
		default:
			err = visit(row)
		}
		if err != nil {
			line, _ := r.FieldPos(0)
			return fmt.Errorf("%s: line %d: %w", path, line, err)
		}
	}
}

// eachOf reads the table at path, which has exactly these columns: it hands a T with the values of
// each row to visit.
func eachOf[T any](path string, fields []field[T], visit func(*T) error) error {
	want := names(fields)
	var one T
	return eachRow(path, func(header []string) error {
		if !slices.Equal(header, want) {
			return fmt.Errorf("columns %q, expected %q", header, want)
		}
		return nil
	}, func(row []string) error {
		p := reader{names: want, row: row}
		if readRow(&p, fields, &one); p.err != nil {
			return p.err
		}
		return visit(&one)
	})
}

// unlessMissing is err but where a file does not exist: people may not have passed it on.
func unlessMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// A reader reads the values of a row in turn and keeps the first error.
type reader struct {
	names, row []string
	next       int
	err        error
	want       string // instead of what the first error is of
}

func (p *reader) text() string {
	p.next++
	return p.row[p.next-1]
}

func (p *reader) wrong(want string) {
	if p.err == nil {
		p.want = want
		p.err = fmt.Errorf("column %s: %q, expected %s", p.names[p.next-1], p.row[p.next-1], want)
	}
}

// How much tables have at most: what is beyond is a mistake, and would overflow somewhere.
const (
	mostOrdinal = math.MaxInt32
	mostCount   = 1<<53 - 1 // every reader of numbers keeps these
	mostInstant = 1e12      // in milliseconds 30 years, in nanoseconds no overflow
)

// value reads the next field into what at points to.
func (p *reader) value(at any) {
	switch v := at.(type) {
	case *string:
		*v = p.text()
	case *bool:
		text := p.text()
		if *v = text == "true"; text != "true" && text != "false" {
			p.wrong("true or false")
		}
	case *int:
		*v = int(p.whole(0, mostOrdinal))
	case *ordinal:
		*v = ordinal(p.whole(1, mostOrdinal))
	case *uint32:
		*v = uint32(p.whole(0, math.MaxUint32))
	case *int64:
		*v = p.whole(0, mostCount)
	case *uint64:
		*v = uint64(p.whole(0, mostCount))
	case *time.Duration:
		*v = instant(p.between(0, mostInstant))
	case *float64:
		*v = p.between(-mostCount, mostCount)
	case *positive:
		if *v = positive(p.between(0, mostInstant)); !(*v > 0) {
			*v = 0 // it is empty
		}
	}
}

// whole is a whole number from least to most.
func (p *reader) whole(least, most int64) int64 {
	p.next++
	v, err := strconv.ParseInt(p.row[p.next-1], 10, 64)
	if err != nil || v < least || v > most {
		p.wrong(fmt.Sprintf("a whole number from %d to %d", least, most))
	}
	return v
}

// between is a number from least to most, give or take what rounding does; NaN for an empty field.
func (p *reader) between(least, most float64) float64 {
	p.next++
	text := p.row[p.next-1]
	if text == "" {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(text, 64)
	const (
		rounding = 1e-9
		finest   = 1e-150 // what comes closer to 0 has no logarithm, or no difference, that can be drawn
	)
	if v != 0 && math.Abs(v) < finest {
		p.wrong("0, or a number further from it than 1e-150")
	}
	if err != nil || !(v >= least-rounding && v <= most+rounding) {
		p.wrong(fmt.Sprintf("a number from %g to %g, or nothing", least, most))
		return math.NaN()
	}
	return v
}
