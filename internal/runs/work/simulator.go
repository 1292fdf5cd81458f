package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Simulators say how to simulate in processes of their own.
type Simulators struct {
	Exe  string   // the program to start
	Args []string // that make it call Serve
	// Patience is how long one event may take the plugin; 0: as guard has it.
	Patience time.Duration
	Workers  int       // that share the memory
	Keep     string    // which traces, as the experiment says
	Dir      string    // for them
	Stderr   io.Writer // of Replay: where what the plugin wrote to standard error goes; nil: nowhere
}

// Run simulates trials until there are no more, one after the other, and hands each outcome to emit.
func (c *Simulators) Run(ctx context.Context, todo <-chan experiment.Trial,
	emit func(experiment.Trial, Outcome)) error {
	s := newStation(ctx, c)
	defer s.close()
	for {
		s.take(todo)
		if len(s.waiting) == 0 {
			return nil
		}
		o, err := s.first()
		if ctx.Err() != nil {
			return nil // its cause is known
		}
		if err != nil {
			return err
		}
		t := s.waiting[0]
		s.waiting = s.waiting[1:]
		emit(t, o)
	}
}

// Replay simulates a trial again, and hands its records to sink.
func (c *Simulators) Replay(ctx context.Context, t *experiment.Trial, sink trace.Sink) (Outcome, error) {
	s := newStation(ctx, c)
	defer s.close()
	s.waiting, s.aloud = []experiment.Trial{*t}, sink
	o, err := s.first()
	if ctx.Err() != nil {
		return o, context.Cause(ctx)
	}
	s.end()
	if c.Stderr != nil && err == nil && o.End.Events > 0 { // else it says how the process died
		_, err = io.WriteString(c.Stderr, proc.Harmless(s.said))
	}
	return o, err
}

// A station is the runner's end of a simulator, and of those that take its place.
type station struct {
	*Simulators
	ctx     context.Context
	spawner *proc.Spawner
	aloud   trace.Sink // where every record goes at once; nil: nowhere

	worker  *process
	kill    func() bool  // ends the watch of ctx
	known   map[int]bool // cells whose plan it has
	about   uint32       // the process of the last record
	said    string       // on standard error, by the last worker
	waiting []experiment.Trial
	prompt  int // how many of them are to be answered at once, since a worker has died
}

func newStation(ctx context.Context, c *Simulators) *station {
	return &station{Simulators: c, ctx: ctx, spawner: proc.NewSpawner()}
}

func (s *station) close() {
	s.end()
	_ = s.spawner.Close() // its children are gone
}

// end gives the worker up.
func (s *station) end() {
	if s.worker != nil {
		s.kill()
		s.worker.Close()
		s.said, s.worker = s.worker.Stderr(), nil
	}
}

// take gives the worker what is to be done: one trial, which is waited for if nothing else is under
// way, and as many more as are there.
func (s *station) take(todo <-chan experiment.Trial) {
	if len(s.waiting) > window/2 { // a system call for each would cost more than a short trial
		return
	}
	for len(s.waiting) < window {
		var t experiment.Trial
		ok := false
		if len(s.waiting) == 0 {
			t, ok = <-todo
		} else {
			select {
			case t, ok = <-todo:
			default:
			}
		}
		if !ok {
			break
		}
		s.waiting = append(s.waiting, t)
		if s.worker != nil { // else it gets it at its start
			s.send(&t)
		}
	}
	if s.worker != nil {
		_ = s.worker.to.Flush() // that it is gone is noticed when it does not answer
	}
}

// start starts a worker and gives it everything that waits.
func (s *station) start() error {
	p, err := begin(s.spawner, proc.Command{
		// One goroutine simulates; and one of a plugin does not get far unseen.
		Path: s.Exe, Args: s.Args, Env: append(os.Environ(), "GOMAXPROCS=1"), Sweep: true,
	})
	if err != nil {
		return err
	}
	s.worker, s.known = p, map[int]bool{}
	p.LimitOutput(proc.MostOutput)
	s.kill = context.AfterFunc(s.ctx, func() { p.Kill() })
	if err := p.from.greeted(); err != nil {
		why, _ := p.Obituary()
		return fmt.Errorf("start a simulator: %s", why)
	}
	for i := range s.waiting {
		s.send(&s.waiting[i])
	}
	_ = p.to.Flush()
	return nil
}

func (s *station) send(t *experiment.Trial) {
	o := order{Cell: t.Cell, Seed: t.Plan.Seed, Trial: t.Number, Keep: s.Keep, Dir: s.Dir,
		Aloud: s.aloud != nil, Prompt: s.prompt > 0}
	if !s.known[t.Cell] {
		plan := t.Plan
		plan.Trial = transport.Sim.Name
		var err error
		if o.Plan, err = json.Marshal(&plan); err != nil {
			panic(err) // plain data: nodes get it so, too
		}
	}
	if len(s.known) == 0 {
		o.Setup = &setup{Memory: guard.Share(max(s.Workers, 1)), Patience: s.Patience}
	}
	s.known[t.Cell] = true
	_ = s.worker.to.send(&o)
}

// mostKilled is how often a trial is begun whose worker is killed while it simulates no other.
// Anybody may kill it once; three times, it is what the trial does.
const mostKilled = 3

// first waits for the outcome of the first trial that waits.
func (s *station) first() (o Outcome, err error) {
	for killed := 0; ; {
		if s.worker == nil {
			if err := s.start(); err != nil {
				return o, err
			}
		}
		a, err := s.hear()
		if err == nil {
			if a.Failed != "" {
				return o, errors.New(a.Failed)
			}
			if a.Broken != "" {
				s.end()
			}
			s.prompt = max(s.prompt-1, 0)
			return a.outcome(), nil
		}
		if s.ctx.Err() != nil {
			return o, nil
		}
		why, plugin := s.worker.Obituary()
		s.end()
		if s.prompt == 0 && s.aloud == nil { // of which of them is not known
			s.prompt = len(s.waiting)
			continue
		}
		if killed++; !plugin && killed < mostKilled {
			continue
		}
		s.prompt = max(s.prompt-1, 0)
		switch {
		case plugin && subject(&s.waiting[0].Plan): // a library's goroutines belong to no event
		case plugin:
			why = s.autopsy(why)
		default:
			if id := s.suicide(); id > 0 {
				why = fmt.Sprintf("process %d: %s while it handled an event", id, why)
			} else {
				why = fmt.Sprintf("the process that simulates it died %d times: %s", killed, why)
			}
		}
		return broke(why, o), nil
	}
}

// hear waits for an answer. A worker that has been stopped, or that says what is no answer, is gone.
func (s *station) hear() (a answer, err error) {
	for {
		a = answer{}
		if err = s.worker.from.receive(&a); err == nil && len(a.Records) > 0 {
			err = trace.EachRecord(a.Records, trace.SinkFunc(func(r *trace.Record) {
				s.about = r.Process
				s.aloud.Record(r)
			}))
			if err == nil {
				continue
			}
		}
		if err != nil {
			s.worker.Kill()
			return a, err
		}
		s.worker.LimitOutput(proc.MostOutput)
		return a, nil
	}
}

// again is a station for the first trial that waits alone, whose records go to a sink.
func (s *station) again(sink trace.SinkFunc) *station {
	again := newStation(s.ctx, s.Simulators)
	again.waiting, again.aloud = s.waiting[:1], sink
	return again
}

// suicide is the process at whose event the first trial that waits has its worker killed, time and
// again at the same one; 0: there is none. Nobody outside hits one event twice, but for a system
// without memory.
func (s *station) suicide() uint32 {
	kills, told := proc.OutOfMemoryKills(), [2]int{}
	about := uint32(0)
	for i := range told {
		again := s.again(func(*trace.Record) { told[i]++ })
		err := again.start()
		if err == nil {
			_, err = again.hear()
		}
		about = again.about
		again.close()
		if err == nil || about == 0 {
			return 0
		}
	}
	if told[0] != told[1] || proc.OutOfMemoryKills() != kills {
		return 0
	}
	return about
}

// autopsy has the first trial that waits simulated once more, aloud, to name the process at whose
// event the plugin died of why.
func (s *station) autopsy(why string) string {
	if s.aloud != nil {
		if s.about > 0 && !strings.HasPrefix(why, "panic: process ") { // a breach says whose it is
			why = fmt.Sprintf("process %d: %s", s.about, why)
		}
		return why
	}
	again := s.again(func(*trace.Record) {})
	defer again.close()
	o, err := again.first()
	if err != nil || o.Verdict.Status != trace.Failed {
		return why + " (and not when the trial was simulated once more)"
	}
	return o.Verdict.Reason
}
