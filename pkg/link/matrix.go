package link

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// A Matrix is what a real network did to messages between the hosts of a run.
type Matrix struct {
	// Placement says how processes were put on the hosts, as hosting.hosts.placement does.
	Placement string  `json:"placement"`
	Hosts     []Lodge `json:"hosts"`
	Routes    []Route `json:"routes"`
}

// A Lodge is a host, and how many processes it takes; 0: any number.
type Lodge struct {
	Name  string `json:"name"`
	Slots int    `json:"slots,omitempty"`
}

// The phases of a run in which routes are measured.
const (
	Before = "before" // the first trial, by probes
	During = "during" // the trials, by their messages
	After  = "after"  // the last trial, by probes
)

// A Route is the way from one host to another, or from a host to itself, as a part of a run has
// measured it.
type Route struct {
	Part  int    `json:"part"` // of the run, from 1 on: an execution, or a round
	Phase string `json:"phase"`
	From  string `json:"from"`
	To    string `json:"to"`
	Sent  int    `json:"sent"` // messages, or probes
	Lost  int    `json:"lost"` // of these
	// ClockError is by how much each delay can be wrong, since it is between two clocks.
	ClockError time.Duration `json:"clock_error_ns"`
	// ClockSource is what says so: exchange, of messages, and the names of time services, joined by "+".
	ClockSource string `json:"clock_source,omitempty"`
	// Delays are the percentiles 0 to 100 of the time from sending to arrival; none if nothing arrived.
	Delays []time.Duration `json:"delays_ns,omitempty"`
}

// The states of a route.
const (
	Measured  = "measured"
	Swallowed = "within clock error" // the median delay is no longer than what clocks are wrong by
	Silent    = "no message"
)

// State says what the delays of r are worth.
func (r Route) State() string {
	switch {
	case len(r.Delays) == 0:
		return Silent
	case r.Delays[len(r.Delays)/2] <= r.ClockError:
		return Swallowed
	}
	return Measured
}

// MS is a percentile of the delays in ms, for people; "" if nothing arrived.
func (r Route) MS(percentile int) string {
	if percentile >= len(r.Delays) {
		return ""
	}
	return fmt.Sprintf("%.3f", float64(r.Delays[percentile])/1e6)
}

// ErrorMS is the clock error in ms, for people.
func (r Route) ErrorMS() string { return fmt.Sprintf("%.3f", float64(r.ClockError)/1e6) }

// Percentiles are the percentiles 0 to 100 of delays, which it sorts; none of none.
func Percentiles(delays []time.Duration) []time.Duration {
	if len(delays) == 0 {
		return nil
	}
	slices.Sort(delays)
	out := make([]time.Duration, 101)
	for i := range out { // quantiles of type 7
		at := float64(float64(i) / 100 * float64(len(delays)-1))
		low := int(at)
		next := delays[min(low+1, len(delays)-1)]
		out[i] = delays[low] + time.Duration(math.Round((at-float64(low))*float64(next-delays[low])))
	}
	return out
}

// Between is the way from one host to another as a whole run has measured it: by the messages of
// trials, and by probes where there were none. It is nil if nothing arrived.
func (m *Matrix) Between(from, to string) *Own {
	own := &Own{Latency: &Latency{}}
	r := m.between(from, to)
	if r == nil {
		return nil
	}
	law := Quantiles{Values: slices.Clone(r.Delays)}
	for i := range law.Values { // by clocks that are wrong it may have come before it left
		law.Values[i] = max(law.Values[i], 0)
	}
	own.Latency.Law = &law
	if r.Lost > 0 {
		rate := float64(r.Lost) / float64(r.Sent)
		own.Loss = &rate
	}
	return own
}

// between is all that is known of a way, as one route; nil if nothing arrived.
func (m *Matrix) between(from, to string) *Route {
	for _, phases := range [][]string{{During}, {Before, After}} {
		all := Route{Part: 1, Phase: phases[0], From: from, To: to}
		for _, r := range m.Routes {
			if r.From != from || r.To != to || !slices.Contains(phases, r.Phase) {
				continue
			}
			all.Sent, all.Lost = all.Sent+r.Sent, all.Lost+r.Lost
			if r.ClockError >= all.ClockError {
				all.ClockError, all.ClockSource = r.ClockError, r.ClockSource
			}
			for range min(1+r.Sent/1000, 100) { // a part counts by what it has seen
				all.Delays = append(all.Delays, r.Delays...)
			}
		}
		if len(all.Delays) > 0 {
			all.Delays = Percentiles(all.Delays)
			return &all
		}
	}
	return nil
}

// Condensed is m with one route for each way on which anything arrived.
func (m *Matrix) Condensed() Matrix {
	out := Matrix{Placement: m.Placement, Hosts: m.Hosts}
	for _, from := range m.Hosts {
		for _, to := range m.Hosts {
			if r := m.between(from.Name, to.Name); r != nil {
				out.Routes = append(out.Routes, *r)
			}
		}
	}
	return out
}

// Join adds what a later part of the run has measured, perhaps between other hosts.
func (m *Matrix) Join(later *Matrix) {
	part := 0
	for _, r := range m.Routes {
		part = max(part, r.Part)
	}
	m.Placement = later.Placement
	hosts := slices.Clone(later.Hosts)
	for _, h := range m.Hosts {
		if !slices.ContainsFunc(hosts, func(o Lodge) bool { return o.Name == h.Name }) {
			hosts = append(hosts, h)
		}
	}
	m.Hosts = hosts
	for _, r := range later.Routes {
		r.Part += part
		m.Routes = append(m.Routes, r)
	}
}

// Check says what is wrong with a matrix that comes from elsewhere; nil if nothing is.
func (m *Matrix) Check() error {
	if len(m.Hosts) == 0 {
		return errors.New("matrix: no hosts")
	}
	for _, r := range m.Routes {
		n := len(r.Delays)
		good := n == 0 || n == 101 && slices.IsSorted(r.Delays) && r.Delays[n-1] <= longest
		if !good || r.Lost < 0 || r.Lost > r.Sent {
			return fmt.Errorf("matrix: from %.64s to %.64s: expected 101 percentiles of delays up to %v, in "+
				"order, and no more losses than messages", r.From, r.To, longest)
		}
	}
	return nil
}
