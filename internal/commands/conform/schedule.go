package conform

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/conclave-bench/conclave/internal/commands/explore"
	"github.com/conclave-bench/conclave/internal/judgement/trial"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Schedules is how many random schedules a test tries: a thousand, a hundred
// thousand with CONCLAVE_NIGHTLY set, or as many as CONCLAVE_SCHEDULES says.
func Schedules() uint64 {
	if few := os.Getenv("CONCLAVE_SCHEDULES"); few != "" {
		n, err := strconv.ParseUint(few, 10, 32)
		if err != nil || n == 0 {
			panic(fmt.Sprintf("CONCLAVE_SCHEDULES: %q is no positive number", few))
		}
		return n
	}
	if os.Getenv("CONCLAVE_NIGHTLY") != "" {
		return 100_000
	}
	return 1_000
}

// Schedule draws a random plan within an algorithm's model, as bench explore draws it:
// everything that it says it survives may happen, and nothing else. Given are the parameters
// to set. Equal seeds draw equal plans.
func Schedule(id string, seed uint64, given map[string]any) (harness.Plan, error) {
	alg, err := algo.Lookup(id)
	if err != nil {
		return harness.Plan{}, err
	}
	rng := rand.New(rand.NewPCG(seed, 0x7363686564756c65))
	within := &explore.Options{Params: given, Faults: explore.Survived}
	s := explore.Draw(alg, within, rng)
	for s.Unseen() { // in which nothing is promised to come about
		s = explore.Draw(alg, within, rng)
	}
	p, err := s.Plan()
	p.InModel = true
	if p.Shape.Kind != "complete" {
		for _, i := range rng.Perm(p.Nodes) {
			p.Shape.Order = append(p.Shape.Order, algo.ID(i+1))
		}
	}
	return p, err
}

// Failure is what went wrong in a schedule, with what repeats it.
func Failure(id string, seed uint64, o trial.Outcome) error {
	err := fmt.Errorf("schedule %d: %s: %s (repeat: algotest.Schedule(%q, %d, ...))",
		seed, o.Status, o.Reason, id, seed)
	if o.Status == trace.Failed && !errors.Is(o.End.Err, harness.ErrInvariant) {
		return &Unrunnable{err}
	}
	return err
}

// Unrunnable is the error of a schedule that could not be run, through the algorithm's fault: its
// code panicked, or broke the contract of plugins. Nothing is known of its promises then.
type Unrunnable struct{ error }

// Unwrap is what happened.
func (e *Unrunnable) Unwrap() error { return e.error }

func unrunnable(err error) bool {
	var is *Unrunnable
	return errors.As(err, &is)
}
