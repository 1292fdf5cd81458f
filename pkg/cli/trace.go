package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/internal/report/diagram"
	"github.com/conclave-bench/conclave/internal/report/player"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// traceFlags are the flags of bench trace.
type traceFlags struct {
	trial     int
	format    string
	out       string
	window    diagram.Window
	violation bool
	html      bool
}

func (s *streams) traceCommand() *cobra.Command {
	var f traceFlags
	c := &cobra.Command{
		Use:   "trace DIR",
		Short: "Draw the events of a trial",
		Long: `Draw a trial of the run in DIR: a line for each process, and an arrow for each
message. A trial with a trace (trace: all) is drawn from it. A simulated trial
without one is run again.

Formats: svg, a space-time diagram; shiviz, a log with vector clocks;
perfetto, a trace for ui.perfetto.dev; mermaid, a sequence diagram of about a
hundred messages; events, a line for each event with its number. --from and
--to select a time. --event selects what could have caused the event of that
number, and --violation what could have caused the first broken promise.

--html, or --format html, writes a page to step through the trial, with the
state of every process at each event. It opens at --event, or at the first
broken promise with --violation, and holds all events from --from to --to.`,
		Example: `  bench trace results/quickstart/latest --trial 3
  bench trace results/quickstart/latest --trial 3 --from 10ms --out trial-3.svg
  bench trace results/quickstart/latest --trial 3 --event 12 --format mermaid
  bench trace results/quickstart/latest --trial 3 --html
  bench trace results/quickstart/latest --trial 3 --format shiviz --detector`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || f.trial < 0 {
				return usage("bench trace: want a folder of results and --trial N, as " +
					"bench trace results/quickstart/latest --trial 3")
			}
			if f.trial == 0 {
				var err error
				if f.trial, err = onlyTrial(args[0], "trace"); err != nil {
					return err
				}
			}
			return s.trace(c, &f, args[0])
		},
	}
	flags := c.Flags()
	flags.IntVar(&f.trial, "trial", 0, aTrial)
	flags.StringVar(&f.format, "format", diagram.Formats[0],
		"write `FORMAT`: "+strings.Join(diagram.Formats, ", "))
	flags.StringVar(&f.out, "out", "", "write to `FILE` instead of standard output")
	flags.BoolVar(&f.html, "html", false,
		"write a page to step through the trial: trial-N.html, or the FILE of --out")
	flags.DurationVar(&f.window.From, "from", 0, "draw from `TIME` on, as 10ms")
	flags.DurationVar(&f.window.To, "to", 0, "draw until `TIME`, as 60ms")
	flags.IntVar(&f.window.Event, "event", 0, "draw only what could have caused event `N`")
	flags.BoolVar(&f.violation, "violation", false,
		"draw only what could have caused the first broken promise")
	flags.BoolVar(&f.window.Detector, "detector", false, "also draw messages of failure detectors")
	choices(c, "format", diagram.Formats)
	return c
}

func (s *streams) trace(c *cobra.Command, f *traceFlags, path string) error {
	if err := oneOf("format", f.format, diagram.Formats); err != nil {
		return err
	}
	w := &f.window
	if f.html {
		if c.Flags().Changed("format") && f.format != "html" {
			return usage("--html with --format %s: want one of them", f.format)
		}
		if f.format = "html"; f.out == "" {
			f.out = fmt.Sprintf("trial-%d.html", f.trial)
		}
		if err := replaceable("trace", f.out, player.Generator); err != nil {
			return err
		}
	}
	switch {
	case w.From < 0 || w.To < 0 || c.Flags().Changed("to") && w.To <= w.From:
		return usage("--from %v --to %v: want an instant and a later one, as --from 10ms --to 60ms",
			w.From, w.To)
	case c.Flags().Changed("event") && w.Event < 1:
		return usage("--event %d: events count from 1; bench trace %s --trial %d --format events shows them",
			w.Event, path, f.trial)
	case f.violation && w.Event > 0:
		return usage("--event with --violation: each chooses an event; want one of them")
	}
	r, err := s.traced(path, f.trial)
	if err != nil {
		return err
	}
	if f.violation || diagram.Tells(f.format) {
		if note := r.explain(); note != "" {
			s.say("note: " + note)
		}
	}
	if f.violation {
		if w.Event = r.broken(); w.Event == 0 {
			return usage("--violation: no event of trial %d breaks a promise; what is only missing at the "+
				"end, such as a leader, has no event: choose a time with --from", f.trial)
		}
	}
	d, err := diagram.New(r.drawn, *w)
	if err != nil && r.failed != nil {
		return r.failed
	} else if err != nil {
		return usage("trial %d: %v", f.trial, err)
	}
	var out bytes.Buffer
	notes, err := d.Write(&out, f.format)
	if err != nil {
		return err
	}
	for _, note := range notes {
		s.say("note: " + note)
	}
	if err := s.output(f.out, out.Bytes()); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	if f.out != "" {
		s.say("wrote " + f.out)
	}
	return r.failed
}

// A traced trial is one whose records are known.
type traced struct {
	trial *experiment.Trial
	dir   string
	drawn diagram.Trace

	failed error // why it could not be run again to its end; nil: it could
	died   bool  // then: its process did, and would again
}

// traced finds the records of a trial: what was kept of them, or what a simulation
// gives again.
func (s *streams) traced(path string, number int) (*traced, error) {
	e, dir, err := recorded(path)
	if err != nil {
		return nil, err
	}
	t, cell, err := trialOf(e, number)
	if err != nil {
		return nil, err
	}
	r := &traced{trial: t, dir: dir, drawn: diagram.Trace{
		Title: fmt.Sprintf("%s, trial %d: %s, %s, %s", e.Name, number, cell.Algorithm,
			report.Plural(t.Plan.Nodes, "process", "processes"), t.Plan.Scenario.Kind),
		Nodes: t.Plan.Nodes, Leader: uint32(t.Plan.Leader),
	}}
	alg, unknown := algo.Lookup(t.Plan.Algorithm)
	if unknown == nil {
		r.drawn.Room = alg.Spec.Room(t.Plan.Params)
	}
	kept, err := results.ReadTrace(dir, number)
	switch {
	case err == nil:
		r.drawn.Kinds, r.drawn.Records = kept.Kinds, kept.Records
		return r, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case !e.Virtual():
		return nil, fmt.Errorf("trial %d of %s kept no trace, and real nodes do the same only once: "+
			"run it with --set trace=all", number, dir)
	}
	if unknown != nil {
		return nil, unknown
	}
	again, err := s.again(e, t, nil)
	if err != nil {
		return nil, err
	}
	r.drawn.Kinds, r.drawn.Records = alg.Codec.Kinds(), again.records
	r.failed, r.died = again.failure(cell), again.end.Events == 0
	return r, nil
}

// ended is how the trial did, in words; "" if that is not recorded.
func (r *traced) ended() string {
	attempts, err := results.ReadAttempts(r.dir, r.trial.Number)
	if err != nil || len(attempts) == 0 {
		return ""
	}
	last := &attempts[len(attempts)-1]
	if last.Reason == "" {
		return string(last.Status)
	}
	return string(last.Status) + ": " + last.Reason
}

// mostStates bounds the work for the states of a trial: its processes times its records.
const mostStates = 20_000_000

// explain adds what the records do not say: which promises they break, what their messages
// hold and which variables their events change. It returns why that is not all known.
func (r *traced) explain() string {
	r.drawn.Note, r.drawn.Verdict = r.explained(), r.ended()
	return r.drawn.Note
}

func (r *traced) explained() (note string) {
	judged, err := r.trial.Plan.Setup()
	if err != nil {
		return err.Error()
	}
	r.drawn.Breaches = check.Breaches(judged, r.drawn.Records)
	if r.drawn.Nodes*len(r.drawn.Records) > mostStates {
		return "the trial is too large to tell states and what messages hold; bench replay --state does"
	}
	setup, err := r.trial.Plan.Setup()
	if err != nil {
		return err.Error()
	}
	if r.failed != nil && r.died {
		return "what messages hold and the states are not known: " + r.failed.Error()
	}
	found, err := details(setup, r.drawn.Records)
	switch {
	case err != nil:
		if r.failed == nil {
			r.failed = err
		}
		return "what messages hold and the states are not known: " + err.Error()
	case found.Panic != nil && r.failed == nil:
		r.failed = fmt.Errorf("%s could not be run: %w", setup.Algorithm, found.Panic)
		fallthrough
	case len(found.Differences) > 0:
		note = "what messages hold and the states may be wrong: " + found.Differences[0]
	}
	r.drawn.Details = found.Details
	return note
}

// broken is the event, from 1 on, at which a promise was broken for the first time; 0 if
// no event has broken one.
func (r *traced) broken() int {
	if len(r.drawn.Breaches) == 0 {
		return 0
	}
	return r.drawn.Breaches[0].Record + 1
}

// draw draws what led to the first broken promise of a trial, or all of it where no single
// event broke one. Most is how many events around it a page holds at most; 0: as many as it may
// have.
func (r *traced) draw(format string, most int) ([]byte, error) {
	d, err := diagram.New(r.drawn, diagram.Window{Event: r.broken(), Most: most})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	_, err = d.Write(&out, format)
	return out.Bytes(), err
}

// printEvents writes what happened, a line for each record, with its number.
func printEvents(w io.Writer, list trace.List, kinds []string, kept []bool) {
	_ = diagram.WriteEvents(w, list, kinds, kept, nil) // the error stays in w until the end
}
