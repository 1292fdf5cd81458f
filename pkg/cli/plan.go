package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/commands/launch"
	"github.com/conclave-bench/conclave/internal/commands/plan"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/runner"
)

func (s *streams) planCommand() *cobra.Command {
	var f launch.Source
	var resolved bool
	var d detectFlags
	c := &cobra.Command{
		Use:   "plan [FILE]",
		Short: "Check an experiment and show what it would run",
		Long: `Check an experiment, report every error in it, and show its cells: what would
run, how many trials, and how long they take. Nothing is run.

With --detect 5%, also print how many repetitions bench compare needs to find a
loss of 5 % with a power of 80 %. The variance comes from --pilot, a run, or
from a few simulated repetitions, which lack a machine's noise.`,
		Example: `  bench plan configs/quickstart.yaml
  bench plan configs/quickstart.yaml --set nodes=50 --json
  bench plan configs/quickstart.yaml --detect 5%
  bench plan --algorithms bully --nodes 3,5,9 --resolved`,
		Args: cobra.ArbitraryArgs,
	}
	s.sourced(c, &f)
	d.register(c)
	c.Flags().BoolVar(&resolved, "resolved", false,
		"print the experiment with every default written out instead")
	return s.answering(c, func(args []string) (*answer.Document, error) {
		by, err := d.change()
		if err != nil {
			return nil, err
		}
		e, err := f.Load(args)
		if err != nil {
			return nil, err
		}
		s.overridden(runner.Header(e, nil).Overrides, true)
		if resolved {
			config, err := e.Resolved()
			d := answer.New("plan", "The experiment "+e.Name)
			d.Add(answer.File{Name: "experiment", Text: string(config)})
			return d, err
		}
		var found *plan.Detection
		if by > 0 {
			if found, err = s.detect(c.Context(), &f, args, &d, e, by); err != nil {
				return nil, err
			}
		}
		return plan.Document(e, found), nil
	})
}

// detectFlags are those of bench plan that ask how many repetitions it takes.
type detectFlags struct {
	by, pilot string
	metrics   []string
}

func (d *detectFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&d.by, "detect", "", "say how many repetitions find a `CHANGE`, as 5%")
	flags.StringVar(&d.pilot, "pilot", "", "for --detect, take the variance from the run in `DIR`, not from "+
		"a simulation")
	flags.StringSliceVar(&d.metrics, "metrics", nil, "for --detect, of `METRICS` (default: the main ones)")
}

// change is the part that is to be detected; 0: nothing is.
func (d *detectFlags) change() (float64, error) {
	if d.by == "" {
		if d.pilot != "" || len(d.metrics) > 0 {
			return 0, usage("--pilot and --metrics go with --detect CHANGE, as --detect 5%%")
		}
		return 0, nil
	}
	by, err := compare.ReadShare(d.by)
	if err != nil || by == 0 || by >= 1 {
		return 0, usage("--detect %s: expected a percentage between 0%% and 100%%, as 5%%", d.by)
	}
	return by, nil
}

// detect asks how many trials find a change.
func (s *streams) detect(ctx context.Context, f *launch.Source, args []string, d *detectFlags,
	e *experiment.Experiment, by float64) (*plan.Detection, error) {
	options, err := programs()
	if err != nil {
		return nil, err
	}
	return plan.Detect(ctx, e, &plan.Question{By: by, Metrics: d.metrics, Pilot: d.pilot, Options: options,
		Load: func(settings []string) (*experiment.Experiment, error) {
			pilot := *f
			pilot.Transport = "sim"
			pilot.Set = slices.DeleteFunc(slices.Clone(f.Set), func(set string) bool {
				key, _, _ := strings.Cut(set, "=")
				return slices.Contains([]string{"transport", "repetitions", "trace"}, key)
			})
			pilot.Set = append(pilot.Set, settings...)
			return pilot.Load(args)
		}})
}
