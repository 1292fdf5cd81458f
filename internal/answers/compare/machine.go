package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// machines warns where times of real processes were taken on different machines, or
// on machines that had more to do than each other: what is worse may be theirs.
func (r *Report) machines(m *matching, base, new *results.Table) {
	if text := machineDifference(m, base, new); text != "" {
		r.Warnings = append(r.Warnings, text)
	}
	var cells []pair
	for _, p := range m.pairs {
		if onNodes(p.base) && onNodes(p.new) {
			cells = append(cells, p)
		}
	}
	var parts []string
	for _, l := range loads {
		if text := l.difference(cells, r.Columns); text != "" {
			parts = append(parts, text)
		}
	}
	if text := disturbances(cells); text != "" {
		parts = append(parts, text)
	}
	if len(parts) > 0 {
		r.Warnings = append(r.Warnings, "the machines were busier during one of the runs: "+
			strings.Join(parts, "; ")+"; this may cause the differences: run both "+
			"again, interleaved, on an idle machine")
	}
}

func onNodes(c *results.Cell) bool { return transport.Real(c.Get("transport")) }

// A load is a metric of what the machine did besides what is measured, of which the
// runs may differ by at most least.
type load struct {
	metric string
	least  float64
	worst  bool // of the cell where they differ most, not the mean over cells
	text   string
}

var loads = []load{
	{"skew", 0.05, true, "lateness of messages and timers is %s of a time in the base and %s in the new run"},
	{"busy_share", 0.20, false, "processors were busy for %s of the time and %s"},
	{"steal_share", 0.05, false, "a hypervisor gave %s of the processors to others and %s"},
}

// difference tells that the runs differ by more than is usual; "" if they do not, or
// if one does not know.
func (l *load) difference(cells []pair, columns []string) string {
	var a, b, n float64
	where := ""
	for _, p := range cells {
		x, y := typical(p.base, l.metric), typical(p.new, l.metric)
		switch {
		case math.IsNaN(x) || math.IsNaN(y):
		case !l.worst:
			a, b, n = a+x, b+y, n+1
		case math.Abs(x-y) > math.Abs(a-b):
			a, b, n = x, y, 1
			where = " (" + view.Name(p.base.Design, columns) + ")"
		}
	}
	if n == 0 || math.Abs(a-b)/n <= l.least {
		return ""
	}
	percent := func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v/n) }
	return fmt.Sprintf(l.text, percent(a), percent(b)) + where
}

func typical(c *results.Cell, metric string) float64 {
	values, _ := c.Sample(metric)
	return stats.Describe(values, 0).Median
}

// mostDisturbed is by how much the shares of disturbed trials may differ.
const mostDisturbed = 0.1

// disturbances compares how many trials the machine disturbed: marked, repeated, or
// invalid to the end.
func disturbances(cells []pair) string {
	var count, of [2]int
	for _, p := range cells {
		for side, c := range []*results.Cell{p.base, p.new} {
			of[side] += len(c.Trials)
			for _, t := range c.Trials {
				if t.Marked() || t.Attempts > 1 || t.Status == trace.Invalid {
					count[side]++
				}
			}
		}
	}
	share := func(side int) float64 { return float64(count[side]) / float64(max(of[side], 1)) }
	if math.Abs(share(0)-share(1)) <= mostDisturbed {
		return ""
	}
	return fmt.Sprintf("%d of %d trials are marked, repeated or invalid in the base and %d of %d in the "+
		"new run", count[0], of[0], count[1], of[1])
}

// machineDifference warns where times of different machines are compared.
func machineDifference(m *matching, base, new *results.Table) string {
	a, b := base.Manifest, new.Manifest
	if a == nil || b == nil || !measured(base) && !measured(new) {
		return ""
	}
	if slices.ContainsFunc(m.compared, func(p pair) bool { return len(p.machines) > 0 }) {
		return renamed(a, b)
	}
	was, now := machineNames(a), machineNames(b)
	if was == now {
		return ""
	}
	return fmt.Sprintf("the machines differ (%s; %s): times of real processes compare only on one machine, "+
		"best with both runs interleaved", was, now)
}

// renamed warns where machines of one name, within which times are compared, are not alike.
func renamed(a, b *results.Manifest) (text string) {
	is := map[string]results.Machine{}
	each := func(m *results.Manifest, do func(string, results.Machine)) {
		for _, p := range m.Parts {
			do(p.Host, p.Machine)
		}
		for _, w := range m.Workers {
			do(w.Host, w.Machine)
		}
	}
	each(b, func(host string, m results.Machine) { is[host] = m })
	each(a, func(host string, was results.Machine) {
		if now, known := is[host]; known && host != "" && now.String() != was.String() && text == "" {
			text = fmt.Sprintf("%s has changed between the runs (%v; %v): times of real processes compare "+
				"only on one machine", host, was, now)
		}
	})
	return text
}

// machineNames describes the machines of a run.
func machineNames(m *results.Manifest) string {
	var names []string
	for _, machine := range m.Machines() {
		names = append(names, machine.String())
	}
	text := strings.Join(names, " and ")
	if len(m.Hosts) == 0 {
		return text
	}
	var hosts []string
	for _, h := range m.Hosts {
		hosts = append(hosts, h.Name)
	}
	return "each trial over " + strings.Join(hosts, ", ") + ": " + text
}

// measured says whether t has trials on real processes.
func measured(t *results.Table) bool {
	return slices.ContainsFunc(t.Trials, func(t results.Trial) bool {
		return slices.ContainsFunc(t.Design, func(f metric.Field) bool {
			return f.Name == "transport" && transport.Real(f.Value)
		})
	})
}
