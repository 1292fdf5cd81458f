package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/commands/twin"
)

func (s *streams) twinCommand() *cobra.Command {
	var costs string
	more := 50
	c := &cobra.Command{
		Use:   "twin RUN",
		Short: "Narrow the intervals of a real run by its simulated counterpart",
		Long: `Simulate the trials of RUN, which ran on real nodes, with the same seeds: common
random numbers for network, faults and requests. For each cell and metric, print
both means, by how much the simulated one differs, their correlation, and the
95 % interval of the measured mean, without and with the simulation as control
variate. A real network is simulated as the run has recorded it.

For the control variate, --more times as many trials are simulated, which shows
how far the real run's seeds were from average. If the correlation is low, the
column is empty. docs/explanation/twin.md has the method.

` + answer.Explain("twin", "0", "1", "2", "130, 143"),
		Example: `  bench twin results/quickstart/latest`,
		Args:    cobra.ExactArgs(1),
	}
	c.Flags().StringVar(&costs, "costs", "", "use the message-handling costs in `FILE` (bench calibrate "+
		"FILE)")
	c.Flags().IntVar(&more, "more", more, "simulate `N` times as many trials as RUN has")
	return s.working(c, func(ctx context.Context, args []string) (*answer.Document, error) {
		if more < 1 || more > 1000 {
			return nil, usage("--more %d, expected 1 to 1000", more)
		}
		return twin.Answer(ctx, args[0], costs, more)
	})
}
