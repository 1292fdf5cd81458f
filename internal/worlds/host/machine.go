// Package host leads trials on real nodes: it has agents start them, tells them what the
// coordinator of the scenario wants, finds out when all is quiet, and accounts for every
// message. The bus is its own as well. work.Remote has that done by another process.
package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"net"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/worlds/guest"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/internal/worlds/wire"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A MachineConfig says how to run trials on this machine.
type MachineConfig struct {
	Exe      string   // the program to start as node and as bus
	NodeArgs []string // arguments that make it a node
	BusArgs  []string // arguments that make it the bus
	WireArgs []string // arguments that make it what moves the packets of a wire
	Nodes    int      // the most that a trial has
	Run      string   // marks the environment of every child, so that orphans can be found
	Telltale []string // further environment of the children, for tests
	External bus.DialConfig
	Ready    time.Duration        // how long nodes may take to be ready; 0: 10 s and 20 ms a node
	Limit    int64                // bytes of records that a node may write; 0: 256 MiB
	Pause    time.Duration        // the longest that a node is to be paused: nobody may take it for dead
	Wire     bool                 // some trial has a wire
	Wall     func() time.Duration // the wall clock, for tests; nil: the system's

	Placement harness.Placement // of processes, where there are several hosts
	Authority *bus.Authority    // of their certificates, likewise
}

// A Machine runs trials on real node processes, of this machine or of several, one at a time.
// It owns the bus and whatever it started: Close leaves nothing behind, and
// neither does the death of this process.
type Machine struct {
	cfg        MachineConfig
	hosts      []Host
	urls       []string // of the bus at each host; nil: the bus is not ours
	peers      []string // by which the servers of the bus reach that at each host
	identities []bus.Identity
	authority  *bus.Authority // of the certificates; nil: one host, which nobody else reaches
	secret     string         // of the bus's cluster
	spent      bool           // the bus is to be replaced
	leads      map[int]lead   // by the number of nodes
	flights    flights        // of the trials over a real network
	far        bool           // hosts compare their clocks with each other
	services   agent.Comparer // of this machine's time services, likewise
	known      [][]bound      // of the clocks, when FarClocks looked
	wire       *wire.Wire     // of the present trial, if it has one
	keeper     *wire.Wire     // one without ends, for the folder of the nodes
	mover      *proc.Spawner  // of their processes
}

// A Host is a machine with nodes.
type Host struct {
	Agent   agent.Agent
	Address string // at which the other hosts reach it; empty: there are none
	Ports   agent.Ports
	Slots   int    // see harness.Slots
	bears   int    // Slots are no more than this, which a probe has found; 0: nothing was found
	Bus     string // the server of an external bus that its nodes connect to; empty: any
}

// NewMachine starts the bus, unless an external one takes its place.
func NewMachine(cfg MachineConfig) (*Machine, error) {
	if runtime.GOOS == "windows" {
		return nil, errors.New("real node processes need Linux or macOS; use transport: sim")
	}
	if cfg.Ready == 0 {
		cfg.Ready = agent.PatienceFor(cfg.Nodes)
	}
	m := &Machine{}
	nodes, err := agent.NewLocal(agent.Config{
		Exe: cfg.Exe, Args: cfg.NodeArgs, Bus: cfg.BusArgs, Nodes: cfg.Nodes, Ready: cfg.Ready,
		Wall: cfg.Wall, Net: m.net,
		Env: slices.Concat([]string{"GOMAXPROCS=1", "CONCLAVE_RUN=" + cfg.Run}, cfg.Telltale,
			guest.Bequest()),
	})
	if err != nil {
		return nil, err
	}
	if err := m.keep(&cfg, nodes.Folder()); err != nil {
		nodes.Close()
		return nil, err
	}
	if err := m.open(cfg, Host{Agent: nodes}); err != nil {
		return nil, err
	}
	return m, nil
}

// keep has a folder removed if this process is killed. Where there is no wire, the trials that want one say
// so.
func (m *Machine) keep(cfg *MachineConfig, folder string) (err error) {
	if !cfg.Wire || wire.Available() != nil {
		return nil
	}
	m.cfg, m.mover = *cfg, proc.NewSpawner()
	m.keeper, err = wire.Keep(m.mover, m.wireConfig(0), folder)
	return err
}

// NewMachineOf is a machine whose nodes these hosts start. Their agents are closed with it,
// also if there is an error.
func NewMachineOf(cfg MachineConfig, hosts ...Host) (*Machine, error) {
	m := &Machine{}
	if err := m.open(cfg, hosts...); err != nil {
		return nil, err
	}
	return m, nil
}

// open makes m a machine, or closes what there is of it.
func (m *Machine) open(cfg MachineConfig, hosts ...Host) (err error) {
	if cfg.Ready == 0 {
		cfg.Ready = agent.PatienceFor(cfg.Nodes)
	}
	m.cfg, m.hosts, m.leads = cfg, hosts, map[int]lead{}
	if len(hosts) > 1 {
		m.authority, m.secret = cfg.Authority, rand.Text()
	}
	if cfg.External.URL == "" {
		if m.identities, err = bus.NewIdentities(cfg.Nodes); err == nil {
			err = m.startBus()
		}
	}
	if err != nil {
		m.Close()
	}
	return err
}

// patience is with a silent end of a connection; 0: the usual one.
func (c *MachineConfig) patience() time.Duration {
	if c.Pause == 0 {
		return 0
	}
	return 2*c.Pause + 5*time.Second
}

// startBus starts the bus: a server on each host, joined by routes.
func (m *Machine) startBus() error {
	users := make([]bus.User, len(m.identities))
	for i, id := range m.identities {
		users[i] = bus.User{ID: id.ID, Public: id.Public}
	}
	m.urls = make([]string, len(m.hosts))
	var routes []string
	for i, h := range m.hosts {
		cfg := bus.ServerConfig{MaxNodes: m.cfg.Nodes, Users: users, Patience: m.cfg.patience()}
		if m.authority != nil {
			proof, err := m.authority.Issue(h.Address)
			if err != nil {
				return err
			}
			cfg.Host, cfg.TLS = h.Address, proof
			cfg.Cluster = &bus.Cluster{Secret: m.secret, Routes: routes}
		}
		reply, err := h.Agent.StartBus(cfg)
		if err != nil {
			return m.of(h, err)
		}
		m.urls[i], routes = reply.URL, append(routes, reply.Route)
	}
	m.peers = routes
	return m.awaitRoutes()
}

// awaitRoutes waits until each server of the bus has a route to all others.
func (m *Machine) awaitRoutes() error {
	deadline := time.Now().Add(m.cfg.Ready)
	for _, h := range m.hosts {
		for {
			s, err := h.Agent.BusStats()
			if err != nil {
				return m.of(h, err)
			}
			missing := len(m.hosts) - 1 - s.Routes
			if missing <= 0 {
				break
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("the bus on %s reaches %d of %d other hosts after %v (%s): %s",
					h.Agent.Name(), s.Routes, len(m.hosts)-1, m.cfg.Ready, cmp.Or(s.LastError, "no error"),
					m.unreached(s.LastError))
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	return nil
}

// unreached says what to do where a server of the bus does not reach another one, by what it says of that.
func (m *Machine) unreached(why string) string {
	for i, route := range m.peers {
		if route != "" && strings.Contains(why, route) {
			_, port, _ := net.SplitHostPort(route) // it has one
			return fmt.Sprintf("a firewall may drop what is sent to port %s of %s: %s", port,
				m.hosts[i].Agent.Name(), m.hosts[i].Ports.Open(m.hosts[i].Agent.Name()))
		}
	}
	return "can the hosts connect to each other at the addresses that the hosts file gives?"
}

// of says on which host something failed, if there are several.
func (m *Machine) of(h Host, err error) error {
	if err == nil || len(m.hosts) == 1 {
		return err
	}
	return fmt.Errorf("%s: %w", h.Agent.Name(), err)
}

// busStats is what the servers of the bus have seen until now; nil if it is not ours.
func (m *Machine) busStats() (list []bus.ServerStats, err error) {
	for i := range m.urls {
		s, err := m.hosts[i].Agent.BusStats()
		if err != nil {
			return nil, m.of(m.hosts[i], err)
		}
		list = append(list, s)
	}
	return list, nil
}

// ready replaces a bus that has died or does not answer, and says what the bus
// has seen until now.
func (m *Machine) ready() (s []bus.ServerStats, err error) {
	for try := 0; ; try++ {
		if !m.spent {
			if s, err = m.busStats(); err == nil {
				return s, nil
			}
		}
		if try == busTries {
			return s, err
		}
		m.spent = true
		if err = m.startBus(); err == nil {
			m.spent = false
		}
	}
}

// busTries is how often a bus is replaced in a row: what killed the last one may
// kill the next, and a run does not end for that.
const busTries = 3

// Close ends everything that the machine started.
func (m *Machine) Close() {
	m.services.Close()
	for _, h := range m.hosts {
		h.Agent.Close()
	}
	if m.keeper != nil {
		m.keeper.Close()
	}
	if m.mover != nil {
		_ = m.mover.Close() // its processes have ended
	}
}

// A lead is from the first order to start to the common start.
type lead struct {
	time.Duration
	measured []time.Duration // what orders took, before the first trials; ascending
	base     time.Duration   // what follows from that
	known    bool            // it need not be measured again
}

// The lead that orders have is three times what they took when it was measured: a machine is
// not always as fast, but no less and no more than this.
const (
	leastLead = 4 * time.Millisecond
	mostLead  = 500 * time.Millisecond
)

// took is told how long it was until the last of so many nodes had read an order. That may have
// been a bad moment: unless it was short, it is measured before three trials, and the median counts.
func (m *Machine) took(nodes int, d time.Duration) {
	least := leastLead
	if len(m.hosts) > 1 { // networks are not as steady
		least += 20 * time.Millisecond
	}
	l := m.leads[nodes]
	l.measured = append(l.measured, d)
	slices.Sort(l.measured)
	l.base = min(max(3*l.measured[(len(l.measured)-1)/2], least), mostLead)
	l.Duration = l.base
	l.known = l.Duration == least || len(l.measured) == 3
	m.leads[nodes] = l
}

// missed is told that one of so many nodes began by so much after the common start: the
// orders have to go out earlier on this machine, for a while.
func (m *Machine) missed(nodes int, late time.Duration) {
	l := m.leads[nodes]
	l.Duration, l.known = min(2*l.Duration+late, mostLead), true
	m.leads[nodes] = l
}

// kept is told that all of so many nodes began at the common start. In a long run something holds
// a node up now and then, and not every trial that follows is to wait for that.
func (m *Machine) kept(nodes int) {
	l := m.leads[nodes]
	l.Duration -= (l.Duration - l.base) / 32
	m.leads[nodes] = l
}

// URL is where the bus listens, for information.
func (m *Machine) URL() string {
	if m.urls == nil {
		return m.cfg.External.URL
	}
	return m.urls[0]
}

// Run executes one trial and hands its records to sink in the order in which
// they happened. An error means that the trial could not be run at all; one
// that was run and skewed has reasons in End.Invalid.
func (m *Machine) Run(ctx context.Context, s *harness.Setup, sink trace.Sink) (
	end harness.End, q harness.Quality, err error) {
	for {
		end, q, err = m.runOnce(ctx, s, sink)
		if err != nil || !m.narrow(s, q.Shares) {
			return end, q, err
		}
	}
}

func (m *Machine) runOnce(ctx context.Context, s *harness.Setup, sink trace.Sink) (
	end harness.End, q harness.Quality, err error) {
	before, err := m.ready()
	if err != nil {
		return end, q, err
	}
	q.Busy, q.Stolen = math.NaN(), math.NaN()
	t, err := newTrial(m, s)
	if err != nil {
		return end, q, err
	}
	defer t.close()
	begun := clock.Monotonic()
	if err = t.beginAtAgents(); err != nil {
		return end, q, err
	}
	if s.Probe {
		if t.stocks, err = t.readStocks(); err != nil {
			return end, q, err
		}
	}
	end, err = t.startNodes(ctx)
	if q.Shares = t.shares; err != nil || len(end.Invalid) > 0 {
		return end, q, err
	}
	q.ReadyTime = clock.Monotonic() - begun
	if err = t.watchMachines(); err != nil {
		return end, q, err
	}
	if err = t.run(ctx); err != nil {
		return end, q, err
	}
	step := t.readHealth(&q)
	t.judgeWire(&q)
	t.stopNodes()
	t.compareBus(before)
	t.invalid = append(t.invalid, skew(q.SchedDelayP99, step)...)
	end = t.mergeRecords(sink)
	m.keepFlights(t, &end)
	q.Usage = t.usage()
	q.ClockError = t.clockError
	return end, q, nil
}

// access is how node i reaches the bus from a host.
func (m *Machine) access(i, host int) bus.DialConfig {
	access := m.cfg.External
	access.URL = cmp.Or(m.hosts[host].Bus, access.URL)
	if m.urls != nil {
		access = bus.DialConfig{URL: m.urls[host], Seed: m.identities[i].Secret()}
		if m.authority != nil {
			access.TLS = m.authority.Believer()
		}
	}
	access.Patience = m.cfg.patience()
	return access
}
