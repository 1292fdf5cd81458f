package diagram

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/election/bully"
	_ "github.com/conclave-bench/conclave/plugins/election/raft"
	_ "github.com/conclave-bench/conclave/plugins/mutex/suzukikasami"
)

var rewrite = flag.Bool("rewrite", false, "write testdata anew; read the difference first")

// play is a simulated trial.
func play(t testing.TB, algorithm, nodes string, set ...string) Trace {
	t.Helper()
	set = append(set, "transport=sim", "repetitions=1")
	e, err := experiment.Build([]string{algorithm}, nodes, experiment.Overrides{Set: set})
	if err != nil {
		t.Fatal(err)
	}
	plan := e.Trials()[0].Plan
	setup, err := plan.Setup()
	if err != nil {
		t.Fatal(err)
	}
	var list trace.List
	sim.Run(setup, &list)
	return Trace{Title: algorithm, Kinds: setup.Alg.Codec.Kinds(), Records: list, Nodes: plan.Nodes,
		Leader: uint32(plan.Leader)}
}

// stormy is an election in which everything goes wrong: crashes and returns, loss,
// second copies, a partition, a pause, heartbeats.
func stormy(t testing.TB) Trace {
	return play(t, "election/bully", "5", "scenario={kind: churn, duration: 700ms}",
		"detector={kind: heartbeat, interval: 20ms, timeout: 60ms}",
		"network={latency: 2ms, loss: 0.1, duplication: 0.1}",
		"faults={crash_rate: 2, downtime: 60ms, events: [{at: 100ms, do: pause, who: leader, for: 50ms}, "+
			"{at: 250ms, do: partition, shape: halves, for: 100ms}]}")
}

// small is a trace made by hand, with one of everything.
func small() Trace {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	send := func(at int, from, to uint32, seq uint64, kind uint8, due int) trace.Record {
		return trace.Record{At: ms(at), Type: trace.Send, Process: from, Peer: to, Seq: seq, Kind: kind,
			Sent: ms(at), Due: ms(due)}
	}
	end := func(what trace.Type, at int, from, to uint32, seq uint64, kind uint8, sent int) trace.Record {
		return trace.Record{At: ms(at), Type: what, Process: to, Peer: from, Seq: seq, Kind: kind,
			Sent: ms(sent), Due: ms(at)}
	}
	at := func(n int, what trace.Type, p, peer uint32) trace.Record {
		return trace.Record{At: ms(n), Type: what, Process: p, Peer: peer}
	}
	text := func(n int, what trace.Type, p uint32, s string) trace.Record {
		return trace.Record{At: ms(n), Type: what, Process: p, Text: s}
	}
	late := end(trace.Deliver, 4, 1, 2, 2, 1, 2)
	late.Due, late.Arg = ms(3), uint64(ms(1))
	term := at(5, trace.Elected, 2, 2)
	term.Arg = 3
	back := at(60, trace.Up, 3, 0)
	back.Incarnation = 1
	second := send(62, 3, 1, 1, 0, 63)
	second.Incarnation = 1
	lost := end(trace.Lose, 63, 3, 1, 1, 0, 62)
	lost.Incarnation, lost.Arg = 1, trace.Severed
	tr := Trace{Title: "by hand", Kinds: []string{"REQUEST", "TOKEN"}, Nodes: 4, Leader: 3}
	tr.Records = trace.List{
		at(0, trace.Up, 1, 0), at(0, trace.Up, 2, 0), at(0, trace.Up, 3, 0),
		text(0, trace.Cause, 0, ""), at(0, trace.Crash, 3, 0),
		at(1, trace.Suspect, 1, 3), at(1, trace.Elect, 1, 0), at(1, trace.Elected, 1, 0),
		send(1, 1, 2, 1, 0, 2), send(1, 1, 3, 1, 0, 2), send(1, 1, 4, 1, 0, 2),
		end(trace.Deliver, 2, 1, 2, 1, 0, 1), end(trace.Undelivered, 2, 1, 3, 1, 0, 1),
		end(trace.Lose, 2, 1, 4, 1, 0, 1), send(2, 1, 2, 2, 1, 3), late,
		text(5, trace.Timeout, 2, "T"), term, send(5, 2, 1, 1, 1, 6),
		end(trace.Deliver, 6, 2, 1, 1, 1, 5), at(6, trace.Request, 1, 0), at(7, trace.Granted, 1, 0),
		text(8, trace.Log, 1, "a line"), at(8, trace.Save, 1, 0), at(8, trace.Request, 2, 0),
		at(9, trace.Granted, 2, 0), at(10, trace.Released, 1, 0), at(11, trace.Released, 2, 0),
		at(11, trace.Pause, 2, 0), at(14, trace.Resume, 2, 0),
		text(60, trace.Cut, 0, "1 2|3 4"), back, at(61, trace.Restore, 1, 3),
		text(61, trace.Do, 1, "abdicate"), second, lost, text(64, trace.Heal, 0, "1 2|3 4"),
		send(64, 1, 2, 3, 0, 66),
	}
	return tr
}

func diagram(t testing.TB, tr Trace, w Window) *Diagram {
	t.Helper()
	d, err := New(tr, w)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// written is the diagram in a format.
func written(t testing.TB, tr Trace, w Window, format string) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := diagram(t, tr, w).Write(&out, format); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestGolden(t *testing.T) {
	for _, format := range Formats {
		if format == "html" { // TestPlayer reads its data
			continue
		}
		got := written(t, small(), Window{}, format)
		path := filepath.Join("testdata", "small."+format)
		if *rewrite {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || got != string(want) {
			t.Errorf("%s is not what it was (%v); if it is meant: go test ./internal/answers/report/diagram -rewrite; "+
				"got:\n%s", path, err, got)
		}
	}
}

// TestFates: each message has the end that the records give it.
func TestFates(t *testing.T) {
	tr := small()
	want := []fate{delivered, undelivered, lost, delivered, delivered, lost, pending}
	var got []fate
	for _, m := range tell(&tr).messages {
		got = append(got, m.fate)
	}
	if !slices.Equal(got, want) {
		t.Errorf("fates %v, want %v", got, want)
	}
}

func TestStory(t *testing.T) {
	tr := small()
	s := tell(&tr)
	ms := time.Millisecond
	p3 := s.lanes[2].of(down)
	if len(p3) != 1 || p3[0].from != 0 || p3[0].to != 60*ms {
		t.Errorf("p3 is down %v, want from 0s to 60ms", p3)
	}
	if down := s.lanes[3].of(down); len(down) != 1 || down[0].to != forever {
		t.Errorf("p4 is down %v, want from the start on", down)
	}
	if l := s.lanes[1].of(names); len(l) != 2 || l[0].leader != 3 || l[0].to != 5*ms || l[1].leader != 2 ||
		l[1].term != 3 || l[1].to != forever {
		t.Errorf("p2 names %+v, want p3 until 5ms, then itself in term 3", l)
	}
	if b := s.network.spans; len(b) != 1 || b[0].from != 60*ms || b[0].to != 64*ms {
		t.Errorf("partitions %+v, want one from 60ms to 64ms", b)
	}
	if in := s.lanes[0].of(inside); len(in) != 1 || in[0].from != 7*ms || in[0].to != 10*ms {
		t.Errorf("p1 is inside %+v, want 7ms to 10ms", in)
	}
}

// TestPast compares the causal past of events with happened-before as the relation is
// defined: the transitive closure of what follows in a process and of messages.
func TestPast(t *testing.T) {
	tr := stormy(t)
	tr.Records = tr.Records[:600]
	s := tell(&tr)
	n := len(tr.Records)
	before := make([][]bool, n) // before[i][k]: k happened before i, or is i
	last := map[uint32]int{}
	for i := range tr.Records {
		before[i] = make([]bool, n)
		before[i][i] = true
		follow := func(k int) {
			for j, b := range before[k] {
				before[i][j] = before[i][j] || b
			}
		}
		r := &tr.Records[i]
		if m, ok := s.byEnd[i]; ok {
			follow(s.messages[m].origin)
		}
		if own(r) {
			if k, ok := last[r.Process]; ok {
				follow(k)
			}
			last[r.Process] = i
		}
	}
	for i := range tr.Records {
		kept := make([]bool, n)
		s.past(i, kept)
		for k := range tr.Records {
			if own(&tr.Records[k]) && kept[k] != before[i][k] {
				t.Fatalf("event %d (%s): event %d (%s): kept %t, want %t", i+1,
					sentence(&tr.Records[i], tr.Kinds), k+1, sentence(&tr.Records[k], tr.Kinds), kept[k],
					before[i][k])
			}
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		name string
		tr   Trace
		win  Window
		says string
	}{
		{"empty", Trace{}, Window{}, "nothing to draw"},
		{"no such event", small(), Window{Event: 999}, "events 1 to 38"},
		{"a time without events", small(), Window{From: time.Hour}, "records go from 0s to 64ms"},
	} {
		if _, err := New(c.tr, c.win); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.says)
		}
	}
	if _, err := diagram(t, small(), Window{}).Write(nil, "png"); err == nil {
		t.Error("an unknown format is written")
	}
}

// TestSentence: every type of record has words of its own.
func TestSentence(t *testing.T) {
	seen := map[string]trace.Type{}
	for i := trace.Up; ; i++ {
		if _, known := trace.TypeOf(i.String()); !known {
			break
		}
		text := sentence(&trace.Record{Type: i, Process: 1, Peer: 2, Arg: 1, Text: "skew by 1s"}, []string{"A"})
		if other, twice := seen[text]; twice || strings.HasPrefix(text, "p1: ") {
			t.Errorf("%v: %q, which says nothing of its own (%v)", i, text, other)
		}
		seen[text] = i
	}
	if len(seen) < 26 {
		t.Errorf("%d types were looked at, want all", len(seen))
	}
}
