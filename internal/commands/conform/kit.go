// Package conform implements the conformance kit and the reference cases, which
// "bench verify" runs. Package algotest of pkg/algo hands it to tests of algorithms.
package conform

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/commands/explore"
	"github.com/conclave-bench/conclave/internal/judgement/modelcheck"
	"github.com/conclave-bench/conclave/internal/judgement/prove"
	"github.com/conclave-bench/conclave/internal/judgement/trial"
	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/internal/worlds/guest"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Rule is one thing that every algorithm must satisfy.
type Rule struct {
	Name     string
	Sentence string // what it enforces
	check    func(k *kit) error
}

// Kit is the conformance kit, in order.
var Kit = []Rule{
	{"Spec", "the metadata is complete, every default is valid, every message survives encoding",
		(*kit).spec},
	{"Determinism", "the same seed gives the same records, twice, and beside another instance",
		(*kit).determinism},
	{"Safety", "no schedule within the model breaks a promise, and the invariant holds after every event",
		(*kit).safety},
	{"Sometimes", "some process leads, or every process enters: safety is not vacuous", (*kit).sometimes},
	{"Liveness", "within the model every operation that is promised to complete does", (*kit).liveness},
	{"Claims", "measured complexity lies in the paper's bound", (*kit).claims},
	{"Small", "systems of one and of two processes work as well", (*kit).small},
	{"References", "the algorithm's reference cases have the expected outcomes", (*kit).references},
	{"Exhaustive", "two and three processes keep every promise in every order of events", (*kit).exhaustive},
	{"Restarts", "processes that crash and return keep every promise in every order of events",
		(*kit).restarts},
}

// Options say how thorough Verify is.
type Options struct {
	Schedules int // random ones; 0: as many as the function of that name says
	// Progress, if not nil, is called after each case with what it found.
	Progress func(c Rule, err error)
}

// Verify holds algorithm id against the whole kit and returns everything that
// is wrong with it, joined; nil if nothing is. It ends at what is Unrunnable. It
// promises no false alarm, and cannot promise to find every defect.
func Verify(id string, o Options) error {
	var errs []error
	k, err := newKit(id, o)
	if err != nil {
		return err
	}
	for _, c := range Kit {
		err := k.run(c)
		if err != nil {
			errs = append(errs, err)
		}
		if o.Progress != nil {
			c.Sentence += k.said
			o.Progress(c, err)
		}
		if unrunnable(err) {
			break // nothing that follows means anything
		}
	}
	return errors.Join(errs...)
}

// Checker returns a function that holds algorithm id against one rule of the kit at a time.
// Log, if not nil, reports how many schedules have run.
func Checker(id string) (check func(c Rule, log func(text string)) error, err error) {
	k, err := newKit(id, Options{})
	if err != nil {
		return nil, err
	}
	return func(c Rule, log func(text string)) error {
		k.progress = log
		return k.run(c)
	}, nil
}

// A kit holds one algorithm and what its schedules came to, which several cases
// look at.
type kit struct {
	id        string
	alg       *algo.Algorithm
	schedules int
	once      sync.Once
	broken    []error // violations and failures, the first few
	stuck     []error // operations that did not complete though promised
	completed int
	entered   map[algo.ID]bool
	said      string            // by the present rule, of how far it went
	progress  func(text string) // nil: nobody wants to know
}

func newKit(id string, o Options) (*kit, error) {
	alg, err := algo.Lookup(id)
	if err != nil {
		return nil, err
	}
	if o.Schedules == 0 {
		o.Schedules = int(Schedules())
	}
	return &kit{id: id, alg: alg, schedules: o.Schedules, entered: map[algo.ID]bool{}}, nil
}

func (k *kit) run(c Rule) (err error) {
	k.said = ""
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: %s: %s: panic: %v", k.id, c.Name, c.Sentence, r)
		}
	}()
	if err := c.check(k); err != nil {
		return fmt.Errorf("%s: %s: %s: %w", k.id, c.Name, c.Sentence, err)
	}
	return nil
}

func (k *kit) spec() error {
	codec := k.alg.Codec
	s := &k.alg.Spec
	for _, m := range slices.Concat(s.Messages, s.Auxiliary, s.Saves) {
		b, err := codec.Encode(nil, m)
		if err != nil {
			return err
		}
		back, _, err := codec.Decode(b)
		if err != nil || !reflect.DeepEqual(back, m) {
			return fmt.Errorf("%s comes back as %v: %v", m.Kind(), back, err)
		}
	}
	if s.Breaks == "" {
		return errors.New("no Breaks: say what happens beyond what it needs and survives")
	}
	for _, c := range s.Claims {
		if c.Metric == "" || c.Load == "" || c.Text == "" || c.Bound == nil {
			return fmt.Errorf("claim %q is incomplete", c.Text)
		}
		if lo, hi := c.Bound(5); !(lo <= hi) {
			return fmt.Errorf("claim %q: bound from %v to %v at n = 5", c.Text, lo, hi)
		}
	}
	return nil
}

// hash is a fingerprint of everything that happened.
func hash(list trace.List) uint64 {
	h := fnv.New64a()
	var b [trace.Size]byte
	for i := range list {
		list[i].Put(b[:])
		_, _ = h.Write(b[:])
		_, _ = h.Write([]byte(list[i].Text))
	}
	return h.Sum64()
}

func (k *kit) determinism() error {
	if p := guest.Of(k.id); p != nil {
		return k.apart(p)
	}
	for seed := range uint64(20) {
		plan, err := Schedule(k.id, seed, nil)
		if err != nil {
			return err
		}
		var hashes [3]uint64
		var wait sync.WaitGroup
		for i := range hashes { // beside each other: instances must not share state
			wait.Go(func() {
				if o, err := trial.SimulateFor(plan, mostEvents/20); err == nil {
					hashes[i] = hash(o.Trace)
				}
			})
		}
		wait.Wait()
		if _, err := guard.Idlers(); err != nil {
			return &Unrunnable{fmt.Errorf("schedule %d: %w", seed, err)}
		}
		if hashes[0] == 0 || hashes[0] != hashes[1] || hashes[0] != hashes[2] {
			return fmt.Errorf("schedule %d: runs differ (%x): a map's order, a clock, or shared state",
				seed, hashes)
		}
	}
	return nil
}

// mostTold bounds how many failures of each sort are reported.
const mostTold = 3

// mostEvents bounds the events of one trial: what has not come to an end by then, many times as many as
// any algorithm here takes, is reported as if its time limit had come.
const mostEvents = 1_000_000

// all runs the schedules once; the cases look at different sides of them.
func (k *kit) all() {
	k.once.Do(func() {
		for seed := range uint64(k.schedules) {
			plan, err := Schedule(k.id, seed, nil)
			if err == nil {
				var o trial.Outcome
				if o, err = trial.SimulateFor(plan, mostEvents); err == nil {
					err = k.note(seed, o)
				} else {
					err = fmt.Errorf("schedule %d: %w", seed, err)
				}
			}
			if err != nil {
				k.broken = append(k.broken, err)
			}
			k.tell(int(seed) + 1)
			if len(k.broken) >= mostTold || unrunnable(err) || k.ends() && len(k.stuck) >= mostTold {
				return
			}
		}
	})
}

// tell says how far the schedules are, five times in all.
func (k *kit) tell(tried int) {
	if part := (k.schedules + 4) / 5; k.progress != nil && tried%part == 0 {
		k.progress(fmt.Sprintf("%d of %d schedules", tried, k.schedules))
	}
}

// ends says whether it is promised that what is begun comes to an end.
func (k *kit) ends() bool {
	return k.alg.Problem == algo.Election || k.alg.Spec.Promises.StarvationFree
}

// note keeps what a schedule came to. Its error is that of one that is broken.
func (k *kit) note(seed uint64, o trial.Outcome) error {
	k.completed += o.Completed
	for _, op := range o.Operations {
		if op.Status == trace.Completed {
			k.entered[algo.ID(op.Process)] = true
		}
	}
	if o.Beyond != "" && o.Status != trace.Failed { // as the trial went, nothing was promised
		return nil
	}
	switch o.Status {
	case trace.Violated, trace.Failed:
		return Failure(k.id, seed, o)
	case trace.TimedOut:
		if len(k.stuck) < mostTold {
			err := Failure(k.id, seed, o)
			if len(k.stuck) == 0 {
				err = fmt.Errorf("%w%s", err, repeats(k.alg, o.Trace))
			}
			k.stuck = append(k.stuck, err)
		}
	}
	return nil
}

// repeats is what happens without end in a trial, on lines of their own; "": nothing does.
func repeats(a *algo.Algorithm, list trace.List) string {
	list = slices.DeleteFunc(list, func(r trace.Record) bool { return harness.IsHeartbeat(&r) })
	l, found := explore.FindLasso(list)
	if !found {
		return ""
	}
	return "\n" + l.Text(list, a.Codec.Kinds())
}

func (k *kit) safety() error {
	k.all()
	return errors.Join(k.broken...)
}

func (k *kit) sometimes() error {
	k.all()
	if k.completed == 0 {
		return errors.New("no operation completed in any schedule")
	}
	if k.alg.Problem == algo.MutualExclusion && len(k.entered) < 3 {
		return fmt.Errorf("only %d different processes ever entered", len(k.entered))
	}
	return nil
}

func (k *kit) liveness() error {
	k.all()
	if !k.ends() { // nothing is promised
		return nil
	}
	return errors.Join(k.stuck...)
}

// claims measures what the Spec claims of light load, and of the worst case, at
// several sizes.
func (k *kit) claims() error {
	var errs []error
	for _, c := range k.alg.Spec.Claims {
		for _, n := range []int{4, 9, 16} {
			if needs := k.alg.Spec.Needs.Nodes; needs != nil && needs(n) != nil {
				continue
			}
			got, ok, err := k.measure(c, n)
			if err != nil {
				return err
			}
			if lo, hi := c.Bound(n); ok && (got < lo-1e-9 || got > hi+1e-9) {
				errs = append(errs, fmt.Errorf(
					"%s, %s, n = %d: measured %.4g, claimed %s, that is %.4g to %.4g",
					c.Metric, c.Load, n, got, c.Text, lo, hi))
			}
		}
	}
	return errors.Join(errs...)
}

// measure is the figure that a claim is about. Not every load can be made
// without knowing the algorithm: the others are the plugin's own tests'.
func (k *kit) measure(c algo.Claim, n int) (got float64, ok bool, err error) {
	var s harness.Scenario
	switch {
	case k.alg.Spec.Perpetual,
		k.alg.Problem == algo.MutualExclusion && !k.alg.Spec.Promises.StarvationFree:
		return 0, false, nil // never quiet, or perhaps never over
	case c.Metric == "messages/entry" && c.Load == "light":
		s = harness.Scenario{Plot: &harness.Sequential{Requests: 2200, Warmup: 200}}
	case c.Metric == "messages/entry" && c.Load == "burst":
		s = harness.Scenario{Plot: &harness.Burst{}}
	default:
		return 0, false, nil
	}
	plan, err := trial.Plan(k.id, n, s, nil)
	if err != nil {
		return 0, false, err
	}
	o, err := trial.SimulateFor(plan, mostEvents)
	if err != nil {
		return 0, false, err
	}
	for _, m := range o.Metrics {
		if m.Name == "messages_per_entry" {
			got = m.Value
		}
	}
	return got, o.Status == trace.OK, nil
}

// small runs the sizes at which loops over others are empty.
func (k *kit) small() error {
	for n := 1; n <= 2; n++ {
		if needs := k.alg.Spec.Needs.Nodes; needs != nil && needs(n) != nil {
			continue
		}
		s := harness.Scenario{Plot: &harness.ColdStart{}}
		if k.alg.Problem == algo.MutualExclusion {
			s = harness.Scenario{Plot: &harness.Burst{}}
		}
		plan, err := trial.Plan(k.id, n, s, nil)
		if err != nil {
			return err
		}
		plan.TimeLimit = 5 * time.Second
		o, err := trial.SimulateFor(plan, mostEvents)
		switch {
		case err != nil:
			return fmt.Errorf("n = %d: %w", n, err)
		case k.ends() && o.Status != trace.OK:
			return fmt.Errorf("n = %d: %s: %s%s", n, o.Status, o.Reason, repeats(k.alg, o.Trace))
		}
	}
	return nil
}

// references runs the repository's own cases.
func (k *kit) references() error {
	list, err := ReferenceCases(k.id)
	errs := []error{err}
	var left []string // to the algorithm's own tests
	for i := range list {
		unchecked, err := list[i].Run()
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", list[i].ID, err))
		}
		for _, name := range unchecked {
			if !slices.Contains(left, name) {
				left = append(left, name)
			}
		}
	}
	k.said = fmt.Sprintf(" (%d cases)", len(list))
	if left != nil {
		k.said += "; not checked here: " + strings.Join(left, ", ")
	}
	return errors.Join(errs...)
}

// exhaustiveStates is how far the kit walks through each scope.
const exhaustiveStates = 1000

// exhaustive walks through the scopes, breadth first, and so finds what is wrong
// by the shortest way to it.
func (k *kit) exhaustive() error {
	if p := guest.Of(k.id); p != nil && !p.ShowsState() {
		k.said = "; not checked: the program does not show its state, without which states cannot be compared"
		return nil
	}
	scopes, err := modelcheck.Scopes(k.id)
	if err != nil {
		return err
	}
	for _, scope := range scopes {
		scope.States = exhaustiveStates
		space, err := modelcheck.Exhaust(k.id, scope)
		if err != nil {
			return err
		}
		if f := space.Find; f != nil && f.Panicked {
			return &Unrunnable{fmt.Errorf("%s: %w", scope, f)}
		} else if f != nil {
			return fmt.Errorf("%s: %w", scope, f)
		}
	}
	return nil
}

// What the kit lets happen to those that survive a return, and how many states of each it looks at, as a
// multiple of the random schedules.
var returns = []struct {
	nodes  int
	states int
	budget prove.Budget
}{
	{2, 20, prove.Budget{Crashes: 2}}, {3, 60, prove.Budget{Crashes: 1}}, {3, 60, prove.Budget{Crashes: 2}},
	{3, 40, prove.Budget{Crashes: 1, Timeouts: 2}}, {4, 40, prove.Budget{Crashes: 2}},
}

// restarts has processes crash and return in small systems, breadth first.
func (k *kit) restarts() error {
	if !k.alg.Spec.Survives.Recovery || guest.Of(k.id) != nil {
		k.said = "; nothing to check: it promises nothing then"
		return nil
	}
	requests, timeouts, err := prove.Defaults(k.id)
	if err != nil {
		return err
	}
	for _, r := range returns {
		if needs := k.alg.Spec.Needs.Nodes; needs != nil && needs(r.nodes) != nil {
			continue
		}
		w := prove.System{Nodes: r.nodes, Requests: requests, Budget: r.budget, Canonical: true}
		if timeouts == prove.Any {
			w.Timeouts = timeouts
		}
		if beyond, err := w.Beyond(k.id); err != nil || len(beyond) > 0 {
			continue
		}
		s, err := prove.Search(context.Background(), k.id, w, prove.Limits{States: r.states * k.schedules})
		if err != nil { // its states cannot be copied
			k.said = "; not checked: " + err.Error()
			return nil
		}
		if f := s.Find; f != nil && f.Panicked {
			return &Unrunnable{fmt.Errorf("%s: %w", &w, f)}
		} else if f != nil {
			return fmt.Errorf("%s: %w", &w, f)
		}
	}
	return nil
}
