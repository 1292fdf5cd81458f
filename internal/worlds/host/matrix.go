package host

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// flights are what messages met on their way from one host to another, by the hosts' places. There
// are none where the network is a model.
type flights map[[2]int]*crossing

// A crossing is the flights from one host to another.
type crossing struct {
	sent, came int
	longest    time.Duration
	clockError bound
	kept       []time.Duration // of very many only every second, fourth, ...
	stride     int
}

// mostKept bounds the flights that are kept from one host to another.
const mostKept = 1 << 12

func (f *flights) of(from, to int) *crossing {
	if *f == nil {
		*f = flights{}
	}
	way := [2]int{from, to}
	if (*f)[way] == nil {
		(*f)[way] = &crossing{stride: 1}
	}
	return (*f)[way]
}

// add takes in that a message has come after d.
func (c *crossing) add(d time.Duration) {
	if c.came%c.stride == 0 {
		if len(c.kept) == mostKept {
			for i := range mostKept / 2 {
				c.kept[i] = c.kept[2*i]
			}
			c.kept = c.kept[:mostKept/2]
			c.stride *= 2 // which divides came: mostKept is even
		}
		c.kept = append(c.kept, d)
	}
	c.came++
	c.longest = max(c.longest, d)
}

// doubt takes in by how much flights can be wrong.
func (c *crossing) doubt(by bound) {
	c.clockError = bound{max(c.clockError.within, by.within), c.clockError.by | by.by}
}

// noteFlight takes in what a node wrote down of a message.
func (t *trial) noteFlight(n *node, r *trace.Record, cut time.Duration) {
	if !t.setup.Network.Real || !r.Type.IsMessage() || r.At > cut {
		return
	}
	switch peer := t.place[r.Peer-1]; r.Type {
	case trace.Send, trace.Duplicate:
		t.flights.of(n.site.index, peer).sent++
	default:
		t.flights.of(peer, n.site.index).add(r.Due - r.Sent)
	}
}

// slowest is how long a message may have been on its way over a real network, as far as the trial
// has seen; 0: the network is a model, which says when each is due.
func (t *trial) slowest() time.Duration {
	if !t.setup.Network.Bare() {
		return 0
	}
	longest := t.setup.Network.Latency.Average()
	for _, c := range t.flights {
		longest = max(longest, 2*c.longest)
	}
	return longest
}

// keepFlights takes in those of a trial that counts.
func (m *Machine) keepFlights(t *trial, end *harness.End) {
	if len(end.Invalid) > 0 {
		return
	}
	for way, c := range t.flights {
		all := m.flights.of(way[0], way[1])
		all.sent += c.sent
		all.doubt(t.pairError(t.sites[way[0]], t.sites[way[1]]))
		for _, d := range c.kept {
			all.add(d)
		}
	}
}

// Network is what the network between the hosts does to messages: in a phase before or after the trials
// it has the agents probe it, and of those during the trials it says what their messages met.
func (m *Machine) Network(phase string) (*link.Matrix, error) {
	out := &link.Matrix{Placement: cmp.Or(m.cfg.Placement.Kind, harness.Spread)}
	for _, h := range m.hosts {
		out.Hosts = append(out.Hosts, link.Lodge{Name: h.Agent.Name(), Slots: h.Slots})
	}
	if phase != link.During {
		probed, err := m.probe()
		if err != nil {
			return nil, err
		}
		m.routes(out, phase, probed)
	} else if m.flights != nil {
		m.routes(out, phase, m.flights)
	}
	return out, nil
}

// routes adds those between all hosts, also where nothing was sent.
func (m *Machine) routes(out *link.Matrix, phase string, measured flights) {
	for i, from := range out.Hosts {
		for j, to := range out.Hosts {
			if i == j && phase != link.During {
				continue
			}
			c := measured.of(i, j)
			lost := c.sent - c.came
			if phase == link.During { // each message was accounted for: it came, or its receiver was down
				lost = 0
			}
			out.Routes = append(out.Routes, link.Route{Part: 1, Phase: phase, From: from.Name, To: to.Name,
				Sent: c.sent, Lost: lost, ClockError: c.clockError.within,
				ClockSource: c.clockError.by.String(), Delays: link.Percentiles(slices.Clone(c.kept))})
		}
	}
}

// probe has each agent ask all others, and finds out how long the questions took. The clocks are compared
// until the last answer, so that what is known of them is of the same time.
func (m *Machine) probe() (flights, error) {
	begun := clock.Monotonic()
	out := make([][]agent.Probed, len(m.hosts))
	errs := make(chan error, len(m.hosts))
	for i, h := range m.hosts {
		var peers []string
		for j := range m.hosts {
			if j != i {
				peers = append(peers, m.hosts[j].Agent.Clock())
			}
		}
		go func() {
			var err error
			if out[i], err = h.Agent.Probe(peers); err != nil {
				err = fmt.Errorf("measure the network from %s: %w", h.Agent.Name(), err)
			}
			errs <- err
		}()
	}
	var failed error
	for range m.hosts {
		failed = cmp.Or(failed, <-errs)
	}
	if failed != nil {
		return nil, failed
	}
	t := &trial{machine: m, asked: begun, start: begun}
	for i, h := range m.hosts {
		t.sites = append(t.sites, &site{index: i, agent: h.Agent})
	}
	if err := cmp.Or(t.relateSites(clock.Monotonic())...); err != nil {
		return nil, err
	}
	var all flights
	for i, list := range out {
		for k, p := range list {
			j := k
			if k >= i {
				j++
			}
			c := all.of(i, j)
			c.sent = p.Sent
			c.doubt(t.pairError(t.sites[i], t.sites[j]))
			for _, q := range p.Questions {
				c.add(t.sites[j].after.Ours(q.Heard) - t.sites[i].after.Ours(q.Asked))
			}
			c.sent += p.Again // packets that had to be sent again were lost
		}
	}
	return all, nil
}
