package algo

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A Set is values of parameters under one name, such as those of a system that people run.
// Parameters that it leaves out follow from the network, and from these.
type Set struct {
	Name, Doc string // lower-case words joined by '-'; whose values they are, in one line
	Params    map[string]any
	Source    string // which version of the system, and where that says so, in sentences
	Differs   string // what the system does otherwise, as far as it is known, in sentences
	// Demands is what the system demands of its settings, in sentences, and Fit the values
	// nearest to p that it takes, of the parameters that it demands something of. Both or none:
	// then it takes all that Spec.Params allows. What fits is not changed by Fit.
	Demands string
	Fit     func(p Params) map[string]any
	System  *System // how people configure the system; nil: nothing is known of it
}

// SetOf finds the set of that name. The error names those that there are.
func (s *Spec) SetOf(name string) (*Set, error) {
	var names []string
	for i := range s.Sets {
		if s.Sets[i].Name == name {
			return &s.Sets[i], nil
		}
		names = append(names, s.Sets[i].Name)
	}
	if names == nil {
		return nil, fmt.Errorf("unknown set %q: %s has none", name, s.Name)
	}
	return nil, fmt.Errorf("unknown set %q of %s%s (has: %s)", name, s.Name, Hint(name, names),
		strings.Join(names, ", "))
}

// Fitted is p as the system takes it, and the names of the parameters that differ from p's, in
// alphabetical order.
func (s *Set) Fitted(p Params) (fit Params, changed []string) {
	fit = maps.Clone(p)
	if s.Fit == nil {
		return fit, nil
	}
	for name, v := range s.Fit(p) {
		if !reflect.DeepEqual(p[name], v) {
			changed = append(changed, name)
		}
		fit[name] = v
	}
	slices.Sort(changed)
	return fit, changed
}

// Refusal says how p breaks what the system demands, with the values nearest to p that do not;
// "" if p does not.
func (s *Set) Refusal(p Params) string {
	fit, changed := s.Fitted(p)
	if changed == nil {
		return ""
	}
	list := func(of Params) string {
		var out []string
		for _, name := range changed {
			out = append(out, fmt.Sprintf("%s=%v", name, of[name]))
		}
		return strings.Join(out, " ")
	}
	return fmt.Sprintf("set %s with %s is no setting that the system takes; the nearest is %s; %s",
		s.Name, list(p), list(fit), s.Demands)
}

// setDefects says what is wrong with the sets of parameters.
func (s *Spec) setDefects() (errs []error) {
	check := func(ok bool, text string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(text, args...))
		}
	}
	for i := range s.Sets {
		set := &s.Sets[i]
		check(words(set.Name, '-'), "bad name of a set: %q, want lower-case words joined by '-'", set.Name)
		check(set.Doc != "" && !strings.Contains(set.Doc, "\n"), "set %s: no one-line doc", set.Name)
		check(!slices.ContainsFunc(s.Sets[:i], func(o Set) bool { return o.Name == set.Name }),
			"set %s declared twice", set.Name)
		check((set.Fit == nil) == (set.Demands == ""), "set %s: Demands and Fit go together", set.Name)
		for _, name := range slices.Sorted(maps.Keys(set.Params)) {
			j := slices.IndexFunc(s.Params, func(p Param) bool { return p.Name == name })
			if j < 0 {
				errs = append(errs, fmt.Errorf("set %s: no parameter %s", set.Name, name))
			} else if err := s.Params[j].Check(set.Params[name]); err != nil {
				errs = append(errs, fmt.Errorf("set %s: %w", set.Name, err))
			}
		}
	}
	return errs
}

// unfit says what of a set's own values breaks what it demands.
func (s *Spec) unfit(set *Set) []error {
	p, errs := s.Resolve(set.Params, Network{Nodes: 5, Latency: Slack / 20, Bounded: true})
	if len(errs) > 0 {
		return errs
	}
	fit, changed := set.Fitted(p)
	for _, name := range slices.Sorted(maps.Keys(fit)) {
		if _, ok := p[name]; !ok {
			errs = append(errs, fmt.Errorf("set %s: it demands something of no parameter %s", set.Name, name))
		}
	}
	if errs == nil && changed != nil {
		errs = append(errs, fmt.Errorf("set %s: its own %s break what it demands", set.Name,
			strings.Join(changed, ", ")))
	}
	if errs == nil && set.System != nil {
		errs = set.System.defects(set, p)
	}
	return errs
}
