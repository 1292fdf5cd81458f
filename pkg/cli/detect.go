package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// detectFlags are those of bench plan that ask how many repetitions it takes.
type detectFlags struct {
	by, pilot string
	metrics   []string
}

func (d *detectFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&d.by, "detect", "", "say how many repetitions find a `CHANGE`, as 5%")
	flags.StringVar(&d.pilot, "pilot", "", "for --detect, take the spread from the run in `DIR`, not from "+
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
		return 0, usage("--detect %s: want a percentage between 0%% and 100%%, as 5%%", d.by)
	}
	return by, nil
}

// The pilot that is simulated unless one is given.
const (
	pilotTrials = 30
	longPilot   = 2 * time.Minute
)

// detect works out how many trials it takes, from a pilot.
func (s *streams) detect(ctx context.Context, f *source, args []string, d *detectFlags,
	e *experiment.Experiment, by float64) (*compare.Detection, error) {
	found := &compare.Detection{By: by, Virtual: e.Virtual(), Repetitions: e.Repetitions}
	metrics := metric.Shown(e.Problem, metric.Main)
	if len(d.metrics) > 0 {
		metrics = nil
	}
	for _, name := range d.metrics {
		m := metric.Named(name)
		if m == nil || !m.Applies(e.Problem) {
			return nil, usage("--metrics: no metric %q of %s (docs/results.md has all)", name, e.Problem)
		}
		metrics = append(metrics, m)
	}
	var table *results.Table
	var err error
	if d.pilot != "" {
		table, err = results.Survey(d.pilot)
		found.Pilot = "the run in " + d.pilot
	} else {
		table, err = s.simulatedPilot(ctx, *f, args)
		found.Simulated = true
		found.Pilot = fmt.Sprintf("%d simulated repetitions of each cell", pilotTrials)
	}
	if err != nil {
		return nil, err
	}
	table.Trials = planned(table.Trials, e, &found.Without)
	found.Needs, found.Tests = compare.Needs(table, metrics, by, compare.DefaultAlpha, e.Virtual())
	if len(found.Needs) == 0 {
		return nil, fmt.Errorf("--detect: %s has no value of a metric in the cells of this experiment",
			found.Pilot)
	}
	return found, nil
}

// simulatedPilot runs a few repetitions of the experiment in simulation.
func (s *streams) simulatedPilot(ctx context.Context, f source, args []string) (*results.Table, error) {
	f.transport = "sim"
	own := []string{fmt.Sprintf("repetitions=%d", pilotTrials), "trace=none"}
	f.set = slices.DeleteFunc(slices.Clone(f.set), func(set string) bool {
		key, _, _ := strings.Cut(set, "=")
		return slices.Contains([]string{"transport", "repetitions", "trace"}, key)
	})
	f.set = append(f.set, own...)
	pilot, err := f.load(s, args)
	if err != nil {
		return nil, fmt.Errorf("--detect: no pilot can be simulated: %w; give the folder of a run with "+
			"--pilot", err)
	}
	if _, most := pilot.Estimate(); most > longPilot {
		return nil, usage("--detect: a pilot takes %s in simulation: give the folder of a run with --pilot, "+
			"or plan fewer cells", about(most))
	}
	config, err := pilot.Resolved()
	if err != nil {
		return nil, err
	}
	folder, err := results.InMemory(runner.Header(pilot, nil), config)
	if err != nil {
		return nil, err
	}
	options, err := programs()
	if err != nil {
		return nil, err
	}
	if _, err := runner.Run(ctx, pilot, folder, options); err != nil {
		return nil, fmt.Errorf("--detect: the pilot: %w", err)
	}
	err = folder.EachTrial(func(t *results.Trial) error {
		if t.Status == trace.Failed {
			return fmt.Errorf("--detect: the pilot: %s: a trial could not be run: %s",
				pilot.Cells[t.Cell-1].Algorithm, t.Reason)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return folder.Table()
}

// planned are the trials of a pilot in the cells of the experiment, whatever carried
// their messages.
func planned(trials []results.Trial, e *experiment.Experiment, without *[]string) (out []results.Trial) {
	d := designOf(e)
	for i := range e.Cells {
		design := slices.DeleteFunc(slices.Clone(e.Cells[i].Design), func(f metric.Field) bool {
			return f.Name == "transport"
		})
		before := len(out)
		for _, t := range trials {
			if metric.Where(design).Covers(t.Design) {
				out = append(out, t)
			}
		}
		if len(out) == before {
			*without = append(*without, strings.Join(append([]string{e.Cells[i].Label},
				d.values(&e.Cells[i])...), " "))
		}
	}
	return out
}
