package diff

import (
	"maps"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/report/diagram"
	"github.com/conclave-bench/conclave/internal/commands/replay"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Difference is in what two trials differ.
type Difference struct {
	Sides   [2]*replay.Side
	common  int      // events that both begin with
	sent    int      // messages that both begin with
	message [2]int   // the places of the first messages that are not the same; -1: there is none
	state   int      // the place of the first common event that sets variables to other values; -1: none
	kinds   []string // of the messages sent
	counts  [2]map[string]int
	// variables are the names of those that processes have.
	variables [2]map[string]bool
}

// New compares two sides.
func New(sides [2]*replay.Side) *Difference {
	d := &Difference{Sides: sides, state: -1, message: [2]int{-1, -1}}
	blind := slices.ContainsFunc(sides[:], func(s *replay.Side) bool {
		return !slices.ContainsFunc(s.Events, func(e diagram.Event) bool { return e.Holds != "" })
	})
	var sends [2][]int
	seen := map[string]bool{}
	for i, s := range sides {
		if blind { // the side may be compared with others, too
			own := *s
			own.Events = slices.Clone(s.Events)
			s, d.Sides[i] = &own, &own
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
	a, b := d.Sides[0].Events, d.Sides[1].Events
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

// Parted says whether not the same happened.
func (d *Difference) Parted() bool {
	return d.common < max(len(d.Sides[0].Events), len(d.Sides[1].Events))
}

// Differ says whether the trials are not the same, or are not judged alike.
func (d *Difference) Differ() bool { return d.Parted() || len(d.endings()) > 0 }

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
func (d *Difference) changes(k int) (a, b string) {
	only := func(list, other []diagram.Change) string {
		var parts []string
		for _, c := range list {
			if d.variables[0][c.Name] && d.variables[1][c.Name] && !slices.Contains(other, c) {
				parts = append(parts, c.Name+" "+c.After)
			}
		}
		return strings.Join(parts, ", ")
	}
	here, there := d.Sides[0].Events[k].Changes, d.Sides[1].Events[k].Changes
	return only(here, there), only(there, here)
}
