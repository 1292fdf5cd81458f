package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/commands/twin"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func (s *streams) calibrateCommand() *cobra.Command {
	var quiet bool
	var handling, label string
	c := &cobra.Command{
		Use:   "calibrate [FILE]",
		Short: "Fit the simulator's message-handling costs to this machine",
		Long: `Run short loads on real nodes for about ten seconds, fit the simulator's
message-handling costs to this machine, and write them to FILE (default:
standard output). With costs: {file: FILE} in an experiment, simulated times
are closer to those of real nodes. Keep the machine as busy as it will be when
real trials run.

With --handling RUN, the costs include the time in an algorithm's own handlers,
fitted to handling_ms of that run on real nodes. docs/explanation/twin.md has
the model.

` + answer.Explain("calibrate", "0", "1", "2", "130, 143"),
		Example: `  bench calibrate calibration.yaml
  bench calibrate heavy.yaml --handling results/slow/latest --label heavy`,
		Args: cobra.MaximumNArgs(1),
	}
	c.Flags().StringVar(&handling, "handling", "",
		"fit the time in an algorithm's handlers to `RUN`, on real nodes")
	c.Flags().StringVar(&label, "label", "", "the `LABEL` of that algorithm, if RUN has several")
	c.Flags().BoolVar(&quiet, "quiet", false, "print only results and errors")
	return s.answering(c, func(args []string) (d *answer.Document, err error) {
		var own time.Duration
		if handling != "" {
			if own, err = twin.HandlingOf(handling, label); err != nil {
				return nil, err
			}
		}
		return s.calibrate(strings.Join(args, ""), own, quiet)
	})
}

func (s *streams) calibrate(file string, handling time.Duration, quiet bool) (*answer.Document, error) {
	begun, again := time.Now(), s.again("")
	text, err := twin.Calibrate(file, handling,
		func(e *experiment.Experiment, t *experiment.Trial) (trace.List, trace.Status, error) {
			r, err := again(e, t)
			if err != nil {
				return nil, "", err
			}
			return r.Records, r.Verdict.Status, nil
		}, func(load string) {
			if !quiet {
				fmt.Fprintln(s.aside(), load)
			}
		})
	if err != nil {
		return nil, err
	}
	d := answer.New("calibrate", "Message-handling costs of this machine")
	if file == "" {
		d.Add(answer.File{Name: "costs", Text: string(text)})
		return d, nil
	}
	if err := files.Write(file, text); err != nil {
		return nil, err
	}
	if !quiet {
		fmt.Fprintf(s.aside(), "%s: written after %.1f s\n", file, time.Since(begun).Seconds())
	}
	d.Add(answer.File{Name: "costs", Path: file})
	return d, nil
}
