package algotest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A bound is an expected number: a plain one is an equality, min and max are
// bounds, a mean has a tolerance.
type bound struct {
	Min, Max, Tol float64
	ExactMean     *float64 `json:"exact_mean"`
	Approx        *float64
}

// within says what is wrong with got.
func within(got float64, want json.RawMessage) error {
	b := bound{Min: math.Inf(-1), Max: math.Inf(1)}
	var exact float64
	if err := json.Unmarshal(want, &exact); err == nil {
		b.Min, b.Max = exact, exact
	} else if err := json.Unmarshal(want, &b); err != nil {
		return fmt.Errorf("%s is not understood", want)
	}
	if mean := b.ExactMean; mean != nil {
		b.Min, b.Max = *mean-b.Tol, *mean+b.Tol
	}
	if b.Approx != nil {
		b.Min, b.Max = *b.Approx-b.Tol, *b.Approx+b.Tol
	}
	if !(got >= b.Min && got <= b.Max) {
		return fmt.Errorf("got %v, want %s", got, want)
	}
	return nil
}

// expectations is what the expectations of cases mean, by name.
var expectations = Checks{
	"sent": func(r *Result, want json.RawMessage) error {
		return within(float64(r.only().Totals.Sent), want)
	},
	"delivered": func(r *Result, want json.RawMessage) error {
		return within(float64(r.only().Totals.Delivered), want)
	},
	"sent_by_kind":    sentByKind,
	"leader":          oneLeader,
	"leaders":         leaderOfEachSide,
	"all_informed_at": allInformedAt,
	"cs_order": func(r *Result, want json.RawMessage) error {
		return sameList(r.processes(trace.Granted), want)
	},
	"entries": func(r *Result, want json.RawMessage) error {
		return within(float64(len(r.processes(trace.Granted))), want)
	},
	"response_time": func(r *Result, want json.RawMessage) error {
		op := r.only().Operations
		return within(inUnits(op[len(op)-1].End-op[len(op)-1].Cause), want)
	},
	"sync_delay_max": func(r *Result, want json.RawMessage) error {
		_, longest := r.only().perRequest()
		return within(inUnits(longest), want)
	},
	"sent_per_request": func(r *Result, want json.RawMessage) error {
		each, _ := r.only().perRequest()
		return sameList(each, want)
	},
	"last_request_cost": func(r *Result, want json.RawMessage) error {
		each, _ := r.only().perRequest()
		return within(float64(each[len(each)-1]), want)
	},
	// To the microsecond: what begins behind the very start may do so a little later.
	"entry_at": func(r *Result, want json.RawMessage) error {
		return within(inUnits(r.only().Operations[0].End.Round(time.Microsecond)), want)
	},
	"sent_until_entry": func(r *Result, want json.RawMessage) error {
		return within(float64(r.only().sentUntil(1)), want)
	},
	"sent_until_last_entry": func(r *Result, want json.RawMessage) error {
		return within(float64(r.only().sentUntil(r.only().Completed)), want)
	},
	"mean_sent_per_request": meanPerRequest(""),
	"violations": func(r *Result, want json.RawMessage) error {
		return within(r.trialsWith(func(o *Outcome) bool { return len(o.Violations) > 0 }), want)
	},
	"mean_REQUEST_per_request": meanPerRequest("REQUEST"),
	"mean_TOKEN_per_request":   meanPerRequest("TOKEN"),
	"runs_with_two_self_declared_coordinators": func(r *Result, want json.RawMessage) error {
		return within(r.trialsWith(twoDeclared), want)
	},
}

func inUnits(d time.Duration) float64 { return float64(d) / float64(unit) }

func sentByKind(r *Result, raw json.RawMessage) error {
	var want map[string]json.RawMessage
	if err := json.Unmarshal(raw, &want); err != nil {
		return err
	}
	got := map[string]int64{}
	for _, k := range r.only().Kinds {
		got[k.Name] = k.Sent
	}
	var errs []error
	for _, kind := range slices.Sorted(maps.Keys(want)) {
		if err := within(float64(got[kind]), want[kind]); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", kind, err))
		}
		delete(got, kind)
	}
	for _, kind := range slices.Sorted(maps.Keys(got)) {
		if got[kind] > 0 {
			errs = append(errs, fmt.Errorf("%s: got %d, want none", kind, got[kind]))
		}
	}
	return errors.Join(errs...)
}

func oneLeader(r *Result, want json.RawMessage) error {
	beliefs := r.beliefs(r.only())
	for _, p := range slices.Sorted(maps.Keys(beliefs)) {
		if err := within(float64(beliefs[p]), want); err != nil {
			return fmt.Errorf("process %d: %w", p, err)
		}
	}
	return nil
}

// leaderOfEachSide: {"side 1,2,3": 3, "side 4,5,6": 6}.
func leaderOfEachSide(r *Result, raw json.RawMessage) error {
	var sides map[string]algo.ID
	if err := json.Unmarshal(raw, &sides); err != nil {
		return err
	}
	beliefs := r.beliefs(r.only())
	for side, leader := range sides {
		list, found := strings.CutPrefix(side, "side ")
		if !found {
			return fmt.Errorf("%q is no side", side)
		}
		for _, word := range strings.Split(list, ",") {
			p, err := strconv.Atoi(word)
			if err != nil {
				return err
			}
			if got := beliefs[algo.ID(p)]; got != leader {
				return fmt.Errorf("process %d names %d, want %d", p, got, leader)
			}
		}
	}
	return nil
}

func allInformedAt(r *Result, want json.RawMessage) error {
	at := time.Duration(-1)
	for _, rec := range r.only().Trace {
		if rec.Type == trace.Elected && rec.Peer != 0 {
			at = rec.At
		}
	}
	return within(inUnits(at), want)
}

func (r *Result) processes(t trace.Type) (out []int64) {
	for _, rec := range r.only().Trace {
		if rec.Type == t {
			out = append(out, int64(rec.Process))
		}
	}
	return out
}

func sameList(got []int64, raw json.RawMessage) error {
	var want []int64
	if err := json.Unmarshal(raw, &want); err != nil {
		return err
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	return nil
}

// meanPerRequest is the messages of a kind, or of all, per request behind the
// warm-up.
func meanPerRequest(kind string) func(*Result, json.RawMessage) error {
	return func(r *Result, want json.RawMessage) error {
		o := r.only()
		index := slices.IndexFunc(o.Kinds, func(k check.Kind) bool { return k.Name == kind })
		if kind != "" && index < 0 {
			return fmt.Errorf("no message is of kind %s", kind)
		}
		requests, sent := 0, 0
		for _, rec := range o.Trace {
			switch {
			case rec.Type == trace.Request:
				requests++
			case rec.Type == trace.Send && rec.Plane == trace.Data &&
				requests > r.Plan.Scenario.Warmup && (kind == "" || int(rec.Kind) == index):
				sent++
			}
		}
		return within(float64(sent)/float64(requests-r.Plan.Scenario.Warmup), want)
	}
}

// sentUntil counts the messages sent before the k-th entry.
func (o *Outcome) sentUntil(k int) (sent int) {
	for _, rec := range o.Trace {
		switch {
		case rec.Type == trace.Granted && k == 1:
			return sent
		case rec.Type == trace.Granted:
			k--
		case rec.Type == trace.Send && rec.Plane == trace.Data:
			sent++
		}
	}
	return sent
}

func (r *Result) trialsWith(f func(*Outcome) bool) (n float64) {
	for i := range r.Trials {
		if f(&r.Trials[i]) {
			n++
		}
	}
	return n
}

// twoDeclared: two live processes held themselves leader at once.
func twoDeclared(o *Outcome) bool {
	declared := map[uint32]bool{}
	for _, rec := range o.Trace {
		switch rec.Type {
		case trace.Crash:
			delete(declared, rec.Process)
		case trace.Elected:
			if delete(declared, rec.Process); rec.Peer == rec.Process {
				declared[rec.Process] = true
			}
		}
		if len(declared) > 1 {
			return true
		}
	}
	return false
}
