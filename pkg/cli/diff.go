package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/commands/diff"
)

func (s *streams) diffCommand() *cobra.Command {
	q := diff.Request{Again: s.again("")}
	c := &cobra.Command{
		Use:   "diff A B [FILE]",
		Short: "Find the first message where two trials diverge",
		Long: `Simulate one trial twice, and print the first message where the traces diverge,
what followed, and how each ended. The trial is --trial of an experiment FILE,
or is described by --nodes and --set.

A and B are two folders of results, two builds of bench, or two algorithms,
with parameters as in raft,pre_vote=true or raft,set=etcd. docs/how-to/diff.md
has examples of each.

` + answer.Explain("diff", "0", "1", "2", "4", "130, 143"),
		Example: `  bench diff results/base results/new --trial 3
  bench diff bully bully,t_answer=9ms configs/quickstart.yaml --trial 3
  bench diff bully ring-list --nodes 5 --set network.loss=0.1
  bench diff ./bench-old ./bench-new configs/quickstart.yaml --trial 3`,
		Args: cobra.ArbitraryArgs,
	}
	flags := c.Flags()
	flags.IntVar(&q.Trial, "trial", 0, aTrial)
	flags.IntVar(&q.Events, "events", 10, "print `N` events of each side after the divergence")
	flags.StringVar(&q.Nodes, "nodes", "", "with `N` processes, without FILE")
	setting(c, &q.Set, "repetitions rounds")
	return s.answering(c, func(args []string) (*answer.Document, error) {
		ctx, stop := s.interruptible(context.Background())
		defer stop()
		q.Args = args
		return q.Answer(ctx)
	})
}
