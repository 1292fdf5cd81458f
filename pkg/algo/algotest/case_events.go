package algotest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// A caseEvent is a line of a case's script.
type caseEvent struct {
	T      *float64   `json:"t"`
	When   string     `json:"when"`
	Op     string     `json:"op"`
	Node   algo.ID    `json:"node"`
	Of     algo.ID    `json:"of"`
	Target algo.ID    `json:"target"`
	Groups [][]uint32 `json:"groups"`
}

// The orders of the messages that arrive at one instant.
const (
	ascending  = "ascending sender id"
	descending = "descending sender id"
)

// whens is when an event happens that has no instant.
var whens = map[string]string{
	"network quiescent": "quiet", "immediately after its release": "release",
}

// boot starts a process, which all do at the start anyway.
const boot = "boot"

// ops is what an event can do to which sort of algorithm, and what it is called in
// scripts. Others are the algorithm's own.
var ops = []struct {
	name, verb string
	problem    algo.Problem // "": both
}{
	{"request", harness.DoRequest, algo.MutualExclusion},
	{"suspect", harness.DoSuspect, ""},
	{"start", harness.DoElect, algo.Election},
	{"elect", harness.DoElect, algo.Election},
	{"crash", harness.DoCrash, ""},
	{"restart", harness.DoRestart, ""},
	{"cut", harness.DoCut, ""},
	{"heal", harness.DoHeal, ""},
	{boot, boot, ""},
}

// moment is how exactly cases tell time. Who has the token at the start looks what to
// do with it after all that is asked at the start: else a token that nobody near wants
// could not set out at 0 (TOKENRING-01) and its holder, who asks at 0, enter at 0
// (TOKENRING-02), since until then nothing tells the one from the other. Raynal's
// first turn is alike (RAYNAL-M-01 and RAYNAL-M-04). Here Start comes first, so these
// processes set a timer of a nanosecond: to a case, that is the same instant.
const moment = unit / 1000

// longest bounds the times of a case, and patience how long after the last of them one
// that has no end may go on, in units.
const (
	longest  = 1_000_000
	patience = 1_000
)

// span says whether t is a time.
func span(key string, t float64) *Mistake {
	if !(0 <= t && t <= longest) {
		return wrong(key, "%v, want a time from 0 to %d", t, longest)
	}
	return nil
}

// end is the end of a trial that has all of the instant t.
func end(t float64) time.Duration { return units(t) + moment }

// hold is the time in the critical section, in units.
func (c *Reference) hold() float64 {
	if c.Scenario.Hold == nil {
		return 1
	}
	return *c.Scenario.Hold
}

// words is the events, if they are put in words.
func (c *Reference) words() (text string) {
	_ = json.Unmarshal(c.Scenario.Events, &text) // or it is a list
	return text
}

// What cases say in words of links and of random requests.
const (
	nonFIFO  = "non-FIFO, "
	workload = "%d sequential requests, node uniform at random (holder included), %d warm-up"
)

var channels = regexp.MustCompile(`^(?:` + nonFIFO + `)?random delays(?:, seeds 0\.\.([0-9]{1,6}))?$`)

// seeds is how many trials the case is.
func (c *Reference) seeds() uint64 {
	switch parts := channels.FindStringSubmatch(c.Scenario.Channels); {
	case parts == nil:
		return 1
	case parts[1] != "":
		last, _ := strconv.ParseUint(parts[1], 10, 64) // digits
		return last + 1
	}
	return 300
}

func (d *drawing) scenario() (sc harness.Scenario, m *Mistake) {
	s := &d.Scenario
	for key, t := range map[string]float64{"cs_duration": d.hold(), "run_until": s.Until} {
		if m := span("scenario."+key, t); m != nil {
			return sc, m
		}
	}
	sc = harness.Scenario{Kind: harness.Script, Hold: link.Constant(units(d.hold()))}
	if s.Until > 0 {
		sc.Until = end(s.Until)
	}
	if s.Window != nil {
		if len(s.Window) != 2 || !(0 <= s.Window[0] && s.Window[0] < s.Window[1] && s.Window[1] <= longest) {
			return sc, wrong("scenario.window", "%v, want [from, to]", s.Window)
		}
		if s.Until == 0 {
			sc.Until = end(s.Window[1])
		}
	}
	if s.Channels != "" && !channels.MatchString(s.Channels) {
		return sc, wrong("scenario.channels", `%q, want "random delays", "non-FIFO, random delays", or `+
			`one of them and ", seeds 0..299"`, s.Channels)
	}
	if order := []string{"", ascending, descending}; !slices.Contains(order, s.Order) {
		return sc, unknown("scenario.same_instant_order", "order", s.Order, order[1:])
	}
	switch {
	case s.Workload != "":
		sc.Kind, sc.Requesters = harness.Sequential, "uniform"
		if _, err := fmt.Sscanf(s.Workload, workload, &sc.Requests, &sc.Warmup); err != nil {
			return sc, wrong("scenario.workload", `%q, want "20000 sequential requests, node uniform `+
				`at random (holder included), 500 warm-up"`, s.Workload)
		}
		sc.Requests += sc.Warmup
	case s.Events == nil && s.Channels != "": // only the links matter: everybody asks again and again
		sc.Kind, sc.Requests, sc.Think = harness.Closed, 30, link.Uniform(0, 2*unit)
	case d.words() != "":
		if random[d.words()] == nil {
			return sc, unknown("scenario.events", "scenario in words", d.words(),
				slices.Sorted(maps.Keys(random)))
		}
	default:
		sc.Events, m = d.events()
	}
	return sc, m
}

func (d *drawing) events() (out []harness.Event, m *Mistake) {
	if sides := d.Scenario.Partition; len(sides) > 0 {
		if m := d.groups("scenario.partition", sides); m != nil {
			return nil, m
		}
		out = append(out, harness.Event{Do: harness.DoCut, Groups: sides})
	}
	var events []caseEvent
	if err := json.Unmarshal(d.Scenario.Events, &events); err != nil || events == nil {
		return nil, wrong("scenario.events", `want a list, as [{"t": 0, "op": "request", "node": 3}]`)
	}
	for i, e := range events {
		key := fmt.Sprintf("scenario.events[%d]", i)
		to := harness.Event{Do: e.Op, Node: e.Node, Of: e.Of, Target: e.Target, Groups: e.Groups}
		switch after, known := whens[e.When]; {
		case (e.T == nil) == (e.When == ""):
			return nil, wrong(key, "want one of t and when")
		case e.T == nil && !known:
			return nil, unknown(key+".when", "condition", e.When, slices.Sorted(maps.Keys(whens)))
		case e.T == nil:
			to.After = after
		default:
			if m := span(key+".t", *e.T); m != nil {
				return nil, m
			}
			to.At = units(*e.T)
		}
		if m := d.event(key, &to); m != nil {
			return nil, m
		}
		if to.Do != boot {
			out = append(out, to)
		}
	}
	return out, nil
}

// event says whether e can happen, and gives it its name in scripts.
func (d *drawing) event(key string, e *harness.Event) *Mistake {
	var has []string
	own := true
	for _, op := range ops {
		if op.problem != "" && op.problem != d.alg.Problem {
			continue
		}
		if has = append(has, op.name); op.name == e.Do {
			e.Do, own = op.verb, false
		}
	}
	switch {
	case own && !d.commanded():
		return unknown(key+".op", "operation", e.Do, has)
	case e.Do == harness.DoCut, e.Do == harness.DoHeal:
		if e.Node != algo.None || len(e.Groups) == 0 && e.Do == harness.DoCut {
			return wrong(key, "want groups and no node, as %s", `{"op": "cut", "groups": [[1, 2], [3]]}`)
		}
		return d.groups(key+".groups", e.Groups)
	case e.Do == boot && (e.At > 0 || slices.Contains(d.Scenario.Crashed, e.Node)):
		return wrong(key, "want boot at t 0, of a process that is up; later it is a restart of one crashed")
	}
	for _, p := range []algo.ID{e.Of, e.Target} {
		if m := d.process(key, p); p != algo.None && m != nil {
			return m
		}
	}
	return d.process(key+".node", e.Node)
}

// commanded says whether the algorithm has operations of its own.
func (d *drawing) commanded() bool {
	p, err := Plan(d.alg.ID, d.n, harness.Scenario{Kind: harness.Script}, nil)
	if err != nil {
		return false
	}
	setup, err := p.Setup()
	return err == nil &&
		algo.NewStepper(setup.Alg, setup.Config(1, 0, nil), 1, &algo.Buffer{}).Commanded()
}

func (d *drawing) groups(key string, sides [][]uint32) *Mistake {
	for _, side := range sides {
		for _, p := range side {
			if m := d.process(key, algo.ID(p)); m != nil {
				return m
			}
		}
	}
	return nil
}

// random are the scenarios that cases put in words. Times are short against the
// longest delay, so that much happens at once.
var random = map[string]func(p *harness.Plan, rng *rand.Rand){
	"random partitions, crashes and restarts": randomFaults,
	"random requests, random crash-stops":     randomCrashStops,
}

// randomFaults: everybody looks for a leader, while the network falls apart again and
// again, each time along another line, and processes crash and come back.
func randomFaults(p *harness.Plan, rng *rand.Rand) {
	n := p.Nodes
	add := func(at time.Duration, do string, who algo.ID, sides [][]uint32) {
		p.Scenario.Events = append(p.Scenario.Events,
			harness.Event{At: at, Do: do, Node: who, Groups: sides})
	}
	for i := range n {
		add(0, harness.DoElect, algo.ID(i+1), nil)
	}
	var down []algo.ID
	at := time.Duration(0)
	for range 15 + rng.IntN(15) {
		at += time.Duration(rng.Int64N(int64(6 * unit)))
		switch who := algo.ID(1 + rng.IntN(n)); rng.IntN(4) {
		case 0, 1:
			add(at, harness.DoHeal, algo.None, nil)
			add(at, harness.DoCut, algo.None, sides(rng, n))
		case 2:
			if len(down) < (n-1)/2 && !slices.Contains(down, who) {
				add(at, harness.DoCrash, who, nil)
				down = append(down, who)
			}
		default:
			if len(down) > 0 {
				add(at, harness.DoRestart, down[0], nil)
				down = down[1:]
			}
		}
	}
	add(at, harness.DoHeal, algo.None, nil)
	p.Scenario.Until = at + 20*unit
	p.Network.Unordered = true
	p.Detector = harness.Detector{Kind: "heartbeat", Interval: unit, Timeout: 5 * unit / 2}
	if _, ok := p.Params["backoff"]; ok {
		p.Params["backoff"] = 4 * unit // as short as may be, so that they get in each other's way
	}
}

func randomCrashStops(p *harness.Plan, rng *rand.Rand) {
	at := func() time.Duration { return time.Duration(rng.Int64N(int64(30 * unit))) }
	who := func(i int) algo.ID { return algo.ID(i + 1) }
	for i := range p.Nodes {
		for range rng.IntN(4) {
			p.Scenario.Events = append(p.Scenario.Events,
				harness.Event{At: at(), Do: harness.DoRequest, Node: who(i)})
		}
	}
	for _, i := range rng.Perm(p.Nodes)[:rng.IntN(p.Nodes)] {
		p.Scenario.Events = append(p.Scenario.Events,
			harness.Event{At: at(), Do: harness.DoCrash, Node: who(i)})
	}
	p.Holder = who(rng.IntN(p.Nodes))
	p.Network.Unordered = true
	p.Scenario.Hold = link.Uniform(0, 2*unit)
	p.TimeLimit = 5 * time.Second
}

// weather is what the case says of its links, and its random events.
func (d *drawing) weather(p *harness.Plan) {
	if d.Scenario.Channels != "" {
		p.Network.Latency = link.Uniform(unit/100, unit)
		p.Network.Unordered = strings.HasPrefix(d.Scenario.Channels, nonFIFO)
	}
	if words := d.words(); words != "" {
		random[words](p, d.rng)
	}
}
