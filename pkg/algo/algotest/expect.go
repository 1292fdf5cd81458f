package algotest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// An expectation is what a name in a case's expect means.
type expectation struct {
	read  func(want json.RawMessage) error // whether it can be compared at all
	check func(r *Result, want json.RawMessage) error
}

// A bound is an expected number: a plain one is an equality, min and max are
// bounds, a mean has a tolerance.
type bound struct {
	Min, Max  *float64
	ExactMean *float64 `json:"exact_mean"`
	Approx    *float64
	Tol       float64
}

// limits are the least and the greatest of the numbers that are meant.
func limits(want json.RawMessage) (lo, hi float64, err error) {
	var exact *float64
	if err := json.Unmarshal(want, &exact); err == nil && exact != nil {
		return *exact, *exact, nil
	}
	var b bound
	in := json.NewDecoder(bytes.NewReader(want))
	in.DisallowUnknownFields()
	lo, hi = math.Inf(-1), math.Inf(1)
	err = in.Decode(&b)
	for _, mean := range []*float64{b.ExactMean, b.Approx} {
		if mean != nil {
			lo, hi = *mean-b.Tol, *mean+b.Tol
		}
	}
	if b.Min != nil {
		lo = *b.Min
	}
	if b.Max != nil {
		hi = *b.Max
	}
	if err != nil || lo > hi || math.IsInf(lo, 0) && math.IsInf(hi, 0) {
		return 0, 0, fmt.Errorf(`%s, want a number, or bounds, as {"min": 1, "max": 3} or `+
			`{"approx": 2.5, "tol": 0.1}`, want)
	}
	return lo, hi, nil
}

// within says what is wrong with got.
func within(got float64, want json.RawMessage) error {
	lo, hi, err := limits(want)
	if err != nil {
		return err
	}
	if !(got >= lo && got <= hi) {
		return fmt.Errorf("expected %s, got %v", want, got)
	}
	return nil
}

// number expects a number.
func number(got func(r *Result) (float64, error)) expectation {
	return expectation{
		read: func(want json.RawMessage) error { _, _, err := limits(want); return err },
		check: func(r *Result, want json.RawMessage) error {
			x, err := got(r)
			if err != nil {
				return fmt.Errorf("expected %s, got none: %w", want, err)
			}
			return within(x, want)
		},
	}
}

// count expects the number of something that can always be counted.
func count[N int | int64](got func(r *Result) N) expectation {
	return number(func(r *Result) (float64, error) { return float64(got(r)), nil })
}

// trials expects a number of trials.
func trials(f func(o *Outcome) bool) expectation {
	return count(func(r *Result) (n int) {
		for i := range r.Trials {
			if f(&r.Trials[i]) {
				n++
			}
		}
		return n
	})
}

// value expects a value of that type, equal to what came out.
func value[T any](what string, got func(r *Result) T) expectation {
	read := func(want json.RawMessage) (v T, err error) {
		if json.Unmarshal(want, &v) != nil {
			return v, fmt.Errorf("%s, want %s", want, what)
		}
		return v, nil
	}
	return expectation{
		read: func(want json.RawMessage) error { _, err := read(want); return err },
		check: func(r *Result, want json.RawMessage) error {
			v, err := read(want)
			if err != nil {
				return err
			}
			if got, want := fmt.Sprint(got(r)), fmt.Sprint(v); got != want {
				return fmt.Errorf("expected %s, got %s", want, got)
			}
			return nil
		},
	}
}

// What a value is to be.
const (
	listed = "a list of numbers, as [1, 2]"
	truth  = "true or false"
)

// expectations is what the expectations of cases mean, by name. Those of one
// algorithm's messages are in ofKind.
var expectations = map[string]expectation{
	"sent":         count(func(r *Result) int64 { return r.only().Totals.Sent }),
	"delivered":    count(func(r *Result) int64 { return r.only().Totals.Delivered }),
	"sent_by_kind": {read: readKinds, check: sentByKind},

	"leader":                  named((*Result).live),
	"leader_of_majority_side": named(func(r *Result) []algo.ID { return r.side(true) }),
	"leader_of_minority_side": named(func(r *Result) []algo.ID { return r.side(false) }),
	"leaders":                 {read: readSides, check: leaderOfEachSide},
	"new_leader":              value("null, or a process", (*Result).newLeader),
	"all_informed_at":         number(informedAt),
	"last_decision_at":        number(informedAt),
	"all_informed_within":     {read: number(nil).read, check: informedWithin},

	"cs_order": value(listed, func(r *Result) []int64 { return r.processes(trace.Granted) }),
	"entries":  count(func(r *Result) int { return len(r.processes(trace.Granted)) }),
	"response_time": number(func(r *Result) (float64, error) {
		op, err := r.operation(len(r.only().Operations))
		return inUnits(op.End - op.Cause), err
	}),
	"sync_delay_max": number(func(r *Result) (float64, error) {
		_, longest := r.only().perRequest()
		return inUnits(longest), nil
	}),
	"sent_per_request": value(listed, (*Result).perRequest),
	"last_request_cost": number(func(r *Result) (float64, error) {
		each := r.perRequest()
		if len(each) == 0 {
			return 0, errors.New("nobody requests")
		}
		return float64(each[len(each)-1]), nil
	}),
	"entry_at":         entryAt(1),
	"second_entry_at":  entryAt(2),
	"sent_until_entry": count(func(r *Result) int { return r.only().sentBetween(0, 1) }),
	"sent_until_last_entry": count(
		func(r *Result) int { return r.only().sentBetween(0, r.only().Completed) }),
	"sent_between_release_and_next_entry": count(
		func(r *Result) int { return r.only().sentBetween(1, 2) }),
	"mean_sent_per_request": number(meanPerRequest("")),

	"violations": trials(func(o *Outcome) bool { return len(o.Violations) > 0 }),
	"deadlocks": trials(func(o *Outcome) bool {
		return o.Status == check.Timeout && strings.Contains(o.Reason, "nothing moves any more")
	}),
	"runs_with_starvation": trials(func(o *Outcome) bool { return o.Status == check.Timeout }),

	"runs_with_two_self_declared_coordinators": trials(twoDeclared),
	"runs_with_two_leaders_in_one_term":        trials(twoInOneTerm),

	"quiescent":  value(truth, func(r *Result) bool { return r.only().End.Pending == 0 }),
	"terminates": value(truth, (*Result).terminates),
}

// ofKind is an expectation about messages of one kind: how many were sent in the
// case's window (OK), in all (OK_total), in each of their periods (OK_per_period),
// or for each request behind the warm-up (mean_OK_per_request).
func ofKind(alg *algo.Algorithm, name string) (expectation, bool) {
	for _, m := range alg.Spec.Messages {
		switch kind := m.Kind(); name {
		case kind:
			return count(func(r *Result) int { return r.sentIn(kind, true) }), true
		case kind + "_total":
			return count(func(r *Result) int { return r.sentIn(kind, false) }), true
		case kind + "_per_period":
			return number(func(r *Result) (float64, error) { return r.perPeriod(kind) }), true
		case "mean_" + kind + "_per_request":
			return number(meanPerRequest(kind)), true
		}
	}
	return expectation{}, false
}

func inUnits(d time.Duration) float64 { return float64(d) / float64(unit) }

func readKinds(want json.RawMessage) error { _, err := kindBounds(want); return err }

func kindBounds(raw json.RawMessage) (want map[string]json.RawMessage, err error) {
	if json.Unmarshal(raw, &want) != nil || want == nil {
		return nil, fmt.Errorf(`%s, want a block, as {"REQUEST": 4, "TOKEN": 2}`, raw)
	}
	for _, kind := range slices.Sorted(maps.Keys(want)) {
		if _, _, err := limits(want[kind]); err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
	}
	return want, nil
}

func sentByKind(r *Result, raw json.RawMessage) error {
	want, err := kindBounds(raw)
	if err != nil {
		return err
	}
	var errs []error
	for _, k := range r.only().Kinds {
		expected := want[k.Name]
		if expected == nil {
			expected = json.RawMessage("0")
		}
		if err := within(float64(k.Sent), expected); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", k.Name, err))
		}
	}
	return errors.Join(errs...)
}
