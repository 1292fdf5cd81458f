// Package nodes lends runner a machine on which trials run on real nodes: this process, or
// a worker elsewhere. A program that only simulates leaves it out, and NATS with it.
package nodes

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/internal/worlds/host"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// Machine is for runner.Options: a worker if o names one, else this process.
func Machine(ctx context.Context, e *experiment.Experiment, o runner.Options, r runner.Room) (
	runner.Machine, []results.Site, error) {
	command := o.Host
	own := len(command) == 0 && len(o.WorkArgs) > 0 && e.Rounds > 1 && e.Bus.URL == ""
	if own { // this process outlives the round, so another one is the host
		command = append([]string{o.Exe}, o.WorkArgs...)
	}
	if len(command) == 0 {
		m, err := Local(o, external(e))(r)
		return m, nil, err
	}
	if r.Ready == 0 {
		r.Ready = agent.PatienceFor(r.Nodes)
	}
	m, err := work.NewRemote(ctx, command, r)
	if err != nil || own { // on this machine, and of this program
		return m, nil, err
	}
	var site results.Site
	if err := json.Unmarshal(m.About(), &site); err != nil {
		m.Close()
		return nil, nil, fmt.Errorf("start host: what it says of itself: %w", err)
	}
	return m, []results.Site{site}, nil
}

// Local makes machines of this process and the programs of o.
func Local(o runner.Options, external bus.DialConfig) func(runner.Room) (runner.Machine, error) {
	return func(r runner.Room) (runner.Machine, error) {
		m, err := host.NewMachine(host.MachineConfig{Exe: o.Exe, NodeArgs: o.NodeArgs, BusArgs: o.BusArgs,
			WireArgs: o.WireArgs, Nodes: r.Nodes, Run: r.Run, Ready: r.Ready, Limit: r.Limit,
			Pause: r.Pause, Wire: r.Wire, External: external})
		if err != nil {
			return nil, err
		}
		return m, nil
	}
}

// external is the bus of the user's own that e names; its zero value if it names none.
func external(e *experiment.Experiment) bus.DialConfig {
	b := e.Bus
	return bus.DialConfig{URL: b.URL, CredentialsFile: b.Credentials, CAFile: b.TLS.CA, CertFile: b.TLS.Cert,
		KeyFile: b.TLS.Key}
}
