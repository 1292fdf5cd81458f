package advise

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// UsualCrashes is how many crashes of the real leader a check measures, unless it is said.
const UsualCrashes = 20

// A Run runs an experiment, and is the metric of each trial that can be used.
type Run func(ctx context.Context, e *experiment.Experiment, of *metric.Metric) ([]float64, error)

// A checked prediction is the outage with the advice beside that of the real system.
type checked struct {
	real      *algo.Algorithm
	what      string    // it is, with its version
	crashes   int       // of the leader
	measured  []float64 // ms, sorted
	predicted []float64 // likewise, by the same definition
}

// real is what this program runs of the system.
func (q *Request) real(s *Subject) (*algo.Algorithm, error) {
	if s.Real.Algorithm == "" {
		return nil, answer.Mistaken("--check: nothing runs %s here, its prediction is from source and not "+
			"measured; leave --check out", s.Set.Name)
	}
	a, err := algo.Lookup(s.Real.Algorithm)
	if err != nil {
		return nil, answer.Mistaken("--check: %s runs in bench-systems alone; repeat this with it, as "+
			"docs/how-to/libraries.md says", s.Real.Algorithm)
	}
	if a.Service && s.store() && q.RoundTrip == 0 {
		return nil, answer.Mistaken("--check: each server of %s has its own part of the store, so nothing "+
			"says how far a server and the store are apart; give --rtt", s.Set.Name)
	}
	if a.Spec.Facts != nil {
		if _, err := a.Spec.Facts(a.Spec.Defaults(algo.Network{Nodes: 3})); err != nil {
			return nil, answer.Mistaken("--check: %v", err)
		}
	}
	return a, nil
}

// version is what a real system is, with its version.
func version(a *algo.Algorithm) string {
	if a.Spec.Facts == nil {
		return a.Spec.Name + ", in virtual time"
	}
	known, err := a.Spec.Facts(a.Spec.Defaults(algo.Network{Nodes: 3}))
	if err != nil {
		return a.Spec.Name
	}
	return a.Spec.Name + " " + known[metric.ServiceVersion.Name]
}

// check measures crashes of the leader of the real system with the advice.
func (f *Finding) check(ctx context.Context) error {
	real, err := f.q.real(f.Subject)
	if err != nil {
		return err
	}
	c := &checked{real: real, what: version(real), crashes: f.q.Check}
	of := metric.OutagesOf(real.Spec.Service)
	e, err := f.realFile(real)
	if err != nil {
		return err
	}
	f.say(fmt.Sprintf("%s of the leader of %s", console.Plural(c.crashes, "crash", "crashes"), c.what), 0.95)
	if c.measured, err = f.q.Run(ctx, e, of.Downtime); err != nil {
		return err
	}
	if len(c.measured) < 2 {
		return fmt.Errorf("--check: of %s of the leader of %s %d can be used; the machine may be too "+
			"busy, or no leader came back",
			console.Plural(c.crashes, "crash", "crashes"), c.what, len(c.measured))
	}
	w := *f.model
	if !real.Service { // of programs, each server is asked for its leader
		w.outage = of
	}
	c.predicted, _, err = w.crashes(ctx, &f.Advice.Setting, thousand, "crashes of a check", true)
	if err != nil {
		return err
	}
	slices.Sort(c.measured)
	slices.Sort(c.predicted)
	f.checked = c
	return nil
}

// realFile is the experiment that crashes the leader of the real system with the advice.
func (f *Finding) realFile(real *algo.Algorithm) (*experiment.Experiment, error) {
	network, err := f.q.network()
	if err != nil {
		return nil, err
	}
	x := &f.Advice.Setting
	params := block{}
	for own, name := range f.Real.Takes {
		v := x.Params[name]
		if d, is := v.(time.Duration); is {
			v = d.String()
		}
		params[own] = v
	}
	transport, nodes := "bubble", f.nodes
	if real.Service {
		transport, nodes = "nats", f.members()
		network = maps.Clone(network)
		network["wire"] = true
	}
	limit := max(time.Minute, min(20*x.longest(), 24*time.Hour))
	text, err := yaml.Marshal(block{"name": "advise-check", "problem": "election", "transport": transport,
		"nodes": nodes, "repetitions": f.q.Check, "seed": f.q.Seed, "network": network, "trace": "none",
		"algorithms": []any{block{"name": real.Spec.Name, "params": params}},
		"detector":   block{"kind": "none"}, "scenario": block{"kind": "leader-crash"},
		"time_limit": limit.String()})
	if err != nil {
		return nil, err
	}
	e, err := experiment.LoadContent("advise-check.yaml", text, experiment.Overrides{})
	if err != nil {
		return nil, f.q.blame(err)
	}
	return e, nil
}

// addCheck adds how far off the prediction was.
func (f *Finding) addCheck(d *answer.Document) {
	c := f.checked
	if c == nil {
		return
	}
	t := d.Table("check", answer.Columns(answer.Everybody, "figure predicted_ms:number:predicted:ms "+
		"measured_ms:number:measured:ms measured_low:number:low:ms measured_high:number:high:ms "+
		"off:number")...)
	for _, share := range []float64{0.5, 0.9} {
		low, high := stats.QuantileInterval(c.measured, share, stats.Confidence)
		foreseen, real := stats.Quantile(c.predicted, share), stats.Quantile(c.measured, share)
		off := real/foreseen - 1
		shown := func(v float64) answer.Shown {
			return answer.Shown{Value: v, Text: console.Number(round(v))}
		}
		t.Row(map[float64]string{0.5: "median", 0.9: "p90"}[share], shown(foreseen), shown(real), shown(low),
			shown(high), answer.Shown{Value: off, Text: fmt.Sprintf("%+.0f %%", 100*off)})
	}
	low, high := stats.QuantileInterval(c.measured, 0.5, stats.Confidence)
	foreseen, real := stats.Quantile(c.predicted, 0.5), stats.Quantile(c.measured, 0.5)
	verdict := "too few crashes for an interval"
	if !math.IsNaN(low) {
		where := "outside"
		if low <= foreseen && foreseen <= high {
			where = "within"
		}
		verdict = fmt.Sprintf("the prediction is %s the 95 %% interval of what was measured, %s to %s", where,
			millis(low), millis(high))
	}
	d.Say(console.Wrap(fmt.Sprintf("checked with %d crashes of the leader of %s, with the advice and on "+
		"this network: the outage was %s in the median where %s were predicted, %.0f %% %s; %s",
		len(c.measured), c.what, millis(real), millis(foreseen), 100*math.Abs(real/foreseen-1),
		map[bool]string{true: "longer", false: "shorter"}[real >= foreseen], verdict), 2)[2:])
	if less := c.crashes - len(c.measured); less > 0 {
		d.Say(fmt.Sprintf("of %s %d could not be used", console.Plural(c.crashes, "crash", "crashes"), less))
	}
}
