package experiment

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// fixedColumns are the first ones of every design.
var fixedColumns = []string{"problem", "algorithm", "label", "transport", "nodes", "topology",
	"scenario", "latency_model", "latency_ms", "loss", "duplication", "crash_rate"}

// titles are what columns are called for people where that is not their name in prose.
var titles = map[string]string{
	"label": "algorithm", "loss": "message loss", "duplication": "message duplication",
	"crash_rate": "crash rate (1/s per process)", "network_loss": "message loss",
	"network_latency": "latency", "topology_shape": "topology",
}

// Title is what an axis along a column of the design is called, in prose and with its unit:
// "latency (ms)" of latency_ms.
func Title(column string) string {
	if t := titles[column]; t != "" {
		return t
	}
	name, unit := column, ""
	if stem, is := strings.CutSuffix(column, "_ms"); is {
		name, unit = stem, " (ms)"
	}
	for _, k := range Keys() {
		if k.Title != "" && strings.ReplaceAll(k.Path, ".", "_") == name {
			return k.Title + unit
		}
	}
	for _, block := range []string{"params_", "scenario_", "faults_", "network_"} {
		name = strings.TrimPrefix(name, block)
	}
	return strings.ReplaceAll(name, "_", " ") + unit
}

// Designs are those of the cells.
func (e *Experiment) Designs() [][]metric.Field {
	out := make([][]metric.Field, len(e.Cells))
	for i := range e.Cells {
		out[i] = e.Cells[i].Design
	}
	return out
}

// Declared lists the values that a column of the design can have, also those that no cell of an
// experiment has: nil if they are numbers, names, or not known.
func Declared(column string) (values []string) {
	switch column {
	case "algorithm":
		for _, a := range algo.All() {
			values = append(values, a.ID)
		}
		return values
	case "latency_model":
		for _, d := range link.Distributions() {
			values = append(values, d.Name)
		}
		return values
	case metric.HostingColumn:
		return []string{metric.RunAsProcess, metric.RunAsGoroutine, metric.RunAsReused, metric.InSimulation,
			metric.InProgram, metric.InModule}
	case metric.ReplayColumn:
		return []string{"no"}
	case "scenario":
		column = "scenario_kind"
	}
	for _, k := range Keys() {
		if strings.HasPrefix(k.Type, "one of ") && !strings.Contains(k.Type, ", or {") &&
			strings.ReplaceAll(k.Path, ".", "_") == column {
			return k.Values
		}
	}
	return nil
}

// covered are the keys that the fixed columns show, and the column that shows
// one whole where the fixed ones do not tell two values apart.
var covered = map[string]string{
	"hosting.run_as": "", "hosting.reuse": "",
	"nodes": "", "topology": "topology_shape", "topology.kind": "",
	"network.loss":    "network_loss",
	"network.latency": "network_latency", "network.latency.distribution": "",
	"network.duplication": "", "faults.crash_rate": "", "scenario.kind": "",
}

// design gives every cell a value for each column.
func (e *Experiment) design(variants []*variant, axes []axis) {
	keys, durations := sweptKeys(axes)
	e.columns(variants, keys, durations, false)
	seen := map[string]bool{}
	for i := range e.Cells {
		b, _ := json.Marshal(e.Cells[i].Design)
		if seen[string(b)] {
			e.columns(variants, keys, durations, true)
			return
		}
		seen[string(b)] = true
	}
}

// sweptKeys are the keys of the sweep in order, and whether all their values are
// durations.
func sweptKeys(axes []axis) (keys []string, durations map[string]bool) {
	durations = map[string]bool{}
	see := func(key string, isDuration bool) {
		was, ok := durations[key]
		if !ok {
			keys = append(keys, key)
		}
		durations[key] = isDuration && (was || !ok)
	}
	for _, a := range axes {
		for _, s := range a.keys {
			if s.names != nil {
				see(s.key, false)
				continue
			}
			for i := range s.raw {
				if s.param != "" {
					for _, v := range s.given[i] {
						_, is := v.(time.Duration)
						see(s.key, is)
					}
				}
				for _, c := range s.sets[i] {
					_, is := c.value.Duration()
					see(c.full(), is)
				}
			}
		}
	}
	return keys, durations
}

// columns fills in the design; all adds the columns that show values whole.
func (e *Experiment) columns(variants []*variant, keys []string, durations map[string]bool,
	all bool) {
	e.Columns = slices.Clone(fixedColumns)
	hosts := slices.ContainsFunc(e.Cells, func(c Cell) bool {
		as := e.hosting(&c.Plan)
		return as != metric.RunAsProcess && as != metric.InSimulation
	})
	if hosts {
		e.Columns = append(e.Columns, metric.HostingColumn)
	}
	repeats := transport.Repeats(e.Transport) || !e.Virtual()
	if !repeats {
		e.Columns = append(e.Columns, metric.ReplayColumn)
	}
	services := slices.ContainsFunc(variants, func(v *variant) bool { return v.known != nil })
	if services {
		for _, c := range metric.ServiceColumns {
			e.Columns = append(e.Columns, c.Name)
		}
	}
	first := len(e.Columns)
	var shown []string
	for _, k := range keys {
		column, fixed := covered[k]
		switch {
		case !fixed:
			column = strings.ReplaceAll(k, ".", "_")
			if durations[k] {
				column += "_ms"
			}
		case column == "" || !all:
			continue
		}
		shown = append(shown, k)
		e.Columns = append(e.Columns, column)
	}
	for i, v := range variants {
		cell := &e.Cells[i]
		cell.Design = v.fixed(e, &cell.Plan)
		if hosts {
			cell.Design = append(cell.Design,
				metric.Field{Name: metric.HostingColumn, Value: e.hosting(&cell.Plan)})
		}
		if !repeats {
			cell.Design = append(cell.Design, metric.Field{Name: metric.ReplayColumn, Value: "no"})
		}
		if services {
			for _, c := range metric.ServiceColumns {
				cell.Design = append(cell.Design, metric.Field{Name: c.Name, Value: v.known[c.Name]})
			}
		}
		for j, k := range shown {
			cell.Design = append(cell.Design,
				metric.Field{Name: e.Columns[first+j],
					Value: v.values[k].of(durations[k] && covered[k] == "")})
		}
	}
}

// fixed is the values of the fixed columns.
func (v *variant) fixed(e *Experiment, p *harness.Plan) []metric.Field {
	name := p.Shape.Kind
	if g, err := algo.Build(p.Shape, representative(p), 1); err == nil {
		name = g.Name
	}
	l := p.Network.Latency
	values := []string{string(e.Problem), p.Algorithm, p.Label, e.Transport,
		strconv.Itoa(p.Clients()), name, p.Scenario.Kind(), v.latencyName(p), milliseconds(l.Average()),
		config.FormatFloat(math.Round(p.Network.LossRate()*1e9) / 1e9),
		config.FormatFloat(p.Network.Duplication),
		config.FormatFloat(p.Faults.CrashRate)}
	out := make([]metric.Field, len(values))
	for i, value := range values {
		out[i] = metric.Field{Name: fixedColumns[i], Value: value}
	}
	return out
}

// representative is a number of nodes whose graph has the class and the name of
// the plan's: the plan's own only where the shape names processes.
func representative(p *harness.Plan) int {
	if p.Shape.Order != nil || p.Shape.Weights != nil || p.Shape.Kind == "file" {
		return p.Nodes
	}
	return 1
}
