package compare

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/stats"
)

// context notes what differs between the runs besides what is measured.
func (r *Report) context(base, new *results.Table) {
	r.Notes = append(r.Notes, configDifference(base.Path, new.Path)...)
	if text := machineDifference(base, new); text != "" {
		r.Notes = append(r.Notes, text)
	}
	for side, t := range []*results.Table{base, new} {
		for _, text := range Drifts(t) {
			r.Notes = append(r.Notes, []string{"base", "new"}[side]+": "+text)
		}
	}
}

// configDifference says which keys of the experiments differ. A file on its own
// has no experiment beside it.
func configDifference(base, new string) []string {
	a, b := settings(base), settings(new)
	if a == nil || b == nil {
		return nil
	}
	var out []string
	all := maps.Clone(a)
	maps.Copy(all, b)
	keys := slices.Sorted(maps.Keys(all))
	// Parameters follow from the network, and tell less than what they follow from.
	slices.SortStableFunc(keys, func(a, b string) int {
		return strings.Count(a, "algorithms[") - strings.Count(b, "algorithms[")
	})
	for _, key := range keys {
		if a[key] != b[key] && key != "name" {
			out = append(out, fmt.Sprintf("%s: %s -> %s", key, orNone(a[key]), orNone(b[key])))
		}
	}
	const most = 6
	if more := len(out) - most; more > 0 {
		out = append(out[:most], fmt.Sprintf("and %d more", more))
	}
	if len(out) == 0 {
		return nil
	}
	return []string{"the experiments differ: " + strings.Join(out, "; ")}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// settings are the leaves of the resolved experiment in dir by dotted key; nil if
// there is none that can be read.
func settings(dir string) map[string]string {
	text, err := os.ReadFile(filepath.Join(dir, results.ConfigFile))
	var root yaml.Node
	if err != nil || yaml.Unmarshal(text, &root) != nil || len(root.Content) == 0 {
		return nil
	}
	out := map[string]string{}
	var walk func(prefix string, n *yaml.Node)
	walk = func(prefix string, n *yaml.Node) {
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				walk(strings.TrimPrefix(prefix+"."+n.Content[i].Value, "."), n.Content[i+1])
			}
		case yaml.SequenceNode:
			for i, item := range n.Content {
				walk(prefix+"["+strconv.Itoa(i+1)+"]", item)
			}
		default:
			out[prefix] = n.Value
		}
	}
	walk("", root.Content[0])
	return out
}

// machineDifference warns where times were taken on different machines.
func machineDifference(base, new *results.Table) string {
	a, errA := results.ReadManifest(base.Path)
	b, errB := results.ReadManifest(new.Path)
	if errA != nil || errB != nil || a.Machine.String() == b.Machine.String() ||
		!measured(base) && !measured(new) {
		return ""
	}
	return fmt.Sprintf("the machines differ (%v; %v): times of real processes compare only on one machine, "+
		"best with both runs interleaved", a.Machine, b.Machine)
}

// measured says whether t has trials on real processes.
func measured(t *results.Table) bool {
	return slices.ContainsFunc(t.Trials, func(t results.Trial) bool {
		return slices.Contains(t.Design, results.Field{Name: "transport", Value: "nats"})
	})
}

// Drifts says which of the main metrics rose or fell over the course of a run on
// real processes: each trial against the median of its cell, in the order of
// execution. Blocks in random order keep such a drift from favouring a cell, but
// it says that the machine was not the same throughout.
func Drifts(t *results.Table) []string {
	if !measured(t) {
		return nil
	}
	cells := t.Cells()
	var out []string
	for _, metric := range []string{"election_ms", "waiting_ms"} {
		type point struct {
			order    int
			residual float64
		}
		var points []point
		for _, c := range cells {
			values, _ := c.Sample(metric)
			center := stats.Describe(values, 0).Median
			for _, trial := range c.Trials {
				if v, seen := trial.Observe(metric); seen == results.Observed && center > 0 {
					points = append(points, point{trial.Order, v / center})
				}
			}
		}
		slices.SortFunc(points, func(a, b point) int { return a.order - b.order })
		residuals := make([]float64, len(points))
		for i, p := range points {
			residuals[i] = p.residual
		}
		rho, p := stats.Drift(residuals)
		if p <= driftAlpha && math.Abs(rho) >= driftLeast {
			out = append(out, fmt.Sprintf("%s drifts over the order of execution (Spearman's rho %+.2f, "+
				"p %s): the machine was not the same throughout; run it again on an idle one", metric, rho,
				P(p)))
		}
	}
	return out
}

// A drift is told when it is beyond doubt and not small.
const (
	driftAlpha = 0.01
	driftLeast = 0.3
)
