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
		Long: `Find the first commit between GOOD and BAD at which trial N of FILE is not what
it is at GOOD, and print the first message at which it parts from the trial
before. GOOD and BAD are commits of the git repository of this folder: tags,
branches, hashes. FILE is an experiment or a folder of results as it is now,
whatever the commits have.

The search goes as that of git bisect: of N commits it builds about log2(N), in
a temporary folder, and has each simulate the trial. Commits that do not build,
or cannot simulate it, are skipped. The repository and its working tree stay as
they are; uncommitted changes have no part.

Any change counts: another event, another instant, other content of a message,
another verdict. With --metric, only a change of this figure of the trial does:
that is the flag for a figure that got worse.

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
	flags.BoolVar(&q.FirstParent, "first-parent", false, "take a merge for one commit, whatever it merged")
	flags.IntVar(&events, "events", 10, "print `N` events of each side behind the parting")
	return s.answering(c, func(args []string) (d *answer.Document, err error) {
		if len(args) != 3 {
			return nil, usage("bench bisect: %s, want two commits and FILE, as bench bisect v1.0 HEAD "+
				"configs/quickstart.yaml", console.Plural(len(args), "argument", "arguments"))
		}
		if trial < 0 || events < 0 {
			return nil, usage("--trial %d --events %d: want no number below 0", trial, events)
		}
		q.Good, q.Bad = args[0], args[1]
		if q.World, err = diff.ReadWorld(args[2], &trial); err != nil {
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
