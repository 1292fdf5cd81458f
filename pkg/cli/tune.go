package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/commands/launch"
	"github.com/conclave-bench/conclave/internal/commands/outcome"
	"github.com/conclave-bench/conclave/internal/commands/progress"
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
		Short: "Find the fastest time-outs at an equal false-election rate",
		Long: `Find, for each algorithm of FILE, the time-out and heartbeat interval that
replace a crashed leader fastest with at most --budget false elections per hour
and at most --messages messages per second. False is an election while every
process is up and the leader reachable. Small budgets take long: 1000 takes
seconds to minutes in simulation, and 1 many minutes.

A new folder in --out gets every setting measured (` + tune.PointsFile + `), Pareto fronts, and
` + tune.ExperimentFile + `, an experiment that compares the algorithms at an equal
false-election rate. docs/how-to/tuning.md has the method.

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
	flags.Float64Var(&f.Precision, "precision", 0.3,
		"stop when the rate of a setting within the budget is known to this `SHARE` of it")
	flags.Float64SliceVar(&f.Messages, "messages", nil, "send `M,...` messages per second at most, a search "+
		"for each (default: the mean of what the algorithms of FILE send, 4 times that, and 1/4)")
	flags.BoolVar(&f.Keep, "keep-intervals", false, "leave intervals between heartbeats as FILE has them, "+
		"and do not limit messages")
	flags.BoolVar(&f.InModel, "in-model", false,
		"leave out settings with which an algorithm is out of its model")
	flags.Float64Var(&f.Hours, "hours", 0,
		"run the settings of a search quietly for `H` hours at most, all together (default: 200 / R, but "+
			"48 at most, and 10 / R at least)")
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
	violations, waiting := 0, progress.Shares(io.Discard)
	f.Run = tune.Runs(options, func(label string, t *results.Trial) {
		if violations++; violations <= outcome.MostTold {
			s.say(fmt.Sprintf("violation: %s, seed %d: %s", label, t.Seed, t.Reason))
		}
	}, func() { waiting.Tick() })
	if !f.quiet {
		waiting = progress.Shares(s.err)
		f.Share = waiting.Tell
		s.overridden(runner.Header(e, nil).Overrides, true)
		f.Told = func(c *tune.Contender, p *tune.Point) {
			fmt.Fprintf(s.aside(), "%s %s: %s\n", c.Label, p.Settings, p.Progress(c))
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
