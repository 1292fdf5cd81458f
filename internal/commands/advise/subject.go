// Package advise looks for the settings of a system that people run: the fastest within a budget of
// false elections per year, on the network that its members have. What a setting leads to is simulated, by
// the set of parameters that predicts the system.
package advise

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// A Subject is a system, with the algorithm and the set of parameters that predict it.
type Subject struct {
	*algo.System
	Algorithm *algo.Algorithm
	Set       *algo.Set
}

// Subjects are all systems that are known, by name.
func Subjects() (all []Subject) {
	for _, a := range algo.All() {
		for i := range a.Spec.Sets {
			if set := &a.Spec.Sets[i]; set.System != nil {
				all = append(all, Subject{set.System, a, set})
			}
		}
	}
	slices.SortFunc(all, func(a, b Subject) int { return strings.Compare(a.Set.Name, b.Set.Name) })
	return all
}

// Names are the names of all systems.
func Names() (names []string) {
	for _, s := range Subjects() {
		names = append(names, s.Set.Name)
	}
	return names
}

// find is the system of that name.
func find(name string) (*Subject, error) {
	all := Subjects()
	i := slices.IndexFunc(all, func(s Subject) bool { return s.Set.Name == name })
	if i < 0 {
		return nil, answer.Mistaken("unknown system %q%s (has: %s)", name, algo.Hint(name, Names()),
			strings.Join(Names(), ", "))
	}
	return &all[i], nil
}

// store says whether the members of the system agree by a store, which is a process of its own.
func (s *Subject) store() bool { return s.Bears != nil }

// A Setting is what people choose, and what follows from it.
type Setting struct {
	Beat, Patience time.Duration
	Params         algo.Params
	key            string // what the simulator draws by
}

// setting is the one nearest to a beat and a patience that the system takes.
func (s *Subject) setting(base algo.Params, beat, patience, clocks time.Duration) Setting {
	fit, _ := s.Set.Fitted(s.Choose(base, beat, patience, clocks))
	return s.of(fit)
}

// of is the setting with those parameters.
func (s *Subject) of(p algo.Params) Setting {
	out := Setting{Params: p, Patience: p.Duration(s.Patience)}
	if s.Beat != "" {
		out.Beat = p.Duration(s.Beat)
	}
	out.key = fmt.Sprintf("%v %v", out.Beat, out.Patience)
	return out
}

// words is a setting in one line, in the system's own words.
func (s *Subject) words(x *Setting) string {
	lines := s.Write(x.Params)
	return strings.Join(strings.Fields(lines[0].Text), " ")
}

// longest is the longest time that anything waits with a setting, but for requests of leases.
func (x *Setting) longest() time.Duration {
	most := x.Params.Timeout()
	if spread, ok := x.Params["t_election_spread"].(time.Duration); ok {
		most = max(most, x.Patience+spread)
	}
	return most
}
