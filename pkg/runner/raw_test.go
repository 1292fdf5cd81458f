package runner_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/cli"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// rawRole, with the arguments of another role behind it, is that role where the
// algorithm of these tests is known as well.
const rawRole = "__raw"

func init() {
	roles[rawRole] = func() int {
		os.Args = slices.Delete(os.Args, 1, 2)
		if err := addRaw(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return cli.Bench()
	}
}

const rawID = "mutex/test-raw"

// addRaw adds, at run time, an algorithm whose messages have no Go types.
func addRaw() error {
	kind := func(name string) algo.Message { return algo.Raw{Name: name} }
	messages := func(n int) float64 { return 3 * float64(n-1) / float64(n) }
	return algo.AddMutex(algo.Spec{
		Name: "test-raw", Summary: "process 1 lets one in at a time; its messages are texts",
		Paper:    algo.Paper{Authors: "test", Title: "test", Year: 2026},
		Messages: []algo.Message{kind("ASK"), kind("ENTER"), kind("LEAVE")},
		Promises: algo.Promises{StarvationFree: true},
		Claims: []algo.Claim{{Metric: "messages/entry", Load: "burst", Text: "3(N-1)/N",
			Source: algo.Derived, Bound: algo.Exactly(messages)}},
		Breaks: "it waits for ever for process 1",
	}, func(c algo.Config) algo.Mutex { return &rawNode{id: c.ID} })
}

type rawNode struct {
	id    algo.ID
	turn  int      // the number of its own last request
	queue []string // at process 1: who asks and whose turn it is, as "3:7"; the first is inside
}

func (n *rawNode) send(env algo.Env, to algo.ID, kind, body string) {
	env.Send(to, algo.Raw{Name: kind, Body: body})
}

func (n *rawNode) Request(env algo.Env) {
	n.turn++
	n.send(env, 1, "ASK", fmt.Sprintf("%d:%d", n.id, n.turn))
}

func (n *rawNode) Release(env algo.Env) { n.send(env, 1, "LEAVE", "") }

func (n *rawNode) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch raw := m.(algo.Raw); raw.Name {
	case "ASK":
		if n.queue = append(n.queue, raw.Body); len(n.queue) == 1 {
			n.enter(env)
		}
	case "ENTER":
		if raw.Body == strconv.Itoa(n.turn) {
			env.Granted()
		}
	case "LEAVE":
		if n.queue = n.queue[1:]; len(n.queue) > 0 {
			n.enter(env)
		}
	}
}

func (n *rawNode) enter(env algo.Env) {
	who, turn, _ := strings.Cut(n.queue[0], ":")
	id, _ := strconv.ParseUint(who, 10, 32)
	n.send(env, algo.ID(id), "ENTER", turn)
}

// An algorithm that is added at run time, and whose messages are names with texts, passes
// the conformance kit and runs in both worlds with its messages counted by their names.
// Not parallel: what is registered changes.
func TestRaw(t *testing.T) {
	must(t, addRaw())
	t.Cleanup(func() { algo.Remove(rawID) })
	if err := addRaw(); err == nil || !strings.Contains(err.Error(), "registered twice") {
		t.Errorf("added twice: %v", err)
	}
	must(t, algotest.Verify(rawID, algotest.Options{Schedules: 50}))
	text := `
name: raw
problem: mutex
algorithms: [test-raw]
transport: sim
nodes: 3
network: {latency: {distribution: constant, mean: 1ms}}
scenario: {kind: burst}
repetitions: 2
time_limit: 10s
`
	o := options(t)
	o.NodeArgs, o.WorkArgs = append([]string{rawRole}, o.NodeArgs...), append([]string{rawRole}, o.WorkArgs...)
	for _, world := range []string{"sim", "nats"} {
		if world == "nats" && (testing.Short() || runtime.GOOS == "windows") {
			continue // it starts processes
		}
		e, f := created(t, strings.Replace(text, "transport: sim", "transport: "+world, 1), t.TempDir())
		_, err := runner.Run(context.Background(), e, f, o)
		must(t, errors.Join(err, f.Close()))
		complete(t, f.Dir())
		rows := table(t, f.Dir(), "messages.csv")
		for i, row := range rows {
			kind := []string{"ASK", "ENTER", "LEAVE"}[i%3]
			if row["kind"] != kind || row["sent"] != "2" || row["delivered"] != "2" {
				t.Errorf("%s: row %d of messages.csv: %v, want 2 of %s", world, i+1, row, kind)
			}
		}
		if len(rows) != 6 {
			t.Errorf("%s: %d rows in messages.csv, want 6", world, len(rows))
		}
	}
}
