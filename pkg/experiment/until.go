package experiment

import "github.com/conclave-bench/conclave/pkg/config"

// repetitions is what the key of that name says: how many each cell has, or a
// rule by which it has at least Min.
type repetitions struct {
	Min, Max int
	Until    *Until // nil: Max for all
}

const (
	mostRepetitions = 100_000
	// mostUntil bounds the repetitions under a rule, which looks at a cell's whole
	// sample after each of them.
	mostUntil = 10_000
	// fewestUntil is the least sample whose median has an interval of 95 %, and
	// fewestAnytime the least of a confidence sequence.
	fewestUntil   = 6
	fewestAnytime = 9
	usualMinimum  = 10
)

const likeUntil = "{min: 10, max: 100, until: {metric: election_ms, ci: 5%}}"

// repetitionsType is a number of repetitions, or the rule by which each cell ends. A
// plain number is the most, so that an override can add a rule to it.
func repetitionsType() config.Type[repetitions] {
	const until = "until: {metric: election_ms, ci: 5%}"
	count := config.Whole[int](1, mostRepetitions)
	fixed := config.As(count, func(n int) repetitions { return repetitions{Min: n, Max: n} },
		func(r repetitions) int { return r.Max })
	fixed = fixed.Want(config.Int, "a whole number, or "+likeUntil)
	bounds := config.Whole[int](fewestUntil, mostUntil)
	rule := config.Block[repetitions]{
		Missing: func(_ *config.Value, name string) string {
			return "without " + name + ", expected " + likeUntil
		},
		Fields: func(r *repetitions) []config.Field {
			return []config.Field{
				{Name: "min", Example: "10", With: "max: 100, " + until,
					Doc: "the least number of trials; by " +
						"default 10, or max if that is less", Of: bounds.To(&r.Min)},
				{Name: "max", Example: "100", With: until,
					Doc: "the largest number of trials", Required: true,
					Of: bounds.To(&r.Max)},
				{Name: "until", Example: "{metric: election_ms, ci: 5%}", With: "max: 100",
					Doc:      "the rule by which a cell has enough trials",
					Required: true, Of: config.Optional(untilType()).To(&r.Until)},
			}
		},
		Check: func(r *config.Reader, key string, v *config.Value, x *repetitions) {
			least := v.Get("min")
			if least == nil {
				x.Min = min(usualMinimum, x.Max)
			}
			if x.Max > 0 && x.Min > x.Max {
				r.Add(least.At, config.Join(key, "min"), "%d is above max, %d", x.Min, x.Max)
			}
			if most := v.Get("max"); x.Until != nil && x.Until.Anytime && x.Max > 0 && x.Max < fewestAnytime {
				r.Add(most.At, config.Join(key, "max"), "%d, expected %d or more with anytime: fewer have "+
					"no "+
					"interval that holds at every stop", x.Max, fewestAnytime)
			}
		}}
	t := config.Union(fixed, rule.Type(), func(r repetitions) bool { return r.Until == nil },
		func(v *config.Value) *config.Value { return config.Wrap("max", v) })
	return t.Called(count.Name + ", or {min, max, until: {metric, ci, anytime}}")
}

// untilType is the rule; whether there is such a metric is known later.
func untilType() config.Type[Until] {
	const like = "{metric: election_ms, ci: 5%}"
	return config.Block[Until]{Like: like, Want: like,
		Fields: func(u *Until) []config.Field {
			return []config.Field{
				{Name: "metric", Example: "election_ms", With: "ci: 5%", Doc: "the figure that has to be " +
					"precise", Required: true, Of: metricType().To(&u.Metric)},
				{Name: "ci", Example: "5%", With: "metric: election_ms",
					Doc: "half the width of its 95 % interval, as a share of the " +
						"figure, at which the cell stops", Required: true, Of: config.Share().To(&u.CI)},
				{Name: "anytime", Example: "true", With: "metric: election_ms, ci: 5%",
					Doc: "use an interval that holds at every stop (a confidence sequence)",
					Of:  config.Truth().To(&u.Anytime)},
			}
		}}.Type()
}
