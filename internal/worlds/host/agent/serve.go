package agent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/conclave-bench/conclave/internal/worlds/guest"
	"github.com/conclave-bench/conclave/internal/worlds/host/control"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Serve is the life of an agent's program: it does on this machine what a Remote asks for
// over in and out, until in ends. Nothing that it started outlives it. Of cfg the programs
// count; the rest is the leader's to say. About tells the leader of this machine and program;
// it must encode as JSON.
func Serve(in io.Reader, out io.Writer, cfg Config, about any) error {
	s := &service{out: json.NewEncoder(out)}
	defer s.close()
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil { // the leader has gone
			return nil
		}
		if len(line) == 1 {
			continue // the leader says that it is there
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("read request: %w", err)
		}
		if s.local != nil {
			err = s.serve(&r)
		} else {
			var a answer
			if a, err = s.greet(&r, cfg, about); err != nil { // that it cannot is the answer
				a.Error = err.Error()
			}
			err = errors.Join(err, s.say(a))
		}
		if err != nil {
			return err
		}
	}
}

// A service is an agent's program.
type service struct {
	local *Local
	clock *clockServer
	proof *bus.TLS // by which others know this agent
	peers Comparer

	mu   sync.Mutex // of out: reports come at any time
	out  *json.Encoder
	over chan struct{}  // of the trial's reports; nil: no trial
	done sync.WaitGroup // who forwards them
}

func (s *service) close() {
	s.end()
	s.peers.Close()
	if s.clock != nil {
		_ = s.clock.Close() // nothing was written
	}
	if s.local != nil {
		s.local.Close()
	}
}

func (s *service) say(a answer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Encode(&a)
}

// AddressOf is the address of a network interface of this machine.
func AddressOf(name string) (string, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return "", fmt.Errorf("interface %s: %w", name, err)
	}
	list, err := i.Addrs()
	if err != nil {
		return "", fmt.Errorf("interface %s: %w", name, err)
	}
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLinkLocalUnicast() {
			return n.IP.String(), nil
		}
	}
	return "", fmt.Errorf("interface %s has no address", name)
}

// greet answers with the address of a network interface, or makes the agent that the leader wants.
func (s *service) greet(r *request, cfg Config, about any) (a answer, err error) {
	if r.Interface != "" {
		a.Address, err = AddressOf(r.Interface)
		return a, err
	}
	h := r.Hello
	if h == nil {
		return a, errors.New("no bench is connected: bench starts this program, by a command of the hosts " +
			"file")
	}
	if h.Protocol != Protocol {
		return a, fmt.Errorf("bench speaks protocol %d, this program %d: use the same version on all "+
			"machines", h.Protocol, Protocol)
	}
	cfg.Name, cfg.Nodes, cfg.Ready = h.Name, h.Nodes, h.Ready
	cfg.Env = append(append(cfg.Env, "GOMAXPROCS=1", "CONCLAVE_RUN="+h.Run), guest.Bequest()...)
	if a.About, err = json.Marshal(about); err != nil {
		return a, err
	}
	if s.clock, err = serveClock(h.Address, h.Ports.At(portClock), h.TLS); err != nil {
		return a, err
	}
	s.proof = h.TLS
	_, port, _ := net.SplitHostPort(s.clock.Addr().String()) // it has one
	a.Clock = net.JoinHostPort(h.Address, port)              // as its certificate names it
	if s.local, err = NewLocal(cfg); err == nil {
		a.Wall = s.local.cfg.Wall()
	}
	return a, err
}

// serve does what a request asks for, and answers.
func (s *service) serve(r *request) error {
	switch { // those without an answer
	case r.Start != nil:
		return s.complain(s.start(r.Start))
	case r.Order != nil:
		return s.complain(s.local.Order(r.Order.Node, r.Order.Orders...))
	}
	a, err := s.answer(r)
	if err != nil {
		a.Error = err.Error()
	}
	return s.say(a)
}

// start starts a node. Files that a leader names would be those of its own machine.
func (s *service) start(a *control.Assignment) error {
	if b := &a.Bus; b.CredentialsFile+b.CAFile+b.CertFile+b.KeyFile != "" {
		return errors.New("start node: the bus has files of credentials or certificates, which another " +
			"machine cannot name here")
	}
	return s.local.Start(*a)
}

func (s *service) complain(err error) error {
	if err == nil {
		return nil
	}
	return s.say(answer{Failed: err.Error()})
}

func (s *service) answer(r *request) (a answer, err error) {
	l := s.local
	switch {
	case r.Bus != nil:
		a.Bus, err = l.StartBus(*r.Bus)
	case r.BusStats:
		a.BusStats, err = l.BusStats()
	case r.Deaf != nil:
		a.Deaf, err = l.Deaf(r.Deaf.Trial, r.Deaf.Nodes)
	case r.Begin != nil:
		err = s.begin(*r.Begin)
	case r.Stock:
		a.Stock, err = l.Stock()
	case r.Signal != nil:
		a.At, err = l.Signal(r.Signal.Signal, r.Signal.Nodes...)
	case r.Counters != nil:
		a.Counters, err = l.Counters(r.Counters.Links)
	case r.Watch:
		err = l.Watch()
	case r.Health:
		a.Health, err = l.Health()
	case r.Collect:
		a.Collection, err = l.Collect()
	case r.Records != nil:
		a.Records, a.Next, err = s.records(r.Records)
	case r.Probe != nil:
		a.Probed, err = probePeers(r.Probe, s.proof)
	case r.Compare != nil:
		err = s.peers.Compare(*r.Compare, s.proof)
	case r.Compared != nil:
		a.Compared = s.peers.Compared(r.Compared.From, r.Compared.To)
	case r.End:
		s.end()
	default:
		err = errors.New("an empty request")
	}
	return a, err
}

// begin prepares a trial, and forwards what its nodes report.
func (s *service) begin(t Trial) error {
	s.end()
	reports, over := make(chan Report), make(chan struct{})
	if err := s.local.Begin(t, reports); err != nil {
		return err
	}
	s.over = over
	s.done.Go(func() {
		for {
			select {
			case r := <-reports:
				if s.say(answer{Report: &r}) != nil {
					return // the end of the input follows
				}
			case <-over:
				return
			}
		}
	})
	return nil
}

// end ends the trial. No report of it follows.
func (s *service) end() {
	if s.over == nil {
		return
	}
	_ = s.local.End()
	close(s.over)
	s.done.Wait()
	s.over = nil
}

// recordsAtOnce is how many bytes of records an answer has at most, but for its last page.
const recordsAtOnce = 256 << 10

func (s *service) records(w *recordsWanted) (packed []byte, next uint64, err error) {
	var page []trace.Record
	for next = w.From; len(packed) < recordsAtOnce; {
		var more uint64
		if page, more, err = s.local.Records(w.Node, next, page[:0]); err != nil || more == next {
			return packed, next, err
		}
		next = more
		for i := range page {
			packed = trace.AppendRecord(packed, &page[i])
		}
	}
	return packed, next, nil
}
