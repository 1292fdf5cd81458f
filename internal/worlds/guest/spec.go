package guest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	strict "github.com/go-json-experiment/json"

	"github.com/conclave-bench/conclave/internal/worlds/guest/wire"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// A description is the spec of an answer to describe; docs/reference/protocol.md says what its keys mean.
type description struct {
	Problem string `json:"problem"`
	Summary string `json:"summary"`
	Paper   struct {
		Authors    string `json:"authors"`
		Title      string `json:"title"`
		Venue      string `json:"venue"`
		Year       int    `json:"year"`
		DOI        string `json:"doi"`
		Deviations string `json:"deviations"`
	} `json:"paper"`
	Messages   []kind      `json:"messages"`
	Auxiliary  []kind      `json:"auxiliary"`
	Saves      []kind      `json:"saves"`
	Token      string      `json:"token"`
	Parameters []parameter `json:"parameters"`
	Handles    []string    `json:"handles"`
	Draws      bool        `json:"draws"`
	States     bool        `json:"states"`
	Doubts     bool        `json:"doubts"`
	Timers     []string    `json:"timers"`
	Files      []string    `json:"files"`
	Perpetual  bool        `json:"perpetual"`
	Told       bool        `json:"told"`
	Periods    []struct {
		Parameter string `json:"parameter"`
		Spread    string `json:"spread"`
		Timer     string `json:"timer"`
		Reply     bool   `json:"reply"`
	} `json:"periods"`
	Needs struct {
		Topology  string `json:"topology"`
		FIFO      bool   `json:"fifo"`
		Anonymous bool   `json:"anonymous"`
		Synchrony string `json:"synchrony"`
		Detector  string `json:"detector"`
		Nodes     int    `json:"nodes"`
	} `json:"needs"`
	Survives struct {
		Loss        bool            `json:"loss"`
		Duplication bool            `json:"duplication"`
		Partition   bool            `json:"partition"`
		Recovery    bool            `json:"recovery"`
		Crashes     json.RawMessage `json:"crashes"`
	} `json:"survives"`
	Promises struct {
		StarvationFree bool   `json:"starvation_free"`
		RequestOrder   bool   `json:"request_order"`
		Announced      bool   `json:"announced"`
		Leadership     string `json:"leadership"`
		Highest        bool   `json:"highest"`
		Live           string `json:"live"`
	} `json:"promises"`
	Service string `json:"service"`
	Breaks  string `json:"breaks"`

	compact bool // modules: events are in the compact layout
}

type kind struct {
	Kind   string `json:"kind"`
	Fields form   `json:"fields"`
}

// raws are kinds as a Spec declares them.
func raws(kinds []kind) (out []algo.Message) {
	for i := range kinds {
		f := (*algo.Form)(&kinds[i].Fields)
		out = append(out, algo.Raw{Name: kinds[i].Kind, Body: f.Zero(), Form: f})
	}
	return out
}

// A form is written as a list of pairs: the name of a field, and its type.
type form algo.Form

// UnmarshalJSON reads that list.
func (f *form) UnmarshalJSON(b []byte) error {
	var pairs [][]json.RawMessage
	if json.Unmarshal(b, &pairs) != nil {
		return fmt.Errorf("fields %s: expected a list of [NAME, TYPE]", short(b))
	}
	for _, pair := range pairs {
		field := algo.FormField{}
		if len(pair) != 2 || json.Unmarshal(pair[0], &field.Name) != nil {
			return fmt.Errorf("fields %s: expected a list of [NAME, TYPE]", short(b))
		}
		t, err := typeOf(pair[1])
		if err != nil {
			return fmt.Errorf("field %s: %w", field.Name, err)
		}
		field.Type = *t
		*f = append(*f, field)
	}
	return nil
}

var bases = map[string]algo.FormBase{"uint": algo.FormUint, "id": algo.FormUint, "int": algo.FormInt,
	"duration": algo.FormInt, "bool": algo.FormBool, "float": algo.FormFloat, "string": algo.FormString}

func typeOf(b []byte) (*algo.FormType, error) {
	var name string
	var list []json.RawMessage
	var fields struct {
		Fields *form `json:"fields"`
	}
	switch {
	case json.Unmarshal(b, &name) == nil:
		if base, known := bases[name]; known {
			return &algo.FormType{Base: base}, nil
		}
	case json.Unmarshal(b, &list) == nil:
		if len(list) == 1 {
			elem, err := typeOf(list[0])
			return &algo.FormType{Base: algo.FormList, Elem: elem}, err
		}
	default:
		if err := strictly(b, &fields); err != nil {
			return nil, err
		}
		if fields.Fields != nil {
			return &algo.FormType{Base: algo.FormStruct, Fields: algo.Form(*fields.Fields)}, nil
		}
	}
	return nil, fmt.Errorf("unknown type %s (has: uint, id, int, duration, bool, float, string, "+
		`["TYPE"], {"fields": [...]})`, short(b))
}

type parameter struct {
	Name       string          `json:"name"`
	Type       string          `json:"type"`
	Doc        string          `json:"doc"`
	Default    json.RawMessage `json:"default"`
	Asks       bool            `json:"asks"`
	Min        json.RawMessage `json:"min"`
	Max        json.RawMessage `json:"max"`
	Choices    []string        `json:"choices"`
	PerProcess bool            `json:"per_process"`
	Process    bool            `json:"process"`
	Tunes      string          `json:"tunes"`
}

// describe reads the answer to describe, which is event n.
func describe(answer []byte, n uint64) (*description, error) {
	var head struct {
		N        *uint64         `json:"n"`
		Protocol *int            `json:"protocol"`
		Compact  bool            `json:"compact"`
		Spec     json.RawMessage `json:"spec"`
	}
	// What another version has besides is not ours to judge.
	err := strict.Unmarshal(answer, &head)
	if failed := (*strict.SemanticError)(nil); errors.As(err, &failed) {
		err = nil
	}
	switch {
	case err != nil:
		return nil, spoken(err)
	case head.Protocol != nil && *head.Protocol != wire.Version:
		return nil, fmt.Errorf("it speaks version %d of the step protocol, and Conclave speaks version %d: "+
			"take a kit of that version", *head.Protocol, wire.Version)
	}
	if err := strictly(answer, &head); err != nil {
		return nil, err
	}
	switch {
	case head.N == nil:
		return nil, errors.New("the answer lacks n")
	case *head.N != n:
		return nil, fmt.Errorf("it answers event %d", *head.N)
	case head.Protocol == nil:
		return nil, errors.New("the answer lacks protocol")
	case head.Spec == nil:
		return nil, errors.New("the answer lacks spec")
	}
	d := &description{compact: head.Compact}
	if err := strictly(head.Spec, d); err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	return d, nil
}

// strictly decodes JSON without unknown keys and keys that occur twice.
func strictly(b []byte, into any) error {
	err := strict.Unmarshal(b, into, strict.RejectUnknownMembers(true))
	wrong := (*strict.SemanticError)(nil)
	if !errors.As(err, &wrong) {
		return spoken(err)
	}
	at := strings.ReplaceAll(strings.TrimPrefix(string(wrong.JSONPointer), "/"), "/", ".")
	switch {
	case errors.Is(err, strict.ErrUnknownName):
		key := wrong.JSONPointer.LastToken()
		if at = strings.TrimSuffix(at, key); at == "" {
			at = "it"
		}
		return unknown(strings.TrimSuffix(at, "."), key, keysOf(wrong.GoType)...)
	case wrong.Err != nil && wrong.GoType == reflect.TypeFor[form]():
		return fmt.Errorf("%s: %w", at, wrong.Err)
	}
	return fmt.Errorf("%s has a value of another type", at)
}

// keysOf are the keys of the object that a struct stands for.
func keysOf(t reflect.Type) (keys []string) {
	for f := range t.Fields() {
		if f.IsExported() {
			keys = append(keys, f.Tag.Get("json"))
		}
	}
	return keys
}

// spec is the description as the registry takes it, for a program.
func (d *description) spec(name string, p *Program) (s algo.Spec, errs []error) {
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	s = algo.Spec{Name: name, Summary: d.Summary, Paper: algo.Paper(d.Paper), Messages: raws(d.Messages),
		Auxiliary: raws(d.Auxiliary), Saves: raws(d.Saves), Token: d.Token, Perpetual: d.Perpetual,
		Told: d.Told, Breaks: d.Breaks}
	if s.Paper.Title == "" {
		s.Paper = algo.Paper{Authors: "the author of " + name, Title: cmp.Or(d.Summary, name),
			Venue: algo.Unpublished}
	}
	for _, q := range d.Periods {
		s.Periods = append(s.Periods, algo.Period{Param: q.Parameter, Spread: q.Spread,
			Timer: algo.Timer(q.Timer), Reply: q.Reply})
	}
	for i := range d.Parameters {
		q, err := d.Parameters[i].declare(p)
		if err != nil {
			refuse("parameter %s: %w", d.Parameters[i].Name, err)
		}
		s.Params = append(s.Params, q)
	}
	needs := &s.Needs
	needs.FIFO, needs.Anonymous = d.Needs.FIFO, d.Needs.Anonymous
	word(refuse, "needs.topology", d.Needs.Topology, &needs.Topology, algo.Complete, algo.LogicalRing,
		algo.Ring, algo.BidirectionalRing, algo.Tree, algo.Connected, algo.Weighted)
	word(refuse, "needs.synchrony", d.Needs.Synchrony, &needs.Synchrony, algo.Asynchronous,
		algo.PartiallySynchronous, algo.Synchronous)
	word(refuse, "needs.detector", d.Needs.Detector, &needs.Detector, algo.NoDetector, algo.EventuallyPerfect,
		algo.Perfect)
	word(refuse, "promises.leadership", d.Promises.Leadership, &s.Promises.Leadership, algo.Eventual,
		algo.AtMostOne, algo.PerTerm, algo.PerGroup)
	word(refuse, "service", d.Service, &s.Service, algo.Services()...)
	if least := d.Needs.Nodes; least > 1 {
		needs.Nodes = func(n int) error {
			if n < least {
				return fmt.Errorf("%d processes: want %d at least", n, least)
			}
			return nil
		}
	}
	if d.Doubts {
		needs.Params = p.doubt
	}
	s.Survives = algo.Faults{Loss: d.Survives.Loss, Duplication: d.Survives.Duplication,
		Partition: d.Survives.Partition, Recovery: d.Survives.Recovery}
	var err error
	if s.Survives.Crashes, err = crashes(d.Survives.Crashes); err != nil {
		errs = append(errs, err)
	}
	s.Promises.StarvationFree, s.Promises.RequestOrder = d.Promises.StarvationFree, d.Promises.RequestOrder
	s.Promises.Announced, s.Promises.Highest = d.Promises.Announced, d.Promises.Highest
	switch d.Promises.Live {
	case "":
	case wire.Steady:
		s.Promises.Live = algo.Steady
	default:
		refuse(`promises.live: %q is unknown (has: "steady")`, d.Promises.Live)
	}
	return s, errs
}

// word finds the value that a word names, of all that there are; the first is the default.
func word[T fmt.Stringer](refuse func(string, ...any), key, text string, at *T, all ...T) {
	var names []string
	for _, v := range all {
		if v.String() == text {
			*at = v
			return
		}
		names = append(names, v.String())
	}
	if text != "" {
		refuse("%s: %q is unknown%s (has: %s)", key, text, algo.Hint(text, names), strings.Join(names, ", "))
	}
}

// crashes is how many crashes an algorithm survives.
func crashes(b json.RawMessage) (func(int, algo.Params) int, error) {
	text := string(b)
	switch n, err := strconv.Atoi(text); {
	case text == "", text == "0":
		return nil, nil
	case err == nil && n > 0:
		return func(int, algo.Params) int { return n }, nil
	case text == strconv.Quote(wire.Minority):
		return func(n int, _ algo.Params) int { return (n - 1) / 2 }, nil
	case text == strconv.Quote(wire.AllButOne):
		return func(n int, _ algo.Params) int { return n - 1 }, nil
	}
	return nil, fmt.Errorf(`survives.crashes: %s is unknown (has: a number, "minority", "all but one")`,
		short(b))
}

// declare is the parameter as the registry takes it.
func (q *parameter) declare(p *Program) (out algo.Param, err error) {
	t, known := wire.Types[q.Type]
	if !known {
		return out, fmt.Errorf("unknown type %q (has: bool, int, float, duration, enum)", q.Type)
	}
	out = algo.Param{Name: q.Name, Type: t, Doc: q.Doc, Choices: q.Choices, PerProcess: q.PerProcess,
		Process: q.Process}
	if out.Tunes, known = wire.Tunings[q.Tunes]; !known {
		return out, fmt.Errorf(`tunes: %q is unknown (has: "patience", "spread")`, q.Tunes)
	}
	for _, bound := range []struct {
		text json.RawMessage
		at   *any
	}{{q.Min, &out.Min}, {q.Max, &out.Max}} {
		if bound.text != nil {
			if *bound.at, err = valueOf(t, bound.text); err != nil {
				return out, err
			}
		}
	}
	if q.Asks == (q.Default != nil) {
		return out, errors.New("expected either default or asks")
	}
	if q.Asks {
		name := q.Name
		out.Default = func(net algo.Network) any { return p.preset(name, t, net) }
		return out, nil
	}
	v, err := valueOf(t, q.Default)
	out.Default = algo.Const(v)
	return out, err
}

// most is the largest integer that every language reads from JSON as it is.
const most = 1 << 53

// valueOf reads a value of a parameter.
func valueOf(t algo.ParamType, b json.RawMessage) (any, error) {
	var v any
	var err error
	switch t {
	case algo.Bool:
		v, err = as[bool](b)
	case algo.Float:
		v, err = as[float64](b)
	case algo.Enum:
		v, err = as[string](b)
	default:
		var n int64
		if n, err = as[int64](b); err == nil && (n > most || n < -most) {
			return nil, fmt.Errorf("value %s is beyond 2^53", short(b))
		}
		if v = n; t == algo.Duration {
			v = time.Duration(n)
		}
	}
	if err == nil && string(b) == "null" {
		err = errors.New("it is null")
	}
	if err != nil {
		return v, fmt.Errorf("value %s is no %s", short(b), t)
	}
	return v, nil
}

func as[T any](b []byte) (v T, err error) {
	err = json.Unmarshal(b, &v)
	return v, err
}

// handles are the optional events that the program wants.
func (d *description) handles() (map[algo.EventType]bool, error) {
	out := map[algo.EventType]bool{}
	for _, name := range d.Handles {
		i := slices.Index(events, name)
		if t := algo.EventType(i); !slices.Contains(optional, t) {
			return nil, fmt.Errorf("handles: %q is unknown (has: start, timeout, suspect, restore, do)", name)
		}
		out[algo.EventType(i)] = true
	}
	return out, nil
}

// events are the names of events on the line, by their type.
var events = []string{algo.Start: "start", algo.Receive: "receive", algo.Timeout: "timeout",
	algo.Request: "request", algo.Release: "release", algo.Elect: "elect", algo.Suspect: "suspect",
	algo.Restore: "restore", algo.Do: "do"}

// optional are the events that a program gets only if it wants them.
var optional = []algo.EventType{algo.Start, algo.Timeout, algo.Suspect, algo.Restore, algo.Do}
