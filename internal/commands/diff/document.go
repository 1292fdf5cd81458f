package diff

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/report/diagram"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/commands/replay"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// sideNames are what the sides are called in lines and columns.
var sideNames = [2]string{"A", "B"}

// Describe adds the difference to a document, with so many events of each side behind the parting. The
// prefix is that of the names of its facts.
func (d *Difference) Describe(to *answer.Document, prefix, subject string, events int) {
	facts := answer.Facts{{Name: "same", Value: !d.Differ()}, {Name: "common_events", Value: d.common},
		{Name: "common_messages", Value: d.sent}, {Name: "a", Value: d.Sides[0].Name},
		{Name: "b", Value: d.Sides[1].Name}, {Name: "world", Value: subject}}
	if d.state >= 0 {
		facts = append(facts, answer.Fact{Name: "variables_differ_at_event", Value: d.state + 1})
	}
	for i := range facts {
		facts[i].Name = prefix + facts[i].Name
	}
	to.Add(facts, answer.Lines(d.text(subject, events)))
	side := answer.Column{Name: "side", Kind: answer.Words}
	parts, follows := replay.EventTable(to, "parts_at_message", side), replay.EventTable(to, "follows", side)
	for i, s := range d.Sides {
		if d.message[i] >= 0 {
			replay.EventRow(parts, &s.Events[d.message[i]], sideNames[i])
		}
		rest := s.Events[d.common:]
		for k := range rest[:min(len(rest), events)] {
			replay.EventRow(follows, &rest[k], sideNames[i])
		}
		if s.Note != "" {
			to.Add(answer.Note{Text: s.Note, Aside: true})
		}
	}
	d.outcome(to)
}

// outcome adds what differs in how the trials ended.
func (d *Difference) outcome(to *answer.Document) {
	rows := d.endings()
	for _, one := range []struct {
		head string
		only answer.Readers
		kind answer.Kind // that of numbers is at the right for people
	}{{"", answer.Programs, answer.Words}, {" ", answer.People, answer.Number}} {
		if one.only == answer.People && rows == nil {
			continue
		} else if one.only == answer.People {
			to.Add(answer.Lines(""))
		}
		t := to.Table("outcome", answer.Column{Name: "name", Head: one.head, Kind: answer.Words},
			answer.Column{Name: "a", Head: "A", Kind: one.kind},
			answer.Column{Name: "b", Head: "B", Kind: one.kind})
		t.Only, t.Main = one.only, true
		for _, row := range rows {
			t.Row(row[0], row[1], row[2])
		}
	}
}

// endings are the figures of how the trials ended that differ, each with its name: of the metrics, the
// main ones alone where the events differ, too.
func (d *Difference) endings() (rows [][3]string) {
	a, b := d.Sides[0], d.Sides[1]
	add := func(name, x, y string) {
		if x != y {
			rows = append(rows, [3]string{name, cmp.Or(x, "-"), cmp.Or(y, "-")})
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
		return console.Number(*v)
	}
	for _, m := range metric.Columns(algo.Problem(a.Design["problem"])) {
		if m.In(metric.Main) || !d.Parted() {
			add(m.Name, text(a.Metrics[m.Name]), text(b.Metrics[m.Name]))
		}
	}
	return rows
}

// text is what people read of where the sides part.
func (d *Difference) text(subject string, events int) string {
	var w strings.Builder
	for i, s := range d.Sides {
		fmt.Fprintf(&w, "%s  %s\n", sideNames[i], s.Name)
	}
	fmt.Fprintf(&w, "%s\n\n", subject)
	switch all := console.Plural(d.common, "event", "events"); {
	case !d.Parted():
		fmt.Fprintf(&w, "the same: %s, to the last\n", all)
	case d.common == 0:
		fmt.Fprintln(&w, "they diverge at the first event")
	default:
		fmt.Fprintf(&w, "the same: %s, up to %s\n", all, instant(d.Sides[0].Events[d.common-1].At))
	}
	if d.state >= 0 { // while all events are still the same
		e := &d.Sides[0].Events[d.state]
		a, b := d.changes(d.state)
		fmt.Fprintf(&w, "variables differ from event %d on, p%d at %s: A sets %s, B %s\n", e.Number,
			e.Process, instant(e.At), cmp.Or(a, "nothing"), cmp.Or(b, "nothing"))
	}
	if d.Parted() {
		d.parting(&w)
		d.following(&w, events)
	}
	return strings.TrimSuffix(w.String(), "\n")
}

// parting shows the first message that only one side sends, or at another instant.
func (d *Difference) parting(w *strings.Builder) {
	if d.message[0] < 0 && d.message[1] < 0 {
		fmt.Fprintf(w, "they send the same messages, %d\n", d.sent)
		return
	}
	fmt.Fprintf(w, "they diverge at message %d:\n", d.sent+1)
	for i, s := range d.Sides {
		if d.message[i] < 0 {
			fmt.Fprintf(w, "  %s  sends no more\n", sideNames[i])
			continue
		}
		d.line(w, i, &s.Events[d.message[i]])
	}
}

// following tells what each side does behind the last event that both have.
func (d *Difference) following(w *strings.Builder, events int) {
	if events == 0 {
		return
	}
	fmt.Fprintln(w, "what followed the last common event:")
	for i, s := range d.Sides {
		rest := s.Events[d.common:]
		for k := range rest[:min(len(rest), events)] {
			d.line(w, i, &rest[k])
		}
		if more := len(rest) - events; more > 0 {
			fmt.Fprintf(w, "  %s  ... and %s\n", sideNames[i],
				console.Plural(more, "event more", "events more"))
		} else if len(rest) == 0 {
			fmt.Fprintf(w, "  %s  nothing\n", sideNames[i])
		}
	}
}

// line is an event of a side.
func (d *Difference) line(w *strings.Builder, i int, e *diagram.Event) {
	width := len(fmt.Sprint(max(len(d.Sides[0].Events), len(d.Sides[1].Events))))
	fmt.Fprintf(w, "  %s  %*d %12s  %s\n", sideNames[i], width, e.Number, instant(e.At), e.Text)
}

func instant(ns int64) string { return time.Duration(ns).Round(time.Microsecond).String() }
