package host

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/internal/worlds/host/control"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A site is a host as a trial knows it: its agent, and how its clock runs.
type site struct {
	index   int
	agent   agent.Agent
	course  clock.Path    // before the trial: what the nodes there go by
	start   time.Duration // the common start, by its clock
	begun   time.Duration // likewise, by ours
	rate    float64       // that the nodes there were told
	after   clock.Path    // of the trial itself, by which its records are mapped
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
func (t *trial) fixStart() error {
	t.asked = clock.Monotonic()
	courses, errs := t.machine.leadCourses(t.asked, t.asked)
	if err := cmp.Or(errs...); err != nil {
		return err
	}
	if err := t.machine.compareHosts(); err != nil { // an agent may have been started again
		return err
	}
	list, _ := t.machine.comparisons(courses, t.asked, t.asked) // one that was set before does not matter
	paths, _ := relate(len(t.sites), list)
	t.start = clock.Monotonic() + t.machine.leads[len(t.nodes)].Duration
	for i, s := range t.sites {
		s.course = paths[i+1]
		s.begun, s.start = t.start, s.course.Theirs(t.start)
		s.rate = s.course.Rate()
	}
	return t.startWire()
}

// relateSites finds out how the clocks of the hosts ran from when they were asked before the start until such
// an instant, and by how much a time between two of them can be wrong from the start on.
func (t *trial) relateSites(until time.Duration) []error {
	courses, errs := t.machine.leadCourses(t.asked, until)
	list, contradictions := t.machine.comparisons(courses, t.asked, until)
	paths, reached := relate(len(t.sites), list)
	for i, s := range t.sites {
		s.after = paths[i+1]
		if errs[i] != nil {
			s.after = s.course
		}
	}
	t.pairs = errorsOf(paths, reached, list, t.start, until)
	return append(errs, contradictions...)
}

// compareClocks finds out how the clocks of the hosts ran during the trial, until an instant
// since its start; and whether its records can be put in order by that.
func (t *trial) compareClocks(end time.Duration) {
	if t.start == 0 { // it has not begun
		return
	}
	for _, err := range t.relateSites(t.start + end) {
		if err != nil {
			t.invalid = append(t.invalid, err.Error())
		}
	}
	t.clockError = (t.worstError() + 1) / 2
	most := mostPairError(fastestLink(&t.setup.Plan))
	if t.setup.Network.Real { // the error is part of what is measured
		most = math.MaxInt64
	}
	for i, s := range t.sites {
		for _, other := range t.sites[:i] {
			if e := t.pairError(s, other).within; e > most {
				t.invalid = append(t.invalid, fmt.Sprintf("a time between %s and %s is known only to %v "+
					"(limit %v): the network between them is too slow for links of such latency, or was "+
					"busy for a moment: use a latency of %v or more", other.agent.Name(), s.agent.Name(),
					e.Round(time.Microsecond), most, wantedLatency(e)))
			}
		}
	}
	for i := range t.records {
		if r := &t.records[i]; signalled(r.Type) { // by what was known before the trial
			n := t.incarnation(agent.Ref{ID: algo.ID(r.Process), Incarnation: r.Incarnation})
			r.At = n.site.mapped(r.At)
			if r.Type == trace.Crash {
				n.downAt = r.At
			}
		}
	}
}

const (
	// freePairError is by how much a time between two hosts may be wrong in any trial.
	freePairError = 2 * freeClockError
	// latencyPerError is how much longer than that links must take otherwise. A message takes as long as
	// the latency but for that error, since its receiver goes by what was known before the trial; and
	// how long it took is known to within that error. With twice the error it came after it was sent.
	latencyPerError = 2
)

// mostPairError is by how much a time between two hosts may be wrong in a trial whose fastest link takes
// so long.
func mostPairError(fastest time.Duration) time.Duration {
	return max(freePairError, fastest/latencyPerError)
}

// wantedLatency is that of the fastest link, in whole milliseconds, for which such an error is no more
// than mostPairError.
func wantedLatency(e time.Duration) time.Duration {
	return (latencyPerError * e).Truncate(time.Millisecond) + time.Millisecond
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

// A FarPair is two hosts whose clocks are known too badly for the trials of a plan.
type FarPair struct {
	Hosts   [2]int        // their places in the machine
	Plan    int           // the place of the plan whose fastest link is the fastest of all
	Fastest time.Duration // what that link takes on average
	Most    time.Duration // by how much a time between the two may be wrong with it
	Best    time.Duration // by how much it may be wrong at the best instant of the last second
	Wants   time.Duration // what the fastest link would have to take, in whole milliseconds
}

// FarClocks compares the clocks of the hosts with that of this process, and with each other, and finds the
// pairs for which every trial of some plan would be invalid.
func (m *Machine) FarClocks(plans []*harness.Plan) (far []FarPair, err error) {
	var now time.Duration
	var list []comparison
	for range 2 { // hosts that have only begun to compare their clocks know little of how these ran before
		now = clock.Monotonic()
		courses, errs := m.leadCourses(now, now)
		if err := cmp.Or(errs...); err != nil {
			return nil, err
		}
		if err := m.compareHosts(); err != nil {
			return nil, err
		}
		list, _ = m.comparisons(courses, now, now)
	}
	paths, reached := relate(len(m.hosts), list)
	worst := errorsOf(paths, reached, list, now, now)
	best := errorsOf(paths, reached, list, now, now)
	m.known = errorsOf(paths, reached, list, now, now)
	for i := range time.Duration(looks) {
		at := now - i*time.Second/looks
		for a, row := range errorsOf(paths, reached, list, at, at) {
			for b, e := range row {
				best[a][b].within = min(best[a][b].within, e.within)
				worst[a][b].within = max(worst[a][b].within, e.within)
			}
		}
	}
	f := FarPair{Fastest: math.MaxInt64}
	for k, p := range plans {
		if p.Network.Real { // the error is part of what is measured
			continue
		}
		if fastest := fastestLink(p); fastest < f.Fastest {
			f.Plan, f.Fastest, f.Most = k, fastest, mostPairError(fastest)
		}
	}
	for b := range m.hosts {
		for a := range m.hosts[:b] {
			f.Hosts, f.Best = [2]int{a, b}, best[a+1][b+1].within
			f.Wants = wantedLatency(worst[a+1][b+1].within * 3 / 2) // a trial is busier than this second
			if f.Fastest < math.MaxInt64 && f.Best > f.Most {
				far = append(far, f)
			}
		}
	}
	return far, nil
}

// ClockSource is what the bounds of a host's clock to those of the others rested on when FarClocks looked.
func (m *Machine) ClockSource(host int) string {
	var by sources
	for other := range m.hosts {
		by |= m.known[host+1][other+1].by
	}
	return by.String()
}

// looks is at how many instants of the last second FarClocks looks.
const looks = 20

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
		early := t.mapRecord(n.site, r)
		if early <= 0 || err != nil {
			continue
		}
		if known := t.pairError(t.nodes[r.Peer-1].site, n.site).within; early > known {
			err = fmt.Errorf("p%d got message %d of p%d %v before it was sent, by clocks that are known "+
				"to %v: one of the clocks was changed", r.Process, r.Seq, r.Peer, early, known)
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
