package experiment

import (
	"slices"

	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// An entry is one item of the list algorithms, as it was written.
type entry struct {
	name, label string
	set         string        // of parameters; "": none
	params      *config.Value // nil: none
	detector    *config.Value // nil: that of the experiment
	at          config.Place
	key         string
}

// ownDetectorType is the failure detector of one algorithm: keys of the block detector,
// which are read when the others are known.
func ownDetectorType() config.Type[*config.Value] {
	return config.Type[*config.Value]{Name: "a block, as {kind: heartbeat, timeout: 50ms}",
		Write: func(v *config.Value) *config.Value { return v },
		Read:  func(_ *config.Reader, _ string, v *config.Value) (*config.Value, bool) { return v, true },
		Schema: func() config.Object {
			return config.BlockSchema(detectorFields(&harness.Plan{}))
		}}
}

// setNames are the sets of parameters of all algorithms.
func setNames() (names []string) {
	for _, a := range runnable() {
		for _, s := range a.Spec.Sets {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// algorithmsType is the list of what is compared.
func algorithmsType() config.Type[[]entry] {
	name := config.SomeText("the name of an algorithm")
	block := config.Block[entry]{
		Missing: func(*config.Value, string) string {
			return "without a name, expected {name, set, params, label}"
		},
		Fields: func(e *entry) []config.Field {
			return []config.Field{
				{Name: "name", Example: "raft", Doc: "the algorithm, with or without its " +
					"problem", Required: true, Of: name.To(&e.name)},
				{Name: "set", Example: "etcd", Doc: "a named set of parameters", With: "name: " +
					"raft", Of: config.SomeText("the name of a set of parameters").To(&e.set)},
				{Name: "params", Example: "{pre_vote: true}", Doc: "values of its parameters; the others " +
					"have their defaults", With: "name: raft", Of: paramsType().To(&e.params)},
				{Name: "label", Example: "raft-pre-vote", Doc: "what results call it; by default its " +
					"name, and the set behind it", With: "name: raft", Of: nameType("a label").To(&e.label)},
				{Name: "detector", Example: "{kind: heartbeat, timeout: 50ms}", Doc: "its failure " +
					"detector: keys that go over those of the experiment", With: "name: " +
					"bully", Of: ownDetectorType().To(&e.detector)},
			}
		}}.Type()
	named := config.As(name, func(s string) entry { return entry{name: s} },
		func(e entry) string { return e.name })
	one := config.Union(named, block, func(entry) bool { return false }, nil)
	item := one
	item.Read = func(r *config.Reader, key string, v *config.Value) (entry, bool) {
		e, ok := one.Read(r, key, v)
		e.at, e.key = v.At, key
		return e, ok
	}
	item.Schema = func() config.Object {
		var names []string
		for _, a := range runnable() {
			names = append(names, a.ID, a.Spec.Name)
		}
		slices.Sort(names)
		words := config.Choice(slices.Compact(names)...).Schema()
		o := block.Schema()
		o["properties"].(config.Object)["name"] = words
		o["properties"].(config.Object)["set"] = config.Choice(setNames()...).Schema()
		return config.AnyOf(words, o)
	}
	t := config.Items(item, "", config.MaxKeys, "algorithms")
	t.Name = "a list of algorithms, or of {name, set, params, label, detector}"
	list := t.Schema
	t.Schema = func() config.Object {
		o := list()
		o["minItems"] = 1
		return o
	}
	return t.If(func(r *config.Reader, key string, v *config.Value) bool {
		switch {
		case v.Kind != config.List:
			r.Wrong(key, v, "a list, as ["+config.Clip(v.Text)+"]")
			return false
		case len(v.Items) == 0:
			r.Add(v.At, key, "an empty list, expected at least one algorithm")
			return false
		}
		return true
	})
}
