package harness

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// toldFaults is instructions as text, with what they say of links and spans.
func toldFaults(list []Instruction) []string {
	out := told(list)
	for k, i := range list {
		switch {
		case i.Groups != nil || i.Links != nil:
			out[k] += " " + link.Change{Groups: i.Groups, Links: i.Links}.String()
		case i.Override != nil:
			out[k] += fmt.Sprintf(" until %v: %v", i.Override.To, *i.Override)
		case i.Do == DoSlow && !i.Undo:
			out[k] += fmt.Sprintf(" by %v", i.Args.Own.(*fault.Slowing).By)
		}
	}
	return out
}

// TestPlannedFaults: what is known before the start stands in the timeline, with
// what undoes it; the rest asks the coordinator at its instant.
func TestPlannedFaults(t *testing.T) {
	t.Parallel()
	loss := 0.5
	for name, test := range map[string]struct {
		event Event
		want  []string
	}{
		"one":      {Event{At: 5 * ms, Do: DoCrash, Node: 2}, []string{"5ms crash 2"}},
		"several":  {Event{At: 5 * ms, Do: DoPause, Nodes: []algo.ID{2, 4}}, []string{"5ms pause 2", "5ms pause 4"}},
		"for long": {Event{At: 5 * ms, Do: DoCrash, Node: 2, For: 7 * ms}, []string{"5ms crash 2", "12ms restart 2"}},
		"slow":     {Event{At: 5 * ms, Do: DoSlow, Node: 2, Args: fault.SlowBy(ms), For: ms}, []string{"5ms slow 2 by 1ms", "6ms slow 2"}},
		"groups": {Event{At: 5 * ms, Do: DoCut, Groups: [][]uint32{{1, 2}, {3}}, For: ms},
			[]string{"5ms cut 1 2|3", "6ms heal 1 2|3"}},
		"links":  {Event{At: 5 * ms, Do: DoCut, Links: [][2]uint32{{1, 2}}}, []string{"5ms cut 1>2"}},
		"halves": {Event{At: ms, Do: DoCut, Shape: "halves"}, []string{"1ms cut 1 2"}},
		"bridge": {Event{At: ms, Do: DoCut, Shape: "bridge"},
			[]string{"1ms cut 1>4 4>1 1>5 5>1 2>4 4>2 2>5 5>2"}},
		"ring": {Event{At: ms, Do: DoCut, Shape: "ring"},
			[]string{"1ms cut 1>3 1>4 2>4 2>5 3>1 3>5 4>1 4>2 5>2 5>3"}},
		"deaf":    {Event{At: ms, Do: DoCut, Shape: "deaf", Node: 3}, []string{"1ms cut 1>3 2>3 4>3 5>3"}},
		"mute":    {Event{At: ms, Do: DoCut, Shape: "mute", Node: 3}, []string{"1ms cut 3>1 3>2 3>4 3>5"}},
		"isolate": {Event{At: ms, Do: DoCut, Shape: "isolate", Nodes: []algo.ID{2, 3}}, []string{"1ms cut 2|3"}},
		"flaky": {Event{At: ms, Do: DoFlaky, Links: [][2]uint32{{1, 2}}, Args: fault.Lossy(loss), For: 4 * ms},
			[]string{"1ms flaky until 5ms: 1>2 loss 0.5", "5ms flaky"}},
		"flaky, copies": {Event{At: ms, Do: DoFlaky, Links: [][2]uint32{{1, 2}}, Args: fault.Twice(3 * ms), For: ms},
			[]string{"1ms flaky until 2ms: 1>2 copy 3ms", "2ms flaky"}},
		"flaky, all of one": {Event{At: ms, Do: DoFlaky, Node: 5, Args: fault.Lossy(loss)}, []string{"1ms flaky until 0s: " +
			"1>5 5>1 2>5 5>2 3>5 5>3 4>5 5>4 loss 0.5"}},
		"a host": {Event{At: 5 * ms, Do: DoCrash, Host: "lab", Nodes: []algo.ID{2, 3}}, []string{"5ms crash 2", "5ms crash 3"}},
		"a host cut off": {Event{At: ms, Do: DoCut, Shape: "isolate", Host: "lab", Nodes: []algo.ID{2, 3}, For: ms},
			[]string{"1ms cut 2 3", "2ms heal 2 3"}},
		"a deaf host": {Event{At: ms, Do: DoCut, Shape: "deaf", Host: "lab", Nodes: []algo.ID{2, 3}},
			[]string{"1ms cut 1>2 1>3 4>2 4>3 5>2 5>3"}},
		"a mute host": {Event{At: ms, Do: DoCut, Shape: "mute", Host: "lab", Nodes: []algo.ID{2, 3}},
			[]string{"1ms cut 2>1 3>1 2>4 3>4 2>5 3>5"}},
		"a host between halves": {Event{At: ms, Do: DoCut, Shape: "bridge", Host: "lab", Nodes: []algo.ID{2, 3}},
			[]string{"1ms cut 1>4 4>1 1>5 5>1"}},
		"a flaky host": {Event{At: ms, Do: DoFlaky, Host: "lab", Nodes: []algo.ID{1, 2, 3, 4}, Args: fault.Lossy(loss)},
			[]string{"1ms flaky until 0s: 5>1 1>5 5>2 2>5 5>3 3>5 5>4 4>5 loss 0.5"}},
		"whoever leads":   {Event{At: 5 * ms, Do: DoCrash, Who: "leader"}, []string{"5ms strike"}},
		"again and again": {Event{Every: 5 * ms, Do: DoCrash, Node: 2}, []string{"5ms strike"}},
		"from then on":    {Event{At: 3 * ms, Every: 5 * ms, Do: DoCrash, Node: 2}, []string{"3ms strike"}},
		"in time":         {Event{On: "elected", Do: DoCrash, Who: "leader"}, nil},
		"a rule":          {Event{Do: DoDrop, Kind: "NOTE"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := NewCoordinator(mustSetup(t, "election/test-puppet", 5, Scenario{Plot: &Churn{Duration: time.Hour}},
				func(p *Plan) { p.Faults.Events = []Event{test.event} }))
			got := slices.DeleteFunc(d.Timeline(), func(i Instruction) bool { return i.Finish() })
			same(t, "timeline", toldFaults(got), append([]string{}, test.want...))
		})
	}
}

// TestStrikes: whom an event happens to is found out at its instant.
func TestStrikes(t *testing.T) {
	t.Parallel()
	led := func(p, by uint32) trace.Record { return trace.Record{Type: trace.Elected, Process: p, Peer: by} }
	at := func(k trace.Type, p uint32) trace.Record { return trace.Record{Type: k, Process: p} }
	all := func(by uint32) []trace.Record {
		return []trace.Record{led(1, by), led(2, by), led(3, by), led(4, by), led(5, by)}
	}
	for name, test := range map[string]struct {
		id      string
		event   Event
		records []trace.Record
		want    []string
	}{
		"the settled leader": {"election/test-puppet", Event{Do: DoCrash, Who: "leader"}, nil,
			[]string{"7ms crash 5"}},
		"the new one": {"election/test-puppet", Event{Do: DoCrash, Who: "leader"},
			[]trace.Record{at(trace.Crash, 5), led(4, 4), led(1, 4), led(2, 4), led(3, 4)}, []string{"7ms crash 4"}},
		"not all agree": {"election/test-puppet", Event{Do: DoCrash, Who: "leader"},
			[]trace.Record{at(trace.Crash, 5), led(4, 4), led(1, 4), led(2, 4)}, nil},
		"nobody leads": {"election/test-puppet", Event{Do: DoCrash, Who: "leader"},
			[]trace.Record{at(trace.Crash, 5)}, nil},
		"the next lower": {"election/test-puppet", Event{Do: DoPause, Who: "successor-of-leader"},
			[]trace.Record{at(trace.Crash, 4)}, []string{"7ms pause 3"}},
		"of the lowest the highest": {"election/test-puppet", Event{Do: DoPause, Who: "successor-of-leader"},
			[]trace.Record{at(trace.Crash, 5), led(1, 1), led(2, 1), led(3, 1), led(4, 1)}, []string{"7ms pause 4"}},
		"all that are down": {"election/test-puppet", Event{Do: DoRestart},
			[]trace.Record{at(trace.Crash, 2), at(trace.Crash, 4)}, []string{"7ms restart 2", "7ms restart 4"}},
		"who is inside": {"mutex/test-lock", Event{Do: DoCrash, Who: "in-critical-section"},
			[]trace.Record{at(trace.Granted, 2), at(trace.Granted, 3), at(trace.Released, 2)},
			[]string{"7ms crash 3"}},
		"who has the token": {"mutex/test-token", Event{Do: DoCrash, Who: "token-holder"},
			[]trace.Record{at(trace.Deliver, 4)}, []string{"7ms crash 4"}},
		"the first holder": {"mutex/test-token", Event{Do: DoCrash, Who: "token-holder"}, nil,
			[]string{"7ms crash 1"}},
		"the leader apart": {"election/test-puppet", Event{Do: DoCut, Shape: "isolate", For: ms},
			all(2), []string{"7ms cut 2", "8ms heal 2"}},
		"the leader deaf": {"election/test-puppet", Event{Do: DoCut, Shape: "deaf"},
			all(2), []string{"7ms cut 1>2 3>2 4>2 5>2"}},
		"again": {"election/test-puppet", Event{Every: 4 * ms, Times: 2, Do: DoPause, Who: "leader"}, nil,
			[]string{"7ms pause 5", "11ms strike"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := NewCoordinator(mustSetup(t, test.id, 5, Scenario{Plot: &Churn{Duration: time.Hour}}, func(p *Plan) {
				p.Faults.Events = []Event{test.event}
				p.Faults.Events[0].At = 7 * ms
				p.Leader = 5
			}))
			timeline := slices.DeleteFunc(d.Timeline(), func(i Instruction) bool { return i.Finish() })
			same(t, "timeline", told(timeline), []string{"7ms strike"})
			for i := range test.records {
				d.Observe(&test.records[i])
			}
			got := d.Strike(7*ms, timeline[0])
			same(t, "strike", toldFaults(got), append([]string{}, test.want...))
			if skipped := d.Skipped(time.Hour); (skipped == 1) != (len(test.want) == 0) {
				t.Errorf("%d skipped", skipped)
			}
		})
	}
}

// TestChosenAtRandom: the sides and the victims differ from strike to strike and
// from seed to seed, and are never the dead.
func TestChosenAtRandom(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		event Event
		size  func(n int) bool
	}{
		{Event{Do: DoCrash, Who: "random"}, func(n int) bool { return n == 1 }},
		{Event{Do: DoCrash, Who: "majority"}, func(n int) bool { return n == 3 }},
		{Event{Do: DoCrash, Who: "minority"}, func(n int) bool { return n == 2 }},
		{Event{Do: DoCut, Shape: "majority"}, func(n int) bool { return n == 3 }},
		{Event{Do: DoCut, Shape: "minority"}, func(n int) bool { return n == 2 }},
		{Event{Do: DoCut, Shape: "random"}, func(n int) bool { return n >= 1 && n <= 4 }},
	} {
		seen := map[string]int{}
		for seed := range uint64(100) {
			test.event.Every = ms
			d := NewCoordinator(mustSetup(t, "election/test-puppet", 5,
				Scenario{Plot: &Churn{Duration: time.Hour}}, func(p *Plan) {
					p.Faults.Events = []Event{test.event}
					p.Seed, p.Leader = seed, 5
				}))
			strike := d.Timeline()[0]
			d.Observe(&trace.Record{Type: trace.Crash, Process: 2})
			got := d.Strike(ms, strike)
			got = got[:len(got)-1] // the next strike
			var ids []string
			for _, i := range got {
				if i.Do == DoCut {
					for _, p := range i.Groups[0] {
						ids = append(ids, fmt.Sprint(p))
					}
					if test.event.Shape != "random" && !slices.Contains(ids, "5") {
						t.Fatalf("%+v: the leader is not among %q", test.event, ids)
					}
					continue
				}
				ids = append(ids, fmt.Sprint(i.Node))
			}
			if !test.size(len(ids)) || test.event.Who == "random" && ids[0] == "2" {
				t.Fatalf("%+v: %q", test.event, ids)
			}
			seen[fmt.Sprint(ids)]++
		}
		if len(seen) < 4 {
			t.Errorf("%+v: only %v", test.event, seen)
		}
	}
}

// TestTriggers: an event that waits for another happens at the one that counts,
// and no more often than it may.
func TestTriggers(t *testing.T) {
	t.Parallel()
	led := trace.Record{Type: trace.Elected, Process: 3, Peer: 3, At: 4 * ms}
	follows := trace.Record{Type: trace.Elected, Process: 2, Peer: 3, At: 4 * ms}
	for name, test := range map[string]struct {
		event   Event
		records []trace.Record
		want    []string
	}{
		"at once":        {Event{On: "elected"}, []trace.Record{follows, led, led}, []string{"4ms crash 3"}},
		"to a host":      {Event{On: "elected", Host: "lab", Nodes: []algo.ID{2, 3}}, []trace.Record{led}, []string{"4ms crash 2", "4ms crash 3"}},
		"a while after":  {Event{On: "elected", Wait: 2 * ms}, []trace.Record{led, led}, []string{"6ms strike"}},
		"the second":     {Event{On: "elected", Count: 2}, []trace.Record{led, follows}, nil},
		"the second one": {Event{On: "elected", Count: 2}, []trace.Record{led, led, led}, []string{"4ms crash 3"}},
		"twice": {Event{On: "elected", Times: 2}, []trace.Record{led, led, led},
			[]string{"4ms crash 3", "4ms crash 3"}},
		"not before": {Event{On: "elected", At: 5 * ms}, []trace.Record{led}, nil},
		"a message": {Event{On: "sent", Kind: "NOTE"},
			[]trace.Record{{Type: trace.Send, Plane: trace.Detection}, {Type: trace.Send, At: ms}},
			[]string{"1ms crash 5"}},
		"another message": {Event{On: "sent", Kind: "NOTE"}, []trace.Record{{Type: trace.Send, Kind: 1}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.event.Do, test.event.Who = DoCrash, "leader"
			d := NewCoordinator(mustSetup(t, "election/test-puppet", 5,
				Scenario{Plot: &Churn{Duration: time.Hour}}, func(p *Plan) {
					p.Faults.Events = []Event{test.event}
					p.Leader = 5
				}))
			d.Timeline()
			got := []string{}
			for i := range test.records {
				got = append(got, told(d.Observe(&test.records[i]))...)
			}
			same(t, "instructions", got, append([]string{}, test.want...))
		})
	}
}

// TestBreakdowns: live processes crash at the rate, never too many at once, and
// come back after their downtime.
func TestBreakdowns(t *testing.T) {
	t.Parallel()
	const n, horizon = 5, 1000 * time.Second
	for _, most := range []int{0, 1, 4} {
		d := NewCoordinator(mustSetup(t, "election/test-puppet", n, Scenario{Plot: &Churn{Duration: horizon}},
			func(p *Plan) {
				p.Faults = Faults{CrashRate: 0.5, Downtime: link.Constant(400 * ms), MaxDown: most}
			}))
		limit := most
		if limit == 0 {
			limit = 2
		}
		down, crashes := map[algo.ID]time.Duration{}, 0
		var up time.Duration // process-time during which a crash could have come
		last := time.Duration(0)
		for _, i := range d.Timeline() {
			if len(down) < limit {
				up += time.Duration(n-len(down)) * (i.At - last)
			}
			last = i.At
			switch i.Do {
			case DoCrash:
				if _, twice := down[i.Node]; twice || len(down) == limit {
					t.Fatalf("at most %d down: %d crashes at %v while %v are", limit, i.Node, i.At, down)
				}
				down[i.Node] = i.At
				crashes++
			case DoRestart:
				if i.At-down[i.Node] != 400*ms {
					t.Fatalf("%d is back after %v", i.Node, i.At-down[i.Node])
				}
				delete(down, i.Node)
			}
		}
		want := 0.5 * up.Seconds()
		if math.Abs(float64(crashes)-want) > 4*math.Sqrt(want) {
			t.Errorf("at most %d down: %d crashes, want about %.0f", limit, crashes, want)
		}
	}
}

// TestScenarioFaults: what the scenarios do, and when they are over.
func TestScenarioFaults(t *testing.T) {
	t.Parallel()
	elected := func(p, leader uint32) trace.Record {
		return trace.Record{Type: trace.Elected, Process: p, Peer: leader}
	}
	atOnce := func(t *testing.T, s Scenario, change func(*Plan)) *Coordinator {
		setup := mustSetup(t, "election/test-puppet", 2, s, change)
		setup.Scenario.Set("settle", 0)
		setup.settle = 0
		return NewCoordinator(setup)
	}
	leads := func(p *Plan) { p.Leader = 2 }
	t.Run("leader-restart", func(t *testing.T) {
		t.Parallel()
		d := atOnce(t, Scenario{Plot: &LeaderRestart{}}, func(p *Plan) {
			p.Leader, p.Crashed = 1, []algo.ID{2}
		})
		timeline := d.Timeline()
		same(t, "timeline", told(timeline), []string{"0s strike"})
		same(t, "strike", told(d.Strike(0, timeline[0])), []string{"0s restart 2"})
		same(t, "before", told(d.Quiet(0, 0, false)), []string{})
		d.Observe(&trace.Record{Type: trace.Up, Process: 2, Incarnation: 1})
		same(t, "it trusts nobody", told(d.Quiet(0, 1, false)), []string{})
		for _, p := range []uint32{1, 2} {
			r := elected(p, 2)
			d.Observe(&r)
		}
		same(t, "it leads", told(d.Quiet(0, 2, false)), []string{"0s finish"})
	})
	t.Run("churn, restless", func(t *testing.T) {
		t.Parallel()
		s := Scenario{Plot: &Churn{Duration: 20 * ms}}
		d := NewCoordinator(mustSetup(t, "election/test-restless", 2, s, func(p *Plan) { p.Leader = 2 }))
		same(t, "timeline", told(d.Timeline()), []string{"20ms finish"})
		for _, p := range []uint32{1, 2} {
			r := elected(p, 2)
			same(t, "all agree", told(d.Observe(&r)), []string{})
		}
	})
	t.Run("partition", func(t *testing.T) {
		t.Parallel()
		d := atOnce(t, Scenario{Plot: &Partition{Shape: "halves", Duration: 20 * ms}}, leads)
		same(t, "timeline", told(d.Timeline()), []string{"0s cut", "20ms heal"})
		same(t, "meanwhile", told(d.Quiet(5*ms, 0, false)), []string{"20ms alarm"})
		d.Observe(&trace.Record{Type: trace.Heal, At: 20 * ms})
		same(t, "afterwards", told(d.Quiet(20*ms, 1, false)), []string{"0s finish"})
	})
	t.Run("leader-crash, twice", func(t *testing.T) {
		t.Parallel()
		d := atOnce(t, Scenario{Plot: &LeaderCrash{Elections: 2}}, leads)
		timeline := d.Timeline()
		same(t, "timeline", told(timeline), []string{"0s strike"})
		same(t, "strike", told(d.Strike(0, timeline[0])), []string{"0s crash 2"})
		d.Observe(&trace.Record{Type: trace.Crash, Process: 2})
		r := elected(1, 1)
		d.Observe(&r)
		same(t, "the other leads", told(d.Quiet(3*ms, 1, false)), []string{"3ms restart 2"})
		d.Observe(&trace.Record{Type: trace.Up, Process: 2, Incarnation: 1})
		for _, p := range []uint32{1, 2} {
			r := elected(p, 2)
			d.Observe(&r)
		}
		again := slices.Clone(d.Quiet(6*ms, 2, false))
		same(t, "all agree again", told(again), []string{"6ms strike"})
		same(t, "the leader of then", told(d.Strike(6*ms, again[0])), []string{"6ms crash 2"})
		d.Observe(&trace.Record{Type: trace.Crash, Process: 2})
		r = elected(1, 1)
		d.Observe(&r)
		same(t, "the second election", told(d.Quiet(9*ms, 3, false)), []string{"0s finish"})
	})
}

func TestOmissions(t *testing.T) {
	t.Parallel()
	s := mustSetup(t, "mutex/test-token", 3, Scenario{Plot: &Burst{}}, func(p *Plan) {
		p.Faults.Events = []Event{
			{Do: DoDrop, Kind: "NOTE"}, {Do: DoDrop, Kind: "NOTE", Node: 2, Count: 3, Times: 2, At: 5 * ms},
		}
	})
	all := s.Omissions()
	if len(all) != 2 {
		t.Fatalf("%d omissions", len(all))
	}
	if o := &all[0]; !o.Fits(1, trace.Data, 0, 0) || o.Fits(1, trace.Data, 1, 0) ||
		o.Fits(1, trace.Detection, 0, 0) || !o.Loses(1) || o.Loses(2) {
		t.Errorf("the first NOTE: %+v", o)
	}
	o := &all[1]
	if o.Fits(1, trace.Data, 0, 9*ms) || o.Fits(2, trace.Data, 0, 4*ms) || !o.Fits(2, trace.Data, 0, 5*ms) {
		t.Errorf("the third NOTE of p2 from 5ms on: %+v", o)
	}
	for k, want := range map[uint64]bool{2: false, 3: true, 4: true, 5: false} {
		if o.Loses(k) != want {
			t.Errorf("loses the %d-th: %t", k, !want)
		}
	}
	for fitted, want := range map[uint64]int{0: 2, 2: 2, 3: 1, 4: 0, 9: 0} {
		if got := o.Missed(fitted); got != want {
			t.Errorf("of %d: %d missed, want %d", fitted, got, want)
		}
	}
}
