package diagram

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// The expressions by which ShiViz reads such a log, and finds where one execution ends
// and the next begins. They have to be typed in there, so docs/how-to/trace.md names them.
const (
	shivizPattern   = `(?<host>\S*) (?<clock>{.*})\n(?<event>.*)`
	shivizDelimiter = `^=== (?<trace>.*) ===$`
)

func TestShiViz_Documented(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/how-to/trace.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, expression := range []string{shivizPattern, shivizDelimiter} {
		if !strings.Contains(string(text), "`"+expression+"`") {
			t.Errorf("docs/how-to/trace.md has no `%s`", expression)
		}
	}
}

// shivizRules holds a log against what ShiViz's own parser demands.
func shivizRules(log string) error {
	if strings.Contains(log, "\r") {
		return errors.New("rule 1: a line ends in CRLF")
	}
	delimiter := regexp.MustCompile(`(?m)` + shivizDelimiter)
	labels := map[string]bool{}
	for _, m := range delimiter.FindAllStringSubmatch(log, -1) {
		if labels[m[1]] {
			return fmt.Errorf("rule 2: two executions are called %q", m[1])
		}
		labels[m[1]] = true
	}
	body := delimiter.ReplaceAllString(log, "")
	pattern := regexp.MustCompile(strings.NewReplacer("(?<", "(?P<").Replace(shivizPattern))
	events := pattern.FindAllStringSubmatch(strings.TrimLeft(body, "\n"), -1)
	if 2*len(events) != strings.Count(strings.TrimSpace(body), "\n")+1 {
		return fmt.Errorf("rule 3: %d events of two lines in %d lines", len(events),
			strings.Count(body, "\n"))
	}
	own, largest := map[string]int{}, map[string]int{}
	for _, e := range events {
		host, text := e[1], e[2]
		var clock map[string]int
		if err := json.Unmarshal([]byte(text), &clock); err != nil {
			return fmt.Errorf("rule 4: the clock %s is no JSON object of numbers: %w", text, err)
		}
		switch {
		case host == "" || strings.ContainsAny(host, " \t"):
			return fmt.Errorf("rule 5: host %q", host)
		case clock[host] == 0:
			return fmt.Errorf("rule 4: the clock %s does not name its own host %s", text, host)
		case clock[host] != own[host]+1:
			return fmt.Errorf("rule 6: %s goes from %d to %d", host, own[host], clock[host])
		}
		own[host]++
		for h, n := range clock {
			largest[h] = max(largest[h], n)
		}
	}
	for h, n := range largest {
		if own[h] == 0 {
			return fmt.Errorf("rule 7: %s is in a clock and has no event", h)
		}
		if n > own[h] {
			return fmt.Errorf("rule 8: a clock names event %d of %s, which has %d", n, h, own[h])
		}
	}
	return nil
}

func TestShiViz_Rules(t *testing.T) {
	for name, tr := range map[string]Trace{
		"by hand": small(), "stormy": stormy(t),
		"raft": play(t, "election/raft", "5", "scenario={kind: leader-crash}"),
	} {
		n := len(tr.Records)
		third, half := tr.Records[n/3].At, tr.Records[n/2].At
		for _, w := range []Window{{}, {Detector: true}, {From: third}, {To: half}, {From: third, To: half},
			{Event: n * 2 / 3}, {Event: n * 2 / 3, From: third}} {
			if err := shivizRules(written(t, tr, w, "shiviz")); err != nil {
				t.Errorf("%s, %+v: %v", name, w, err)
			}
		}
	}
	if !strings.Contains(written(t, stormy(t), Window{}, "shiviz"), `#2 {`) {
		t.Error("no process came back: the rule about restarts was not tried")
	}
}

// TestShiViz_Checker: each rule notices what breaks it.
func TestShiViz_Checker(t *testing.T) {
	for _, c := range []struct{ rule, log string }{
		{"rule 1", "=== a ===\r\np1 {\"p1\":1}\r\nx\r\n"},
		{"rule 2", "=== a ===\np1 {\"p1\":1}\nx\n=== a ===\n"},
		{"rule 3", "=== a ===\np1 {\"p1\":1}\nx\nan end of line in a text\n"},
		{"rule 4", "=== a ===\np1 {\"p2\":1}\nx\n"},
		{"rule 5", "=== a ===\n {\"p1\":1}\nx\n"},
		{"rule 6", "=== a ===\np1 {\"p1\":1}\nx\np1 {\"p1\":3}\ny\n"},
		{"rule 7", "=== a ===\np1 {\"p1\":1,\"p2\":1}\nx\n"},
		{"rule 8", "=== a ===\np1 {\"p1\":1,\"p2\":2}\nx\np2 {\"p2\":1}\ny\n"},
	} {
		if err := shivizRules(c.log); err == nil || !strings.HasPrefix(err.Error(), c.rule) {
			t.Errorf("%s: %v", c.rule, err)
		}
	}
}

// TestShiViz_Clocks: what a message carries is in the clock of its receiver.
func TestShiViz_Clocks(t *testing.T) {
	log := written(t, small(), Window{}, "shiviz")
	for _, want := range []string{
		"p2 {\"p1\":5,\"p2\":2}\np2 receives REQUEST from p1 at 2ms\n",
		"p1 sends REQUEST to p3 at 1ms (p3 was down)\n",
		"p1 sends REQUEST to p4 at 1ms (lost by the network)\n",
		"p3#2 {\"p3\":2,\"p3#2\":1}\np3 is up again at 60ms\n",
		"network {\"network\":3}\nlinks heal",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("no %q in\n%s", want, log)
		}
	}
}

type perfettoFile struct {
	Unit   string      `json:"displayTimeUnit"`
	Events []perfEvent `json:"traceEvents"`
}

func TestPerfetto(t *testing.T) {
	for name, tr := range map[string]Trace{"by hand": small(), "stormy": stormy(t)} {
		for _, w := range []Window{{}, {Detector: true}, {From: time.Millisecond},
			{Event: len(tr.Records) * 2 / 3}} {
			var f perfettoFile
			if err := json.Unmarshal([]byte(written(t, tr, w, "perfetto")), &f); err != nil {
				t.Fatal(err)
			}
			if err := perfettoRules(&f); err != nil {
				t.Errorf("%s, %+v: %v", name, w, err)
			}
		}
	}
}

func perfettoRules(f *perfettoFile) error {
	tracks := map[int][]perfEvent{}
	begins, ends := map[int]perfEvent{}, map[int]perfEvent{}
	for _, e := range f.Events {
		if e.At < 0 {
			return fmt.Errorf("%+v happens before the start", e)
		}
		switch e.Phase {
		case "X":
			tracks[e.Tid] = append(tracks[e.Tid], e)
		case "s":
			begins[e.ID] = e
		case "f":
			ends[e.ID] = e
		}
	}
	for tid, list := range tracks {
		slices.SortStableFunc(list, func(a, b perfEvent) int { return cmp.Compare(a.At, b.At) })
		for i, e := range list {
			if i > 0 && list[i-1].At+*list[i-1].Dur > e.At+1e-6 {
				return fmt.Errorf("track %d: %s at %v overlaps %s", tid, e.Name, e.At, list[i-1].Name)
			}
		}
	}
	inside := func(e perfEvent) bool {
		for _, s := range tracks[e.Tid] {
			if e.At >= s.At && e.At <= s.At+*s.Dur {
				return true
			}
		}
		return false
	}
	if len(begins) == 0 || len(begins) != len(ends) {
		return fmt.Errorf("%d arrows begin and %d end", len(begins), len(ends))
	}
	for id, b := range begins {
		e, paired := ends[id]
		if !paired || e.At < b.At || e.Name != b.Name || e.Bind != "e" || !inside(b) || !inside(e) {
			return fmt.Errorf("arrow %d goes from %+v to %+v", id, b, e)
		}
	}
	return nil
}

// TestPerfetto_Microseconds: instants are in µs, whatever the format's name for its
// unit says.
func TestPerfetto_Microseconds(t *testing.T) {
	text := written(t, small(), Window{}, "perfetto")
	for _, want := range []string{`"name":"p2 receives REQUEST from p1","pid":1,"tid":8,"ts":2000,`,
		`{"ph":"X","name":"inside","pid":1,"tid":6,"ts":7000,"dur":3000}`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

func TestMermaid_Limits(t *testing.T) {
	tr := crowd(5, 1000)
	for _, w := range []Window{{}, {Event: 1500}} {
		var out strings.Builder
		notes, err := diagram(t, tr, w).mermaid(&out)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), "->>"); n != mermaidMessages {
			t.Errorf("%+v: %d messages, want %d", w, n, mermaidMessages)
		}
		if len(notes) != 1 || !strings.Contains(notes[0], "shows 100 of ") {
			t.Errorf("%+v: notes %q", w, notes)
		}
	}
	long := small()
	long.Kinds = []string{strings.Repeat("x", 100_000), "T"}
	if text := written(t, long, Window{}, "mermaid"); len(text) > 50_000 {
		t.Errorf("%d bytes, more than Mermaid takes", len(text))
	}
}

func TestMermaid_Escapes(t *testing.T) {
	for text, want := range map[string]string{
		"a;b#c":        "a#59;b#35;c",
		"end":          "#101;nd",
		"The END.":     "The #69;ND.",
		"two\nlines":   "two lines",
		"<b>{x}</b>%%": "#60;b#62;#123;x#125;#60;/b#62;#37;#37;",
		"sends REPLY":  "sends REPLY",
	} {
		if got := mermaidText(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	tr := small()
	tr.Kinds = []string{"end", "x;\nparticipant evil"}
	tr.Records = append(tr.Records, trace.Record{At: 70 * time.Millisecond, Type: trace.Log, Process: 1,
		Text: "end\nNote over p9: x"})
	line := regexp.MustCompile(`^(sequenceDiagram|    participant p\d+|` +
		`    Note over p\d+(,p\d+)?: [^;]*(#\d+;[^;]*)*|` +
		`    p\d+(->>|-x|--x|-\))p\d+: [^;]*(#\d+;[^;]*)*)$`)
	text := written(t, tr, Window{}, "mermaid")
	for l := range strings.Lines(text) {
		if !line.MatchString(strings.TrimSuffix(l, "\n")) {
			t.Errorf("a line that Mermaid does not know: %q", l)
		}
	}
	if who := strings.Count(text, "participant p"); who != 4 {
		t.Errorf("%d participants, want 4:\n%s", who, text)
	}
	if !slices.Contains(strings.Split(text, "\n"), "    p1-xp4: #101;nd (lost)") {
		t.Errorf("no lost message in\n%s", text)
	}
}
