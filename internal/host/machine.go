// Package host leads trials on real nodes: it has agents start them, tells them what the
// coordinator of the scenario wants, finds out when all is quiet, and accounts for every
// message. The bus is its own as well. A Remote has all of that done on another machine.
package host

import (
	"context"
	"errors"
	"math"
	"runtime"
	"time"

	"github.com/conclave-bench/conclave/internal/clock"
	"github.com/conclave-bench/conclave/internal/host/agent"
	"github.com/conclave-bench/conclave/internal/proc"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A MachineConfig says how to run trials on this machine.
type MachineConfig struct {
	Exe      string   // the program to start as node and as bus
	NodeArgs []string // arguments that make it a node
	BusArgs  []string // arguments that make it the bus
	Nodes    int      // the most that a trial has
	Run      string   // marks the environment of every child, so that orphans can be told
	Telltale []string // further environment of the children, for tests
	External bus.DialConfig
	Ready    time.Duration        // how long nodes may take to be ready; 0: 10 s and 20 ms a node
	Limit    int64                // bytes of records that a node may write; 0: 256 MiB
	Pause    time.Duration        // the longest that a node is to be paused: nobody may take it for dead
	Wall     func() time.Duration // the wall clock, for tests; nil: the system's
}

// A Machine runs trials on real node processes of this machine, one at a time.
// It owns the bus and whatever it started: Close leaves nothing behind, and
// neither does the death of this process.
type Machine struct {
	cfg        MachineConfig
	agents     []agent.Agent // one, but in tests
	spawner    *proc.Spawner // of the bus
	bus        *BusProcess
	identities []bus.Identity
	spent      bool          // the bus is to be replaced
	lead       time.Duration // from the order to start to the common start
}

// NewMachine starts the bus, unless an external one takes its place.
func NewMachine(cfg MachineConfig) (*Machine, error) {
	if runtime.GOOS == "windows" {
		return nil, errors.New("real node processes need Linux or macOS; use transport: sim")
	}
	if cfg.Ready == 0 {
		cfg.Ready = patienceFor(cfg.Nodes)
	}
	nodes, err := agent.NewLocal(agent.Config{
		Exe: cfg.Exe, Args: cfg.NodeArgs, Nodes: cfg.Nodes, Ready: cfg.Ready, Wall: cfg.Wall,
		Env: append([]string{"GOMAXPROCS=1", "CONCLAVE_RUN=" + cfg.Run}, cfg.Telltale...),
	})
	if err != nil {
		return nil, err
	}
	return newMachine(cfg, nodes)
}

// newMachine is a machine whose nodes these agents start. They are closed with it.
func newMachine(cfg MachineConfig, agents ...agent.Agent) (m *Machine, err error) {
	m = &Machine{
		cfg: cfg, agents: agents, spawner: proc.NewSpawner(),
		lead: 4*time.Millisecond + time.Duration(cfg.Nodes)*100*time.Microsecond,
	}
	if cfg.External.URL == "" {
		if m.identities, err = bus.NewIdentities(cfg.Nodes); err == nil {
			err = m.startBus()
		}
	}
	if err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// patienceFor is how long so many nodes may take to be ready.
func patienceFor(nodes int) time.Duration {
	return 10*time.Second + time.Duration(nodes)*20*time.Millisecond
}

// patience is with a silent end of a connection; 0: the usual one.
func (c *MachineConfig) patience() time.Duration {
	if c.Pause == 0 {
		return 0
	}
	return 2*c.Pause + 5*time.Second
}

func (m *Machine) startBus() (err error) {
	users := make([]bus.User, len(m.identities))
	for i, id := range m.identities {
		users[i] = bus.User{ID: id.ID, Public: id.Public}
	}
	b, err := StartBus(m.spawner, m.cfg.Exe, m.cfg.BusArgs,
		bus.ServerConfig{MaxNodes: m.cfg.Nodes, Users: users, Patience: m.cfg.patience()})
	if err == nil {
		m.bus = b
	}
	return err
}

// ready replaces a bus that has died or does not answer, and says what the bus
// has seen until now.
func (m *Machine) ready() (s bus.ServerStats, err error) {
	if m.bus == nil {
		return s, nil
	}
	for try := 0; ; try++ {
		if !m.spent {
			if s, err = m.bus.Stats(); err == nil {
				return s, nil
			}
		}
		if try == busTries {
			return s, err
		}
		m.spent = true
		m.bus.Close()
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
	if m.bus != nil {
		m.bus.Close()
	}
	_ = m.spawner.Close()
	for _, a := range m.agents {
		a.Close()
	}
}

// missed is told that a node began by so much after the common start: the
// orders have to go out earlier on this machine.
func (m *Machine) missed(late time.Duration) {
	m.lead = min(2*m.lead+late, 500*time.Millisecond)
}

// URL is where the bus listens, for information.
func (m *Machine) URL() string {
	if m.bus == nil {
		return m.cfg.External.URL
	}
	return m.bus.URL
}

// A Quality says how far a trial's figures can be believed.
type Quality struct {
	// SchedDelayP99 is how late the machine ran what was due.
	SchedDelayP99 time.Duration `json:"sched_delay_p99"`
	Busy          float64       `json:"-"` // share of processor time used; NaN if unknown
	Stolen        float64       `json:"-"` // share of it that a hypervisor gave to others; NaN if unknown
	// Throttled is for how long a quota kept the nodes from running, over all processors.
	Throttled time.Duration `json:"throttled,omitempty"`
	Usage     harness.Usage `json:"usage,omitzero"`
	// ReadyTime is from the first start to the last node ready.
	ReadyTime time.Duration `json:"ready_time"`
	// ClockError is by how much records of different machines can be out of step.
	ClockError time.Duration `json:"clock_error,omitempty"`
}

// Run executes one trial and hands its records to sink in the order in which
// they happened. An error means that the trial could not be run at all; one
// that was run and skewed has reasons in End.Invalid.
func (m *Machine) Run(ctx context.Context, s *harness.Setup, sink trace.Sink) (
	end harness.End, q Quality, err error) {
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
	if end, err = t.startNodes(ctx); err != nil || len(end.Invalid) > 0 {
		return end, q, err
	}
	q.ReadyTime = clock.Monotonic() - begun
	if err = t.watchMachines(); err != nil {
		return end, q, err
	}
	err = t.run(ctx)
	step, healthErr := t.readHealth(&q)
	if err = errors.Join(err, healthErr); err != nil {
		return end, q, err
	}
	t.stopNodes()
	t.compareBus(before)
	t.invalid = append(t.invalid, skew(q.SchedDelayP99, step)...)
	end = t.mergeRecords(sink)
	for _, s := range t.sites {
		q.ClockError = max(q.ClockError, s.left.Clock.Bound)
	}
	q.Usage = t.usage()
	return end, q, nil
}

// access is how node i reaches the bus.
func (m *Machine) access(i int) bus.DialConfig {
	access := m.cfg.External
	if m.bus != nil {
		access = bus.DialConfig{URL: m.bus.URL, Seed: m.identities[i].Secret()}
	}
	access.Patience = m.cfg.patience()
	return access
}
