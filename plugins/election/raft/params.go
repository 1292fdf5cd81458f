package raft

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// leastSpread is N·d, the least that t_election_spread is unless it is given. A vote cannot be split if
// nobody else times out within d of the first: with that spread, of a bare majority that all must vote for
// one, this is so in half of the terms or more, since (1 - 1/N)^(N/2) >= 1/2.
func leastSpread(net algo.Network) time.Duration { return time.Duration(net.Nodes) * net.Latency }

// meanLatency is m, the largest mean latency of a link. A delay of which m is the mean splits votes less
// often than one that is m always. Of n processes whose times are uniform over a spread S one is the first,
// at t, and is elected if no other's time comes before its request does: this is so with a probability of
//
//	n ∫ Π E[(1 - (t+D)/S)+] dt/S >= n ∫ (1 - (t+m)/S)+^(n-1) dt/S = (1 - m/S)^n,
//
// by Jensen's inequality, the delays D being independent. With S >= Nm and the N-1 processes that a crash
// of the leader leaves it is (1 - 1/N)^(N-1) > 0.36 or more, whatever a few delays come to.
func meanLatency(net algo.Network) time.Duration { return cmp.Or(net.Mean, net.Latency) }

// live says what keeps a leader from being elected in the end, or from being kept.
func live(net algo.Network, p algo.Params) error {
	tau, beat := p.Duration("t_election"), p.Duration("heartbeat")
	spread, rounds := p.Duration("t_election_spread"), p.Int("heartbeat_rounds")
	least := time.Duration(net.Nodes) * meanLatency(net)
	switch bound := beat + 2*net.Latency; {
	case tau < bound:
		return fmt.Errorf("t_election %v is below heartbeat + 2d = %v", tau, bound)
	case spread == 0:
		return errors.New("t_election_spread 0: all stand at once, and votes are split unless delays vary")
	case spread < least:
		return fmt.Errorf("t_election_spread %v is below N·m = %v, m the mean latency: only from that "+
			"value on is it proven that a third of the terms elect a leader", spread, least)
	case p.Duration("t_election_fixed") > 0:
		return errors.New("t_election_fixed: processes that stand together do so again and again")
	case p.Int("priority") == 0 && p.Enum("priority_mode") == byTarget:
		return errors.New("priority 0: if the others are down no process stands")
	case p.Enum("priority_mode") == byTakeover && p.Int("priority") != unranked && !alike(net.Nodes, p):
		return errors.New("priority_mode takeover: a process whose log is behind unseats leaders and is " +
			"never elected")
	case rounds > 0:
		return fmt.Errorf("heartbeat_rounds %d: the leader falls silent, and is deposed", rounds)
	}
	return nil
}

// settles is how long it takes by rule 14 until the timers of followers, which all began with
// the leader, are at random phases: twice the longest.
func settles(p algo.Params) time.Duration {
	if !p.Bool("last_contact") {
		return 0
	}
	return 2 * max(p.Duration("t_election")+p.Duration("t_election_spread"), p.Duration("t_election_fixed"))
}

// connected is while which links a leader is promised. The paper (section 2) wants a majority
// that can communicate. That is enough where nobody else reaches them. A leader that they
// hear, and that does not hear them, keeps them from electing another, unless it gives up by
// itself; under pre-vote and stickiness one is enough that is heard by one of them. With
// check_quorum it gives up, and a majority is enough, whatever it exchanges with the rest.
// And if nobody enters a new term without a majority behind it, by pre-vote, one process
// that reaches a majority is enough (Ng, Haridi, Carbone, Omni-Paxos, EuroSys 2023), unless
// its log is behind.
//
// Who takes over passes the leases, so that a network in parts must be in whole ones; and
// it may do so as often as there are processes, the last within n time-outs.
//
// A round lasts at most τ and the spread, two of the longest time-outs. With a spread of N·m
// or more the first to stand is elected with a probability of more than 0.36 (meanLatency), so
// that 47 rounds fail with one of less than 1e-9; and six time-outs pass before the first of
// them, until a leader has given up and is forgotten; by rule 14 it is two more. Others that
// enter new terms, and logs that are behind, spoil rounds: at most as many for one that counts
// as there are processes.
func connected(n int, p algo.Params) algo.Liveness {
	same := alike(n, p)
	preVote, checks := p.Bool("pre_vote"), p.Bool("check_quorum")
	takeover := p.Enum("priority_mode") == byTakeover && ranked(n, p)
	l := algo.Liveness{Under: algo.MajorityConnected, Timeouts: 100}
	if p.Bool("last_contact") {
		l.Timeouts += 2
	}
	switch {
	case !checks || takeover:
		l.Under = algo.InParts
	case preVote && same:
		l.Under = algo.QuorumConnected
	case !preVote:
		l.Timeouts *= n
	}
	if !same {
		l.Timeouts *= n
	}
	if takeover {
		l.Timeouts *= 1 + n
	} else {
		l.Timeouts *= 1 + skips(n, p)
	}
	return l
}

// alike says whether all logs end at the same place.
func alike(n int, p algo.Params) bool {
	for id := range algo.ID(n) {
		if p.IntOf("last_term", id+1) != p.Int("last_term") ||
			p.IntOf("last_index", id+1) != p.Int("last_index") {
			return false
		}
	}
	return true
}

// ranked says whether some process has a priority.
func ranked(n int, p algo.Params) bool {
	for id := range algo.ID(n) {
		if p.IntOf("priority", id+1) != unranked {
			return true
		}
	}
	return false
}

// skips is how many time-outs a process lets pass at most while the target falls to its
// priority (rule 10).
func skips(n int, p algo.Params) (most int) {
	for id := range algo.ID(n) {
		r := rank{own: p.IntOf("priority", id+1), gap: p.Int("decay_gap")}
		if r.own <= 0 {
			continue
		}
		for other := range algo.ID(n) {
			r.target = max(r.target, p.IntOf("priority", other+1))
		}
		skipped := 0
		for ; r.own < r.target; skipped += 2 {
			r.decay()
		}
		most = max(most, skipped)
	}
	return most
}
