package algotest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Result is what came out of a case: one trial if it is exact, many if it is
// statistical.
type Result struct {
	Case   *Reference
	Plan   harness.Plan
	Trials []Outcome
}

// only is the one trial of an exact case.
func (r *Result) only() *Outcome { return &r.Trials[0] }

// beliefs is whom each live process names in the end.
func (r *Result) beliefs() map[algo.ID]algo.ID {
	out := map[algo.ID]algo.ID{}
	for _, p := range Others(r.Plan.Nodes, r.Plan.Crashed...) {
		out[p] = r.Plan.Leader
	}
	for _, rec := range r.only().Trace {
		switch p := algo.ID(rec.Process); {
		case rec.Type == trace.Crash:
			delete(out, p)
		case rec.Type == trace.Up && rec.Incarnation > 0:
			out[p] = algo.None
		case rec.Type == trace.Elected:
			out[p] = algo.ID(rec.Peer)
		}
	}
	return out
}

// leader is a process, or null for none.
func leader(raw json.RawMessage) (want algo.ID, err error) {
	if json.Unmarshal(raw, &want) != nil {
		return 0, fmt.Errorf("%s, want a process, or null for none", raw)
	}
	return want, nil
}

// named expects whom some processes name.
func named(who func(r *Result) []algo.ID) expectation {
	return expectation{
		read: func(raw json.RawMessage) error { _, err := leader(raw); return err },
		check: func(r *Result, raw json.RawMessage) error {
			want, err := leader(raw)
			if err != nil {
				return err
			}
			beliefs, list := r.beliefs(), who(r)
			if len(list) == 0 {
				return errors.New("there is nobody to name a leader: no partition, or nobody up")
			}
			for _, p := range list {
				if got := beliefs[p]; got != want {
					return fmt.Errorf("process %d: expected %d, got %d", p, want, got)
				}
			}
			return nil
		},
	}
}

// live is everybody who is up in the end.
func (r *Result) live() []algo.ID { return slices.Sorted(maps.Keys(r.beliefs())) }

// side is the larger or the smaller side of the case's partition.
func (r *Result) side(larger bool) (members []algo.ID) {
	sides := slices.Clone(r.Case.Scenario.Partition)
	if len(sides) == 0 {
		return nil
	}
	slices.SortStableFunc(sides, func(a, b []uint32) int { return len(b) - len(a) })
	chosen := len(sides) - 1
	if larger {
		chosen = 0
	}
	for _, p := range sides[chosen] {
		members = append(members, algo.ID(p))
	}
	return members
}

// sidesOf reads {"side 1,2,3": 3, "side 4,5,6": 6}.
func sidesOf(raw json.RawMessage) (map[algo.ID]algo.ID, error) {
	var sides map[string]algo.ID
	want := map[algo.ID]algo.ID{}
	err := json.Unmarshal(raw, &sides)
	for side, leader := range sides {
		list, found := strings.CutPrefix(side, "side ")
		for _, word := range strings.Split(list, ",") {
			p, bad := strconv.ParseUint(word, 10, 32)
			if want[algo.ID(p)] = leader; bad != nil || !found {
				err = errors.Join(err, bad, errors.New(side))
			}
		}
	}
	if err != nil || len(want) == 0 {
		return nil, fmt.Errorf(`%s, want a leader for each side, as {"side 1,2,3": 3, "side 4,5": 5}`, raw)
	}
	return want, nil
}

func readSides(raw json.RawMessage) error { _, err := sidesOf(raw); return err }

func leaderOfEachSide(r *Result, raw json.RawMessage) error {
	want, err := sidesOf(raw)
	if err != nil {
		return err
	}
	beliefs := r.beliefs()
	for _, p := range slices.Sorted(maps.Keys(want)) {
		if got := beliefs[p]; got != want[p] {
			return fmt.Errorf("process %d: expected %d, got %d", p, want[p], got)
		}
	}
	return nil
}

// newLeader is whom a live process has come to name since the start; None: nobody is.
func (r *Result) newLeader() (p algo.ID) {
	beliefs := r.beliefs()
	for _, q := range slices.Sorted(maps.Keys(beliefs)) {
		if beliefs[q] != r.Plan.Leader {
			p = max(p, beliefs[q])
		}
	}
	return p
}

// lastNamed is when a process last named a leader.
func (r *Result) lastNamed() (time.Duration, error) {
	for _, rec := range slices.Backward(r.only().Trace) {
		if rec.Type == trace.Elected && rec.Peer != 0 {
			return rec.At, nil
		}
	}
	return 0, errors.New("nobody names a leader")
}

func informedAt(r *Result) (float64, error) {
	at, err := r.lastNamed()
	return inUnits(at), err
}

// informedWithin bounds the time from the beginning of the window.
func informedWithin(r *Result, want json.RawMessage) error {
	var most float64
	if err := json.Unmarshal(want, &most); err != nil {
		return err
	}
	from := 0.0
	if w := r.Case.Scenario.Window; w != nil {
		from = w[0]
	}
	at, err := informedAt(r)
	if err != nil {
		return fmt.Errorf("expected %s, got none: %w", want, err)
	}
	if took := at - from; took < 0 || took > most {
		return fmt.Errorf("expected %s at most, got %v", want, took)
	}
	return nil
}

func (r *Result) processes(t trace.Type) []int64 {
	out := []int64{}
	for _, rec := range r.only().Trace {
		if rec.Type == t {
			out = append(out, int64(rec.Process))
		}
	}
	return out
}

// operation is the k-th operation, which must have come to its end.
func (r *Result) operation(k int) (check.Operation, error) {
	list := r.only().Operations
	if k < 1 || k > len(list) || list[k-1].Status != "ok" {
		return check.Operation{}, fmt.Errorf("entry %d has not come", k)
	}
	return list[k-1], nil
}

// entryAt is the instant of the k-th operation.
func entryAt(k int) expectation {
	return number(func(r *Result) (float64, error) {
		op, err := r.operation(k)
		return inUnits(op.End.Truncate(moment)), err
	})
}

func (r *Result) perRequest() []int64 {
	each, _ := r.only().perRequest()
	return each
}

// meanPerRequest is the messages of a kind, or of all, per request behind the
// warm-up.
func meanPerRequest(kind string) func(r *Result) (float64, error) {
	return func(r *Result) (float64, error) {
		requests, sent := 0, 0
		for _, rec := range r.only().Trace {
			switch {
			case rec.Type == trace.Request:
				requests++
			case r.sends(&rec, kind) && requests > r.Plan.Scenario.Warmup:
				sent++
			}
		}
		if requests -= r.Plan.Scenario.Warmup; requests < 1 {
			return 0, errors.New("nobody requests")
		}
		return float64(sent) / float64(requests), nil
	}
}

// sends says whether a message of the kind, or any, is sent here.
func (r *Result) sends(rec *trace.Record, kind string) bool {
	return rec.Type == trace.Send && rec.Plane == trace.Data &&
		(kind == "" || r.only().Kinds[rec.Kind].Name == kind)
}

// sentIn counts the messages of a kind, in the case's window if it has one.
func (r *Result) sentIn(kind string, window bool) (sent int) {
	w := r.Case.Scenario.Window
	for _, rec := range r.only().Trace {
		outside := window && w != nil && (rec.At <= units(w[0]) || rec.At > units(w[1]))
		if r.sends(&rec, kind) && !outside {
			sent++
		}
	}
	return sent
}

// perPeriod is the messages of a kind in each period, the parameter ok_period for
// OK, of the case's window.
func (r *Result) perPeriod(kind string) (float64, error) {
	name := strings.ToLower(kind) + "_period"
	period, ok := r.Plan.Params[name].(time.Duration)
	w := r.Case.Scenario.Window
	if !ok || period <= 0 || w == nil {
		return 0, fmt.Errorf("that takes a window and a parameter %s", name)
	}
	return float64(r.sentIn(kind, true)) * float64(period) / float64(units(w[1]-w[0])), nil
}

// sentBetween counts the messages sent from the i-th release, or from the start, to
// the j-th entry.
func (o *Outcome) sentBetween(i, j int) (sent int) {
	releases, entries := 0, 0
	for _, rec := range o.Trace {
		switch {
		case rec.Type == trace.Released:
			releases++
		case rec.Type == trace.Granted:
			entries++
		case rec.Type == trace.Send && rec.Plane == trace.Data && releases >= i && entries < j:
			sent++
		}
	}
	return sent
}

// terminates says whether the messages have come to rest before half of the time.
func (r *Result) terminates() bool {
	o := r.only()
	for _, rec := range slices.Backward(o.Trace) {
		if rec.Type == trace.Send && rec.Plane == trace.Data {
			return rec.At < o.End.At/2 || o.End.Reason != harness.Finished ||
				r.Plan.Scenario.Until == 0
		}
	}
	return true
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

// twoInOneTerm: two processes led the same term.
func twoInOneTerm(o *Outcome) bool {
	leaders := map[uint64]uint32{}
	for _, rec := range o.Trace {
		if rec.Type != trace.Elected || rec.Peer != rec.Process {
			continue
		}
		if other := leaders[rec.Arg]; other != 0 && other != rec.Process {
			return true
		}
		leaders[rec.Arg] = rec.Process
	}
	return false
}
