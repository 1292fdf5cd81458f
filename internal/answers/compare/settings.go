package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/conclave-bench/conclave/pkg/results"
)

// A setting is a leaf of the experiment whose value differs between the runs.
type setting struct {
	key       string // dotted; items of lists by number, algorithms by label
	base, new string // "": it has none
	trial     bool   // it can change what happens in a trial
}

// differences are the settings in which two experiments differ, those of algorithms
// last: parameters follow from the network, and tell less than what they follow
// from. A file on its own has no experiment beside it, and differs in nothing.
func differences(base, new *results.Table) []setting {
	a, b := settings(base.Config), settings(new.Config)
	if a == nil || b == nil {
		return nil
	}
	var out []setting
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if a[key] != b[key] && key != "name" {
			s := setting{key: key, base: a[key], new: b[key]}
			s.trial = s.tells(a, b, oneProgram(base, new))
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b setting) int {
		return strings.Count(a.key, "algorithms[") - strings.Count(b.key, "algorithms[")
	})
	return out
}

// tells says whether the setting can change what happens in the trials of cells that
// are compared.
func (s *setting) tells(a, b map[string]string, oneProgram bool) bool {
	inBase, inNew := swept(s.key, a), swept(s.key, b)
	switch {
	case judging(s.key), inBase && inNew: // then the designs of the cells agree
		return false
	case inBase || inNew:
		return !designed(s.key)
	case strings.Contains(s.key, "].params.") && !oneProgram: // which may have changed a default
		return false
	}
	return s.meant(a, b)
}

// designed says whether every run has a column for the key, swept or not.
func designed(key string) bool {
	columns := []string{"nodes", "topology", "scenario.kind", "network.latency", "network.loss",
		"network.duplication", "faults.crash_rate"}
	return slices.ContainsFunc(columns, func(root string) bool {
		return strings.HasPrefix(key+".", root+".")
	})
}

// oneProgram says whether both runs are known to be of one program.
func oneProgram(base, new *results.Table) bool {
	a, b := base.Manifest, new.Manifest
	return a != nil && b != nil && a.Tool.Same(b.Tool, true)
}

// judging says whether a key is about which trials are run and what is kept of
// them, or is compared trial by trial anyhow, as the seeds are.
func judging(key string) bool {
	if strings.HasPrefix(key, "hosting.hosts") { // which processes fail together
		return false
	}
	root := key
	if i := strings.IndexAny(key, ".["); i >= 0 {
		root = key[:i]
	}
	return slices.Contains([]string{"sweep", "repetitions", "rounds", "seed", "trace", "retries", "allow",
		"thresholds", "transport", "hosting", "bus"}, root)
}

// swept says whether key varies in an experiment: the design of a cell has its value.
func swept(key string, in map[string]string) bool {
	for name, vary := range in {
		if strings.HasPrefix(name, "sweep[") && strings.Contains(name, "].vary") &&
			strings.Contains("."+key+".", "."+vary+".") {
			return true
		}
	}
	return false
}

// meant says whether somebody meant the difference: a key that only one of the
// runs knows is a default of another version of the program, unless a whole item of
// a list, or a value of another form, stands in its place.
func (s *setting) meant(a, b map[string]string) bool {
	_, inBase := a[s.key]
	_, inNew := b[s.key]
	if inBase && inNew {
		return true
	}
	without := b
	if inNew {
		without = a
	}
	starts := func(prefix string) bool {
		for key := range without {
			if strings.HasPrefix(key, prefix) {
				return true
			}
		}
		return false
	}
	item := s.key[:strings.LastIndexByte(s.key, ']')+1]
	return item != "" && !starts(item) || starts(s.key+".") || starts(s.key+"[")
}

// concerns says whether the setting is about the cells of a label.
func (s *setting) concerns(label string) bool {
	return s.trial && (!strings.HasPrefix(s.key, "algorithms[") ||
		strings.HasPrefix(s.key, "algorithms["+label+"]"))
}

// differenceNote tells which settings differ; "" if none does.
func differenceNote(all []setting) string {
	var out []string
	for _, s := range all {
		out = append(out, fmt.Sprintf("%s: %s -> %s", s.key, cmp.Or(s.base, "none"), cmp.Or(s.new, "none")))
	}
	const most = 6
	if more := len(out) - most; more > 0 {
		out = append(out[:most], fmt.Sprintf("and %d more", more))
	}
	if len(out) == 0 {
		return ""
	}
	return "the experiments differ: " + strings.Join(out, "; ")
}

// settings are the leaves of the resolved experiment of a run by dotted key; nil if
// it has none.
func settings(config []byte) map[string]string {
	var root yaml.Node
	if yaml.Unmarshal(config, &root) != nil || len(root.Content) == 0 {
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
				walk(prefix+"["+itemName(prefix, i, item)+"]", item)
			}
		default:
			out[prefix] = n.Value
		}
	}
	walk("", root.Content[0])
	return out
}

// itemName is an algorithm's label, by which its cells are known wherever it stands
// in the list; any other item has its number.
func itemName(list string, i int, item *yaml.Node) string {
	if list == "algorithms" && item.Kind == yaml.MappingNode {
		for k := 0; k+1 < len(item.Content); k += 2 {
			if item.Content[k].Value == "label" {
				return item.Content[k+1].Value
			}
		}
	}
	return strconv.Itoa(i + 1)
}

// TimeLimit is that of the trials of a cell in ms, as far as the run says it; else 0.
func TimeLimit(t *results.Table, c *results.Cell) float64 { return Setting(t, c, "time_limit") }

// Setting is a number of the experiment of a cell by its key, a duration in ms, as far as
// the run says it; else 0.
func Setting(t *results.Table, c *results.Cell, key string) float64 {
	if v, err := strconv.ParseFloat(c.Get(strings.ReplaceAll(key, ".", "_")), 64); err == nil {
		return v
	}
	text := settings(t.Config)[key]
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v
	}
	span, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return float64(span) / float64(time.Millisecond)
}
