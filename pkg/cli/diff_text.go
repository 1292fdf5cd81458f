package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/internal/report/diagram"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A difference is in what two trials differ.
type difference struct {
	sides   [2]*side
	common  int      // events that both begin with
	sent    int      // messages that both begin with
	message [2]int   // the places of the first messages that are not the same; -1: there is none
	state   int      // the place of the first common event that sets variables to other values; -1: none
	kinds   []string // of the messages sent
	counts  [2]map[string]int
	// variables are the names of those that processes have.
	variables [2]map[string]bool
}

func newDifference(sides [2]*side) *difference {
	d := &difference{sides: sides, state: -1, message: [2]int{-1, -1}}
	blind := slices.ContainsFunc(sides[:], func(s *side) bool {
		return !slices.ContainsFunc(s.Events, func(e diagram.Event) bool { return e.Holds != "" })
	})
	var sends [2][]int
	seen := map[string]bool{}
	for i, s := range sides {
		if blind { // the side may be compared with others, too
			own := *s
			own.Events = slices.Clone(s.Events)
			s, d.sides[i] = &own, &own
		}
		d.counts[i] = map[string]int{}
		for k := range s.Events {
			e := &s.Events[k]
			if blind && e.Holds != "" {
				e.Text, e.Holds = strings.Replace(e.Text, e.Holds, "", 1), ""
			}
			if e.Type == trace.Send.String() {
				sends[i] = append(sends[i], k)
				d.counts[i][e.Message]++
				seen[e.Message] = true
			}
		}
	}
	d.kinds = slices.Sorted(maps.Keys(seen))
	a, b := d.sides[0].Events, d.sides[1].Events
	d.variables = [2]map[string]bool{variables(a), variables(b)}
	for d.common < min(len(a), len(b)) && alike(&a[d.common], &b[d.common]) {
		if here, there := d.changes(d.common); d.state < 0 && !blind && here != there {
			d.state = d.common
		}
		d.common++
	}
	for d.sent < min(len(sends[0]), len(sends[1])) && alike(&a[sends[0][d.sent]], &b[sends[1][d.sent]]) {
		d.sent++
	}
	for i := range sends {
		if d.sent < len(sends[i]) {
			d.message[i] = sends[i][d.sent]
		}
	}
	return d
}

// alike says whether the same happened at the same instant.
func alike(a, b *diagram.Event) bool {
	return a.At == b.At && a.Type == b.Type && a.Process == b.Process && a.Peer == b.Peer && a.Text == b.Text
}

// parted says whether not the same happened.
func (d *difference) parted() bool {
	return d.common < max(len(d.sides[0].Events), len(d.sides[1].Events))
}

// differ says whether the trials are not the same, or are not judged alike.
func (d *difference) differ() bool { return d.parted() || len(d.rows()) > 0 }

// names are what the sides are called in lines and columns.
var sideNames = [2]string{"A", "B"}

func (d *difference) print(w io.Writer, world string, events int) {
	for i, s := range d.sides {
		fmt.Fprintf(w, "%s  %s\n", sideNames[i], s.name)
	}
	fmt.Fprintf(w, "%s\n\n", world)
	switch all := report.Plural(d.common, "event", "events"); {
	case !d.parted():
		fmt.Fprintf(w, "the same: %s, to the last\n", all)
	case d.common == 0:
		fmt.Fprintln(w, "they part at the first event")
	default:
		fmt.Fprintf(w, "the same: %s, up to %s\n", all, instant(d.sides[0].Events[d.common-1].At))
	}
	d.printState(w)
	if d.parted() {
		d.printParting(w)
		d.printFollowing(w, events)
	}
	t := &console.Table{}
	t.Column("", false)
	for _, name := range sideNames {
		t.Column(name, true)
	}
	for _, row := range d.rows() {
		t.Add(row.Name, row.A, row.B)
	}
	if len(t.Rows) > 0 {
		fmt.Fprintln(w)
		t.Write(w)
	}
}

// printParting tells the first message that only one side sends, or at another instant.
func (d *difference) printParting(w io.Writer) {
	if d.message[0] < 0 && d.message[1] < 0 {
		fmt.Fprintf(w, "they send the same messages, %d\n", d.sent)
		return
	}
	fmt.Fprintf(w, "they part at message %d:\n", d.sent+1)
	for i, s := range d.sides {
		if d.message[i] < 0 {
			fmt.Fprintf(w, "  %s  sends no more\n", sideNames[i])
			continue
		}
		d.line(w, i, &s.Events[d.message[i]])
	}
}

// printFollowing tells what each side does behind the last event that both have.
func (d *difference) printFollowing(w io.Writer, events int) {
	if events == 0 {
		return
	}
	fmt.Fprintln(w, "what followed the last common event:")
	for i, s := range d.sides {
		rest := s.Events[d.common:]
		for k := range rest[:min(len(rest), events)] {
			d.line(w, i, &rest[k])
		}
		if more := len(rest) - events; more > 0 {
			fmt.Fprintf(w, "  %s  ... and %s\n", sideNames[i],
				report.Plural(more, "event more", "events more"))
		} else if len(rest) == 0 {
			fmt.Fprintf(w, "  %s  nothing\n", sideNames[i])
		}
	}
}

// variables are the names of all that events set.
func variables(events []diagram.Event) map[string]bool {
	names := map[string]bool{}
	for i := range events {
		for _, c := range events[i].Changes {
			names[c.Name] = true
		}
	}
	return names
}

// changes are what event k sets to another value than on the other side, of the variables that
// both sides have.
func (d *difference) changes(k int) (a, b string) {
	only := func(list, other []diagram.Change) string {
		var parts []string
		for _, c := range list {
			if d.variables[0][c.Name] && d.variables[1][c.Name] && !slices.Contains(other, c) {
				parts = append(parts, c.Name+" "+c.After)
			}
		}
		return strings.Join(parts, ", ")
	}
	here, there := d.sides[0].Events[k].Changes, d.sides[1].Events[k].Changes
	return only(here, there), only(there, here)
}

// printState tells the first variables that differ while all events are still the same.
func (d *difference) printState(w io.Writer) {
	if d.state < 0 {
		return
	}
	e := &d.sides[0].Events[d.state]
	a, b := d.changes(d.state)
	fmt.Fprintf(w, "variables differ from event %d on, p%d at %s: A sets %s, B %s\n", e.Number, e.Process,
		instant(e.At), cmp.Or(a, "nothing"), cmp.Or(b, "nothing"))
}

// line is an event of a side.
func (d *difference) line(w io.Writer, i int, e *diagram.Event) {
	width := len(fmt.Sprint(max(len(d.sides[0].Events), len(d.sides[1].Events))))
	fmt.Fprintf(w, "  %s  %*d %12s  %s\n", sideNames[i], width, e.Number, instant(e.At), e.Text)
}

func instant(ns int64) string { return time.Duration(ns).Round(time.Microsecond).String() }

// rows are what differs in how the trials ended: of the metrics, the main ones alone where the events
// differ, too.
func (d *difference) rows() (rows []ending) {
	a, b := d.sides[0], d.sides[1]
	add := func(name, x, y string) {
		if x != y {
			rows = append(rows, ending{name, cmp.Or(x, "-"), cmp.Or(y, "-")})
		}
	}
	add("status", string(a.Status), string(b.Status))
	add("messages", fmt.Sprint(a.Messages), fmt.Sprint(b.Messages))
	for _, kind := range d.kinds {
		add("sent "+kind, fmt.Sprint(d.counts[0][kind]), fmt.Sprint(d.counts[1][kind]))
	}
	text := func(v *float64) string {
		if v == nil {
			return ""
		}
		return compare.Number(*v)
	}
	for _, m := range metric.Columns(algo.Problem(a.Design["problem"])) {
		if m.In(metric.Main) || !d.parted() {
			add(m.Name, text(a.Metrics[m.Name]), text(b.Metrics[m.Name]))
		}
	}
	return rows
}

// An ending is a figure of how two trials ended.
type ending struct {
	Name string `json:"name"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// A diffReport is a difference, for programs.
type diffReport struct {
	Schema  int      `json:"schema_version"`
	Same    bool     `json:"same"`
	Common  int      `json:"common_events"`
	Sent    int      `json:"common_messages"`
	State   int      `json:"variables_differ_at_event,omitempty"` // 0: they do not
	A       diffSide `json:"a"`
	B       diffSide `json:"b"`
	Outcome []ending `json:"outcome"` // what of it differs
}

type diffSide struct {
	Name    string          `json:"name"`
	Message *diagram.Event  `json:"parts_at_message"` // null: it sends no more
	Follows []diagram.Event `json:"follows"`
}

func (d *difference) report(events int) diffReport {
	out := diffReport{Schema: 1, Same: !d.differ(), Common: d.common, Sent: d.sent, State: d.state + 1,
		Outcome: append([]ending{}, d.rows()...)}
	for i, to := range []*diffSide{&out.A, &out.B} {
		s := d.sides[i]
		rest := s.Events[d.common:]
		*to = diffSide{Name: s.name, Follows: append([]diagram.Event{}, rest[:min(len(rest), events)]...)}
		if d.message[i] >= 0 {
			to.Message = &s.Events[d.message[i]]
		}
	}
	return out
}
