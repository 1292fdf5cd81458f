package cli

import (
	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
)

func (s *streams) compareCommand() *cobra.Command {
	var q compare.Request
	c := &cobra.Command{
		Use:   "compare BASE NEW",
		Short: "Compare two runs; exit 4 on a regression",
		Long: `Compare two runs, cell by cell and metric by metric. BASE and NEW are folders
of results or CSV files like trials.csv.

Simulations with equal seeds are compared exactly: every changed count is
shown, and more messages are worse. Everything else is compared in pairs of
trials with equal seeds, by the signs of their differences, or, if there are
too few pairs, by Mann and Whitney's test of all trials. If both runs have
rounds on real nodes, rounds take the place of trials. If they have trials on
several machines, only trials on one machine are compared with each other.
Each row says which, and all are corrected for the number of comparisons. A
change is "worse" or "better" only if it is significant and larger than
--threshold. "small" is significant but not larger. "~" is a difference that
the test cannot tell from chance. If the machines of real processes differ, or
one was busier, that is reported first.

Any change for the worse exits with 4. With --fail-if, only the given
conditions decide: METRIC > CHANGE or METRIC < CHANGE, where CHANGE is a
percentage or a number in the metric's unit. "where COLUMN=VALUE" restricts a
condition.

That no difference was found is no proof that there is none. With --prove 5%,
a run passes only if the whole interval of every change says that nothing is
worse by more than 5 %. Where an interval allows both, the code is 5, and the
text says how many trials would decide.

A trial's time is the mean over its operations, which hides a slow one. With
--over operations, a quantile of all operations is compared, p95 or that of
--stat. The verdict is that of an interval that respects that operations of
one trial belong together.

` + answer.Explain("compare", "0", "1", "2", "4", "5"),
		Example: `  bench compare results/base results/new
  bench compare results/base results/new --fail-if 'election_ms > 10%'
  bench compare results/base results/new --prove 5%
  bench compare results/base results/new --over operations --stat p95
  bench compare results/base/trials.csv results/new/trials.csv --alpha 0.01`,
		Args: cobra.ArbitraryArgs,
	}
	judging(c, &q)
	flags := c.Flags()
	flags.StringVar(&q.Over, "over", experiment.Overs[0], "compare `WHAT`: trials, or all operations of them")
	flags.StringVar(&q.Stat, "stat", "", "with --over operations, compare `QUANTILE` (default: "+
		compare.DefaultTail+")")
	flags.BoolVar(&q.NoFail, "no-fail", false, "only print what changed; exit with 0")
	choices(c, "over", experiment.Overs)
	choices(c, "stat", stats.QuantileNames())
	return s.answering(c, func(args []string) (d *answer.Document, err error) {
		if len(args) != 2 {
			return nil, usage("bench compare: %s, want two: the base and the new run",
				console.Plural(len(args), "argument", "arguments"))
		}
		if err = oneOf("over", q.Over, experiment.Overs); err == nil && q.Stat != "" {
			err = oneOf("stat", q.Stat, stats.QuantileNames())
		}
		if err != nil {
			return nil, err
		}
		frugal(q.Over == experiment.OverOperations)
		return compare.Runs(args[0], args[1], q)
	})
}

// judging adds the flags that say what is compared, and what fails.
func judging(c *cobra.Command, q *compare.Request) {
	flags := c.Flags()
	flags.StringArrayVar(&q.FailIf, "fail-if", nil,
		"fail on `CONDITION`, as 'election_ms > 10%'; repeatable")
	flags.StringVar(&q.FailFrom, "fail-if-from", "", "read such conditions from `FILE`, one per line")
	flags.StringSliceVar(&q.Metrics, "metrics", nil,
		"compare `METRICS`, and show also what did not change; all: every one "+
			"(default: the problem's main ones)")
	flags.StringSliceVar(&q.Ignore, "ignore", nil, "ignore that `COLUMNS` differ, as transport")
	flags.StringArrayVar(&q.Where, "where", nil, "compare only cells where `COLUMN=VALUE`; repeatable")
	flags.Float64Var(&q.Alpha, "alpha", compare.DefaultAlpha, "accept a false alarm with probability `P`")
	flags.StringVar(&q.Threshold, "threshold", view.Share(compare.DefaultThreshold),
		"ignore any change below `CHANGE`")
	flags.StringVar(&q.Prove, "prove", "",
		"pass only what is shown to be worse by no more than `CHANGE`")
	flags.BoolVar(&q.Strict, "strict", false, "fail on every changed count, and on what NEW lacks")
}
