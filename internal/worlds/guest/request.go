package guest

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/conclave-bench/conclave/internal/worlds/guest/wire"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// A request is one line, or of a module that wants it so a compact event.
type request struct{ b []byte }

// begin begins a request in JSON.
func (r *request) begin(n uint64, on string) {
	r.b = append(strconv.AppendUint(append(r.b[:0], `{"n":`...), n, 10), `,"on":"`...)
	r.b = append(append(r.b, on...), '"')
}

func (r *request) number(key string, n uint64) {
	r.key(key)
	r.b = strconv.AppendUint(r.b, n, 10)
}

func (r *request) text(key, s string) {
	r.key(key)
	r.b, _ = jsontext.AppendQuote(r.b, s) // what is no UTF-8 is replaced
}

func (r *request) key(key string) {
	r.b = append(append(append(r.b, `,"`...), key...), `":`...)
}

// value adds what package json makes of v.
func (r *request) value(key string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain data
	}
	r.key(key)
	r.b = append(r.b, b...)
}

func (r *request) end() []byte {
	r.b = append(r.b, "}\n"...)
	return r.b
}

// event is an event of a process. Session is that of a request, random of an algorithm that draws.
func (r *request) event(n, process uint64, now time.Duration, ev *algo.Event, draws bool, random uint64) {
	r.begin(n, events[ev.Type])
	r.number("process", process)
	r.number("now", uint64(now))
	if draws {
		var bits [8]byte
		binary.BigEndian.PutUint64(bits[:], random)
		r.key("random")
		r.b = append(hex.AppendEncode(append(r.b, '"'), bits[:]), '"')
	}
	switch ev.Type {
	case algo.Receive:
		m := ev.Msg.(algo.Raw)
		r.number("from", uint64(ev.Peer))
		r.text("kind", m.Name)
		if len(*m.Form) > 0 {
			r.key("msg")
			r.message(&m)
		}
	case algo.Timeout:
		r.text("timer", string(ev.Timer))
	case algo.Request:
		if ev.Session > 0 {
			r.number("session", uint64(ev.Session))
		}
	case algo.Suspect, algo.Restore:
		r.number("peer", uint64(ev.Peer))
	case algo.Do:
		r.text("op", ev.Op)
		if ev.Peer != algo.None {
			r.number("target", uint64(ev.Peer))
		}
	}
}

// message adds the fields of a message.
func (r *request) message(m *algo.Raw) {
	if err := m.Form.Read(m.Body, (*spelling)(r)); err != nil {
		panic(algo.BreachOf(err)) // it was written by form, or decoded
	}
}

// A spelling writes a body in JSON.
type spelling request

func (s *spelling) Uint(x uint64)   { s.b = strconv.AppendUint(s.b, x, 10) }
func (s *spelling) Int(x int64)     { s.b = strconv.AppendInt(s.b, x, 10) }
func (s *spelling) Bool(x bool)     { s.b = strconv.AppendBool(s.b, x) }
func (s *spelling) String(x string) { s.b, _ = jsontext.AppendQuote(s.b, x) }
func (s *spelling) Item()           { s.b = append(s.b, ',') }

func (s *spelling) Float(x float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) { // no program can have sent it
		x = 0
	}
	s.b = strconv.AppendFloat(s.b, x, 'g', -1, 64)
}

func (s *spelling) Open(b algo.FormBase)  { s.b = append(s.b, brackets(b)[0]) }
func (s *spelling) Close(b algo.FormBase) { s.b = append(s.b, brackets(b)[1]) }

func brackets(b algo.FormBase) string {
	if b == algo.FormList {
		return "[]"
	}
	return "{}"
}

func (s *spelling) Field(name string, first bool) {
	if !first {
		s.b = append(s.b, ',')
	}
	s.b, _ = jsontext.AppendQuote(s.b, name)
	s.b = append(s.b, ':')
}

// configOf is what a process knows at its start.
func configOf(c *algo.Config, params []algo.Param) wire.Config[any] {
	out := wire.ConfigOf[any](c)
	out.Params, out.All = valuesOf(c.Params, params)
	return out
}

// valuesOf are the parameters that are known, and those of all processes where they differ.
func valuesOf(p algo.Params, params []algo.Param) (own map[string]any, all map[string][]any) {
	for i := range params {
		name := params[i].Name
		v, known := p[name]
		if !known {
			continue
		}
		if list := p.All(name); list != nil {
			if all == nil {
				all = map[string][]any{}
			}
			all[name] = list
		}
		if _, list := v.([]any); list {
			continue // of no process
		}
		if own == nil {
			own = map[string]any{}
		}
		own[name] = v
	}
	return own, all
}
