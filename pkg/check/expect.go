package check

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Measure is how an expectation is written and reported.
type Measure uint8

// The measures.
const (
	Count     Measure = iota // a whole number, at least 0
	Number                   // any number, at least 0
	Process                  // a process, 0 for none
	Span                     // a duration, or an instant from the trial's start
	Truth                    // true or false
	Processes                // a list of processes
	Counts                   // a list of whole numbers
)

// An Expectation declares one thing that a script can expect: a key of its expect.
type Expectation struct {
	Name, Doc string
	Problem   algo.Problem // "": both
	Measure   Measure
	ByKind    bool // a block: a value for each kind of messages that is named
	ByProcess bool // a block: a value for each process that is named
	Window    bool // the block has the keys from and to as well

	value func(o *outcome, e *harness.Expect, part string) (float64, error)
	list  func(o *outcome) []int64
}

// Example is what a file may say: of each kind of messages, of each process, or of kinds within a window of
// time.
func (x *Expectation) Example() string {
	kind := "ELECTION"
	if x.Problem == algo.MutualExclusion {
		kind = "REQUEST"
	}
	switch {
	case x.Window:
		return "{from: 20ms, to: 120ms, " + kind + ": 2}"
	case x.ByKind:
		return "{" + kind + ": 4}"
	case x.ByProcess:
		return "{1: 5, 2: 5}"
	}
	return [...]string{"{min: 1, max: 10}", "2.5", "5", "20ms", "true", "[1, 2]", "[3, 3]"}[x.Measure]
}

// Expectations is everything that a script can expect, in the order of the
// documentation. Instants and durations are given to the microsecond, and are
// compared in simulation alone: on real nodes they are never exact.
var Expectations = []Expectation{
	{Name: "sent", Doc: "messages sent",
		value: counted(func(o *outcome) int64 { return o.judge.totals.Sent })},
	{Name: "delivered", Doc: "messages delivered",
		value: counted(func(o *outcome) int64 { return o.judge.totals.Delivered })},
	{Name: "sent_by_kind", Doc: "messages sent of each named kind", ByKind: true,
		value: func(o *outcome, _ *harness.Expect, kind string) (float64, error) {
			return float64(o.sent(kind, 0, math.MaxInt64)), nil
		}},
	{Name: "sent_within", Doc: "messages sent of each named kind, after `from` and until `to`",
		ByKind: true, Window: true,
		value: func(o *outcome, e *harness.Expect, kind string) (float64, error) {
			return float64(o.sent(kind, e.From, e.To)), nil
		}},
	{Name: "leader", Doc: "the leader that all live processes name at the end; 0: they do not agree",
		Problem: algo.Election, Measure: Process,
		value: func(o *outcome, _ *harness.Expect, _ string) (float64, error) {
			return float64(o.elections().agreed), nil
		}},
	{Name: "leaders", Doc: "the leader at the end as seen by each listed process; 0: none",
		Problem: algo.Election, Measure: Process, ByProcess: true, value: (*outcome).leaderOf},
	{Name: "new_leader", Doc: "a leader that a live process has come to name since the start; 0: none",
		Problem: algo.Election, Measure: Process, value: (*outcome).newLeader},
	{Name: "most_leaders", Doc: "most live processes that declared themselves leader at once",
		Problem: algo.Election, value: (*outcome).mostLeaders},
	{Name: "leaders_of_term", Doc: "the most processes that led one and the same term",
		Problem: algo.Election, value: (*outcome).leadersOfTerm},
	{Name: "all_informed_at", Doc: "when a process last named a leader",
		Problem: algo.Election, Measure: Span,
		value: func(o *outcome, _ *harness.Expect, _ string) (float64, error) {
			if o.judge.informed < 0 {
				return 0, errors.New("no process names a leader")
			}
			return instant(o.judge.informed), nil
		}},
	{Name: "cs_order", Doc: "the processes that entered the critical section, in order",
		Problem: algo.MutualExclusion, Measure: Processes, list: (*outcome).order},
	{Name: "entries", Doc: "entries into the critical section", Problem: algo.MutualExclusion,
		value: counted(func(o *outcome) int64 { return int64(len(o.judge.granted)) })},
	{Name: "entry_at", Doc: "the instant of the first entry", Problem: algo.MutualExclusion, Measure: Span,
		value: func(o *outcome, _ *harness.Expect, _ string) (float64, error) { return o.entryAt(1) }},
	{Name: "second_entry_at", Doc: "the instant of the second entry",
		Problem: algo.MutualExclusion, Measure: Span,
		value: func(o *outcome, _ *harness.Expect, _ string) (float64, error) { return o.entryAt(2) }},
	{Name: "response_time", Doc: "the time from the last granted request to its entry",
		Problem: algo.MutualExclusion, Measure: Span, value: (*outcome).responseTime},
	{Name: "sync_delay_max", Doc: "the longest from a release to the next entry, while a process waits",
		Problem: algo.MutualExclusion, Measure: Span,
		value: func(o *outcome, _ *harness.Expect, _ string) (float64, error) {
			return instant(o.longestHandover()), nil
		}},
	{Name: "sent_per_request", Doc: "messages sent from each request to the next",
		Problem: algo.MutualExclusion, Measure: Counts, list: (*outcome).perRequest},
	{Name: "last_request_cost", Doc: "messages sent since the last request",
		Problem: algo.MutualExclusion,
		value: func(o *outcome, _ *harness.Expect, _ string) (float64, error) {
			each := o.perRequest()
			if len(each) == 0 {
				return 0, errors.New("nobody requests")
			}
			return float64(each[len(each)-1]), nil
		}},
	{Name: "mean_sent_per_request", Doc: "messages sent per request, without those of the warm-up",
		Problem: algo.MutualExclusion, Measure: Number, value: (*outcome).meanPerRequest},
	{Name: "mean_sent_per_request_by_kind", Doc: "the same for each named kind",
		Problem: algo.MutualExclusion, Measure: Number, ByKind: true, value: (*outcome).meanPerRequest},
	{Name: "sent_until_entry", Doc: "messages sent before the first entry", Problem: algo.MutualExclusion,
		value: counted(func(o *outcome) int64 { return o.sentBetween(0, 1) })},
	{Name: "sent_until_last_entry", Doc: "messages sent before the last entry",
		Problem: algo.MutualExclusion,
		value:   counted(func(o *outcome) int64 { return o.sentBetween(0, len(o.judge.granted)) })},
	{Name: "sent_between_release_and_next_entry",
		Doc: "messages sent from the first release to the second entry", Problem: algo.MutualExclusion,
		value: counted(func(o *outcome) int64 { return o.sentBetween(1, 2) })},
	{Name: "never_granted", Doc: "requests of live processes that still wait in the end",
		Problem: algo.MutualExclusion,
		value:   counted(func(o *outcome) int64 { return int64(o.judge.entries.waiting.n) })},
	{Name: "deadlock", Doc: "whether the system is quiescent at the end while a process waits",
		Problem: algo.MutualExclusion, Measure: Truth,
		value: holds(func(o *outcome) bool {
			return o.judge.entries.waiting.n > 0 && o.judge.still(o.end)
		})},
	{Name: "violations", Doc: "promises broken; those that are expected are no violation",
		value: counted(func(o *outcome) int64 { return int64(len(o.judge.violations)) })},
	{Name: "quiescent", Doc: "whether no message is on its way in the end", Measure: Truth,
		value: holds(func(o *outcome) bool { return o.end.Pending == 0 })},
}

// ExpectationOf is the declaration of a name; nil if there is none.
func ExpectationOf(name string) *Expectation {
	i := slices.IndexFunc(Expectations, func(x Expectation) bool { return x.Name == name })
	if i < 0 {
		return nil
	}
	return &Expectations[i]
}

type valueFunc = func(o *outcome, e *harness.Expect, part string) (float64, error)

func counted(of func(o *outcome) int64) valueFunc {
	return func(o *outcome, _ *harness.Expect, _ string) (float64, error) { return float64(of(o)), nil }
}

func holds(of func(o *outcome) bool) valueFunc {
	return func(o *outcome, _ *harness.Expect, _ string) (float64, error) {
		if of(o) {
			return 1, nil
		}
		return 0, nil
	}
}

// instant is a time as it is compared. A process that has to act behind all else of
// the start sets a timer of a nanosecond: for whoever expects, that is the same instant.
func instant(d time.Duration) float64 { return float64(d.Truncate(time.Microsecond)) }

// An outcome is what a trial came to, as expectations see it.
type outcome struct {
	judge *Judge
	end   harness.End
	trace []trace.Record // what can be expected, if anything is
}

// keep keeps the records that expectations look at.
func (o *outcome) keep(r *trace.Record) {
	switch r.Type {
	case trace.Send:
		if r.Plane == trace.Data {
			o.trace = append(o.trace, *r)
		}
	case trace.Request, trace.Granted, trace.Released, trace.Crash, trace.Elected:
		o.trace = append(o.trace, *r)
	}
}

// expect is everything that did not come as the script expects. Violations that it
// does expect are none.
func (j *Judge) expect(end harness.End) (missed []string) {
	o := j.outcome
	o.judge, o.end = j, end
	excused := false
	for i := range j.setup.Scenario.Expect {
		e := &j.setup.Scenario.Expect[i]
		x := ExpectationOf(e.Name)
		if x == nil || x.Measure == Span && !j.setup.Virtual {
			continue
		}
		before := len(missed)
		missed = append(missed, x.compare(&o, e)...)
		excused = excused || x.Name == "violations" && len(missed) == before
	}
	if excused {
		j.violations = nil
	}
	return missed
}

// compare is what of one expectation did not come.
func (x *Expectation) compare(o *outcome, e *harness.Expect) (missed []string) {
	if x.list != nil {
		if got := x.list(o); !slices.Equal(got, e.List) {
			missed = append(missed, fmt.Sprintf("%s: expected %v, got %v", x.Name, e.List, got))
		}
		return missed
	}
	for i := range e.Want {
		want := &e.Want[i]
		what := x.Name
		switch {
		case x.ByProcess:
			what += ": process " + want.Part
		case x.ByKind:
			what += ": " + want.Part
		}
		got, err := x.value(o, e, want.Part)
		switch {
		case err != nil:
			missed = append(missed, fmt.Sprintf("%s: expected %s, got none: %v", what, x.Words(want), err))
		case !want.Holds(got):
			missed = append(missed, fmt.Sprintf("%s: expected %s, got %s", what, x.Words(want), x.word(got)))
		}
	}
	return missed
}

// Words is a range in words: "6", "3 to 5ms", "at least 400".
func (x *Expectation) Words(r *harness.Range) string {
	switch {
	case r.Min == nil && r.Max == nil:
		return "anything"
	case r.Min == nil:
		return "at most " + x.word(*r.Max)
	case r.Max == nil:
		return "at least " + x.word(*r.Min)
	case *r.Min == *r.Max:
		return x.word(*r.Min)
	}
	return x.word(*r.Min) + " to " + x.word(*r.Max)
}

func (x *Expectation) word(v float64) string {
	switch x.Measure {
	case Span:
		return time.Duration(v).String()
	case Truth:
		return strconv.FormatBool(v == 1)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
