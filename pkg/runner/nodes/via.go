package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// A bench that is far from the hosts has one of them lead the trials. It starts the program of that host with
// "host" in place of "agent", which connects to the other hosts by their own commands, and is to this
// process what a single other machine is: plans go there, records come back, and it ends when its input
// does, with all that it has started.

// A lead is what such a host has to know.
type lead struct {
	Host  string          `json:"host"` // who it is
	File  string          `json:"file"` // of hosts, for messages
	Hosts []byte          `json:"hosts"`
	Bus   bus.DialConfig  `json:"bus"`
	Plans []*harness.Plan `json:"plans"`
}

// Via has a host lead the trials.
func (h *Hosts) Via(name string) error {
	at := h.index(name)
	if at < 0 {
		return fmt.Errorf("%s has no host %q, expected one of %s", h.path, name,
			strings.Join(h.names(), ", "))
	}
	words := strings.Fields(h.Hosts[at].Command)
	if words[len(words)-1] != "agent" {
		return fmt.Errorf("the command of host %s in %s does not end with \"agent\", which becomes \"host\" "+
			"where a host leads; change it, as \"ssh %[1]s ./node agent\"", name, h.path)
	}
	h.via = &h.Hosts[at]
	return nil
}

// led is the machine that all hosts are, led by one of them.
func (h *Hosts) led(ctx context.Context, external bus.DialConfig, plans []*harness.Plan, r runner.Room) (
	m runner.Machine, sites []results.Site, err error) {
	if r.Ready == 0 {
		r.Ready = agent.PatienceFor(r.Nodes)
	}
	r.Spread, err = json.Marshal(lead{h.via.Name, h.path, h.data, external, plans})
	if err != nil {
		return nil, nil, err
	}
	command := strings.Fields(h.via.Command)
	command[len(command)-1] = "host"
	remote, err := work.NewRemote(ctx, command, r)
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(remote.About(), &sites); err != nil {
		remote.Close()
		return nil, nil, fmt.Errorf("start host %s: what it says of the hosts: %w", h.via.Name, err)
	}
	return remote, sites, nil
}

// Lead is for a program that leads the trials of other machines, and starts the agent of its own by such a
// command.
func Lead(own []string) func(runner.Room) (runner.Machine, any, error) {
	return func(r runner.Room) (runner.Machine, any, error) {
		var l lead
		if err := json.Unmarshal(r.Spread, &l); err != nil {
			return nil, nil, err
		}
		h, err := parseHosts(l.File, l.Hosts)
		if err != nil {
			return nil, nil, err
		}
		for i := range h.Hosts {
			if one := &h.Hosts[i]; one.Name == l.Host {
				one.argv = own
			}
		}
		return h.start(l.Bus, l.Plans, r)
	}
}
