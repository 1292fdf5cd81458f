package tune

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// A Refusal is why an experiment cannot be tuned, with the remedy.
type Refusal struct{ text string }

func (r *Refusal) Error() string { return r.text }

func refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// The kinds of scenarios in which settings are tried: how soon a crash of the leader is noticed, and how
// often a leader is given up of which nothing is wrong.
const (
	leaderCrash = "leader-crash"
	churn       = "churn"
)

// A block is one of an experiment file.
type block = map[string]any

// A Contender is an algorithm with what may be tuned of it: the time-out by which it gives up
// a leader itself, or else that of its failure detector; and the interval between its heartbeats, or those
// of the detector.
type Contender struct {
	Label, Algorithm string
	Dial             string      // the key or parameter that is tuned
	file             block       // the experiment with every default
	entry            block       // the algorithm in it, without what follows from others
	where            string      // the block of it that has what is tuned: params or detector
	spread           string      // the parameter; "": none, or it is not tuned
	share            float64     // that the file has of it, of the time-out
	set              *algo.Set   // whose demands settings keep to; nil: there are none
	params           algo.Params // of the experiment
	base             float64
	duration         bool
	beat             string         // the key or parameter that is the interval; "": none apart from Dial
	interval         time.Duration  // as it was changed
	given            time.Duration  // of the file
	downtime         *metric.Metric // by which the speed of all is measured
	limit            time.Duration
	seed             uint64
}

// Contenders are the algorithms of e. The error is a *Refusal if e is nothing to tune.
func Contenders(e *experiment.Experiment) ([]*Contender, error) {
	if err := tunable(e); err != nil {
		return nil, err
	}
	text, err := e.Resolved()
	if err != nil {
		return nil, err
	}
	var out []*Contender
	for i := range e.Cells {
		c := &Contender{Label: e.Cells[i].Label, Algorithm: e.Cells[i].Algorithm, seed: e.Seed,
			limit: e.TimeLimit}
		if err := yaml.Unmarshal(text, &c.file); err != nil {
			return nil, err
		}
		c.entry = c.file["algorithms"].([]any)[i].(block)
		if err := c.find(&e.Cells[i].Plan, e.Algorithms[i].Set); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	designs := make([][]metric.Field, len(out))
	for i, c := range out {
		designs[i] = []metric.Field{{Name: "algorithm", Value: c.Algorithm}}
	}
	for _, c := range out {
		c.downtime = view.Unmixed(designs, []*metric.Metric{metric.Downtime})[0]
	}
	return out, nil
}

// tunable says why the experiment as a whole is nothing to tune.
func tunable(e *experiment.Experiment) error {
	switch {
	case e.Problem != algo.Election:
		return refuse("%s is about %s, which has no leader to suspect: only elections are tuned", e.Name,
			e.Problem)
	case len(e.Cells) > len(e.Algorithms):
		return refuse("%s has %d cells: tuning needs a single one; leave out the sweep, or add "+
			"--set sweep=[] and what it varies, as --set nodes=5", e.Name, len(e.Cells))
	}
	p := &e.Cells[0].Plan
	if k := p.Scenario.Kind(); k != leaderCrash && k != churn {
		return refuse("scenario.kind %s: tuning measures how soon a crash of the leader is noticed; write "+
			"scenario: {kind: %s}", k, leaderCrash)
	}
	for i := range p.Faults.Events {
		if f := fault.Named(p.Faults.Events[i].Do); f != nil && f.Down != nil {
			return refuse("faults.events: %s removes a process, and false elections are counted while "+
				"every process is up; leave it out", f.Name)
		}
	}
	return nil
}

// find looks up what is tuned, and what the set of that name demands of it.
func (c *Contender) find(p *harness.Plan, set string) error {
	alg, err := algo.Lookup(c.Algorithm)
	if err != nil {
		return err
	}
	detector := block{}
	if shared, ok := c.file["detector"].(block); ok {
		maps.Copy(detector, shared)
	}
	if own, ok := c.entry["detector"].(block); ok {
		maps.Copy(detector, own)
	}
	delete(c.file, "detector")
	c.entry["detector"] = detector
	if patience := alg.Spec.Tuned(algo.Patience, p.Params); patience != nil {
		c.Dial, c.where, c.duration = patience.Name, "params", true
		tau := p.Params[patience.Name].(time.Duration)
		c.base, c.params = float64(tau), p.Params
		if s, err := alg.Spec.SetOf(set); err == nil && s.Fit != nil {
			c.set = s
		} else if spread := alg.Spec.Tuned(algo.Spread, p.Params); spread != nil {
			c.spread = spread.Name
			c.share = float64(p.Params[spread.Name].(time.Duration)) / float64(tau)
		}
		c.findBeat(&alg.Spec)
		if c.set == nil {
			c.follow(&alg.Spec, p.Known())
		}
		if p.Detector.Restless() { // whose heartbeats are sent for nothing
			c.entry["detector"] = block{"kind": "none"}
		}
		return nil
	}
	key := p.Detector.Tuned()
	if key == nil {
		return refuse("%s: nothing can be tuned: it has no time-out for its leader, and detector %s makes "+
			"no false suspicion; write detector: {kind: heartbeat}, or kind: phi", c.Label, p.Detector.Kind())
	}
	c.Dial, c.where = key.Name, "detector"
	switch v := key.Value().(type) {
	case time.Duration:
		c.base, c.duration = float64(v), true
	case float64:
		c.base = v
	}
	if beat := p.Detector.Beat(); beat != nil {
		c.beat, c.interval, c.given = beat.Name, p.Detector.Period(), p.Detector.Period()
	}
	for _, k := range p.Detector.Params() { // what the file has is what follows from the interval
		if preset, ok := k.Default.(func() any); ok && reflect.DeepEqual(k.Value(), preset()) {
			delete(detector, k.Name)
		}
	}
	return nil
}

// findBeat looks up the interval between the heartbeats of an algorithm. Where that is the time-out
// itself, or the system of the set derives it from that, there is none to tune.
func (c *Contender) findBeat(s *algo.Spec) {
	for _, period := range s.Periods {
		d, _ := c.params[period.Param].(time.Duration)
		if d <= 0 || period.Param == c.Dial {
			continue
		}
		if c.set != nil {
			p := maps.Clone(c.params)
			p[period.Param] = 2 * d
			if fit, _ := c.set.Fitted(p); fit[period.Param] != 2*d {
				return
			}
		}
		c.beat, c.interval, c.given = period.Param, d, d
		return
	}
}

// follow takes out of the entry what the experiment has because it follows from other parameters, so
// that it goes on to do so.
func (c *Contender) follow(s *algo.Spec, net algo.Network) {
	own, _ := c.entry["params"].(block)
	own = maps.Clone(own)
	given := maps.Clone(c.params)
	for i := range s.Params {
		name := s.Params[i].Name
		if name == c.Dial || name == c.spread || name == c.beat {
			continue
		}
		v := given[name]
		delete(given, name)
		if all, errs := s.Resolve(given, net); errs == nil && reflect.DeepEqual(all[name], v) {
			delete(own, name)
		} else {
			given[name] = v
		}
	}
	c.entry["params"] = own
}

// beats is c with another interval between heartbeats.
func (c *Contender) beats(interval time.Duration) *Contender {
	out := *c
	out.interval = interval
	if c.where == "params" {
		out.params = maps.Clone(c.params)
		out.params[c.beat] = interval
	}
	return &out
}

// name is that of a key or parameter, for people.
func (c *Contender) name(key string) string {
	if c.where == "detector" {
		return "detector." + key
	}
	return key
}

// text is a duration as a file has it.
func text(v float64) string { return time.Duration(math.Round(v)).String() }

// fit is the setting next to value that a file can have, and that the system of the set takes.
func (c *Contender) fit(value float64) float64 {
	if c.set == nil {
		return round(value)
	}
	fit, _ := c.fitted(round(value))
	return float64(fit[c.Dial].(time.Duration))
}

// reach is the shortest and the longest time-out to try: so many times those of the file, and as many
// times more as its interval is longer or shorter than that of the file.
func (c *Contender) reach(span float64) (low, high float64) {
	times := 1.0
	if c.duration {
		times = c.slowing()
	}
	return c.base * min(times, 1) / span, c.base * max(times, 1) * span
}

// Takes says what the system of the set demands of a setting; "": there is no such system.
func (c *Contender) Takes() string {
	if c.set == nil {
		return ""
	}
	return fmt.Sprintf("set %s: %s", c.set.Name, c.set.Demands)
}

// lines is a setting in the own words of the system of the set; none: nothing is known of it.
func (c *Contender) lines(value float64) []algo.Line {
	if c.set == nil || c.set.System == nil {
		return nil
	}
	p, _ := c.fitted(value)
	return c.set.System.Write(p)
}

// fitted is the parameters with a setting as the system of the set takes them, in which others move
// with it, and the names of those that differ from the experiment's.
func (c *Contender) fitted(value float64) (algo.Params, []string) {
	p := maps.Clone(c.params)
	p[c.Dial] = time.Duration(value)
	fit, _ := c.set.Fitted(p)
	var changed []string
	for name, v := range fit {
		if name != c.Dial && !reflect.DeepEqual(v, c.params[name]) {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return fit, changed
}

// A value is one of a parameter as a file has it.
type value struct {
	name string
	is   any
}

// values are the parameters of a setting: the interval, if it was changed, the time-out, and what else is.
func (c *Contender) values(patience, spread float64) (out []value) {
	if c.interval != c.given {
		out = append(out, value{c.beat, c.interval.String()})
	}
	var dial any = text(patience)
	if !c.duration {
		dial = patience
	}
	out = append(out, value{c.Dial, dial})
	if spread > 0 {
		out = append(out, value{c.spread, text(round(patience * spread))})
	}
	if c.set != nil {
		fit, changed := c.fitted(patience)
		for _, name := range changed {
			if name == c.beat {
				continue
			}
			v := fit[name]
			if d, ok := v.(time.Duration); ok {
				v = d.String()
			}
			out = append(out, value{name, v})
		}
	}
	return out
}

// settings is a setting as a file has it, on one line.
func (c *Contender) settings(value, spread float64) string {
	var out []string
	for _, v := range c.values(value, spread) {
		out = append(out, fmt.Sprintf("%s=%v", c.name(v.name), v.is))
	}
	return strings.Join(out, " ")
}

// with is the algorithm with a setting.
func (c *Contender) with(value, spread float64) block {
	out := maps.Clone(c.entry)
	own, _ := out[c.where].(block)
	if own = maps.Clone(own); own == nil {
		own = block{}
	}
	for _, v := range c.values(value, spread) {
		own[v.name] = v.is
	}
	out[c.where] = own
	return out
}

// crashes is an experiment in which the leader of a setting crashes, as often as the file says, and so
// often at least.
func (c *Contender) crashes(value, spread float64, least int) (*experiment.Experiment, error) {
	f := c.plain(c.with(value, spread))
	if times, ok := f["repetitions"].(int); least > 0 && (!ok || times < least) {
		f["repetitions"] = least
	}
	return load(f)
}

// plain is an experiment in which the leader crashes, and no process does so else.
func (c *Contender) plain(algorithms ...any) block {
	f := maps.Clone(c.file)
	f["algorithms"] = algorithms
	f["trace"] = "none"
	for _, key := range []string{"sweep", "thresholds"} {
		delete(f, key)
	}
	scenario := f["scenario"].(block)
	if scenario["kind"] != leaderCrash {
		scenario = block{"kind": leaderCrash}
	}
	f["scenario"] = c.settled(scenario)
	if faults, ok := f["faults"].(block); ok {
		faults = maps.Clone(faults)
		for _, key := range []string{"crash_rate", "downtime", "max_down"} {
			delete(faults, key)
		}
		f["faults"] = faults
	}
	return f
}

// slowing is the interval between heartbeats by that of the file.
func (c *Contender) slowing() float64 {
	if c.given == 0 {
		return 1
	}
	return float64(c.interval) / float64(c.given)
}

// settled is a scenario in which leaders have led for as many intervals before they crash as in that of the
// file.
func (c *Contender) settled(scenario block) block {
	settle, err := time.ParseDuration(fmt.Sprint(scenario["settle"]))
	if err != nil || c.interval <= c.given {
		return scenario
	}
	scenario = maps.Clone(scenario)
	scenario["settle"] = text(math.Ceil(float64(settle)/1e3*c.slowing()) * 1e3)
	return scenario
}

// quiet is an experiment of so many trials in which nothing happens to any process, each of
// so many hours and the warming up. Every setting and look has a seed of its own: were the delays the same,
// the mistakes of neighbours would be, and tell less than their number says.
func (c *Contender) quiet(value, spread, hours float64, warm time.Duration, trials, look int) (
	*experiment.Experiment, error) {
	f := c.plain(c.with(value, spread))
	lasts := time.Duration(hours*float64(time.Hour)) + warm
	f["scenario"] = block{"kind": churn, "duration": lasts.String()}
	f["time_limit"] = (lasts + c.limit).String()
	faults, _ := f["faults"].(block)
	if events, _ := faults["events"].([]any); len(events) == 0 {
		// A scenario that lasts wants something to happen, and links that are whole can be healed.
		f["faults"] = block{"events": []any{block{"at": "0s", "do": fault.Heal}}}
	}
	f["repetitions"], f["seed"] = trials, harness.Derive(c.seed, "tune",
		math.Float64bits(value), math.Float64bits(spread), uint64(c.interval), uint64(look))
	return load(f)
}

// load makes the experiment of a file.
func load(f block) (*experiment.Experiment, error) {
	text, err := yaml.Marshal(f)
	if err != nil {
		return nil, err
	}
	return experiment.Parse("tune.yaml", text, experiment.Overrides{})
}

// Tuned is an experiment file that compares the algorithms at the settings that were found within the
// first limit of messages, with another seed than the search had, so that a setting chosen by chance gains
// nothing from it. nil: nothing was found.
func Tuned(results []Result, comment string) ([]byte, error) {
	var found []any
	var slowest *Contender
	for i := range results {
		if r := &results[i]; r.Best >= 0 && r.Limit == results[0].Limit {
			p := r.Points[r.Best]
			found = append(found, r.with(p.Patience, p.Spread))
			if slowest == nil || r.slowing() > slowest.slowing() {
				slowest = r.Contender
			}
		}
	}
	if slowest == nil {
		return nil, nil
	}
	f := slowest.plain(found...)
	f["name"] = fmt.Sprint(f["name"]) + "-tuned"
	f["seed"] = harness.Derive(slowest.seed, "tuned")
	f["trace"] = slowest.file["trace"]
	e, err := load(f)
	if err != nil {
		return nil, err
	}
	text, err := e.Resolved()
	return append([]byte(comment), text...), err
}
