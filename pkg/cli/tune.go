package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/commands/launch"
	"github.com/conclave-bench/conclave/internal/commands/outcome"
	"github.com/conclave-bench/conclave/internal/commands/tune"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// tuneFlags are the flags of bench tune.
type tuneFlags struct {
	launch.Source
	tune.Options
	out   string
	quiet bool
}

func (s *streams) tuneCommand() *cobra.Command {
	var f tuneFlags
	c := &cobra.Command{
		Use:   "tune [FILE]",
		Short: "Find each algorithm's fastest time-outs at equal mistakes",
		Long: `Find, for each algorithm of the experiment in FILE, the time-out with which it
replaces a crashed leader the soonest while it makes no more false elections
per hour than --budget. False is an election that nothing called for: every
process was up, and the leader in reach. What is tuned is the algorithm's own
time-out (bench describe ID), or else that of its failure detector. Everything
else stays as FILE has it, heartbeat intervals too, which are a cost.

Each setting is measured twice: in crashes of the leader, and in quiet running
until the interval of the rate of mistakes is on one side of the budget. That
takes five hours per false election allowed at least, in simulation seconds.
Simulated, unless --transport nats runs real processes.

A new folder in --out gets ` + tune.PointsFile + ` with every setting that was measured, the
Pareto front of downtime and mistakes as a figure, and ` + tune.ExperimentFile + `: an
experiment for bench run that compares the algorithms at equal mistakes.

` + answer.Explain("tune", "0", "1", "2", "3", "5", "130, 143"),
		Example: `  bench tune configs/tuning.yaml --budget 1000
  bench tune configs/tuning.yaml --budget 1000 --span 4 --json`,
		Args: cobra.ArbitraryArgs,
	}
	s.sourced(c, &f.Source)
	flags := c.Flags()
	flags.Lookup("transport").Usage = "measure on `TRANSPORT`: sim in simulation (the default), nats on " +
		"real processes"
	flags.Float64Var(&f.Budget, "budget", 1, "allow `R` false elections per hour")
	flags.Float64Var(&f.Hours, "hours", 0,
		"run a setting quietly for `H` hours at most (default: 21.2 / R, and of that a quarter decides)")
	flags.Float64Var(&f.Span, "span", 16, "search from 1/`X` to X times the time-out of FILE")
	flags.Float64SliceVar(&f.Spreads, "spread", []float64{0.25, 0.5, 1},
		"try `SHARES` of a time-out as its random part, where it has one")
	flags.StringVar(&f.out, "out", "results", "write into a new folder in `DIR`")
	flags.BoolVar(&f.quiet, "quiet", false, "print only results and errors")
	return s.working(c, func(ctx context.Context, args []string) (*answer.Document, error) {
		return s.tune(ctx, &f, args)
	})
}

func (s *streams) tune(ctx context.Context, f *tuneFlags, args []string) (*answer.Document, error) {
	f.Simulates()
	if err := f.Check(f.Transport); err != nil {
		return nil, err
	}
	e, err := f.Load(args)
	if err != nil {
		return nil, err
	}
	if _, err := tune.Contenders(e); err != nil {
		return nil, asUsage(err)
	}
	dir, err := results.NewFolder(f.out, e.Name+"-tune")
	if err != nil {
		return nil, err
	}
	options, err := programs()
	if err != nil {
		return nil, err
	}
	violations := 0
	f.Run = tune.Runs(options, func(label string, t *results.Trial) {
		if violations++; violations <= outcome.MostTold {
			s.say(fmt.Sprintf("violation: %s, seed %d: %s", label, t.Seed, t.Reason))
		}
	})
	if !f.quiet {
		s.overridden(runner.Header(e, nil).Overrides, true)
		f.Told = func(c *tune.Contender, p *tune.Point) {
			fmt.Fprintf(s.aside(), "%s %s: %s\n", c.Label, p.Settings, p.Progress())
		}
	}
	d, err := tune.Answer(ctx, e, f.Options, dir, strings.Join(s.argv, " "))
	if err != nil {
		return nil, asUsage(err)
	}
	if violations > 0 {
		d.Exit = Violated
	}
	return d, nil
}

// asUsage reports what cannot be tuned as a usage error.
func asUsage(err error) error {
	var refusal *tune.Refusal
	if errors.As(err, &refusal) {
		return usage("bench tune: %s", refusal.Error())
	}
	return err
}
