package experiment

import (
	"time"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// A threshold as it was written.
type threshold struct {
	Threshold
	at  *config.Value
	key string
}

const (
	bounded       = "metric: downtime_ms, max: 500"
	likeThreshold = "{metric: downtime_ms, stat: p95, max: 500}"
)

// thresholdsType is the list of them.
func thresholdsType() config.Type[[]threshold] {
	bound, figures := config.Optional(amountType()), stats.FigureNames()
	one := config.Block[threshold]{Like: likeThreshold, Want: likeThreshold,
		Fields: func(t *threshold) []config.Field {
			return []config.Field{
				{Name: "metric", Example: "downtime_ms", With: "max: 500",
					Doc: "the metric whose figure is judged", Required: true, Of: metricType().To(&t.Metric)},
				{Name: "stat", Example: "p95", With: bounded, Doc: "which figure of the cell: of pooled " +
					"metrics the mean is the default", Default: figures[0],
					Of: config.Choice(figures...).To(&t.Stat)},
				{Name: "over", Example: "operations", With: "metric: election_ms, max: 500",
					Doc:     "what the figure is over: trials, or single operations",
					Default: Overs[0], Of: config.Choice(Overs...).To(&t.Over)},
				{Name: "max", Example: "500ms", With: "metric: downtime_ms",
					Doc: "the largest figure that is good, in the unit of the metric, or a duration",
					Of:  bound.To(&t.Max)},
				{Name: "min", Example: "1", With: "metric: completed",
					Doc: "the smallest one", Of: bound.To(&t.Min)},
				{Name: "where", Example: "{nodes: 5}", With: bounded,
					Doc: "only cells with these values of the design", Of: whereType().To(&t.Where)},
			}
		},
		Check: func(r *config.Reader, key string, v *config.Value, t *threshold) {
			t.at, t.key = v, key
			if m := metric.Named(t.Metric); m != nil && v.Get("stat") == nil {
				t.Stat = m.Kind.Figure()
			}
			if v.Get("max") == nil && v.Get("min") == nil {
				r.Add(v.At, key, "without max or min, as %s", likeThreshold)
			}
			if t.Max != nil && t.Min != nil && *t.Min > *t.Max {
				r.Add(v.Get("min").At, config.Join(key, "min"), "%v is above max, %v", *t.Min, *t.Max)
			}
		}}
	t := config.Items(one.Type(), likeThreshold, config.MaxKeys, "thresholds")
	return t.Called("a list of {metric, stat, over, max, min, where}")
}

// metricType is the name of a metric; whether it is one of the problem is known later.
func metricType() config.Type[string] {
	t := config.SomeText("the name of a metric")
	t.Schema = config.Choice(metric.Names(metric.All())...).Schema
	return t
}

// whereType is columns of the design and their values.
func whereType() config.Type[metric.Where] {
	return config.Type[metric.Where]{Name: "columns and values, as {algorithm: raft}",
		Read: func(r *config.Reader, key string, v *config.Value) (out metric.Where, ok bool) {
			if v.Kind != config.Map {
				r.Wrong(key, v, "columns and values, as {algorithm: raft}")
				return nil, false
			}
			ok = true
			for _, p := range v.Pairs {
				switch p.Value.Kind {
				case config.Map, config.List, config.Null:
					r.Wrong(config.Join(key, p.Name), p.Value, "one value")
					ok = false
				}
				out = append(out, metric.Field{Name: p.Name, Value: p.Value.Text})
			}
			return out, ok
		},
		Write: func(where metric.Where) *config.Value {
			out := config.MapOf()
			for _, f := range where {
				out.Set(f.Name, config.TextOf(f.Value))
			}
			return out
		},
		Schema: func() config.Object {
			return config.Object{"type": "object",
				"additionalProperties": config.Object{"type": []string{"string", "number", "boolean"}}}
		}}
}

// amountType is a bound: a number in the metric's unit, or a duration, which is
// milliseconds.
func amountType() config.Type[float64] {
	plain, lasting := config.Number(-1e15, 1e15), config.Duration(0, longest)
	t := plain.Called("a number in the metric's unit, or a duration")
	t.Read = func(r *config.Reader, key string, v *config.Value) (float64, bool) {
		if v.Kind != config.Text {
			return plain.Read(r, key, v)
		}
		d, ok := lasting.Read(r, key, v)
		return float64(d) / float64(time.Millisecond), ok
	}
	t.Schema = func() config.Object { return config.AnyOf(plain.Schema(), lasting.Schema()) }
	return t
}
