package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/commands/catalog"
	"github.com/conclave-bench/conclave/internal/commands/explore"
	"github.com/conclave-bench/conclave/internal/commands/explore/search"
	"github.com/conclave-bench/conclave/internal/commands/progress"
)

// costWords are the words of --maximise for what is asked most.
var costWords = []string{"downtime_ms", "messages", "bypass", "outage"}

func (s *streams) exploreCommand() *cobra.Command {
	var q search.Request
	var mode string
	var quiet, exhaustive bool
	c := &cobra.Command{
		Use:   "explore ID",
		Short: "Search for a schedule that violates a promise",
		Long: `Search schedules and faults in simulation for a violation. It is reduced to a
minimal schedule, printed, and saved as an experiment for bench run. Only
faults that the algorithm claims to survive are injected; violations under
--faults all are no error. The same seed gives the same result.

--maximise searches for the most expensive schedule instead: a lower bound of
the worst case. --exhaustive visits every schedule of the smallest systems, up
to equal states.

` + answer.Explain("explore", "0", "1", "2", "3", "130, 143"),
		Example: `  bench explore mutex/naimi-trehel --schedules 2000
  bench explore ring-list --faults all --rule highest --schedules 200
  bench explore naimi-trehel --maximise messages --schedules 300
  bench explore naimi-trehel --exhaustive`,
		Args: cobra.ArbitraryArgs,
	}
	exploreFlags(c, &q, &mode, &quiet, &exhaustive)
	return s.answering(c, func(args []string) (*answer.Document, error) {
		if len(args) != 1 {
			return nil, usage("bench explore: %d algorithms, expected one (\"bench list\" shows "+
				"all)", len(args))
		}
		alg, err := catalog.Simulated(args[0])
		if err != nil {
			return nil, err
		}
		if exhaustive {
			c.Flags().Visit(func(given *pflag.Flag) {
				if !slices.Contains([]string{"exhaustive", "format", "json", "quiet"}, given.Name) &&
					c.InheritedFlags().Lookup(given.Name) == nil { // those name plugins
					err = usage("--%s means nothing with --exhaustive; leave one out", given.Name)
				}
			})
			if err != nil {
				return nil, err
			}
			busy, done := func(string) {}, func() {}
			if !quiet {
				busy, done = s.busy()
			}
			defer done()
			return search.Exhaust(alg, busy)
		}
		if err := exploreWords(c, &q, mode); err != nil {
			return nil, err
		}
		if quiet {
			mode = silent
		}
		ctx, stop := s.interruptible(context.Background())
		defer stop()
		p := s.progress().Search(mode, q.Schedules, q.Time)
		defer p.Close()
		q.Progress = p.Tell
		return q.Answer(ctx, alg)
	})
}

func exploreFlags(c *cobra.Command, q *search.Request, mode *string, quiet, exhaustive *bool) {
	flags := c.Flags()
	flags.Uint64Var(&q.Schedules, "schedules", 0, "try `N` schedules (default: as many as --time allows)")
	flags.DurationVar(&q.Time, "time", 0, "search for `D` (default: 1m, or until --schedules are tried)")
	flags.IntVar(&q.Workers, "workers", 0, "try `N` schedules at a time (default: one per core)")
	flags.Uint64Var(&q.Seed, "seed", 1, "draw the search from seed `N`")
	flags.StringVar(&q.Nodes, "nodes", "", "use `N` processes, or one of several as 3,5 (default: 2 to 9)")
	flags.DurationVar(&q.Latency, "latency", 0, "use `D` as the largest latency (default: several)")
	flags.StringArrayVar(&q.Params, "params", nil, "set a parameter with `NAME=VALUE`; repeatable")
	flags.StringVar(&q.Faults, "faults", string(explore.Survived),
		"inject faults `WHICH`: "+strings.Join(search.FaultModes, ", "))
	flags.StringVar(&q.Rule, "rule", "", "look only for violations of `RULE` (default: any)")
	flags.StringVar(&q.Maximise, "maximise", "", "look for the schedule with the highest `METRIC`: "+
		strings.Join(costWords, ", ")+", or any column of times or counts")
	flags.IntVar(&q.Events, "events", 0, "with --maximise: at most `N` events, besides delays (default: any)")
	flags.StringVar(&q.Out, "out", "", "save a finding to `FILE` (default: explore-NAME.yaml)")
	flags.BoolVar(quiet, "quiet", false, "print only results and errors")
	flags.StringVar(mode, "progress", "auto",
		"show progress on standard error as `MODE`: "+strings.Join(progress.Modes, ", "))
	flags.BoolVar(exhaustive, "exhaustive", false, "visit every schedule of the smallest systems")
	choices(c, "faults", search.FaultModes)
	choices(c, "rule", explore.Rules())
	choices(c, "progress", progress.Modes)
}

// exploreWords refuses flags whose value is none of a few, or no number of anything.
func exploreWords(c *cobra.Command, q *search.Request, mode string) error {
	flags := c.Flags()
	switch {
	case q.Schedules == 0 && flags.Changed("schedules"):
		return usage("--schedules 0, expected 1 or more")
	case q.Time <= 0 && flags.Changed("time"):
		return usage("--time %v, expected a duration above 0, as 30s", q.Time)
	}
	err := oneOf("faults", q.Faults, search.FaultModes)
	if err == nil {
		err = oneOf("progress", mode, progress.Modes)
	}
	if err == nil && q.Rule != "" {
		err = oneOf("rule", q.Rule, explore.Rules())
	}
	return err
}
