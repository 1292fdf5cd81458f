package fault

import (
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Trigger is what an event can wait for: a value of on.
type Trigger struct {
	Name, Doc string
	Problem   algo.Problem // in which it can happen; "": in both
	Kind      bool         // the event says of which kind of message
	Record    trace.Type
	Fits      func(r *trace.Record, kind uint8) bool // nil: every such record
}

func (t Trigger) word() string { return t.Name }

// Triggers is what an event can wait for.
var Triggers = Words[Trigger]{
	{Name: "elected", Doc: "a process names itself leader", Problem: algo.Election, Record: trace.Elected,
		Fits: func(r *trace.Record, _ uint8) bool { return r.Process == r.Peer }},
	{Name: "granted", Doc: "a process enters the critical section", Problem: algo.MutualExclusion,
		Record: trace.Granted},
	{Name: "sent", Doc: "a process sends a message of kind", Kind: true, Record: trace.Send,
		Fits: func(r *trace.Record, kind uint8) bool { return r.Plane == trace.Data && r.Kind == kind }},
}

// Pulled says whether r is what the trigger waits for.
func (t *Trigger) Pulled(r *trace.Record, kind uint8) bool {
	return r.Type == t.Record && (t.Fits == nil || t.Fits(r, kind))
}
