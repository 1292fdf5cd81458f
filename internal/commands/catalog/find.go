package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// FullNames puts the problem in front of the names that leave no doubt about it.
func FullNames(names []string) []string {
	out := slices.Clone(names)
	for i, name := range names {
		if found := Named(name); len(found) == 1 {
			out[i] = found[0].ID
		}
	}
	return out
}

// Named is every algorithm of that name, or the one of that ID.
func Named(name string) (found []*algo.Algorithm) {
	for _, a := range algo.All() {
		if a.ID == name || a.Spec.Name == name {
			found = append(found, a)
		}
	}
	return found
}

// Find is the algorithm of that ID, or of that name if only one has it.
func Find(name string) (*algo.Algorithm, error) {
	found := Named(name)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, answer.Mistaken("unknown algorithm %q%s (\"bench list\" shows all)", name, similar(name))
	}
	return nil, answer.Mistaken("algorithm %q is both %s and %s; write one of them in full", name,
		found[0].ID, found[1].ID)
}

// Simulated finds an algorithm that can be simulated, which a library that runs as it is cannot.
func Simulated(name string) (*algo.Algorithm, error) {
	a, err := Find(name)
	if err == nil && a.Subject {
		return nil, answer.Mistaken("%s is a library: transport bubble alone runs it, and nothing controls "+
			"the order of its goroutines; name an algorithm of Conclave", a.ID)
	}
	return a, err
}

func similar(name string) string {
	var ids, names []string
	for _, a := range algo.All() {
		ids, names = append(ids, a.ID), append(names, a.Spec.Name)
	}
	if hint := algo.Hint(name, ids); hint != "" {
		return hint
	}
	if near := algo.Nearest(name[strings.LastIndexByte(name, '/')+1:], names); near != "" {
		return fmt.Sprintf("; did you mean %q?", ids[slices.Index(names, near)])
	}
	return ""
}
