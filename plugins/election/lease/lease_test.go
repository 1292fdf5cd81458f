package lease_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/lease"
)

const id = "election/lease"

type params = map[string]any

const ms = time.Millisecond

func TestConformance(t *testing.T) {
	t.Parallel()
	algotest.Run(t, id)
}

// TestReference is every case of the reference.
func TestReference(t *testing.T) { algotest.Cases(t, id) }

// TestTTL is random schedules of the other rule.
func TestTTL(t *testing.T) {
	t.Parallel()
	algotest.RunSchedules(t, id, func(seed uint64) map[string]any {
		return params{"rule": "ttl", "watch": seed%2 == 0}
	}, nil)
}

// script is a script of n processes, of which the last is the store, with the times of the
// reference.
func script(t *testing.T, n int, given params, until time.Duration, events ...harness.Event) harness.Plan {
	t.Helper()
	all := params{"store": int64(n), "jitter": 0.0}
	maps.Copy(all, given)
	return algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.Script{Until: until, Events: events}}, all)
}

// leads runs p and compares whom each process names in the end; 0: nobody.
func leads(t *testing.T, p harness.Plan, names map[string]int64, more ...harness.Expect) {
	t.Helper()
	p.Scenario.Expect = append(more, harness.Each("leaders", names))
	if o := algotest.MustSimulate(t, p); o.Status == trace.Violated {
		t.Errorf("until %v: %s: %v", p.Scenario.Does().Ends(), o.Status, o.Violations)
	}
}

// TestCut is the worked example: 1 leads and is cut off at 45.5 ms.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		until time.Duration
		sent  int64
		names map[string]int64
	}{
		{163 * ms, 34, map[string]int64{"1": 1, "2": 1, "3": 1, "4": 1}},
		{165 * ms, 34, map[string]int64{"1": 0, "2": 1, "3": 1, "4": 1}},
		{201 * ms, 48, map[string]int64{"1": 0, "2": 2, "3": 1, "4": 2}},
		{223 * ms, 52, map[string]int64{"1": 0, "2": 2, "3": 2, "4": 2}},
	} {
		p := script(t, 4, nil, c.until, harness.Event{
			At: 45*ms + ms/2, Do: "cut", Groups: [][]uint32{{1}, {2, 3, 4}}})
		p.Leader = 1
		leads(t, p, c.names, harness.Exactly("sent", c.sent))
	}
}

// TestJitter: contenders wait for retry_period and up to 1.2 of it; holders do not.
func TestJitter(t *testing.T) {
	first := func(jitter any, seed uint64) (at [2]time.Duration) {
		p := script(t, 3, params{"jitter": jitter}, 100*ms)
		p.Leader, p.Seed = 1, seed
		for _, r := range algotest.MustSimulate(t, p).Trace {
			if r.Type == trace.Send && r.Process < 3 && at[r.Process-1] == 0 {
				at[r.Process-1] = r.At
			}
		}
		return at
	}
	if got := first([]any{1.0, 0.5, 0.0}, 1); got != [2]time.Duration{20 * ms, 32 * ms} {
		t.Errorf("first requests at %v, want a renewal at 20ms, a look at 32ms", got)
	}
	least, most := time.Hour, time.Duration(0)
	for seed := range uint64(100) {
		got := first(-1.0, seed)
		least, most = min(least, got[1]), max(most, got[1])
	}
	if least < 20*ms || least > 22*ms || most < 42*ms || most > 44*ms {
		t.Errorf("looks at %v to %v, want 20ms to 44ms", least, most)
	}
}

// TestMultiples: a holder that fails tries again at multiples of retry_period from the begin.
func TestMultiples(t *testing.T) {
	p := script(t, 3, nil, 165*ms, harness.Event{At: 45*ms + ms/2, Do: "cut", Groups: [][]uint32{{1}, {2, 3}}})
	p.Leader = 1
	var at []time.Duration
	for _, r := range algotest.MustSimulate(t, p).Trace {
		if r.Type == trace.Send && r.Process == 1 {
			at = append(at, r.At)
		}
	}
	if want := []time.Duration{20 * ms, 42 * ms, 64 * ms, 124 * ms}; !slices.Equal(at, want) {
		t.Errorf("asks at %v, want %v", at, want)
	}
}

// TestOverlap: two lead if, and only if, the lease is shorter than retry_period + renew_deadline.
func TestOverlap(t *testing.T) {
	for lasts, most := range map[time.Duration]int64{105 * ms: 2, 120 * ms: 1, 150 * ms: 1} {
		p := script(t, 3, params{"lease_duration": lasts, "renew_deadline": 100 * ms}, 300*ms,
			harness.Event{At: 45*ms + ms/2, Do: "cut", Groups: [][]uint32{{1}, {2, 3}}})
		p.Leader, p.InModel = 1, false
		p.Scenario.Expect = []harness.Expect{harness.Exactly("most_leaders", most)}
		if o := algotest.MustSimulate(t, p); len(o.Missed) > 0 {
			t.Errorf("a lease of %v: %v", lasts, o.Missed)
		}
	}
}

// TestRelease: whoever releases the lease is followed at the next attempt of another, and does
// not compete until it is told to.
func TestRelease(t *testing.T) {
	for rule, until := range map[string]time.Duration{"renew": 250 * ms, "ttl": 900 * ms} {
		p := script(t, 3, params{"rule": rule}, until, harness.Event{At: 150 * ms, Do: "release", Node: 1})
		p.Leader = 1
		one := int64(0) // under renew it does not look any more
		if rule == "ttl" {
			one = 2
		}
		leads(t, p, map[string]int64{"1": one, "2": 2, "3": 2})
		p.Scenario.Add(harness.Event{At: until - 40*ms, Do: "campaign", Node: 1})
		leads(t, p, map[string]int64{"1": 2, "2": 2, "3": 2})
	}
}

// TestClaim is a start of all.
func TestClaim(t *testing.T) {
	claim := algotest.Lookup(t, id).Spec.Claims[0]
	for n := 2; n <= 9; n++ {
		for seed := range uint64(20) {
			p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.ColdStart{}}, nil)
			p.Seed = seed
			lo, hi := claim.Bound(n)
			for _, m := range algotest.MustSimulate(t, p).Metrics {
				if m.Name == metric.MessagesPerElection.Name && (m.Value < lo || m.Value > hi) {
					t.Errorf("n = %d, seed %d: %v messages, want %v to %v", n, seed, m.Value, lo, hi)
				}
			}
		}
	}
}

// TestContender is client-go's rule, seen by process 2 of three, of which 3 is the store.
func TestContender(t *testing.T) {
	given := params{"store": int64(3), "jitter": 0.0}
	r := algotest.NewTranscript(t, id, 3, algo.Config{ID: 2}, given)
	r.Starts("GET{1}>3 request+")
	r.Suspects(3, "")
	r.Restores(3, "")
	r.Elects("")
	r.Now = 2 * ms
	r.Hears(3, lease.GetReply{R: 1, Holder: 1, Version: 7, Duration: 150 * ms}, "request- leader=1/7 retry+")
	r.Hears(3, lease.GetReply{R: 1, Holder: 1, Version: 8, Duration: 150 * ms}, "") // a second copy
	r.Now = 151 * ms
	r.Expires("retry", "GET{2}>3 request+")
	r.Now = 153 * ms // the lease is over by now, and was not when the attempt began
	r.Hears(3, lease.GetReply{R: 2, Holder: 1, Version: 7, Duration: 150 * ms}, "request- retry+")
	r.Now = 152 * ms // it is over now
	r.Expires("retry", "GET{3}>3 request+")
	r.Expires("request", "retry+")
	r.Hears(3, lease.GetReply{R: 3, Holder: 1, Version: 7, Duration: 150 * ms}, "") // too late (P1)
	r.Expires("retry", "GET{4}>3 request+")
	r.Hears(3, lease.GetReply{R: 4, Holder: 1, Version: 7, Duration: 150 * ms},
		"request- PUT{5 7 2 150ms}>3 request+")
	r.Hears(3, lease.PutReply{R: 5, Version: 8}, "request- retry+") // another was first
	r.Now = 200 * ms
	r.Expires("retry", "GET{6}>3 request+")
	r.Hears(3, lease.GetReply{R: 6, Version: 9},
		"request- leader=0/0 PUT{7 9 2 150ms}>3 request+") // given back
	r.Now = 204 * ms
	r.Hears(3, lease.PutReply{R: 7, OK: true, Version: 10},
		"request- leader=2/10 deadline+ PUT{8 10 2 150ms}>3 request+")
	r.Elects("")
	r.Hears(3, lease.PutReply{R: 8, Version: 11}, "request- GET{9}>3 request+") // refused: it looks
	r.Now = 208 * ms
	r.Hears(3, lease.GetReply{R: 9, Holder: 2, Version: 11, Duration: 150 * ms},
		"request- PUT{10 11 2 150ms}>3 request+")
	r.Hears(3, lease.PutReply{R: 10, OK: true, Version: 12}, "request- deadline- retry+")
	r.Now = 228 * ms
	r.Expires("retry", "deadline+ PUT{11 12 2 150ms}>3 request+")
	r.Expires("request", "retry+")
	r.Expires("retry", "PUT{12 12 2 150ms}>3 request+")
	r.Now = 318 * ms
	r.Expires("request", "") // the deadline comes before the next multiple
	r.Expires("deadline", "retry- deadline- leader=0/0 retry+")
	r.Hears(3, lease.PutReply{R: 12, OK: true, Version: 13}, "") // too late
	r.Expires("retry", "GET{13}>3 request+")
	r.Hears(3, lease.GetReply{R: 13, Holder: 2, Version: 13, Duration: 150 * ms},
		"request- PUT{14 13 2 150ms}>3 request+") // its own
}

// TestHolder is what a holder does that finds another's record: it goes on until its deadline,
// and looks first.
func TestHolder(t *testing.T) {
	r := algotest.NewTranscript(t, id, 3, algo.Config{ID: 1, Leader: 1},
		params{"store": int64(3), "jitter": 0.5})
	r.Starts("retry+")
	r.Expires("retry", "deadline+ PUT{1 1 1 150ms}>3 request+")
	r.Hears(3, lease.PutReply{R: 1, Version: 2}, "request- GET{2}>3 request+")
	r.Hears(3, lease.GetReply{R: 2, Holder: 2, Version: 2, Duration: 150 * ms}, "request- retry+")
	r.Expires("retry", "GET{3}>3 request+")
	r.Expires("deadline", "request- retry- deadline- leader=0/0 retry+")
	// Whose lease is over looks as well.
	r = algotest.NewTranscript(t, id, 3, algo.Config{ID: 1, Leader: 1}, params{"store": int64(3)})
	r.Now = 150 * ms
	r.Expires("retry", "deadline+ GET{1}>3 request+")
}

// TestGivesBack is ReleaseOnCancel.
func TestGivesBack(t *testing.T) {
	given := params{"store": int64(3), "jitter": 0.0}
	release, campaign := algotest.Commanded("release"), algotest.Commanded("campaign")
	r := algotest.NewTranscript(t, id, 3, algo.Config{ID: 1, Leader: 1}, given)
	r.Starts("retry+")
	r.Feed(release, "retry- deadline- leader=0/0 GET{1}>3 request+")
	r.Hears(3, lease.GetReply{R: 1, Holder: 1, Version: 4, Duration: 150 * ms},
		"request- PUT{2 4 0 10ms}>3 request+")
	r.Hears(3, lease.PutReply{R: 2, OK: true, Version: 5}, "request-")
	r.Feed(release, "retry- deadline-")
	r.Feed(campaign, "GET{3}>3 request+")
	r.Feed(campaign, "")
	for name, play := range map[string]func(*algotest.Transcript){
		"taken": func(r *algotest.Transcript) {
			r.Hears(3, lease.GetReply{R: 1, Holder: 2, Version: 5},
				"request-")
		},
		"no answer": func(r *algotest.Transcript) { r.Expires("request", "") },
		"refused": func(r *algotest.Transcript) {
			r.Hears(3, lease.GetReply{R: 1, Holder: 1, Version: 1}, "request- PUT{2 1 0 10ms}>3 request+")
			r.Expires("request", "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := algotest.NewTranscript(t, id, 3, algo.Config{ID: 1, Leader: 1}, given)
			r.Starts("retry+")
			r.Feed(release, "retry- deadline- leader=0/0 GET{1}>3 request+")
			play(r)
		})
	}
}

// TestStore is the record.
func TestStore(t *testing.T) {
	r := algotest.NewTranscript(t, id, 3, algo.Config{ID: 3}, params{"store": int64(3)})
	r.Starts("")
	r.Elects("")
	r.Feed(algotest.Commanded("release"), "")
	r.Hears(1, lease.Get{R: 4}, "GET_REPLY{4 0 0 0s}>1")
	r.Hears(1, lease.Put{R: 5, Holder: 1, Duration: 150 * ms},
		"SAVE{1 1 150ms} leader=1/1 PUT_REPLY{5 true 1}>1")
	r.Hears(2, lease.Put{R: 5, Holder: 2, Duration: 150 * ms}, "PUT_REPLY{5 false 1}>2")
	r.Hears(1, lease.Put{R: 6, Version: 1, Holder: 1, Duration: 150 * ms},
		"SAVE{1 2 150ms} PUT_REPLY{6 true 2}>1")
	r.Hears(2, lease.Get{R: 6}, "GET_REPLY{6 1 2 150ms}>2")
	r.Hears(1, lease.Put{R: 7, Version: 2, Duration: 10 * ms},
		"SAVE{0 3 10ms} leader=0/0 PUT_REPLY{7 true 3}>1")
	r = algotest.NewTranscript(t, id, 3, algo.Config{ID: 3, Incarnation: 1,
		Saved: lease.Record{Holder: 2, Version: 9, Duration: 150 * ms}}, params{"store": int64(3)})
	r.Starts("leader=2/9 SAVE{2 9 150ms}")
	r = algotest.NewTranscript(t, id, 3, algo.Config{ID: 3, Leader: 1}, params{"store": int64(3)})
	r.Starts("SAVE{1 1 150ms}")
	// A leader that cannot be.
	r = algotest.NewTranscript(t, id, 3, algo.Config{ID: 3, Leader: 3}, params{"store": int64(3)})
	r.Starts("leader=0/0")
	r = algotest.NewTranscript(t, id, 3, algo.Config{ID: 1, Leader: 3}, params{"store": int64(3)})
	r.Starts("leader=0/0 GET{1}>3 request+")
}

// TestStoreInTime is a store that deletes the record.
func TestStoreInTime(t *testing.T) {
	given := params{"store": int64(3), "rule": "ttl", "watch": true}
	r := algotest.NewTranscript(t, id, 3, algo.Config{ID: 3, Leader: 1}, given)
	r.Starts("SAVE{1 1 300ms} expiry+")
	r.Hears(1, lease.Put{R: 1, Version: 1, Holder: 1, Duration: 300 * ms},
		"SAVE{1 2 300ms} expiry+ PUT_REPLY{1 true 2}>1")
	r.Expires("expiry", "SAVE{0 3 0s} leader=0/0 EXPIRED{}>1 EXPIRED{}>2")
	r.Hears(2, lease.Put{R: 1, Version: 3, Holder: 2, Duration: 300 * ms},
		"SAVE{2 4 300ms} expiry+ leader=2/4 PUT_REPLY{1 true 4}>2")
	r.Hears(1, lease.Delete{Version: 2}, "") // of long ago
	r.Hears(2, lease.Delete{Version: 3}, "") // overtaken
	r.Hears(2, lease.Delete{Version: 4}, "expiry- SAVE{0 5 0s} leader=0/0 EXPIRED{}>1 EXPIRED{}>2")
	r.Hears(2, lease.Delete{Version: 5}, "")
	r = algotest.NewTranscript(t, id, 3, algo.Config{ID: 3, Incarnation: 1,
		Saved: lease.Record{Holder: 2, Version: 9, Duration: 300 * ms}}, given)
	r.Starts("leader=2/9 SAVE{2 9 300ms} expiry+")
}

// TestMember is Patroni's rule, seen by process 2 of three.
func TestMember(t *testing.T) {
	given := params{"store": int64(3), "rule": "ttl"}
	r := algotest.NewTranscript(t, id, 3, algo.Config{ID: 2, Leader: 1}, given)
	r.Starts("cycle+")
	r.Expires("cycle", "cycle+ GET{1}>3 request+")
	r.Elects("")
	r.Hears(3, lease.GetReply{R: 1, Holder: 1, Version: 4, Duration: 300 * ms}, "request-")
	r.Hears(3, lease.Expired{}, "cycle+ GET{2}>3 request+")
	r.Hears(3, lease.Expired{}, "") // one cycle after the other
	r.Hears(3, lease.GetReply{R: 2, Version: 5}, "request- leader=0/0 PUT{3 5 2 300ms}>3 request+")
	r.Hears(3, lease.PutReply{R: 3, Version: 6}, "request- cycle+ GET{4}>3 request+") // the one that was due
	r.Hears(3, lease.GetReply{R: 4, Version: 7}, "request- PUT{5 7 2 300ms}>3 request+")
	r.Hears(3, lease.PutReply{R: 5, OK: true, Version: 8}, "request- leader=2/8")
	r.Expires("cycle", "cycle+ GET{6}>3 request+")
	r.Hears(3, lease.GetReply{R: 6, Holder: 2, Version: 8}, "request- PUT{7 8 2 300ms}>3 request+")
	r.Hears(3, lease.PutReply{R: 7, OK: true, Version: 9}, "request-")
	r.Expires("cycle", "cycle+ GET{8}>3 request+")
	r.Expires("cycle", "")
	r.Expires("request", "leader=0/0 cycle+ GET{9}>3 request+") // the store is not to be had
	r.Hears(3, lease.GetReply{R: 8, Holder: 2, Version: 9}, "")
	r.Hears(3, lease.GetReply{R: 9, Holder: 2, Version: 9}, "request- PUT{10 9 2 300ms}>3 request+")
	r.Hears(3, lease.PutReply{R: 10, OK: true, Version: 10}, "request- leader=2/10")
	r.Expires("cycle", "cycle+ GET{11}>3 request+")
	r.Hears(3, lease.GetReply{R: 11, Version: 11},
		"request- leader=0/0 PUT{12 11 2 300ms}>3 request+") // gone
	r.Hears(3, lease.PutReply{R: 12, OK: true, Version: 12}, "request- leader=2/12")
	r.Expires("cycle", "cycle+ GET{13}>3 request+")
	r.Hears(3, lease.GetReply{R: 13, Holder: 2, Version: 12}, "request- PUT{14 12 2 300ms}>3 request+")
	r.Hears(3, lease.PutReply{R: 14, Version: 13}, "request- leader=0/0") // refused
	r.Expires("cycle", "cycle+ GET{15}>3 request+")
	r.Hears(3, lease.GetReply{R: 15, Holder: 1, Version: 14}, "request- leader=1/14")
}

// TestMemberWaits: for the first cycle, for answers, and for the end of a cycle.
func TestMemberWaits(t *testing.T) {
	given := params{"store": int64(3), "rule": "ttl"}
	r := algotest.NewTranscript(t, id, 3, algo.Config{ID: 2}, given)
	r.Starts("cycle+ GET{1}>3 request+")
	r.Hears(3, lease.GetReply{R: 1, Holder: 1, Version: 4}, "request- leader=1/4")
	r.Expires("cycle", "cycle+ GET{2}>3 request+")
	r.Expires("request", "") // a follower goes on
	r.Expires("cycle", "cycle+ GET{3}>3 request+")
	r.Expires("cycle", "")
	r.Hears(3, lease.GetReply{R: 3, Holder: 1, Version: 4}, "request- cycle+ GET{4}>3 request+")
	r.Hears(3, lease.GetReply{R: 4, Version: 5}, "request- leader=0/0 PUT{5 5 2 300ms}>3 request+")
	r.Hears(3, lease.PutReply{R: 5, OK: true, Version: 6}, "request- leader=2/6")
	r.Feed(algotest.Commanded("release"), "leader=0/0 DELETE{6}>3")
	r.Expires("cycle", "cycle+ GET{6}>3 request+")
	r.Expires("cycle", "")
	r.Hears(3, lease.GetReply{R: 6, Holder: 2, Version: 6}, "request- DELETE{6}>3 cycle+ GET{7}>3 request+")
	r = algotest.NewTranscript(t, id, 3, algo.Config{ID: 1, Leader: 1}, given)
	r.Starts("cycle+")
	r.Expires("cycle", "cycle+ GET{1}>3 request+")
	r.Hears(3, lease.GetReply{R: 1, Holder: 1, Version: 7}, "request- PUT{2 7 1 300ms}>3 request+")
	r.Feed(algotest.Commanded("release"), "leader=0/0 DELETE{7}>3") // what it has seen
}

// TestMemberGivesBack: DELETE, again until it has arrived.
func TestMemberGivesBack(t *testing.T) {
	given := params{"store": int64(3), "rule": "ttl", "phase": 7 * ms}
	r := algotest.NewTranscript(t, id, 3, algo.Config{ID: 1, Leader: 1}, given)
	r.Starts("cycle+")
	r.Expires("cycle", "cycle+ GET{1}>3 request+")
	r.Hears(3, lease.GetReply{R: 1, Holder: 1, Version: 1}, "request- PUT{2 1 1 300ms}>3 request+")
	r.Feed(algotest.Commanded("release"), "leader=0/0 DELETE{1}>3")
	r.Hears(3, lease.PutReply{R: 2, OK: true, Version: 2}, "request- DELETE{2}>3")
	r.Expires("cycle", "cycle+ GET{3}>3 request+")
	r.Hears(3, lease.GetReply{R: 3, Holder: 1, Version: 2}, "request- DELETE{2}>3")
	r.Expires("cycle", "cycle+ GET{4}>3 request+")
	r.Hears(3, lease.GetReply{R: 4, Version: 3}, "request-")
	r.Feed(algotest.Commanded("release"), "")
	r.Feed(algotest.Commanded("campaign"), "cycle+ GET{5}>3 request+")
	r.Feed(algotest.Commanded("campaign"), "")
	r.Hears(3, lease.GetReply{R: 5, Version: 3}, "request- PUT{6 3 1 300ms}>3 request+")
	r = algotest.NewTranscript(t, id, 3, algo.Config{ID: 1, Incarnation: 1}, given)
	r.Starts("cycle+ GET{4294967297}>3 request+") // back from a crash: at once
}

// TestParams: with which parameters two may lead, or nobody may.
func TestParams(t *testing.T) {
	t.Parallel()
	spec := &algotest.Lookup(t, id).Spec
	pair := func(lease, retry time.Duration) params {
		return params{"lease_duration": lease, "renew_deadline": 100 * ms, "retry_period": retry}
	}
	for name, test := range map[string]struct {
		given params
		want  string // "": in the model
	}{
		"defaults":              {nil, ""},
		"of ttl":                {params{"rule": "ttl"}, ""},
		"as client-go accepts":  {pair(105*ms, 20*ms), "two may lead"},
		"a delay too short":     {pair(122*ms-1, 20*ms), "two may lead"},
		"just enough":           {pair(122*ms, 20*ms), ""},
		"no time for an answer": {params{"t_request": 4*ms - 1}, "t_request"},
		"for an attempt":        {params{"renew_deadline": 12*ms - 1, "t_request": 4 * ms}, "renew_deadline"},
		"no pause":              {pair(time.Second, 0), "retry_period"},
		"ttl":                   {params{"rule": "ttl", "ttl": 600*ms - 1}, "ttl 599.999999ms is below"},
		"ttl, no answer":        {params{"rule": "ttl", "retry_timeout": 4*ms - 1}, "retry_timeout"},
		"ttl, no cycle":         {params{"rule": "ttl", "loop_wait": 8*ms - 1, "retry_timeout": 4 * ms}, "loop_wait"},
	} {
		net := algo.Network{Nodes: 3, Latency: 2 * ms, Bounded: true}
		p, errs := spec.Resolve(test.given, net)
		err := spec.Needs.Params(net, p)
		if len(errs) > 0 || (err == nil) != (test.want == "") ||
			err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, %v, want %q", name, errs, err, test.want)
		}
	}
	if spec.Needs.Nodes(1) == nil || spec.Needs.Nodes(2) != nil {
		t.Error("want the store and a member")
	}
	if got := spec.Survives.CrashesOf(5, nil); got != 3 {
		t.Errorf("of five %d may crash, want three members", got)
	}
}

// TestStoreForEver: the store may crash if it comes back; members need not.
func TestStoreForEver(t *testing.T) {
	crash := func(node algo.ID, lasts time.Duration) harness.Event {
		return harness.Event{At: ms, Do: "crash", Node: node, For: lasts}
	}
	for name, test := range map[string]struct {
		events []harness.Event
		change func(*harness.Plan)
		within bool
	}{
		"a member":               {[]harness.Event{crash(2, 0)}, nil, true},
		"the store":              {[]harness.Event{crash(4, 0)}, nil, false},
		"for a while":            {[]harness.Event{crash(4, ms)}, nil, true},
		"it comes back":          {[]harness.Event{crash(4, 0), {At: 2 * ms, Do: "restart", Node: 4}}, nil, true},
		"all come back":          {[]harness.Event{crash(4, 0), {At: 2 * ms, Do: "restart"}}, nil, true},
		"another comes back":     {[]harness.Event{crash(4, 0), {At: 2 * ms, Do: "restart", Node: 3}}, nil, false},
		"it came back before":    {[]harness.Event{crash(4, 0), {Do: "restart", Node: 4}}, nil, false},
		"a process of several":   {[]harness.Event{{Do: "crash", Nodes: []algo.ID{2, 4}}}, nil, false},
		"the leader":             {[]harness.Event{{Do: "crash", Who: "leader"}}, nil, true},
		"anybody":                {[]harness.Event{{Do: "crash", Who: "random"}}, nil, false},
		"down from the start":    {nil, func(p *harness.Plan) { p.Crashed = []algo.ID{4} }, false},
		"a member is":            {nil, func(p *harness.Plan) { p.Crashed = []algo.ID{3} }, true},
		"somebody, now and then": {nil, func(p *harness.Plan) { p.Faults.CrashRate = 1 }, false},
	} {
		p := script(t, 4, nil, 100*ms, test.events...)
		if test.change != nil {
			test.change(&p)
		}
		if why, _ := p.Beyond(); (len(why) == 0) != test.within {
			t.Errorf("%s: %q, within the model: %t", name, why, test.within)
		}
	}
}

// TestOperations: a process knows what it can be told, and says so.
func TestOperations(t *testing.T) {
	for p := range algo.ID(3) {
		rule := map[bool]string{true: "ttl", false: "renew"}[p == 2]
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, "has: campaign") {
					t.Errorf("p%d: %s", p+1, said)
				}
			}()
			r := algotest.NewTranscript(t, id, 3, algo.Config{ID: p + 1}, params{"rule": rule})
			r.Feed(algotest.Commanded("abdicate"), "")
		}()
	}
}
