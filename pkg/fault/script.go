package fault

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/param"
)

// The names of what only a line of a script does.
const (
	Elect   = "elect"
	Suspect = "suspect"
	Request = "request"
)

// Requesting is what request alone says: the session, from 1; 0: the one that the scenario gives.
type Requesting struct{ Session int }

// Params declares the fields.
func (r *Requesting) Params() []param.Param {
	return []param.Param{{Name: "session", Example: "2", Doc: "request: the session, where the algorithm " +
		"admits those of one together", At: &r.Session, Min: 1, Max: algo.MostSessions,
		With: "at: 1s, do: request, node: 3"}}
}

func init() {
	Register(Fault{
		Name: Elect, Doc: "starts an election", Script: true, Problem: algo.Election,
		Takes: []string{"node"}, One: []string{"node"},
		Inside: func(p Process, now time.Duration, _ *Instruction) { p.Elect(now) },
	})
	Register(Fault{
		Name: Suspect, Doc: "suspects another, by default the leader", Script: true,
		Takes: []string{"node", "of"}, One: []string{"node"},
		Inside: func(p Process, now time.Duration, i *Instruction) { p.Suspect(now, i.Of, true) },
	})
	Register(Fault{
		Name: Request, Doc: "requests the critical section", Script: true, Problem: algo.MutualExclusion,
		Takes: []string{"node", "session"}, Args: &Requesting{}, One: []string{"node"},
		Inside: func(p Process, now time.Duration, i *Instruction) {
			p.Request(now, i.At, algo.Session(own[Requesting](i.Args).Session))
		},
	})
}

// Operation is what a line of a script does if it is no Fault's name: an operation of the
// algorithm's own, as far as this program knows.
var Operation = &Fault{
	Script: true, Takes: []string{"node", "target"}, One: []string{"node"},
	Inside: func(p Process, now time.Duration, i *Instruction) { p.Do(now, i.Do, i.Of) },
}
