package host

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"

	"github.com/conclave-bench/conclave/internal/clock"
	"github.com/conclave-bench/conclave/internal/proc"
	"github.com/conclave-bench/conclave/internal/telemetry"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/host/control"
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
	Limit    int64                // bytes of records that a node may write; 0: DefaultTelemetryLimit
	Pause    time.Duration        // the longest that a node is to be paused: nobody may take it for dead
	Wall     func() time.Duration // the wall clock, for tests; nil: the system's
}

// A Machine runs trials on real node processes of this machine, one at a time.
// It owns the bus and whatever it started: Close leaves nothing behind, and
// neither does the death of this process.
type Machine struct {
	cfg        MachineConfig
	spawner    *proc.Spawner
	bus        *BusProcess
	identities []bus.Identity
	dir        string
	lock       *flock.Flock // of dir
	spent      bool         // the bus is to be replaced
	trials     int
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
	if cfg.Wall == nil {
		cfg.Wall = wallClock
	}
	// Three pipes and a mapped file for each node, and the bus's own.
	if _, err := proc.RaiseFileLimit(uint64(cfg.Nodes)*8 + 256); err != nil {
		return nil, err
	}
	dir, lock, err := makeDir(telemetry.Dir(64 << 20))
	if err != nil {
		return nil, err
	}
	m := &Machine{
		cfg: cfg, spawner: proc.NewSpawner(), dir: dir, lock: lock,
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
	_ = os.RemoveAll(m.dir)
	_ = m.lock.Close()
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
	SchedDelayP99 time.Duration // how late the machine ran what was due
	Busy          float64       // share of processor time used; NaN if unknown
	Stolen        float64       // share of it that a hypervisor gave to others; NaN if unknown
	Throttled     time.Duration // for which a quota kept the nodes from running, over all processors
	ReadyTime     time.Duration // from the first start to the last node ready
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
	m.trials++
	dir := filepath.Join(m.dir, fmt.Sprint(m.trials))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return end, q, err
	}
	defer os.RemoveAll(dir)
	t := newTrial(m, s, dir)
	defer t.close()
	cpu, _ := clock.ReadCPU()
	q.Busy, q.Stolen = math.NaN(), math.NaN()
	begun := clock.Monotonic()
	if end, err = t.join(ctx); err != nil || len(end.Invalid) > 0 {
		return end, q, err
	}
	q.ReadyTime = clock.Monotonic() - begun
	probe, err := clock.NewProbe()
	if err != nil {
		return end, q, err
	}
	throttled, _ := clock.ReadThrottled()
	clocks := readClocks(m.cfg.Wall)
	err = t.run(ctx)
	_, q.SchedDelayP99, _ = probe.Stop()
	step := readClocks(m.cfg.Wall).stepSince(clocks)
	if now, cpuErr := clock.ReadCPU(); cpuErr == nil {
		q.Busy, q.Stolen = now.BusySince(cpu), now.StolenSince(cpu)
	}
	if now, quotaErr := clock.ReadThrottled(); quotaErr == nil {
		q.Throttled = max(now-throttled, 0)
	}
	if err != nil {
		return end, q, err
	}
	t.stop()
	t.compare(before)
	t.invalid = append(t.invalid, skew(q.SchedDelayP99, step)...)
	return t.collect(sink), q, nil
}

// access is how node i reaches the bus.
func (m *Machine) access(i int) control.Access {
	if m.bus == nil {
		e := m.cfg.External
		return control.Access{URL: e.URL, Seed: e.Seed, Credentials: e.CredentialsFile, User: e.User,
			Password: e.Password, Token: e.Token, CA: e.CAFile, Cert: e.CertFile, Key: e.KeyFile,
			Patience: m.cfg.patience()}
	}
	return control.Access{URL: m.bus.URL, Seed: m.identities[i].Secret(), Patience: m.cfg.patience()}
}
