// Package nodes lends runner a machine on which trials run on real nodes: this process, or
// a host program elsewhere. A program that only simulates leaves it out, and NATS with it.
package nodes

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/conclave-bench/conclave/internal/host"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A machine is one of package host.
type machine interface {
	Baseline() (map[string]any, error)
	Run(context.Context, *harness.Setup, trace.Sink) (harness.End, host.Quality, error)
	Close()
}

// lent is a machine as runner knows it.
type lent struct{ machine }

func (m lent) Run(ctx context.Context, s *harness.Setup, sink trace.Sink) (
	harness.End, runner.Quality, error) {
	end, q, err := m.machine.Run(ctx, s, sink)
	return end, runner.Quality{SchedDelayP99: q.SchedDelayP99, Busy: q.Busy, Stolen: q.Stolen,
		Throttled: q.Throttled, Usage: q.Usage, ClockError: q.ClockError}, err
}

// Machine is for runner.Options: a host program if o names one, else this process.
func Machine(ctx context.Context, e *experiment.Experiment, o runner.Options, r runner.Room) (
	runner.Machine, []results.Site, error) {
	cfg := host.MachineConfig{Nodes: r.Nodes, Run: r.Run, Pause: r.Pause}
	command := o.Host
	own := len(command) == 0 && len(o.HostArgs) > 0 && e.Rounds > 1 && e.Bus.URL == ""
	if own { // this process outlives the round, so another one is the host
		command = append([]string{o.Exe}, o.HostArgs...)
	}
	if len(command) > 0 {
		m, err := host.NewRemote(ctx, command, cfg)
		if err != nil {
			return nil, nil, err
		}
		if own { // on this machine, and of this program
			return lent{m}, nil, nil
		}
		var site results.Site
		if err := json.Unmarshal(m.About(), &site); err != nil {
			m.Close()
			return nil, nil, fmt.Errorf("start host: what it says of itself: %w", err)
		}
		return lent{m}, []results.Site{site}, nil
	}
	cfg.Exe, cfg.NodeArgs, cfg.BusArgs = o.Exe, o.NodeArgs, o.BusArgs
	cfg.External = external(e)
	m, err := host.NewMachine(cfg)
	if err != nil {
		return nil, nil, err
	}
	return lent{m}, nil, nil
}

// external is the bus of the user's own that e names; its zero value if it names none.
func external(e *experiment.Experiment) bus.DialConfig {
	b := e.Bus
	return bus.DialConfig{URL: b.URL, CredentialsFile: b.Credentials, CAFile: b.TLS.CA, CertFile: b.TLS.Cert,
		KeyFile: b.TLS.Key}
}
