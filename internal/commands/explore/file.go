package explore

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// File is the schedule that was found as an experiment, in YAML; the comment says
// what it breaks. The experiment that is read from it has one trial, which is that
// of the schedule.
func (f *Find) File() ([]byte, error) {
	about := []string{"Found and minimised by bench " + cmp.Or(f.by, "explore") + ". It breaks the rule",
		fmt.Sprintf("%s: %s.", f.Rule, strings.ReplaceAll(f.Text, "\n", "\n# "))}
	for _, why := range f.OutOfModel {
		about = append(about, fmt.Sprintf("That is beyond the model of %s: %s.", f.Schedule.Algorithm.ID,
			why))
	}
	return f.Schedule.file(cmp.Or(f.by, "explore")+"-"+f.Schedule.Algorithm.Spec.Name, about), nil
}

// file is the schedule as an experiment: its name, what is said about it, and further keys.
func (s *Schedule) file(name string, about []string, more ...string) []byte {
	alg := s.Algorithm
	w := &bytes.Buffer{}
	line := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	for _, text := range about {
		line("# %s", text)
	}
	line("")
	line("name: %s", name)
	line("problem: %s", alg.Problem)
	line("algorithms: [{name: %s%s}]", alg.Spec.Name, params(s.Params))
	line("transport: sim")
	line("nodes: %d", s.Nodes)
	switch {
	case s.Shape.Kind == "tree":
		line("topology: {kind: tree, shape: %s}", s.Shape.Tree)
	case s.Shape.Degree > 0:
		line("topology: {kind: %s, degree: %v}", s.Shape.Kind, s.Shape.Degree)
	case s.Shape.Order != nil:
		line("topology: {kind: %s, order: %s}", s.Shape.Kind, listed(s.Shape.Order))
	case s.Shape.Sorted != "":
		line("topology: {kind: %s, order: %s}", s.Shape.Kind, s.Shape.Sorted)
	case alg.Spec.Needs.Topology.Arbitrary():
		line("topology: %s", s.Shape.Kind)
	}
	order, duplication := "", ""
	if s.Unordered {
		order = ", order: unordered"
	}
	if s.Duplication > 0 {
		duplication = fmt.Sprintf(", duplication: %v", s.Duplication)
	}
	line("network: {latency: %s%s%s}", s.Latency.Literal(), order, duplication)
	line("detector: %s", s.Detector.Literal())
	line("scenario:")
	line("  kind: script")
	for _, p := range []struct {
		key string
		id  algo.ID
	}{{"leader", s.Leader}, {"holder", s.Holder}} {
		if p.id != algo.None {
			line("  %s: %d", p.key, p.id)
		}
	}
	if alg.Problem == algo.MutualExclusion {
		line("  hold: %s", s.Hold.Literal())
	}
	if s.Until > 0 {
		line("  until: %v", s.Until)
	}
	line("  events:")
	for _, e := range s.Events {
		line("    - {%s}", strings.Join(words(e), ", "))
	}
	line("repetitions: 1")
	line("seed: %d", s.Seed)
	line("time_limit: %v", s.Limit)
	for _, text := range more {
		line("%s", text)
	}
	return w.Bytes()
}

// params is the parameters as a part of the algorithm's entry.
func params(given map[string]any) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(given)) {
		list = append(list, name+": "+value(given[name]))
	}
	if list == nil {
		return ""
	}
	return ", params: {" + strings.Join(list, ", ") + "}"
}

func value(v any) string {
	switch v := v.(type) {
	case []any:
		var list []string
		for _, x := range v {
			list = append(list, value(x))
		}
		return "[" + strings.Join(list, ", ") + "]"
	case string:
		return strconv.Quote(v)
	}
	return fmt.Sprint(v)
}

// words is the keys of an event with their values.
func words(e harness.Event) []string {
	out := []string{fmt.Sprintf("at: %v", e.At), "do: " + e.Do}
	add := func(is bool, format string, args ...any) {
		if is {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(e.Every > 0, "every: %v", e.Every)
	add(e.Times > 0, "times: %d", e.Times)
	add(e.Node != algo.None, "node: %d", e.Node)
	add(e.Of != algo.None, "of: %d", e.Of)
	add(e.Kind != "", "kind: %s", e.Kind)
	add(e.Count > 0, "count: %d", e.Count)
	add(e.Groups != nil, "groups: %s", listed(e.Groups))
	links := make([][]uint32, len(e.Links))
	for i, l := range e.Links {
		links[i] = l[:]
	}
	add(e.Links != nil, "links: %s", listed(links))
	if e.Latency != nil {
		add(true, "latency: %s", e.Latency.Literal())
	}
	for _, p := range e.Args.Of() {
		add(!p.IsZero(), "%s: %s", p.Name, p.Text())
	}
	add(e.For > 0, "for: %v", e.For)
	return out
}

// listed is a list of numbers, or of lists of them, as a file has it.
func listed[T any](list []T) string {
	return strings.ReplaceAll(fmt.Sprint(list), " ", ", ")
}

// planIn is the plan of the first trial of the experiment in a file.
func planIn(path string) (harness.Plan, error) {
	e, err := experiment.Load(path, experiment.Overrides{})
	if err != nil {
		return harness.Plan{}, err
	}
	return e.Trials()[0].Plan, nil
}

// Reproduces loads the experiment in the file and says whether its trial breaks
// the rule of f, as it should.
func (f *Find) Reproduces(path string) error {
	p, err := planIn(path)
	if err != nil {
		return err
	}
	b, err := judge(context.Background(), &p, f.Schedule.Unseen(), f.Rule, nil)
	if err == nil && b == nil {
		err = fmt.Errorf("%s does not break the rule %s, unlike the schedule that it was made from",
			path, f.Rule)
	}
	return err
}
