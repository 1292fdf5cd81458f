package diagram

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// wellFormed reads text as XML and counts its elements.
func wellFormed(text string) (map[string]int, error) {
	count := map[string]int{}
	dec := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return count, nil
		} else if err != nil {
			return nil, err
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
	}
}

var widthOf = regexp.MustCompile(`^<svg [^>]*width="([0-9.]+)"`)

func TestSVG_EveryWindow(t *testing.T) {
	tr := stormy(t)
	n, ms := len(tr.Records), time.Millisecond
	for _, w := range []Window{{}, {Detector: true}, {From: 200 * ms, To: 400 * ms}, {To: 150 * ms},
		{From: 600 * ms}, {Event: n / 2}, {Event: n / 2, From: 100 * ms}} {
		text := written(t, tr, w, "svg")
		count, err := wellFormed(text)
		if err != nil {
			t.Errorf("%+v: %v", w, err)
			continue
		}
		if count["script"] > 0 || count["title"] < 10 {
			t.Errorf("%+v: elements %v", w, count)
		}
		if width, _ := strconv.ParseFloat(widthOf.FindStringSubmatch(text)[1], 64); width > 1130 {
			t.Errorf("%+v: %v pixels wide: it does not fit on a page", w, width)
		}
		if text != written(t, tr, w, "svg") {
			t.Errorf("%+v: the same trace gives another diagram", w)
		}
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%+v: a coordinate that is no number", w)
		}
	}
}

func TestSVG_NoTextOverAnother(t *testing.T) {
	tr := play(t, "mutex/suzuki-kasami", "6", "scenario={kind: closed, requests: 40}")
	c := &drawing{Diagram: diagram(t, tr, Window{}), board: newBoard(), signs: map[string]bool{}}
	c.choose()
	c.layOut()
	c.drawLanes()
	c.drawMarks()
	c.drawMessages()
	var all []disc
	for _, cell := range c.board.cells {
		all = append(all, cell...)
	}
	if len(all) < 200 {
		t.Fatalf("%d discs of text: hardly anything has a name", len(all))
	}
	near := 0 // discs of one text are 1.4 radii apart
	for i, a := range all {
		for _, b := range all[i+1:] {
			if math.Hypot(a.x-b.x, a.y-b.y) < 0.6*a.r {
				near++
			}
		}
	}
	if near > 0 {
		t.Errorf("%d pairs of letters stand on each other", near)
	}
}

func TestSVG_HostileNames(t *testing.T) {
	tr := small()
	tr.Title = `</svg><script>alert(1)</script> & "x"`
	tr.Kinds = []string{"<script>alert(1)</script>", "a\"b&c\x00\n--> ]]>"}
	for i := range tr.Records {
		if r := &tr.Records[i]; r.Type.HasText() {
			r.Text = "</title><script>alert(2)</script>"
		}
	}
	text := written(t, tr, Window{}, "svg")
	count, err := wellFormed(text)
	if err != nil || count["script"] > 0 {
		t.Errorf("%v, %v", count, err)
	}
	if !strings.Contains(text, "&lt;script&gt;alert(1)") {
		t.Error("the name is gone; it has to be escaped")
	}
}

// TestSVG_LeavesOut: too much is cut, and the page says so.
func TestSVG_LeavesOut(t *testing.T) {
	tr := crowd(60, 4000)
	var out strings.Builder
	notes, err := diagram(t, tr, Window{}).SVG(&out)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(notes, "\n")
	for _, says := range []string{"the first 2500 of 4000 messages", "the 48 busiest of 60 processes"} {
		if !strings.Contains(all, says) || !strings.Contains(out.String(), says) {
			t.Errorf("no %q in the notes and on the page:\n%s", says, all)
		}
	}
	notes, _ = diagram(t, tr, Window{Event: len(tr.Records)}).SVG(&out)
	if len(notes) > 0 && strings.Contains(notes[0], "first") {
		t.Errorf("what leads to an event is cut at its end: %s", notes[0])
	}
}

// crowd is a trace of that many messages, each an answer to the one before, so that
// nothing could be left out of what led to the last.
func crowd(nodes, messages int) Trace {
	tr := Trace{Title: "a crowd", Kinds: []string{"PING", "PONG", "PANG"}, Nodes: nodes}
	at := time.Duration(0)
	for p := range nodes {
		tr.Records = append(tr.Records, trace.Record{Type: trace.Up, Process: uint32(p + 1)})
	}
	for i := range messages {
		from, to := uint32(i%nodes+1), uint32((i+1)%nodes+1)
		r := trace.Record{At: at, Type: trace.Send, Process: from, Peer: to, Seq: uint64(i + 1),
			Kind: uint8(i % 3), Sent: at, Due: at + time.Millisecond}
		end := r
		at += time.Millisecond
		end.At, end.Type, end.Process, end.Peer = at, trace.Deliver, to, from
		tr.Records = append(tr.Records, r, end)
	}
	return tr
}

func TestScale(t *testing.T) {
	ms := time.Millisecond
	s := newScale([]time.Duration{0, ms, 2 * ms, 500 * ms, 501 * ms}, ms, 4, rowWidth)
	if !slices.Equal(s.broken, []int{2}) {
		t.Errorf("cut short after %v, want after the third instant", s.broken)
	}
	if a, b := s.of(ms)-s.of(0), s.of(501*ms)-s.of(500*ms); math.Abs(a-b) > 1e-9 {
		t.Errorf("a millisecond is %v here and %v there", a, b)
	}
	for at, last := time.Duration(0), -1.0; at <= 501*ms; at += ms / 4 {
		if x := s.of(at); x < last {
			t.Fatalf("%v stands left of what was before", at)
		} else {
			last = x
		}
	}
	ticks := s.ticks()
	for i := 1; i < len(ticks); i++ {
		if ticks[i].x-ticks[i-1].x < 40 {
			t.Errorf("ticks %v and %v stand on each other", ticks[i-1], ticks[i])
		}
	}
	if text := fmt.Sprint(ticks); !strings.Contains(text, "500ms") {
		t.Errorf("no tick where time goes on: %s", text)
	}
}

func TestScale_Rows(t *testing.T) {
	var instants []time.Duration
	for i := range 100 {
		instants = append(instants, time.Duration(i)*time.Millisecond)
	}
	s := newScale(instants, time.Millisecond, 400, rowWidth)
	quiet := s.of(11500 * time.Microsecond) // everywhere else messages are on their way
	rows := s.rows(rowWidth, func(x float64) int {
		if math.Abs(x-quiet) < 1 {
			return 0
		}
		return 3
	})
	end := 0.0
	for _, r := range rows {
		if r.from != end || r.to <= r.from || r.to-r.from > rowWidth+1e-9 {
			t.Errorf("row %+v after %v", r, end)
		}
		end = r.to
	}
	if end != s.x[len(s.x)-1] || len(rows) < 2 {
		t.Errorf("%d rows, up to %v of %v", len(rows), end, s.x[len(s.x)-1])
	}
	if quiet > 0.62*rowWidth && quiet < rowWidth && math.Abs(rows[0].to-quiet) > 1 {
		t.Errorf("the first row ends at %v, want %v, where nothing is on its way", rows[0].to, quiet)
	}
}

// TestDashes: kinds differ in dash, or in colour and dash, as long as there are fewer
// than 40.
func TestDashes(t *testing.T) {
	seen := map[[2]int]bool{}
	for i := range 40 {
		seen[[2]int{i % kindColours, i % len(dashes)}] = true
	}
	if len(seen) != 40 {
		t.Errorf("%d of 40 kinds look different", len(seen))
	}
	for i := range kindColours - 1 {
		if i%len(dashes) == (i+1)%len(dashes) {
			t.Errorf("kinds %d and %d differ in colour alone", i, i+1)
		}
	}
}

func BenchmarkSVG_2000Messages(b *testing.B) {
	tr := play(b, "mutex/suzuki-kasami", "10", "scenario={kind: closed, requests: 201}",
		"network={latency: {distribution: exponential, mean: 2ms}}")
	b.ReportAllocs()
	for b.Loop() {
		d, err := New(tr, Window{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := d.SVG(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSVG_Admitted: a frame is drawn around two in the critical section that should not be there
// together, by how many the algorithm admits and by their sessions; entries say their session.
func TestSVG_Admitted(t *testing.T) {
	t.Parallel()
	at := func(ms int, what trace.Type, p, peer uint32) trace.Record {
		return trace.Record{At: time.Duration(ms) * time.Millisecond, Type: what, Process: p, Peer: peer}
	}
	entry := func(p, session uint32, from, to int) trace.List {
		return trace.List{at(from, trace.Granted, p, session), at(to, trace.Released, p, 0)}
	}
	up := trace.List{at(0, trace.Up, 1, 0), at(0, trace.Up, 2, 0), at(0, trace.Up, 3, 0)}
	plain := slices.Concat(up, entry(1, 0, 1, 9), entry(2, 0, 2, 9), entry(3, 0, 3, 8))
	sessions := slices.Concat(up, entry(1, 1, 1, 9), entry(2, 1, 2, 9), entry(3, 2, 3, 8))
	for _, test := range []struct {
		records trace.List
		room    algo.Room
		want    []string
	}{
		{plain, algo.Room{}, []string{"p1 and p2", "p1 and p3", "p2 and p3"}},
		{plain, algo.Room{Places: 2}, []string{"p2 and p3"}},
		{plain, algo.Room{Places: 3}, nil},
		{sessions, algo.Room{Places: 9}, []string{"p1 and p3", "p2 and p3"}},
	} {
		tr := Trace{Records: sorted(test.records), Room: test.room}
		text := written(t, tr, Window{}, "svg")
		for _, pair := range []string{"p1 and p2", "p1 and p3", "p2 and p3"} {
			if strings.Contains(text, pair+" are in the critical section") != slices.Contains(test.want, pair) {
				t.Errorf("%+v: the frames are not those of %v", test.room, test.want)
			}
		}
		named := strings.Contains(text, "p3 is in the critical section in session 2, 3ms to 8ms") &&
			strings.Contains(sentence(&trace.Record{Type: trace.Request, Process: 2, Peer: 7}, nil), "in session 7")
		if named != (test.records[3].Peer > 0) {
			t.Errorf("%+v: sessions are named: %v", test.room, named)
		}
	}
}
