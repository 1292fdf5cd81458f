package diagram

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/report/player"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A watcher follows the data of a page as its script does.
type watcher struct {
	*player.Data
	changes int
	now     []map[int]string // by process
}

func watch(d *player.Data) *watcher {
	w := &watcher{Data: d, now: make([]map[int]string, d.Nodes+1)}
	for p := range w.now {
		w.now[p] = map[int]string{}
	}
	for i := 0; i < len(d.Initial); i += 3 {
		w.now[d.Initial[i]][d.Initial[i+1]] = d.Words[d.Initial[i+2]]
	}
	return w
}

// until lets the first n events happen.
func (w *watcher) until(n int) {
	for ; w.changes < len(w.Changes) && w.Changes[w.changes] < n; w.changes += 3 {
		i := w.changes
		w.now[w.Events.Process[w.Changes[i]]][w.Changes[i+1]] = w.Words[w.Changes[i+2]]
	}
}

// TestPlayer: after each event, the page shows of every process what the simulator's
// process holds at that step, whole or from some instant on.
func TestPlayer(t *testing.T) {
	churn := []string{"scenario={kind: churn, duration: 700ms}", "network={latency: 2ms, loss: 0.1, duplication: 0.1}",
		"detector={kind: heartbeat, interval: 20ms, timeout: 60ms}",
		"faults={crash_rate: 2, downtime: 60ms, events: [{at: 100ms, do: pause, who: leader, for: 50ms}]}"}
	for algorithm, set := range map[string][]string{
		"election/bully": churn, "election/raft": churn,
		"mutex/suzuki-kasami": {"scenario={kind: closed, requests: 30}"},
	} {
		set = append(set, "transport=sim", "repetitions=1")
		e, err := experiment.Build([]string{algorithm}, "5", experiment.Overrides{Set: set})
		if err != nil {
			t.Fatal(err)
		}
		plan := e.Trials()[0].Plan
		setup := func() *harness.Setup {
			s, err := plan.Setup()
			if err != nil {
				t.Fatal(err)
			}
			s.Virtual = true
			return s
		}
		s := setup()
		var list trace.List
		sim.Run(s, &list)
		found := harness.Details(setup(), list, new(algo.Buffer))
		if len(found.Differences) > 0 {
			t.Fatalf("%s: %v", algorithm, found.Differences)
		}
		tr := Trace{Title: algorithm, Kinds: s.Alg.Codec.Kinds(), Records: list, Nodes: plan.Nodes,
			Leader: uint32(plan.Leader), Details: found.Details, Breaches: check.Breaches(setup(), list)}
		for _, from := range []time.Duration{0, list[len(list)/2].At} {
			w := watch(diagram(t, tr, Window{From: from}).play())
			var again trace.List
			m := sim.New(setup(), &again)
			compared := 0
			for more := true; more; _, more = m.Step() {
				if len(again) < w.First {
					continue
				}
				w.until(len(again) - w.First + 1)
				for p := algo.ID(1); int(p) <= plan.Nodes; p++ {
					compared += same(t, w, len(again), p, m.Process(p))
				}
			}
			if n := len(w.Events.At); compared < 100 || n+w.First-1 != len(list) || (from > 0) != (w.First > 1) {
				t.Errorf("%s from %v: %d states compared, %d events from %d on, of %d", algorithm, from,
					compared, n, w.First, len(list))
			}
		}
	}
}

// same compares what the page shows of p after event n with what p is.
func same(t *testing.T, w *watcher, n int, p algo.ID, is sim.State) (compared int) {
	t.Helper()
	now := w.now[p]
	alive := "down"
	if is.Up {
		alive = "up"
		if is.Paused {
			alive = "up, paused"
		}
	}
	leader, _, _ := strings.Cut(now[player.Leader], ",")
	if now[player.Alive] != alive || (now[player.Section] == "inside") != is.Inside ||
		is.Leader != 0 && leader != fmt.Sprintf("p%d", is.Leader) {
		t.Fatalf("%s, after event %d, p%d: %v, and it is %+v", w.Title, n, p, now, is)
	}
	if !is.Up && now[player.Leader]+now[player.Section] != "" {
		t.Fatalf("%s, after event %d, p%d is down: %v", w.Title, n, p, now)
	}
	for i, f := range w.Fields {
		if i < player.Trial {
			continue
		}
		value := ""
		k := slices.IndexFunc(is.Variables, func(v harness.Variable) bool { return v.Name == f.Name })
		if k >= 0 {
			value = is.Variables[k].Value
			compared++
		}
		if now[i] != value {
			t.Fatalf("%s, after event %d, p%d: %s is %q, want %q", w.Title, n, p, f.Name, now[i], value)
		}
	}
	return compared
}

// TestPlayer_Page: too many events are cut around the one at which the page opens, and
// what others have written stays text.
func TestPlayer_Page(t *testing.T) {
	tr := small()
	tr.Title = `</title><script>alert(1)</script>`
	tr.Breaches = []check.Breach{{Record: 25, Text: "two inside"}}
	tr.Note = "states are not known"
	d := diagram(t, tr, Window{Event: 26, Most: 10})
	p := d.play()
	if p.First != 22 || len(p.Events.At) != 10 || p.Open != 26 || !slices.Equal(p.Breaches[:1], []int{4}) ||
		p.Words[p.Breaches[1]] != "two inside" {
		t.Errorf("%d events from %d on, opened at %d, broken %v", len(p.Events.At), p.First, p.Open, p.Breaches)
	}
	for i, m := range p.Events.Message {
		if m >= 0 && p.Messages.Send[m] != i && p.Messages.End[m] != i {
			t.Errorf("event %d is of message %d, which is sent at %d and ends at %d", i, m, p.Messages.Send[m],
				p.Messages.End[m])
		}
	}
	var out bytes.Buffer
	notes, err := d.Write(&out, "html")
	if err != nil || strings.Count(out.String(), "<script>") != 1 {
		t.Errorf("%v, with %d scripts", err, strings.Count(out.String(), "<script>"))
	}
	if all := strings.Join(notes, "; "); all != "events 22 to 31 of 38; states are not known" ||
		!strings.Contains(out.String(), "Note: events 22 to 31 of 38.") {
		t.Errorf("notes %q", all)
	}
}
