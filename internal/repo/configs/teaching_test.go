package configs

import (
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// lessons is what each experiment of docs/tutorials/lessons.md must show for its answer to be true.
var lessons = map[string]func(*measured){
	"teaching/01-time-outs.yaml": timeOuts, "teaching/02-failure-detectors.yaml": detectors,
	"teaching/03-split-brain.yaml": twoLeaders, "teaching/04-quorums.yaml": quorums,
	"teaching/05-partition.yaml": halves, "teaching/06-messages.yaml": whoNotices,
	"teaching/07-order.yaml": overtaken, "teaching/08-path-reversal.yaml": pathReversal,
	"teaching/09-starvation.yaml": starved, "teaching/09-waiting-for-ever.yaml": stuck,
	"teaching/10-lost-token.yaml": newToken,
}

// TestLessons runs them, with few repetitions.
func TestLessons(t *testing.T) {
	t.Parallel()
	for _, name := range names(t, "teaching") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			holds := lessons[name]
			if holds == nil {
				t.Fatal("nothing looks for what it promises")
			}
			holds(measure(t, name))
		})
	}
}

// ends says that all trials of a cell end so.
func (m *measured) ends(c *cell, want trace.Status) {
	m.Helper()
	if len(c.status) != 1 || c.status[want] == 0 {
		m.Errorf("%s: %v, want %s", c.name, c.status, want)
	}
}

func timeOuts(m *measured) {
	of := func(ms string) *cell { return m.of("bully", "params_t_answer_ms="+ms) }
	m.wants(of("1"), "split_brain_ms", 1, 1000)
	for _, ms := range []string{"2", "4", "16"} {
		m.wants(of(ms), "split_brain_ms", 0, 0)
	}
	slower := 12 + of("4").values["election_ms"]
	m.wants(of("16"), "election_ms", slower, slower)
}

func detectors(m *measured) {
	of := func(ms string) *cell { return m.of("bully", "detector_timeout_ms="+ms) }
	m.wants(of("12"), "unneeded_elections_per_s", 50, 1000)
	m.wants(of("12"), "detection_ms", 0, 12)
	m.wants(of("120"), "unneeded_elections_per_s", 0, 0)
	m.wants(of("120"), "detection_ms", 110, 125)
}

func twoLeaders(m *measured) {
	for ms, span := range map[string]float64{"200": 200, "1000": 1000, "2000": 2000} {
		column := "scenario_duration_ms=" + ms
		m.wants(m.of("bully", column), "split_brain_ms", span-70, span-40)
		m.wants(m.of("bully", column), "leader_changes", 2, 2)
		m.wants(m.of("raft", column), "split_brain_ms", 0, span-50)
		m.wants(m.of("raft", column), "leader_changes", 1, 1)
		m.wants(m.of("bully-quorum", column), "split_brain_ms", 0, 0)
	}
}

func quorums(m *measured) {
	for n := 3; n <= 6; n++ {
		m.ends(m.of("raft", nodes(n), "scenario_crashed=[1]"), trace.OK)
		two := trace.OK
		if n < 5 {
			two = trace.TimedOut
		}
		m.ends(m.of("raft", nodes(n), "scenario_crashed=[1, 2]"), two)
	}
}

func halves(m *measured) {
	splits := map[string]float64{"bully": 1900, "invitation": 1900, "raft": 0, "bully-quorum": 0}
	for label, split := range splits {
		m.wants(m.of(label, nodes(4)), "split_brain_ms", split, split*1.1)
		m.wants(m.of(label, nodes(4)), "availability_led", 0, 0.1)
		m.wants(m.of(label, nodes(5)), "split_brain_ms", split, split*1.1)
		m.wants(m.of(label, nodes(5)), "availability_led", 0.9, 1)
	}
}

func whoNotices(m *measured) {
	for who, want := range map[string]float64{"1": 55, "4": 22, "7": 7} {
		event := "scenario_events=[{at: 0s, do: suspect, node: " + who + "}]"
		m.wants(m.of("bully", event), "messages", want, want)
		m.wants(m.of("ring-list", event), "messages", 16, 16)
	}
}

func overtaken(m *measured) {
	const per = "messages_per_entry"
	m.wants(m.of("lamport", "network_order=fifo"), per, 9, 9)
	m.ends(m.of("lamport", "network_order=unordered"), trace.Violated)
	for _, order := range []string{"fifo", "unordered"} {
		m.wants(m.of("ricart-agrawala", "network_order="+order), per, 6, 6)
	}
}

func pathReversal(m *measured) {
	const per = "messages_per_entry"
	for _, n := range []int{4, 16, 64} {
		f, h := float64(n), algo.Harmonic(n-1)
		m.wants(m.of("suzuki-kasami", nodes(n)), per, 0.9*(f-1), 1.1*(f-1))
		m.wants(m.of("naimi-trehel", nodes(n)), per, 0.9*h, 1.1*h)
		m.wants(m.of("raymond", nodes(n)), per, 1.2*h, f)
	}
}

func starved(m *measured) {
	m.ends(m.of("naimi-trehel"), trace.TimedOut)
	if got := m.of("naimi-trehel").values["max_bypass"]; got != 80 {
		m.Errorf("naimi-trehel: %v entries pass by one that waits, want 80", got)
	}
	m.wants(m.of("naimi-trehel-ft"), "max_bypass", 1, 20)
}

func stuck(m *measured) {
	for label, want := range map[string]float64{"maekawa-as-printed": 11, "raynal-original": 2259} {
		c := m.of(label)
		m.ends(c, trace.TimedOut)
		if c.values["messages"] != want || c.values["never_granted"] != 3 {
			m.Errorf("%s: %v messages, %v never granted", label, c.values["messages"], c.values["never_granted"])
		}
	}
	for _, label := range []string{"maekawa-corrected", "raynal-modified", "ricart-agrawala"} {
		m.wants(m.of(label), "never_granted", 0, 0)
	}
}

func newToken(m *measured) {
	for _, label := range []string{"token-ring", "naimi-trehel"} {
		m.ends(m.of(label), trace.TimedOut)
	}
	m.wants(m.of("ft-26ms"), "recovery_ms", 118, 118)
	m.wants(m.of("ft-16ms"), "recovery_ms", 88, 88)
}
