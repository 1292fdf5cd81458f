package host

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/internal/worlds/host/control"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A site is a host as a trial knows it: its agent, and how its clock runs.
type site struct {
	index   int
	agent   agent.Agent
	course  clock.Course  // before the trial: what the nodes there go by
	start   time.Duration // the common start, by its clock
	begun   time.Duration // likewise, by ours
	rate    float64       // that the nodes there were told
	after   clock.Course  // of the trial itself, by which its records are mapped
	spawned uint64        // nodes, each of which connects once
	left    agent.Collection
	asker   *bus.Asker         // of a bus that is not ours; nil: nobody was asked yet
	heard   map[agent.Ref]bool // nodes that have answered it
}

// startOrder orders a node there to start with the others.
func (s *site) startOrder() control.Order { return control.Order{Start: &s.start, Gains: s.rate} }

// since is an instant of the site's clock as one since the common start.
func (s *site) since(at time.Duration) time.Duration { return s.course.Ours(at) - s.begun }

// mapped is an instant since the common start, as a node there noted it, by our clock. The
// node went by what was known of its clock before the trial; now more is known.
func (s *site) mapped(since time.Duration) time.Duration {
	if s.course.Own() {
		return since
	}
	theirs := s.start + since + time.Duration(math.Round(float64(since)*s.rate))
	return s.after.Ours(theirs) - s.begun
}

// fixStart chooses the common start, far enough ahead that every node has read its order
// by then.
func (t *trial) fixStart() (err error) {
	t.asked = clock.Monotonic()
	for _, s := range t.sites {
		if s.course, err = s.agent.Course(t.asked, t.asked); err != nil {
			return fmt.Errorf("the clock of %s: %w", s.agent.Name(), err)
		}
	}
	t.start = clock.Monotonic() + t.machine.leads[len(t.nodes)].Duration
	for _, s := range t.sites {
		s.begun, s.start = t.start, s.course.Theirs(t.start)
		s.rate = s.course.Rate()
	}
	return nil
}

// compareClocks finds out how the clocks of the hosts ran during the trial, until an instant
// since its start; and whether its records can be put in order by that.
func (t *trial) compareClocks(end time.Duration) {
	if t.start == 0 { // it has not begun
		return
	}
	for _, s := range t.sites {
		course, err := s.agent.Course(t.asked, t.start+end)
		if err != nil {
			t.invalid = append(t.invalid, fmt.Sprintf("the clock of %s: %v", s.agent.Name(), err))
			s.after = s.course
			continue
		}
		s.after = course
		bound := course.Worst(t.start, t.start+end)
		t.clockError = max(t.clockError, bound)
		if bound <= freeClockError || t.setup.Network.Real { // the error is part of what is measured
			continue
		}
		if most := mostClockError(fastestLink(&t.setup.Plan)); bound > most {
			t.invalid = append(t.invalid, fmt.Sprintf("the clock of %s is known only to %v (limit %v): "+
				"the network from bench to it is too slow or too busy for links of such latency, or a "+
				"machine is busy", s.agent.Name(), bound.Round(time.Microsecond), most))
		}
	}
}

const (
	// freeClockError is by how much an instant may be wrong in any trial.
	freeClockError = 100 * time.Microsecond
	// latencyPerError is how much longer than what clocks are wrong by links must be otherwise.
	latencyPerError = 50
)

// mostClockError is by how much an instant may be wrong in a trial whose fastest link takes so long.
func mostClockError(fastest time.Duration) time.Duration {
	return max(freeClockError, fastest/latencyPerError)
}

// fastestLink is what the fastest link of a plan takes on average; 0 if there is none.
func fastestLink(p *harness.Plan) time.Duration {
	least := time.Duration(math.MaxInt64)
	means := p.Network.Means()
	for from := uint32(1); int(from) <= p.Nodes; from++ {
		for to := uint32(1); int(to) <= p.Nodes; to++ {
			if from != to {
				least = min(least, means(from, to))
			}
		}
	}
	if least == math.MaxInt64 { // one process alone
		least = 0
	}
	return least
}

// A FarClock is that of a host which is too far from this process for the trials of a plan.
type FarClock struct {
	Host    int           // its place in the machine
	Plan    int           // the place of the plan whose fastest link is the fastest of all
	Fastest time.Duration // what that link takes on average
	Most    time.Duration // by how much an instant may be wrong with it
	Best    time.Duration // by how much it may be wrong at the best instant of the last second
	Wants   time.Duration // what the fastest link would have to take, in whole milliseconds
}

// FarClocks compares the clocks of the hosts with that of this process, and finds those for which
// every trial of some plan would be invalid.
func (m *Machine) FarClocks(plans []*harness.Plan) (far []FarClock, err error) {
	now := clock.Monotonic()
	for i, h := range m.hosts {
		course, err := h.Agent.Course(now, now)
		if err != nil {
			return nil, fmt.Errorf("the clock of %s: %w", h.Agent.Name(), err)
		}
		best := course.Best()
		if best <= freeClockError {
			continue
		}
		worst := course.Worst(max(course.Since(), now-time.Second), now)
		f := FarClock{Host: i, Best: best, Fastest: math.MaxInt64,
			Wants: (latencyPerError * max(best, worst)).Truncate(time.Millisecond) + time.Millisecond}
		for k, p := range plans {
			if p.Network.Real {
				continue
			}
			if fastest := fastestLink(p); fastest < f.Fastest {
				f.Plan, f.Fastest, f.Most = k, fastest, mostClockError(fastest)
			}
		}
		if f.Fastest < math.MaxInt64 && best > f.Most {
			far = append(far, f)
		}
	}
	return far, nil
}

// mapRecord puts the instants of a record that a node of site s wrote down onto our clock.
// It says by how much a message came before it was sent: never, if the clocks ran as they
// are believed to.
func (t *trial) mapRecord(s *site, r *trace.Record) (early time.Duration) {
	sender := s
	switch r.Type {
	case trace.Deliver, trace.Lose, trace.Undelivered:
		sender = t.nodes[r.Peer-1].site
	case trace.Send, trace.Duplicate:
	default:
		r.At = s.mapped(r.At)
		return 0 // Sent and Due of others are spans, or the process's own affair
	}
	if s.course.Own() && sender.course.Own() {
		return 0
	}
	due := sender
	if t.setup.Network.Real { // when it came, by the clock of where it came to
		due = s
	}
	r.At, r.Sent, r.Due = s.mapped(r.At), sender.mapped(r.Sent), due.mapped(r.Due)
	return r.Sent - r.At
}

// recordsOf reads on in what a node wrote down, by our clock. An error is also a message that
// came before it was sent, by more than the clocks can be wrong.
func (t *trial) recordsOf(n *node, from uint64, list []trace.Record) ([]trace.Record, uint64, error) {
	old := len(list)
	list, next, err := n.site.agent.Records(n.Ref, from, list)
	for i := range list[old:] {
		r := &list[old+i]
		if early := t.mapRecord(n.site, r); early > 2*t.clockError && err == nil {
			err = fmt.Errorf("p%d got message %d of p%d %v before it was sent, by clocks that are known "+
				"to %v: one of the clocks was changed", r.Process, r.Seq, r.Peer, early, t.clockError)
		}
	}
	return list, next, err
}

// awaitHearing waits until every server of the bus passes messages on to every node that is
// up. A node has joined the server of its own host; the others hear of that a moment later.
func (t *trial) awaitHearing(ctx context.Context) (harness.End, error) {
	if len(t.sites) == 1 {
		return harness.End{}, nil
	}
	deadline := time.Now().Add(t.machine.cfg.Ready)
	for {
		missing, err := t.deaf()
		switch {
		case err != nil:
			return harness.End{Invalid: []string{err.Error()}}, nil
		case len(missing) == 0:
			return harness.End{}, nil
		case time.Now().After(deadline):
			return harness.End{Invalid: []string{fmt.Sprintf("after %[1]v, the bus does not deliver "+
				"messages from each "+
				"host to each node: %[2]s", t.machine.cfg.Ready, strings.Join(missing, ", "))}}, nil
		case ctx.Err() != nil:
			return harness.End{}, context.Cause(ctx)
		}
		time.Sleep(time.Millisecond)
	}
}

// deaf says from which host which node, of those that are up, cannot be reached.
func (t *trial) deaf() (missing []string, err error) {
	for _, s := range t.sites {
		list, err := t.deafFrom(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.agent.Name(), err)
		}
		list = slices.DeleteFunc(list, func(id uint32) bool { return !t.nodes[id-1].ready })
		for _, id := range list {
			missing = append(missing, fmt.Sprintf("p%d from %s", id, s.agent.Name()))
		}
	}
	return missing, nil
}

// deafFrom lists the processes that a message from s would not reach yet.
func (t *trial) deafFrom(s *site) (list []uint32, err error) {
	if t.machine.urls != nil {
		return s.agent.Deaf(t.setup.Trial, t.setup.Nodes)
	}
	if s.asker == nil {
		if s.asker, err = bus.Ask(t.machine.access(0, s.index), t.setup.Trial); err != nil {
			return nil, err
		}
		s.heard = map[agent.Ref]bool{}
	}
	var unknown []uint32
	for _, n := range t.nodes { // one that has answered may be paused by now, or dead
		if n.ready && !s.heard[n.Ref] {
			unknown = append(unknown, uint32(n.ID))
		}
	}
	list, err = s.asker.Deaf(unknown, askPatience)
	for _, id := range unknown {
		if err == nil && !slices.Contains(list, id) {
			s.heard[t.nodes[id-1].Ref] = true
		}
	}
	return list, err
}

// askPatience is for how long an answer is awaited before the next question.
const askPatience = 50 * time.Millisecond
