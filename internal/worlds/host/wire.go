package host

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/worlds/wire"
	"github.com/conclave-bench/conclave/internal/worlds/wire/mesh"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// meshPort is where each node listens, at an address of its own.
const meshPort = 7000

// net is the network namespace of a node of the present trial; nil: that of this process.
func (m *Machine) net(id algo.ID) *os.File {
	if m.wire == nil {
		return nil
	}
	return m.wire.Net(uint32(id))
}

// openWire makes the wire of the trial, if it has one. Each trial has a new one: what a connection of a
// node that was killed still sends would take draws from the packets of the next trial.
func (t *trial) openWire() error {
	m := t.machine
	switch {
	case !t.setup.Network.Wire:
		return nil
	case len(t.sites) > 1:
		return errors.New("a wire is on one machine: leave network.wire out, or use one host")
	case t.setup.PerProcess > 0:
		return errors.New("on a wire each node has a process of its own: leave network.wire out, or " +
			"hosting.per_process")
	}
	if m.mover == nil {
		m.mover = proc.NewSpawner()
	}
	w, err := wire.Open(m.mover, m.wireConfig(t.setup.Nodes))
	if err != nil {
		return err
	}
	m.wire = w
	if err := w.Begin(wire.Plan{Network: t.setup.Network.Packets()}); err != nil {
		return err
	}
	for _, e := range t.known {
		if err := w.Apply(e); err != nil {
			return err
		}
	}
	return nil
}

// wireConfig is for a wire with so many ends.
func (m *Machine) wireConfig(ends int) wire.Config {
	return wire.Config{Exe: m.cfg.Exe, Args: m.cfg.WireArgs, Ends: ends,
		Env: slices.Concat(os.Environ(), []string{"CONCLAVE_RUN=" + m.cfg.Run}, m.cfg.Telltale)}
}

func (m *Machine) closeWire() {
	if m.wire != nil {
		m.wire.Close()
		m.wire = nil
	}
}

// mesh is where the nodes of the trial are.
func (t *trial) mesh() *mesh.Config {
	cfg := &mesh.Config{}
	for i := range t.nodes {
		at := netip.AddrPortFrom(wire.Address(uint32(i)+1), meshPort)
		cfg.Addresses = append(cfg.Addresses, at)
	}
	return cfg
}

// addresses is where the processes of a system are.
func (t *trial) addresses() *algo.Site {
	s := &algo.Site{}
	for i := range t.nodes {
		id := algo.ID(i + 1)
		s.Addresses = append(s.Addresses, wire.Address(uint32(id)))
		if t.setup.Servers == 0 || t.setup.Serves(id) {
			s.Servers = append(s.Servers, id)
		}
	}
	for e := range t.setup.Timeline() {
		if !slices.Contains(s.Faults, e.Do) {
			s.Faults = append(s.Faults, e.Do)
		}
	}
	return s
}

// startWire has the faults of links count from the common start.
func (t *trial) startWire() error {
	if !t.setup.Network.Wire {
		return nil
	}
	return t.machine.wire.Start(t.start)
}

// judgeWire looks for what skewed the trial on its way: packets that were late count as what the machine
// ran late.
func (t *trial) judgeWire(q *harness.Quality) {
	if !t.setup.Network.Wire {
		return
	}
	s, err := t.machine.wire.Stats()
	if err != nil {
		t.lose(err.Error())
		return
	}
	q.SchedDelayP99 = max(q.SchedDelayP99, s.Late.P99)
	q.Wire = &harness.Packets{Missed: s.LostByMachine(),
		DelayP50: s.Late.P50, DelayP99: s.Late.P99, DelayMax: s.Late.Max}
	for _, l := range s.Links {
		q.Wire.Sent += l.Packets
		q.Wire.Lost += l.Lost + l.Cut
	}
	if q.Wire.Missed > 0 {
		t.invalid = append(t.invalid, fmt.Sprintf("the machine lost %d packets of the wire, which it moved "+
			"too slowly; use fewer nodes, or end other programs", q.Wire.Missed))
	}
}
