package runner

import (
	"bufio"
	"cmp"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/guard"
	"github.com/conclave-bench/conclave/internal/proc"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// An order tells a simulator to run a trial.
type order struct {
	Memory uint64 // bytes that it may take; in the first order
	// Patience is how long an event may take the plugin, likewise; 0: as guard has it.
	Patience time.Duration
	Plan     []byte // of the cell, as JSON, but for the seed; empty: as it had before
	Cell     int
	Seed     uint64
	Trial    int
	Keep     string // trace, as in the experiment
	Dir      string // of the run, for that
	Aloud    bool   // every record is told at once
	Prompt   bool   // so is the answer: who dies then dies of this order
}

// An answer is what a simulator says: that it is there, or about the first of its
// orders that it has not answered. A record does not end an answer.
type answer struct {
	Ready   bool
	Record  *trace.Record
	Verdict check.Verdict
	At      time.Duration
	Reason  harness.Reason
	Skipped int
	Pending int64
	Events  uint64
	// Handling is what the algorithm's handlers cost.
	Handling harness.Handling
	Broken   string // the plugin is to blame, and this simulator has ended
	Failed   string // the run cannot go on
}

// A simulator is a process that simulates trials for a run, one after the other, so
// that no plugin can harm the run: it may end, hang, or eat its share of the memory.
type simulator struct {
	mu    sync.Mutex // of what is said: the guard may have something to say
	out   *bufio.Writer
	enc   *gob.Encoder
	held  int // answers in out
	plans map[int]*harness.Plan
	base  int // goroutines, without a plugin's
}

// window is how many orders wait for a simulator at most, so that it never waits.
const window = 16

// Simulate is the life of a simulator. It ends when in does.
func Simulate(in io.Reader, out io.Writer) error {
	guard.Ballast()
	in, out = proc.Streams(in, out)
	w := bufio.NewWriter(out)
	s := &simulator{out: w, enc: gob.NewEncoder(w), plans: map[int]*harness.Plan{}}
	sim.OnAbandon(func(_ *harness.Setup, err error) {
		_ = s.say(&answer{Broken: err.Error()}, true)
		os.Exit(1)
	})
	guard.Watch(new(algo.Buffer), func(error) {}) // nobody: but the guard stays, and is counted
	orders := make(chan order, window)
	go func() {
		dec := gob.NewDecoder(bufio.NewReader(in))
		for {
			var o order
			if dec.Decode(&o) != nil {
				os.Exit(0) // the runner has gone
			}
			orders <- o
		}
	}()
	go func() {
		for range time.Tick(holdFor) {
			_ = s.flush() // it fails when the runner has gone
		}
	}()
	if err := s.say(&answer{Ready: true}, true); err != nil {
		return err
	}
	s.base = runtime.NumGoroutine()
	for o := range orders {
		if o.Memory > 0 || o.Patience > 0 {
			guard.Confine(o.Memory)
		}
		if o.Patience > 0 {
			guard.SetPatience(o.Patience)
		}
		a, err := s.obey(&o)
		if err != nil {
			a = &answer{Failed: err.Error()}
		}
		if err := s.say(a, o.Prompt || a.Broken != "" || len(orders) == 0); err != nil || a.Broken != "" {
			return err
		}
	}
	return nil
}

// Answers are held back for this long or until there are so many: a system call for
// each would cost more than a short trial.
const (
	holdFor = 10 * time.Millisecond
	hold    = window / 2
)

// say answers, at once or before long.
func (s *simulator) say(a *answer, now bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.enc.Encode(a); err != nil {
		return err
	}
	if s.held++; now || s.held == hold {
		s.held = 0
		return s.out.Flush()
	}
	return nil
}

func (s *simulator) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = 0
	return s.out.Flush()
}

// crowd is how many processes take much more memory than the ballast.
const crowd = 20_000

func (s *simulator) obey(o *order) (*answer, error) {
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
	var out outcome
	var err error
	if o.Aloud {
		out, err = simulated(&p, trace.SinkFunc(func(r *trace.Record) {
			_ = s.say(&answer{Record: r}, true) // it fails when the runner has gone
		}))
	} else {
		out, err = simulateTraced(&p, o.Keep, folder(o.Dir), o.Trial)
	}
	if err != nil {
		return nil, err
	}
	a := &answer{Verdict: out.verdict, At: out.end.At, Reason: out.end.Reason, Skipped: out.end.Skipped,
		Pending: out.end.Pending, Events: out.end.Events, Handling: out.handling}
	if runtime.NumGoroutine() > s.base {
		if err := strays(&p); err != nil {
			a.Broken = err.Error()
		}
	}
	if err := guard.Files(); err != nil && a.Broken == "" {
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

// outcome is what the answer says came of a trial.
func (a *answer) outcome() outcome {
	o := outcome{verdict: a.Verdict, end: harness.End{At: a.At, Reason: a.Reason, Skipped: a.Skipped,
		Pending: a.Pending, Events: a.Events}, handling: a.Handling}
	if a.Broken != "" {
		o.verdict.Status, o.verdict.Reason = trace.Failed, a.Broken
		o.end.Reason = cmp.Or(o.end.Reason, harness.Broken)
	}
	return o
}
