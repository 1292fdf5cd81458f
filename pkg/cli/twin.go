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
		Short: "Simulate the trials of a real run, to narrow its intervals",
		Long: `Simulate the trials of RUN, which ran on real nodes, with the same seeds: their
twins meet the same network, faults and requests. For each cell and metric it
prints the mean that was measured, that of the twins, how closely both are
correlated, and the interval of the measured mean, 95 %, without the twins and
with them as control variate: many more trials are simulated, so that what luck
the real ones had is known. Where the correlation is low nothing is gained,
and nothing stands there.
docs/twin.md has the method.

` + answer.Explain("twin", "0", "1", "2", "130, 143"),
		Example: `  bench twin results/quickstart/latest`,
		Args:    cobra.ExactArgs(1),
	}
	c.Flags().StringVar(&costs, "costs", "", "with what handling costs by `FILE` (bench calibrate FILE)")
	c.Flags().IntVar(&more, "more", more, "simulate `N` times as many trials as there are twins")
	return s.working(c, func(ctx context.Context, args []string) (*answer.Document, error) {
		if more < 1 || more > 1000 {
			return nil, usage("--more %d, want 1 to 1000", more)
		}
		return twin.Answer(ctx, args[0], costs, more)
	})
}
