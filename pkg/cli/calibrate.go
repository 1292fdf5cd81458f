package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/files"
	"github.com/conclave-bench/conclave/internal/twin"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func (s *streams) calibrateCommand() *cobra.Command {
	var quiet bool
	var handling, label string
	c := &cobra.Command{
		Use:   "calibrate [FILE]",
		Short: "Fit what handling costs in simulation to this machine",
		Long: `Run short loads on real nodes for about ten seconds, fit to them what handling
costs on this machine, and write that to FILE (default: standard output). An
experiment names it, as costs: {file: FILE}, and its simulated times are then
closer to those of real nodes. docs/twin.md has the model.

The machine should be as busy as it will be when real trials run.

With --handling RUN, the costs also have what an algorithm's own handlers take,
for each message that it handles, by handling_ms of that run on real nodes. If
RUN has several algorithms, --label says which.

` + exitHelp("calibrate", "0", "1", "2", "130, 143"),
		Example: `  bench calibrate calibration.yaml
  bench calibrate heavy.yaml --handling results/slow/latest --label heavy`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			var own time.Duration
			if handling != "" {
				var err error
				if own, err = handlingOf(handling, label); err != nil {
					return err
				}
			}
			return s.calibrate(slices.Concat(args, []string{""})[0], own, quiet)
		},
	}
	c.Flags().StringVar(&handling, "handling", "",
		"fit the time in an algorithm's handlers to `RUN`, on real nodes")
	c.Flags().StringVar(&label, "label", "", "the `LABEL` of that algorithm, if RUN has several")
	c.Flags().BoolVar(&quiet, "quiet", false, "print only results and errors")
	return c
}

// handlingOf is what the handlers of an algorithm took for each message, in a run on real nodes: all their
// time, that for timers and requests included, over the messages.
func handlingOf(run, label string) (time.Duration, error) {
	t, err := results.ReadTable(run)
	if err != nil {
		return 0, err
	}
	took, messages, labels := 0.0, int64(0), map[string]bool{}
	for i := range t.Trials {
		trial := &t.Trials[i]
		have := ""
		for _, f := range trial.Design {
			if f.Name == "label" {
				have = f.Value
			}
		}
		if label != "" && have != label || trial.Status != trace.OK {
			continue
		}
		if ms, known := trial.Figure(metric.Handling.Name); known && ms >= 0 {
			took, messages, labels[have] = took+ms, messages+trial.Count(metric.Delivered), true
		}
	}
	switch {
	case len(labels) > 1:
		return 0, usage("%s has several algorithms (%s): say which with --label", run,
			strings.Join(slices.Sorted(maps.Keys(labels)), ", "))
	case messages == 0 && label != "":
		return 0, usage("%s has no trial of %q on real nodes, with status ok and messages: "+
			"handling_ms says nothing", run, label)
	case messages == 0:
		return 0, usage("%s has no trial on real nodes, with status ok and messages: handling_ms says "+
			"nothing", run)
	}
	each := time.Duration(took / float64(messages) * float64(time.Millisecond))
	return each.Round(100 * time.Nanosecond), nil
}

func (s *streams) calibrate(file string, handling time.Duration, quiet bool) error {
	begun := time.Now()
	disk, err := fsyncs(filepath.Dir(file))
	if err != nil {
		return err
	}
	trials, err := s.loads(quiet)
	if err != nil {
		return err
	}
	fit, err := twin.Of(trials, runtime.NumCPU())
	if err != nil {
		return err
	}
	fit.Costs.Handling = handling
	comment := fmt.Sprintf("What handling costs, by \"bench calibrate\" on a machine with %d "+
		"processors, %s.\n"+
		"From %d trials, %d events that were handled right after another, %d wake-ups.\n",
		runtime.NumCPU(), begun.UTC().Format(time.DateTime+" MST"), len(trials), fit.Handled, fit.Woken)
	for _, l := range fit.Lateness {
		comment += fmt.Sprintf("Messages of %s were late by (p50, p75, p90) %v, with these costs %v.\n",
			l.Load, l.Real, l.Twin)
	}
	comment += fmt.Sprintf("A write to this disk takes as follows. Real nodes do not wait for it; to have "+
		"simulated ones\ndo so, add save: %s", disk.Literal())
	text := experiment.CostsFile(comment, &fit.Costs)
	if file == "" {
		_, err = s.out.Write(text)
		return err
	}
	if err := files.Write(file, text); err != nil {
		return err
	}
	if !quiet {
		fmt.Fprintf(s.aside(), "%s: written after %.1f s\n", file, time.Since(begun).Seconds())
	}
	return nil
}

// loads runs what a calibration looks at.
func (s *streams) loads(quiet bool) (trials []twin.Trial, err error) {
	for i := range twin.Loads {
		load := &twin.Loads[i]
		if !quiet {
			fmt.Fprintf(s.aside(), "%s\n", load.Name)
		}
		e, err := load.Experiment()
		if err != nil {
			return nil, err
		}
		for _, t := range e.Trials() {
			r, err := s.again(e, &t, nil)
			if err != nil {
				return nil, err
			}
			if r.verdict.Status == trace.OK {
				trials = append(trials, twin.Trial{Load: load.Name, Plan: t.Plan, Records: r.records})
			}
		}
	}
	return trials, nil
}

// fsyncs is how long it takes to have some bytes on the disk of a folder.
func fsyncs(dir string) (l link.Latency, err error) {
	f, err := os.CreateTemp(dir, ".calibrate-*")
	if err != nil {
		return l, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	var took []time.Duration
	for range 50 {
		begun := time.Now()
		if _, err = f.Write(make([]byte, 64)); err == nil {
			err = f.Sync()
		}
		if err != nil {
			return l, err
		}
		took = append(took, time.Since(begun).Round(time.Microsecond))
	}
	slices.Sort(took)
	l.Distribution = "quantiles"
	for i := 2; i < len(took); i += 5 {
		l.Values = append(l.Values, took[i])
	}
	return l, nil
}
