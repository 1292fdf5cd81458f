package cli

import (
	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/commands/replay"
)

func (s *streams) replayCommand() *cobra.Command {
	var q replay.Request
	var host string
	c := &cobra.Command{
		Use:   "replay DIR",
		Short: "Run one trial again",
		Long: `Run one trial again from the configuration in its folder, and print its
outcome. A simulated trial repeats exactly. For a trial on real nodes with a
trace (trace: all), replay feeds the recorded messages and timers to the
algorithm again, and exits with 1 if it sends other messages. --live runs the
same plan with the same random draws on real nodes.

--events prints a line for each event, and --state adds the content of messages
and the variables that each event changed.`,
		Example: `  bench replay results/quickstart/latest --trial 3
  bench replay results/quickstart/latest --trial 3 --events
  bench replay results/quickstart/latest --trial 3 --events --state
  bench replay results/quickstart/latest --trial 3 --live
  bench replay results/quickstart/latest --trial 3 --json`,
		Args: cobra.ArbitraryArgs,
	}
	flags := c.Flags()
	flags.IntVar(&q.Number, "trial", 0, aTrial)
	flags.BoolVar(&q.Events, "events", false, "print every event")
	flags.BoolVar(&q.State, "state", false, "with each event, the content of its message and what it changed")
	flags.BoolVar(&q.Live, "live", false, "run it on real nodes again, if it was")
	flags.StringVar(&host, "host", "", "with --live: start the nodes on another machine with `COMMAND`")
	return s.answering(c, func(args []string) (d *answer.Document, err error) {
		if len(args) != 1 || q.Number < 0 {
			return nil, usage("bench replay: expected a folder of results and --trial N, as " +
				"bench replay results/quickstart/latest --trial 3")
		}
		if q.Path = args[0]; q.Number == 0 {
			if q.Number, err = replay.Only(q.Path, "replay"); err != nil {
				return nil, err
			}
		}
		if host != "" && !q.Live {
			return nil, usage("--host without --live: nothing runs on nodes; add --live, or leave it out")
		}
		q.Again = s.again(host)
		return replay.Answer(&q)
	})
}
