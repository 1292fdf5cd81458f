package raft

import (
	"fmt"
	"maps"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// with is p with other values.
func with(p algo.Params, values map[string]any) algo.Params {
	out := maps.Clone(p)
	maps.Copy(out, values)
	return out
}

// beats is p with a heartbeat, and a time-out that is drawn from patience to twice patience. A leader looks
// for its quorum as often as its followers may give up.
func beats(p algo.Params, beat, patience, _ time.Duration) algo.Params {
	patience = whole(patience, ms)
	out := with(p, timeouts(patience, patience))
	out["heartbeat"] = whole(beat, ms)
	return out
}

// ticking is beats for systems that count in ticks of one heartbeat.
func ticking(p algo.Params, beat, patience, clocks time.Duration) algo.Params {
	return with(beats(p, beat, patience, clocks), map[string]any{"tick": beat})
}

// etcdChecked says how the set etcd was compared with etcd.
const etcdChecked = "Compared with 45 kills of the leader of etcd 3.4.23 with --pre-vote, at 5 ms between " +
	"members, and with go.etcd.io/raft 3.7.0 in virtual time."

func etcdSystem() *algo.System {
	return &algo.System{Beat: "heartbeat", Patience: "t_election", Choose: ticking, Rule: etcdRule,
		Real: algo.Real{Algorithm: "election/etcd",
			Takes: map[string]string{"heartbeat": "heartbeat", "election_timeout": "t_election"}},
		Checked: etcdChecked, Write: func(p algo.Params) []algo.Line {
			beat, tau := millis(p, "heartbeat"), millis(p, "t_election")
			return []algo.Line{
				{Into: "flags of etcd", Text: fmt.Sprintf("--heartbeat-interval=%d --election-timeout=%d",
					beat, tau)},
				{Into: "environment of etcd", Text: fmt.Sprintf(
					"ETCD_HEARTBEAT_INTERVAL=%d\nETCD_ELECTION_TIMEOUT=%d", beat, tau)},
				{Into: "etcd's configuration file", Text: fmt.Sprintf(
					"heartbeat-interval: %d\nelection-timeout: %d", beat, tau)},
			}
		}}
}

// rancher has the settings that K3s and RKE2 give to the etcd in them.
func rancher() algo.Set {
	s := etcd()
	s.Name, s.Doc = "rancher", "the etcd of K3s and RKE2: ticks of 500 ms, from 10 to 19 of them"
	s.Params = with(s.Params, map[string]any{"heartbeat": 500 * ms, "tick": 500 * ms, "t_election": 5 * sec,
		"t_election_spread": 5 * sec})
	s.Source = "heartbeat-interval 500 and election-timeout 5000 in the configuration that K3s and RKE2 " +
		"write for etcd (k3s-io/k3s, pkg/etcd/etcd.go); the rest as in set etcd."
	s.System.Write = func(p algo.Params) []algo.Line {
		return []algo.Line{{Into: "/etc/rancher/rke2/config.yaml or /etc/rancher/k3s/config.yaml",
			Text: fmt.Sprintf("etcd-arg:\n  - heartbeat-interval=%d\n  - election-timeout=%d",
				millis(p, "heartbeat"), millis(p, "t_election"))}}
	}
	return s
}

// etcdRule is the rule of etcd's page on tuning (etcd.io/docs/v3.6/tuning).
func etcdRule(p algo.Params, roundTrip time.Duration) (text string, kept bool) {
	beat, tau := p.Duration("heartbeat"), p.Duration("t_election")
	return fmt.Sprintf("etcd.io/docs/v3.6/tuning: a heartbeat of 0.5 to 1.5 round trips or the default, and "+
			"a time-out of 10 round trips (%v) and 5 heartbeats (%v) at least",
			roundTrip*10, beat*5),
		tau >= 10*roundTrip && tau >= 5*beat && beat*2 >= roundTrip
}

func millis(p algo.Params, name string) int64 { return p.Duration(name).Milliseconds() }

func cockroachSystem() *algo.System {
	return &algo.System{Beat: "heartbeat", Patience: "t_election",
		Choose: func(p algo.Params, beat, patience, clocks time.Duration) algo.Params {
			return with(beats(p, beat, patience, clocks), map[string]any{"tick": beat / 2})
		},
		Write: func(p algo.Params) []algo.Line {
			tick := p.Duration("tick")
			ticks := func(name string) time.Duration { return p.Duration(name) / tick }
			return []algo.Line{{Into: "environment of cockroach", Text: fmt.Sprintf(
				"COCKROACH_RAFT_TICK_INTERVAL=%v\nCOCKROACH_RAFT_HEARTBEAT_INTERVAL_TICKS=%d\n"+
					"COCKROACH_RAFT_ELECTION_TIMEOUT_TICKS=%d\n"+
					"COCKROACH_RAFT_ELECTION_TIMEOUT_JITTER_TICKS=%d",
				tick, ticks("heartbeat"), ticks("t_election"), ticks("t_election_spread"))}}
		}}
}

func consulSystem() *algo.System {
	return &algo.System{Patience: "t_election",
		Checked: "Compared with github.com/hashicorp/raft 1.8.0 in virtual time.",
		Real: algo.Real{Algorithm: "election/hashicorp-raft", Takes: map[string]string{
			"heartbeat_timeout": "t_election", "election_timeout": "t_election",
			"leader_lease_timeout": "t_quorum"}},
		Choose: func(p algo.Params, _, patience, _ time.Duration) algo.Params {
			return with(p, timeouts(patience, patience)) // the others follow: see fitConsul
		},
		Write: func(p algo.Params) []algo.Line {
			times := p.Duration("t_election") / sec
			return []algo.Line{
				{Into: "Consul's configuration, HCL", Text: fmt.Sprintf(
					"performance {\n  raft_multiplier = %d\n}", times)},
				{Into: "Consul's configuration, JSON", Text: fmt.Sprintf(
					`{"performance": {"raft_multiplier": %d}}`, times)},
			}
		}}
}

func nomadLines(p algo.Params) []algo.Line {
	return []algo.Line{{Into: "Nomad's configuration, HCL", Text: fmt.Sprintf(
		"server {\n  raft_multiplier = %d\n}", p.Duration("t_election")/sec)}}
}

func mongoSystem() *algo.System {
	return &algo.System{Beat: "heartbeat", Patience: "t_election",
		Choose: func(p algo.Params, beat, patience, _ time.Duration) algo.Params {
			return with(p, map[string]any{"heartbeat": beat, "t_election": patience,
				"t_election_spread": patience * 15 / 100, "t_quorum": patience})
		},
		Write: func(p algo.Params) []algo.Line {
			return []algo.Line{{Into: "mongosh, on the primary", Text: fmt.Sprintf(
				"cfg = rs.conf()\ncfg.settings.heartbeatIntervalMillis = %d\n"+
					"cfg.settings.electionTimeoutMillis = %d\nrs.reconfig(cfg)",
				millis(p, "heartbeat"), millis(p, "t_election"))}}
		}}
}

// paper has the settings of Raft's own paper.
func paper() algo.Set {
	return algo.Set{Name: "raft", Doc: "Raft in general: the paper's time-out of 150 to 300 ms",
		Params: map[string]any{"heartbeat": 75 * ms, "t_election": 150 * ms, "t_election_spread": 150 * ms},
		Source: "D. Ongaro, J. Ousterhout, In search of an understandable consensus algorithm, USENIX ATC " +
			"2014, section 9.3: a time-out of 150 to 300 ms is recommended, and the heartbeat was half of " +
			"the least.",
		Differs: "Rules that libraries add, pre-votes and leases among them, are off.",
		Demands: "The time-out is longer than the heartbeat (section 5.2).",
		Fit: func(p algo.Params) map[string]any {
			return map[string]any{"t_election": max(p.Duration("t_election"), p.Duration("heartbeat")+ms)}
		},
		System: &algo.System{Beat: "heartbeat", Patience: "t_election", Choose: beats,
			Rule: func(p algo.Params, roundTrip time.Duration) (text string, kept bool) {
				return fmt.Sprintf("the paper, section 5.6: the time-out is an order of magnitude above the "+
						"time of a broadcast (%v)", roundTrip),
					p.Duration("t_election") >= 10*roundTrip
			},
			Write: func(p algo.Params) []algo.Line {
				least := p.Duration("t_election")
				return []algo.Line{{Into: "the configuration of a Raft library", Text: fmt.Sprintf(
					"heartbeat interval %v\nelection timeout   drawn from %v to %v", p.Duration("heartbeat"),
					least, least+p.Duration("t_election_spread"))}}
			}}}
}
