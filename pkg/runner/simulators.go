package runner

import (
	"bufio"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/conclave-bench/conclave/internal/guard"
	"github.com/conclave-bench/conclave/internal/proc"
	"github.com/conclave-bench/conclave/internal/transport"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// children says whether simulated trials run in processes of their own.
func (o *Options) children() bool { return len(o.SimArgs) > 0 && proc.CanSpawn() == nil }

// work simulates trials until there are no more, and hands each outcome to emit.
func (r *run) work(ctx context.Context, workers int, todo <-chan experiment.Trial,
	emit func(experiment.Trial, outcome)) error {
	if !r.options.children() {
		for t := range todo {
			plan := t.Plan
			plan.Trial = transport.Sim.Name
			o, err := simulateTraced(&plan, r.experiment.Trace, r.store, t.Number)
			if err != nil {
				return err
			}
			emit(t, o)
		}
		return nil
	}
	s := newStation(ctx, &r.options, guard.Share(workers))
	defer s.close()
	s.keep, s.dir = r.experiment.Trace, r.store.Dir()
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

// A station is the runner's end of a simulator, and of those that take its place.
type station struct {
	ctx       context.Context
	options   *Options
	memory    uint64
	keep, dir string
	aloud     trace.Sink // nil: records are not told

	spawner *proc.Spawner
	child   *proc.Child
	kill    func() bool   // ends the watch of ctx
	out     *bufio.Writer // to it
	enc     *gob.Encoder
	dec     *gob.Decoder
	known   map[int]bool // cells whose plan it has
	about   uint32       // the process that the last record is about, if records are told
	said    string       // on standard error, by the last one
	waiting []experiment.Trial
	prompt  int // how many of them are to be answered at once, since a simulator has died
}

func newStation(ctx context.Context, o *Options, memory uint64) *station {
	return &station{ctx: ctx, options: o, memory: memory, spawner: proc.NewSpawner()}
}

func (s *station) close() {
	s.end()
	_ = s.spawner.Close() // its children are gone
}

// end gives the simulator up.
func (s *station) end() {
	if s.child != nil {
		s.kill()
		s.child.Close()
		s.said, s.child = s.child.Stderr(), nil
	}
}

// take gives the simulator what is to be done: one trial, which is waited for if nothing
// else is under way, and as many more as are there.
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
		if s.child != nil { // else it gets it at its start
			s.send(&t)
		}
	}
	if s.child != nil {
		_ = s.out.Flush() // that it is gone is noticed when it does not answer
	}
}

// start starts a simulator and gives it everything that waits.
func (s *station) start() error {
	child, err := s.spawner.Start(proc.Command{
		// One goroutine simulates; and one of a plugin does not get far unseen.
		Path: s.options.Exe, Args: s.options.SimArgs, Env: append(os.Environ(), "GOMAXPROCS=1"), Sweep: true,
	})
	if err != nil {
		return err
	}
	s.child, s.known = child, map[int]bool{}
	child.LimitOutput(proc.MostOutput)
	s.kill = context.AfterFunc(s.ctx, func() { child.Kill() })
	s.out = bufio.NewWriterSize(child.Stdin, 64<<10)
	s.enc, s.dec = gob.NewEncoder(s.out), gob.NewDecoder(bufio.NewReader(child.Stdout))
	var a answer
	if err := s.dec.Decode(&a); err != nil || !a.Ready {
		why, _ := child.Obituary()
		return fmt.Errorf("start a simulator: %s", why)
	}
	for i := range s.waiting {
		s.send(&s.waiting[i])
	}
	_ = s.out.Flush()
	return nil
}

func (s *station) send(t *experiment.Trial) {
	o := order{Cell: t.Cell, Seed: t.Plan.Seed, Trial: t.Number, Keep: s.keep, Dir: s.dir,
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
		o.Memory, o.Patience = s.memory, s.options.Patience
	}
	s.known[t.Cell] = true
	_ = s.enc.Encode(&o)
}

// mostKilled is how often a trial is begun whose simulator is killed while it simulates no other. Who kills
// it once may be anybody; three times, it is what the trial does.
const mostKilled = 3

// first waits for the outcome of the first trial that waits.
func (s *station) first() (o outcome, err error) {
	for killed := 0; ; {
		if s.child == nil {
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
		why, plugin := s.child.Obituary()
		s.end()
		switch {
		case s.prompt == 0 && s.aloud == nil: // of which of them is not known
			s.prompt = len(s.waiting)
			continue
		case plugin:
			s.prompt = max(s.prompt-1, 0)
			return broke(s.autopsy(why)), nil
		}
		if killed++; killed == mostKilled {
			s.prompt = max(s.prompt-1, 0)
			if id := s.suicide(); id > 0 {
				return broke(fmt.Sprintf("process %d: %s while it handled an event", id, why)), nil
			}
			return broke(fmt.Sprintf("the process that simulates it died %d times: %s", killed, why)), nil
		}
	}
}

// suicide is the process at whose event the first trial that waits has its simulator killed, time and
// again at the same one; 0: there is none. Nobody outside hits one event twice, but for a system
// without memory.
func (s *station) suicide() uint32 {
	kills, told := proc.OutOfMemoryKills(), [2]int{}
	about := uint32(0)
	for i := range told {
		again := newStation(s.ctx, s.options, s.memory)
		again.waiting, again.aloud = s.waiting[:1], trace.SinkFunc(func(*trace.Record) { told[i]++ })
		err := again.start()
		if err == nil {
			_, err = again.hear()
			about = again.about
		} else {
			about = 0
		}
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

// broke is the outcome of a trial whose plugin has ended its process.
func broke(why string) outcome {
	return outcome{verdict: check.Verdict{Status: trace.Failed, Reason: why},
		end: harness.End{Reason: harness.Broken}}
}

// hear waits for an answer. A simulator that has been stopped, or that says what is no
// answer, is gone.
func (s *station) hear() (a answer, err error) {
	for {
		a = answer{}
		if err := s.dec.Decode(&a); err != nil {
			s.child.Kill()
			return a, err
		}
		if a.Record == nil {
			s.child.LimitOutput(proc.MostOutput)
			return a, nil
		}
		s.about = a.Record.Process
		s.aloud.Record(a.Record)
	}
}

// autopsy has the first trial that waits simulated once more, aloud, to name the
// process at whose event the plugin died of why.
func (s *station) autopsy(why string) string {
	if s.aloud != nil {
		if s.about > 0 && !strings.HasPrefix(why, "panic: process ") { // a breach says whose it is
			why = fmt.Sprintf("process %d: %s", s.about, why)
		}
		return why
	}
	again := newStation(s.ctx, s.options, s.memory)
	again.waiting, again.aloud = s.waiting[:1], trace.SinkFunc(func(*trace.Record) {})
	defer again.close()
	o, err := again.first()
	if err != nil || o.verdict.Status != trace.Failed {
		return why + " (and not when the trial was simulated once more)"
	}
	return o.verdict.Reason
}

// replay simulates a trial in a process of its own.
func (o *Options) replay(ctx context.Context, t *experiment.Trial, sink trace.Sink) (outcome, error) {
	s := newStation(ctx, o, guard.Share(1))
	defer s.close()
	s.waiting, s.aloud = []experiment.Trial{*t}, sink
	out, err := s.first()
	if ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	s.end()
	if o.Stderr != nil && err == nil && out.end.Events > 0 { // else it says how the process died
		_, err = io.WriteString(o.Stderr, proc.Harmless(s.said))
	}
	return out, err
}
