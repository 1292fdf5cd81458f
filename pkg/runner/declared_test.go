package runner_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/param"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// seldom are the types of records that not every trial below has: those of mutual exclusion and of
// algorithms other than bully; what a handler took, which a simulation does not know; what met
// a process that was down, which real nodes learn only when it is up again; and writes of clients of libraries.
var seldom = []trace.Type{trace.Request, trace.Granted, trace.Released, trace.Done, trace.Cause, trace.Save,
	trace.Log, trace.Do, trace.Unsound, trace.Handled, trace.Undelivered, trace.Written, trace.Unwritten}

// upon is a scenario that measures what follows upon records of a type, while much happens.
type upon struct {
	harness.Calm
	Settle time.Duration
	Type   string
}

func (u *upon) Params() []param.Param {
	return []param.Param{{Name: "settle", At: &u.Settle}, {Name: "type", Default: "crash", At: &u.Type, Doc: "tests"}}
}

func (u *upon) Settling() *time.Duration { return &u.Settle }
func (u *upon) Place(p *harness.Plan)    { p.Leader = algo.ID(p.Nodes) }

func (u *upon) Cause() (types []trace.Type) {
	for t := range trace.Types() {
		if t.String() == u.Type {
			types = append(types, t)
		}
	}
	return types
}

func (u *upon) Happens(p *harness.Plan, settled time.Duration) []harness.Event {
	const while = 30 * time.Millisecond
	slower := link.Constant(2 * time.Millisecond)
	return []harness.Event{
		{At: settled, Do: fault.Crash, Node: p.Leader, For: 2 * while},
		{At: settled, Do: fault.Pause, Node: 1, For: while},
		{At: settled, Do: fault.Cut, Links: [][2]uint32{{2, 1}}, For: 3 * while},
		{At: settled, Do: fault.Slow, Node: 1, For: while, Args: fault.SlowBy(time.Millisecond)},
		{At: settled, Do: fault.Flaky, Links: [][2]uint32{{1, 2}}, For: while, Latency: &slower},
		{At: settled, Do: fault.Drift, Node: 1, For: while, Args: fault.Args{Own: &fault.Drifting{Factor: 1.1}}},
	}
}

func init() {
	harness.RegisterScenario(harness.ScenarioKind{
		Name: "test-upon", Doc: "much happens", Problem: algo.Election, Plot: &upon{}, Lasting: true,
		Example: "scenario: {kind: test-upon}, network: {duplication: 0.5}",
	})
}

// TestDeclared: every scenario, detector and distribution that is declared runs to its end in
// both worlds.
func TestDeclared(t *testing.T) {
	t.Parallel()
	type declared struct {
		name, blocks string
		slow         bool // on real nodes only if slow tests are asked for
	}
	var all []declared
	for _, k := range harness.Scenarios() {
		name, of := "scenario "+k.Name, "problem: election, algorithms: [bully], "
		if k.Problem == algo.MutualExclusion {
			of = "problem: mutex, algorithms: [naimi-trehel], "
		}
		if k.Example == "" {
			t.Errorf("%s: no example", name)
		}
		all = append(all, declared{name: name, blocks: of + k.Example})
	}
	for t := range trace.Types() {
		if !slices.Contains(seldom, t) {
			all = append(all, declared{"upon " + t.String(), "problem: election, algorithms: [bully], scenario: {kind: " +
				"test-upon, type: " + t.String() + "}, network: {duplication: 0.5}", true})
		}
	}
	for _, k := range harness.Detectors() {
		scenario := "leader-crash"
		if k.Class == algo.NoDetector { // nobody would notice
			scenario = "cold-start"
		}
		all = append(all, declared{name: "detector " + k.Name, blocks: "problem: election, algorithms: [bully], scenario: {kind: " +
			scenario + "}, detector: {kind: " + k.Name + "}"})
	}
	for _, d := range link.Distributions() {
		all = append(all, declared{name: "distribution " + d.Name, blocks: "problem: election, algorithms: [bully], " +
			"scenario: {kind: cold-start}, network: {latency: {distribution: " + d.Name + ", " + d.Example + "}}"})
	}
	for _, d := range all {
		for _, world := range []string{"sim", "nats"} {
			if world == "nats" && (testing.Short() || runtime.GOOS == "windows" || d.slow && !slowtest.Asked()) {
				continue // it starts processes
			}
			t.Run(d.name+", "+world, func(t *testing.T) {
				t.Parallel()
				runsToEnd(t, fmt.Sprintf("{name: declared, nodes: 3, repetitions: 1, transport: %s, time_limit: 20s, %s}\n", world,
					d.blocks))
			})
		}
	}
}

func runsToEnd(t *testing.T, text string) {
	t.Helper()
	e, f := created(t, text, t.TempDir())
	_, err := runner.Run(context.Background(), e, f, options(t))
	must(t, errors.Join(err, f.Close()))
	for _, row := range table(t, f.Dir(), "trials.csv") {
		late := e.Transport != "sim" && row["status"] == string(trace.Invalid) // the machine is busy
		if row["status"] != string(trace.OK) && !late {
			t.Errorf("%s: %s, want ok\n%s", row["status"], row["reason"], text)
		}
	}
}
