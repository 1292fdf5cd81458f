package experiment

import (
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
)

// findAlgorithms looks the algorithms up and reads their parameters.
func (d *draft) findAlgorithms() {
	l := d.leaves["algorithms"]
	if l == nil {
		d.Add(d.top(), "algorithms",
			"missing, expected a list, as [bully, ring-list] (\"bench list\" shows all)")
		return
	}
	entries, _ := l.Value.([]entry)
	problem := d.problem(entries)
	labels := map[string]config.Place{}
	for _, e := range entries {
		a := d.contender(e, problem)
		if a == nil {
			continue
		}
		if first, twice := labels[a.Label]; twice {
			d.Add(e.at, e.key, "label %q appears twice, first in %s; give one another, as "+
				"{name: %s, label: ...}", a.Label, first.Short(), e.name)
		}
		labels[a.Label] = e.at
		d.contenders = append(d.contenders, a)
	}
	d.notes = append(d.notes, d.skipped...)
	if len(d.skipped) > 0 && len(d.contenders) == 0 && d.Count() == 0 {
		d.Add(l.Raw.At, "algorithms", "nothing is left to run: %s", strings.Join(d.skipped, "; "))
	}
	for _, o := range d.Open {
		d.overrideParam(o)
	}
}

// problem is the one that the file names, or that of the names in full.
func (d *draft) problem(entries []entry) string {
	if l := d.leaves["problem"]; l != nil {
		s, _ := l.Value.(string)
		return s
	}
	found := ""
	for _, e := range entries {
		head, _, full := strings.Cut(e.name, "/")
		if full && (head == "election" || head == "mutex") && found == "" {
			found = head
		}
	}
	if found == "" && len(entries) > 0 {
		hint := "write problem: election or problem: mutex"
		for _, a := range runnable() {
			if a.Spec.Name == entries[0].name {
				hint = "write problem: " + string(a.Problem)
				break
			}
		}
		d.Add(entries[0].at, "problem", "missing, and %s is not a name in full; %s",
			config.Clip(entries[0].name), hint)
	}
	if found != "" {
		d.fill(d.leaves, "problem", found)
	}
	return found
}

func (d *draft) contender(e entry, problem string) *contender {
	if e.name == "" || problem == "" && !strings.Contains(e.name, "/") {
		return nil
	}
	full := e.name
	if !strings.Contains(full, "/") {
		full = problem + "/" + full
	}
	if head, _, _ := strings.Cut(full, "/"); problem != "" && head != problem &&
		(head == "election" || head == "mutex") {
		d.Add(e.at, e.key, "%s, but the problem is %s; an experiment has one", config.Clip(full), problem)
		return nil
	}
	a, err := algo.Lookup(full)
	if err != nil {
		d.Add(e.at, e.key, "%s", d.unknownAlgorithm(full, problem))
		return nil
	}
	if a.Observed {
		d.Add(e.at, e.key, "%s cannot be run: it is only observed where others run it; name another "+
			"(\"bench list\" shows all)", a.ID)
		return nil
	}
	if why := absent(a); why != "" {
		d.skipped = append(d.skipped, a.ID+" is skipped: "+why)
		return nil
	}
	c := &contender{Algorithm: Algorithm{ID: a.ID, Label: e.label, Set: e.set, Params: map[string]any{}},
		alg: a, at: e.at, key: e.key, origins: map[string]config.Place{}}
	if c.Label == "" {
		c.Label = a.Spec.Name
		if e.set != "" {
			c.Label += "-" + e.set
		}
	}
	if e.set != "" {
		set, err := a.Spec.SetOf(e.set)
		if err != nil {
			d.Add(e.at, config.Join(e.key, "set"), "%s", err)
			return nil
		}
		for name, x := range set.Params {
			c.Params[name], c.origins[name] = x, e.at
		}
	}
	if e.params != nil && e.params.Kind == config.Map {
		for _, q := range e.params.Pairs {
			d.giveParam(c, q.Name, config.Join(e.key, "params."+q.Name), q.At, q.Value)
		}
	}
	if e.detector != nil {
		f, _, _ := d.Schema.Find("detector")
		for _, a := range d.Flatten(f.Sub, "detector", e.detector) {
			c.own = append(c.own, d.change(d.Schema.Leaf(a.Key), a.Key, nil, a.Value))
		}
	}
	return c
}

func (d *draft) unknownAlgorithm(full, problem string) string {
	if l := d.leaves["transport"]; l != nil && l.Raw.Text == transport.Bubble.Name && !linksLibraries() {
		return config.Clip(full) + " is not linked into this program; " + benchSystems
	}
	ids := []string{}
	for _, a := range runnable() {
		if problem == "" || string(a.Problem) == problem {
			ids = append(ids, a.ID)
		}
	}
	near := ""
	if len(full) <= 64 {
		near = algo.Nearest(strings.ToLower(full), ids)
	}
	problemOf, short, _ := strings.Cut(full, "/")
	if slices.Contains(Systems[problemOf], short) && !linksLibraries() {
		return config.Clip(full) + " is not linked into this program; " + benchSystems
	}
	if near == "" {
		for _, a := range runnable() {
			if a.Spec.Name == short {
				near = a.ID
			}
		}
	}
	text := "unknown algorithm " + strconv.Quote(config.Clip(full))
	if near != "" {
		return text + "; did you mean " + strconv.Quote(near) + "?"
	}
	return text + " (\"bench list\" shows all: " + strings.Join(ids, ", ") + ")"
}

// overrideParam sets a parameter of every algorithm that has it.
func (d *draft) overrideParam(o config.Assignment) {
	found := false
	for _, c := range d.contenders {
		if c.param(o.Key) != nil {
			found = true
			d.giveParam(c, o.Key, "params."+o.Key, o.At, o.Value)
		}
	}
	if !found && len(d.contenders) > 0 {
		d.Add(o.At, "params."+o.Key, "unknown parameter%s", d.paramsHint(o.Key))
	}
}

// params are the names of the parameters, and what there is to say of them.
func (c *contender) params() (names []string, has string) {
	for _, p := range c.alg.Spec.Params {
		names = append(names, p.Name)
	}
	if len(names) == 0 {
		return nil, "has none"
	}
	return names, "has: " + strings.Join(names, ", ")
}

// paramsHint says which parameters there are.
func (d *draft) paramsHint(name string) string {
	var all, have []string
	for _, c := range d.contenders {
		own, has := c.params()
		all = append(all, own...)
		if text := c.alg.ID + " " + has; !slices.Contains(have, text) {
			have = append(have, text)
		}
	}
	return d.Meant(name, all) + " (" + strings.Join(have, "; ") + ")"
}

func (d *draft) giveParam(c *contender, name, key string, at config.Place, v *config.Value) {
	p := c.param(name)
	if p == nil {
		names, has := c.params()
		if len(names) == 0 {
			has = "it " + has
		}
		d.Add(at, key, "unknown parameter of %s%s (%s)", c.alg.ID, d.Meant(name, names), has)
		return
	}
	if x, ok := readParam(d.Reader, p, key, v); ok {
		c.Params[name] = x
		c.origins[name] = v.At
	}
}
