package advise

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// A model is a system on a network, of which any setting can be simulated.
type model struct {
	*Subject
	q       *Request
	nodes   int
	network link.Network
	known   algo.Network
	base    Setting         // the system's own
	writes  []time.Duration // quantiles of the times of writes; nil: they take no time
	pauses  []time.Duration // sorted; nil: members do not pause
	pauseBy float64         // pauses of a member in a nanosecond
	outage  *metric.Outages // by which outages are measured; nil: as suits the system
}

// newModel reads what the request names. Errors in it are mistakes.
func newModel(q *Request) (*model, error) {
	s, err := find(q.System)
	if err != nil {
		return nil, err
	}
	if err := q.check(s); err != nil {
		return nil, err
	}
	network, err := q.network()
	if err != nil {
		return nil, err
	}
	text, err := q.file(s, network)
	if err != nil {
		return nil, err
	}
	here, err := filepath.Abs("advise.yaml")
	if err != nil {
		return nil, err
	}
	e, err := experiment.LoadContent(here, text, experiment.Overrides{})
	if err != nil {
		return nil, q.blame(err)
	}
	p := &e.Cells[0].Plan
	w := &model{Subject: s, q: q, nodes: p.Nodes, network: p.Network, known: p.Known(),
		base: s.of(algo.Params(p.Params))}
	if w.store() { // no less is tolerated than by default, unless it is said
		away, clocks := w.Bears(w.base.Params)
		if q.Away < 0 {
			q.Away = away
		}
		if q.Clocks < 0 {
			q.Clocks = max(clocks, 0)
		}
	}
	if q.Fsync != "" {
		if w.writes, err = writes(q.Fsync); err != nil {
			return nil, err
		}
	}
	if q.Pauses != "" {
		if w.pauses, err = pauses(q.Pauses); err != nil {
			return nil, err
		}
		w.pauseBy = float64(len(w.pauses)) / float64(q.PausesOver)
	}
	return w, nil
}

// record is the network as a record; nil: it is none.
func (w *model) record() *link.Recorded {
	r, _ := w.network.Latency.Law.(*link.Recorded)
	return r
}

// recorded is how long the shortest record of a pair is.
func (w *model) recorded() time.Duration {
	r := w.record()
	shortest := link.MostRecorded
	for _, p := range r.Pairs {
		shortest = min(shortest, len(p.Values))
	}
	return time.Duration(shortest) * r.Every
}

// roundTrip is the longest mean round trip between two members, or between a member and the store.
func (w *model) roundTrip() time.Duration { return 2 * w.network.Slowest() }

// plan is a scenario with a setting of the system.
func (w *model) plan(x *Setting, scenario block, more block) (harness.Plan, error) {
	params := block{}
	for name, v := range x.Params {
		if d, ok := v.(time.Duration); ok {
			v = d.String()
		}
		params[name] = v
	}
	file := block{
		"problem": "election", "transport": "sim", "nodes": w.nodes, "trace": "none", "repetitions": 1,
		"algorithms": []any{block{"name": w.Algorithm.ID, "set": w.Set.Name, "params": params}},
		"network":    block{"latency": max(w.known.Latency, time.Microsecond).String()},
		"detector":   block{"kind": "none"}, "scenario": scenario,
	}
	maps.Copy(file, more)
	if w.writes != nil {
		var values []string
		for _, d := range w.writes {
			values = append(values, d.String())
		}
		file["costs"] = block{"save": block{"distribution": "quantiles", "values": values}}
	}
	text, err := yaml.Marshal(file)
	if err != nil {
		return harness.Plan{}, err
	}
	e, err := experiment.Parse("advise.yaml", text, experiment.Overrides{})
	if err != nil {
		return harness.Plan{}, fmt.Errorf("%s: %w", w.words(x), err)
	}
	p := e.Cells[0].Plan
	p.Network, p.Params = w.network, x.Params
	return p, nil
}

// crash is the plan of a trial in which the leader crashes. It is given up when nobody leads for long.
func (w *model) crash(x *Setting) (harness.Plan, error) {
	limit := min(60*x.longest()+100*w.known.Latency+time.Minute, 24*time.Hour)
	return w.plan(x, block{"kind": "leader-crash"}, block{"time_limit": limit.String()})
}

// quiet is that of one in which nothing happens for so long, but for a pause of a member at an instant, if at
// is not negative.
func (w *model) quiet(x *Setting, lasts, at time.Duration) (harness.Plan, error) {
	event := block{"at": "0s", "do": fault.Heal} // a scenario that lasts wants something to happen
	if at >= 0 {
		var values []string
		for _, d := range quantiles(w.pauses) {
			values = append(values, d.String())
		}
		event = block{"at": at.String(), "do": fault.Stall, "who": "random",
			"length": block{"distribution": "quantiles", "values": values}}
	}
	return w.plan(x, block{"kind": "churn", "duration": lasts.String()},
		block{"faults": block{"events": []any{event}}, "time_limit": min(2*lasts+time.Minute,
			24*time.Hour).String()})
}

// quantiles are at most a thousand and one of sorted times, the first and the last among them.
func quantiles(sorted []time.Duration) []time.Duration {
	const most = 1001
	if len(sorted) <= most {
		return sorted
	}
	out := make([]time.Duration, most)
	for i := range out {
		out[i] = sorted[i*(len(sorted)-1)/(most-1)]
	}
	return slices.Clip(out)
}

// each calls do for 0 to n - 1, on several processors, and returns its first error, or that of the context.
func (w *model) each(ctx context.Context, n int, do func(i int) error) error {
	return spreadOver(ctx, w.q.workers(), n, do)
}
