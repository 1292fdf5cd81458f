// Package launch begins runs: it reads the experiment, opens the folder of a run that is new, goes on or is
// a shard, finds the machines, and runs what is missing.
package launch

import (
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/internal/commands/catalog"
	"github.com/conclave-bench/conclave/pkg/experiment"
)

// usage is the error of a mistake on the command line.
func usage(format string, args ...any) error { return answer.Mistaken(format, args...) }

// A Source is where an experiment comes from: a file, or flags alone, and what goes over them.
type Source struct {
	Transport  string
	Set        []string
	Algorithms []string
	Nodes      string
	Env        []string // of the command
}

// Simulates makes simulation the transport unless another is named.
func (f *Source) Simulates() {
	if f.Transport == "" && !slices.ContainsFunc(f.Set, func(set string) bool {
		return strings.HasPrefix(set, "transport=")
	}) {
		f.Transport = transport.Sim.Name
	}
}

// Load makes the experiment.
func (f *Source) Load(args []string) (*experiment.Experiment, error) {
	over := experiment.Overrides{Transport: f.Transport, Set: f.Set, Env: f.Env}
	switch {
	case len(args) > 1:
		return nil, usage("%d files: %s; expected one", len(args), strings.Join(args, ", "))
	case len(args) == 1 && (f.Nodes != "" || len(f.Algorithms) > 0):
		return nil, usage("--algorithms and --nodes go without FILE; beside %s use --set, "+
			"as --set nodes=5", args[0])
	case len(args) == 1:
		return experiment.Load(args[0], over)
	case len(f.Algorithms) == 0:
		return nil, usage("no experiment: expected FILE or --algorithms (\"bench init\" prints a FILE)")
	}
	return experiment.Build(catalog.FullNames(f.Algorithms), f.Nodes, over)
}
