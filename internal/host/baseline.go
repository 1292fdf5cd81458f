package host

import (
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/clock"
	"github.com/conclave-bench/conclave/pkg/bus"
)

// Baseline measures the bus alone: how long a message takes to another
// connection and back when nothing else goes on. It is what a network without
// latency costs here, and stands in the manifest.
func (m *Machine) Baseline() (map[string]any, error) {
	const trips = 200
	if m.cfg.Nodes < 2 {
		return map[string]any{}, nil
	}
	trial := "baseline-" + fmt.Sprint(clock.Monotonic().Nanoseconds())
	var conns [2]*bus.Conn
	for i := range conns {
		access := m.access(i, 0)
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
	conns[0].Address(trial, 1, 2)
	conns[1].Address(trial, 2, 2)
	for _, c := range conns {
		if err := c.Flush(5 * time.Second); err != nil {
			return nil, err
		}
	}
	deadline := time.After(10 * time.Second)
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
