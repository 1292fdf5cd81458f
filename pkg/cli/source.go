package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/catalog"
	"github.com/conclave-bench/conclave/internal/transport"
	"github.com/conclave-bench/conclave/pkg/experiment"
)

// A source is where an experiment comes from: a file, or flags alone, and what
// goes over them.
type source struct {
	transport  string
	rounds     string
	set        []string
	algorithms []string
	nodes      string
}

func (f *source) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.transport, "transport", "",
		"run on `TRANSPORT`: nats on real processes, sim in simulation (default: what FILE says)")
	flags.StringVar(&f.rounds, "rounds", "",
		"restart everything between `K` parts of the repetitions (default: what FILE says)")
	flags.StringArrayVar(&f.set, "set", nil,
		"override a key of the experiment with `KEY=VALUE`, as network.loss=0.05; repeatable")
	flags.StringSliceVar(&f.algorithms, "algorithms", nil, "compare algorithms `A,B`, without FILE")
	flags.StringVar(&f.nodes, "nodes", "", "with `N` processes, or several as 3,5,9, without FILE")
}

// simulates makes simulation the transport unless another is named.
func (f *source) simulates() {
	if f.transport == "" && !slices.ContainsFunc(f.set, func(set string) bool {
		return strings.HasPrefix(set, "transport=")
	}) {
		f.transport = transport.Sim.Name
	}
}

// load makes the experiment.
func (f *source) load(s *streams, args []string) (*experiment.Experiment, error) {
	over := experiment.Overrides{Transport: f.transport, Rounds: f.rounds, Set: f.set, Env: s.env}
	switch {
	case len(args) > 1:
		return nil, usage("%d files: %s; want one", len(args), strings.Join(args, ", "))
	case len(args) == 1 && (f.nodes != "" || len(f.algorithms) > 0):
		return nil, usage("--algorithms and --nodes go without FILE; beside %s use --set, "+
			"as --set nodes=5", args[0])
	case len(args) == 1:
		return experiment.Load(args[0], over)
	case len(f.algorithms) == 0:
		return nil, usage("no experiment: want FILE or --algorithms (\"bench init\" prints a FILE)")
	}
	return experiment.Build(catalog.FullNames(f.algorithms), f.nodes, over)
}
