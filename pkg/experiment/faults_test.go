package experiment

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// planOf is the plan of the first cell of such an experiment.
func planOf(t *testing.T, text string) harness.Plan {
	t.Helper()
	e, err := Parse("e.yaml", []byte(text), Overrides{})
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return e.Cells[0].Plan
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n%+v, want\n%+v", what, got, want)
	}
}

const bully = "problem: election\nalgorithms: [bully]\n"

func TestFailuresReachThePlan(t *testing.T) {
	t.Parallel()
	half := 0.5
	p := planOf(t, bully+`
scenario: {kind: churn, duration: 3s}
faults:
  crash_rate: 0.25
  downtime: {distribution: exponential, mean: 1s}
  max_down: 3
  events:
    - {on: sent, kind: TOKEN, wait: 2ms, do: crash, who: leader, for: 1s}
    - {every: 1s, at: 100ms, do: partition, shape: bridge, who: [1, 2]}
    - {at: 1s, do: flaky, links: [[1, 2]], loss: 0.5, latency: 20ms, for: 1s}
    - {do: drop, kind: REQUEST, count: 2, times: 3, who: 4}
    - {at: 2s, do: restart}
    - {rate: 3, do: slow, who: minority, by: 5ms}
`)
	late := link.Constant(20 * time.Millisecond)
	same(t, "failures", p.Faults, harness.Faults{
		CrashRate: 0.25, MaxDown: 3, Downtime: link.Latency{Law: &link.Exponential{Mean: time.Second}},
		Events: []harness.Event{
			{On: "sent", Kind: "TOKEN", Count: 1, Times: 1, Wait: 2 * time.Millisecond,
				Do: harness.DoCrash, Who: "leader", For: time.Second},
			{Every: time.Second, At: 100 * time.Millisecond, Do: harness.DoCut, Shape: "bridge",
				Nodes: []algo.ID{1, 2}},
			{At: time.Second, Do: harness.DoFlaky, Links: [][2]uint32{{1, 2}}, Args: fault.Lossy(half),
				Latency: &late, For: time.Second},
			{Do: harness.DoDrop, Kind: "REQUEST", Count: 2, Times: 3, Node: 4},
			{At: 2 * time.Second, Do: harness.DoRestart, Who: "all-crashed"},
			{Rate: 3, Do: harness.DoSlow, Who: "minority", Args: fault.SlowBy(5 * time.Millisecond)},
		},
	})
	same(t, "leader", p.Leader, algo.ID(5))
	p = planOf(t, bully+"faults: {crash_rate: 1, downtime: forever}\n")
	same(t, "downtime for ever", p.Faults,
		harness.Faults{CrashRate: 1})
	p = planOf(t, bully+"faults: {crash_rate: 1}\n")
	same(t, "default downtime", p.Faults,
		harness.Faults{CrashRate: 1, Downtime: link.Constant(500 * time.Millisecond)})
}

// What one of the compared algorithms does not send cannot be lost, nor waited for.
func TestEventsOfAnotherAlgorithmsMessagesAreLeftOut(t *testing.T) {
	t.Parallel()
	e, err := Parse("e.yaml", []byte("problem: election\nalgorithms: [bully, ring-list]\n"+
		"faults: {events: [{do: drop, kind: TOKEN}, {do: drop, kind: REQUEST}]}\n"), Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{{"TOKEN", "REQUEST"}, {"REQUEST"}} {
		var kinds []string
		for _, ev := range e.Cells[i].Plan.Faults.Events {
			kinds = append(kinds, ev.Kind)
		}
		same(t, "kinds of "+e.Cells[i].Label, kinds, want)
	}
	if !slices.ContainsFunc(e.Notes, func(n string) bool {
		return strings.HasPrefix(n, "ring-list: faults.events[1] never happens")
	}) {
		t.Errorf("nothing about it in the notes %q", e.Notes)
	}
}

func TestScenariosOfFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, scenario string
		want           harness.Scenario
		leader         algo.ID
		crashed        []algo.ID
	}{
		{"leader-crash", "{kind: leader-crash}",
			harness.Scenario{Plot: &harness.LeaderCrash{Settle: 50 * time.Millisecond, Elections: 1}}, 5, nil},
		{"in a row", "{kind: leader-crash, elections: 50, settle: 20ms}",
			harness.Scenario{Plot: &harness.LeaderCrash{Settle: 20 * time.Millisecond, Elections: 50}}, 5, nil},
		{"leader-restart", "{kind: leader-restart, settle: 1s}",
			harness.Scenario{Plot: &harness.LeaderRestart{Settle: time.Second}}, 4, []algo.ID{5}},
		{"partition", "{kind: partition}", harness.Scenario{Plot: &harness.Partition{
			Settle: 50 * time.Millisecond, Shape: "halves", Duration: 2 * time.Second}}, 5, nil},
		{"another partition", "{kind: partition, shape: mute, duration: 1s}", harness.Scenario{Plot: &harness.Partition{
			Settle: 50 * time.Millisecond, Shape: "mute",
			Duration: time.Second}}, 5, nil},
		{"churn", "{kind: churn}",
			harness.Scenario{Plot: &harness.Churn{Duration: 5 * time.Second}}, 5, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := planOf(t, bully+"faults: {crash_rate: 1}\nscenario: "+c.scenario+"\n")
			same(t, "scenario", p.Scenario, c.want)
			same(t, "leader", p.Leader, c.leader)
			same(t, "crashed", p.Crashed, c.crashed)
		})
	}
}

func TestDetectorsReachThePlan(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{kind: perfect}":                  "{kind: perfect, delay: 10ms}",
		"{kind: heartbeat}":                "{kind: heartbeat, interval: 20ms, timeout: 100ms}",
		"{kind: heartbeat, scope: leader}": "{kind: heartbeat, interval: 20ms, timeout: 100ms, scope: leader}",
		"{kind: phi}":                      "{kind: phi, interval: 20ms, threshold: 8, window: 100, deviation: 5ms}",
		"{kind: phi, interval: 1s, threshold: 3, window: 10, scope: leader}": "{kind: phi, interval: 1s, threshold: 3, " +
			"window: 10, deviation: 250ms, scope: leader}",
		"{kind: phi, deviation: 1ms}": "{kind: phi, interval: 20ms, threshold: 8, window: 100, deviation: 1ms}",
	} {
		d := planOf(t, bully+"detector: "+text+"\n").Detector
		same(t, text, d.Literal(), want)
	}
}

func TestLossAndLatencyReachThePlan(t *testing.T) {
	t.Parallel()
	p := planOf(t, bully+"network: {loss: {burst: {p_enter: 0.1, p_leave: 0.3, good: 0.05}}, "+
		"latency: {distribution: regions, places: [oregon, tokyo], sigma: 0.5}}\n")
	same(t, "burst", p.Network.Burst, &link.Burst{Enter: 0.1, Leave: 0.3, Good: 0.05, Bad: 1})
	same(t, "latency", p.Network.Latency,
		link.Latency{Law: &link.Regions{Places: []string{"oregon", "tokyo"}, Sigma: 0.5}})
	p = planOf(t, bully+"network: {loss: 0.25}\n")
	if p.Network.Burst != nil || p.Network.Loss != 0.25 {
		t.Errorf("network %+v, want a loss of 0.25", p.Network)
	}
}

// How a plan goes beyond what an algorithm survives, that survives nothing.
func TestBeyondTheModel(t *testing.T) {
	t.Parallel()
	const (
		mutex   = "problem: mutex\nalgorithms: [naimi-trehel]\n"
		crashed = "survives 0 of 5 processes crashed, not "
		back    = "does not survive the return of a crashed process "
		lossy   = "does not survive message loss "
		cut     = "does not survive a partition "
	)
	event := func(e string) string { return mutex + "faults: {events: [" + e + "]}\n" }
	for text, want := range map[string][]string{
		mutex: nil,
		event("{at: 1s, do: crash, who: random}"):                           {crashed + "1"},
		event("{at: 1s, do: crash, who: token-holder}"):                     {crashed + "1"},
		event("{at: 1s, do: crash, who: [1, 2]}"):                           {crashed + "2"},
		event("{at: 1s, do: crash, who: 1, for: 1s}"):                       {crashed + "1", back + "(faults crash)"},
		event("{at: 1s, do: crash, who: majority}"):                         {crashed + "3"},
		event("{at: 1s, do: crash, who: minority}"):                         {crashed + "2"},
		event("{at: 1s, do: crash, who: all}"):                              {crashed + "5"},
		event("{every: 1s, do: crash, who: random}"):                        {crashed + "5"},
		event("{every: 1s, times: 3, do: crash, who: random}"):              {crashed + "3"},
		event("{every: 1s, do: crash, who: random, for: 1s}"):               {crashed + "1", back + "(faults crash)"},
		event("{every: 1s, do: crash, who: random, for: 1001ms}"):           {crashed + "2", back + "(faults crash)"},
		event("{every: 1s, times: 1, do: crash, who: random, for: 5s}"):     {crashed + "1", back + "(faults crash)"},
		event("{on: granted, times: 2, do: crash, who: random}"):            {crashed + "2"},
		event("{at: 1s, do: crash, who: 1}, {at: 2s, do: restart}"):         {crashed + "1", back + "(faults restart)"},
		event("{at: 1s, do: pause, who: 1, for: 1s}"):                       nil, // asynchronous
		event("{at: 1s, do: pause, who: 1}, {at: 2s, do: resume}"):          nil,
		event("{at: 1s, do: pause, who: 1}"):                                {crashed + "1"},
		event("{at: 1s, do: slow, who: all, by: 1s}"):                       nil,
		event("{at: 1s, do: flaky, latency: 1s}"):                           nil,
		event("{at: 1s, do: flaky, loss: 0}"):                               nil,
		event("{at: 1s, do: flaky, loss: 0.1}"):                             {lossy + "(faults flaky)"},
		event("{do: drop, kind: TOKEN}"):                                    {lossy + "(faults drop)"},
		event("{at: 1s, do: cut, shape: halves, for: 1s}"):                  {cut + "(faults cut)"},
		mutex + "network: {loss: 0.5}\n":                                    {lossy + "(network.loss 0.5)"},
		mutex + "network: {loss: {burst: {p_enter: 1, p_leave: 1}}}\n":      {lossy + "(bursts of network.loss)"},
		mutex + "faults: {crash_rate: 1}\n":                                 {crashed + "2", back + "(faults.downtime 500ms)"},
		mutex + "faults: {crash_rate: 1, downtime: forever}\n":              {crashed + "2"},
		mutex + "faults: {crash_rate: 1, max_down: 4, downtime: forever}\n": {crashed + "4"},
	} {
		same(t, text, planOf(t, text).OutOfModel, want)
	}
	// The fake ring-list survives fewer crashes the higher process 2's level is.
	const ring = "problem: election\nalgorithms: [{name: ring-list, params: {level: "
	for level, want := range map[string][]string{
		"1": nil, "4": nil, "[9, 4, 9, 9, 9]": nil,
		"5":               {crashed + "1 (with these parameters; with the defaults 4)"},
		"[1, 5, 1, 1, 1]": {crashed + "1 (with these parameters; with the defaults 4)"},
	} {
		same(t, level, planOf(t, ring+level+"}}]\n").OutOfModel, want)
	}
	// The fake bully is synchronous, survives N-1 crashes and nothing else.
	const slow = "is synchronous, and processes stand still or slow down "
	for text, want := range map[string][]string{
		"faults: {events: [{at: 1s, do: pause, who: leader, for: 1s}]}":          {slow + "(faults pause)"},
		"faults: {events: [{at: 1s, do: slow, who: leader, by: 1ms}]}":           {slow + "(faults slow)"},
		"faults: {events: [{at: 1s, do: flaky, latency: 2ms}]}":                  nil,
		"faults: {events: [{at: 1s, do: flaky, latency: 3ms}]}":                  {"is synchronous, and a latency is larger than d for a while (faults flaky)"},
		"scenario: {kind: leader-restart}":                                       {back + "(scenario leader-restart)"},
		"scenario: {kind: partition}":                                            {cut + "(scenario partition)"},
		"scenario: {elections: 2}":                                               {back + "(scenario.elections 2)"},
		"detector: {kind: phi}":                                                  nil,
		"detector: {kind: none}":                                                 {"needs a detector that is eventually perfect (detector.kind none)"},
		"network: {latency: {distribution: regions, places: [tokyo]}}":           nil,
		"network: {latency: {distribution: regions, places: [tokyo], sigma: 1}}": {"is synchronous, and the latency is unbounded (network.latency regions)"},
	} {
		same(t, text, planOf(t, bully+text+"\n").OutOfModel, want)
	}
}

func TestVerbsAreDocumented(t *testing.T) {
	t.Parallel()
	keys := keysOf(eventFields(&event{}, true))
	for _, w := range Instants {
		if w.Doc == "" || !slices.Contains(keys, w.Name) {
			t.Errorf("%s: no doc, or no key", w.Name)
		}
	}
	for _, f := range fault.All() {
		if f.Doc == "" || len(f.Takes) == 0 {
			t.Errorf("%s: no doc or no arguments", f.Name)
		}
		for _, k := range slices.Concat(f.Takes, f.One, f.Any, f.Apart) {
			if !slices.Contains(keys, k) || !slices.Contains(f.Takes, k) {
				t.Errorf("%s: key %s is none", f.Name, k)
			}
		}
		for _, w := range f.Choices() {
			if fault.Choices.Named(w) == nil {
				t.Errorf("%s: %s is no choice", f.Name, w)
			}
		}
	}
}
