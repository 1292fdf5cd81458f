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
		Short: "Find the first message at which two trials part",
		Long: `Simulate one trial twice, and print the first message at which the two part,
what followed, and how each ended. A and B are both of one of these kinds:

  folders of results  trial N of each run
  programs            two builds of bench, as files: trial N of the
                      experiment, or of the folder of results, in FILE
  algorithms          an ID or a name, with parameters as in
                      raft,pre_vote=true, or a set of them as in raft,set=etcd,
                      or a label of FILE: both in the world of trial N of FILE,
                      with its faults and its draws. Without FILE, --nodes and
                      --set describe the world

A folder's trial is that of its trace if it kept one, and is simulated again
otherwise. The code is 0 if all events are the same, down to what messages
hold. Variables of processes are told where they differ, and decide nothing.

` + answer.Explain("diff", "0", "1", "2", "4", "130, 143"),
		Example: `  bench diff results/base results/new --trial 3
  bench diff bully bully,t_answer=9ms configs/quickstart.yaml --trial 3
  bench diff bully ring-list --nodes 5 --set network.loss=0.1
  bench diff ./bench-old ./bench-new configs/quickstart.yaml --trial 3`,
		Args: cobra.ArbitraryArgs,
	}
	flags := c.Flags()
	flags.IntVar(&q.Trial, "trial", 0, aTrial)
	flags.IntVar(&q.Events, "events", 10, "print `N` events of each side behind the parting")
	flags.StringVar(&q.Nodes, "nodes", "", "with `N` processes, without FILE")
	flags.StringArrayVar(&q.Set, "set", nil,
		"override a key of the experiment with `KEY=VALUE`, as network.loss=0.05; repeatable")
	return s.answering(c, func(args []string) (*answer.Document, error) {
		ctx, stop := s.interruptible(context.Background())
		defer stop()
		q.Args = args
		return q.Answer(ctx)
	})
}
