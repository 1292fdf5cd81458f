package host

import (
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/pkg/bus"
)

// Baseline measures the bus alone: how long a message takes to another
// connection and back when nothing else goes on. It is what a network without
// latency costs here, and stands in the manifest. Where there are several hosts, it is of
// this process by way of a host's bus, and of each pair of them: what a route adds is what a
// pair takes beyond the mean of its two hosts.
func (m *Machine) Baseline() (map[string]any, error) {
	if m.cfg.Nodes < 2 {
		return map[string]any{}, nil
	}
	all, err := m.roundTrips(200, 0, 0)
	if err != nil || len(m.hosts) < 2 {
		return all, err
	}
	var pairs []map[string]any
	for i := range m.hosts[:min(len(m.hosts), baselineHosts)] {
		for j := range i + 1 {
			pair, err := m.roundTrips(50, i, j)
			if err != nil {
				return nil, fmt.Errorf("%s and %s: %w", m.hosts[i].Agent.Name(), m.hosts[j].Agent.Name(), err)
			}
			pair["hosts"] = []string{m.hosts[j].Agent.Name(), m.hosts[i].Agent.Name()}
			pairs = append(pairs, pair)
		}
	}
	all["pairs"] = pairs
	return all, nil
}

// baselineHosts is of how many hosts all pairs are measured.
const baselineHosts = 12

// roundTrips measures trips between a connection to the bus on one host and one to that on
// another.
func (m *Machine) roundTrips(trips int, at ...int) (map[string]any, error) {
	trial := "baseline-" + fmt.Sprint(clock.Monotonic().Nanoseconds())
	var conns [2]*bus.Conn
	for i := range conns {
		access := m.access(i, at[i])
		access.Name = "baseline"
		c, err := bus.Dial(access)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		conns[i] = c
	}
	here, err := conns[0].Subscribe(trial, 1)
	if err != nil {
		return nil, err
	}
	there, err := conns[1].Subscribe(trial, 2)
	if err != nil {
		return nil, err
	}
	deadline := time.After(10 * time.Second)
	if at[0] != at[1] {
		if err := m.awaitEars(trial, conns, at); err != nil {
			return nil, err
		}
	}
	conns[0].Address(trial, 1, 2)
	conns[1].Address(trial, 2, 2)
	for _, c := range conns {
		if err := c.Flush(5 * time.Second); err != nil {
			return nil, err
		}
	}
	payload := make([]byte, 32)
	var rtt []time.Duration
	for range trips {
		sent := clock.Monotonic()
		if err := conns[0].Send(2, payload); err != nil {
			return nil, err
		}
		select {
		case <-there:
		case <-deadline:
			return nil, fmt.Errorf("no message came through within 10 s: %v", conns[1].Faults())
		}
		if err := conns[1].Send(1, payload); err != nil {
			return nil, err
		}
		select {
		case <-here:
		case <-deadline:
			return nil, fmt.Errorf("no message came back within 10 s: %v", conns[0].Faults())
		}
		rtt = append(rtt, clock.Monotonic()-sent)
	}
	slices.Sort(rtt)
	return map[string]any{
		"round_trips":       trips,
		"round_trip_p50_us": float64(rtt[trips/2]) / 1e3,
		"round_trip_p99_us": float64(rtt[trips*99/100]) / 1e3,
	}, nil
}

// awaitEars waits until the servers of two hosts pass messages on to both ends of a baseline.
func (m *Machine) awaitEars(trial string, conns [2]*bus.Conn, at []int) error {
	deaf := func(end int) ([]uint32, error) { return m.hosts[at[end]].Agent.Deaf(trial, 2) }
	if m.urls == nil { // what has joined this is heard, and what was subscribed to before, too
		trial += "-ears"
		var askers [2]*bus.Asker
		for i, c := range conns {
			if _, err := c.Join(trial, uint32(i+1), 2); err != nil {
				return err
			}
			var err error
			if askers[i], err = bus.Ask(m.access(0, at[i]), trial); err != nil {
				return err
			}
			defer askers[i].Close()
		}
		deaf = func(end int) ([]uint32, error) { return askers[end].Deaf([]uint32{1, 2}, askPatience) }
	}
	for deadline := time.Now().Add(m.cfg.Ready); ; time.Sleep(time.Millisecond) {
		here, err := deaf(0)
		if err != nil {
			return err
		}
		there, err := deaf(1)
		if err != nil || len(here)+len(there) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the bus passes no messages on between them after %v", m.cfg.Ready)
		}
	}
}
