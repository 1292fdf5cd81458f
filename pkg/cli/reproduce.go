package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/internal/commands/reproduce"
)

func (s *streams) reproduceCommand() *cobra.Command {
	var q reproduce.Request
	c := &cobra.Command{
		Use:   "reproduce [NAME...]",
		Short: "Reproduce published results",
		Long: `Run the experiment of each study, or of the named ones, and compare published
statements with theory and measurement. A verdict is "holds", "within" so many
percent, "refuted", or "undecided" if there are too few trials. A study that
expects a refutation gives the reason.

` + answer.Explain("reproduce", "0", "1", "2", "3", "4", "130, 143"),
		Example: `  bench reproduce --list
  bench reproduce bully-best
  bench reproduce --quick --markdown`,
		Args: cobra.ArbitraryArgs,
	}
	flags := c.Flags()
	flags.StringVar(&q.Papers, "papers", "configs/papers", "read the studies from `DIR`")
	flags.StringVar(&q.Transport, "transport", transport.Sim.Name,
		"run on `TRANSPORT`: sim in simulation, nats on real processes, few of them")
	flags.StringVar(&q.Out, "out", "results", "write each run into a folder of its own in `DIR`")
	flags.BoolVar(&q.List, "list", false, "list the studies and run nothing")
	flags.BoolVar(&q.Quick, "quick", false, "cut long runs down; a few statements stay undecided")
	flags.BoolVar(&q.Markdown, "markdown", false, "print the page docs/evidence/reproduced.md")
	return s.working(c, func(ctx context.Context, args []string) (d *answer.Document, err error) {
		if q.Markdown && (flags.Changed("json") || flags.Changed("format")) {
			return nil, usage("bench reproduce: both --json and --markdown; leave one out")
		}
		if q.Options, err = programs(); err != nil {
			return nil, err
		}
		q.Names, q.Argv, q.Say = args, s.argv, s.say
		q.Begin = func(name string, trials int) {
			fmt.Fprintf(s.err, "reproduce  %s: %s\n", name, console.Plural(trials, "trial", "trials"))
		}
		return reproduce.Answer(ctx, &q)
	})
}
