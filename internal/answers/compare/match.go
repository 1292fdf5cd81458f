package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A pair is a cell of both runs.
type pair struct {
	base, new *results.Cell
	// machines are those that both cells have trials of, if these say where they ran.
	machines []string
	same     [][2]*results.Trial // of one repetition each
	lucky    [][2]*results.Trial // of equal seeds, of what is compared
}

// matching is which cells of two runs belong together.
type matching struct {
	key            []string // columns
	pairs          []pair
	compared       []pair // the same, of machines that have trials of both
	missing, extra []*results.Cell
	notes          []string
}

// match pairs the cells whose designs agree in every column that both runs have
// and that is not to be ignored.
func match(base, new *results.Table, ignore []string) (*matching, error) {
	m := &matching{}
	for _, name := range base.Design {
		if slices.Contains(new.Design, name) && !slices.Contains(ignore, name) {
			m.key = append(m.key, name)
		}
	}
	if err := m.alone("BASE", base, new, ignore); err != nil {
		return nil, err
	}
	if err := m.alone("NEW", new, base, ignore); err != nil {
		return nil, err
	}
	old, err := m.index("BASE", base)
	if err != nil {
		return nil, err
	}
	fresh, err := m.index("NEW", new)
	if err != nil {
		return nil, err
	}
	for _, c := range base.Cells() {
		if other := fresh[m.name(c)]; other != nil {
			m.pairs = append(m.pairs, pair{base: c, new: other, same: trialPairs(c, other)})
		} else {
			m.missing = append(m.missing, c)
		}
	}
	for _, c := range new.Cells() {
		if old[m.name(c)] == nil {
			m.extra = append(m.extra, c)
		}
	}
	for _, p := range m.pairs {
		if text := hostingDiffers(p.base, p.new); text != "" {
			m.notes = append(m.notes, text)
			break // it is about the algorithms, which are the same in all cells
		}
	}
	if len(m.pairs) == 0 {
		return nil, fmt.Errorf("%s and %s have no cell in common: %s", base.Path, new.Path, m.why(base, new))
	}
	return m, nil
}

// alone takes note of the columns of one run that the other does not have. One
// that varies cannot be left out, for then cells would be alike.
func (m *matching) alone(side string, t, other *results.Table, ignore []string) error {
	for _, name := range t.Design {
		if slices.Contains(other.Design, name) || slices.Contains(ignore, name) {
			continue
		}
		values := valuesOf(t, name)
		switch {
		case name != metric.HostingColumn, slices.Equal(values, []string{metric.RunAsProcess}):
		case simulated(t):
			continue // times are virtual, which hostingDiffers says
		default:
			return fmt.Errorf("processes of %s (%s) ran as a %s, those of %s as a %s: their times are not "+
				"comparable; choose one with --where %s=..., or compare them anyway with --ignore %s",
				side, t.Path, strings.Join(values, " and as a "), other.Path, metric.RunAsProcess,
				metric.HostingColumn, metric.HostingColumn)
		}
		if len(values) > 1 {
			return fmt.Errorf("only %[2]s (%[3]s) has column %[1]s, which varies (%[4]s): sweep it in "+
				"both, or "+
				"choose one value with --where %[5]s=%[6]s", name, side, t.Path, strings.Join(values, ", "),
				name, values[0])
		}
		m.notes = append(m.notes, fmt.Sprintf("only %s has column %s (always %s)", side, name, values[0]))
	}
	return nil
}

// simulated says whether all cells of a run are.
func simulated(t *results.Table) bool {
	real := func(c *results.Cell) bool { return !transport.Virtual(c.Get("transport")) }
	return !slices.ContainsFunc(t.Cells(), real)
}

// hostingDiffers says that two cells are compared although different things ran them; "" if the same ran
// both.
func hostingDiffers(x, y *results.Cell) string {
	a, b := hostingOf(x), hostingOf(y)
	if a == b {
		return ""
	}
	text := "handling_ms is what each took for its handlers, which is a part of all other times"
	if transport.Virtual(x.Get("transport")) {
		text = "in virtual time that changes no figure"
	}
	return fmt.Sprintf("hosting differs: %s of %s and %s of %s; %s", metric.HostingColumn+"="+a,
		view.Label(x.Design), metric.HostingColumn+"="+b, view.Label(y.Design), text)
}

// hostingsDiffer is hostingDiffers of the first two cells in one place whose hosting differs; "" if none do.
func hostingsDiffer(places [][]*results.Cell) string {
	for _, cells := range places {
		for i := range cells {
			if text := hostingDiffers(cells[0], cells[i]); text != "" {
				return text
			}
		}
	}
	return ""
}

// hostingOf is what ran the processes of a cell.
func hostingOf(c *results.Cell) string {
	if v := c.Get(metric.HostingColumn); v != "" {
		return v
	}
	if transport.Virtual(c.Get("transport")) {
		return metric.InSimulation
	}
	return metric.RunAsProcess
}

func valuesOf(t *results.Table, column string) []string {
	var values []string
	for _, c := range t.Cells() {
		if v := c.Get(column); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

// index finds cells by key.
func (m *matching) index(side string, t *results.Table) (map[string]*results.Cell, error) {
	index := map[string]*results.Cell{}
	for _, c := range t.Cells() {
		if again := repeated(c); again != nil {
			return nil, fmt.Errorf("%s (%s): trial %d, seed %d, appears twice: repeating a simulation "+
				"adds no observation; leave one out", side, t.Path, again.Trial, again.Seed)
		}
		k := m.name(c)
		if other := index[k]; other != nil {
			return nil, fmt.Errorf("cells %d and %d of %s (%s) differ only in columns that are ignored: "+
				"choose one with --where, or ignore less", other.Number, c.Number, side, t.Path)
		}
		index[k] = c
	}
	return index, nil
}

// repeated is a trial of a simulated cell whose seed another had; nil if there is none.
func repeated(c *results.Cell) *results.Trial {
	seen := map[uint64]bool{}
	for _, t := range c.Trials {
		if seen[t.Seed] && transport.Repeats(c.Get("transport")) {
			return t
		}
		seen[t.Seed] = true
	}
	return nil
}

// name tells cells apart that do not belong together.
func (m *matching) name(c *results.Cell) string {
	return fmt.Sprintf("%q", view.Place(c.Design, m.key))
}

// columns are those by which a reader tells the cells of both runs apart.
func (m *matching) columns() []string {
	designs := slices.Concat(view.Designs(m.missing), view.Designs(m.extra))
	for _, p := range m.pairs {
		designs = append(designs, p.base.Design, p.new.Design)
	}
	return view.Telling(designs, m.key)
}

// why says which columns have no value in common.
func (m *matching) why(base, new *results.Table) string {
	var out []string
	for _, name := range m.key {
		a, b := valuesOf(base, name), valuesOf(new, name)
		if !slices.ContainsFunc(a, func(v string) bool { return slices.Contains(b, v) }) {
			out = append(out, fmt.Sprintf("%s is %s in BASE and %s in NEW", name, some(a), some(b)))
		}
	}
	if len(out) == 0 {
		return "each combination of values is in only one of them"
	}
	return strings.Join(out, "; ") + " (to compare them nevertheless: --ignore COLUMN)"
}

// some lists a few values.
func some(values []string) string {
	const most = 4
	for i, v := range values {
		if v == "" {
			values[i] = "empty"
		}
	}
	if len(values) > most {
		return strings.Join(values[:most], ", ") + ", ..."
	}
	return strings.Join(values, ", ")
}
