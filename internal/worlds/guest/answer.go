package guest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// An answer is what a program says to one request.
type answer struct {
	n        uint64
	numbered bool
	effects  []algo.Effect
	state    [][2]string
	value    json.RawMessage // of default and doubt
	broken   string          // the invariant that does not hold
	failed   string          // what has failed
}

// unfit says why it is no answer to the request of that number, whose answer may have a key beside n and
// failed.
func (a *answer) unfit(n uint64, key string) error {
	switch {
	case !a.numbered:
		return errors.New("the answer lacks n")
	case a.n != n:
		return fmt.Errorf("it answers event %d", a.n)
	case a.failed != "":
		return nil
	case key == "value" && a.value == nil, key == "state" && a.state == nil:
		return fmt.Errorf("the answer lacks %s", key)
	}
	for _, k := range []struct {
		name, of string
		is       bool
	}{{"effects", "effects", len(a.effects) > 0}, {"broken", "effects", a.broken != ""},
		{"value", "value", a.value != nil}, {"state", "state", a.state != nil}} {
		if k.is && k.of != key {
			return fmt.Errorf("the answer has %s, for which it was not asked", k.name)
		}
	}
	return nil
}

// A reader reads answers in JSON, one after the other.
type reader struct {
	program *Program
	text    bytes.Reader
	json    *jsontext.Decoder
	fields  fields
	message []byte // of the effect that is being read
}

func newReader(p *Program) *reader {
	r := &reader{program: p}
	r.json = jsontext.NewDecoder(&r.text)
	return r
}

// read reads one answer into a, of which it reuses the effects.
func (r *reader) read(line []byte, a *answer) error {
	*a = answer{effects: a.effects[:0]}
	r.text.Reset(line)
	r.json.Reset(&r.text)
	err := r.object(func(key string) (err error) {
		switch key {
		case "n":
			a.n, err = r.uint()
			a.numbered = true
		case "effects":
			return r.list(func() error {
				a.effects = append(a.effects, algo.Effect{})
				return r.effect(&a.effects[len(a.effects)-1])
			})
		case "state":
			a.state = [][2]string{}
			return r.object(func(name string) error {
				v, err := r.json.ReadValue()
				a.state = append(a.state, [2]string{name, string(v)})
				return err
			})
		case "value":
			var v jsontext.Value
			v, err = r.json.ReadValue()
			a.value = slices.Clone([]byte(v))
		case "broken":
			a.broken, err = r.words()
		case "failed":
			a.failed, err = r.words()
		default:
			return unknown("an answer", key, "n", "effects", "state", "value", "broken", "failed")
		}
		return err
	})
	if err != nil {
		return err
	}
	if _, err := r.json.ReadToken(); err != io.EOF {
		return errors.New("there is more than one JSON value on the line")
	}
	return nil
}

// unknown is the error of a key that what holds it does not have.
func unknown(what, key string, has ...string) error {
	return fmt.Errorf("%s has no key %s%s (has: %s)", what, brief(key), algo.Hint(key, has),
		strings.Join(has, ", "))
}

// brief is a text of a program in quotes, or the beginning of it.
func brief(text string) string { return short([]byte(text)) }

// words reads words for people. They are never empty, so that what is there can be told from what is not.
func (r *reader) words() (string, error) {
	s, err := r.string()
	return cmp.Or(oneLine(s), noReason), err
}

const noReason = "it does not say why"

// mostText bounds what a program says of an event, in bytes.
const mostText = 200

// oneLine is a text as a terminal and a table take it, in one line; of much, the beginning.
func oneLine(text string) string {
	if len(text) > mostText {
		text = strings.ToValidUTF8(text[:mostText], "") + " ..."
	}
	return proc.Harmless(strings.Join(strings.Fields(text), " "))
}

// object reads an object: read reads the value of each key.
func (r *reader) object(read func(key string) error) error {
	t, err := r.json.ReadToken()
	if err != nil {
		return spoken(err)
	}
	if t.Kind() != '{' {
		return fmt.Errorf("expected an object instead of %s", value(t))
	}
	for r.json.PeekKind() != '}' {
		key, err := r.json.ReadToken()
		if err != nil {
			return spoken(err)
		}
		if err := read(key.String()); err != nil {
			return spoken(err)
		}
	}
	_, err = r.json.ReadToken()
	return spoken(err)
}

// list reads a list: read reads each element.
func (r *reader) list(read func() error) error {
	t, err := r.json.ReadToken()
	if err != nil {
		return spoken(err)
	}
	if t.Kind() != '[' {
		return fmt.Errorf("expected a list instead of %s", value(t))
	}
	for r.json.PeekKind() != ']' {
		if err := read(); err != nil {
			return spoken(err)
		}
	}
	_, err = r.json.ReadToken()
	return spoken(err)
}

// spoken is an error of the JSON package in words of ours.
func spoken(err error) error {
	if err == nil {
		return nil
	}
	if wrong := (*jsontext.SyntacticError)(nil); errors.As(err, &wrong) {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fmt.Errorf("the key %s occurs twice", brief(wrong.JSONPointer.LastToken()))
		}
		return errNoJSON
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errNoJSON
	}
	return err
}

var errNoJSON = errors.New("it is not JSON")

// value is a value as an error shows it.
func value(t jsontext.Token) string {
	if t.Kind() == '"' {
		return brief(t.String())
	}
	text := t.String()
	return text[:min(len(text), mostQuoted)]
}

func (r *reader) token(kind jsontext.Kind, what string) (jsontext.Token, error) {
	t, err := r.json.ReadToken()
	if err != nil {
		return t, spoken(err)
	}
	if t.Kind() != kind {
		return t, fmt.Errorf("expected %s instead of %s", what, value(t))
	}
	return t, nil
}

func (r *reader) string() (string, error) {
	t, err := r.token('"', "a string")
	if err != nil {
		return "", err
	}
	s := t.String()
	if strings.IndexByte(s, 0) >= 0 {
		return "", fmt.Errorf("the string %s has the character NUL", brief(s))
	}
	return s, nil
}

func (r *reader) bool() (bool, error) {
	t, err := r.json.ReadToken()
	if err != nil {
		return false, spoken(err)
	}
	if k := t.Kind(); k != 't' && k != 'f' {
		return false, fmt.Errorf("expected true or false instead of %s", value(t))
	}
	return t.Bool(), nil
}

func (r *reader) int() (int64, error) {
	t, err := r.token('0', "an integer")
	if err != nil {
		return 0, err
	}
	text := value(t)
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && (n > most || n < -most):
		return 0, fmt.Errorf("the integer %s is beyond 2^53", text)
	case err != nil:
		return 0, fmt.Errorf("expected an integer instead of %s", text)
	}
	return n, nil
}

func (r *reader) uint() (uint64, error) {
	n, err := r.int()
	if err == nil && n < 0 {
		err = fmt.Errorf("expected an integer from 0 on instead of %d", n)
	}
	return uint64(n), err
}

func (r *reader) float() (float64, error) {
	t, err := r.token('0', "a number")
	if err != nil {
		return 0, err
	}
	x := t.Float()
	if math.IsInf(x, 0) {
		return 0, fmt.Errorf("the number %s is too large", value(t))
	}
	return x, nil
}

// process reads the number of a process; 0: none.
func (r *reader) process() (algo.ID, error) {
	n, err := r.uint()
	if err == nil && n > math.MaxUint32 {
		err = fmt.Errorf("there is no process %d", n)
	}
	return algo.ID(n), err
}

// effectKeys are the keys of an effect of each kind, the one that says which it is first.
var effectKeys = map[string][]string{"send": {"send", "kind", "msg"}, "set": {"set", "after"},
	"cancel": {"cancel"}, "granted": {"granted"}, "elected": {"elected", "term"}, "save": {"save", "msg"},
	"log": {"log"}}

// A part is an effect that is being read.
type part struct {
	*algo.Effect
	what    string    // the key that says which effect it is
	keys    [4]string // those that have come
	n       int
	kind    string // of the message
	message bool   // it has come
}

// effect reads one effect into e.
func (r *reader) effect(e *algo.Effect) error {
	p := part{Effect: e}
	err := r.object(func(key string) error {
		if p.n == len(p.keys) {
			return errors.New("an effect has one to three keys")
		}
		p.keys[p.n] = key
		p.n++
		if effectKeys[key] != nil {
			if p.what != "" {
				return fmt.Errorf("an effect is %s or %s", p.what, key)
			}
			p.what = key
		}
		return r.part(key, &p)
	})
	if err != nil {
		return err
	}
	if p.what == "" {
		return errors.New("an effect without send, set, cancel, granted, elected, save and log")
	}
	keys, has := p.keys[:p.n], effectKeys[p.what]
	for _, key := range keys {
		if !slices.Contains(has, key) {
			return unknown("the effect "+p.what, key, has...)
		}
	}
	switch {
	case e.Op == algo.OpSetTimer && !slices.Contains(keys, "after"):
		return errors.New("the effect set lacks after")
	case e.Op == algo.OpSend && !slices.Contains(keys, "kind"):
		return errors.New("the effect send lacks kind")
	case e.Op == algo.OpSend, e.Op == algo.OpSave:
		if !p.message {
			r.message = append(r.message[:0], "{}"...)
		}
		e.Msg, err = r.raw(p.kind)
	}
	return err
}

// part reads the value of a key of an effect.
func (r *reader) part(key string, e *part) (err error) {
	switch key {
	case "send":
		e.Op = algo.OpSend
		e.Peer, err = r.process()
	case "set":
		e.Op = algo.OpSetTimer
		e.Timer, err = r.timer()
	case "cancel":
		e.Op = algo.OpCancelTimer
		e.Timer, err = r.timer()
	case "granted":
		var is bool
		e.Op = algo.OpGranted
		if is, err = r.bool(); err == nil && !is {
			err = errors.New("granted is true, or absent")
		}
	case "elected":
		e.Op = algo.OpElected
		e.Peer, err = r.process()
	case "save":
		e.Op = algo.OpSave
		e.kind, err = r.string()
	case "log":
		e.Op = algo.OpLog
		e.Text, err = r.string()
	case "kind":
		e.kind, err = r.string()
	case "after":
		var after uint64
		after, err = r.uint()
		e.After = time.Duration(after)
	case "term":
		e.Term, err = r.uint()
	case "msg":
		var v jsontext.Value
		v, err = r.json.ReadValue()
		r.message, e.message = append(r.message[:0], v...), true
	default:
		return unknown("an effect", key, "send", "set", "cancel", "granted", "elected", "save", "log")
	}
	return err
}

func (r *reader) timer() (algo.Timer, error) {
	name, err := r.string()
	return algo.Timer(name), err
}

// raw is the message of a kind whose fields r.message has.
func (r *reader) raw(kind string) (algo.Message, error) {
	k, known := r.program.kinds[kind]
	if !known {
		return nil, fmt.Errorf("unknown kind %s%s (has: %s)", brief(kind), algo.Hint(kind, r.program.names),
			strings.Join(r.program.names, ", "))
	}
	f := &r.fields
	f.out = f.out[:0]
	// The decoder of the answer has its place in the line: this one is its own.
	inner := reader{program: r.program}
	inner.text.Reset(r.message)
	inner.json = f.decoder(&inner.text)
	var err error
	if f.out, err = inner.body(f.out, *k.Form); err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	return algo.Raw{Name: k.Name, Body: string(f.out), Form: k.Form}, nil
}

// fields is what messages are read with, to be used again.
type fields struct {
	out  []byte
	json *jsontext.Decoder
}

func (f *fields) decoder(from io.Reader) *jsontext.Decoder {
	if f.json == nil {
		f.json = jsontext.NewDecoder(from)
	} else {
		f.json.Reset(from)
	}
	return f.json
}

// body appends the fields of an object in the order of their form.
func (r *reader) body(b []byte, f algo.Form) ([]byte, error) {
	next, begin := 0, len(b)
	var parts [][]byte // by field, once they come in another order
	err := r.object(func(key string) (err error) {
		i := next
		if i == len(f) || f[i].Name != key {
			i = slices.IndexFunc(f, func(q algo.FormField) bool { return q.Name == key })
		}
		if i < 0 {
			names := make([]string, len(f))
			for i := range f {
				names[i] = f[i].Name
			}
			return fmt.Errorf("unknown field %s%s (has: %s)", brief(key), algo.Hint(key, names),
				strings.Join(names, ", "))
		}
		if i != next && parts == nil {
			parts = make([][]byte, len(f))
			for k := range next {
				parts[k] = []byte{}
			}
			if next > 0 {
				parts[0] = append(parts[0], b[begin:]...) // those up to here, one behind the other
			}
		}
		if parts == nil {
			next++
			if b, err = r.field(b, &f[i].Type); err != nil {
				return fmt.Errorf("field %s: %w", key, err)
			}
			return nil
		}
		if parts[i], err = r.field([]byte{}, &f[i].Type); err != nil {
			return fmt.Errorf("field %s: %w", key, err)
		}
		return nil
	})
	if err != nil {
		return b, err
	}
	if parts == nil {
		if next < len(f) {
			return b, fmt.Errorf("field %s is missing", f[next].Name)
		}
		return b, nil
	}
	b = b[:begin]
	for i := range parts {
		if parts[i] == nil {
			return b, fmt.Errorf("field %s is missing", f[i].Name)
		}
		b = append(b, parts[i]...)
	}
	return b, nil
}

// field appends the value of a field.
func (r *reader) field(b []byte, t *algo.FormType) ([]byte, error) {
	switch t.Base {
	case algo.FormUint:
		x, err := r.uint()
		return binary.AppendUvarint(b, x), err
	case algo.FormInt:
		x, err := r.int()
		return binary.AppendVarint(b, x), err
	case algo.FormBool:
		x, err := r.bool()
		if x {
			return append(b, 1), err
		}
		return append(b, 0), err
	case algo.FormFloat:
		x, err := r.float()
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(x)), err
	case algo.FormString:
		s, err := r.string()
		return append(binary.AppendUvarint(b, uint64(len(s))), s...), err
	case algo.FormStruct:
		return r.body(b, t.Fields)
	}
	count, elements := 0, []byte(nil)
	err := r.list(func() (err error) {
		count++
		elements, err = r.field(elements, t.Elem)
		return err
	})
	return append(binary.AppendUvarint(b, uint64(count)), elements...), err
}

// mostQuoted bounds what an error quotes of a line, in bytes.
const mostQuoted = 80

// short is the beginning of a line as an error quotes it.
func short(line []byte) string {
	line = bytes.TrimSpace(line)
	cut := line[:min(len(line), mostQuoted)]
	for len(cut) < len(line) && len(cut) > 0 && !utf8.Valid(cut) && utf8.Valid(line) {
		cut = cut[:len(cut)-1]
	}
	text := strconv.Quote(string(cut))
	if len(cut) < len(line) {
		text += " ..."
	}
	return text
}
