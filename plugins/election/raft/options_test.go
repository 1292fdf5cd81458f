package raft_test

import (
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/plugins/election/raft"
)

// forcing is the bit by which a request says that leases do not count.
const forcing = uint64(1) << 63

// newFollower is process 1 of three, which 3 leads in term 1.
func newFollower(t *testing.T, given params) *algotest.Transcript {
	t.Helper()
	f := algotest.NewTranscript(t, id, 3, algo.Config{ID: 1, Leader: 3}, given)
	f.Starts("SAVE{1 3} election+")
	return f
}

// TestSticky_Refuse: HashiCorp's tells that it has a leader, and its term; a request that the
// leader asked for passes either way. So does one to a process that follows nobody.
func TestSticky_Refuse(t *testing.T) {
	t.Parallel()
	const voted = "SAVE{2 2} leader=0/0 election+ VOTE_REPLY{2 true}>2"
	for sticky, refusals := range map[string][2]string{
		"drop": {}, "refuse": {"VOTE_REPLY{1 false}>2", "PRE_VOTE_REPLY{1 8 false}>2"},
	} {
		given := params{"sticky": sticky, "pre_vote_lease": false}
		f := newFollower(t, given)
		f.Hears(2, raft.RequestVote{Term: 2}, refusals[0])
		for term := range uint64(2) { // which is no higher one, and answered as everywhere
			f.Hears(2, raft.RequestVote{Term: term}, "VOTE_REPLY{1 false}>2")
			f.Hears(2, raft.PreVote{Term: term, Attempt: 7}, "PRE_VOTE_REPLY{1 7 false}>2")
		}
		f.Hears(2, raft.PreVote{Term: 2, Attempt: 8}, refusals[1])
		f.Hears(2, raft.PreVote{Term: 2 | forcing, Attempt: 8}, "PRE_VOTE_REPLY{1 8 true}>2")
		f.Hears(2, raft.PreVote{Term: forcing, Attempt: 9}, "PRE_VOTE_REPLY{1 9 false}>2") // of an old term
		f.Hears(2, raft.RequestVote{Term: 2 | forcing}, voted)

		back := algotest.NewTranscript(t, id, 3,
			algo.Config{ID: 1, Incarnation: 1, Saved: raft.Stable{Term: 1}}, given)
		back.Starts("election+")
		back.Hears(2, raft.PreVote{Term: 2, Attempt: 8}, "PRE_VOTE_REPLY{1 8 true}>2")
		back.Hears(2, raft.RequestVote{Term: 2}, "SAVE{2 2} election+ VOTE_REPLY{2 true}>2")
	}
	f := newFollower(t, params{"check_quorum": true})
	f.Hears(2, raft.RequestVote{Term: 2}, "") // etcd's, if nothing is said
	f = newFollower(t, params{"check_quorum": true, "sticky": "off"})
	f.Hears(2, raft.RequestVote{Term: 2}, voted)
	f = newFollower(t, params{"pre_vote": true})
	f.Hears(2, raft.PreVote{Term: 2 | forcing, Attempt: 8}, "PRE_VOTE_REPLY{1 8 true}>2") // the lease does not count
}

// TestTransfer is rule 12: a leader hands over to a follower, which stands at once and by force.
func TestTransfer(t *testing.T) {
	t.Parallel()
	do := func(target algo.ID) algo.Event { return algo.Event{Type: algo.Do, Op: "transfer", Peer: target} }
	l := algotest.NewTranscript(t, id, 3, algo.Config{ID: 3, Leader: 3}, nil)
	l.Starts("SAVE{1 3} APPEND_ENTRIES{1}>1 APPEND_ENTRIES{1}>2 heartbeat+")
	l.Feed(do(1), "TIMEOUT_NOW{1}>1")
	l.Feed(do(3), "")
	l.Feed(do(algo.None), "")
	f := newFollower(t, params{"pre_vote": true, "check_quorum": true})
	f.Feed(do(2), "") // does not lead
	f.Hears(3, raft.TimeoutNow{Term: 0}, "")
	const stands = "SAVE{2 1} election+ leader=0/2 REQUEST_VOTE{9223372036854775810 {0 0}}>2 " +
		"REQUEST_VOTE{9223372036854775810 {0 0}}>3"
	f.Hears(3, raft.TimeoutNow{Term: 1}, stands)
	f.Hears(3, raft.TimeoutNow{Term: 2}, "") // it is a candidate already
	// The next time-out is one like others.
	f.Expires("election", "election+ leader=0/0 PRE_VOTE{3 {0 0} 1}>2 PRE_VOTE{3 {0 0} 1}>3")
	g := newFollower(t, nil)
	g.Hears(2, raft.TimeoutNow{Term: 4}, strings.ReplaceAll(
		strings.ReplaceAll(stands, "810", "813"), "2 1} election+ leader=0/2",
		"5 1} leader=0/0 election+ leader=0/5"))
}

// ranks is priorities by ID.
func ranks(mode string, values ...int64) params {
	return params{"priority": list(values...), "priority_mode": mode}
}

// TestTarget is rule 10, for process 1 of three: from 100 the target falls to 80, 64 and 51.
func TestTarget(t *testing.T) {
	t.Parallel()
	const skips, stands = "election+", "SAVE{1 1} election+ leader=0/1 REQUEST_VOTE{1 {0 0}}>2 REQUEST_VOTE{1 {0 0}}>3"
	for own, skipped := range map[int64]int{100: 0, 99: 1, 80: 1, 79: 3, 52: 5, 51: 7, -1: 0, 0: 40} {
		r := algotest.NewTranscript(t, id, 3, algo.Config{ID: 1}, ranks("target", own, 100, 7))
		r.Starts("election+")
		for range skipped {
			r.Expires("election", skips)
		}
		if own != 0 {
			r.Expires("election", stands)
		}
	}

	// Priority 0 never stands, not even where nobody has another.
	z := algotest.NewTranscript(t, id, 3, algo.Config{ID: 1}, ranks("target", 0, 0, 0))
	z.Expires("election", skips)
	z.Expires("election", skips)

	// Below 50 it falls by decay_gap, and never below 1.
	given := ranks("target", 1, 30, 7)
	r := algotest.NewTranscript(t, id, 3, algo.Config{ID: 1}, given)
	for range 5 { // 20, 10
		r.Expires("election", skips)
	}
	r.Expires("election", stands) // 1
	r.Hears(2, raft.AppendEntries{Term: 1}, "APPEND_REPLY{1}>2 election+ leader=2/1")
	r.Expires("election", "leader=0/0 election+") // 30 again
	r.Expires("election", skips)                  // it followed nobody any more
	r.Hears(2, raft.AppendEntries{Term: 1}, "APPEND_REPLY{1}>2 election+ leader=2/1")
	given["decay_gap"] = int64(29)
	r = algotest.NewTranscript(t, id, 3, algo.Config{ID: 1}, given)
	r.Expires("election", skips)
	// A new leader: everything begins anew, and who skips a time-out follows nobody.
	r.Hears(2, raft.AppendEntries{Term: 1}, "SAVE{1 0} APPEND_REPLY{1}>2 election+ leader=2/1")
	r.Hears(2, raft.AppendEntries{Term: 1}, "APPEND_REPLY{1}>2 election+")
	r.Expires("election", "leader=0/0 election+")
	r.Expires("election", strings.ReplaceAll(strings.ReplaceAll(stands, "{1 ", "{2 "), "/1 ", "/2 "))
}

// TestTakeover is rule 11, for process 1 of three.
func TestTakeover(t *testing.T) {
	t.Parallel()
	const tau = 5 * 23 * time.Millisecond
	for _, c := range []struct {
		priorities []int64 // 3 leads
		after      time.Duration
	}{
		{[]int64{3, 2, 1}, tau}, {[]int64{2, 3, 1}, 2 * tau}, {[]int64{2, 2, 1}, tau}, {[]int64{2, 1, 2}, 0},
		{[]int64{1, 2, 3}, 0}, {[]int64{-1, 2, 0}, 0}, {[]int64{2, 1, -1}, 0}, {[]int64{1, 0, 0}, tau},
	} {
		alg := algotest.Lookup(t, id)
		p, errs := alg.Spec.Resolve(ranks("takeover", c.priorities...), algo.Network{Nodes: 3, Latency: ms})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		s := algo.NewStepper(alg, algo.Config{ID: 1, Leader: 3, Peers: algotest.Everybody(3),
			Neighbors: algotest.Everybody(3), Params: p.Of(1)}, 1, &algo.Buffer{})
		var got time.Duration
		for _, e := range s.Step(0, algo.Event{Type: algo.Start}) {
			if e.Op == algo.OpSetTimer && e.Timer == "takeover" {
				got = e.After
			}
		}
		if got != c.after {
			t.Errorf("priorities %v: takes over after %v, want %v", c.priorities, got, c.after)
		}
	}

	given := ranks("takeover", 2, 3, 1)
	f := algotest.NewTranscript(t, id, 3, algo.Config{ID: 1, Leader: 3}, given)
	f.Starts("SAVE{1 3} election+ takeover+")
	f.Hears(3, raft.AppendEntries{Term: 1}, "APPEND_REPLY{1}>3 election+") // it waits on
	f.Expires("takeover", "SAVE{2 1} election+ leader=0/2 REQUEST_VOTE{9223372036854775810 {0 0}}>2 "+
		"REQUEST_VOTE{9223372036854775810 {0 0}}>3")
	f.Hears(3, raft.AppendEntries{Term: 3}, "SAVE{3 0} APPEND_REPLY{3}>3 election+ leader=3/3 takeover+")
	f.Hears(2, raft.AppendEntries{Term: 4}, "SAVE{4 0} leader=0/0 APPEND_REPLY{4}>2 election+ leader=2/4 takeover-")
	f.Expires("takeover", "") // a leader that is not below
	f.Expires("election", "SAVE{5 1} election+ leader=0/5 REQUEST_VOTE{5 {0 0}}>2 REQUEST_VOTE{5 {0 0}}>3")
	f.Expires("takeover", "") // a candidate

	// A dry run first, as MongoDB does, which passes the lease.
	given["pre_vote"] = true
	d := algotest.NewTranscript(t, id, 3, algo.Config{ID: 1, Leader: 3}, given)
	d.Starts("SAVE{1 3} election+ takeover+")
	d.Expires("takeover", "election+ leader=0/0 PRE_VOTE{9223372036854775810 {0 0} 1}>2 "+
		"PRE_VOTE{9223372036854775810 {0 0} 1}>3")
	d.Hears(2, raft.PreVoteReply{Term: 1, Attempt: 1, OK: true}, "SAVE{2 1} election+ leader=0/2 "+
		"REQUEST_VOTE{9223372036854775810 {0 0}}>2 REQUEST_VOTE{9223372036854775810 {0 0}}>3")
}

// TestTicks is the clock of rule 13: timers expire at ticks, and what is drawn is kept while the
// role stays.
func TestTicks(t *testing.T) {
	t.Parallel()
	const tick = 10 * ms
	given := params{"tick": tick, "heartbeat": 15 * ms, "t_election": 35 * ms, "t_election_spread": 40 * ms,
		"t_quorum": 30 * ms, "check_quorum": true}
	set := func(s *algo.Stepper, now time.Duration, ev algo.Event) map[algo.Timer]time.Duration {
		out := map[algo.Timer]time.Duration{}
		for _, e := range s.Step(now, ev) {
			if e.Op == algo.OpSetTimer {
				out[e.Timer] = now + e.After
			}
		}
		return out
	}
	seen := map[time.Duration]bool{}
	s := newStepper(t, given)
	const start = 3 * ms
	set(s, start, algo.Event{Type: algo.Start})
	for range 200 { // each a campaign: E is 4
		seen[set(s, start, algotest.Expire("election"))["election"]-start] = true
	}
	if len(seen) != 4 || !seen[40*ms] || !seen[70*ms] {
		t.Errorf("time-outs %v, want 4 to 7 ticks", seen)
	}
	for name, at := range map[string]time.Duration{"at a tick": start + tick, "behind it": start + tick + 1,
		"before the next": start + 2*tick - 1} {
		f := newStepper(t, params{"tick": tick, "t_election_fixed": 35 * ms})
		set(f, start, algo.Event{Type: algo.Start})
		due := set(f, at, algotest.Hear(2, raft.AppendEntries{Term: 1}))["election"]
		if due != start+5*tick {
			t.Errorf("heard %s: the timer expires at %v, want the fourth tick, %v", name, due, start+5*tick)
		}
	}
	// What is drawn stays, however often the leader is heard.
	f := newStepper(t, given)
	set(f, 0, algo.Event{Type: algo.Start})
	set(f, 0, algotest.Hear(2, raft.AppendEntries{Term: 1}))
	first := set(f, 0, algotest.Hear(2, raft.AppendEntries{Term: 1}))["election"]
	for range 30 {
		if again := set(f, 0, algotest.Hear(2, raft.AppendEntries{Term: 1}))["election"]; again != first {
			t.Errorf("drawn anew: %v, then %v", first, again)
		}
	}
	// Without a spread all time-outs are alike.
	f = newStepper(t, params{"tick": tick, "t_election": 35 * ms, "t_election_spread": time.Duration(0)})
	set(f, 0, algo.Event{Type: algo.Start})
	if due := set(f, 0, algotest.Expire("election"))["election"]; due != 40*ms {
		t.Errorf("without a spread: %v", due)
	}
	// A leader's timers count ticks, too.
	l := newStepper(t, given)
	set(l, 0, algo.Event{Type: algo.Start})
	set(l, 4*ms, algotest.Expire("election"))
	got := set(l, 5*ms, algotest.Hear(2, raft.VoteReply{Term: 1, OK: true}))
	if got["heartbeat"] != 20*ms || got["quorum"] != 30*ms {
		t.Errorf("a leader's timers expire at %v", got)
	}
}

// TestTicks_Lease: a lease lasts for as many ticks of its holder as a time-out has: up to a tick less than
// that. A request at the instant of the last is still within it. A process that has heard nobody has none.
func TestTicks_Lease(t *testing.T) {
	t.Parallel()
	const tick, start, expires = 10 * ms, 3 * ms, 43 * ms
	given := params{"tick": tick, "t_election": 4 * tick, "check_quorum": true, "pre_vote": true}
	for heard, asked := range map[time.Duration]time.Duration{start: expires, start + tick - 1: expires,
		start + tick: expires + tick} {
		for after, answers := range map[time.Duration]int{0: 0, 1: 1} {
			s := newStepper(t, given)
			s.Step(start, algo.Event{Type: algo.Start})
			s.Step(heard, algotest.Hear(2, raft.AppendEntries{Term: 1}))
			if got := s.Step(asked+after, algotest.Hear(3, raft.PreVote{Term: 2})); len(got) != answers {
				t.Errorf("heard at %v, asked at %v: %v, want %d answers", heard, asked+after, got, answers)
			}
		}
	}
	s := newStepper(t, given)
	s.Step(0, algo.Event{Type: algo.Start})
	got := s.Step(0, algotest.Hear(3, raft.PreVote{Term: 1}))
	if len(got) != 1 || got[0].Msg != (raft.PreVoteReply{OK: true}) {
		t.Errorf("asked at the start: %v, want a pre-vote", got)
	}
}

// TestTicks_Drawn: who becomes a follower draws a time-out of its own, whatever it was before.
func TestTicks_Drawn(t *testing.T) {
	t.Parallel()
	given := params{"tick": 10 * ms, "t_election": 35 * ms, "t_election_spread": 400 * ms, "check_quorum": true,
		"t_quorum": 30 * ms}
	for name, falls := range map[string]func(*algo.Stepper, uint64) []algo.Effect{
		"hears a leader of its term": func(s *algo.Stepper, term uint64) []algo.Effect {
			return s.Step(0, algotest.Hear(2, raft.AppendEntries{Term: term}))
		},
		"leads, and hears of a higher term": func(s *algo.Stepper, term uint64) []algo.Effect {
			s.Step(0, algotest.Hear(2, raft.VoteReply{Term: term, OK: true}))
			return s.Step(0, algotest.Hear(3, raft.AppendReply{Term: term + 1}))
		},
		"leads, and has no quorum": func(s *algo.Stepper, term uint64) []algo.Effect {
			s.Step(0, algotest.Hear(2, raft.VoteReply{Term: term, OK: true}))
			return s.Step(0, algotest.Expire("quorum"))
		},
	} {
		drawn := func(effects []algo.Effect) (out time.Duration) {
			for _, e := range effects {
				if e.Op == algo.OpSetTimer && e.Timer == "election" {
					out = e.After
				}
			}
			return out
		}
		s := newStepper(t, given)
		s.Step(0, algo.Event{Type: algo.Start})
		anew := false
		for term := uint64(1); term < 40; term += 2 {
			s.Step(0, algotest.Hear(3, raft.AppendReply{Term: term - 1}))
			stands := drawn(s.Step(0, algotest.Expire("election")))
			follows := drawn(falls(s, term))
			if stands == 0 || follows == 0 {
				t.Fatalf("%s: set no timer in term %d: %v, %v", name, term, stands, follows)
			}
			anew = anew || stands != follows
		}
		if !anew {
			t.Errorf("%s: keeps the time-out of the candidate", name)
		}
	}
}

// TestFixed: the election timer is set to exactly that, at each process to its own.
func TestFixed(t *testing.T) {
	t.Parallel()
	p := script(t, 3, params{"t_election_fixed": []any{300 * ms, 200 * ms, 400 * ms}}, 206*ms)
	p.InModel = false
	if got := terms(run(t, p)); len(got) != 1 || len(got[2]) != 1 {
		t.Errorf("leaderships %v, want one of 2", got)
	}
}

// TestPriorities: in the end the highest that is live leads; by takeover also if another was first.
func TestPriorities(t *testing.T) {
	t.Parallel()
	for _, preVote := range []bool{false, true} {
		given := ranks("takeover", 1, 5, 3)
		given["pre_vote"], given["check_quorum"] = preVote, true
		p := script(t, 3, given, 4*time.Second, harness.Event{At: 0, Do: "election_timeout", Node: 1},
			algotest.Crash(2*time.Second, 2))
		o := run(t, p)
		who := lengths(terms(o))
		if who[2] == 0 || who[3] == 0 || o.Last() != 3 || o.Status != "ok" {
			t.Errorf("pre-vote %t: leaderships %v, %s %s", preVote, who, o.Status, o.Reason)
		}
	}
}
