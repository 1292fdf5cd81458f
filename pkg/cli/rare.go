package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/commands/launch"
	"github.com/conclave-bench/conclave/internal/commands/progress"
	"github.com/conclave-bench/conclave/internal/commands/rare"
)

// rareFlags are the flags of bench rare.
type rareFlags struct {
	launch.Source
	rare.Request
	quiet bool
}

func (s *streams) rareCommand() *cobra.Command {
	var f rareFlags
	c := &cobra.Command{
		Use:   "rare FILE",
		Short: "Estimate how likely very long outages are, in simulation",
		Long: `Estimate, for each algorithm of FILE, how likely a trial is to have an outage
longer than each of --beyond, down to a probability of 1e-9 and less, where
plain Monte Carlo would never finish. A bare number counts time-outs of the
algorithm; a duration is taken as it is. An outage is what downtime_ms counts.

Multilevel splitting: outages that last longer than most are continued many
times with new draws. The estimate is unbiased; independent replications give
its interval. docs/how-to/rare.md has the method and its limits.

` + answer.Explain("rare", "0", "1", "2", "3", "5", "130, 143"),
		Example: `  bench rare configs/rare.yaml --beyond 2,4 --paths 50
  bench rare configs/rare.yaml --beyond 300ms,600ms --paths 50 --csv rare.csv`,
		Args: cobra.ArbitraryArgs,
	}
	s.sourced(c, &f.Source)
	flags := c.Flags()
	flags.Lookup("transport").Usage = "only `TRANSPORT` sim, which is the default here"
	flags.StringSliceVar(&f.Beyond, "beyond", []string{"2", "4", "6", "8", "10"},
		"estimate outages longer than each of `LIST`: numbers of time-outs, or durations as 2s")
	flags.IntVar(&f.Paths, "paths", 1000, "simulate `N` paths from each level")
	flags.IntVar(&f.Replications, "replications", 10, "repeat the estimate `N` times for its interval")
	flags.IntVar(&f.Workers, "workers", 0, "run `N` replications at a time (default: one per core)")
	flags.StringVar(&f.File, "csv", "", "write the estimates to `FILE`, a row each")
	flags.BoolVar(&f.quiet, "quiet", false, "print only results and errors")
	return s.working(c, func(ctx context.Context, args []string) (*answer.Document, error) {
		return s.rare(ctx, &f, args)
	})
}

func (s *streams) rare(ctx context.Context, f *rareFlags, args []string) (*answer.Document, error) {
	f.Simulates()
	e, err := f.Load(args)
	if err != nil {
		return nil, err
	}
	if !f.quiet {
		f.Progress = progress.Parts(s.err, "replication")
	}
	f.Violated = s.violations()
	d, err := rare.Answer(ctx, e, &f.Request)
	if err != nil {
		return nil, err
	}
	if f.File == "" {
		return d, nil
	}
	return d, writeDocument(f.File, "csv", d)
}
