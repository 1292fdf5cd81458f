// Package param declares parameters: of algorithms, latency distributions, faults, failure detectors
// and scenarios, and the keys of an experiment file. A declaration says what a parameter is called,
// where its value is, which values it has, what it is by default and what it means. Everything that
// reads, writes, checks, lists, documents or draws parameters reads the declaration.
//
// Each kind of thing has a parameter struct of its own, and a method Params that declares its fields:
//
//	func (u *Uniform) Params() []param.Param {
//		return []param.Param{
//			{Name: "min", At: &u.Min, Max: longest, Required: true},
//			{Name: "max", At: &u.Max, Max: longest, Required: true},
//		}
//	}
//
// The values of an algorithm's parameters have no struct: a plugin looks them up by name.
package param

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Param declares one parameter.
type Param struct {
	Name, Unit, Doc string
	// Title is what an axis along the parameter is called, without a unit of time; "": its name.
	Title string
	// At is where the value is: a pointer, whose type is that of the values. It is nil for the
	// parameters of algorithms, of which Type says the type.
	At   any
	Type Type
	// Choices are the words that it takes, if it takes words; of a bool, those for false and for
	// true, and of a number the one for 0.
	Choices []string
	// Default is the value that it has unless one is given: its text, as a file says it, or a
	// function that works it out from what is known, and Note says in words what it follows from.
	Default  any
	Note     string
	Min, Max any // inclusive, for a number or a duration; nil: no bound
	Required bool
	Example  string // of a value, as a file says it
	// With are the keys of the same block without which the example means nothing, as a file says them.
	With string
	Only []string // the kinds that have it, where a key of its block names one; nil: all
	See  string   // the page that explains it, from docs/

	PerProcess bool // may also be a list in ID order: ranks, estimates, delays
	Process    bool // it names a process: an Int that is not above how many there are
	Tunes      Tuning

	// What follows is of keys in a file.
	Was    string  // its name in earlier versions
	Always bool    // it is written even if it is zero
	Vary   bool    // it may have several values within one configuration, as all below it may
	Of     any     // how it is written, where the type of At does not say it: a config.Slot
	Sub    []Param // of a block
}

// Type is the type of a parameter's value.
type Type uint8

// The types of the parameters of algorithms, and the Go type that holds a value of each.
const (
	Bool     Type = iota // bool
	Int                  // int64
	Float                // float64
	Duration             // time.Duration
	Enum                 // string, one of Choices
)

func (t Type) String() string {
	return [...]string{"true or false", "whole number", "number", "duration", "choice"}[t]
}

// A Tuning is what "bench tune" may do with a parameter.
type Tuning uint8

// What a parameter is to the detection of crashes.
const (
	// Fixed: nothing. A cost, such as how often heartbeats are sent, is fixed as well.
	Fixed Tuning = iota
	// Patience is the same for every process: how long a process may be silent before it is
	// suspected. The longer, the fewer false suspicions, and the longer an outage. Where several
	// are declared, those that are 0 do not count.
	Patience
	// Spread is the Duration up to which a random time is added to Patience, a parameter that
	// is declared before it.
	Spread
)

// Preset is the text of the default, as a file says it; "" if it follows from something else.
func (p *Param) Preset() string {
	text, _ := p.Default.(string)
	return text
}

// Value is the value at p.At.
func (p *Param) Value() any { return reflect.ValueOf(p.At).Elem().Interface() }

// Set makes v the value at p.At, in the type that it has there.
func (p *Param) Set(v any) {
	at := reflect.ValueOf(p.At).Elem()
	at.Set(reflect.ValueOf(v).Convert(at.Type()))
}

// Scan sets the value at p.At to that of a text, as Text writes it, of a number or a duration.
func (p *Param) Scan(text string) error {
	if at, is := p.At.(*time.Duration); is {
		d, err := time.ParseDuration(text)
		*at = d
		return err
	}
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && math.IsNaN(v) {
		err = fmt.Errorf("%s is not a number", text)
	}
	p.Set(v)
	return err
}

// IsZero says whether the value at p.At is the zero value of its type.
func (p *Param) IsZero() bool { return reflect.ValueOf(p.At).Elem().IsZero() }

// Text is the value at p.At as a file says it.
func (p *Param) Text() string {
	if len(p.Choices) > 0 {
		switch v := p.Value().(type) {
		case bool:
			return p.Choices[map[bool]int{true: 1}[v]]
		case string:
			return v
		}
	}
	return literal(reflect.ValueOf(p.At).Elem())
}

// IsDefault says whether a file need not say the value at p.At.
func (p *Param) IsDefault() bool {
	preset := p.Preset()
	if d, err := time.ParseDuration(preset); err == nil {
		preset = d.String()
	}
	return p.Text() == preset
}

// literal is a value as a file says it, on one line.
func literal(v reflect.Value) string {
	if l, ok := v.Interface().(interface{ Literal() string }); ok {
		return l.Literal()
	}
	switch v.Kind() {
	case reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = literal(v.Index(i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case reflect.String:
		return strconv.Quote(v.String())
	case reflect.Pointer:
		if v.IsNil() {
			return ""
		}
		return literal(v.Elem())
	}
	return fmt.Sprint(v.Interface())
}

// Block is the parameters as a file says them, behind a key that names their kind:
// "{kind: perfect, delay: 10ms}". It leaves out those that are as they are without being named.
func Block(tag, kind string, params []Param) string {
	out := "{" + tag + ": " + kind
	for i := range params {
		p := &params[i]
		usual := !p.Required && p.IsZero()
		if preset := p.Preset(); preset != "" {
			usual = p.Choices != nil && p.Text() == preset
		}
		if !usual {
			out += ", " + p.Name + ": " + p.Text()
		}
	}
	return out + "}"
}

// Names are the names of parameters.
func Names(params []Param) []string {
	names := make([]string, len(params))
	for i := range params {
		names[i] = params[i].Name
	}
	return names
}

// Find is the parameter of a name; nil if there is none.
func Find(params []Param, name string) *Param {
	if i := slices.IndexFunc(params, func(p Param) bool { return p.Name == name }); i >= 0 {
		return &params[i]
	}
	return nil
}

// Check says whether v is a value of p: of p's type, within its bounds, and no cause
// of a storm of timers.
func (p *Param) Check(v any) error {
	ok := false
	switch p.Type {
	case Bool:
		_, ok = v.(bool)
	case Int:
		_, ok = v.(int64)
	case Float:
		var f float64
		if f, ok = v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
			return fmt.Errorf("parameter %s: %v is not a finite number", p.Name, f)
		}
	case Duration:
		_, ok = v.(time.Duration)
	case Enum:
		var s string
		if s, ok = v.(string); ok && !slices.Contains(p.Choices, s) {
			return fmt.Errorf("parameter %s: %q is not a choice (has: %v)", p.Name, s, p.Choices)
		}
	}
	switch {
	case !ok:
		return fmt.Errorf("parameter %s: %v is not a %s", p.Name, v, p.Type)
	case p.Min != nil && Less(v, p.Min):
		return fmt.Errorf("parameter %s: %v is below its minimum %v", p.Name, v, p.Min)
	case p.Max != nil && Less(p.Max, v):
		return fmt.Errorf("parameter %s: %v is above its maximum %v", p.Name, v, p.Max)
	}
	if d, ok := v.(time.Duration); ok && d > 0 && d < shortest {
		return fmt.Errorf("parameter %s: %v: expected 0s, or %v and more: timers would "+
			"storm", p.Name, d, shortest)
	}
	return nil
}

// shortest is the shortest duration but none that an algorithm's parameter may have.
const shortest = time.Microsecond

// Less says whether a number or a duration is less than another of its type.
func Less(a, b any) bool {
	switch a := a.(type) { // those of algorithms, which a search compares for each schedule
	case int64:
		b, same := b.(int64)
		return same && a < b
	case time.Duration:
		b, same := b.(time.Duration)
		return same && a < b
	}
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if x.Type() != y.Type() {
		return false
	}
	switch {
	case x.CanInt():
		return x.Int() < y.Int()
	case x.CanFloat():
		return x.Float() < y.Float()
	}
	return false
}
