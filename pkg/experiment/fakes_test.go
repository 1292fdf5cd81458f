package experiment

import (
	"errors"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// The algorithms of these tests do nothing. They declare what a test needs, under
// the names of the real ones where the template and the examples name those.
func init() {
	paper := algo.Paper{Authors: "A. Author", Title: "A Title", Year: 1982}
	algo.RegisterElector(algo.Spec{
		Name: "bully", Summary: "everything a Spec can declare", Paper: paper,
		Messages: []algo.Message{request{}, token{}},
		Params: []algo.Param{
			{Name: "t_answer", Type: algo.Duration, Doc: "T", Min: time.Millisecond,
				PerProcess: true,
				Default:    func(n algo.Network) any { return 3*n.Latency + 20*time.Millisecond }},
			{Name: "suppress", Type: algo.Bool, Doc: "a flag", Default: algo.Const(true)},
			{Name: "est", Type: algo.Int, Doc: "a rank", PerProcess: true, Default: algo.Const(int64(0))},
			{Name: "reply", Type: algo.Enum, Doc: "a choice", Choices: []string{"broadcast", "off"},
				Default: algo.Const("broadcast")},
			{Name: "share", Type: algo.Float, Doc: "a share", Default: algo.Const(0.5)},
			{Name: "level", Type: algo.Int, Doc: "a level", Min: int64(0), Max: int64(10),
				Default: algo.Const(int64(3))},
		},
		Sets: []algo.Set{
			{Name: "fast", Doc: "the fast one", Params: map[string]any{
				"level": int64(9), "suppress": false, "t_answer": 5 * time.Millisecond}},
			{Name: "slow", Doc: "the slow one", Params: map[string]any{"t_answer": time.Second},
				Demands: "t_answer is whole seconds, and level is 3 (slow.go).",
				Fit: func(p algo.Params) map[string]any {
					return map[string]any{"level": int64(3),
						"t_answer": max(p.Duration("t_answer").Round(time.Second), time.Second)}
				}},
		},
		Needs: algo.Needs{
			Synchrony: algo.Synchronous, Detector: algo.EventuallyPerfect,
			Params: func(n algo.Network, p algo.Params) error {
				if p.Duration("t_answer") < 2*n.Latency {
					return errors.New("t_answer is below 2d")
				}
				return nil
			},
		},
		Survives: algo.Faults{Crashes: func(n int, _ algo.Params) int { return n - 1 }},
	}, func(algo.Config) algo.Elector { return process{} })
	algo.RegisterElector(algo.Spec{
		Name: "ring-list", Summary: "needs a logical ring", Paper: paper,
		Messages: []algo.Message{request{}}, Needs: algo.Needs{Topology: algo.LogicalRing},
		Params: []algo.Param{{Name: "level", Type: algo.Int, Doc: "a level", PerProcess: true,
			Default: algo.Const(int64(1))}},
		Survives: algo.Faults{Crashes: func(n int, p algo.Params) int { return n - int(p.IntOf("level", 2)) },
			Recovery: true, Loss: true, Duplication: true, Partition: true},
	}, func(algo.Config) algo.Elector { return process{} })
	algo.RegisterService(algo.MutualExclusion, algo.Spec{
		Name: "served", Summary: "has servers", Paper: paper, Perpetual: true, Servers: "servers",
		Params: []algo.Param{{Name: "servers", Type: algo.Int, Doc: "servers", Min: int64(1),
			Default: algo.Const(int64(3))}},
		Survives: algo.Faults{Crashes: func(n int, _ algo.Params) int { return n }, Recovery: true},
	}, func(algo.Config) algo.Live { return nil })
	algo.RegisterElector(algo.Spec{
		Name: "uni", Summary: "needs FIFO, a ring, even numbers, a perfect detector", Paper: paper,
		Messages: []algo.Message{request{}},
		Needs: algo.Needs{Topology: algo.Ring, FIFO: true, Detector: algo.Perfect,
			Nodes: func(n int) error {
				if n%2 != 0 {
					return errors.New("expected an even number")
				}
				return nil
			}},
	}, func(algo.Config) algo.Elector { return process{} })
	algo.RegisterElector(algo.Spec{
		Name: "any", Summary: "runs on any connected graph", Paper: paper,
		Messages: []algo.Message{request{}}, Needs: algo.Needs{Topology: algo.Connected},
	}, func(algo.Config) algo.Elector { return process{} })
	algo.RegisterElector(algo.Spec{
		Name: "spanning", Summary: "needs weights", Paper: paper,
		Messages: []algo.Message{request{}}, Needs: algo.Needs{Topology: algo.Weighted},
	}, func(algo.Config) algo.Elector { return process{} })
	algo.RegisterElector(algo.Spec{
		Name: "beating", Summary: "a leader repeats something", Paper: paper,
		Messages: []algo.Message{request{}}, Perpetual: true,
		Params: []algo.Param{{Name: "heartbeat", Type: algo.Duration, Doc: "how often",
			Default: func(n algo.Network) any { return 3*n.Latency + 20*time.Millisecond }}},
		Periods: []algo.Period{{Param: "heartbeat", Timer: "beat"}},
	}, func(algo.Config) algo.Elector { return process{} })
	algo.RegisterMutex(algo.Spec{
		Name: "naimi-trehel", Summary: "needs nothing, survives nothing", Paper: paper,
		Messages: []algo.Message{request{}, token{}}, Token: token{}.Kind(),
	}, func(algo.Config) algo.Mutex { return process{} })
	algo.RegisterMutex(algo.Spec{
		Name: "commanded", Summary: "has an operation of its own", Paper: paper,
		Messages: []algo.Message{request{}}, Needs: algo.Needs{Topology: algo.Tree},
		Params: []algo.Param{{Name: "first", Type: algo.Int, Doc: "a process", Min: int64(1),
			Process: true, Default: algo.Const(int64(1))}},
	}, func(algo.Config) algo.Mutex { return commandedProcess{} })
	if err := algo.AddObserved(algo.MutualExclusion, algo.Spec{
		Name: "observed", Summary: "runs elsewhere", Paper: paper,
		Promises: algo.Promises{StarvationFree: true},
	}); err != nil {
		panic(err)
	}
}

type request struct{}

func (request) Kind() string { return "REQUEST" }

type token struct{}

func (token) Kind() string { return "TOKEN" }

type process struct{}

func (process) Receive(algo.Env, algo.ID, algo.Message) {}
func (process) Request(algo.Env)                        {}
func (process) Release(algo.Env)                        {}
func (process) Elect(algo.Env)                          {}

type commandedProcess struct{ process }

func (commandedProcess) Do(algo.Env, string, algo.ID) {}
