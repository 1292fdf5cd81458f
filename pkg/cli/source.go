package cli

import (
	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/commands/launch"
)

// sourced adds the flags that say where an experiment comes from.
func (s *streams) sourced(c *cobra.Command, f *launch.Source) {
	f.Env = s.env
	flags := c.Flags()
	flags.StringVar(&f.Transport, "transport", "",
		"run on `TRANSPORT`: nats on real processes, sim in simulation (default: what FILE says)")
	flags.StringVar(&f.Rounds, "rounds", "",
		"restart everything between `K` parts of the repetitions (default: what FILE says)")
	flags.StringArrayVar(&f.Set, "set", nil,
		"override a key of the experiment with `KEY=VALUE`, as network.loss=0.05; repeatable")
	flags.StringSliceVar(&f.Algorithms, "algorithms", nil, "compare algorithms `A,B`, without FILE")
	flags.StringVar(&f.Nodes, "nodes", "", "with `N` processes, or several as 3,5,9, without FILE")
}
