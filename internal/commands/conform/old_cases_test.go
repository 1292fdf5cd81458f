package conform_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/commands/conform"
	_ "github.com/conclave-bench/conclave/plugins/election/afekgafni"
	_ "github.com/conclave-bench/conclave/plugins/election/bully"
	_ "github.com/conclave-bench/conclave/plugins/election/bullynextinline"
	_ "github.com/conclave-bench/conclave/plugins/election/echoextinction"
	_ "github.com/conclave-bench/conclave/plugins/election/gallagerhumbletspira"
	_ "github.com/conclave-bench/conclave/plugins/election/leasecas"
	_ "github.com/conclave-bench/conclave/plugins/election/viewstampedreplication"
	_ "github.com/conclave-bench/conclave/plugins/mutex/agrawalelabbadi"
	_ "github.com/conclave-bench/conclave/plugins/mutex/chandymisra"
	_ "github.com/conclave-bench/conclave/plugins/mutex/naimitrehel"
	_ "github.com/conclave-bench/conclave/plugins/mutex/raymond"
	_ "github.com/conclave-bench/conclave/plugins/mutex/tokenring"
)

// good is a case of three processes that holds.
const good = `{"id": "X-1", "algorithm": "bully", "kind": "election",
 "topology": {"type": "complete", "n": 3}, "params": {"t_answer": 2, "t_coordinator": 4},
 "scenario": {"crashed": [3], "initial_leader": 3,
	"events": [{"t": 0, "op": "suspect", "node": 1}]},
 "expect": {"sent": 5, "delivered": {"min": 3, "max": 3}, "leader": 2, "all_informed_at": 4,
  "sent_by_kind": {"ANSWER": 1, "COORDINATOR": {"max": 1}, "ELECTION": 3}}}`

const entries = `{"id": "X-2", "algorithm": "naimi-trehel", "kind": "mutex",
 "topology": {"type": "complete", "n": 3}, "params": {"initial_token": 1},
 "scenario": {"events": [{"t": 0, "op": "request", "node": 2}, {"t": 0, "op": "request", "node": 3},
  {"op": "request", "node": 3, "when": "network quiescent"}]},
 "expect": {"sent": 5, "cs_order": [2, 3, 3], "entries": 3, "sync_delay_max": 1, "response_time": 0,
  "last_request_cost": 0, "sent_per_request": [1, 4, 0], "violations": 0}}`

const ring = `{"id": "X-3", "algorithm": "token-ring", "kind": "mutex",
 "topology": {"type": "ring", "n": 3, "order": [2, 1, 3],
  "direction": "messages travel along the listed order"},
 "scenario": {"token_at": 3, "events": [{"t": 0, "op": "request", "node": 1}]},
 "expect": {"sent_until_entry": 2, "entry_at": 2}}`

const tree = `{"id": "X-4", "algorithm": "raymond", "kind": "mutex",
 "topology": {"type": "tree", "n": 3, "shape": "star, holder 2"},
 "scenario": {"events": [{"t": 0, "op": "request", "node": 3}]}, "expect": {"sent": 4}}`

const line = `{"id": "X-5", "algorithm": "bully-next-in-line", "kind": "election",
 "topology": {"type": "complete", "n": 4},
 "scenario": {"crashed": [4], "initial_leader": 4, "failover_list": [3, 2],
  "events": [{"t": 0, "op": "suspect", "node": 1}]}, "expect": {"leader": 3}}`

const forks = `{"id": "X-11", "algorithm": "chandy-misra", "kind": "mutex",
 "topology": {"type": "complete", "n": 3}, "params": {"initial_forks": "lower id, dirty"},
 "scenario": {"events": [{"t": 0, "op": "request", "node": 3}]}, "expect": {"sent": 4}}`

const quorum = `{"id": "X-12", "algorithm": "agrawal-el-abbadi", "kind": "mutex",
 "topology": {"type": "complete", "n": 3, "tree": "complete binary, heap order", "K": 2},
 "scenario": {"events": [{"t": 0, "op": "request", "node": 3}]}, "expect": {"sent": 6}}`

const views = `{"id": "X-6", "algorithm": "viewstamped-replication", "kind": "election",
 "topology": {"type": "complete", "n": 3}, "params": {"t_view_fixed": [9, 7, 9], "heartbeat": 20},
 "scenario": {"crashed": [3], "initial_leader": 3, "run_until": 10},
 "expect": {"all_informed_at": 10, "leaders": {"side 1": 1, "side 2": null}}}`

const store = `{"id": "X-7", "algorithm": "lease-cas", "kind": "election",
 "topology": {"type": "star", "n": 3, "centre": "key-value store"},
 "scenario": {"events": [{"t": 0, "op": "campaign", "node": 3}], "run_until": 2.5},
 "expect": {"sent": 6, "leader": 1}}`

const path = `{"id": "X-8", "algorithm": "gallager-humblet-spira", "kind": "election",
 "topology": {"type": "path", "n": 3, "edges": 2, "weights": "edge (i,i+1) has weight i"},
 "scenario": {"events": [{"t": 0, "op": "start", "node": 3}]},
 "expect": {"sent": 13, "leader": 2, "sent_without_LEADER": 11, "sent_without_LEADER_max": 27,
  "sent_by_kind": {"CONNECT": 3, "INITIATE": 3, "TEST": 1, "REJECT": 1, "REPORT": 3, "LEADER": 2}}}`

const star = `{"id": "X-9", "algorithm": "echo-extinction", "kind": "election",
 "topology": {"type": "star", "n": 4, "edges": 3},
 "scenario": {"events": [{"t": 0, "op": "start", "node": 2}]}, "expect": {"sent": 6, "leader_self": 2}}`

const capture = `{"id": "X-10", "algorithm": "afek-gafni", "kind": "election",
 "topology": {"type": "complete", "n": 3}, "scenario": {"capture_order": "ascending id",
  "events": [{"t": 0, "op": "start", "node": 1}, {"t": 0, "op": "start", "node": 2},
   {"t": 0, "op": "start", "node": 3}]},
 "expect": {"sent": 12}}`

// changed is text with one piece of it replaced.
func changed(t *testing.T, text, old, fresh string) string {
	t.Helper()
	out := strings.Replace(text, old, fresh, 1)
	if out == text && old != fresh {
		t.Fatalf("%q does not stand in the case", old)
	}
	return out
}

func load(text string) ([]conform.Reference, error) {
	return conform.LoadCases("x.json", []byte(`{"cases": [`+text+`]}`))
}

// TestReferences: a case that holds passes, and what comes out otherwise is told.
func TestReferences(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text, old, fresh string
		want             []string
	}{
		"good":         {good, "", "", nil},
		"good entries": {entries, "", "", nil},
		"good ring":    {ring, "", "", nil},
		"good tree":    {tree, "", "", nil},
		"good list":    {line, "", "", nil},
		"good path":    {path, "", "", nil},
		"good star":    {star, "", "", nil},
		"good capture": {capture, "", "", nil},
		"good forks":   {forks, "", "", nil},
		"good quorum":  {quorum, "", "", nil},
		"weights":      {path, `"leader": 2`, `"leader": 3`, []string{"leader: expected 3, got 2"}},
		"who it takes itself for": {star, `"leader_self": 2`, `"leader_self": 3`,
			[]string{"leaders: process 3: expected 3, got 0"}},
		"a ring": {star, `"star", "n": 4, "edges": 3`, `"ring", "n": 3, "edges": 3`, nil},
		"another order of captures": {capture, "ascending id", "cyclic: i+1, i+2, ...",
			[]string{"sent: expected 12, got 10"}},
		"sent": {good, `"sent": 5`, `"sent": 6`, []string{"sent: expected 6, got 5"}},
		"a bound": {good, `"min": 3, "max": 3`, `"min": 4`,
			[]string{"delivered: expected at least 4, got 3"}},
		"a mean": {good, `{"min": 3, "max": 3}`, `{"approx": 4, "tol": 0.5}`,
			[]string{"expected 3.5 to 4.5, got 3"}},
		"a mean that holds": {good, `{"min": 3, "max": 3}`, `{"approx": 4, "tol": 1}`, nil},
		"leader": {good, `"leader": 2`, `"leader": 1`,
			[]string{"leader: expected 1, got 2"}},
		"no leader": {good, `"leader": 2`, `"leader": null`,
			[]string{"leader: expected 0, got 2"}},
		"informed": {good, `"all_informed_at": 4`, `"all_informed_at": 3`,
			[]string{"expected 3ms, got 4ms"}},
		"informed in time": {good, `"all_informed_at": 4`, `"all_informed_within": 4`, nil},
		"informed late": {good, `"all_informed_at": 4`, `"all_informed_within": 3`,
			[]string{"all_informed_at: expected 0s to 3ms, got 4ms"}},
		"nobody informed": {good, `[{"t": 0, "op": "suspect", "node": 1}]`, `[], "run_until": 9`,
			[]string{"all_informed_at: expected 4ms, got none: no process names a leader"}},
		"a kind":           {good, `"ANSWER": 1`, `"ANSWER": 2`, []string{"ANSWER: expected 2, got 1"}},
		"a kind forgotten": {good, `"ANSWER": 1, `, ``, []string{"ANSWER: expected 0, got 1"}},
		"a kind in a window": {good, `"sent": 5`, `"ANSWER": 2, "ELECTION_total": 4`,
			[]string{"ANSWER: expected 2, got 1", "ELECTION: expected 4, got 3"}},
		"the model's time-outs": {good, `{"t_answer": 2, "t_coordinator": 4}`, `{}`, nil},
		"a time-out": {good, `"t_answer": 2`, `"t_answer": 3`,
			[]string{"all_informed_at: expected 4ms, got 5ms"}},
		"by process": {good, `"params": {`, `"params": {"est": {"1": 7}, `,
			[]string{"leader: expected 2, got 1"}},
		"order": {entries, "[2, 3, 3]", "[3, 2, 3]",
			[]string{"cs_order: expected [3 2 3], got [2 3 3]"}},
		"a list of time-outs": {views, `"side 2": null`, `"side 2": 1`,
			[]string{"leaders: process 2: expected 1, got 0"}},
		"nobody on a side":             {views, "", "", nil},
		"a store beside the processes": {store, "", "", nil},
		"hand-over": {entries, `"sync_delay_max": 1`, `"sync_delay_max": 2`,
			[]string{"sync_delay_max: expected 2ms, got 1ms"}},
		"holder": {entries, `"initial_token": 1`, `"initial_token": 2`,
			[]string{"sent: expected 5, got 2", "sent_per_request: expected [1 4 0], got [0 2 0]"}},
		"no entry": {ring, `"node": 1`, `"node": 2}, {"t": 0, "op": "crash", "node": 3`,
			[]string{"entry_at: expected 2ms, got none: entry 1 has not come"}},
		"an order of the ring":   {ring, `[2, 1, 3]`, `[1, 2, 3]`, []string{"entry_at: expected 2ms, got 1ms"}},
		"a moment too late":      {ring, `"entry_at": 2`, `"entry_at": 1.999`, []string{"entry_at: "}},
		"a tree from elsewhere":  {tree, `holder 2`, `holder 1`, []string{"sent: expected 4, got 2"}},
		"until the last instant": {ring, `"token_at": 3`, `"token_at": 3, "run_until": 2`, nil},
		"until before it": {ring, `"token_at": 3`, `"token_at": 3, "run_until": 1.9`,
			[]string{"entry_at"}},
		"several": {entries, `"sent": 5, "cs_order": [2`, `"sent": 6, "cs_order": [1`,
			[]string{"sent: ", "cs_order: "}},
		"a negative test":             {good, `"id": "X-1"`, `"id": "X-1", "note": "negative test"`, nil},
		"what its readers alone need": {good, `"id": "X-1"`, `"id": "X-1", "basis": "x"`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, err := load(changed(t, test.text, test.old, test.fresh))
			if err != nil || len(list) != 1 {
				t.Fatalf("%d cases, %v", len(list), err)
			}
			unchecked, err := list[0].Run()
			if unchecked != nil || (err != nil) != (test.want != nil) {
				t.Fatalf("not checked: %v, error %v, want %q", unchecked, err, test.want)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

// TestMistakes: what cannot be meant is told with its line, its case, its key and what
// to write instead, and is not taken for an outcome.
func TestMistakes(t *testing.T) {
	t.Parallel()
	event := `{"t": 0, "op": "suspect", "node": 1}`
	for name, test := range map[string]struct{ text, old, fresh, want string }{
		"no JSON":          {good, `"leader": 2,`, `"leader": 2`, "line 5: not JSON: invalid character"},
		"an end too early": {good, `"ELECTION": 3}}}`, `"ELECTION": 3`, "not JSON: "},
		"a key": {good, `"topology"`, `"toplogy"`,
			`line 1: X-1: toplogy: unknown key; did you mean "topology"?`},
		"a key in capitals": {good, `"expect"`, `"Expect"`,
			`line 1: X-1: Expect: unknown key; did you mean "scenario.expect"?`},
		"a key of the topology": {good, `"n": 3`, `"m": 3`, `X-1: topology.m: unknown key`},
		"a key of the scenario": {good, `"crashed"`, `"crahsed"`,
			`scenario.crahsed: unknown key; did you mean "scenario.crashed"?`},
		"a key of an event": {good, `"node": 1`, `"nodes": 1`,
			`X-1: scenario.events[1].nodes: unknown key; did you mean "node"?`},
		"no ID":             {good, `"id": "X-1", `, ``, "line 1: id: missing"},
		"no expectation":    {good, `"expect"`, `"note": "", "formula"`, "formula: object, expected it as in"},
		"expecting nothing": {tree, `"sent": 4`, ``, `expect: missing, expected the outcome of the case`},
		"a list for a block": {good, `"params": {"t_answer": 2, "t_coordinator": 4}`, `"params": [2]`,
			`params: array, expected it as in`},
		"a block for a list": {good, event, `7`, `scenario.events[1]: 7, expected a block`},
		"a text for a process": {good, `"initial_leader": 3`, `"initial_leader": "three"`,
			`scenario.leader: "three", expected a whole number`},
		"a fraction of one": {good, `"crashed": [3]`, `"crashed": [2.5]`,
			`scenario.crashed: 2.5, expected a whole number`},
		"a kind": {good, `"kind": "election"`, `"kind": "elektion"`,
			`unknown algorithm "elektion/bully"; did you mean "election/bully"?`},
		"an algorithm": {good, `"bully"`, `"buly"`,
			`unknown algorithm "election/buly"; did you mean "election/bully"?`},
		"a size": {good, `"n": 3`, `"n": 0`,
			`nodes: 0, expected a whole number`},
		"many sizes": {good, `"n": 3`, `"n": "3..7"`,
			`nodes: "3..7", expected a whole number`},
		"a topology": {good, `"complete"`, `"complet"`,
			`topology.kind: "complet", expected one of auto, complete, ring`},
		"another topology": {good, `"complete"`, `"ring"`,
			`topology: ring is no complete graph, which election/bully needs`},
		"no tree": {tree, `"star, holder 2"`, `"bush"`, `topology.shape: "bush", expected one of path, star`},
		"an order": {ring, `[2, 1, 3]`, `[2, 1]`,
			`topology: with 3 nodes: order [2 1] does not name each of 1..3 once`},
		"edges": {ring, `"type": "ring"`, `"type": "graph", "edges": [[1]]`, "topology"},
		"what is not built": {ring, `"type": "ring"`, `"type": "ring", "anonymous": true`,
			"topology.anonymous: unknown key"},
		"who crashed": {good, `"crashed": [3]`, `"crashed": [4]`,
			`scenario.crashed: process 4 of 3`},
		"a holder": {ring, `"token_at": 3`, `"token_at": 4`, "holder: process 4 of 3"},
		"a side": {good, `"crashed": [3]`, `"partition": [[1], [9]]`,
			`scenario.events[1].groups: process 9 of 3`},
		"a parameter": {good, `"t_answer"`, `"t_anwser"`,
			`params.t_anwser: unknown parameter of election/bully; did you mean "t_answer"?`},
		"a remark that is wrong": {good, `"t_answer": 2`, `"announce": "all-others"`,
			"params.announce: unknown parameter of election/bully"},
		"a time-out of text": {good, `"t_answer": 2`, `"t_answer": "long"`,
			`params.t_answer: "long", expected a duration`},
		"a time-out below 0": {good, `"t_answer": 2`, `"t_answer": -2`,
			`params.t_answer: -2ms, expected a duration`},
		"a flag of text": {good, `"t_answer": 2`, `"suppress_duplicates": "no"`,
			`params.suppress_duplicates: "no", expected true or false`},
		"whose value": {good, `"t_answer": 2`, `"est": {"four": 1}`,
			`params.est: "four", expected a process from 1 to 3, as {"3": ...}`},
		"nobody's value": {good, `"t_answer": 2`, `"est": {"4": 1}`,
			`params.est: "4", expected a process from 1 to 3`},
		"a token of nobody": {entries, `"initial_token": 1`, `"initial_token": "1"`,
			`scenario.holder: "1", expected a whole number`},
		"events in words": {good, `[` + event + `]`, `"something"`,
			`X-1: cannot be read: scenario.events "something"; write the case as an experiment`},
		"no events": {good, "\"initial_leader\": 3,\n\t\"events\": [" + event + "]", `"initial_leader": 3`,
			`scenario.events: missing; a script needs them, as [`},
		"an operation": {good, `"op": "suspect"`, `"op": "suspct"`,
			`scenario.events[1].do: unknown "suspct"; did you mean "suspect"?`},
		"another problem's": {good, `"op": "suspect"`, `"op": "request"`,
			`scenario.events[1].do: request is for mutual exclusion, not for election/bully`},
		"neither t nor when": {good, `"t": 0, `, ``,
			`scenario.events[1]: expected one of at, after`},
		"both t and when": {entries, `"t": 0`, `"t": 0, "when": "network quiescent"`,
			`expected one of at, after`},
		"when": {entries, "network quiescent", "network quescent",
			`scenario.events[3].after: "network quescent", expected one of quiet, release`},
		"before the start": {good, `"t": 0`, `"t": -1`,
			`scenario.events[1].at: -1ms, expected a duration`},
		"nobody": {good, `, "node": 1`, ``,
			`scenario.events[1]: suspect without node`},
		"another one suspects": {good, `"node": 1`, `"node": 1, "of": 8`,
			`scenario.events[1].of: process 8 of 3`},
		"a cut without sides": {good, event, `{"t": 0, "op": "cut"}`,
			`scenario.events[1]: cut without groups, links or shape`},
		"a cut of nobody": {good, event, `{"t": 0, "op": "cut", "groups": [[7]]}`,
			`scenario.events[1].groups: process 7 of 3`},
		"boot later": {good, event, `{"t": 2, "op": "boot", "node": 1}`, `scenario.events[1].do: unknown "boot"`},
		"any ring": {ring, `[2, 1, 3]`, `"every cyclic arrangement"`,
			`X-3: cannot be read: topology.order "every cyclic arrangement"; write`},
		"no script": {ring, `"token_at": 3`, `"operation": "get_quorum"`,
			`X-3: cannot be read: scenario.operation "get_quorum"; write`},
		"links": {good, `"crashed": [3]`, `"channels": "random delay"`,
			`X-1: cannot be read: scenario.channels "random delay"; write`},
		"a workload": {entries, `"events": [`, `"workload": "many requests", "events": [`,
			`X-2: cannot be read: scenario.workload "many requests"; write the case as an experiment`},
		"what all repetitions come to": {good, `"expect": {`,
			`"form": "statistical", "expect": {"mean_sent": {"approx": 5, "tol": 1}, `,
			`X-1: cannot be read: expect.mean_sent {"approx":5,"tol":1}; write`},
		"repetitions": {good, `"crashed": [3]`, `"crashed": [3], "repeat": 10`, `scenario.repeat: unknown key`},
		"a window":    {good, `"crashed": [3]`, `"window": [3]`, "scenario.window: unknown key"},
		"an order of senders": {good, `"crashed": [3]`, `"same_instant_order": "random"`,
			`scenario.ties: "random", expected one of ascending, descending`},
		"a time below 0": {good, `"crashed": [3]`, `"run_until": -1`,
			`scenario.until: -0.999ms, expected a duration`},
		"an expectation": {good, `"sent"`, `"snet"`,
			`expect.snet: unknown key; did you mean "sent"?`},
		"a number of text": {good, `"sent": 5`, `"sent": "five"`,
			`expect.sent: "five", expected a whole number`},
		"a number of nothing": {good, `"sent": 5`, `"sent": null`,
			`expect.sent: nothing, expected a whole number`},
		"a bound misspelt": {good, `{"min": 3, "max": 3}`, `{"mni": 3}`,
			`expect.delivered.mni: unknown key; did you mean "min"?`},
		"bounds crossed": {good, `{"min": 3, "max": 3}`, `{"min": 4, "max": 3}`,
			`expected a value, or bounds, as {min: 1, max: 3}`},
		"no bound": {good, `{"min": 3, "max": 3}`, `{}`,
			`expected a value, or bounds`},
		"a message": {good, `"ANSWER": 1`, `"ANSWR": 1`,
			`scenario.expect: sent_by_kind: no message is called "ANSWR" (has: ELECTION, ANSWER, COORDINATOR)`},
		"a number of messages": {good, `"ANSWER": 1`, `"ANSWER": "1"`,
			`expect.sent_by_kind.ANSWER: "1", expected a whole number`},
		"a leader of text": {good, `"leader": 2`, `"leader": "two"`,
			`expect.leader: "two", expected a whole number`},
		"an order of entries": {entries, "[2, 3, 3]", "[2, \"3\"]",
			`expect.cs_order: "3", expected a whole number`},
		"candidates elsewhere": {good, `"crashed": [3]`, `"candidates": [1]`,
			`params.candidate: unknown parameter`},
		"a fail-over list": {line, `[3, 2]`, `[2, 3]`,
			`scenario.failover_list: [2 3], expected the highest processes after the leader, falling`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, err := load(changed(t, test.text, test.old, test.fresh))
			if err == nil {
				_, err = list[0].Run()
			}
			var found conform.Mistakes
			if !errors.As(err, &found) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want the mistake %q", err, test.want)
			}
			for _, m := range found {
				if in := m.In("a.json"); !strings.HasPrefix(in, "a.json:") || m.Line < 1 {
					t.Errorf("%q has no place", in)
				}
			}
		})
	}
}

// TestMistakes_All: all that is wrong is told at once, each with its line.
func TestMistakes_All(t *testing.T) {
	t.Parallel()
	list, err := load("\n" + changed(t, good, `"X-1"`, `7`) + "," + good + ",\n\n" + good)
	for _, want := range []string{
		"line 2: id: number, expected", "line 14: X-1: case: appears twice, first in line 7",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if list != nil {
		t.Errorf("%d cases", len(list))
	}
	list, err = load("\n" + changed(t, changed(t, good, `"crashed"`, `"a"`), `"sent"`, `"snet"`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = list[0].Run()
	for _, want := range []string{"line 2: X-1: scenario.a: unknown key", "line 2: X-1: scenario.expect.snet: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// TestOwnChecks: an algorithm's tests can add expectations. What nobody can check is
// told, and is no failure.
func TestOwnChecks(t *testing.T) {
	t.Parallel()
	list, err := load(changed(t, good, `"sent": 5`, `"sent": 99, "beauty": 1`))
	if err != nil {
		t.Fatal(err)
	}
	unchecked, err := list[0].Run()
	if !slices.Equal(unchecked, []string{"beauty"}) || !strings.Contains(err.Error(), "sent: ") {
		t.Errorf("not checked: %v; %v", unchecked, err)
	}
	ugly := errors.New("ugly")
	unchecked, err = list[0].Run(conform.Checks{
		"beauty": func(r *conform.Result, want json.RawMessage) error {
			if string(want) != "1" || r.Plan.Nodes != 3 || len(r.Trials) != 1 {
				t.Errorf("it sees %s and %+v", want, r)
			}
			return ugly
		},
	})
	if unchecked != nil || !errors.Is(err, ugly) || !strings.Contains(err.Error(), "sent: ") {
		t.Errorf("not checked: %v; error %v, want that of the own check as well", unchecked, err)
	}
}

func TestFilesThatAreNone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                  "line 1: not JSON",
		"[]":                "cases: missing, or no list",
		"{}":                "cases: missing, or no list",
		`{"cases": 1}`:      "cases: missing, or no list",
		`{"cases": null}`:   "cases: missing, or no list",
		`{"cases": [1]}`:    "line 1: number, expected it as in",
		"{\"cases\": [\n]]": "line 2: not JSON",
	} {
		if _, err := conform.LoadCases("x.json", []byte(text)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	list, err := conform.LoadCases("x.json", []byte(
		`{"title": "cases", "model": {}, "count": 1, "cases": [`+"\n"+good+`]}`))
	if err != nil || len(list) != 1 || list[0].Line != 2 || list[0].Algorithm != "election/bully" {
		t.Errorf("%+v, %v", list, err)
	}
}
