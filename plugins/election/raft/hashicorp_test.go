package raft_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/raft"
)

// TestConsul: outages after a crash of the leader are as long as those of the library itself.
// Three and five members of github.com/hashicorp/raft v1.8.0, unmodified and in virtual time, with its
// default time-outs and 2 ms each way, were without a leader for these times, in 2000 and 1000
// failovers: 2046 (three) and 1881 ms (five) in the median. The set is five times as slow, but for
// CommitTimeout.
func TestConsul(t *testing.T) {
	t.Parallel()
	spec := &algotest.Lookup(t, id).Spec
	set, err := spec.SetOf("consul")
	if err != nil {
		t.Fatal(err)
	}
	given := params{}
	for name, v := range set.Params {
		if d, ok := v.(time.Duration); ok && name != "commit_timeout" {
			v = d / 5
		}
		given[name] = v
	}
	for n, want := range map[int][3]float64{3: {1308, 2045, 2709}, 5: {1330, 1881, 2402}} {
		p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.LeaderCrash{}}, given)
		p.Network.Latency = link.Constant(2 * ms)
		var outages []float64
		for seed := range uint64(1000) {
			p.Seed = seed
			o := run(t, p)
			if o.Status != trace.OK {
				t.Fatalf("seed %d: %s %s", seed, o.Status, o.Reason)
			}
			i := slices.IndexFunc(o.Metrics, func(m metric.Value) bool { return m.Name == metric.Downtime.Name })
			outages = append(outages, o.Metrics[i].Value)
		}
		slices.Sort(outages)
		for i, share := range []float64{0.05, 0.5, 0.95} {
			got := outages[int(share*float64(len(outages)-1))]
			if math.Abs(got/want[i]-1) > 0.05 {
				t.Errorf("%d members: quantile %v is %.0f ms, the library's %.0f", n, share, got, want[i])
			}
		}
	}
}

// newContact is process 1 of three, which 3 leads in term 1, by rule 14 and with more.
func newContact(t *testing.T, more params) *algotest.Transcript {
	t.Helper()
	given := params{"last_contact": true, "sticky": "known", "t_election": 100 * ms,
		"t_election_spread": 100 * ms, "pre_vote": true, "pre_vote_lease": false}
	maps.Copy(given, more)
	return newFollower(t, given)
}

// TestLastContact: a heartbeat leaves the timer alone. When it expires it is set anew if the last
// contact is younger than τ. A leader is known until then, and votes are refused. Granting one is
// a contact.
func TestLastContact(t *testing.T) {
	t.Parallel()
	const asks = "election+ leader=0/0 PRE_VOTE{2 {0 0} 1}>2 PRE_VOTE{2 {0 0} 1}>3"
	f := newContact(t, nil)
	f.Now = 50 * ms
	f.Hears(3, raft.AppendEntries{Term: 1}, "APPEND_REPLY{1}>3")
	f.Now = 60 * ms
	f.Hears(3, raft.AppendEntries{Term: 1}, "APPEND_REPLY{1}>3")
	f.Now = 160*ms - 1
	f.Expires("election", "election+")
	f.Now = 260*ms - 1 // τ is over, and the timer is not
	f.Hears(2, raft.PreVote{Term: 2, Attempt: 8}, "PRE_VOTE_REPLY{1 8 false}>2")
	f.Hears(2, raft.RequestVote{Term: 2}, "VOTE_REPLY{1 false}>2")
	f.Hears(2, raft.RequestVote{Term: 2 | forcing},
		"SAVE{2 2} leader=0/0 VOTE_REPLY{2 true}>2")
	f.Hears(2, raft.PreVote{Term: 3, Attempt: 9}, "PRE_VOTE_REPLY{2 9 true}>2") // it knows nobody now
	f.Now = 360*ms - 2
	f.Expires("election", "election+")
	f.Now++
	f.Expires("election", strings.ReplaceAll(asks, "{2 {", "{3 {"))

	// Whoever stands knows nobody. Becoming a follower again sets the timer, once.
	g := newContact(t, nil)
	g.Now = 160 * ms
	g.Expires("election", asks)
	g.Hears(2, raft.PreVote{Term: 2, Attempt: 8}, "PRE_VOTE_REPLY{1 8 true}>2")
	g.Hears(3, raft.AppendEntries{Term: 1}, "APPEND_REPLY{1}>3 election+ leader=3/1")
	g.Elects(strings.ReplaceAll(asks, "} 1}", "} 2}")) // whatever it has heard
	// A candidate's timer looks at no contact.
	g.Expires("election", strings.ReplaceAll(asks, "} 1}", "} 3}"))
	g.Hears(2, raft.RequestVote{Term: 2}, "SAVE{2 2} election+ VOTE_REPLY{2 true}>2")
	g.Hears(2, raft.AppendEntries{Term: 2}, "APPEND_REPLY{2}>2 leader=2/2")
	g.Feed(algo.Event{Type: algo.Do, Op: "election_timeout"},
		strings.NewReplacer("{2 {", "{3 {", "} 1}", "} 4}").Replace(asks))
	g.Hears(2, raft.PreVoteReply{Term: 2, Attempt: 4, OK: true},
		"SAVE{3 1} election+ leader=0/3 REQUEST_VOTE{3 {0 0}}>2 REQUEST_VOTE{3 {0 0}}>3")
	g.Hears(2, raft.AppendEntries{Term: 4}, "SAVE{4 0} election+ APPEND_REPLY{4}>2 leader=2/4")

	// With the paper's timer a leader is known until that expires, too.
	p := newContact(t, params{"last_contact": false})
	p.Now = 190 * ms
	p.Hears(2, raft.RequestVote{Term: 2}, "VOTE_REPLY{1 false}>2")
	p.Hears(3, raft.AppendEntries{Term: 1}, "APPEND_REPLY{1}>3 election+")
	p.Expires("election", asks)
}

// TestCommitTimeout: a leader repeats its commit index until it is deposed or falls silent, and draws
// the times between what it sends.
func TestCommitTimeout(t *testing.T) {
	t.Parallel()
	const sends = "APPEND_ENTRIES{1}>1 APPEND_ENTRIES{1}>2 "
	given := params{"last_contact": true, "heartbeat": 100 * ms, "heartbeat_spread": 50 * ms,
		"commit_timeout": 20 * ms}
	lead := func() *algotest.Transcript {
		l := algotest.NewTranscript(t, id, 3, algo.Config{ID: 3, Leader: 3}, given)
		l.Starts("SAVE{1 3} " + sends + "heartbeat+ commit+")
		return l
	}
	l := lead()
	l.Expires("commit", sends+"commit+")
	l.Expires("heartbeat", sends+"heartbeat+")
	l.Hears(1, raft.VoteReply{Term: 2}, "SAVE{2 0} heartbeat- commit- election+ leader=0/0")

	longest := map[algo.Timer]time.Duration{}
	least := map[algo.Timer]time.Duration{"heartbeat": time.Hour, "commit": time.Hour}
	s := newStepper(t, given)
	s.Step(0, algo.Event{Type: algo.Start})
	s.Step(0, algotest.Expire("election"))
	elected := s.Step(0, algotest.Hear(2, raft.VoteReply{Term: 1, OK: true}))
	if !slices.ContainsFunc(elected, func(e algo.Effect) bool { return e.Timer == "commit" && e.After >= 20*ms }) {
		t.Errorf("who is elected sets no timer: %+v", elected)
	}
	for range 200 {
		for timer := range least {
			for _, e := range s.Step(0, algotest.Expire(timer)) {
				if e.Op == algo.OpSetTimer {
					least[timer], longest[timer] = min(least[timer], e.After), max(longest[timer], e.After)
				}
			}
		}
	}
	for timer, want := range map[algo.Timer][2]time.Duration{"heartbeat": {100 * ms, 150 * ms}, "commit": {20 * ms, 40 * ms}} {
		tenth := (want[1] - want[0]) / 10
		if l, m := least[timer], longest[timer]; l < want[0] || l > want[0]+tenth || m > want[1] || m < want[1]-tenth {
			t.Errorf("%s: from %v to %v, want all of %v", timer, l, m, want)
		}
	}

	given["heartbeat_rounds"] = int64(2)
	q := lead()
	q.Expires("commit", sends+"commit+")
	q.Expires("heartbeat", strings.TrimSpace(sends)) // the last one
	q.Expires("commit", "")
}

// TestDrawn: heartbeats that are not drawn leave the sequence alone from which time-outs are drawn, so that
// equal seeds give what they gave before there were others.
func TestDrawn(t *testing.T) {
	t.Parallel()
	timeouts := func(spread time.Duration, beats int) (out []time.Duration) {
		s := newStepper(t, params{"heartbeat_spread": spread})
		s.Step(0, algo.Event{Type: algo.Start})
		s.Step(0, algotest.Expire("election"))
		s.Step(0, algotest.Hear(2, raft.VoteReply{Term: 1, OK: true}))
		for range beats {
			s.Step(0, algotest.Expire("heartbeat"))
		}
		for term := range uint64(9) {
			for _, e := range s.Step(0, algotest.Hear(3, raft.AppendEntries{Term: term + 2})) {
				if e.Op == algo.OpSetTimer && e.Timer == "election" {
					out = append(out, e.After)
				}
			}
		}
		return out
	}
	few, many := timeouts(0, 0), timeouts(0, 5)
	if !slices.Equal(few, many) || len(few) < 9 {
		t.Errorf("after no heartbeat %v, after five %v", few, many)
	}
	if slices.Equal(timeouts(time.Microsecond, 0), timeouts(time.Microsecond, 5)) {
		t.Error("heartbeats that are drawn take nothing from the sequence")
	}
	// The shortest spread of a time-out is drawn as well.
	s := newStepper(t, params{"t_election": ms, "t_election_spread": time.Microsecond})
	seen := map[time.Duration]bool{}
	for range 50 {
		for _, e := range s.Step(0, algotest.Expire("election")) {
			seen[e.After] = seen[e.After] || e.Op == algo.OpSetTimer
		}
	}
	if len(seen) < 10 {
		t.Errorf("time-outs %v", seen)
	}
}

// TestSettles: a leader leads for twice the longest time-out of its followers before it crashes, and is
// forgotten two time-outs later. What is drawn has no phase.
func TestSettles(t *testing.T) {
	t.Parallel()
	given := params{"last_contact": true, "heartbeat": 10 * ms, "heartbeat_spread": 5 * ms,
		"t_election": 100 * ms, "t_election_spread": 50 * ms}
	p := algotest.MustPlan(t, id, 3, harness.Scenario{Plot: &harness.LeaderCrash{}}, given)
	if got := p.LeastSettle(); got != 300*ms {
		t.Errorf("settles for %v", got)
	}
	if got := p.Period(); got.Length != 15*ms || !got.Drawn {
		t.Errorf("period %+v", got)
	}
	o := run(t, p)
	if op := o.Operations[0]; op.Cause < 300*ms || op.Phase != 0 {
		t.Errorf("crash at %v, phase %v", op.Cause, op.Phase)
	}
	given["t_election_fixed"] = 200 * ms
	if p = algotest.MustPlan(t, id, 3, harness.Scenario{Plot: &harness.LeaderCrash{}}, given); p.LeastSettle() != 400*ms {
		t.Errorf("settles for %v with fixed timers", p.LeastSettle())
	}
	spec := &algotest.Lookup(t, id).Spec
	for name, want := range map[string]int{"off": 100, "last_contact": 102} {
		given = params{"check_quorum": true, "pre_vote": true, "last_contact": name != "off"}
		r, _ := spec.Resolve(given, algo.Network{Nodes: 3, Latency: ms, Bounded: true})
		if l := spec.LiveOf(3, r); l.Timeouts != want {
			t.Errorf("%s: within %d time-outs", name, l.Timeouts)
		}
	}
}
