package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/report/player"
	"github.com/conclave-bench/conclave/internal/commands/replay"
)

// traceFlags are the flags of bench trace.
type traceFlags struct {
	replay.Drawing
	out  string
	html bool

	inJSON func() error
}

func (s *streams) traceCommand() *cobra.Command {
	var f traceFlags
	c := &cobra.Command{
		Use:   "trace DIR",
		Short: "Draw the events of a trial",
		Long: `Draw a trial of the run in DIR: a line for each process, and an arrow for each
message. The trial needs a trace (trace: all) or has to be simulated. --from and
--to select a time; --event and --violation select what could have caused an
event or the first violation. --html writes a page to step through the trial,
with the state of every process at each event.

Formats: svg, a space-time diagram; shiviz, a log with vector clocks; perfetto,
for ui.perfetto.dev; mermaid, a sequence diagram; events, a line for each event;
json, csv, markdown and latex, the events as a table; html.`,
		Example: `  bench trace results/quickstart/latest --trial 3
  bench trace results/quickstart/latest --trial 3 --from 10ms --out trial-3.svg
  bench trace results/quickstart/latest --trial 3 --event 12 --format mermaid
  bench trace results/quickstart/latest --trial 3 --html
  bench trace results/quickstart/latest --trial 3 --format shiviz --detector`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || f.Number < 0 {
				return usage("bench trace: expected a folder of results and --trial N, as " +
					"bench trace results/quickstart/latest --trial 3")
			}
			if f.Number == 0 {
				var err error
				if f.Number, err = replay.Only(args[0], "trace"); err != nil {
					return err
				}
			}
			return s.trace(c, &f, args[0])
		},
	}
	f.inJSON = jsonFlag(c, &f.Format)
	flags := c.Flags()
	flags.IntVar(&f.Number, "trial", 0, aTrial)
	flags.StringVar(&f.Format, "format", replay.Formats[0],
		"write `FORMAT`: "+strings.Join(replay.Formats, ", "))
	flags.StringVar(&f.out, "out", "", "write to `FILE` instead of standard output")
	flags.BoolVar(&f.html, "html", false,
		"write a page to step through the trial: trial-N.html, or the FILE of --out")
	flags.DurationVar(&f.Window.From, "from", 0, "draw from `TIME` on, as 10ms")
	flags.DurationVar(&f.Window.To, "to", 0, "draw until `TIME`, as 60ms")
	flags.IntVar(&f.Window.Event, "event", 0, "draw only what could have caused event `N`")
	flags.BoolVar(&f.Violation, "violation", false,
		"draw only what could have caused the first broken promise")
	flags.BoolVar(&f.Window.Detector, "detector", false, "also draw messages of failure detectors")
	choices(c, "format", replay.Formats)
	return c
}

func (s *streams) trace(c *cobra.Command, f *traceFlags, path string) error {
	if err := f.inJSON(); err != nil {
		return err
	}
	if err := oneOf("format", f.Format, replay.Formats); err != nil {
		return err
	}
	w := &f.Window
	if f.html {
		if c.Flags().Changed("format") && f.Format != "html" {
			return usage("--html with --format %s: leave one of them out", f.Format)
		}
		if f.Format = "html"; f.out == "" {
			f.out = fmt.Sprintf("trial-%d.html", f.Number)
		}
		if err := replaceable("trace", f.out, player.Generator); err != nil {
			return err
		}
	}
	switch {
	case w.From < 0 || w.To < 0 || c.Flags().Changed("to") && w.To <= w.From:
		return usage("--from %v --to %v: expected an instant and a later one, as --from 10ms --to 60ms",
			w.From, w.To)
	case c.Flags().Changed("event") && w.Event < 1:
		return usage("--event %d: events count from 1; bench trace %s --trial %d --format events shows them",
			w.Event, path, f.Number)
	case f.Violation && w.Event > 0:
		return usage("--event with --violation: each chooses an event; leave one of them out")
	}
	drawn, err := f.Draw(path, s.again(""))
	if drawn == nil {
		return err
	}
	for _, note := range drawn.Notes {
		s.say("note: " + note)
	}
	if err := s.output(f.out, drawn.Text); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	if f.out != "" {
		s.say("wrote " + f.out)
	}
	return err
}
