package raft

import (
	"maps"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

const (
	ms  = time.Millisecond
	sec = time.Second
)

// notMeasured is what the sets say of systems that are programs and no library.
const notMeasured = "Nothing of the system itself was measured."

// sets are the settings of systems that elect leaders by Raft's rules or by such as are near.
func sets() []algo.Set {
	return []algo.Set{etcd(), etcd34(), cockroachdb(), consul(), mongodb(), nomad(), paper(), rancher(),
		tikv()}
}

func etcd() algo.Set {
	return algo.Set{
		Name: "etcd", Doc: "the server of etcd: ticks of 100 ms, from 10 to 19 of them",
		Params: map[string]any{
			"heartbeat": 100 * ms, "tick": 100 * ms, "t_election": sec, "t_election_spread": sec,
			"check_quorum": true, "sticky": stickyDrop, "pre_vote": true, "pre_vote_lease": false,
		},
		Source: "etcd 3.6.16, whose defaults are --heartbeat-interval 100, " +
			"--election-timeout 1000 and --pre-vote (embed/config.go); ticks, pre-votes and " +
			"leases of go.etcd.io/raft 3.7.0 (raft.go).",
		Differs: "A candidate that a majority refuses is a follower again at once. A member " +
			"that starts advances its clock by all ticks of a time-out but one " +
			"(--initial-election-tick-advance).",
		Demands: "Times are whole milliseconds and count in ticks of one heartbeat, a random " +
			"time-out is below twice the time-out, and 5 heartbeat <= t_election <= 50s " +
			"(embed/config.go, Validate).",
		Fit: fitEtcd, System: etcdSystem()}
}

// etcd34 are servers of a version that Debian 12 has.
func etcd34() algo.Set {
	s := etcd()
	s.Name, s.Doc = "etcd-3-4", "servers of etcd 3.4: no pre-votes, and ticks that began one after the other"
	s.Params = maps.Clone(s.Params)
	s.Params["pre_vote"], s.Params["tick_phase"] = false, apart
	s.Source = "etcd 3.4.23: --pre-vote is false by default (embed/config.go); ticks and leases of " +
		"raft/raft.go there. Each server's ticker begins when it starts (etcdserver/raft.go, newRaftNode)."
	s.System.Checked = "Compared with 299 kills of the leader of etcd 3.4.23 at its defaults, at 5 ms " +
		"between members."
	return s
}

func consul() algo.Set {
	return algo.Set{Name: "consul", Doc: "Consul: HashiCorp's Raft, slowed five times",
		Params: map[string]any{
			"heartbeat": 500 * ms, "heartbeat_spread": 500 * ms, "commit_timeout": 50 * ms,
			"t_election": 5 * sec, "t_election_spread": 5 * sec, "t_quorum": 2500 * ms,
			"last_contact": true, "check_quorum": true, "sticky": stickyKnown,
			"pre_vote": true, "pre_vote_lease": false,
		},
		Source: "github.com/hashicorp/raft 1.8.0: HeartbeatTimeout and ElectionTimeout 1 s, " +
			"LeaderLeaseTimeout 500 ms, CommitTimeout 50 ms (config.go); rules as in raft.go " +
			"and replication.go. Consul multiplies the first three by raft_multiplier, 5 by " +
			"default (agent/consul/config.go).",
		Differs: "The leader draws the time to the next heartbeat for each follower by itself, from " +
			"the reply to the last one on; here one time holds for all, without a wait. It looks for " +
			"its quorum when the oldest contact that counts is due; here it does so every lease. A " +
			"voter grants pre-votes in the term in which it has voted. Retries to an unreachable " +
			"follower become less and less frequent.",
		Demands: "raft_multiplier is a whole number from 1 to 10 (agent/config/builder.go), " +
			"and multiplies all times but commit_timeout.",
		Fit: fitConsul, System: consulSystem()}
}

// nomad has the settings that Nomad gives to Consul's library.
func nomad() algo.Set {
	s := consul()
	s.Name, s.Doc = "nomad", "Nomad: HashiCorp's Raft at its own speed"
	s.Params = maps.Clone(s.Params)
	maps.Copy(s.Params, map[string]any{"heartbeat": 100 * ms, "heartbeat_spread": 100 * ms,
		"t_election": sec, "t_election_spread": sec, "t_quorum": 500 * ms})
	s.Source = "github.com/hashicorp/raft 1.8.0, as in set consul. Nomad at 00e8d721eb55 multiplies " +
		"all four times, that of commits among them, by raft_multiplier, 1 by default " +
		"(command/agent/agent.go, DefaultRaftMultiplier and convertServerConfig). " + notMeasured
	s.Differs += " Versions of Nomad whose library is older than 1.7.0 have no pre-votes."
	s.Demands = "raft_multiplier is a whole number from 1 to 10 (command/agent/agent.go), and " +
		"multiplies all times."
	s.Fit = func(p algo.Params) map[string]any {
		out := fitConsul(p)
		out["commit_timeout"] = out["t_election"].(time.Duration) / 20
		return out
	}
	s.System.Write = nomadLines
	return s
}

// tikv has those of a program that has rewritten etcd's library in Rust.
func tikv() algo.Set {
	return algo.Set{Name: "tikv", Doc: "TiKV: ticks of 1 s, from 10 to 19 of them",
		Params: map[string]any{
			"heartbeat": 2 * sec, "tick": sec, "t_election": 10 * sec, "t_election_spread": 10 * sec,
			"check_quorum": true, "sticky": stickyDrop, "pre_vote": true, "pre_vote_lease": false,
		},
		Source: "TiKV at 000f506ce73c, components/raftstore/src/store/config.rs: " +
			"raft_base_tick_interval 1 s, raft_heartbeat_ticks 2, raft_election_timeout_ticks 10 and " +
			"prevote true (Config::default); check_quorum true in store/peer.rs. The rules are those " +
			"of etcd's library, which raft-rs follows. " + notMeasured,
		Differs: "A region that is idle hibernates, and its leader sends no heartbeats then " +
			"(hibernate_regions). PD moves leaders to balance stores.",
		Demands: "Times count in ticks, a random time-out is below twice the time-out, the time-out " +
			"has more ticks than the heartbeat, and it is at least raft-store-max-leader-lease, 9 s " +
			"(Config::validate).",
		Fit: fitTiKV}
}

// cockroachdb has the settings of a program that is no library: only its source was read.
func cockroachdb() algo.Set {
	return algo.Set{Name: "cockroachdb", Doc: "CockroachDB: ticks of 500 ms, from 4 to 7 of them",
		Params: map[string]any{
			"heartbeat": sec, "tick": 500 * ms, "t_election": 2 * sec, "t_election_spread": 2 * sec,
			"check_quorum": true, "sticky": stickyDrop, "pre_vote": true, "pre_vote_lease": false,
		},
		Source: "CockroachDB, github.com/cockroachdb/cockroach, at these commits. " +
			"ab0193cb895d: in pkg/base/testdata/raft_config RaftTickInterval 500 ms (line 4), " +
			"RaftElectionTimeoutTicks 4 (5), RaftHeartbeatIntervalTicks 2 (7) and RaftEnableCheckQuorum " +
			"true (12); in pkg/raft/raft.go, which is etcd's with changes, from 4 to 7 ticks " +
			"(resetRandomizedElectionTimeout), votes that a lease refuses (inLeaderLease) and a leader " +
			"that looks for its quorum (tickHeartbeat). 1925799d21fc, older: pre-votes in " +
			"pkg/kv/kvserver/store.go, newRaftConfig (281). " + notMeasured,
		Differs: "Versions whose leader leases rest on the liveness of stores, ab0193cb895d among " +
			"them, wait only the random part of the time-out, from 0 to 3 ticks, once a store's " +
			"support, 3 s by default, has ended (raft_config, 9; raft.go, deFortify), and their leaders " +
			"send no heartbeats. Without such leases, idle ranges send none (quiescence).",
		Demands: "Times count in ticks, a random time-out is below twice the time-out, and " +
			"the time-out has more ticks than the heartbeat (go.etcd.io/raft, " +
			"Config.validate).",
		Fit: fitCockroach, System: cockroachSystem()}
}

// mongodb has those of another.
func mongodb() algo.Set {
	return algo.Set{Name: "mongodb", Doc: "MongoDB's protocol version 1: give priorities by priority",
		Params: map[string]any{
			"heartbeat": 2 * sec, "t_election": 10 * sec, "t_election_spread": 1500 * ms,
			"priority_mode": byTakeover,
			"check_quorum":  true, "sticky": stickyOff, "pre_vote": true, "pre_vote_lease": false,
		},
		Source: "MongoDB, github.com/mongodb/mongo, src/mongo/db/repl, at these commits. " +
			"cb38f4cfafa3: in repl_set_config.idl heartbeatIntervalMillis 2000 (line 90) and " +
			"electionTimeoutMillis 10000 (101), the same in repl_set_config.cpp (63, 65), and the wait " +
			"of a takeover there, getPriorityTakeoverDelay; a random part of the time-out in " +
			"replication_coordinator_impl_heartbeat.cpp, _cancelAndRescheduleElectionTimeout_inlock; " +
			"a primary that gives up in topology_coordinator.cpp, checkMemberTimeouts, and votes that " +
			"no lease refuses in processReplSetRequestVotes. 91cef76e80b7: " +
			"replElectionTimeoutOffsetLimitFraction 0.15 in repl_server_parameters.idl (335). " +
			"00283e998ded, older: dry runs in replication_coordinator_impl_elect_v1.cpp (157). " +
			notMeasured,
		Differs: "Members hear of the primary by pulling its log as well as by heartbeats, " +
			"which all exchange with all. A takeover waits up to 15 % of a time-out longer, at random " +
			"(_handleHeartbeatResponseAction_inlock), and until the member is fresh, and there is one " +
			"for members that are further ahead (catch-up takeover). A new primary catches up before " +
			"it takes writes. Members have priority 1 there, which means nothing unless another is " +
			"given to some.",
		Demands: "Times are whole milliseconds, and up to 15 % of the time-out are added at " +
			"random (replElectionTimeoutOffsetLimitFraction, unless that is set, too).",
		Fit: fitMongo, System: mongoSystem()}
}

// whole is d in whole units, one at least.
func whole(d, unit time.Duration) time.Duration { return max(1, (d+unit/2)/unit) * unit }

// timeouts is a time-out that is drawn from least to both together, and how often a leader looks
// for its quorum.
func timeouts(least, spread time.Duration) map[string]any {
	return map[string]any{"t_election": least, "t_election_spread": spread, "t_quorum": least}
}

func fitEtcd(p algo.Params) map[string]any {
	beat := min(whole(p.Duration("heartbeat"), ms), 10*sec)
	tau := min(max(whole(p.Duration("t_election"), beat), 5*beat), 50*sec/beat*beat)
	out := timeouts(tau, tau)
	out["heartbeat"], out["tick"] = beat, beat
	return out
}

func fitCockroach(p algo.Params) map[string]any {
	tick := max(p.Duration("tick"), ms)
	beat := whole(p.Duration("heartbeat"), tick)
	tau := max(whole(p.Duration("t_election"), tick), beat+tick)
	out := timeouts(tau, tau)
	out["heartbeat"], out["tick"] = beat, tick
	return out
}

// leaderLease is TiKV's raft-store-max-leader-lease.
const leaderLease = 9 * sec

func fitTiKV(p algo.Params) map[string]any {
	out := fitCockroach(p)
	if out["t_election"].(time.Duration) < leaderLease {
		tick := out["tick"].(time.Duration)
		tau := (leaderLease + tick - 1) / tick * tick
		maps.Copy(out, timeouts(tau, tau))
	}
	return out
}

func fitConsul(p algo.Params) map[string]any {
	slower := min(whole(p.Duration("t_election"), sec), 10*sec)
	out := timeouts(slower, slower)
	out["t_quorum"], out["commit_timeout"] = slower/2, 50*ms
	out["heartbeat"], out["heartbeat_spread"] = slower/10, slower/10
	return out
}

func fitMongo(p algo.Params) map[string]any {
	tau := whole(p.Duration("t_election"), ms)
	out := timeouts(tau, tau*15/100)
	out["heartbeat"] = whole(p.Duration("heartbeat"), ms)
	return out
}
