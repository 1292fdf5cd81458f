package fault

import (
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Heal is the name of the fault by which messages pass again.
const Heal = "heal"

func init() {
	Register(Fault{
		Name: Heal, Doc: "restores links: between groups, the given ones, or all",
		Takes: []string{"groups", "links"},
		Network: func(i *Instruction, at time.Duration) Effect {
			return Effect{Change: &link.Change{At: at, Heal: true, Groups: i.Groups, Links: i.Links}}
		},
		Aim: func(_ Situation, e *Event, _ time.Duration) (Instruction, bool) {
			return Instruction{Groups: e.Groups, Links: e.Links}, true
		},
		Record: trace.Heal,
		Words: func(r *trace.Record, _ Args) string {
			return strings.TrimSuffix("links heal: "+r.Text, ": ")
		},
	})
}
