package experiment

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
)

// runnable is every algorithm that an experiment can name.
func runnable() []*algo.Algorithm {
	return slices.DeleteFunc(slices.Clone(algo.All()), func(a *algo.Algorithm) bool { return a.Observed })
}

// paramsType is a block of parameters, which are read when the algorithm is known.
func paramsType() config.Type[*config.Value] {
	return config.Type[*config.Value]{Name: "a block, as {name: value}",
		Write: func(v *config.Value) *config.Value { return v },
		Read: func(r *config.Reader, key string, v *config.Value) (*config.Value, bool) {
			if v.Kind != config.Map {
				r.Wrong(key, v, "a block, as {name: value}")
			}
			return v, v.Kind == config.Map
		},
		Schema: func() config.Object {
			var fields []config.Field
			for _, a := range runnable() {
				for i := range a.Spec.Params {
					p := &a.Spec.Params[i]
					fields = append(fields, config.Field{Name: p.Name, Doc: p.Doc, Of: paramSlot(p)})
				}
			}
			return config.BlockSchema(fields)
		}}
}

// paramSlot is the type by which a parameter is read. Its own bounds are checked
// behind that, by the Spec.
func paramSlot(p *algo.Param) config.Slot {
	s := config.Words(p.Doc, func(string) string { return "a parameter of a known type" }).Into(nil)
	switch p.Type {
	case algo.Bool:
		s = config.Truth().Into(nil)
	case algo.Int:
		s = config.Whole[int64](-config.MaxInt, config.MaxInt).Into(nil)
	case algo.Float:
		s = config.Number(-math.MaxFloat64, math.Inf(1)).Into(nil)
	case algo.Duration:
		s = config.Duration(0, longest).Into(nil)
	case algo.Enum:
		s = config.Word(p.Choices...).Into(nil)
	}
	one := s.Schema
	s.Schema = func() config.Object {
		o := maps.Clone(one())
		for key, bound := range map[string]any{"minimum": p.Min, "maximum": p.Max} {
			switch bound.(type) {
			case int64, float64:
				o[key] = bound
			}
		}
		if p.PerProcess {
			return config.AnyOf(o, config.Object{"type": "array", "items": o})
		}
		return o
	}
	return s
}

// readParam gives a parameter's value the Go type that the Spec declares; false if
// it is wrong.
func readParam(r *config.Reader, p *algo.Param, key string, v *config.Value) (any, bool) {
	if v.Kind == config.List && p.PerProcess {
		out, good := make([]any, len(v.Items)), true
		for i, item := range v.Items {
			ok := item.Kind != config.List
			if !ok {
				r.Add(item.At, config.Item(key, i), "a list within a list")
			} else {
				out[i], ok = readParam(r, p, config.Item(key, i), item)
			}
			good = good && ok
		}
		return out, good
	}
	if v.Kind == config.List {
		r.Add(v.At, key, "%s, but it is the same for every process; to try several, write "+
			"sweep: [{vary: params.%s, over: [...]}]", v.Plain(), p.Name)
		return nil, false
	}
	x, ok := paramSlot(p).Read(r, key, v)
	if !ok {
		return nil, false
	}
	if err := p.Check(x); err != nil {
		r.Add(v.At, key, "%s", strings.TrimPrefix(err.Error(), "parameter "+p.Name+": "))
		return nil, false
	}
	return x, true
}

// writeParam writes it again.
func writeParam(p *algo.Param, x any) *config.Value {
	list, ok := x.([]any)
	if !ok {
		return paramSlot(p).Write(x)
	}
	out := config.ListOf()
	for _, item := range list {
		out.Items = append(out.Items, paramSlot(p).Write(item))
	}
	return out
}

// formatValue is a parameter's value as it stands in a column of the design.
func formatValue(v any) string {
	switch v := v.(type) {
	case time.Duration:
		return milliseconds(v)
	case float64:
		return config.FormatFloat(v)
	case []any:
		words := make([]string, len(v))
		for i, x := range v {
			words[i] = formatValue(x)
		}
		return strings.Join(words, " ")
	}
	return fmt.Sprint(v)
}

func milliseconds(d time.Duration) string { return config.FormatFloat(float64(d) / 1e6) }
