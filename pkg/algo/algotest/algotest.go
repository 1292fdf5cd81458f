// Package algotest is the conformance kit: what every algorithm, ours or a
// stranger's, must pass. It runs algorithms in simulation and judges them with
// the product's own checkers.
package algotest

import (
	"github.com/conclave-bench/conclave/internal/modelcheck"
	"github.com/conclave-bench/conclave/internal/trial"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// An Outcome is all that is known of a simulated trial.
type Outcome = trial.Outcome

// Plan is the plan of a trial of algorithm id with n processes in the unit-delay
// model: constant latency of 1 ms, no loss, a perfect detector after 10 ms in
// scenarios other than scripts, and whoever the scenario says leads or is down at the start.
// Given are the parameters to set.
func Plan(id string, n int, scenario harness.Scenario, given map[string]any) (harness.Plan, error) {
	return trial.Plan(id, n, scenario, given)
}

// Simulate runs the trial and judges it.
func Simulate(p harness.Plan) (Outcome, error) { return trial.Simulate(p) }

// A Scope is a world small enough to walk through every schedule of it.
type Scope = modelcheck.Scope

// A Space is what a walk through a scope came to.
type Space = modelcheck.Space

// A Find is a promise that was broken, and how.
type Find = modelcheck.Find

// A Step is one event of a schedule, with what the process asked for.
type Step = modelcheck.Step

// Scopes are the scopes that the kit walks through, smallest first: two requests of
// each process, or two initiators and more. Where processes decide by themselves
// how often timers expire, it is twice.
func Scopes(id string) ([]Scope, error) { return modelcheck.Scopes(id) }

// Exhaust walks through everything that can happen to algorithm id in the scope,
// breadth first: every order in which applications act, messages are delivered
// and timers expire, up to equal states. No message is lost, and nobody crashes.
// [modelcheck.Exhaust] says when timers expire, and what must hold.
//
// A find is data, not an error. An error means that the scope makes no sense for
// the algorithm, or that its state cannot be compared.
func Exhaust(id string, scope Scope) (Space, error) { return modelcheck.Exhaust(id, scope) }
