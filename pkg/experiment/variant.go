package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/param"
)

// A variant is one cell while it is being put together.
type variant struct {
	*draft
	contender *contender
	leaves    map[string]*config.Leaf
	params    map[string]any
	origins   map[string]config.Place // of params
	values    map[string]value        // what the sweep says, by key
	remarks   []string                // on this cell, for the experimenter
	spared    bool                    // of a fault of servers, since its algorithm has none
	known     map[string]string       // of a system: see metric.ServiceColumns; nil: it is none
}

// A value is a swept one as it stands in the design: a duration in milliseconds,
// or with its unit where not all values of its key are durations.
type value struct{ ms, plain string }

func (v value) of(ms bool) string {
	if ms {
		return v.ms
	}
	return v.plain
}

// settle puts the values of the keys that count to where they go.
func (d *draft) settle(leaves map[string]*config.Leaf, counts func(key string) bool) {
	*d.settings = settings{files: d.files}
	d.Schema.Leaves(func(key string, f *config.Field) {
		if l := leaves[key]; l != nil && l.Value != nil && counts(key) {
			config.Of(f).Set(l.Value)
		}
	})
}

// variant applies the values at a position of the axes.
func (d *draft) variant(c *contender, at []int) *variant {
	v := &variant{draft: d, contender: c, leaves: maps.Clone(d.leaves),
		params: maps.Clone(c.Params), origins: maps.Clone(c.origins), values: map[string]value{}}
	for i := range c.own {
		own := &c.own[i]
		if l := v.leaves[own.key]; !l.Explicit() || l.Raw.At.Layer <= own.value.At.Layer {
			v.leaves[own.key] = own.leaf
		}
	}
	for i, k := range at {
		if k < 0 {
			continue
		}
		for j := range d.axes[i].keys {
			s := &d.axes[i].keys[j]
			if given, ok := s.value(k, c); ok {
				v.params[s.param], v.origins[s.param] = given, s.raw[k].At
				v.values[s.key] = value{formatValue(given), writeParam(c.param(s.param), given).Bare()}
			}
			for _, ch := range s.sets[k] {
				v.apply(&ch)
			}
			if s.names != nil {
				v.values[s.key] = value{plain: s.names[k]}
			}
		}
	}
	v.complete()
	v.settle(v.leaves, v.counts)
	v.follow("scenario.", v.Scenario.Does().Params())
	v.follow("detector.", v.Detector.Params())
	return v
}

func (v *variant) apply(c *change) {
	l := c.leaf
	if l == nil {
		l = v.Change(c.field, c.key, v.leaves[c.key], c.rest, c.value)
	}
	v.leaves[c.key] = l
	v.values[c.full()] = c.column()
}

// column is the value as it stands in the design.
func (c *change) column() value {
	text := c.meant().Bare()
	out := value{text, text}
	if d, ok := c.meant().Duration(); ok {
		out.ms = milliseconds(d)
	}
	return out
}

// complete fills in the defaults that follow from other values.
func (v *variant) complete() {
	if v.leaves["scenario.kind"] == nil {
		v.usualScenario()
	}
	k := kindOf(v.leaves["scenario.kind"].Value)
	detector := harness.PerfectDetector(0)
	if k != nil && k.Scripted {
		detector = harness.NoDetector()
	}
	v.fill(v.leaves, "detector.kind", detector.Kind())
	if k != nil {
		for _, p := range k.Plot.Params() {
			if preset := p.Preset(); preset != "" {
				v.fill(v.leaves, "scenario."+p.Name, preset)
			}
		}
	}
	v.giveTime(k)
}

// usualScenario is what runs where nobody names a scenario: the same for all algorithms, so that
// they can be compared, and one that each of them can survive.
func (v *variant) usualScenario() {
	problem := v.contender.alg.Problem
	survived := !slices.ContainsFunc(v.contenders, func(c *contender) bool {
		return c.alg.Spec.Survives.Crashes == nil
	})
	for key, l := range v.leaves { // what says more of a scenario means the usual one
		survived = survived || l.Explicit() && covers("scenario", key)
	}
	kind := harness.UsualScenario(problem, survived)
	v.fill(v.leaves, "scenario.kind", kind)
	usual := harness.UsualScenario(problem, true)
	if kind != usual && v.contender.alg.Spec.Survives.Crashes == nil {
		v.remarks = append(v.remarks, fmt.Sprintf("survives no crash, so the default scenario is %s; set "+
			"scenario.kind for another, such as %s", kind, usual))
	}
}

// usualLimit is the time limit where nothing asks for more.
const usualLimit = 10 * time.Second

// giveTime sets the time limit that nobody has set so that a longer scenario has room in it.
func (v *variant) giveTime(k *harness.ScenarioKind) {
	l := v.leaves["scenario.duration"]
	if l == nil || k == nil || !k.Has("duration") || v.leaves["time_limit"].Explicit() {
		return
	}
	if d, ok := l.Value.(time.Duration); ok && d+time.Second > usualLimit {
		delete(v.leaves, "time_limit")
		v.fill(v.leaves, "time_limit", min(d+usualLimit, longest).String())
	}
}

// roughness is by how much an estimate of a trial may be too short: it knows no algorithm.
const roughness = 3

// makeRoom raises the time limit that nobody has set where the scenario as a whole does not fit
// into it. It remarks on one that somebody has set: the estimate is too rough to refuse it.
func (v *variant) makeRoom(p *harness.Plan) {
	const key = "time_limit"
	lasts := p.Lasts()
	if lasts < p.TimeLimit {
		return
	}
	room := min((roughness*lasts + time.Second - 1).Truncate(time.Second), longest)
	if v.leaves[key].Explicit() {
		v.remarks = append(v.remarks, fmt.Sprintf("time_limit is %v, and a trial takes about %v: one that "+
			"has not ended by then is a timeout; set time_limit to %v",
			p.TimeLimit, lasts.Round(time.Second/10), room))
		return
	}
	v.remarks = append(v.remarks, fmt.Sprintf("a trial takes about %v: time_limit is %v by "+
		"default", lasts.Round(time.Second/10), room))
	delete(v.leaves, key)
	v.fill(v.leaves, key, room.String())
	p.TimeLimit = room
}

func kindOf(name any) *harness.ScenarioKind {
	text, _ := name.(string)
	return harness.ScenarioOf(text)
}

// follow gives the parameters of the harness the values that follow from others in the plan.
func (v *variant) follow(prefix string, params []param.Param) {
	for i := range params {
		p, key := &params[i], prefix+params[i].Name
		if workOut, follows := p.Default.(func() any); follows && v.leaves[key] == nil {
			if x := workOut(); x != nil {
				v.fill(v.leaves, key, fmt.Sprint(x))
				p.Set(v.leaves[key].Value)
			}
		}
	}
}

// counts says whether a key goes into the plan of this cell: of a scenario's keys, and
// a detector's, those of its kind do.
func (v *variant) counts(key string) bool {
	head, rest, _ := strings.Cut(key, ".")
	switch {
	case head == "scenario" && rest != "kind":
		k := kindOf(v.leaves["scenario.kind"].Value)
		return k != nil && (rest == "expect" || k.Has(rest))
	case key == "faults.downtime" || key == "faults.max_down":
		rate, _ := v.leaves["faults.crash_rate"].Value.(float64)
		return rate > 0
	case head == "network":
		real, _ := v.leaves["network.real"].Value.(bool)
		recorded, _ := v.leaves["network.recorded"].Value.(*recording)
		switch rest {
		case "real":
			return real
		case "recorded":
			return !real && recorded != nil
		case "at_most":
			return real || recorded != nil
		case "latency", "loss", "links":
			return !real && recorded == nil
		}
		return !real
	case key == "hosting.per_process":
		return v.leaves["hosting.run_as"].Value == metric.RunAsGoroutine
	case key == "hosting.reuse":
		return v.leaves["hosting.run_as"].Value == metric.RunAsProcess
	case head == "detector" && rest != "kind":
		kind, _ := v.leaves["detector.kind"].Value.(string)
		d := harness.DetectorOf(kind)
		return d != nil && param.Find(d.Params(), rest) != nil
	}
	return true
}

// means says whether a key changes anything in this cell.
func (v *variant) means(key string) bool {
	if v.contender.alg.Problem == algo.Election && slices.Contains(ofEntries, key) {
		return v.leaves[key].Explicit() // which is reported where scripts are checked
	}
	return v.counts(key) && (!slices.Contains(ofSessions, key) || v.contender.alg.Spec.Admits.Sessions != "")
}

// ofSessions are the keys that mean something to requests that name a session.
var ofSessions = []string{"scenario.sessions", "scenario.session_choice"}

// ofEntries are the keys of a script that mean nothing in an election.
var ofEntries = []string{"scenario.holder", "scenario.hold"}

// wrong reports a value of this cell, at the place that set it.
func (v *variant) wrong(key, format string, args ...any) {
	at := v.top()
	head, part, _ := strings.Cut(key, ".")
	for _, k := range []string{key, head + ".kind", head} { // what is missing, its kind calls for
		if l := v.leaves[k]; l.Explicit() {
			at = l.Raw.At
			if x := l.Raw.Get(part); k == head && x != nil {
				at = x.At
			}
			break
		}
	}
	v.Add(at, key, format, args...)
}

// paramOrigin is where the parameter stands that an error of the Spec is about.
func (v *variant) paramOrigin(err error) config.Place {
	for _, p := range v.contender.alg.Spec.Params {
		at, given := v.origins[p.Name]
		if given && strings.Contains(err.Error(), "parameter "+p.Name+":") {
			return at
		}
	}
	return v.contender.at
}
