package kit

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/guest/wire"
	"github.com/conclave-bench/conclave/pkg/algo"
)

type object = map[string]any

// describe is the spec of an algorithm on the page of the protocol. What a Spec says by functions is found
// out by calling them. Its claims are left out: the protocol has none.
func describe(a *algo.Algorithm, draws bool) (object, error) {
	s := &a.Spec
	var errs []error
	kinds := func(list []algo.Message) (out []object) {
		for _, m := range list {
			fields, err := fieldsOf(reflect.TypeOf(m))
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", m.Kind(), err))
			}
			out = append(out, object{"kind": m.Kind(), "fields": fields})
		}
		return out
	}
	var params, periods []object
	for i := range s.Params {
		p := &s.Params[i]
		q := object{"name": p.Name, "type": wire.WordOf(wire.Types, p.Type), "doc": p.Doc, "asks": true,
			"per_process": p.PerProcess, "process": p.Process, "tunes": wire.WordOf(wire.Tunings, p.Tunes)}
		for key, v := range (object{"min": p.Min, "max": p.Max}) {
			if v != nil {
				q[key] = v
			}
		}
		if p.Choices != nil {
			q["choices"] = p.Choices
		}
		params = append(params, q)
	}
	for _, q := range s.Periods {
		periods = append(periods, object{"parameter": q.Param, "spread": q.Spread, "timer": q.Timer,
			"reply": q.Reply})
	}
	out := object{"problem": a.Problem, "summary": s.Summary, "paper": object{"authors": s.Paper.Authors,
		"title": s.Paper.Title, "venue": s.Paper.Venue, "year": s.Paper.Year, "doi": s.Paper.DOI,
		"deviations": s.Paper.Deviations}, "messages": kinds(s.Messages), "auxiliary": kinds(s.Auxiliary),
		"saves": kinds(s.Saves), "token": s.Token, "parameters": params, "handles": handles(a),
		"draws":  draws,
		"doubts": s.Needs.Params != nil, "perpetual": s.Perpetual, "told": s.Told, "periods": periods,
		"needs": object{"topology": s.Needs.Topology.String(), "fifo": s.Needs.FIFO,
			"synchrony": s.Needs.Synchrony.String(), "detector": s.Needs.Detector.String(),
			"nodes": least(s.Needs.Nodes)},
		"survives": object{"loss": s.Survives.Loss, "duplication": s.Survives.Duplication,
			"partition": s.Survives.Partition, "recovery": s.Survives.Recovery, "crashes": crashes(a)},
		"promises": object{"starvation_free": s.Promises.StarvationFree,
			"request_order": s.Promises.RequestOrder,
			"announced":     s.Promises.Announced, "leadership": s.Promises.Leadership.String(),
			"highest": s.Promises.Highest, "live": live(a)},
		"service": s.Service.String(), "breaks": s.Breaks}
	if len(errs) > 0 {
		return nil, errs[0]
	}
	return out, nil
}

// fieldsOf is the fields of a struct.
func fieldsOf(t reflect.Type) (out [][2]any, err error) {
	out = [][2]any{}
	for i := range t.NumField() {
		f := t.Field(i)
		of, err := typeOf(f.Type)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		out = append(out, [2]any{f.Name, of})
	}
	return out, nil
}

func typeOf(t reflect.Type) (any, error) {
	switch t.Kind() {
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "uint", nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if t == reflect.TypeFor[time.Duration]() {
			return "duration", nil
		}
		return "int", nil
	case reflect.Bool:
		return "bool", nil
	case reflect.Float64:
		return "float", nil
	case reflect.String:
		return "string", nil
	case reflect.Slice:
		of, err := typeOf(t.Elem())
		return []any{of}, err
	case reflect.Struct:
		fields, err := fieldsOf(t)
		return object{"fields": fields}, err
	}
	return nil, fmt.Errorf("a %s is not in the protocol", t)
}

// handles are the optional events that processes of the algorithm want.
func handles(a *algo.Algorithm) (out []string) {
	p := a.New(algo.Config{ID: 1, Peers: []algo.ID{1}, Neighbors: []algo.ID{1}, Ring: []algo.ID{1},
		Params: a.Spec.Defaults(algo.Network{Nodes: 1, Latency: time.Millisecond, Bounded: true}).Of(1)})
	if _, is := p.(algo.Starter); is {
		out = append(out, "start")
	}
	if _, is := p.(algo.Timed); is {
		out = append(out, "timeout")
	}
	if _, is := p.(algo.Monitor); is {
		out = append(out, "suspect", "restore")
	}
	if _, is := p.(algo.Commanded); is {
		out = append(out, "do")
	}
	return out
}

// probe is how many processes the functions of a Spec are asked about.
const probe = 64

// least is the least number of processes that is enough.
func least(enough func(int) error) int {
	if enough == nil {
		return 1
	}
	n := 1
	for n < probe && enough(n) != nil {
		n++
	}
	return n
}

// crashes is the word for how many crashes the algorithm survives; 0 if the protocol has none for it.
func crashes(a *algo.Algorithm) any {
	same := func(f func(n int) int) bool {
		for n := 1; n <= probe; n++ {
			net := algo.Network{Nodes: n, Latency: time.Millisecond, Bounded: true}
			if a.Spec.Survives.CrashesOf(n, a.Spec.Defaults(net)) != f(n) {
				return false
			}
		}
		return true
	}
	switch {
	case same(func(n int) int { return (n - 1) / 2 }):
		return wire.Minority
	case same(func(n int) int { return n - 1 }):
		return wire.AllButOne
	}
	net := algo.Network{Nodes: probe, Latency: time.Millisecond, Bounded: true}
	most := a.Spec.Survives.CrashesOf(probe, a.Spec.Defaults(net))
	if same(func(int) int { return most }) {
		return most
	}
	return 0
}

// live is the word for the liveness that the algorithm promises.
func live(a *algo.Algorithm) string {
	promised := a.Spec.Promises.Live
	if promised == nil {
		return ""
	}
	p := a.Spec.Defaults(algo.Network{Nodes: 5, Latency: time.Millisecond, Bounded: true}).Of(1)
	if reflect.DeepEqual(promised(5, p), algo.Steady(5, p)) {
		return wire.Steady
	}
	return ""
}

// saved is what a process last saved.
func (s *Server) saved(v *saved) (algo.Message, error) {
	all := slices.Concat(s.alg.Spec.Messages, s.alg.Spec.Auxiliary, s.alg.Spec.Saves)
	i := slices.IndexFunc(all, func(m algo.Message) bool { return m.Kind() == v.Kind })
	if i < 0 {
		return nil, fmt.Errorf("unknown kind %q", v.Kind)
	}
	m := reflect.New(reflect.TypeOf(all[i]))
	if v.Msg != nil {
		if err := json.Unmarshal(v.Msg, m.Interface()); err != nil {
			return nil, err
		}
	}
	return m.Elem().Interface().(algo.Message), nil
}
