package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/worlds/host/control"
	"github.com/conclave-bench/conclave/internal/worlds/telemetry"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Config says how to run nodes on this machine.
type Config struct {
	Exe   string               // the program to start as a node
	Args  []string             // arguments that make it one
	Bus   []string             // arguments that make it the bus
	Name  string               // of the machine; empty: "this machine"
	Env   []string             // environment of the nodes, and all of it
	Nodes int                  // the most that a trial has
	Ready time.Duration        // how long a node may take to read what it is
	Wall  func() time.Duration // the wall clock, for tests; nil: the system's
	// Net is the network namespace of each node of the present trial; nil, or of nil: that of this process.
	Net func(algo.ID) *os.File
}

// A Local is the agent of this machine, in this process. It leaves nothing behind when it
// is closed, and neither does the death of this process.
type Local struct {
	cfg     Config
	spawner *proc.Spawner
	dir     string       // of the telemetry of all trials
	lock    *flock.Flock // of dir
	trials  int
	session *session      // nil: no trial
	idle    []*proc.Child // of former trials, for the next one
	bus     *BusProcess   // nil: the nodes connect elsewhere
}

var _ Agent = (*Local)(nil)

// A session is a trial as its agent sees it.
type session struct {
	Trial
	dir      string
	reports  chan<- Report
	over     chan struct{} // nobody hears reports any more
	nodes    []*node       // in the order of their start
	crews    []*crew
	byRef    map[Ref]*node
	kills    uint64 // see proc.OutOfMemoryKills
	tally    *telemetry.Tally
	watch    watch
	counters []Counters
}

// leastRecords is how many bytes of records a node needs room for at the very least.
const leastRecords = 32 << 10

// NewLocal returns an agent. Close it.
func NewLocal(cfg Config) (*Local, error) {
	if cfg.Wall == nil {
		cfg.Wall = clock.Wall
	}
	// Three pipes and a mapped file for each node, and a bus's own.
	if _, err := proc.RaiseFileLimit(uint64(cfg.Nodes)*8 + 256); err != nil {
		return nil, err
	}
	parent := telemetry.Dir(64 << 20)
	if free, err := telemetry.Free(parent); err == nil && free < int64(cfg.Nodes)*leastRecords {
		return nil, fmt.Errorf("no disk space is left: %s has %d KiB, and what %d nodes write down takes "+
			"%d KiB and more; free some space there, or set TMPDIR to a folder with more", parent, free>>10,
			cfg.Nodes, int64(cfg.Nodes)*leastRecords>>10)
	}
	dir, lock, err := MakeDir(parent, fmt.Sprintf("%d-", os.Getpid()))
	if err != nil {
		return nil, err
	}
	return &Local{cfg: cfg, spawner: proc.NewSpawner(), dir: dir, lock: lock}, nil
}

// Folder is where the nodes write, and what is removed by Close.
func (l *Local) Folder() string { return l.dir }

// Close implements Agent.
func (l *Local) Close() {
	_ = l.End()
	l.closeBus()
	_ = l.spawner.Close()
	_ = os.RemoveAll(l.dir)
	_ = l.lock.Close()
}

// Begin implements Agent.
func (l *Local) Begin(t Trial, reports chan<- Report) error {
	if err := l.End(); err != nil {
		return err
	}
	l.trials++
	s := &session{
		Trial: t, dir: filepath.Join(l.dir, fmt.Sprint(l.trials)), reports: reports,
		over: make(chan struct{}), byRef: map[Ref]*node{}, kills: proc.OutOfMemoryKills(),
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return err
	}
	l.session = s
	if l.bus != nil {
		go s.watchBus(l.bus.Done())
	}
	s.watch.begin()
	if t.Tallies == 0 {
		return nil
	}
	var err error
	s.tally, err = telemetry.OpenTally(s.tallyPath(), t.Tallies)
	return err
}

// watchBus tells of the death of the bus.
func (s *session) watchBus(gone <-chan struct{}) {
	select {
	case <-gone:
		s.report(Report{Lost: ErrBusDied.Error()})
	case <-s.over:
	}
}

func (s *session) tallyPath() string { return filepath.Join(s.dir, "tally") }

// End implements Agent.
func (l *Local) End() error {
	s := l.session
	if s == nil {
		return nil
	}
	l.session = nil
	close(s.over)
	s.watch.end()
	for _, n := range s.nodes {
		if a, is := n.life.(alone); is && n.left.Load() && !n.harmed && n.net == nil {
			l.idle = append(l.idle, a.child)
		} else {
			n.life.close()
		}
		n.closing.Lock()
		if r := n.reader.Swap(nil); r != nil {
			_ = r.Close()
		}
		n.closing.Unlock()
	}
	if s.tally != nil {
		s.tally.Close()
	}
	return os.RemoveAll(s.dir)
}

// Start implements Agent.
func (l *Local) Start(a control.Assignment) (err error) {
	s := l.session
	n := &node{Ref: Ref{a.ID, a.Incarnation}}
	if l.cfg.Net != nil {
		n.net = l.cfg.Net(a.ID)
	}
	n.telemetry = filepath.Join(s.dir, fmt.Sprintf("p%d-%d", a.ID, a.Incarnation))
	n.saved = s.savedBy(a.ID)
	a.Telemetry, a.Tally, a.Saved = n.telemetry, s.tallyPath(), n.saved
	if s.PerProcess > 0 {
		if err = l.join(n, &a); err != nil {
			return fmt.Errorf("start node p%d: %w", a.ID, err)
		}
		return nil
	}
	if a.Site != nil {
		if a.Site, err = s.site(n, a.Site); err != nil {
			return err
		}
	}
	line, err := json.Marshal(&a)
	if err != nil {
		return err
	}
	child := l.reuse(n)
	if child == nil {
		if child, err = l.spawn(n.net); err != nil {
			return fmt.Errorf("start node p%d: %w", a.ID, err)
		}
	}
	n.life = alone{child}
	s.add(n)
	// A node that does not read them is noticed by not being ready, or by its end.
	_ = child.Stdin.SetWriteDeadline(time.Now().Add(l.cfg.Ready))
	go s.listen(n, child, slices.Concat([]byte(s.Plan), []byte{'\n'}, line, []byte{'\n'}))
	return nil
}

// site is where the process of n lives: in a folder of its own, which all its incarnations share.
func (s *session) site(n *node, given *algo.Site) (*algo.Site, error) {
	at := *given
	at.Folder = filepath.Join(s.dir, fmt.Sprintf("site-p%d", n.ID))
	return &at, os.MkdirAll(at.Folder, 0o700)
}

// Stock implements Agent.
func (l *Local) Stock() (Stock, error) {
	s := Stock{Left: proc.RoomLeft(), Cores: runtime.NumCPU()}
	if l.bus != nil {
		s.Taken.Add(proc.FootprintOf(l.bus.Pid()))
	}
	for _, child := range l.idle {
		s.Taken.Add(proc.FootprintOf(child.Pid()))
	}
	if l.session == nil {
		return s, nil
	}
	for _, n := range l.session.nodes {
		if a, is := n.life.(alone); is {
			s.Taken.Add(proc.FootprintOf(a.child.Pid()))
		}
	}
	for _, c := range l.session.crews {
		s.Taken.Add(proc.FootprintOf(c.child.Pid()))
	}
	return s, nil
}

// reuse is a process of a former trial; nil: there is none. A node that is up again gets a new
// one in any case, so that outages take as long with reuse as without.
func (l *Local) reuse(n *node) *proc.Child {
	for l.session.Reuse && n.Incarnation == 0 && n.net == nil && len(l.idle) > 0 {
		child := l.idle[0]
		l.idle = l.idle[1:]
		select {
		case <-child.Done(): // somebody has killed it
			child.Close()
		default:
			return child
		}
	}
	return nil
}

// spawn starts a process for nodes in a network namespace; nil: that of this process.
func (l *Local) spawn(net *os.File) (*proc.Child, error) {
	c := proc.Command{Path: l.cfg.Exe, Args: l.cfg.Args, Env: l.cfg.Env, Net: net}
	if l.session.Apart { // servers fork and make process groups of their own
		c.Apart, c.Env = true, slices.Concat(c.Env, []string{"PATH=" + os.Getenv("PATH")})
	}
	return l.spawner.Start(c)
}

func (s *session) add(n *node) { s.nodes, s.byRef[n.Ref] = append(s.nodes, n), n }

// node is the one that n means.
func (l *Local) node(n Ref) (*node, error) {
	if l.session != nil {
		if have := l.session.byRef[n]; have != nil {
			return have, nil
		}
	}
	return nil, fmt.Errorf("no node p%d, incarnation %d", n.ID, n.Incarnation)
}

// orderPatience is how long a node may leave its orders unread when there is no
// more room for them.
const orderPatience = 2 * time.Second

// Order implements Agent.
func (l *Local) Order(to Ref, orders ...control.Order) error {
	n, err := l.node(to)
	if err != nil {
		return err
	}
	for i := range orders {
		n.harmed = n.harmed || orders[i].Slow != nil
	}
	if err = n.life.order(orders); err != nil {
		return fmt.Errorf("node p%d %w", to.ID, err)
	}
	return nil
}

// Signal implements Agent.
func (l *Local) Signal(what Signal, nodes ...Ref) (at []time.Duration, err error) {
	for _, which := range nodes {
		when, err := l.signal(what, which)
		if err != nil {
			return nil, err
		}
		at = append(at, when)
	}
	return at, nil
}

func (l *Local) signal(what Signal, which Ref) (at time.Duration, err error) {
	n, err := l.node(which)
	if err != nil {
		return 0, err
	}
	n.harmed = true
	switch what {
	case Kill:
		n.killed = true
		n.doomed.Store(true)
		at, err = n.life.kill()
	case Pause:
		at, err = n.life.pause()
	case Resume:
		at, err = n.life.resume()
	default:
		err = fmt.Errorf("unknown signal %q", what)
	}
	if err != nil {
		err = fmt.Errorf("node p%d: %w", which.ID, err)
	}
	return at, err
}

// Collect implements Agent.
func (l *Local) Collect() (c Collection, err error) {
	s := l.session
	for _, n := range s.nodes {
		if !n.left.Load() {
			n.doomed.Store(true)
			n.life.stop()
		}
	}
	for _, n := range s.nodes {
		if r := n.reader.Load(); r != nil {
			c.Journals = append(c.Journals,
				Journal{Node: n.Ref, Slots: r.Len(), Full: r.Full(), Usage: n.usage(r),
					Handling:  time.Duration(r.Word(control.WordHandled)),
					InHandler: r.Word(control.WordInHandler) != 0})
		}
	}
	for i := range s.Tallies {
		c.Tallies = append(c.Tallies, s.tally.Number(i).Load())
	}
	return c, nil
}

// pageSize is how many records Records appends at most.
const pageSize = 512

var errPageFull = errors.New("the page is full")

// Records implements Agent.
func (l *Local) Records(of Ref, from uint64, list []trace.Record) ([]trace.Record, uint64, error) {
	n, err := l.node(of)
	if err != nil {
		return list, from, err
	}
	reader := n.reader.Load()
	if reader == nil {
		return list, from, nil // it was never ready
	}
	left := pageSize
	next, err := reader.EachFrom(from, func(r *trace.Record) error {
		if left == 0 {
			return errPageFull
		}
		left--
		list = append(list, *r)
		return nil
	})
	if errors.Is(err, errPageFull) {
		err = nil
	}
	return list, next, err
}

// Course implements Agent: the host is this process, and has its clock.
func (l *Local) Course(_, _ time.Duration) (clock.Course, error) { return clock.Course{}, nil }

// Clock implements Agent.
func (l *Local) Clock() string { return "" }

// Compare implements Agent.
func (l *Local) Compare([]string) error { return nil }

// Compared implements Agent.
func (l *Local) Compared(_, _ time.Duration) (Comparisons, error) { return Comparisons{}, nil }

// Name implements Agent.
func (l *Local) Name() string { return cmp.Or(l.cfg.Name, trace.Here) }

// StartBus implements Agent.
func (l *Local) StartBus(cfg bus.ServerConfig) (bus.ServerReply, error) {
	l.closeBus()
	b, err := StartBus(l.spawner, l.cfg.Exe, l.cfg.Bus, cfg)
	if err != nil {
		return bus.ServerReply{}, err
	}
	l.bus = b
	return b.ServerReply, nil
}

func (l *Local) closeBus() {
	if l.bus != nil {
		l.bus.Close()
		l.bus = nil
	}
}

var errNoBus = errors.New("there is no bus on this machine")

// BusStats implements Agent.
func (l *Local) BusStats() (bus.ServerStats, error) {
	if l.bus == nil {
		return bus.ServerStats{}, errNoBus
	}
	stats, err := l.bus.Stats()
	if err == nil {
		return stats, nil
	}
	select { // say so plainly, if it can be known
	case <-l.bus.Done():
		return stats, ErrBusDied
	case <-time.After(100 * time.Millisecond):
		return stats, err
	}
}

// ErrBusDied says that the process that was the bus has ended.
var ErrBusDied = errors.New("the bus died")

// Deaf implements Agent.
func (l *Local) Deaf(trial string, nodes int) ([]uint32, error) {
	if l.bus == nil {
		return nil, errNoBus
	}
	return l.bus.Deaf(trial, nodes)
}
