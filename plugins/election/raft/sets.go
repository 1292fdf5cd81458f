package raft

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// sets are the settings of systems that elect leaders by Raft's rules or by such as are near.
// What a system does otherwise, or where its defaults are known at second hand only, is said
// beside it.
func sets() []algo.Set {
	return []algo.Set{
		// The server's defaults, --heartbeat-interval 100 and --election-timeout 1000, at second
		// hand; ticks, pre-votes and leases as in github.com/etcd-io/raft, raft.go, at cdfbeed.
		{Name: "etcd", Doc: "the server of etcd: ticks of 100 ms, from 10 to 19 of them",
			Params: map[string]any{
				"heartbeat": 100 * time.Millisecond, "tick": 100 * time.Millisecond,
				"t_election": time.Second, "t_election_spread": time.Second,
				"check_quorum": true, "sticky": stickyDrop, "pre_vote": true, "pre_vote_lease": false,
			}},
		// Its sources: ticks of 500 ms, a heartbeat in every second, elections after four and
		// up to twice as many. The algorithm is etcd's.
		{Name: "cockroachdb", Doc: "CockroachDB: ticks of 500 ms, from 4 to 7 of them",
			Params: map[string]any{
				"heartbeat": time.Second, "tick": 500 * time.Millisecond,
				"t_election": 2 * time.Second, "t_election_spread": 2 * time.Second,
				"check_quorum": true, "sticky": stickyDrop, "pre_vote": true, "pre_vote_lease": false,
			}},
		// raft_multiplier 5, at second hand, of the defaults of github.com/hashicorp/raft at 1837036
		// (config.go): HeartbeatTimeout 1 s, LeaderLeaseTimeout 500 ms. Its leader draws the time to
		// the next heartbeat from a tenth to a fifth of the time-out; here it is the mean. It
		// looks for its quorum when the oldest contact that counts is due, here every lease. A
		// follower refuses votes while it knows a leader, which it forgets at its drawn time-out.
		{Name: "consul", Doc: "Consul: HashiCorp's Raft, slowed five times",
			Params: map[string]any{
				"heartbeat": 500 * time.Millisecond, "heartbeat_spread": 500 * time.Millisecond,
				"commit_timeout": 50 * time.Millisecond, "t_election": 5 * time.Second,
				"t_election_spread": 5 * time.Second, "t_quorum": 2500 * time.Millisecond,
				"last_contact": true, "check_quorum": true, "sticky": stickyKnown,
				"pre_vote": true, "pre_vote_lease": false,
			}},
		// Its sources: electionTimeoutMillis 10 000, up to 15 % more at random, a dry run before
		// each election, a primary that sees no majority for that long steps down; heartbeats of 2 s at
		// second hand. Nobody refuses because the primary is well. Members have priority 1, which
		// means nothing unless another is given to some: do so by priority.
		{Name: "mongodb", Doc: "MongoDB's protocol version 1: give priorities by priority",
			Params: map[string]any{
				"heartbeat": 2 * time.Second, "t_election": 10 * time.Second,
				"t_election_spread": 1500 * time.Millisecond, "priority_mode": byTakeover,
				"check_quorum": true, "sticky": stickyOff, "pre_vote": true, "pre_vote_lease": false,
			}},
	}
}
