package work

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Config says what a worker can do besides simulations.
type Config struct {
	// Machine makes the one for trials on real nodes; nil: there is none.
	Machine func(Room) (Machine, error)
	// Spread makes one of a Room with Spread, and tells the runner of the machines, as About; nil: there is
	// none.
	Spread func(Room) (m Machine, about any, err error)
	// About tells the runner of this machine and program; it must encode as JSON. It is a function since
	// the digest of a program takes longer than some simulated runs, which do not ask for it.
	About func() any
}

// A server is a worker: it runs trials one after the other.
type server struct {
	cfg        Config
	machine    Machine
	simulates  atomic.Bool
	plans      map[int]*harness.Plan // by cell
	goroutines int                   // without a plugin's
	firsts     results.Firsts        // of the trials that failed here
	orders     chan *order

	mu   sync.Mutex // of what is sent: the guard may have something to say
	out  sender
	held int // answers in out
}

const (
	// Ahead is how many trials wait for each simulator at least, so that it never waits.
	Ahead = window / 2
	// window is how many do at most.
	window = 16
	// Answers are held back for holdFor or until there are hold of them: a system call for each would
	// cost more than a short trial.
	holdFor = 10 * time.Millisecond
	hold    = window / 2
	// crowd is how many processes take much more memory than the ballast.
	crowd = 20_000
	// mostRecords is how many bytes of records go into an answer, but for those of the last one.
	mostRecords = 64 << 10
)

// Serve is the life of a worker. It ends when in does, and nothing that it started outlives it.
func Serve(in io.Reader, out io.Writer, cfg Config) error {
	in, out = proc.Streams(in, out)
	s := &server{cfg: cfg, out: newSender(out), plans: map[int]*harness.Plan{},
		orders: make(chan *order, window)}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if _, err := fmt.Fprintf(s.out, "%s%d\n", hello, protocol); err != nil {
		return err
	}
	if err := s.out.Flush(); err != nil {
		return err
	}
	go s.read(newReceiver(in), ctx.Done(), cancel)
	for {
		var err error
		select {
		case o := <-s.orders:
			err = s.obey(ctx, o)
		case <-ctx.Done():
			err = context.Cause(ctx)
			select {
			case o := <-s.orders: // it arrived before the input ended: the sender still gets the reason
				if why := s.refusal(o); why != nil {
					err = s.refuse(why)
				}
			default:
			}
		}
		if err != nil {
			if s.machine != nil {
				s.machine.Close()
			}
			// The runner has gone, or a plugin has ended this worker.
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			return err
		}
	}
}

// read hands orders on. The end of in ends whatever goes on: a machine's trial leaves nothing behind,
// and a simulation, which nothing else would end, owns nothing.
func (s *server) read(in receiver, done <-chan struct{}, cancel context.CancelCauseFunc) {
	for {
		o := &order{}
		if err := in.receive(o); err != nil {
			if s.simulates.Load() {
				os.Exit(0)
			}
			cancel(err)
			return
		}
		select {
		case s.orders <- o:
		case <-done:
			return
		}
	}
}

// obey does what an order says, and answers. The last one of those that wait is answered at once.
func (s *server) obey(ctx context.Context, o *order) error {
	if why := s.refusal(o); why != nil {
		return s.refuse(why)
	}
	a := &answer{}
	var err error
	switch {
	case o.Setup != nil && o.Setup.Room != nil:
		if a.About, err = s.open(o.Setup.Room); err != nil {
			return s.refuse(err)
		}
	case o.Baseline:
		var figures map[string]any
		if figures, err = s.machine.Baseline(); err == nil {
			a.Baseline, err = json.Marshal(figures)
		}
	case o.Network != "":
		var m *link.Matrix
		if m, err = s.machine.Network(o.Network); err == nil {
			a.Network, err = json.Marshal(m)
		}
	case s.machine != nil:
		a, err = s.host(ctx, o)
	default:
		if o.Setup != nil {
			s.prepare(o.Setup)
		}
		a, err = s.simulate(o)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		a = &answer{Failed: err.Error()}
	}
	err = s.say(a, s.machine != nil || len(s.orders) == 0 || o.Prompt || a.Broken != "")
	if err == nil && a.Broken != "" {
		err = io.EOF
	}
	return err
}

// refusal is why this worker cannot take an order; nil: it can.
func (s *server) refusal(o *order) error {
	switch {
	case o.Setup == nil && s.machine == nil && !s.simulates.Load():
		return errors.New("no runner is connected: bench starts this program, by the command of --host")
	case o.Setup != nil && o.Setup.Room != nil && s.cfg.Machine == nil:
		return errors.New("this program has no machine for real nodes; use transport: sim")
	}
	return nil
}

// refuse ends the worker with an answer.
func (s *server) refuse(err error) error {
	return errors.Join(err, s.say(&answer{Failed: err.Error(), Mistaken: mistaken(err)}, true))
}

// mistaken says whether the user has to change something.
func mistaken(err error) bool {
	var knows interface{ Exit() int }
	return errors.As(err, &knows) && knows.Exit() == Mistake("").Exit()
}

// say answers, at once or before long.
func (s *server) say(a *answer, now bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.out.send(a); err != nil {
		return err
	}
	if s.held++; now || s.held == hold {
		s.held = 0
		return s.out.Flush()
	}
	return nil
}

// open makes the machine, and says what it and this program are.
func (s *server) open(room *Room) (about []byte, err error) {
	if room.Spread != nil {
		if s.cfg.Spread == nil {
			return nil, errors.New("this program cannot lead the trials of other machines")
		}
		m, who, err := s.cfg.Spread(*room)
		if err != nil {
			return nil, err
		}
		s.machine = m
		return json.Marshal(who)
	}
	if about, err = json.Marshal(s.cfg.About()); err == nil {
		s.machine, err = s.cfg.Machine(*room)
	}
	return about, err
}

// records sends records as they come, in pages; end sends the last page.
func (s *server) records(most int) (sink trace.Sink, end func() error) {
	var page []byte
	var lost error // a runner that does not read
	send := func() error {
		if lost == nil && len(page) > 0 {
			lost = s.say(&answer{Records: page}, true)
		}
		page = page[:0]
		return lost
	}
	return trace.SinkFunc(func(r *trace.Record) {
		if page = trace.AppendRecord(page, r); len(page) >= most {
			_ = send() // end says so
		}
	}), send
}

// host runs a trial on real nodes, and sends its records on the way.
func (s *server) host(ctx context.Context, o *order) (*answer, error) {
	p := &harness.Plan{}
	if err := json.Unmarshal(o.Plan, p); err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	setup, err := p.Setup()
	if err != nil {
		return nil, err
	}
	sink, end := s.records(mostRecords)
	out := Outcome{Quality: &harness.Quality{}}
	out.End, *out.Quality, err = s.machine.Run(ctx, setup, sink)
	if err = errors.Join(err, end()); err != nil {
		return nil, err
	}
	return answered(out), nil
}

// prepare makes this process a simulator.
func (s *server) prepare(c *setup) {
	s.simulates.Store(true)
	guard.Ballast()
	sim.OnAbandon(func(_ *harness.Setup, err error) {
		_ = s.say(&answer{Broken: err.Error()}, true)
		os.Exit(1)
	})
	guard.Watch(new(algo.Buffer), func(error) {}) // nobody: but the guard stays, and is counted
	go func() {
		for range time.Tick(holdFor) {
			s.mu.Lock()
			s.held = 0
			_ = s.out.Flush() // it fails when the runner has gone
			s.mu.Unlock()
		}
	}()
	guard.Confine(c.Memory)
	if c.Patience > 0 {
		guard.SetPatience(c.Patience)
	}
	s.goroutines = runtime.NumGoroutine()
}

func (s *server) simulate(o *order) (*answer, error) {
	if len(o.Plan) > 0 {
		p := &harness.Plan{}
		if err := json.Unmarshal(o.Plan, p); err != nil {
			return nil, fmt.Errorf("read plan: %w", err)
		}
		s.plans[o.Cell] = p
	}
	p := *s.plans[o.Cell]
	p.Seed = o.Seed
	if p.Nodes >= crowd { // whose trial takes long enough to collect more often, for half the memory
		debug.SetGCPercent(20)
	}
	var out Outcome
	var err error
	if o.Aloud {
		sink, _ := s.records(1)
		out, err = Simulate(&p, sink)
	} else {
		out, err = SimulateTraced(&p, o.Keep, folder{o.Dir, o.Keep}, &s.firsts, o.Trial)
	}
	if err != nil {
		return nil, err
	}
	a := answered(out)
	if runtime.NumGoroutine() > s.goroutines && !subject(&p) { // those of a library the bubble looks for
		err = strays(&p)
	}
	if err = cmp.Or(err, guard.Files(0)); err != nil {
		a.Broken = err.Error()
	}
	return a, nil
}

// strays says which goroutine the plugin of p has left behind.
func strays(p *harness.Plan) error {
	setup, err := p.Setup()
	if err != nil {
		return err
	}
	return guard.Strays(setup.Alg.New(setup.Config(1, 0, nil)))
}
