package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A MachineChange is what changed on one of several machines.
type MachineChange struct {
	Host              string
	Base, New         int     // trials, or rounds; of pairs the same
	Change, Low, High float64 // like Row.Change; NaN: it does not exist
	P                 float64 // not corrected
}

// hostsOf are the machines of trials, by name; "" is one of them if some do not say.
func hostsOf(trials []*results.Trial) (out []string) {
	for _, t := range trials {
		if !slices.Contains(out, t.Host) {
			out = append(out, t.Host)
		}
	}
	slices.Sort(out)
	return out
}

// on is a cell with those of its trials alone for which keep holds.
func on(c *results.Cell, keep func(*results.Trial) bool) *results.Cell {
	part := *c
	part.Trials = nil
	for _, t := range c.Trials {
		if keep(t) {
			part.Trials = append(part.Trials, t)
		}
	}
	return &part
}

// onMachines finds what is compared. Where one of two cells has trials on several machines, these
// are a factor: trials on a machine that the other cell has none on are left out. Otherwise, and
// where the machines are to be ignored or one of the cells does not say where it ran, nothing
// tells machines apart.
func (m *matching) onMachines(ignore []string) error {
	left := map[string]int{} // trials, by run and machine
	machines := []string{}
	unsaid := ""
	empty := false
	for _, p := range m.pairs {
		a, b := hostsOf(p.base.Trials), hostsOf(p.new.Trials)
		several := len(a) > 1 || len(b) > 1
		switch said := a[0] != "" && b[0] != ""; {
		case !several || !said || slices.Contains(ignore, results.HostColumn):
			if several && !said {
				unsaid = "BASE"
				if a[0] != "" {
					unsaid = "NEW"
				}
			}
			p.base, p.new = anywhere(p.base), anywhere(p.new)
		default:
			for _, host := range a {
				if slices.Contains(b, host) {
					p.machines = append(p.machines, host)
				}
			}
			for side, c := range []**results.Cell{&p.base, &p.new} {
				both := on(*c, func(t *results.Trial) bool { return slices.Contains(p.machines, t.Host) })
				for _, t := range (*c).Trials {
					if !slices.Contains(p.machines, t.Host) {
						left[sides[side]+" on "+t.Host]++
					}
				}
				*c = both
			}
			machines = append(machines, p.machines...)
			empty = empty || len(p.machines) == 0
		}
		if len(p.machines) > 0 {
			p.same = trialPairs(p.base, p.new)
		}
		p.lucky = luckyPairs(p.base, p.new)
		m.compared = append(m.compared, p)
	}
	slices.Sort(machines)
	machines = slices.Compact(machines)
	var gone []string
	for where, n := range left {
		gone = append(gone, fmt.Sprintf("%s (%d)", where, n))
	}
	slices.Sort(gone)
	switch {
	case empty && len(machines) == 0:
		return fmt.Errorf("no machine has trials of both runs: %s; times of different machines say nothing "+
			"about a change: run both on the same ones, or, if they are alike, --ignore %s",
			strings.Join(gone, ", "), results.HostColumn)
	case len(machines) > 0:
		m.notes = append(m.notes, "each comparison is within one machine, of "+strings.Join(machines, ", ")+
			"; base and new are medians over all machines, change is that within machines")
	case unsaid != "":
		m.notes = append(m.notes, unsaid+" does not name the machine of each trial, so that machines "+
			"are not distinguished")
	}
	if len(gone) > 0 {
		m.notes = append(m.notes, "trials are left out on machines without trials of the other run: "+
			strings.Join(gone, ", "))
	}
	return nil
}

// anywhere is a cell whose trials do not say where they ran.
func anywhere(c *results.Cell) *results.Cell {
	if !slices.ContainsFunc(c.Trials, func(t *results.Trial) bool { return t.Host != "" }) {
		return c
	}
	part := *c
	part.Trials = make([]*results.Trial, len(c.Trials))
	for i, t := range c.Trials {
		somewhere := *t
		somewhere.Host = ""
		part.Trials[i] = &somewhere
	}
	return &part
}

// blocks are a cell, machine by machine if these are a factor.
func (row *Row) blocks(c *results.Cell) (out []*results.Cell) {
	if len(row.cells.machines) == 0 {
		return []*results.Cell{c}
	}
	for _, host := range row.cells.machines {
		out = append(out, on(c, func(t *results.Trial) bool { return t.Host == host }))
	}
	return out
}

// parts are what the row compares of one of its cells where its figure is a mean.
func (row *Row) parts(c *results.Cell, of part) (out [][]stats.Part) {
	for _, block := range row.blocks(c) {
		starts := map[int][]stats.Part{}
		for _, t := range block.Trials {
			starts[t.Start()] = append(starts[t.Start()], of(t))
		}
		var parts []stats.Part
		for _, start := range slices.Sorted(maps.Keys(starts)) {
			if row.rounds {
				parts = append(parts, stats.Together(starts[start]))
			} else {
				parts = append(parts, starts[start]...)
			}
		}
		out = append(out, parts)
	}
	return out
}

// units are what the row compares of one of its cells, see Row.
func (row *Row) units(c *results.Cell) (out [][]float64) {
	for _, part := range row.blocks(c) {
		if row.rounds {
			out = append(out, centers(part.ByStart(row.Metric)))
		} else {
			out = append(out, trialsOf(part, row.Metric))
		}
	}
	return out
}

// uneven looks for changes that differ between machines, and notes those that do so beyond chance.
func (r *Report) uneven() {
	p := make([]float64, len(r.Rows))
	for i := range r.Rows {
		row := &r.Rows[i]
		p[i] = math.NaN()
		if len(row.cells.machines) < 2 || row.Test == NoTest || row.Exact {
			continue
		}
		row.byMachine()
		if row.Paired != nil {
			var differences [][]float64
			for _, host := range row.cells.machines {
				differences = append(differences, row.Paired.on(host))
			}
			p[i] = stats.PairedInteraction(differences, bootstrapSeed)
		} else {
			p[i] = stats.Interaction(row.units(row.cells.base), row.units(row.cells.new), bootstrapSeed)
		}
	}
	for i, adjusted := range stats.Holm(p) {
		row := &r.Rows[i]
		if row.Uneven = adjusted; adjusted <= r.Alpha {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %s: %s", r.Title(row), row.Metric,
				row.unevenText(r.Alpha)))
		}
	}
}

// on are the differences of the pairs on a machine.
func (p *Pairing) on(host string) (out []float64) {
	for i, d := range p.Differences {
		if p.hosts[i] == host {
			out = append(out, d)
		}
	}
	return out
}

// byMachine finds what changed on each machine, by the row's own test.
func (row *Row) byMachine() {
	base, new := row.units(row.cells.base), row.units(row.cells.new)
	for i, host := range row.cells.machines {
		here := func(t *results.Trial) bool { return t.Host == host }
		a, b := on(row.cells.base, here), on(row.cells.new, here)
		c := MachineChange{Host: host}
		change := stats.Change{}
		if row.Paired != nil {
			p := row.pairs(a, b, luckyPairs(a, b), pooled(row.of))
			c.Base, c.New, c.P, change = p.N, p.N, p.P, p.Change
		} else {
			x, y := base[i:i+1], new[i:i+1]
			c.Base, c.New = len(x[0]), len(y[0])
			if row.of.Kind.Pooled() {
				x := row.parts(row.cells.base, exposed(row.of))[i : i+1]
				y := row.parts(row.cells.new, exposed(row.of))[i : i+1]
				c.P, change = stats.PooledGroups(x, y, stats.Confidence, bootstrapSeed)
			} else {
				s := stats.Stratify(x, y, stats.Confidence)
				c.P, change = s.P, s.Change
			}
		}
		c.Change, c.Low, c.High = change.Relative(a.Describe(row.Metric).Center())
		row.Machines = append(row.Machines, c)
	}
}

// unevenText says how the change differs: "slower on lab2 alone".
func (row *Row) unevenText(alpha float64) string {
	var each, up, down []string
	p := make([]float64, len(row.Machines))
	for i, c := range row.Machines {
		p[i] = c.P
		each = append(each, fmt.Sprintf("%s on %s", view.Change(c.Change, c.Low, c.High), c.Host))
	}
	for i, adjusted := range stats.Holm(p) {
		switch c := row.Machines[i]; {
		case !(adjusted <= alpha):
		case c.Change > 0:
			up = append(up, c.Host)
		case c.Change < 0:
			down = append(down, c.Host)
		}
	}
	higher, lower := row.of.Directions()
	var parts []string
	for _, of := range []struct {
		word  string
		hosts []string
	}{{higher, up}, {lower, down}} {
		switch {
		case len(of.hosts) == 0:
		case len(of.hosts) < len(row.Machines):
			parts = append(parts, of.word+" on "+strings.Join(of.hosts, " and ")+" alone")
		default:
			parts = append(parts, of.word+" on all, but not alike")
		}
	}
	text := fmt.Sprintf("the change differs between machines (p %s after correction): %s", view.P(row.Uneven),
		strings.Join(each, ", "))
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}
