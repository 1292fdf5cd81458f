package harness

import (
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/link"
)

// Faults is what goes wrong in any scenario.
type Faults struct {
	CrashRate float64      `json:"crash_rate"`         // crashes per live process and second
	Downtime  link.Latency `json:"downtime"`           // from such a crash to the restart; zero: for ever
	MaxDown   int          `json:"max_down,omitempty"` // down at once by such crashes; 0: a minority
	Events    []Event      `json:"events,omitempty"`
}

// An Event is one line of a script, or of what goes wrong. It happens at an
// instant (At; again and again with Every or Rate), after a line of the script
// (After), or when something else has happened (On).
type Event struct {
	At    time.Duration `json:"at"`
	Every time.Duration `json:"every,omitempty"` // from At on
	Rate  float64       `json:"rate,omitempty"`  // per second, from At on: a Poisson process
	After string        `json:"after,omitempty"` // script: quiet or release, of the lines before
	On    string        `json:"on,omitempty"`    // elected, granted or sent
	Kind  string        `json:"kind,omitempty"`  // on sent, drop: of the message
	Count int           `json:"count,omitempty"` // on, drop: the how-many-th; 0: the first
	Times int           `json:"times,omitempty"` // how often; 0: on, drop: once; every, rate: without end
	Wait  time.Duration `json:"wait,omitempty"`  // on: until it happens

	Do    string        `json:"do"`
	Node  algo.ID       `json:"node,omitempty"`
	Nodes []algo.ID     `json:"nodes,omitempty"` // several
	Who   string        `json:"who,omitempty"`   // in place of them: one of Choices
	For   time.Duration `json:"for,omitempty"`   // then it is undone; 0: it is not

	Of      algo.ID       `json:"of,omitempty"`      // suspect: whom
	Target  algo.ID       `json:"target,omitempty"`  // of an operation of the algorithm's own
	Groups  [][]uint32    `json:"groups,omitempty"`  // cut, heal
	Links   [][2]uint32   `json:"links,omitempty"`   // cut, heal, flaky: from, to; in one direction
	Shape   string        `json:"shape,omitempty"`   // cut: one of Shapes
	Loss    *float64      `json:"loss,omitempty"`    // flaky: probability
	Latency *link.Latency `json:"latency,omitempty"` // flaky
	By      time.Duration `json:"by,omitempty"`      // slow: for each event
}

// Timeline are the events of the plan: what goes wrong, and the lines of a script.
func (p *Plan) Timeline() []Event { return slices.Concat(p.Faults.Events, p.Scenario.Events) }

// A Word is a word of the experiment file and what it means.
type Word struct{ Name, Doc string }

// Choices is whom an event can happen to, found out at its instant.
var Choices = []Word{
	{"random", "a live process, drawn at random"},
	{"leader", "the live process that last named itself leader, else whom most name"},
	{"token-holder", "the process that the token last came to"},
	{"in-critical-section", "who is inside"},
	{"successor-of-leader", "the next lower live process, from the lowest on the highest"},
	{"majority", "more than half of all processes, drawn at random"},
	{"minority", "less than half of all processes, drawn at random"},
	{"all-crashed", "every process that is down"},
	{"all", "every process"},
}

// Shapes is how a network can fall apart.
var Shapes = []Word{
	{"halves", "the lower half of the processes against the rest, which is the larger by one if odd"},
	{"majority", "the leader and a random majority against the rest"},
	{"minority", "the leader and a random minority against the rest"},
	{"isolate", "who (the leader) against all others"},
	{"deaf", "nothing comes to who (the leader); what it sends does arrive"},
	{"mute", "nothing of what who (the leader) sends arrives; what others send it does"},
	{"bridge", "halves, but who (the middle one) talks to both"},
	{"ring", "each process talks to a majority, its nearest by number, and no two to the same"},
	{"random", "two random sides, neither empty, drawn anew each time"},
}

// Triggers is what an event can wait for.
var Triggers = []Word{
	{"elected", "a process names itself leader"},
	{"granted", "a process enters the critical section"},
	{"sent", "a process sends a message of kind"},
}
