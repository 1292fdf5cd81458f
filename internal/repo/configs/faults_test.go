package configs

import (
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// faults is what the experiments below configs/faults must show.
var faults = map[string]func(*measured){
	"faults/crash-rate.yaml": crashRate, "faults/loss.yaml": lossSweep,
	"faults/partition-and-heal.yaml": partitionAndHeal, "faults/flapping.yaml": flapping,
	"faults/pause.yaml": pause, "faults/churn.yaml": requesters,
	"faults/lost-token.yaml": lostToken, "faults/after-election.yaml": afterElection,
	"faults/distribution.yaml": distribution, "faults/open-load.yaml": openLoad,
	"faults/host-crash.yaml": hostCrash, "faults/pings.yaml": pings,
	"faults/gray.yaml": gray,
}

// gray: no elector notices that the disk of its leader hangs. With writes of 100 ms two never elect again; a
// stall makes leases overlap.
func gray(m *measured) {
	const hung, slow = "faults_events=[{at: 5s, do: hung-disk, who: leader}]",
		"faults_events=[{at: 5s, do: slow-disk, who: all, by: 100ms}, {at: 10s, do: crash, who: leader, for: 1m0s}]"
	for _, label := range []string{"raft", "multi-paxos", "zab-fle", "stable-leader", "lease"} {
		m.wants(m.of(label, hung), "never_recovered_served", 1, 1)
		m.wants(m.of(label, hung), "leader_changes", 0, 0)
	}
	m.wants(m.of("raft", slow), "never_recovered_served", 0, 0)
	m.wants(m.of("raft", slow), "downtime_served_ms", 300, 20000)
	m.wants(m.of("multi-paxos", slow), "never_recovered_served", 1, 1)
	if c := m.of("lease", "faults_events=[{every: 1s, do: stall, who: leader, length: {distribution: "+
		"exponential, mean: 200ms}}]"); c.status[trace.Violated] == 0 {
		m.Errorf("%s: %v, want violations", c.name, c.status)
	}
}

// TestFailures runs them in simulation, with few repetitions.
func TestFailures(t *testing.T) {
	t.Parallel()
	for _, name := range names(t, "faults") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			holds := faults[name]
			if holds == nil {
				t.Fatal("nothing looks for what it promises")
			}
			holds(measure(t, name))
		})
	}
}

func crashRate(m *measured) {
	for _, label := range []string{"bully", "raft"} {
		var calm, wild, crashes float64
		for _, n := range []int{3, 5, 9} {
			m.wants(m.of(label, nodes(n), "crash_rate=0"), "crashes", 0, 0)
			calm += m.of(label, nodes(n), "crash_rate=0").values["availability"]
			wild += m.of(label, nodes(n), "crash_rate=1").values["availability"]
			crashes += m.of(label, nodes(n), "crash_rate=1").values["crashes"]
		}
		if crashes < 3 || wild >= calm || calm < 2.99 {
			m.Errorf("%s: availability %v without crashes, %v with %v of them", label, calm/3, wild/3,
				crashes)
		}
	}
}

func lossSweep(m *measured) {
	for _, label := range []string{"bully", "ring-max", "raft", "stable-leader"} {
		m.wants(m.of(label, "network_loss=0"), "loss_achieved", 0, 0)
		if got := m.of(label, "network_loss=0.3").values["loss_achieved"]; got < 0.2 || got > 0.4 {
			m.Errorf("%s: %v of the messages lost, want 0.3", label, got)
		}
	}
}

// pings: the mean of three records, of which one lost a quarter.
func pings(m *measured) {
	c := m.of("raft-etcd")
	if got := c.values["loss_achieved"]; got < 0.03 || got > 0.2 || c.values["downtime_ms"] < 900 {
		m.Errorf("%v of the messages lost, want 0.097; downtime %v ms", got, c.values["downtime_ms"])
	}
}

func partitionAndHeal(m *measured) {
	m.wants(m.of("bully"), "split_brain_ms", 2000-150, 2000-60)
	m.wants(m.of("bully"), "heal_ms", 1, 60)
	m.wants(m.of("bully-quorum"), "split_brain_ms", 0, 0)
	m.wants(m.of("raft"), "split_brain_ms", 0, 0)
}

func flapping(m *measured) {
	bully, quality, stable := m.of("bully"), m.of("bully-quality"), m.of("stable-leader")
	m.wants(bully, "leader_changes", 40, 60) // away and back, each time
	m.wants(quality, "leader_changes", 1, 6)
	m.wants(stable, "leader_changes", 1, 6)
	m.wants(bully, "availability", 0.5, 0.8)
	m.wants(quality, "availability", 0.9, 1)
	m.wants(stable, "availability", 0.8, 0.9) // who comes back learns of the leader late
}

func pause(m *measured) {
	for _, label := range []string{"bully", "raft", "stable-leader"} {
		m.wants(m.of(label), "pauses", 1, 1)
		m.wants(m.of(label), "leader_changes", 1, 3)
	}
	if m.of("bully").values["split_brain_ms"] <= 0 {
		m.Errorf("a paused bully gives up when it goes on")
	}
}

func requesters(m *measured) {
	ft := m.of("naimi-trehel-ft")
	m.wants(ft, "never_granted", 0, 0)
	if ft.values["crashes"] < 1 || ft.values["recovery_ms"] <= 0 {
		m.Errorf("naimi-trehel-ft: %v", ft.values)
	}
	if c := m.of("naimi-trehel"); c.status[trace.TimedOut] != fewest || c.values["never_granted"] < 1 {
		m.Errorf("naimi-trehel: %v, %v never granted", c.status, c.values["never_granted"])
	}
}

func lostToken(m *measured) {
	m.wants(m.of("naimi-trehel-ft"), "tokens_lost", 1, 1)
	m.wants(m.of("naimi-trehel-ft"), "recovery_ms", 10, 1000)
	for _, label := range []string{"naimi-trehel", "token-ring"} {
		c := m.of(label)
		if c.status[trace.TimedOut] != fewest || c.values["tokens_lost"] != 1 {
			m.Errorf("%s: %v, %v tokens lost", label, c.status, c.values["tokens_lost"])
		}
	}
}

func distribution(m *measured) {
	for _, label := range []string{"bully", "raft", "stable-leader"} {
		m.wants(m.of(label), "crashes", 50, 50)
		m.wants(m.of(label), "detection_ms", 10, 250)
	}
}

func openLoad(m *measured) {
	calm := m.of("naimi-trehel-ft", "crash_rate=0.01")
	wild := m.of("naimi-trehel-ft", "crash_rate=0.5")
	m.wants(wild, "recovery_ms", 1, 1000)
	if calm.values["waiting_p99_ms"] >= wild.values["waiting_p99_ms"] || wild.values["crashes"] < 3 {
		m.Errorf("p99 of waiting: %v ms with few crashes, %v with many",
			calm.values["waiting_p99_ms"], wild.values["waiting_p99_ms"])
	}
}

func afterElection(m *measured) {
	for _, label := range []string{"bully", "ring-list", "raft"} {
		m.wants(m.of(label), "crashes", 2, 2)
		m.wants(m.of(label), "faults_skipped", 0, 0)
	}
}

func hostCrash(m *measured) {
	const first = "faults_events=[{at: 1s, do: crash, host: lab"
	for events, want := range map[string]struct{ crashes, least, most, split float64 }{
		first + "3, for: 2s}]": {3, 60, 300, 0},
		first + "2, for: 2s}, {at: 1s, do: crash, host: lab3, for: 2s}]":         {6, 2000, 2300, 0},
		"faults_events=[{at: 1s, do: cut, host: lab3, shape: isolate, for: 2s}]": {0, 60, 300, 1700},
	} {
		c := m.of("raft", events)
		m.wants(c, "crashes", want.crashes, want.crashes)
		m.wants(c, "downtime_ms", want.least, want.most)
		m.wants(c, "split_brain_ms", want.split, want.split+300)
	}
	if why := load(m.T, "faults/host-crash.yaml").Cells[1].Plan.OutOfModel; !slices.Equal(why,
		[]string{"survives 4 of 9 processes crashed, not 6"}) {
		m.Errorf("two of three hosts: %q", why)
	}
}
