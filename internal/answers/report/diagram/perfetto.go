package diagram

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
)

// A perfEvent is one entry of Chrome's trace format, which Perfetto reads.
type perfEvent struct {
	Phase string         `json:"ph"`
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	ID    int            `json:"id,omitempty"`
	Bind  string         `json:"bp,omitempty"`
	Scope string         `json:"s,omitempty"`
	Pid   int            `json:"pid"`
	Tid   int            `json:"tid"`
	At    float64        `json:"ts"` // µs
	Dur   *float64       `json:"dur,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// Each process has several tracks, since slices of one track must nest: its steps,
// and each of its states.
const (
	trackSteps = iota
	trackLeader
	trackSection
	trackFault
	tracks
)

var trackNames = [tracks]string{"", " leader", " critical section", " faults"}

// stepLong is how long a step seems to take, if the next one is not sooner: events
// take no time, but arrows end at slices.
const stepLong = 20 * time.Microsecond

// perfetto writes a trace in Chrome's format for ui.perfetto.dev: a track for the
// steps of each process, arrows for messages, slices for states, and a counter of the
// messages on their way.
func (d *Diagram) perfetto(w io.Writer) ([]string, error) {
	p := perfetto{Diagram: d, zero: min(0, d.from)}
	p.name("process_name", 0, d.trace.Title)
	for _, q := range d.processes() {
		for t, name := range trackNames {
			p.name("thread_name", p.tid(q, t), fmt.Sprintf("p%d%s", q, name))
		}
		p.steps(q)
		p.states(q)
	}
	p.network()
	p.messages()
	out, err := json.Marshal(struct {
		Unit   string      `json:"displayTimeUnit"`
		Events []perfEvent `json:"traceEvents"`
	}{"ns", p.out})
	if err == nil {
		_, err = w.Write(append(out, '\n'))
	}
	return nil, err
}

type perfetto struct {
	*Diagram
	zero time.Duration // no instant may be negative
	out  []perfEvent
}

func (p *perfetto) tid(process uint32, track int) int { return int(process)*tracks + track }

// us is an instant in µs, exact to the ns.
func (p *perfetto) us(t time.Duration) float64 { return float64(t-p.zero) / 1e3 }

func (p *perfetto) name(what string, tid int, name string) {
	p.out = append(p.out, perfEvent{Phase: "M", Name: what, Pid: 1, Tid: tid,
		Args: map[string]any{"name": name}})
}

func (p *perfetto) slice(name string, tid int, from, to time.Duration, args map[string]any) {
	from, to = max(from, p.from), min(to, p.to)
	if from > to {
		return
	}
	dur := float64(to-from) / 1e3
	p.out = append(p.out, perfEvent{Phase: "X", Name: name, Pid: 1, Tid: tid, At: p.us(from), Dur: &dur,
		Args: args})
}

// steps are the events of a process: a slice for each instant at which there are any.
func (p *perfetto) steps(q uint32) {
	var instants []time.Duration
	var texts [][]string
	for i := range p.trace.Records {
		r := &p.trace.Records[i]
		if !p.kept[i] || !own(r) || r.Process != q {
			continue
		}
		if n := len(instants); n == 0 || instants[n-1] != r.At {
			instants, texts = append(instants, r.At), append(texts, nil)
		}
		n := len(texts) - 1
		texts[n] = append(texts[n], sentence(r, p.trace.Kinds))
	}
	for i, at := range instants {
		long := stepLong
		if i+1 < len(instants) {
			long = min(long, instants[i+1]-at)
		}
		dur := float64(long) / 1e3
		p.out = append(p.out, perfEvent{Phase: "X", Name: texts[i][0], Pid: 1, Tid: p.tid(q, trackSteps),
			At: p.us(at), Dur: &dur, Args: map[string]any{"events": texts[i]}})
	}
}

// states are what a process is in the middle of. Those of one track never overlap.
func (p *perfetto) states(q uint32) {
	lane := &p.story.lanes[q-1]
	for _, b := range lane.of(names) {
		name := fmt.Sprintf("p%d", b.leader)
		if b.leader == q {
			name += " leads"
		}
		p.slice(name, p.tid(q, trackLeader), b.from, b.to, map[string]any{"term": b.term})
	}
	for _, of := range []struct {
		what  what
		name  string
		track int
	}{{waits, "waits", trackSection}, {inside, "inside", trackSection}, {down, "down", trackFault},
		{faulty, "paused", trackFault}} {
		for _, s := range lane.of(of.what) {
			if s.state == nil || s.state.Sign == "pause" { // the others may overlap
				p.slice(of.name, p.tid(q, of.track), s.from, s.to, nil)
			}
		}
	}
}

// network is what happens to links, as instants across all tracks.
func (p *perfetto) network() {
	for i := range p.trace.Records {
		if r := &p.trace.Records[i]; p.kept[i] && r.Process == 0 {
			p.out = append(p.out, perfEvent{Phase: "i", Name: sentence(r, p.trace.Kinds), Pid: 1, Scope: "p",
				At: p.us(r.At)})
		}
	}
}

// messages are arrows between steps. One that nobody received has no arrow; it is an
// instant where it was sent.
func (p *perfetto) messages() {
	change := map[time.Duration]int{}
	for i := range p.story.messages {
		m := &p.story.messages[i]
		if !p.shown(m) || m.origin < 0 || !p.kept[m.origin] {
			continue
		}
		name := harness.KindName(m.plane, m.kind, p.trace.Kinds)
		change[m.sent]++
		change[m.at]--
		if m.fate != delivered || !p.kept[m.end] {
			p.out = append(p.out, perfEvent{Phase: "i", Name: p.words(m), Pid: 1, Scope: "t",
				Tid: p.tid(m.from, trackSteps), At: p.us(p.trace.Records[m.origin].At)})
			continue
		}
		flow := perfEvent{Phase: "s", Name: name, Cat: "message", ID: i + 1, Pid: 1,
			Tid: p.tid(m.from, trackSteps), At: p.us(p.trace.Records[m.origin].At)}
		end := flow
		end.Phase, end.Bind, end.Tid, end.At = "f", "e", p.tid(m.to, trackSteps), p.us(m.at)
		p.out = append(p.out, flow, end)
	}
	p.count(change)
}

// count is how many messages are on their way.
func (p *perfetto) count(change map[time.Duration]int) {
	flying := 0
	for _, at := range slices.Sorted(maps.Keys(change)) {
		if at > p.to {
			break
		}
		flying += change[at]
		p.out = append(p.out, perfEvent{Phase: "C", Name: "messages in flight", Pid: 1, At: p.us(at),
			Args: map[string]any{"messages": flying}})
	}
}
