// Package algotest is the conformance kit: what every algorithm, built in or
// external, must pass. It runs algorithms in simulation and judges them with
// the product's own checkers.
//
// It is for tests. Its implementation, which the product runs as well, is in internal/commands/conform,
// internal/judgement/modelcheck and internal/judgement/trial; this file has the names of what is there.
package algotest

import (
	"os"
	"runtime/debug"

	"github.com/conclave-bench/conclave/internal/commands/conform"
	"github.com/conclave-bench/conclave/internal/judgement/modelcheck"
	"github.com/conclave-bench/conclave/internal/judgement/trial"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// The heap of a test is small, and nearly all of it is garbage. Collecting it a quarter as often saves a
// third of the processor time. GOGC in the environment overrides this.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// A Rule is one thing that every algorithm must satisfy.
type Rule = conform.Rule

// Kit is the conformance kit, in order.
var Kit = conform.Kit

// Options say how thorough Verify is.
type Options = conform.Options

// Unrunnable is the error of a schedule that could not be run, through the algorithm's fault: its
// code panicked, or broke the contract of plugins. Then nothing is known of its promises.
type Unrunnable = conform.Unrunnable

// Verify holds algorithm id against the whole kit and returns everything that
// is wrong with it, joined; nil if nothing is. It ends at what is Unrunnable. It
// promises no false alarm, and cannot promise to find every defect.
func Verify(id string, o Options) error { return conform.Verify(id, o) }

// Schedules is how many random schedules a test tries: a thousand, a hundred
// thousand with CONCLAVE_NIGHTLY set, or as many as CONCLAVE_SCHEDULES says.
func Schedules() uint64 { return conform.Schedules() }

// Schedule draws a random plan within an algorithm's model, as bench explore draws it:
// everything that it says it survives may happen, and nothing else. Given are the parameters
// to set. Equal seeds draw equal plans.
func Schedule(id string, seed uint64, given map[string]any) (harness.Plan, error) {
	return conform.Schedule(id, seed, given)
}

// A Reference is one conformance case: an experiment in simulation, mostly an exact
// script, and what it leads to, to the message. docs/reference/cases.md describes
// the form.
type Reference = conform.Reference

// About is what a case says beside its experiment.
type About = conform.About

// A Mistake is something in a file of cases that cannot be meant.
type Mistake = conform.Mistake

// Mistakes is all that is wrong with a file of cases.
type Mistakes = conform.Mistakes

// A Result is what came out of a case: one trial if it is exact, many if it is
// statistical.
type Result = conform.Result

// Checks are what only the algorithm's own tests can look at: an expectation
// by name, and what is wrong with what came out.
type Checks = conform.Checks

// ReferenceCases is the repository's own cases of algorithm id.
func ReferenceCases(id string) ([]Reference, error) { return conform.ReferenceCases(id) }

// LoadCases reads cases from the text of the file at path: a stream of experiments in
// YAML, or a file of the old form, {"cases": [...]} in JSON. Its error is Mistakes.
// Whether a case can be run is found by Load.
func LoadCases(path string, text []byte) (list []Reference, err error) {
	return conform.LoadCases(path, text)
}

// An Outcome is all that is known of a simulated trial.
type Outcome = trial.Outcome

// Plan is the plan of a trial of algorithm id with n processes in the unit-delay
// model: constant latency of 1 ms, no loss, a perfect detector after 10 ms in
// scenarios other than scripts, and the processes that lead or are down when the scenario starts.
// Given are the parameters to set.
func Plan(id string, n int, scenario harness.Scenario, given map[string]any) (harness.Plan, error) {
	return trial.Plan(id, n, scenario, given)
}

// Simulate runs the trial and judges it.
func Simulate(p harness.Plan) (Outcome, error) { return trial.Simulate(p) }

// A Scope is a system small enough to walk through every schedule of it.
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
// and timers expire, up to equal states. No message is lost, and no process
// crashes. [modelcheck.Exhaust] says when timers expire, and what must hold.
//
// A find is data, not an error. An error means that the scope makes no sense for
// the algorithm, or that its state cannot be compared.
func Exhaust(id string, scope Scope) (Space, error) { return modelcheck.Exhaust(id, scope) }
