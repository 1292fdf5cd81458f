package check

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// elections is the judge of elections; expectations of elections have one.
func (o *outcome) elections() *elections { return o.judge.problem.(*elections) }

// leaderOf is whom a process names in the end.
func (o *outcome) leaderOf(_ *harness.Expect, process string) (float64, error) {
	e := o.elections()
	p, err := strconv.Atoi(process)
	switch {
	case err != nil || p < 1 || p > len(e.Belief):
		return 0, errors.New("there is no such process")
	case !o.judge.faults.up[p-1]:
		return 0, errors.New("it is down")
	}
	return float64(e.Belief[p-1]), nil
}

func (o *outcome) newLeader(*harness.Expect, string) (float64, error) {
	e, most := o.elections(), algo.None
	for i, leader := range e.Belief {
		if o.judge.faults.up[i] && leader != o.judge.setup.Leader {
			most = max(most, leader)
		}
	}
	return float64(most), nil
}

func (o *outcome) mostLeaders(*harness.Expect, string) (float64, error) {
	most, declared := 0, map[uint32]bool{}
	if s := o.judge.setup; s.Leader != algo.None && !slices.Contains(s.Crashed, s.Leader) {
		declared[uint32(s.Leader)] = true
	}
	for _, r := range o.trace {
		switch r.Type {
		case trace.Crash:
			delete(declared, r.Process)
		case trace.Elected:
			if delete(declared, r.Process); r.Peer == r.Process {
				declared[r.Process] = true
			}
		}
		most = max(most, len(declared))
	}
	return float64(most), nil
}

func (o *outcome) leadersOfTerm(*harness.Expect, string) (float64, error) {
	most, led := 0, map[uint64]map[uint32]bool{}
	for _, r := range o.trace {
		if r.Type == trace.Elected && r.Peer == r.Process {
			if led[r.Arg] == nil {
				led[r.Arg] = map[uint32]bool{}
			}
			led[r.Arg][r.Process] = true
			most = max(most, len(led[r.Arg]))
		}
	}
	return float64(most), nil
}

// sends says whether a message of the kind, or of any, is sent here.
func (o *outcome) sends(r *trace.Record, kind string) bool {
	return r.Type == trace.Send && (kind == "" || o.judge.kinds[r.Kind].Name == kind)
}

// sent counts the messages of a kind that were sent after one instant, or at the start,
// and until another.
func (o *outcome) sent(kind string, from, to time.Duration) (n int64) {
	for i := range o.trace {
		r := &o.trace[i]
		if o.sends(r, kind) && (r.At > from || from == 0) && r.At <= to {
			n++
		}
	}
	return n
}

func (o *outcome) order() (out []int64) {
	for _, p := range o.judge.granted {
		out = append(out, int64(p))
	}
	return out
}

// operation is the k-th request, in the order in which they were over, which must have
// been granted.
func (o *outcome) operation(k int) (trace.Operation, error) {
	if list := o.judge.entries.done; k > 0 && k <= len(list) && list[k-1].Status == trace.Completed {
		return list[k-1], nil
	}
	return trace.Operation{}, fmt.Errorf("entry %d has not come", k)
}

func (o *outcome) entryAt(k int) (float64, error) {
	op, err := o.operation(k)
	return instant(op.End), err
}

func (o *outcome) responseTime(*harness.Expect, string) (float64, error) {
	e := o.judge.entries
	op, err := o.operation(len(e.done) + e.waiting.n)
	return instant(op.End - op.Cause), err
}

// perRequest is how many messages were sent from each request to the next.
func (o *outcome) perRequest() (each []int64) {
	for i := range o.trace {
		switch r := &o.trace[i]; {
		case r.Type == trace.Request:
			each = append(each, 0)
		case r.Type == trace.Send && len(each) > 0:
			each[len(each)-1]++
		}
	}
	return each
}

func (o *outcome) longestHandover() (longest time.Duration) {
	released, waiting := time.Duration(-1), 0
	for i := range o.trace {
		switch r := &o.trace[i]; {
		case r.Type == trace.Request:
			waiting++
		case r.Type == trace.Released && waiting > 0:
			released = r.At
		case r.Type == trace.Granted:
			waiting--
			if released >= 0 {
				longest = max(longest, r.At-released)
			}
			released = -1
		}
	}
	return longest
}

// meanPerRequest is the messages of a kind, or of all, per request behind the warm-up.
func (o *outcome) meanPerRequest(_ *harness.Expect, kind string) (float64, error) {
	requests, sent, warmup := 0, 0, o.judge.setup.Scenario.Does().Unmeasured()
	for i := range o.trace {
		switch r := &o.trace[i]; {
		case r.Type == trace.Request:
			requests++
		case o.sends(r, kind) && requests > warmup:
			sent++
		}
	}
	if requests -= warmup; requests < 1 {
		return 0, errors.New("nobody requests")
	}
	return float64(sent) / float64(requests), nil
}

// sentBetween counts the messages sent from the i-th release, or from the start, to the
// j-th entry.
func (o *outcome) sentBetween(i, j int) (sent int64) {
	releases, entries := 0, 0
	for k := range o.trace {
		switch r := &o.trace[k]; {
		case r.Type == trace.Released:
			releases++
		case r.Type == trace.Granted:
			entries++
		case r.Type == trace.Send && releases >= i && entries < j:
			sent++
		}
	}
	return sent
}
