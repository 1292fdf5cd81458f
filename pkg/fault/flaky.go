package fault

import (
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/param"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Flaky is the name of the fault by which links lose more, or take longer.
const Flaky = "flaky"

// Losing is what flaky alone says: the probability that a message is lost, from 0 to 1, nil if that is
// unchanged; and after how long a second copy of each arrives, 0 if none does.
type Losing struct {
	Loss *float64
	Copy time.Duration
}

// Lossy is the argument of an event of flaky that loses a share of the messages, from 0 to 1.
func Lossy(share float64) Args { return Args{&Losing{Loss: &share}} }

// Twice is the argument of an event of flaky by which messages arrive a second time, so long after they
// were sent.
func Twice(after time.Duration) Args { return Args{&Losing{Copy: after}} }

// Params declares the fields.
func (l *Losing) Params() []param.Param {
	return []param.Param{{Name: "loss", Doc: "flaky: probability that a message on the links is lost " +
		"meanwhile", At: &l.Loss, Min: 0.0, Max: 1.0, Example: "0.3", With: "at: 1s, do: flaky"},
		{Name: "copy", Doc: "flaky: each message on the links meanwhile arrives twice, the second time so " +
			"long after it was sent", At: &l.Copy, Min: time.Duration(0), Max: 24 * time.Hour, Example: "5ms",
			With: "at: 1s, do: flaky"}}
}

func init() {
	Register(Fault{
		Name: Flaky, Doc: "overrides loss or latency on links, on those of who, or on all, or has messages " +
			"arrive twice",
		Takes: []string{"links", "who", "loss", "latency", "copy", "for"}, Args: &Losing{},
		Any: []string{"loss", "latency", "copy"}, Apart: []string{"links", "who"},
		Network: func(i *Instruction, at time.Duration) Effect {
			if i.Override == nil {
				return Effect{}
			}
			o := *i.Override
			o.From = at
			return Effect{Override: &o}
		},
		Aim: func(s Situation, e *Event, at time.Duration) (Instruction, bool) {
			says := own[Losing](e.Args)
			o := link.Override{From: at, Latency: e.Latency, Loss: says.Loss, Copy: says.Copy}
			if e.For > 0 {
				o.To = at + e.For
			}
			if o.Links = e.Links; len(e.Links) == 0 && e.Aimed() {
				o.Links = e.outside(around(s.Peers(), e.targets(s)))
			}
			return Instruction{Override: &o}, o.Links != nil || !e.Aimed()
		},
		Breaks: func(e *Event, d time.Duration) (broken Assumption) {
			says := own[Losing](e.Args)
			if says.Loss != nil && *says.Loss > 0 {
				broken |= Loss
			}
			if says.Copy > 0 {
				broken |= Duplication
			}
			if says.Copy > d {
				broken |= LinkDelay
			}
			if e.Latency != nil {
				if most, bounded := e.Latency.Bound(); !bounded || most > d {
					broken |= LinkDelay
				}
			}
			return broken
		},
		Record: trace.Flaky,
		Words: func(r *trace.Record, _ Args) string {
			if r.Text == "" {
				return "links are flaky no longer"
			}
			return "links are flaky: " + r.Text
		},
		Draw: drawFlaky,
	})
}

// around are the links to and from the chosen ones.
func around[P ~uint32](peers, chosen []P) (links [][2]uint32) {
	for _, p := range peers {
		for _, q := range chosen {
			if p != q {
				links = append(links, [2]uint32{uint32(p), uint32(q)})
				if !slices.Contains(chosen, p) {
					links = append(links, [2]uint32{uint32(q), uint32(p)})
				}
			}
		}
	}
	return links
}

// drawFlaky is loss on all links or on one, or one link that takes long.
func drawFlaky(d *Draw) Event {
	e := Event{For: d.Span()}
	if d.Allowed&Loss != 0 && (d.Allowed&LinkDelay == 0 || d.chance(2)) {
		e.Args = Lossy(pick(d, 0.05, 0.3, 1))
		if d.chance(2) {
			e.Links = d.link()
		}
		return e
	}
	slow := link.Constant(pick(d, 3*d.Latency, d.Unit))
	e.Links, e.Latency = d.link(), &slow
	return e
}
