package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answer"
	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/outcome"
	"github.com/conclave-bench/conclave/internal/program"
	"github.com/conclave-bench/conclave/internal/reproduce"
	"github.com/conclave-bench/conclave/internal/transport"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// reproduceFlags are the flags of bench reproduce.
type reproduceFlags struct {
	papers, transport, out string
	list, quick, markdown  bool
}

func (s *streams) reproduceCommand() *cobra.Command {
	var f reproduceFlags
	c := &cobra.Command{
		Use:   "reproduce [NAME...]",
		Short: "Reproduce published results",
		Long: `Run the experiment of each study, or of those named, and compare published
statements with theory and measurement. Measured figures have a 95 % interval,
or are what all trials have in common. A verdict is "holds", "within" so many
percent, "refuted", or "undecided" if there are too few trials. A study that
expects a refutation says why.

With --transport nats, the studies that are small enough run on real
processes. --quick cuts the long ones down to a second or two.

` + exitHelp("reproduce", "0", "1", "2", "3", "4", "130, 143"),
		Example: `  bench reproduce --list
  bench reproduce bully-best
  bench reproduce --quick --markdown`,
		Args: cobra.ArbitraryArgs,
	}
	flags := c.Flags()
	flags.StringVar(&f.papers, "papers", "configs/papers", "read the studies from `DIR`")
	flags.StringVar(&f.transport, "transport", transport.Sim.Name,
		"run on `TRANSPORT`: sim in simulation, nats on real processes, few of them")
	flags.StringVar(&f.out, "out", "results", "write each run into a folder of its own in `DIR`")
	flags.BoolVar(&f.list, "list", false, "list the studies and run nothing")
	flags.BoolVar(&f.quick, "quick", false, "cut long runs down; a few statements stay undecided")
	flags.BoolVar(&f.markdown, "markdown", false, "print the page docs/reproduced.md")
	s.answering(c, func(args []string) (*answer.Document, error) { return s.reproduce(&f, args) })
	answers := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.markdown && (flags.Changed("json") || flags.Changed("format")) {
			return usage("bench reproduce: both --json and --markdown; leave one out")
		}
		return answers(c, args)
	}
	return c
}

func (s *streams) reproduce(f *reproduceFlags, args []string) (*answer.Document, error) {
	switch {
	case transport.Of(f.transport) == nil:
		return nil, usage("bench reproduce: --transport %q, want sim or nats", f.transport)
	case f.quick && transport.Real(f.transport):
		return nil, usage("bench reproduce: --quick with --transport %s: those runs are short already; "+
			"leave it out", f.transport)
	}
	names := args
	if len(names) == 0 {
		var err error
		if names, err = reproduce.Names(f.papers); err != nil {
			return nil, err
		}
	}
	var studies []*reproduce.Study
	for _, name := range names {
		study, err := reproduce.Load(f.papers, name)
		if err != nil {
			return nil, err
		}
		studies = append(studies, study)
	}
	if f.list {
		return reproduce.Listed(studies), nil
	}
	return s.runStudies(f, studies, len(args) > 0)
}

// runStudies runs one after the other, and ends with what all of them came to.
func (s *streams) runStudies(f *reproduceFlags, studies []*reproduce.Study, named bool) (*answer.Document,
	error) {
	ctx, stop := s.interruptible(context.Background())
	defer stop()
	var sum outcome.Tally
	var runs []reproduce.Run
	var skipped []string
	for _, study := range studies {
		if transport.Real(f.transport) && study.Sockets == nil {
			if named {
				return nil, usage("bench reproduce: study %s is too large for real processes; "+
					"leave out --transport", study.Name)
			}
			skipped = append(skipped, study.Name)
			continue
		}
		r, err := s.runStudy(ctx, f, study, &sum)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	d := reproduce.Document(runs)
	if len(skipped) > 0 {
		d.Add(answer.Note{Text: "in simulation only: " + strings.Join(skipped, ", "), Aside: true,
			Line: "in simulation only: " + strings.Join(skipped, ", ")})
	}
	sum.Missed = reproduce.Unexpected(runs)
	d.End(sum.Code(), meaning("reproduce", sum.Code()))
	if f.markdown {
		reproduce.Page(s.out, runs)
		return &answer.Document{Exit: d.Exit, Verdict: d.Verdict}, nil
	}
	return d, nil
}

// runStudy runs the study's experiment into a folder of its own, as bench run does,
// and judges it. What its trials and verdicts come to adds to sum.
func (s *streams) runStudy(ctx context.Context, f *reproduceFlags, study *reproduce.Study,
	sum *outcome.Tally) (r reproduce.Run, err error) {
	settings := []string{"transport=" + f.transport}
	cut := f.quick && study.Quick != nil
	switch {
	case transport.Real(f.transport):
		settings, cut = append(settings, study.Sockets...), true
	case cut:
		settings = append(settings, study.Quick...)
	}
	e, err := study.Experiment(settings...)
	if err != nil {
		return r, err
	}
	config, err := e.Resolved()
	if err != nil {
		return r, err
	}
	folder, err := results.Create(f.out, runner.Header(e, s.argv), config)
	if err != nil {
		return r, err
	}
	defer func() { _ = folder.Close() }() // whatever was finished is on disk already
	fmt.Fprintf(s.err, "reproduce  %s: %s\n", study.Name, console.Plural(len(e.Trials()), "trial", "trials"))
	_, err = s.execute(ctx, &runFlags{quiet: true}, e, folder)
	if err != nil {
		return r, err
	}
	o, err := outcome.Of(e, folder.Dir())
	if err != nil {
		return r, err
	}
	for _, text := range o.Failures() {
		s.say(text)
	}
	sum.Errors += o.Tally.Errors
	sum.Violations += o.Tally.Violations
	for _, t := range o.Violations {
		s.say(fmt.Sprintf("violation: %s; reproduce: %s", t.Reason,
			program.Command("replay", folder.Dir(), "--trial", strconv.Itoa(t.Trial))))
	}
	r = reproduce.Run{Study: study, Dir: folder.Dir()}
	r.Rows, err = study.Judge(e, r.Dir, cut)
	return r, err
}
