package fault

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// The names of what only a line of a script does.
const (
	Elect   = "elect"
	Suspect = "suspect"
	Request = "request"
)

func init() {
	Register(Fault{
		Name: Elect, Doc: "starts an election", Script: true, Problem: algo.Election,
		Args: []Arg{node}, One: []string{"node"},
		Inside: func(p Process, now time.Duration, _ *Instruction) { p.Elect(now) },
	})
	Register(Fault{
		Name: Suspect, Doc: "suspects another, by default the leader", Script: true,
		Args: []Arg{node, {Name: "of", Type: TypeProcess}}, One: []string{"node"},
		Inside: func(p Process, now time.Duration, i *Instruction) { p.Suspect(now, i.Of, true) },
	})
	Register(Fault{
		Name: Request, Doc: "requests the critical section", Script: true, Problem: algo.MutualExclusion,
		Args: []Arg{node, {Name: "session", Type: TypeWhole, Min: 1, Max: algo.MostSessions}},
		One:  []string{"node"},
		Inside: func(p Process, now time.Duration, i *Instruction) {
			p.Request(now, i.At, algo.Session(i.Args["session"]))
		},
	})
}

// Operation is what a line of a script does if it is no Fault's name: an operation of the
// algorithm's own, as far as this program knows.
var Operation = &Fault{
	Script: true, Args: []Arg{node, {Name: "target", Type: TypeProcess}}, One: []string{"node"},
	Inside: func(p Process, now time.Duration, i *Instruction) { p.Do(now, i.Do, i.Of) },
}
