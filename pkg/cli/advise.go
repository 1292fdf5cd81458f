package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/commands/advise"
	"github.com/conclave-bench/conclave/internal/commands/progress"
	"github.com/conclave-bench/conclave/internal/commands/tune"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

func (s *streams) adviseCommand() *cobra.Command {
	q := advise.Request{Effort: advise.Usual}
	var quiet bool
	c := &cobra.Command{
		Use:   "advise SYSTEM",
		Short: "Find the settings of etcd, Consul or others for a network",
		Long: `Find the settings with which SYSTEM replaces a dead leader fastest on your
network with at most --false false elections, and print them in the system's
own words. Each setting is simulated: the outage when the leader dies, and the
false elections in a year, while every member is up.

` + console.Wrap("SYSTEM is one of "+strings.Join(advise.Names(), ", ")+
			". docs/how-to/advise.md shows how to measure a network.", 0) + `

` + answer.Explain("advise", "0", "1", "2", "130, 143"),
		Example: `  bench advise etcd --rtt 12ms --loss 0.001
  bench advise consul --nodes 5 --pings pings --false 1/month --why
  bench advise openshift --rtt 5ms --away 60s --clocks 30s --html advice.html`,
		Args: cobra.ArbitraryArgs,
	}
	adviseFlags(c.Flags(), &q)
	c.Flags().BoolVar(&quiet, "quiet", false, "print only results and errors")
	return s.working(c, func(ctx context.Context, args []string) (*answer.Document, error) {
		if len(args) != 1 {
			return nil, usage("bench advise: %d systems, expected one of %s", len(args),
				strings.Join(advise.Names(), ", "))
		}
		q.System = args[0]
		if !quiet {
			q.Share = progress.Shares(s.err).Tell
		}
		if q.Check > 0 {
			options, err := programs()
			if err != nil {
				return nil, err
			}
			q.Run = realCrashes(options)
		}
		d, page, err := advise.Answer(ctx, &q)
		if page != nil && err == nil {
			if err = files.Write(q.HTML, page); err == nil {
				d.Say("page: " + q.HTML)
			}
		}
		return d, err
	})
}

// realCrashes runs experiments, and returns a metric of their trials. What the machine has spoilt has none.
func realCrashes(options runner.Options) advise.Run {
	run := tune.Runs(options, func(string, *results.Trial) {}, func() {})
	return func(ctx context.Context, e *experiment.Experiment, of *metric.Metric) (out []float64, err error) {
		trials, err := run(ctx, e)
		for i := range trials {
			if v, kind := trials[i].Observe(of.Name); kind == results.Observed {
				out = append(out, v)
			}
		}
		return out, err
	}
}

// adviseFlags are what is said about the members, their network and what they may cost.
func adviseFlags(flags *pflag.FlagSet, q *advise.Request) {
	flags.IntVar(&q.Nodes, "nodes", 3, "advise `N` members; the store of a lease is not one of them")
	flags.StringVar(&q.Pings, "pings", "", "the network is in `FOLDER`: a file for each pair, as 1-2.txt, "+
		"with the output of ping or mtr --raw; of a lease, 1 is the store")
	flags.StringVar(&q.Table, "table", "", "the network is in `FILE`: a column for each pair, as 1-2, of "+
		"round trips in ms, empty where one was lost")
	flags.DurationVar(&q.Every, "every", 0, "between two pings of a record `D` passed (default: 1s)")
	flags.StringVar(&q.Matrix, "matrix", "", "the network is in `FILE`: round trips in ms, a row and a "+
		"column for each member")
	flags.StringSliceVar(&q.Places, "places", nil, "the members are in `LIST`: regions, as "+
		"ireland,virginia, or cities (\"bench list cities\")")
	flags.DurationVar(&q.RoundTrip, "rtt", 0, "the round trip between any two members is `D`, in the median")
	flags.Float64Var(&q.Jitter, "jitter", -1, "delays vary by `SIGMA`, the standard deviation of their "+
		"logarithm (default: 0.1, or as recorded)")
	flags.Float64Var(&q.Loss, "loss", 0, "`P` is the probability that a message is lost")
	flags.StringVar(&q.Fsync, "fsync", "", "writes take as long as in `FILE`: fio's JSON, the output of "+
		"etcd's benchmark, or a time in each line")
	flags.StringVar(&q.Pauses, "pauses", "", "members pause for as long as in `FILE`, a length in each line")
	flags.DurationVar(&q.PausesOver, "pauses-over", 0, "a member had the pauses in `D`, as 24h")
	flags.StringVar(&q.False, "false", "", "allow false elections at a `RATE`, as 2/month (default: 1/year, "+
		"unless --minutes limits them)")
	flags.Float64Var(&q.Minutes, "minutes", 0, "allow `M` minutes a year without a leader by false elections")
	flags.DurationVar(&q.Outage, "outage", 0, "99 of 100 outages may last `D` at most")
	flags.DurationVar(&q.Away, "away", -1, "of a lease: the store may be away for `D` (default: as long as "+
		"by the system's defaults)")
	flags.DurationVar(&q.Clocks, "clocks", -1, "of a lease: clocks may be `D` apart (default: likewise)")
	for name, preset := range map[string]string{"jitter": "0", "away": "0s", "clocks": "0s"} {
		flags.Lookup(name).DefValue = preset // which help leaves out: it says what follows
	}
	flags.Float64Var(&q.Messages, "messages", 1, "allow `X` times as many messages as with the defaults")
	flags.IntVar(&q.Check, "check", 0, "with bench-systems: crash the leader of the real system with the "+
		"advice `N` times, and say how far off the prediction was")
	flags.Lookup("check").NoOptDefVal = strconv.Itoa(advise.UsualCrashes)
	flags.BoolVar(&q.Why, "why", false, "say what the outages are made of")
	flags.StringVar(&q.HTML, "html", "", "write a page with a slider for the budget to `FILE`")
	flags.Uint64Var(&q.Seed, "seed", 1, "draw by seed `N`")
	flags.IntVar(&q.Workers, "workers", 0, "run `N` trials at a time (default: one per core)")
}
