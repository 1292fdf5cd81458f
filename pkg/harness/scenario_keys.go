package harness

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/param"
)

// ScenarioKeys is every key of a scenario but its kind and what happens in it, in the order
// of the documentation, whose values are in p.
func ScenarioKeys(p *Plan) []param.Param {
	lasting := ""
	for _, k := range scenarios {
		if k.Duration > 0 {
			lasting += fmt.Sprintf("%s %v, ", k.Name, k.Duration)
		}
	}
	const day = 24 * time.Hour
	return []param.Param{
		{Name: "initiators", Unit: "processes", Default: "all", Min: 1, Max: 100_000,
			Choices: []string{"all"},
			Doc:     "how many processes begin at once: a number, or all",
			At:      &p.Scenario.Initiators},
		{Name: "settle", Note: "twice the longest period of algorithm and detector, 50ms at least",
			Min: time.Duration(0), Max: time.Hour,
			Doc: "at least so long before something happens to the leader, at most about twice; " +
				"0s: the default",
			At: &p.Scenario.Settle},
		{Name: "elections", Default: "1", Min: 1, Max: 100_000,
			Doc: "leader-crash: how often the leader crashes, each time from a settled state",
			At:  &p.Scenario.Elections},
		{Name: "shape", Default: "halves", Choices: fault.Shapes.Names(),
			Doc: "partition: how the network falls apart",
			At:  &p.Scenario.Shape},
		{Name: "duration", Note: lasting + "else no bound", Min: time.Millisecond, Max: day,
			Doc: "of the partition, of the churn, of the ramp; no new request after it",
			At:  &p.Scenario.Duration},
		{Name: "requests", Note: "100, unless there is a duration", Min: 1, Max: int(1e9),
			Doc: "entries in all", At: &p.Scenario.Requests},
		{Name: "think", Title: "time between entries", Default: "10ms",
			Doc: "from release to the next request", At: &p.Scenario.Think},
		{Name: "hold", Title: "time in the critical section", Default: "1ms",
			Doc: "time in the critical section", At: &p.Scenario.Hold},
		{Name: "sessions", Note: "2", Min: 1, Max: algo.MostSessions,
			Doc: "how many sessions requests name, where an algorithm admits those of one together",
			At:  &p.Scenario.Sessions},
		{Name: "session_choice", Note: ByID, Choices: []string{ByID, Random},
			Doc: "which session: that of its process, dealt out by ID, or a random one",
			At:  &p.Scenario.SessionChoice},
		{Name: "rate", Title: "requests per second", Note: "none: to be given", Min: 1e-6, Max: 1e6,
			Doc: "requests per second, of all processes together",
			At:  &p.Scenario.Rate},
		{Name: "from", Title: "requests per second at first", Note: "none: to be given", Min: 1e-6, Max: 1e6,
			Doc: "requests per second of the first step, of all processes together",
			At:  &p.Scenario.From},
		{Name: "to", Title: "requests per second at last", Note: "none: to be given", Min: 1e-6, Max: 1e6,
			Doc: "of the last step", At: &p.Scenario.To},
		{Name: "steps", Default: "20", Min: 2, Max: 10_000, Doc: "of a ramp, equally long",
			At: &p.Scenario.Steps},
		{Name: "warmup", Default: "0", Min: 0, Max: int(1e9), Doc: "entries that are not measured",
			At: &p.Scenario.Warmup},
		{Name: "requesters", Default: "uniform", Choices: []string{"uniform", "in-turn"},
			Doc: "who requests next", At: &p.Scenario.Requesters},
		{Name: "leader", Note: "none", Doc: "settled at the start",
			At: &p.Leader},
		{Name: "holder", Note: "the least process", Doc: "of the token at the start",
			At: &p.Holder},
		{Name: "crashed", Note: "nobody", Doc: "down at the start",
			At: &p.Crashed},
		{Name: "until", Title: "end of a trial", Note: "when all is quiet", Min: time.Microsecond, Max: day,
			Doc: "the end, for algorithms that never fall quiet",
			At:  &p.Scenario.Until},
		{Name: "ties", Default: "ascending", Choices: []string{"ascending", "descending"},
			Doc: "simulation: who comes first of the senders whose messages are due at one instant",
			At:  &p.Descending},
	}
}
