package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/commands/bisect"
	"github.com/conclave-bench/conclave/internal/commands/diff"
)

func (s *streams) bisectCommand() *cobra.Command {
	q := bisect.Question{Say: s.say}
	var trial, events int
	c := &cobra.Command{
		Use:   "bisect GOOD BAD FILE",
		Short: "Find the commit that changed a simulated trial",
		Long: `Find the first commit between GOOD and BAD at which trial N of FILE differs
from GOOD, and print the first message where the two traces diverge. FILE is an
experiment or a folder of results as it is now. Any difference counts, unless
--metric names a figure.

As in git bisect, N commits take about log2(N) builds, in a temporary folder.
Commits that do not build or cannot simulate the trial are skipped. The
repository and its working tree stay unchanged.

` + answer.Explain("bisect", "0", "1", "2", "4", "5", "130, 143"),
		Example: `  bench bisect v1.0 HEAD configs/quickstart.yaml --trial 3
  bench bisect v1.0 HEAD configs/quickstart.yaml --trial 3 --metric messages
  bench bisect HEAD~20 main results/mine/latest --trial 1 --package .`,
		Args: cobra.ArbitraryArgs,
	}
	flags := c.Flags()
	flags.IntVar(&trial, "trial", 0, aTrial)
	flags.StringVar(&q.Metric, "metric", "", "search for a change of the metric `NAME` alone")
	flags.StringVar(&q.Package, "package", "./cmd/bench",
		"build the command in the Go package `PATH`, as seen from this folder")
	flags.BoolVar(&q.FirstParent, "first-parent", false, "treat a merge as a single commit")
	flags.IntVar(&events, "events", 10, "print `N` events of each side after the divergence")
	return s.answering(c, func(args []string) (d *answer.Document, err error) {
		if len(args) != 3 {
			return nil, usage("bench bisect: %s, expected two commits and FILE, as bench bisect v1.0 HEAD "+
				"configs/quickstart.yaml", console.Plural(len(args), "argument", "arguments"))
		}
		if trial < 0 || events < 0 {
			return nil, usage("--trial %d --events %d: expected no number below 0", trial, events)
		}
		q.Good, q.Bad = args[0], args[1]
		if q.Subject, err = diff.ReadSubject(args[2], &trial); err != nil {
			return nil, err
		}
		ctx, stop := s.interruptible(context.Background())
		defer stop()
		cause, err := q.Cause(ctx)
		if err != nil {
			return nil, err
		}
		return cause.Answer(events), nil
	})
}
