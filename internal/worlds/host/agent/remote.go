package agent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/worlds/guest"
	"github.com/conclave-bench/conclave/internal/worlds/host/control"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A RemoteConfig says how to have an agent on another machine.
type RemoteConfig struct {
	Name    string   // of the machine, for people
	Command []string // starts a program that calls Serve; found as a shell finds it
	// Dial starts it otherwise, if it is not nil.
	Dial    func() (Program, error)
	Address string // of the machine, at which this one and the other hosts reach it
	// Interface is the network interface there whose address it is, if Address is empty.
	Interface string
	Ports     Ports         // that the bus and the clock listen on there
	Nodes     int           // the most that a trial has
	Run       string        // marks the environment of what it starts
	Ready     time.Duration // how long a node may take to read what it is; 0: see PatienceFor
	// Authority signs the certificates of this run.
	Authority *bus.Authority
	Patience  time.Duration // with a silent agent; 0: 5 s
}

// A Remote is an agent of another machine. One that died is started again when the bus or a
// trial is to be.
type Remote struct {
	cfg     RemoteConfig
	spawner *proc.Spawner
	link    *agentLink // nil: it is not there
	about   json.RawMessage
}

var _ Agent = (*Remote)(nil)

// An agentLink is the connection to an agent's program, for as long as it lives.
type agentLink struct {
	name    string
	program Program
	clock   *clockWatch
	answers chan answer
	dead    chan struct{} // closed when nothing comes any more, and
	why     error         // that is why

	mu      sync.Mutex
	given   error         // why it was given up, and so ended
	waiting []Report      // that nobody has heard yet
	trial   chan struct{} // closed at the end of the trial; nil: none
	more    chan struct{} // there is something waiting
}

// A GoneError is of an agent that has died or is given up. All that it was asked for since
// fails with the same error.
type GoneError struct{ why string }

func (e *GoneError) Error() string { return e.why }

// A WrongClock is that of an agent whose date is so wrong that the certificates of a run do not hold there.
type WrongClock struct {
	Host         string
	Theirs, Ours time.Duration // since 1970
}

func (e *WrongClock) Error() string {
	day := func(at time.Duration) string { return time.Unix(0, int64(at)).UTC().Format(time.DateOnly) }
	return fmt.Sprintf("on %s it is %s, and here it is %s, so that the certificates of the run do not hold "+
		"there: set its clock, by a time service or with date", e.Host, day(e.Theirs), day(e.Ours))
}

const (
	agentStartTimeout = 30 * time.Second
	agentPatience     = 5 * time.Second
	agentEndGrace     = 2 * time.Second
	// maxAnswer bounds a line of an agent's, in bytes.
	maxAnswer = 64 << 20
)

// NewRemote starts the agent's program.
func NewRemote(cfg RemoteConfig) (*Remote, error) {
	if cfg.Ready == 0 {
		cfg.Ready = PatienceFor(cfg.Nodes)
	}
	if cfg.Patience == 0 {
		cfg.Patience = agentPatience
	}
	r := &Remote{cfg: cfg, spawner: proc.NewSpawner()}
	if err := r.connect(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// About is what the agent says of its machine and its program.
func (r *Remote) About() json.RawMessage { return r.about }

// Address is where this machine and the other hosts reach that of the agent.
func (r *Remote) Address() string { return r.cfg.Address }

// PatienceFor is how long so many nodes may take to be ready.
func PatienceFor(nodes int) time.Duration {
	return 10*time.Second + time.Duration(nodes)*20*time.Millisecond
}

// Name implements Agent.
func (r *Remote) Name() string { return r.cfg.Name }

// connect starts the program if it is not there.
func (r *Remote) connect() error {
	if r.link != nil {
		select {
		case <-r.link.dead:
			r.dismiss(0)
		default:
			return nil
		}
	}
	if err := r.start(); err != nil {
		r.dismiss(0)
		var wrong *WrongClock
		if r.cfg.Dial == nil && !errors.As(err, &wrong) {
			err = fmt.Errorf("%s: %w", strings.Join(r.cfg.Command, " "), err)
		}
		return fmt.Errorf("start agent on %s: %w", r.cfg.Name, err)
	}
	return nil
}

func (r *Remote) start() error {
	dial := r.cfg.Dial
	if dial == nil {
		dial = func() (Program, error) {
			return Start(r.spawner, proc.Command{Path: r.cfg.Command[0], Args: r.cfg.Command[1:],
				Env: append(append(os.Environ(), guest.Bequest()...), "CONCLAVE_RUN="+r.cfg.Run)})
		}
	}
	program, err := dial()
	if err != nil {
		return err
	}
	r.link = &agentLink{name: r.cfg.Name, program: program, answers: make(chan answer, 1),
		dead: make(chan struct{}), more: make(chan struct{}, 1)}
	go r.link.read()
	if r.cfg.Address == "" {
		a, err := r.ask(agentStartTimeout, request{Interface: r.cfg.Interface})
		if err != nil {
			return err
		}
		r.cfg.Address = a.Address
	}
	proof, err := r.cfg.Authority.Issue(r.cfg.Address)
	if err != nil {
		return err
	}
	a, err := r.ask(agentStartTimeout, request{Hello: &hello{Protocol: Protocol, Name: r.cfg.Name,
		Nodes: r.cfg.Nodes, Run: r.cfg.Run, Ready: r.cfg.Ready, Address: r.cfg.Address, Ports: r.cfg.Ports,
		TLS: proof}})
	if err != nil {
		return err
	}
	if ahead := a.Wall - clock.Wall(); ahead > bus.CertAfter || ahead < -bus.CertBefore {
		return &WrongClock{r.cfg.Name, a.Wall, clock.Wall()}
	}
	r.about = a.About
	r.link.clock, err = watchClock(a.Clock, proof, 0)
	return err
}

// dismiss ends the program: at the end of its input it ends by itself.
func (r *Remote) dismiss(grace time.Duration) {
	l := r.link
	if l == nil {
		return
	}
	r.link = nil
	l.endTrial()
	if l.clock != nil {
		l.clock.close()
	}
	_ = l.program.CloseWrite() // it may be gone
	select {
	case <-l.program.Done():
	case <-time.After(grace):
	}
	l.program.Close()
}

// Close implements Agent.
func (r *Remote) Close() {
	r.dismiss(agentEndGrace)
	_ = r.spawner.Close()
}

// read takes in what the agent says, until it says nothing any more.
func (l *agentLink) read() {
	lines := bufio.NewScanner(l.program)
	lines.Buffer(nil, maxAnswer)
	for lines.Scan() {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			l.die(fmt.Errorf("it wrote %.80q to its standard output, which is for bench", lines.Bytes()))
			return
		}
		switch {
		case a.Report != nil:
			l.hear(*a.Report)
		case a.Failed != "":
			l.hear(Report{Lost: l.name + ": " + a.Failed})
		default:
			select {
			case l.answers <- a:
			default: // nobody has asked
				l.die(errors.New("it answered twice"))
				return
			}
		}
	}
	l.die(l.obituary(lines.Err()))
}

// obituary says why nothing comes any more.
func (l *agentLink) obituary(err error) error {
	select {
	case <-l.program.Done():
		return errors.New(l.program.Obituary())
	case <-time.After(agentEndGrace): // it has closed its output, but is still there
		if err == nil {
			err = errors.New("it closed its output")
		}
		return err
	}
}

func (l *agentLink) die(why error) {
	l.mu.Lock()
	given := l.given
	l.mu.Unlock()
	if l.why = given; given == nil {
		l.why = &GoneError{fmt.Sprintf("the agent on %s died: %v", l.name, why)}
	}
	close(l.dead)
	l.hear(Report{Lost: l.why.Error()})
}

// hear keeps a report until the leader takes it, so that whoever reads never waits for
// the leader, who may wait for an answer.
func (l *agentLink) hear(r Report) {
	l.mu.Lock()
	l.waiting = append(l.waiting, r)
	l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// forward hands reports on until the end of the trial.
func (l *agentLink) forward(to chan<- Report, over <-chan struct{}) {
	for {
		l.mu.Lock()
		list := l.waiting
		l.waiting = nil
		l.mu.Unlock()
		for _, r := range list {
			select {
			case to <- r:
			case <-over:
				return
			}
		}
		select {
		case <-l.more:
		case <-over:
			return
		}
	}
}

func (l *agentLink) endTrial() {
	if l.trial != nil {
		close(l.trial)
		l.trial = nil
	}
	l.mu.Lock()
	l.waiting = nil
	l.mu.Unlock()
}

// tell sends a request that has no answer.
func (r *Remote) tell(q request) error {
	if r.link == nil {
		return fmt.Errorf("there is no agent on %s", r.cfg.Name)
	}
	line, err := json.Marshal(&q)
	if err != nil {
		return err
	}
	_ = r.link.program.SetWriteDeadline(time.Now().Add(r.cfg.Patience))
	if _, err := r.link.program.Write(append(line, '\n')); err != nil {
		return r.silent(r.cfg.Patience, err)
	}
	return nil
}

// ask sends a request and waits for the answer to it.
func (r *Remote) ask(within time.Duration, q request) (a answer, err error) {
	if err := r.tell(q); err != nil {
		return a, err
	}
	l := r.link
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case a = <-l.answers:
		switch a.Error {
		case "":
			return a, nil
		case ErrBusDied.Error():
			return a, ErrBusDied
		}
		return a, errors.New(a.Error)
	case <-l.dead:
		return a, l.why
	case <-timer.C:
		return a, r.silent(within, os.ErrDeadlineExceeded)
	}
}

// silent gives an agent up that does not read or answer.
func (r *Remote) silent(within time.Duration, err error) error {
	l := r.link
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = &GoneError{fmt.Sprintf("the agent on %s did not answer within %v", r.cfg.Name, within)}
		l.mu.Lock()
		l.given = err
		l.mu.Unlock()
		l.program.Kill()
		return err
	}
	select {
	case <-l.dead:
		return l.why
	case <-time.After(agentEndGrace):
		return fmt.Errorf("the agent on %s: %w", r.cfg.Name, err)
	}
}

// StartBus implements Agent.
func (r *Remote) StartBus(cfg bus.ServerConfig) (reply bus.ServerReply, err error) {
	if err = r.connect(); err != nil {
		return reply, err
	}
	cfg.Port = r.cfg.Ports.At(portClients)
	if cfg.Cluster != nil {
		cfg.Cluster.Port = r.cfg.Ports.At(portRoutes)
	}
	a, err := r.ask(busStartTimeout+r.cfg.Patience, request{Bus: &cfg})
	return a.Bus, err
}

// BusStats implements Agent.
func (r *Remote) BusStats() (bus.ServerStats, error) {
	a, err := r.ask(r.cfg.Patience, request{BusStats: true})
	return a.BusStats, err
}

// Deaf implements Agent.
func (r *Remote) Deaf(trial string, nodes int) ([]uint32, error) {
	a, err := r.ask(r.cfg.Patience, request{Deaf: &audience{trial, nodes}})
	return a.Deaf, err
}

// Begin implements Agent.
func (r *Remote) Begin(t Trial, reports chan<- Report) error {
	if err := r.connect(); err != nil {
		return err
	}
	r.link.endTrial()
	if _, err := r.ask(r.cfg.Patience, request{Begin: &t}); err != nil {
		return err
	}
	over := make(chan struct{})
	r.link.trial = over
	go r.link.forward(reports, over)
	return nil
}

// Start implements Agent. That it failed is a report.
func (r *Remote) Start(a control.Assignment) error { return r.tell(request{Start: &a}) }

// Stock implements Agent. Reading what thousands of processes hold takes its time.
func (r *Remote) Stock() (Stock, error) {
	a, err := r.ask(r.cfg.Patience+r.cfg.Ready, request{Stock: true})
	return a.Stock, err
}

// Order implements Agent. That it failed is a report.
func (r *Remote) Order(n Ref, list ...control.Order) error {
	return r.tell(request{Order: &orders{n, list}})
}

// Signal implements Agent.
func (r *Remote) Signal(what Signal, nodes ...Ref) ([]time.Duration, error) {
	a, err := r.ask(r.cfg.Patience, request{Signal: &signalled{what, nodes}})
	if err == nil && len(a.At) != len(nodes) {
		err = fmt.Errorf("the agent on %s signalled %d of %d nodes", r.cfg.Name, len(a.At), len(nodes))
	}
	return a.At, err
}

// Counters implements Agent.
func (r *Remote) Counters(links bool) ([]Counters, error) {
	a, err := r.ask(r.cfg.Patience, request{Counters: &countersWanted{links}})
	return a.Counters, err
}

// Watch implements Agent.
func (r *Remote) Watch() error {
	_, err := r.ask(r.cfg.Patience, request{Watch: true})
	return err
}

// Health implements Agent.
func (r *Remote) Health() (Health, error) {
	a, err := r.ask(r.cfg.Patience, request{Health: true})
	return a.Health, err
}

// Collect implements Agent.
func (r *Remote) Collect() (Collection, error) {
	a, err := r.ask(r.cfg.Patience, request{Collect: true})
	return a.Collection, err
}

// Records implements Agent.
func (r *Remote) Records(n Ref, from uint64, list []trace.Record) ([]trace.Record, uint64, error) {
	a, err := r.ask(r.cfg.Patience, request{Records: &recordsWanted{n, from}})
	if err != nil {
		return list, from, err
	}
	err = trace.EachRecord(a.Records, trace.SinkFunc(func(rec *trace.Record) { list = append(list, *rec) }))
	return list, a.Next, err
}

// Course implements Agent.
func (r *Remote) Course(from, to time.Duration) (clock.Course, error) {
	if r.link == nil {
		return clock.Course{}, fmt.Errorf("there is no agent on %s", r.cfg.Name)
	}
	select {
	case <-r.link.dead: // its clock would not answer for long
		return clock.Course{}, r.link.why
	default:
		course, err := r.link.clock.course(from, to)
		var silent *SilentClock
		if errors.As(err, &silent) {
			silent.Open = r.cfg.Ports.Open(r.cfg.Name)
		}
		return course, err
	}
}

// Clock implements Agent.
func (r *Remote) Clock() string {
	if r.link == nil {
		return ""
	}
	return r.link.clock.place
}

// Compare implements Agent.
func (r *Remote) Compare(places []string) error {
	_, err := r.ask(r.cfg.Patience, request{Compare: &places})
	return err
}

// Compared implements Agent.
func (r *Remote) Compared(from, to time.Duration) (Comparisons, error) {
	a, err := r.ask(r.cfg.Patience, request{Compared: &span{from, to}})
	return a.Compared, err
}

// End implements Agent.
func (r *Remote) End() error {
	if r.link == nil {
		return nil
	}
	_, err := r.ask(r.cfg.Patience, request{End: true})
	if r.link != nil {
		r.link.endTrial()
	}
	return err
}
