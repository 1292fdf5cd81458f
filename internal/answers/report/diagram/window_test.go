package diagram

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/trace"
)

const ms = time.Millisecond

// passed is a message that was sent and arrived.
func passed(from, to uint32, seq uint64, kind uint8, sent, at time.Duration) trace.List {
	r := trace.Record{At: sent, Type: trace.Send, Process: from, Peer: to, Seq: seq, Kind: kind, Sent: sent, Due: at}
	end := r
	end.At, end.Type, end.Process, end.Peer = at, trace.Deliver, to, from
	return trace.List{r, end}
}

// sorted are records by instant, as a trace has them.
func sorted(lists ...trace.List) trace.List {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b trace.Record) int { return int(a.At - b.At) })
	return all
}

// TestStory_Bands: a heal ends the cut of the same links, and one that names none ends all.
func TestStory_Bands(t *testing.T) {
	tr := Trace{Records: trace.List{
		{At: 1 * ms, Type: trace.Cut, Text: "1|2 3"}, {At: 2 * ms, Type: trace.Cut, Text: "2|1 3"},
		{At: 2 * ms, Type: trace.Flaky, Text: "3"}, {At: 3 * ms, Type: trace.Heal, Text: "1|2 3"},
		{At: 5 * ms, Type: trace.Heal}, {At: 6 * ms, Type: trace.Flaky},
	}}
	want := []span{
		{what: cut, from: 1 * ms, to: 3 * ms, record: 0, text: "1|2 3"},
		{what: cut, from: 2 * ms, to: 5 * ms, record: 1, text: "2|1 3"},
		{what: flaky, from: 2 * ms, to: 6 * ms, record: 2, text: "3"},
	}
	if got := tell(&tr).network.spans; !slices.Equal(got, want) {
		t.Errorf("bands %v, want %v", got, want)
	}
}

// TestStory_SaysItAgain: to name the same leader in the same term again begins nothing new.
func TestStory_SaysItAgain(t *testing.T) {
	tr := Trace{Records: trace.List{
		{At: 1 * ms, Type: trace.Elected, Process: 1, Peer: 2, Arg: 3}, {At: 2 * ms, Type: trace.Elected, Process: 1, Peer: 2, Arg: 3},
		{At: 4 * ms, Type: trace.Elected, Process: 1, Peer: 2, Arg: 4},
	}}
	want := []span{{what: names, from: 1 * ms, to: 4 * ms, record: 0, leader: 2, term: 3},
		{what: names, from: 4 * ms, to: forever, record: 2, leader: 2, term: 4}}
	if got := tell(&tr).lanes[0].spans; !slices.Equal(got, want) {
		t.Errorf("p1 names %v, want %v", got, want)
	}
}

// TestPast_Losses: of the messages that were lost, those belong to the past of an event whose
// sending does.
func TestPast_Losses(t *testing.T) {
	lost := func(from, to uint32) trace.List {
		out := passed(from, to, 9, 0, 1*ms, 2*ms)
		out[1].Type = trace.Lose
		return out
	}
	tr := Trace{Kinds: []string{"A"}, Records: sorted(lost(1, 3), lost(2, 3), passed(1, 4, 10, 0, 3*ms, 4*ms))}
	text := written(t, tr, Window{Event: len(tr.Records)}, "events")
	if !strings.Contains(text, "A from p1 to p3 is lost") || strings.Contains(text, "p2") {
		t.Errorf("what led to p4's event:\n%s", text)
	}
}

// TestWindow: both ends belong to it; messages of detectors are drawn when they are asked for.
func TestWindow(t *testing.T) {
	tr := Trace{Kinds: []string{"A"}, Records: sorted(passed(1, 2, 1, 0, 1*ms, 2*ms), passed(1, 2, 2, 0, 3*ms, 4*ms),
		passed(2, 1, 1, 0, 3*ms, 5*ms))}
	for i := range tr.Records[:2] {
		tr.Records[i].Plane = trace.Detection
	}
	for _, c := range []struct {
		w    Window
		want string // instants of what is drawn
	}{
		{Window{}, "3ms 3ms 4ms 5ms"}, {Window{Detector: true}, "1ms 2ms 3ms 3ms 4ms 5ms"},
		{Window{From: 4 * ms}, "4ms 5ms"}, {Window{To: 4 * ms}, "3ms 3ms 4ms"},
		{Window{From: 4 * ms, To: 4 * ms}, "4ms"},
	} {
		var at []string
		for l := range strings.Lines(written(t, tr, c.w, "events")) {
			at = append(at, strings.Fields(l)[1])
		}
		if got := strings.Join(at, " "); got != c.want {
			t.Errorf("%+v: events at %s, want %s", c.w, got, c.want)
		}
	}
}

// TestProcesses: of many processes, those are drawn to which something happens.
func TestProcesses(t *testing.T) {
	var up trace.List
	for p := range few + 8 {
		up = append(up, trace.Record{Type: trace.Up, Process: uint32(p + 1)})
	}
	tr := Trace{Kinds: []string{"A"}, Records: sorted(up, passed(7, 3, 1, 0, 1*ms, 2*ms))}
	if got := diagram(t, tr, Window{}).processes(); !slices.Equal(got, []uint32{3, 7}) {
		t.Errorf("drawn are %v, want p3 and p7", got)
	}
}

// TestSVG_Busiest: of more processes than there is room for, those are drawn that send and
// receive most.
func TestSVG_Busiest(t *testing.T) {
	var list trace.List
	for p := uint32(1); p <= mostLanes+4; p++ {
		for k := range max(2, int(p)) { // the first ones least
			list = append(list, passed(p, p%(mostLanes+4)+1, uint64(k+1), 0, time.Duration(k)*ms, time.Duration(k+1)*ms)...)
		}
	}
	text := written(t, Trace{Kinds: []string{"A"}, Records: sorted(list)}, Window{}, "svg")
	for lane, want := range map[string]bool{">p2</text>": false, ">p4</text>": false, ">p6</text>": true, ">p52</text>": true} {
		if strings.Contains(text, lane) != want {
			t.Errorf("%s is drawn: %v, want %v", lane, !want, want)
		}
	}
}

// TestSVG_Arrows: what goes the same way at the same time is pulled apart; a message that was
// on its way when the window begins comes in between the lines.
func TestSVG_Arrows(t *testing.T) {
	tr := Trace{Kinds: []string{"A", "B"}, Records: sorted(passed(1, 2, 1, 0, 1*ms, 5*ms), passed(1, 2, 2, 1, 1*ms, 5*ms))}
	bent := regexp.MustCompile(`<path class="m" d="M[^"]*Q`)
	if text := written(t, tr, Window{}, "svg"); len(bent.FindAllString(text, -1)) != 1 {
		t.Errorf("of two arrows one is to be bent:\n%s", text)
	}
	c := &drawing{Diagram: diagram(t, tr, Window{From: 3 * ms}), board: newBoard(), signs: map[string]bool{}}
	c.choose()
	c.layOut()
	a := c.arrowOf(c.arrows[0])
	if middle := (c.y(1) + c.y(2)) / 2; a.start.y != middle || a.start.x != 0 || a.end.y != c.y(2) {
		t.Errorf("half of the way is left, and it goes from %v to %v", a.start, a.end)
	}
}

// TestSVG_Together: two who are in the critical section one right after the other are not
// there together.
func TestSVG_Together(t *testing.T) {
	for next, want := range map[time.Duration]bool{3 * ms: true, 4 * ms: false} {
		tr := Trace{Records: sorted(trace.List{
			{At: 1 * ms, Type: trace.Granted, Process: 1}, {At: 4 * ms, Type: trace.Released, Process: 1},
			{At: next, Type: trace.Granted, Process: 2}, {At: 6 * ms, Type: trace.Released, Process: 2},
		})}
		if got := strings.Contains(written(t, tr, Window{}, "svg"), "p1 and p2 are in the critical section"); got != want {
			t.Errorf("the second enters at %v: together %v, want %v", next, got, want)
		}
	}
}

// TestPerfetto_BeforeStart: instants before the common start are moved, for there are no
// negative ones.
func TestPerfetto_BeforeStart(t *testing.T) {
	tr := Trace{Kinds: []string{"A"}, Records: passed(1, 2, 1, 0, -2*ms, 1*ms)}
	text := written(t, tr, Window{}, "perfetto")
	if strings.Contains(text, `"ts":-`) || !strings.Contains(text, `"ts":3000`) {
		t.Errorf("instants that are not moved in\n%s", text)
	}
}

// TestMermaid_Ends: what leads to an event is cut at its beginning, and all else at its end.
func TestMermaid_Ends(t *testing.T) {
	tr := crowd(5, 500)
	tr.Kinds = append(tr.Kinds, "FIRST", "LAST")
	messages := slices.IndexFunc(tr.Records, func(r trace.Record) bool { return r.Type == trace.Send })
	for i := range 2 {
		tr.Records[messages+i].Kind = 3
		tr.Records[len(tr.Records)-1-i].Kind = 4
	}
	for w, want := range map[Window]string{{}: "FIRST", {Event: len(tr.Records)}: "LAST"} {
		text := written(t, tr, w, "mermaid")
		for _, name := range []string{"FIRST", "LAST"} {
			if strings.Contains(text, name) != (name == want) {
				t.Errorf("%+v: %s is drawn: %v", w, name, name != want)
			}
		}
	}
}
