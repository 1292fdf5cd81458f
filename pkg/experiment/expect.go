package experiment

import (
	"slices"
	"strings"
	"sync"

	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// expectationType is what a script should lead to: a block with a key for each of
// check.Expectations. It is made once, since it belongs to no experiment and there are
// many keys: it took half the time of the schema, which is made anew for each.
var expectationType = sync.OnceValue(func() config.Type[[]harness.Expect] {
	return config.Block[[]harness.Expect]{Like: "{sent: 5, leader: 3}",
		Fields: func(list *[]harness.Expect) (fields []config.Field) {
			for i := range check.Expectations {
				x := &check.Expectations[i]
				get := func() harness.Expect {
					i := slices.IndexFunc(*list, func(e harness.Expect) bool { return e.Name == x.Name })
					if i < 0 {
						return harness.Expect{}
					}
					return (*list)[i]
				}
				set := func(e harness.Expect) { *list = append(*list, e) }
				of := expectedType(x).Through(get, set)
				fields = append(fields, config.Field{Name: x.Name, Doc: x.Doc, Of: of, Example: x.Example(),
					Note: "nothing is expected"})
			}
			return fields
		}}.Type().Called("a block of what comes out, as {sent: 5, leader: 3}")
})

// expectedType is one expectation.
func expectedType(x *check.Expectation) config.Type[harness.Expect] {
	list := func(e harness.Expect) []int64 { return e.List }
	fromList := func(list []int64) harness.Expect { return harness.Expect{Name: x.Name, List: list} }
	bounds := boundsType(x.Measure)
	switch {
	case x.Measure == check.Processes:
		return config.As(config.Each(config.Whole[int64](1, maxID).Called("a process")), fromList, list)
	case x.Measure == check.Counts:
		return config.As(config.Each(config.Whole[int64](0, config.MaxInt)), fromList, list)
	case x.ByKind || x.ByProcess:
		return partsType(x, bounds)
	}
	return config.As(bounds,
		func(r harness.Range) harness.Expect {
			return harness.Expect{Name: x.Name, Want: []harness.Range{r}}
		},
		func(e harness.Expect) harness.Range { return e.Want[0] })
}

// measured is the type of one value.
func measured(m check.Measure) config.Type[float64] {
	whole := func(most int64) config.Type[float64] {
		return inFloat(config.Whole[int64](0, most))
	}
	switch m {
	case check.Number:
		return config.Number(0, config.MaxInt)
	case check.Process, check.Processes:
		return whole(maxID).Called("a process, or 0 for none")
	case check.Span:
		return inFloat(config.Duration(0, longest))
	case check.Truth:
		return config.As(config.Truth(), func(b bool) float64 {
			if b {
				return 1
			}
			return 0
		}, func(f float64) bool { return f == 1 })
	}
	return whole(config.MaxInt)
}

// ranged is a range with what it was given by.
type ranged struct {
	harness.Range
	approx, tol *float64
}

// boundsType is a value, or the bounds of one.
func boundsType(m check.Measure) config.Type[harness.Range] {
	one := measured(m)
	about := one
	if m == check.Count {
		about = config.Number(0, config.MaxInt) // a mean of them is no whole number
	}
	block := config.Block[ranged]{
		Fields: func(r *ranged) []config.Field {
			return []config.Field{
				{Name: "min", Doc: "the least value", Of: config.Optional(one).To(&r.Min)},
				{Name: "max", Doc: "the largest value", Of: config.Optional(one).To(&r.Max)},
				{Name: "approx", Doc: "about this value", Of: config.Optional(about).To(&r.approx)},
				{Name: "tol", Doc: "give or take this much", Of: config.Optional(about).To(&r.tol)},
			}
		},
		Check: func(r *config.Reader, key string, v *config.Value, x *ranged) {
			switch {
			case (x.approx == nil) != (x.tol == nil), x.approx != nil && (x.Min != nil || x.Max != nil):
				r.Add(v.At, key, "expected min, max or both, or approx and tol, as {approx: 2.5, tol: 0.1}")
			case x.approx != nil:
				lo, hi := *x.approx-*x.tol, *x.approx+*x.tol
				x.Min, x.Max, x.approx, x.tol = &lo, &hi, nil, nil
			case x.Min == nil && x.Max == nil && len(v.Pairs) == 0,
				x.Min != nil && x.Max != nil && *x.Min > *x.Max:
				r.Add(v.At, key, "%s, expected a value, or bounds, as {min: 1, max: 3}", v.Plain())
			}
		}}.Type()
	return config.Union(
		config.As(one, func(f float64) harness.Range { return harness.Range{Min: &f, Max: &f} },
			func(r harness.Range) float64 { return *r.Min }),
		config.As(block, func(r ranged) harness.Range { return r.Range },
			func(r harness.Range) ranged { return ranged{Range: r} }),
		func(r harness.Range) bool { return r.Min != nil && r.Max != nil && *r.Min == *r.Max },
		nil).In("Expectations")
}

// windowKeys are those that an expectation has where it counts over a time.
var windowKeys = []string{"from", "to"}

// partsType is what is expected of each kind of messages, or of each process.
func partsType(x *check.Expectation, bounds config.Type[harness.Range]) config.Type[harness.Expect] {
	at := config.Duration(0, longest)
	like := "{REQUEST: 4, TOKEN: 2}"
	if x.ByProcess {
		like = "{1: 3, 2: 3}"
	}
	return config.Type[harness.Expect]{Name: "a block, as " + like,
		Read: func(r *config.Reader, key string, v *config.Value) (harness.Expect, bool) {
			e := harness.Expect{Name: x.Name}
			if v.Kind != config.Map {
				r.Wrong(key, v, "a block, as "+like)
				return e, false
			}
			before := r.Count()
			if x.Window {
				e.From, e.To = config.Part(r, key, v, "from", at), config.Part(r, key, v, "to", at)
				if v.Get("to") == nil || r.Count() == before && e.From >= e.To {
					r.Add(v.At, key, "expected from and to, one after the other, "+
						"as {from: 20ms, to: 120ms, OK: 200}")
				}
			}
			for _, p := range v.Pairs {
				if x.Window && slices.Contains(windowKeys, p.Name) {
					continue
				}
				if x.ByProcess && !config.IsDecimal(p.Name) {
					r.Add(p.At, config.Join(key, p.Name), "expected a process, as {3: ...}")
					continue
				}
				want, _ := bounds.Read(r, config.Join(key, p.Name), p.Value)
				want.Part = p.Name
				e.Want = append(e.Want, want)
			}
			slices.SortStableFunc(e.Want, func(a, b harness.Range) int {
				if x.ByProcess && len(a.Part) != len(b.Part) {
					return len(a.Part) - len(b.Part)
				}
				return strings.Compare(a.Part, b.Part)
			})
			return e, r.Count() == before
		},
		Write: func(e harness.Expect) *config.Value {
			out := config.MapOf()
			if x.Window {
				out.Set("from", at.Write(e.From))
				out.Set("to", at.Write(e.To))
			}
			for _, want := range e.Want {
				out.Set(want.Part, bounds.Write(want))
			}
			return out
		},
		Schema: func() config.Object {
			out := config.Object{"type": "object", "additionalProperties": bounds.Schema()}
			if x.Window {
				out["required"] = windowKeys
				out["properties"] = config.Object{"from": at.Schema(), "to": at.Schema()}
			}
			return out
		}}
}
