package host_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func cut(at int) harness.Event {
	return harness.Event{At: ms(at), Do: harness.DoCut, Groups: [][]uint32{{1, 2}, {3, 4}}}
}

func heal(at int) harness.Event { return harness.Event{At: ms(at), Do: harness.DoHeal} }

func crash(at int) harness.Event { return harness.Event{At: ms(at), Do: harness.DoCrash, Node: 2} }

func restart(at int) harness.Event {
	return harness.Event{At: ms(at), Do: harness.DoRestart, Node: 2}
}

// TestTrial_Conservation: whatever happens to them, every copy of every message
// has exactly one end.
func TestTrial_Conservation(t *testing.T) {
	t.Parallel()
	m := newMachine(t, 4)
	params := map[string]any{"rounds": int64(40), "pause": ms(4)}
	for _, c := range []struct {
		name     string
		scenario harness.Scenario
		crashed  bool // process 2 is down at the start
	}{
		{"losses", script(), false},
		{"crash", script(crash(60)), false},
		{"crash and restart", script(crash(40), restart(80)), false},
		{"crash of what is on its way up", script(crash(40), restart(50), crash(51), restart(90)), false},
		{"restart of who was down at the start", script(restart(50)), true},
		{"partition", script(cut(30), heal(90)), false},
		{"all together", script(cut(30), crash(50), heal(70), restart(90)), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plan(t, "election/test-chatter", 4, c.scenario, params)
			p.Network = link.Network{Latency: link.Uniform(ms(1), ms(15)), Loss: 0.1, Duplication: 0.1}
			if c.crashed {
				p.Crashed = append(p.Crashed, 2)
			}
			o := run(t, m, p)
			if o.Status == trace.Failed { // that is what the judge says if the sum is wrong
				t.Fatal(o.Reason)
			}
			total := o.Totals
			if o.End.Reason != harness.Finished || o.End.Pending != 0 {
				t.Errorf("ended as %s with %d pending", o.End.Reason, o.End.Pending)
			}
			if c.name == "losses" {
				lo, hi := stats.BinomialInterval(int(total.Lost), int(total.Lost+total.Delivered), 0.999)
				if lo > 0.1 || hi < 0.1 {
					t.Errorf("%d of %d lost: 0.1 is not in [%.3f, %.3f]", total.Lost,
						total.Lost+total.Delivered, lo, hi)
				}
				if err := same(simulate(t, p), o); err != nil {
					t.Error(err)
				}
			}
			if total.Duplicated == 0 || total.Lost == 0 ||
				(strings.Contains(c.name, "crash") || c.crashed) && total.Undeliverable == 0 {
				t.Errorf("nothing to conserve: %+v", total)
			}
			t.Logf("%+v", total)
		})
	}
}

// TestTrial_Partition: by the clocks of the nodes the cut begins everywhere at
// its very instant, for every message alike.
func TestTrial_Partition(t *testing.T) {
	p := plan(t, "election/test-chatter", 4, script(cut(40), heal(90)), map[string]any{
		"rounds": int64(60), "pause": ms(2),
	})
	p.Network.Latency = link.Uniform(0, ms(8))
	crossed := map[string]int{}
	o := run(t, newMachine(t, 4), p)
	for i := range o.Trace {
		r := &o.Trace[i]
		if r.Type != trace.Deliver && r.Type != trace.Lose {
			continue
		}
		across := (r.Peer <= 2) != (r.Process <= 2)
		severed := across && r.Due >= ms(40) && r.Sent < ms(90)
		if severed != (r.Type == trace.Lose) {
			t.Errorf("%v of p%d to p%d, sent %v, due %v", r.Type, r.Peer, r.Process, r.Sent, r.Due)
		}
		switch {
		case across && r.Type == trace.Lose:
			crossed["lost"]++
		case across && r.Due < ms(40):
			crossed["before"]++
		case across:
			crossed["after"]++
		}
	}
	if len(crossed) != 3 {
		t.Errorf("messages between the halves: %v", crossed)
	}
	t.Log(crossed)
}

// TestTrial_CutsAgain: what happens to links again and again is known to the nodes before
// the start: every time at its very instant, for every message alike.
func TestTrial_CutsAgain(t *testing.T) {
	p := plan(t, "election/test-chatter", 4, script(), map[string]any{"rounds": int64(60), "pause": ms(2)})
	p.Network.Latency = link.Uniform(0, ms(8))
	p.Scenario.Set("until", ms(150))
	p.Faults.Events = []harness.Event{
		{Every: ms(30), Do: harness.DoCut, Groups: [][]uint32{{1, 2}}, For: ms(10)},
	}
	o := run(t, newMachine(t, 4), p)
	lost := 0
	for i := range o.Trace {
		r := &o.Trace[i]
		switch r.Type {
		case trace.Cut, trace.Heal:
			if late := r.At % ms(10); late != 0 {
				t.Errorf("%v at %v", r.Type, r.At)
			}
		case trace.Deliver, trace.Lose:
			// sent or on its way in [30 k, 30 k + 10) for a k above 0
			begin := max(r.Due/ms(30)*ms(30), ms(30))
			severed := (r.Peer <= 2) != (r.Process <= 2) && r.Due >= begin && r.Sent < begin+ms(10)
			if severed != (r.Type == trace.Lose) {
				t.Errorf("%v of p%d to p%d, sent %v, due %v", r.Type, r.Peer, r.Process, r.Sent, r.Due)
			}
			if severed {
				lost++
			}
		}
	}
	if lost == 0 {
		t.Error("no message was lost")
	}
}

// TestTrial_CutAfterQuiet: what the timeline does not hold, the nodes are told.
func TestTrial_CutAfterQuiet(t *testing.T) {
	p := plan(t, "mutex/naimi-trehel", 4, script(
		harness.Event{Do: harness.DoRequest, Node: 4},
		harness.Event{After: "quiet", Do: harness.DoCut, Groups: [][]uint32{{4}}},
		crash(150), restart(200), // the new one has to hear of it as well
		harness.Event{At: ms(300), Do: harness.DoRequest, Node: 1},
		harness.Event{At: ms(300), Do: harness.DoRequest, Node: 2},
	), nil)
	p.InModel = false
	o := run(t, newMachine(t, 4), p)
	for i := range o.Trace {
		if r := &o.Trace[i]; r.At > ms(250) && r.Type == trace.Deliver && (r.Peer == 4 || r.Process == 4) {
			t.Errorf("p%d reached p%d at %v", r.Peer, r.Process, r.At)
		}
	}
	if o.Totals.Lost == 0 || o.End.Reason != harness.Finished && o.End.Reason != harness.Stuck {
		t.Errorf("%s: %+v", o.End.Reason, o.Totals)
	}
}

func lines(list trace.List, p uint32) (out []string) {
	for i := range list {
		if r := &list[i]; r.Type == trace.Log && r.Process == p {
			out = append(out, r.Text)
		}
	}
	return out
}

// ups is which incarnations of process 2 began.
func ups(list trace.List) (out []uint32) {
	for i := range list {
		if r := &list[i]; r.Type == trace.Up && r.Process == 2 {
			out = append(out, r.Incarnation)
		}
	}
	return out
}

// TestTrial_RestartHasOnlyWhatWasSaved runs in both worlds.
func TestTrial_RestartHasOnlyWhatWasSaved(t *testing.T) {
	t.Parallel()
	p := plan(t, "election/test-saver", 3, script(crash(52), restart(80), crash(400), restart(450)),
		map[string]any{"ticks": int64(120), "pause": ms(5)})
	real := run(t, newMachine(t, 3), p, func(o outcome) error {
		if !slices.Equal(ups(o.Trace), []uint32{0, 1, 2}) {
			return fmt.Errorf("incarnations %v: it was crashed again before it was up", ups(o.Trace))
		}
		return nil
	})
	for name, o := range map[string]algotest.Outcome{"sim": simulate(t, p), "nodes": real.Outcome} {
		saved := 0
		for i := range o.Trace {
			if o.Trace[i].Type == trace.Save {
				saved++
			}
		}
		if !slices.Equal(ups(o.Trace), []uint32{0, 1, 2}) || saved == 0 {
			t.Errorf("%s: incarnations %v, saved %d times", name, ups(o.Trace), saved)
		}
		said := lines(o.Trace, 2)
		for i, line := range said {
			life, want := 1, saved
			if name == "sim" { // one process of the system for all of them
				_, _ = fmt.Sscanf(line, "life %d", &life)
			}
			if i == 0 {
				want = 0
			}
			// The last life remembers what the first saved: the second saved nothing.
			if line != fmt.Sprintf("life %d, incarnation %d, saved %d", life, i, want) {
				t.Errorf("%s: incarnation %d says %q, saved were %d", name, i, line, saved)
			}
		}
		if len(said) != 3 {
			t.Errorf("%s: %q", name, said)
		}
	}
	if gone := lines(real.Trace, 1); len(gone) != 2 || gone[0] == gone[1] {
		t.Errorf("process 1 saw %q in /proc", gone)
	}
}

// TestTrial_Disks: what a process writes to a disk that is slow, hangs, is full or lies, on real nodes as in
// simulation.
func TestTrial_Disks(t *testing.T) {
	t.Parallel()
	m := newMachine(t, 3)
	for _, c := range []struct {
		event harness.Event
		also  []harness.Event
		lives int
	}{
		{event: harness.Event{Do: fault.SlowDisk, Args: fault.Args{Own: &fault.SlowWriting{By: ms(30)}}}, lives: 1},
		{event: harness.Event{Do: fault.HungDisk, For: ms(100)}, lives: 1},
		{event: harness.Event{Do: fault.FullDisk, For: ms(100)}, lives: 2},
		{event: harness.Event{Do: fault.LyingDisk}, also: []harness.Event{crash(200), restart(250)}, lives: 2},
	} {
		c.event.At, c.event.Node = ms(52), 2
		p := plan(t, "election/test-saver", 3, script(append(c.also, c.event)...),
			map[string]any{"ticks": int64(120), "pause": ms(5)})
		p.InModel = false
		real := run(t, m, p, func(o outcome) error {
			if n := len(ups(o.Trace)); n != c.lives {
				return fmt.Errorf("%d incarnations, want %d", n, c.lives)
			}
			return nil
		})
		for name, o := range map[string]algotest.Outcome{"sim": simulate(t, p), "nodes": real.Outcome} {
			if err := written(o.Trace, &c.event); err != nil {
				t.Errorf("%s on %s: %v", c.event.Do, name, err)
			}
		}
	}
}

// written checks the writes of process 2, and what its next incarnation finds.
func written(records trace.List, e *harness.Event) error {
	kept, before, during, last, gap := 0, 0, 0, time.Duration(0), time.Duration(0)
	failing, life := false, ""
	for i := range records {
		r := &records[i]
		if r.Process != 2 {
			continue
		}
		switch r.Type {
		case trace.Fault:
			failing = !strings.HasSuffix(r.Text, "undone")
		case trace.Crash:
			failing = false
		case trace.Log:
			life = r.Text
		case trace.Save:
			if failing {
				during++
			} else if during == 0 {
				before++
			}
			if r.Peer == trace.Kept {
				kept++
			}
			if e.Do == fault.SlowDisk && during > 1 && r.At-last < e.Args.Own.(*fault.SlowWriting).By {
				return fmt.Errorf("writes at %v and at %v", last, r.At)
			}
			gap, last = max(gap, r.At-last), r.At
		}
	}
	_, saved, again := strings.Cut(life, "incarnation 1, saved ")
	switch {
	case before == 0 || kept == 0:
		return fmt.Errorf("%d writes before the fault, %d kept", before, kept)
	case e.Do == fault.HungDisk && (during > 0 || gap < e.For-ms(20)):
		return fmt.Errorf("%d writes while the disk hung, and a gap of %v", during, gap)
	case e.Do == fault.FullDisk && (during != 1 || !again || saved != strconv.Itoa(kept)),
		e.Do == fault.LyingDisk && (during < 2 || !again || saved != strconv.Itoa(kept)):
		return fmt.Errorf("%d writes, %d kept, and then: %s", during, kept, life)
	}
	return nil
}

// TestTrial_TimelineReachesTheNextIncarnation: an instruction for a process that
// crashed and is up again by then is carried out.
func TestTrial_TimelineReachesTheNextIncarnation(t *testing.T) {
	t.Parallel()
	p := plan(t, "mutex/naimi-trehel", 3, script(crash(20), restart(40),
		harness.Event{At: ms(30), Do: harness.DoRequest, Node: 2}, // down: nobody asks
		harness.Event{At: ms(1000), Do: harness.DoRequest, Node: 2},
	), nil)
	p.Crashed, p.InModel = nil, false
	want := simulate(t, p)
	// A busy machine may crash p2 so late that it has requested before.
	o := run(t, newMachine(t, 3), p, func(o outcome) error { return same(want, o) })
	if o.Completed != 1 {
		t.Errorf("%d entries", o.Completed)
	}
}

func TestTrial_NothingIsEarly(t *testing.T) {
	p := plan(t, "election/test-chatter", 4, script(), map[string]any{
		"rounds": int64(100), "pause": ms(2),
	})
	p.Network.Latency = link.Constant(ms(5))
	o := run(t, newMachine(t, 4), p)
	var late []time.Duration
	for i := range o.Trace {
		if r := &o.Trace[i]; r.Type == trace.Deliver {
			late = append(late, r.At-r.Due)
			if r.At < r.Due || r.Due != r.Sent+ms(5) {
				t.Fatalf("sent %v, due %v, delivered %v", r.Sent, r.Due, r.At)
			}
		}
	}
	slices.Sort(late)
	t.Logf("delay error of %d messages: p50 %v, p99 %v", len(late), late[len(late)/2],
		late[len(late)*99/100])
}
