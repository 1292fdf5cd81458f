package tune

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
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
// a leader itself, or else that of its failure detector.
type Contender struct {
	Label, Algorithm string
	Dial             string      // the key or parameter that is tuned
	file             block       // the experiment with every default
	entry            block       // the algorithm in it
	key              string      // of the detector; "": params
	spread           string      // the parameter; "": none, or it is not tuned
	set              *algo.Set   // whose demands settings keep to; nil: there are none
	params           algo.Params // of the experiment
	base             float64
	duration         bool
	limit            time.Duration
	seed             uint64
	beyond           int // ways in which the experiment as it is leaves the model
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
			limit: e.TimeLimit, beyond: len(e.Cells[i].Plan.OutOfModel)}
		if err := yaml.Unmarshal(text, &c.file); err != nil {
			return nil, err
		}
		c.entry = c.file["algorithms"].([]any)[i].(block)
		if err := c.find(&e.Cells[i].Plan, e.Algorithms[i].Set); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// tunable says why the experiment as a whole is nothing to tune.
func tunable(e *experiment.Experiment) error {
	switch {
	case e.Problem != algo.Election:
		return refuse("%s is about %s, where no leader is given up: only elections are tuned", e.Name,
			e.Problem)
	case len(e.Cells) > len(e.Algorithms):
		return refuse("%s has %d cells: a setting is looked for in one; leave out the sweep, or add "+
			"--set sweep=[] and what it varies, as --set nodes=5", e.Name, len(e.Cells))
	}
	p := &e.Cells[0].Plan
	if k := p.Scenario.Kind(); k != leaderCrash && k != churn {
		return refuse("scenario.kind %s: what is tuned is how soon a crash of the leader is noticed; write "+
			"scenario: {kind: %s}", k, leaderCrash)
	}
	for i := range p.Faults.Events {
		if f := fault.Named(p.Faults.Events[i].Do); f != nil && f.Down != nil {
			return refuse("faults.events: %s takes a process away, and mistakes are counted while none is "+
				"gone; leave it out", f.Name)
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
		c.Dial, c.duration = patience.Name, true
		c.base = float64(p.Params[patience.Name].(time.Duration))
		if s, err := alg.Spec.SetOf(set); err == nil && s.Fit != nil {
			c.set, c.params = s, p.Params
		} else if spread := alg.Spec.Tuned(algo.Spread, p.Params); spread != nil {
			c.spread = spread.Name
		}
		if p.Detector.Restless() { // whose heartbeats are sent for nothing
			c.entry["detector"] = block{"kind": "none"}
		}
		return nil
	}
	key := p.Detector.Tuned()
	if key == nil {
		return refuse("%s: nothing can be tuned: it has no time-out for its leader, and detector %s makes "+
			"no mistake; write detector: {kind: heartbeat}, or kind: phi", c.Label, p.Detector.Kind())
	}
	c.Dial, c.key = "detector."+key.Name, key.Name
	switch v := key.Value().(type) {
	case time.Duration:
		c.base, c.duration = float64(v), true
	case float64:
		c.base = v
	}
	return nil
}

// text is a value as a file has it.
func (c *Contender) text(v float64) string {
	if c.duration {
		return time.Duration(math.Round(v)).String()
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// fit is the setting next to value that a file can have, and that the system of the set takes.
func (c *Contender) fit(value float64) float64 {
	if c.set == nil {
		return round(value)
	}
	fit, _ := c.fitted(round(value))
	return float64(fit[c.Dial].(time.Duration))
}

// Takes says what the system of the set demands of a setting; "": there is no such system.
func (c *Contender) Takes() string {
	if c.set == nil {
		return ""
	}
	return fmt.Sprintf("set %s: %s", c.set.Name, c.set.Demands)
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

// values are the parameters of a setting, the tuned one first.
func (c *Contender) values(patience, spread float64) []value {
	out := []value{{c.Dial, c.text(patience)}}
	if spread > 0 {
		out = append(out, value{c.spread, c.text(round(patience * spread))})
	}
	if c.set != nil {
		fit, changed := c.fitted(patience)
		for _, name := range changed {
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
		out = append(out, fmt.Sprintf("%s=%v", v.name, v.is))
	}
	return strings.Join(out, " ")
}

// with is the algorithm with a setting.
func (c *Contender) with(value, spread float64) block {
	out := maps.Clone(c.entry)
	where := "params"
	if c.key != "" {
		where = "detector"
	}
	own, _ := out[where].(block)
	own = maps.Clone(own)
	out[where] = own
	if c.key != "" {
		own[c.key] = c.text(value)
		if !c.duration {
			own[c.key] = value
		}
		return out
	}
	for _, v := range c.values(value, spread) {
		own[v.name] = v.is
	}
	return out
}

// crashes is an experiment in which the leader of a setting crashes.
func (c *Contender) crashes(value, spread float64) (*experiment.Experiment, error) {
	return load(c.plain(c.with(value, spread)))
}

// plain is an experiment in which the leader crashes, and no process does so else.
func (c *Contender) plain(algorithms ...any) block {
	f := maps.Clone(c.file)
	f["algorithms"] = algorithms
	f["trace"] = "none"
	for _, key := range []string{"sweep", "thresholds"} {
		delete(f, key)
	}
	if s := f["scenario"].(block); s["kind"] != leaderCrash {
		f["scenario"] = block{"kind": leaderCrash}
	}
	if faults, ok := f["faults"].(block); ok {
		faults = maps.Clone(faults)
		for _, key := range []string{"crash_rate", "downtime", "max_down"} {
			delete(faults, key)
		}
		f["faults"] = faults
	}
	return f
}

// quiet is an experiment of so many trials in which nothing happens to any process, each of
// so many hours and the warming up. Every look has a seed of its own, the same for all
// settings and algorithms.
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
	f["repetitions"], f["seed"] = trials, harness.Derive(c.seed, "tune", uint64(look))
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

// Tuned is an experiment file that compares the algorithms at the settings that were found,
// with another seed than the search had: what was chosen by its luck shows it no more. nil:
// nothing was found.
func Tuned(results []Result, comment string) ([]byte, error) {
	var found []any
	var first *Contender
	for _, r := range results {
		if r.Best >= 0 {
			p := r.Points[r.Best]
			found, first = append(found, r.with(p.Patience, p.Spread)), r.Contender
		}
	}
	if first == nil {
		return nil, nil
	}
	f := first.plain(found...)
	f["name"] = fmt.Sprint(f["name"]) + "-tuned"
	f["seed"] = harness.Derive(first.seed, "tuned")
	f["trace"] = first.file["trace"]
	e, err := load(f)
	if err != nil {
		return nil, err
	}
	text, err := e.Resolved()
	return append([]byte(comment), text...), err
}
