package harness

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A Variable is one of an algorithm's own, with its value as text.
type Variable struct{ Name, Value string }

// State is the variables of the algorithm's process, in the order of its fields, without
// what it was configured with.
func (m *Process) State() []Variable { return stateOf(m.step.Process()) }

func stateOf(p algo.Process) (out []Variable) {
	if g, is := p.(algo.Guest); is {
		for _, v := range g.State() {
			out = append(out, Variable{v[0], v[1]})
		}
		return out
	}
	v := reflect.Indirect(reflect.ValueOf(p))
	if v.Kind() != reflect.Struct {
		return []Variable{{"state", fmt.Sprint(v)}}
	}
	return variables(v)
}

// variables is the fields of a process, and of the shared rules that it embeds.
func variables(v reflect.Value) (out []Variable) {
	for i := range v.NumField() {
		switch f := v.Type().Field(i); {
		case f.Type == reflect.TypeFor[algo.Config]():
		case f.Anonymous && f.IsExported() && f.Type.Kind() == reflect.Struct:
			out = append(out, variables(v.Field(i))...)
		default:
			out = append(out, Variable{f.Name, text(v.Field(i))})
		}
	}
	return out
}

// text is v as fmt.Sprint prints it, but with durations in units, and with the names of whole numbers whose
// type has a method String, wherever they are.
func text(v reflect.Value) string {
	var elements []string
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			elements = append(elements, text(v.Field(i)))
		}
		return "{" + strings.Join(elements, " ") + "}"
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			elements = append(elements, text(v.Index(i)))
		}
		return "[" + strings.Join(elements, " ") + "]"
	}
	if v.Type() == reflect.TypeFor[time.Duration]() {
		return time.Duration(v.Int()).String()
	}
	if name, named := nameOf(v); named {
		return name
	}
	return fmt.Sprint(v)
}

// nameOf is what the type of a whole number calls it. A field that is not exported cannot be asked itself.
func nameOf(v reflect.Value) (name string, named bool) {
	if !v.Type().Implements(reflect.TypeFor[fmt.Stringer]()) {
		return "", false
	}
	like := reflect.New(v.Type()).Elem()
	switch {
	case v.CanInt():
		like.SetInt(v.Int())
	case v.CanUint():
		like.SetUint(v.Uint())
	default:
		return "", false
	}
	return like.Interface().(fmt.Stringer).String(), true
}

// Changes are the variables that differ from before; all of them if there is no before.
func Changes(before, after []Variable) (out []Change) {
	for i, v := range after {
		switch {
		case before == nil:
			out = append(out, Change{v.Name, "", v.Value})
		case v != before[i]:
			out = append(out, Change{v.Name, before[i].Value, v.Value})
		}
	}
	return out
}

// About says in words what the alarm a, which m has asked for, is for, and whether it
// still counts: a timer that was cancelled or set again does not.
func (m *Process) About(a Alarm) (what string, counts bool) {
	switch a.Slot {
	case slotRelease:
		return "release", true
	case slotRequest:
		return "request", true
	case slotBeat:
		return "heartbeats", true
	case slotWatch:
		return "look for silent processes", true
	case slotSuspect:
		return fmt.Sprintf("suspect p%d", a.Arg), true
	case slotRestore:
		return fmt.Sprintf("trust p%d again", a.Arg), true
	case slotElect:
		return "look at the leader again", true
	case slotWritten:
		return "a write is done", m.disk.writing && m.disk.gen == a.Gen
	}
	t := &m.timers[a.Slot-slotTimers]
	return fmt.Sprintf("timeout of %q", t.name), t.armed && t.gen == a.Gen
}
