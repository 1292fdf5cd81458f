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
outcome. A simulated trial is the same to the last event. For a trial on real
nodes, the recorded order of messages and timers is fed to the same algorithm,
step by step, and it must send the same messages. That needs a trace (trace:
all). A difference from the record is an error (exit code 1). With --live,
real nodes run it again with the same plan and the same random draws.

--events prints what happened, a line for each event. --state adds what each
message holds and which variables of its process each event changed, in
simulation and on real nodes alike.`,
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
	flags.BoolVar(&q.State, "state", false, "with each event, what its message holds and what it changed")
	flags.BoolVar(&q.Live, "live", false, "run it on real nodes again, if it was")
	flags.StringVar(&host, "host", "", "with --live: start the nodes on another machine with `COMMAND`")
	return s.answering(c, func(args []string) (d *answer.Document, err error) {
		if len(args) != 1 || q.Number < 0 {
			return nil, usage("bench replay: want a folder of results and --trial N, as " +
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
