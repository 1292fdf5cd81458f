package host_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/worlds/host"
	"github.com/conclave-bench/conclave/internal/worlds/host/node"
	"github.com/conclave-bench/conclave/internal/worlds/wire"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"

	_ "github.com/conclave-bench/conclave/plugins/all"
)

// Environment of child processes.
const (
	startedKey = "CONCLAVE_TEST_STARTED" // a folder: see tellTest
	moodKey    = "CONCLAVE_TEST_MOOD"    // of process 2: see moody
	frailKey   = "CONCLAVE_TEST_FRAIL"   // a folder: see frailBus
)

// The roles of child processes, told by their argument. The algorithms of the
// file before are registered by now.
func init() {
	if len(os.Args) < 2 {
		return
	}
	err := distortClock()
	if err != nil {
		panic(err)
	}
	switch os.Args[1] {
	case "trial-node":
		err = unlocked(func() error { return node.Run(os.Stdin, os.Stdout) })
	case "trial-agent":
		err = serveAgent()
	case "trial-relay":
		err = relay(os.Args[2:])
	case "trial-bus":
		err = unlocked(func() error { return bus.ServeProcess(os.Stdin, os.Stdout) })
	case "trial-wire":
		ends, _ := strconv.Atoi(os.Args[2])
		err = unlocked(func() error { return wire.Run(os.Stdin, os.Stdout, ends) })
	case "trial-frail-bus":
		err = frailBus()
	case "trial-moody":
		err = moody()
	case "trial-host":
		err = runHost()
	case "trial-remote":
		err = serveRemote()
	case "trial-stalled":
		err = runStalled()
	default:
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// frailBus is a bus, but that the second and the third that are started in a folder
// die before they say anything.
func frailBus() error {
	before, err := os.ReadDir(os.Getenv(frailKey))
	if err != nil {
		return err
	}
	name := filepath.Join(os.Getenv(frailKey), fmt.Sprint(len(before)))
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		return err
	}
	if n := len(before); n == 1 || n == 2 {
		killSelf()
		select {}
	}
	return bus.ServeProcess(os.Stdin, os.Stdout)
}

// moody is a node, but that process 2 does something else before it is ready, or
// right after.
func moody() error {
	in := bufio.NewReader(os.Stdin)
	var lines [2][]byte
	for i := range lines {
		var err error
		if lines[i], err = in.ReadBytes('\n'); err != nil {
			return err
		}
	}
	var who struct{ ID, Incarnation int }
	if err := json.Unmarshal(lines[1], &who); err != nil {
		return err
	}
	again := io.MultiReader(bytes.NewReader(lines[0]), bytes.NewReader(lines[1]), in)
	mood, onlyLater := strings.CutSuffix(os.Getenv(moodKey), "-again")
	if who.ID != 2 || onlyLater && who.Incarnation == 0 {
		return node.Run(again, os.Stdout)
	}
	switch mood {
	case "hang":
		_, _ = io.Copy(io.Discard, in) // until the host ends
	case "stop":
		stopSelf()
	case "killed":
		killSelf()
		select {}
	case "exit":
		fmt.Fprintln(os.Stderr, "no thanks")
		os.Exit(7)
	case "garbage":
		fmt.Println("\x00\xffsegmentation fault?")
		_, _ = io.Copy(io.Discard, in)
	case "endless":
		for {
			if _, err := os.Stdout.Write(make([]byte, 64<<10)); err != nil {
				return err
			}
		}
	}
	return node.Run(again, os.Stdout)
}

// newMachine makes a machine whose nodes are this binary.
func newMachine(tb testing.TB, nodes int, change ...func(*host.MachineConfig)) *host.Machine {
	tb.Helper()
	exe, err := os.Executable()
	must(tb, err)
	cfg := host.MachineConfig{
		Exe: exe, NodeArgs: []string{"trial-node"}, BusArgs: []string{"trial-bus"}, Nodes: nodes,
		WireArgs: []string{"trial-wire"},
		Run:      "trial-test",
	}
	for _, f := range change {
		f(&cfg)
	}
	m, err := host.NewMachine(cfg)
	must(tb, err)
	tb.Cleanup(m.Close)
	return m
}

// hostAlone runs a trial of three that takes so long, as the role of a process that is
// its host and nothing else.
func hostAlone(takes time.Duration) (o outcome, err error) {
	exe, err := os.Executable()
	if err != nil {
		return o, err
	}
	m, err := host.NewMachine(host.MachineConfig{
		Exe: exe, NodeArgs: []string{"trial-node"}, BusArgs: []string{"trial-bus"}, Nodes: 3,
		Telltale: os.Environ(),
	})
	if err != nil {
		return o, err
	}
	defer m.Close()
	p, err := deedPlan("none", takes)
	if err != nil {
		return o, err
	}
	return attempt(context.Background(), m, p)
}

// startHost starts this binary in such a role, and returns when its trial is under way,
// with the telemetry of p2.
func startHost(t *testing.T, role, marker string) (c *proc.Child, telemetry string) {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	sp := proc.NewSpawner()
	t.Cleanup(func() { must(t, sp.Close()) })
	dir := t.TempDir()
	c, err = sp.Start(proc.Command{Path: exe, Args: []string{role},
		Env: append(os.Environ(), marker, startedKey+"="+dir)})
	must(t, err)
	awaitStart(t, dir, &telemetry)
	return c, telemetry
}

// An outcome is all that is known of a trial on nodes.
type outcome struct {
	algotest.Outcome
	quality harness.Quality
}

// plan is a plan in the model of algotest.
func plan(tb testing.TB, id string, n int, s harness.Scenario, params map[string]any) harness.Plan {
	tb.Helper()
	p, err := algotest.Plan(id, n, s, params)
	must(tb, err)
	p.TimeLimit = 30 * time.Second
	return p
}

// once runs the trial once, whatever comes of it.
func once(tb testing.TB, m runsTrials, p harness.Plan) (o outcome) {
	tb.Helper()
	o, err := attempt(context.Background(), m, p)
	must(tb, err)
	return o
}

// A runsTrials is a Machine, or a Remote.
type runsTrials interface {
	Run(context.Context, *harness.Setup, trace.Sink) (harness.End, harness.Quality, error)
}

func attempt(ctx context.Context, m runsTrials, p harness.Plan) (o outcome, err error) {
	s, err := p.Setup()
	if err != nil {
		return o, err
	}
	judge := check.NewJudge(s)
	if o.End, o.quality, err = m.Run(ctx, s, trace.Tee(judge, &o.Trace)); err == nil {
		o.Verdict = judge.Finish(o.End)
	}
	return o, err
}

// run runs the trial until it is valid, and fits if that is given: a machine that
// is busy with other things may spoil many.
func run(tb testing.TB, m runsTrials, p harness.Plan, fits ...func(outcome) error) outcome {
	tb.Helper()
	const patience = 2 * time.Minute // of a machine that does other work besides
	deadline := time.Now().Add(patience)
	for {
		o := once(tb, m, p)
		var why error
		if len(o.End.Invalid) > 0 {
			why = fmt.Errorf("invalid: %s", strings.Join(o.End.Invalid, "; "))
		}
		for _, f := range fits {
			if why == nil {
				why = f(o)
			}
		}
		if n := len(o.Trace); why == nil && n > 0 && o.Trace[n-1].At > o.End.At {
			tb.Errorf("the last record is of %v, the trial ended at %v", o.Trace[n-1].At, o.End.At)
		}
		if why == nil {
			retrace(tb, p, o)
			return o
		}
		tb.Logf("again: %v", why)
		if time.Now().After(deadline) {
			tb.Fatalf("no valid trial within %v; the last: %v", patience, why)
		}
	}
}

// retrace feeds what reached the nodes to the same algorithm here: both must have
// done the same.
func retrace(tb testing.TB, p harness.Plan, o outcome) {
	tb.Helper()
	if strings.Contains(p.Algorithm, "/test-") {
		return // they look at things that no algorithm may depend on
	}
	s, err := p.Setup()
	must(tb, err)
	fed, differences := harness.Retrace(s, o.Trace)
	for _, text := range differences {
		tb.Errorf("the nodes and their algorithm differ: %s", text)
	}
	if o.Verdict.Totals.Delivered > 0 && fed == 0 {
		tb.Error("nothing was retraced")
	}
}

// simulate runs the same plan in virtual time.
func simulate(tb testing.TB, p harness.Plan) algotest.Outcome {
	tb.Helper()
	o, err := algotest.Simulate(p)
	must(tb, err)
	return o
}

// poll waits until f returns nil.
func poll(tb testing.TB, within time.Duration, f func() error) {
	tb.Helper()
	deadline := time.Now().Add(within)
	for {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("after %v: %v", within, err)
		}
		time.Sleep(5 * time.Millisecond) // polled until the deadline
	}
}

func script(events ...harness.Event) harness.Scenario {
	return harness.Scenario{Plot: &harness.Script{Events: events}}
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }
