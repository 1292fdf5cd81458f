package algotest_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	_ "github.com/conclave-bench/conclave/plugins/election/bully"
	_ "github.com/conclave-bench/conclave/plugins/mutex/naimitrehel"
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

// TestReferences: a case that holds passes, and each change of it is noticed.
func TestReferences(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text, old, fresh string
		want             []string
	}{
		"good":         {good, "", "", nil},
		"good entries": {entries, "", "", nil},
		"sent":         {good, `"sent": 5`, `"sent": 6`, []string{"sent: got 5, want 6"}},
		"a bound":      {good, `"min": 3`, `"min": 4`, []string{"delivered: got 3, want"}},
		"leader": {good, `"leader": 2`, `"leader": 1`,
			[]string{"leader: process 1: got 2, want 1"}},
		"informed": {good, `"all_informed_at": 4`, `"all_informed_at": 3`,
			[]string{"got 4, want 3"}},
		"a kind":           {good, `"ANSWER": 1`, `"ANSWER": 2`, []string{"ANSWER: got 1, want 2"}},
		"a kind forgotten": {good, `"ANSWER": 1, `, ``, []string{"ANSWER: got 1, want none"}},
		"a time-out": {good, `"t_answer": 2`, `"t_answer": 3`,
			[]string{"all_informed_at: got 5, want 4"}},
		"order": {entries, "[2, 3, 3]", "[3, 2, 3]",
			[]string{"cs_order: got [2 3 3], want [3 2 3]"}},
		"hand-over": {entries, `"sync_delay_max": 1`, `"sync_delay_max": 2`,
			[]string{"sync_delay_max: got 1, want 2"}},
		"holder": {entries, `"initial_token": 1`, `"initial_token": 2`,
			[]string{"sent: got 2, want 5", "sent_per_request: got [0 2 0], want [1 4 0]"}},
		"several": {entries, `"sent": 5, "cs_order": [2`, `"sent": 6, "cs_order": [1`,
			[]string{"sent: got 5", "cs_order: got"}},
		"unknown expectation": {good, `"sent"`, `"beauty"`, []string{"beauty: nothing can check"}},
		"unknown parameter": {good, `"t_answer"`, `"t_anwser"`,
			[]string{"parameter t_anwser is not one of"}},
		"unknown algorithm": {good, `"bully"`, `"billy"`, []string{"election/billy"}},
		"unknown when":      {entries, "network quiescent", "at night", []string{`when: "at night"`}},
		"events in words": {good, `[{"t": 0, "op": "suspect", "node": 1}]`, `"some"`,
			[]string{"scenario.events"}},
		"many sizes": {good, `"n": 3`, `"n": "3..9"`, []string{"not a number of processes"}},
		"a time-out of text": {good, `"t_answer": 2`, `"t_answer": "long"`,
			[]string{`"long" is not understood`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := test.text
			if test.old != "" {
				if text = strings.Replace(text, test.old, test.fresh, 1); text == test.text {
					t.Fatalf("%q does not stand in the case", test.old)
				}
			}
			list, err := algotest.LoadCases(strings.NewReader(`{"cases": [` + text + `]}`))
			if err != nil || len(list) != 1 {
				t.Fatalf("%d cases, %v", len(list), err)
			}
			err = list[0].Run()
			if (err != nil) != (test.want != nil) {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

// TestOwnChecks: an algorithm's tests can add expectations and replace them.
func TestOwnChecks(t *testing.T) {
	t.Parallel()
	text := strings.Replace(good, `"sent": 5`, `"sent": 99, "beauty": 1`, 1)
	list, err := algotest.LoadCases(strings.NewReader(`{"cases": [` + text + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	ugly := errors.New("ugly")
	err = list[0].Run(algotest.Checks{
		"beauty": func(*algotest.Result, json.RawMessage) error { return ugly },
		"sent":   func(*algotest.Result, json.RawMessage) error { return nil },
	})
	if !errors.Is(err, ugly) || strings.Contains(err.Error(), "sent") {
		t.Errorf("error %v, want that of the own check alone", err)
	}
}

func TestCasesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "[]", `{"cases": 1}`} {
		if _, err := algotest.LoadCases(strings.NewReader(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
