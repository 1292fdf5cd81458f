// Package algotest is the conformance kit: what every algorithm, ours or a
// stranger's, must pass. It runs algorithms in simulation and judges them with
// the product's own checkers.
package algotest

import (
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
