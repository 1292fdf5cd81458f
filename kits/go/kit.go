// Package kit makes a module of WebAssembly of an algorithm in Go, which bench runs with --plugin. The
// algorithm is a plugin like any other: package algo is its contract. A module is a main of five lines, in
// the folder examples:
//
//	import (
//		kit "github.com/conclave-bench/conclave/kits/go"
//
//		_ "example.com/own/mylock" // registers mutex/my-lock
//	)
//
//	func main() { kit.Serve("mutex/my-lock") }
//
// docs/reference/protocol.md has what a module exports, and the layout of its requests.
package kit

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/guest/wire"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// A Server answers the requests of one algorithm.
type Server struct {
	alg       *algo.Algorithm
	draws     bool
	processes map[uint64]*algo.Stepper
	buf       algo.Buffer
	out       []byte
	message   []byte
}

// An Option is about how an algorithm is served.
type Option func(*Server)

// Draws says that the algorithm draws random numbers. All of an event come from its 64 bits.
func Draws(s *Server) { s.draws = true }

// NewServer serves the algorithm of an ID that a plugin has registered. The error is of an ID that none has.
func NewServer(id string, options ...Option) (*Server, error) {
	alg, err := algo.Lookup(id)
	if err != nil {
		return nil, err
	}
	own := *alg
	own.Spec.Needs.Anonymous = false // who asks has put names in place of IDs already
	s := &Server{alg: &own, processes: map[uint64]*algo.Stepper{}}
	for _, o := range options {
		o(s)
	}
	return s, nil
}

// A request is one in JSON.
type request struct {
	N         uint64                       `json:"n"`
	On        string                       `json:"on"`
	Process   uint64                       `json:"process"`
	Parameter string                       `json:"parameter"`
	Network   wire.Network                 `json:"network"`
	Params    values                       `json:"params"`
	All       lists                        `json:"all"`
	Config    wire.Config[json.RawMessage] `json:"config"`
	Saved     *saved                       `json:"saved"`
}

type (
	values = map[string]json.RawMessage
	lists  = map[string][]json.RawMessage
	saved  struct {
		Kind string          `json:"kind"`
		Msg  json.RawMessage `json:"msg"`
	}
)

// An answer is one in JSON.
type answer struct {
	N        uint64 `json:"n"`
	Protocol int    `json:"protocol,omitempty"`
	Compact  bool   `json:"compact,omitempty"`
	Spec     any    `json:"spec,omitempty"`
	Value    any    `json:"value,omitempty"`
	Failed   string `json:"failed,omitempty"`
}

// Call answers a request. The answer is valid until the next one.
func (s *Server) Call(b []byte) []byte {
	if len(b) > 0 && b[0] != '{' {
		return s.event(b)
	}
	var r request
	a := answer{}
	err := json.Unmarshal(b, &r)
	if err == nil {
		a.N = r.N
		err = s.handle(&r, &a)
	}
	if err != nil {
		a.Failed = err.Error()
	}
	text, err := json.Marshal(a)
	if err != nil {
		panic(err) // plain data
	}
	if r.On == "doubt" && a.Value == nil && a.Failed == "" { // no doubt is a value, too
		text = append(text[:len(text)-1], `,"value":null}`...)
	}
	s.out = append(s.out[:0], text...)
	return s.out
}

func (s *Server) handle(r *request, a *answer) (err error) {
	switch r.On {
	case "describe":
		a.Protocol, a.Compact = wire.Version, true
		a.Spec, err = describe(s.alg, s.draws)
	case "default":
		p, err := s.params(r.Params, r.All)
		if err != nil {
			return err
		}
		a.Value, err = s.preset(r.Parameter, r.Network.With(p))
		return err
	case "doubt":
		p, err := s.params(r.Params, r.All)
		if err != nil {
			return err
		}
		if why := s.alg.Spec.Needs.Params(r.Network.With(p), p); why != nil {
			a.Value = why.Error()
		}
	case "new":
		return s.begin(r)
	case "drop":
		delete(s.processes, r.Process)
	case "end":
	default:
		err = fmt.Errorf("unknown request %q", r.On)
	}
	return err
}

func (s *Server) preset(name string, n algo.Network) (any, error) {
	for i := range s.alg.Spec.Params {
		if p := &s.alg.Spec.Params[i]; p.Name == name {
			return p.Default.(func(algo.Network) any)(n), nil
		}
	}
	return nil, fmt.Errorf("no parameter %q", name)
}

// params are parameters in the types that the Spec declares.
func (s *Server) params(own values, all lists) (algo.Params, error) {
	out := algo.Params{}
	for i := range s.alg.Spec.Params {
		p := &s.alg.Spec.Params[i]
		if list, differs := all[p.Name]; differs {
			typed := make([]any, len(list))
			for i := range list {
				var err error
				if typed[i], err = value(p.Type, list[i]); err != nil {
					return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
				}
			}
			out[p.Name] = typed
		} else if text, is := own[p.Name]; is {
			v, err := value(p.Type, text)
			if err != nil {
				return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
			}
			out[p.Name] = v
		}
	}
	return out, nil
}

func value(t algo.ParamType, b []byte) (any, error) {
	switch t {
	case algo.Bool:
		return as[bool](b)
	case algo.Int:
		return as[int64](b)
	case algo.Float:
		return as[float64](b)
	case algo.Duration:
		return as[time.Duration](b)
	}
	return as[string](b)
}

func as[T any](b []byte) (v T, err error) {
	err = json.Unmarshal(b, &v)
	return v, err
}

// begin makes a process.
func (s *Server) begin(r *request) error {
	c := &r.Config
	p, err := s.params(c.Params, c.All)
	if err != nil {
		return err
	}
	own := c.With(p)
	if r.Saved != nil {
		if own.Saved, err = s.saved(r.Saved); err != nil {
			return err
		}
	}
	s.processes[r.Process] = algo.NewStepper(s.alg, own, 1, &s.buf)
	return nil
}

// event is an event and its answer in the compact layout.
func (s *Server) event(b []byte) []byte {
	e := reader{b: b[1:]}
	p := s.processes[e.number()]
	now := time.Duration(e.number())
	if p == nil {
		return s.failed("no such process")
	}
	if s.draws {
		p.Redraw(e.word())
	}
	ev := algo.Event{Type: wire.EventOf(b[0])}
	switch ev.Type {
	case algo.Receive:
		ev.Peer = algo.ID(e.number())
		s.message = append(append(s.message[:0], algo.CodecVersion), e.b...)
		m, _, err := s.alg.Codec.Decode(s.message)
		if err != nil {
			return s.failed(err.Error())
		}
		ev.Msg = m
	case algo.Timeout:
		ev.Timer = algo.Timer(e.text())
	case algo.Request:
		ev.Session = algo.Session(e.number())
	case algo.Suspect, algo.Restore:
		ev.Peer = algo.ID(e.number())
	case algo.Do:
		ev.Peer = algo.ID(e.number())
		ev.Op = e.text()
	}
	s.out = s.out[:0]
	for _, f := range p.Step(now, ev) {
		s.effect(&f)
	}
	if err := p.Invariant(); err != nil {
		s.text(wire.Broken, err.Error())
	}
	return s.out
}

func (s *Server) failed(why string) []byte {
	s.out = s.out[:0]
	s.text(wire.Failed, why)
	return s.out
}

func (s *Server) text(op byte, t string) {
	s.out = append(binary.AppendUvarint(append(s.out, op), uint64(len(t))), t...)
}

func (s *Server) effect(f *algo.Effect) {
	switch f.Op {
	case algo.OpSend:
		s.out = binary.AppendUvarint(append(s.out, wire.Send), uint64(f.Peer))
		s.fields(f.Msg)
	case algo.OpSetTimer:
		s.text(wire.Set, string(f.Timer))
		s.out = binary.AppendUvarint(s.out, uint64(f.After))
	case algo.OpCancelTimer:
		s.text(wire.Cancel, string(f.Timer))
	case algo.OpGranted:
		s.out = append(s.out, wire.Granted)
	case algo.OpElected:
		s.out = binary.AppendUvarint(append(s.out, wire.Elected), uint64(f.Peer))
		s.out = binary.AppendUvarint(s.out, f.Term)
	case algo.OpSave:
		s.out = append(s.out, wire.Save)
		s.fields(f.Msg)
	case algo.OpLog:
		s.text(wire.Log, f.Text)
	}
}

// fields are the kind of a message, the length of its fields, and these.
func (s *Server) fields(m algo.Message) {
	var err error
	if s.message, err = s.alg.Codec.Encode(s.message[:0], m); err != nil {
		panic(err)
	}
	kind, body := s.message[1], s.message[2:]
	s.out = append(binary.AppendUvarint(append(s.out, kind), uint64(len(body))), body...)
}

// A reader reads the compact layout, which is well formed.
type reader struct{ b []byte }

func (r *reader) number() uint64 {
	x, n := binary.Uvarint(r.b)
	r.b = r.b[max(n, 0):]
	return x
}

func (r *reader) word() uint64 {
	x := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return x
}

func (r *reader) text() string {
	n := r.number()
	t := string(r.b[:n])
	r.b = r.b[n:]
	return t
}
