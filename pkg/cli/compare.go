package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
)

func (s *streams) compareCommand() *cobra.Command {
	var q compare.Request
	c := &cobra.Command{
		Use:   "compare BASE NEW | RUN ALGORITHM ALGORITHM | RUN:ALGORITHM...",
		Short: "Compare two runs; exit 4 on a regression",
		Long: `Compare two runs, cell by cell and metric by metric. BASE and NEW are folders
of results or CSV files like trials.csv. A change is "worse" or "better" if it
is significant, corrected for the number of tests, and larger than --threshold;
any "worse" exits with 4. --fail-if sets other conditions. With one RUN and the
labels of two of its algorithms, it compares these; with --distribution by all
quantiles of a time, and by how far its distribution functions are apart. That
takes algorithms of several runs as well, each as RUN:ALGORITHM, and compares
all with the last: predictions, say, with what was measured.

A test that finds no difference does not show equivalence. --prove 5% is a
non-inferiority test: it passes only if every 95 % interval excludes a loss of
more than 5 %. docs/how-to/gate.md explains verdicts, tests and conditions.

` + answer.Explain("compare", "0", "1", "2", "4", "5"),
		Example: `  bench compare results/base results/new
  bench compare results/base results/new --fail-if 'election_ms > 10%'
  bench compare results/base results/new --prove 5%
  bench compare results/base results/new --over operations --stat p95
  bench compare results/quickstart/latest bully ring-list --distribution
  bench compare results/base:bully results/new:bully --distribution
  bench compare results/base/trials.csv results/new/trials.csv --alpha 0.01`,
		Args: cobra.ArbitraryArgs,
	}
	judging(c, &q)
	flags := c.Flags()
	flags.StringVar(&q.Over, "over", experiment.Overs[0], "compare `WHAT`: trials, or all operations of them")
	flags.StringVar(&q.Stat, "stat", "", "with --over operations, compare `QUANTILE` alone")
	flags.BoolVar(&q.Distribution, "distribution", false,
		"of two algorithms, compare the distributions of their main time, or of --metrics")
	flags.StringVar(&q.Above, "above", "", "with --distribution, also print the share above `DURATION`")
	flags.StringVar(&q.Figures, "figures", "",
		"with --distribution, also draw both as SVG, PDF and PNG into `DIR`")
	flags.BoolVar(&q.NoFail, "no-fail", false, "only print what changed; exit with 0")
	choices(c, "over", experiment.Overs)
	choices(c, "stat", stats.QuantileNames())
	return s.answering(c, func(args []string) (d *answer.Document, err error) {
		if err = oneOf("over", q.Over, experiment.Overs); err == nil && q.Stat != "" {
			err = oneOf("stat", q.Stat, stats.QuantileNames())
		}
		switch {
		case err != nil:
			return nil, err
		case len(args) == 3 && q.Distribution && !strings.Contains(args[1], ":"):
			return compare.Distributions(args[0], args[1], args[2], q)
		case q.Distribution && len(args) > 1:
			return compare.Samples(args, q)
		case q.Distribution:
			return nil, usage("bench compare --distribution: expected a run and two of its algorithms; or " +
				"algorithms of several runs, each as RUN:ALGORITHM")
		case len(args) == 3:
			return compare.Algorithms(args[0], args[1], args[2], q)
		case len(args) != 2:
			return nil, usage("bench compare: %s, expected two: the base and the new run; or three: a run "+
				"and "+
				"two of its algorithms", console.Plural(len(args), "argument", "arguments"))
		}
		frugal(q.Over == experiment.OverOperations)
		return compare.Runs(args[0], args[1], q)
	})
}

// judging adds the flags that say what is compared, and what fails.
func judging(c *cobra.Command, q *compare.Request) {
	flags, usual := c.Flags(), compare.Usual()
	flags.StringArrayVar(&q.FailIf, "fail-if", nil,
		"fail on `CONDITION`, as 'election_ms > 10%'; repeatable")
	flags.StringVar(&q.FailFrom, "fail-if-from", "", "read such conditions from `FILE`, one per line")
	flags.StringSliceVar(&q.Metrics, "metrics", nil,
		"compare `METRICS`, and show also what did not change; all: every one "+
			"(default: the problem's main ones)")
	flags.StringSliceVar(&q.Ignore, "ignore", nil, "ignore that `COLUMNS` differ, as transport")
	flags.StringArrayVar(&q.Where, "where", nil, "compare only cells where `COLUMN=VALUE`; repeatable")
	flags.Float64Var(&q.Alpha, "alpha", usual.Alpha, "accept a false alarm with probability `P`")
	flags.StringVar(&q.Threshold, "threshold", usual.Threshold,
		"ignore any change below `CHANGE`")
	flags.StringVar(&q.Prove, "prove", "",
		"pass only what is shown to be worse by no more than `CHANGE`")
	flags.BoolVar(&q.Strict, "strict", false, "fail on every changed count, and on what NEW lacks")
}
