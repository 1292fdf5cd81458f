package fault

import (
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/param"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// An Event is one line of a script, or of what goes wrong. It happens at an
// instant (At; again and again with Every or Rate), after a line of the script
// (After), or when something else has happened (On).
type Event struct {
	At    time.Duration `json:"at"`
	Every time.Duration `json:"every,omitempty"` // from At on
	Rate  float64       `json:"rate,omitempty"`  // per second, from At on: a Poisson process
	After string        `json:"after,omitempty"` // script: quiet or release, of the lines before
	On    string        `json:"on,omitempty"`    // one of Triggers
	Kind  string        `json:"kind,omitempty"`  // on sent, drop: of the message
	Count int           `json:"count,omitempty"` // on, drop: the how-many-th; 0: the first
	Led   bool          `json:"-"`               // of a scenario: it happens once a process leads
	Times int           `json:"times,omitempty"` // how often; 0: on, drop: once; every, rate: without end
	Wait  time.Duration `json:"wait,omitempty"`  // on: until it happens

	Do    string        `json:"do"`
	Node  algo.ID       `json:"node,omitempty"`
	Nodes []algo.ID     `json:"nodes,omitempty"` // several
	Who   string        `json:"who,omitempty"`   // in place of them: one of Choices
	Host  string        `json:"host,omitempty"`  // whose processes Nodes are, in a plan
	For   time.Duration `json:"for,omitempty"`   // then it is undone; 0: it is not

	Of      algo.ID       `json:"of,omitempty"`      // suspect: whom
	Target  algo.ID       `json:"target,omitempty"`  // of an operation of the algorithm's own
	Groups  [][]uint32    `json:"groups,omitempty"`  // cut, heal
	Links   [][2]uint32   `json:"links,omitempty"`   // cut, heal, flaky: from, to; in one direction
	Shape   string        `json:"shape,omitempty"`   // cut: one of Shapes
	Latency *link.Latency `json:"latency,omitempty"` // flaky
	Length  *link.Latency `json:"length,omitempty"`  // stall
	Args    Args          `json:"args,omitzero"`     // of the fault's own; never changed in place
}

// Named says whether the event names its process by number.
func (e *Event) Named() bool { return e.Node != algo.None || len(e.Nodes) > 0 }

// Aimed says whether the event names its process, by number or by a word.
func (e *Event) Aimed() bool { return e.Named() || e.Who != "" }

// Again says whether the event happens again and again.
func (e *Event) Again() bool { return e.Every > 0 || e.Rate > 0 }

// Ends says whether the event does not happen again and again without end.
func (e *Event) Ends() bool { return !e.Again() || e.Times > 0 }

// Settled says whether it is known before the start which process the event
// happens to.
func (e *Event) Settled() bool {
	if s := Shapes.Named(e.Shape); s != nil {
		return s.settled(e)
	}
	f := of(e.Do)
	return e.Who == "" && (e.Named() || f.Default == "" || f.Default == "all")
}

// ByLeader says whether the event waits until a process leads: it happens to a leader, or
// because of one. On a trigger it waits for that alone, which may come when no process
// leads.
func (e *Event) ByLeader() bool {
	if e.On != "" {
		return false
	}
	layout, choice := Shapes.Named(e.Shape), Choices.Named(e.Who)
	return e.Led || choice != nil && choice.Leads || layout != nil && layout.AroundLeader(e)
}

// Broken is what the event breaks of an algorithm's model, where a message takes at most d.
func (e *Event) Broken(d time.Duration) Assumption {
	if f := Named(e.Do); f != nil && f.Breaks != nil {
		return f.Breaks(e, d)
	}
	return 0
}

// An Own is what a fault alone says of its event: a struct of its own. It does not change once it is
// made.
type Own = param.Kind

// Args are the values of such a struct; zero: there are none.
type Args struct{ Own }

// MarshalJSON writes the name of the fault, and the values.
func (a Args) MarshalJSON() ([]byte, error) { return faults.Encode(a.Own) }

// UnmarshalJSON reads them.
func (a *Args) UnmarshalJSON(b []byte) (err error) {
	a.Own, err = faults.Decode(b)
	return err
}

// IsZero says whether there are none.
func (a Args) IsZero() bool { return a.Own == nil }

// Of are the parameters; none if there are none.
func (a Args) Of() []param.Param {
	if a.Own == nil {
		return nil
	}
	return a.Own.Params()
}

// own is what a fault alone says; the zero value if nothing is said.
func own[T any](a Args) (t T) {
	if p, is := any(a.Own).(*T); is {
		return *p
	}
	return t
}

// An Instruction is one thing that the coordinator wants done.
type Instruction struct {
	At       time.Duration  `json:"at"` // offset from the start; in the past: at once
	Do       string         `json:"do"` // a fault, or an operation of the algorithm's own
	Undo     bool           `json:"undo,omitempty"`
	Node     algo.ID        `json:"node,omitempty"`
	Of       algo.ID        `json:"of,omitempty"`       // suspect: whom; otherwise the operation's target
	Groups   [][]uint32     `json:"groups,omitempty"`   // cut, heal
	Links    [][2]uint32    `json:"links,omitempty"`    // cut, heal
	Override *link.Override `json:"override,omitempty"` // flaky; its From is the instant
	Args     Args           `json:"args,omitzero"`
	Fault    int            `json:"fault,omitempty"` // strike: which of the coordinator's events

	does *Fault // that of the name, where it is known already
}

func (i *Instruction) of() *Fault {
	if i.does != nil {
		return i.does
	}
	return of(i.Do)
}

// What the coordinator asks of the executor besides.
const (
	Strike = "strike" // ask the coordinator whom an event happens to
	Alarm  = "alarm"  // tell the coordinator that the instant has come
	Finish = "finish" // end the trial
)

// Alarm says whether the coordinator only wants to be called at the instant.
func (i *Instruction) Alarm() bool { return i.Do == Alarm }

// Strike says whether the coordinator is to be asked what to do.
func (i *Instruction) Strike() bool { return i.Do == Strike }

// Finish says whether the trial is over.
func (i *Instruction) Finish() bool { return i.Do == Finish }

// internal says whether nothing happens to processes or links.
func (i *Instruction) internal() bool { return i.Alarm() || i.Strike() || i.Finish() }

// Control says whether the instruction comes before all else of its instant: faults
// do, and commands to an application come last.
func (i *Instruction) Control() bool { return i.internal() || !i.of().Script }

// Inside says whether the process carries the instruction out itself.
func (i *Instruction) Inside() bool { return !i.internal() && i.of().Inside != nil }

// OfLinks says whether the instruction is about links.
func (i *Instruction) OfLinks() bool { return !i.internal() && i.of().Network != nil }

// Network is what the instruction makes of the links from the instant at on, and the record
// of that, without the instant at which it happens.
func (i *Instruction) Network(at time.Duration) (trace.Record, Effect) {
	f := i.of()
	e := f.Network(i, at)
	return trace.Record{Type: f.Record, Text: e.text()}, e
}

// Apply carries the instruction out on a process from outside.
func (i *Instruction) Apply(x Executor) { i.of().Outside(x, i) }

// Obey has the process carry the instruction out.
func (i *Instruction) Obey(p Process, now time.Duration) { i.of().Inside(p, now, i) }

// Recorded says whether the process is to leave a Fault record with the instruction's Text:
// what has no type of record of its own.
func (i *Instruction) Recorded() bool {
	f := i.of()
	return f.Inside != nil && !f.Script
}

// undone is behind the name of a fault without arguments where it is undone.
const undone = "undone"

// Text is the instruction as it stands in a record: "drift factor 1.1", and "drift" where
// it is undone; "hung-disk", and "hung-disk undone".
func (i *Instruction) Text() string {
	words := []string{i.Do}
	switch {
	case i.Undo && i.of().Args == nil:
		words = append(words, undone)
	case !i.Undo:
		for _, p := range i.Args.Of() {
			words = append(words, p.Name, p.Text())
		}
	}
	return strings.Join(words, " ")
}

// Parse reads what Text wrote. The fault is nil if it is not of this program.
func Parse(text string) (f *Fault, i Instruction) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil, i
	}
	if f = Named(words[0]); f == nil {
		return nil, i
	}
	i = Instruction{Do: f.Name, Undo: len(words) == 1}
	if f.Args == nil {
		i.Undo = len(words) == 2 && words[1] == undone
		if !i.Undo && len(words) > 1 {
			return nil, i
		}
		return f, i
	}
	if len(words)%2 == 0 {
		return nil, i
	}
	if i.Undo {
		return f, i
	}
	i.Args.Own, _ = faults.New(f.Name)
	params := i.Args.Of()
	for pair := range slices.Chunk(words[1:], 2) {
		if p := param.Find(params, pair[0]); p == nil || p.Scan(pair[1]) != nil {
			return nil, i
		}
	}
	return f, i
}
