package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/outcome"
	"github.com/conclave-bench/conclave/internal/program"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/internal/reproduce"
	"github.com/conclave-bench/conclave/internal/transport"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// reproduceFlags are the flags of bench reproduce.
type reproduceFlags struct {
	papers, transport, out string
	list, quick            bool
	json, markdown         bool
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
		RunE: func(_ *cobra.Command, args []string) error {
			return s.reproduce(&f, args)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.papers, "papers", "configs/papers", "read the studies from `DIR`")
	flags.StringVar(&f.transport, "transport", transport.Sim.Name,
		"run on `TRANSPORT`: sim in simulation, nats on real processes, few of them")
	flags.StringVar(&f.out, "out", "results", "write each run into a folder of its own in `DIR`")
	flags.BoolVar(&f.list, "list", false, "list the studies and run nothing")
	flags.BoolVar(&f.quick, "quick", false, "cut long runs down; a few statements stay undecided")
	flags.BoolVar(&f.json, "json", false, "print the verdicts as JSON")
	flags.BoolVar(&f.markdown, "markdown", false, "print the verdicts as Markdown")
	return c
}

func (s *streams) reproduce(f *reproduceFlags, args []string) error {
	switch {
	case transport.Of(f.transport) == nil:
		return usage("bench reproduce: --transport %q, want sim or nats", f.transport)
	case f.json && f.markdown:
		return usage("bench reproduce: both --json and --markdown; leave one out")
	case f.quick && transport.Real(f.transport):
		return usage("bench reproduce: --quick with --transport %s: those runs are short already; "+
			"leave it out", f.transport)
	}
	names := args
	if len(names) == 0 {
		var err error
		if names, err = reproduce.Names(f.papers); err != nil {
			return err
		}
	}
	var studies []*reproduce.Study
	for _, name := range names {
		study, err := reproduce.Load(f.papers, name)
		if err != nil {
			return err
		}
		studies = append(studies, study)
	}
	if f.list {
		return s.listStudies(f, studies)
	}
	return s.runStudies(f, studies, len(args) > 0)
}

func (s *streams) listStudies(f *reproduceFlags, studies []*reproduce.Study) error {
	if f.json {
		list := []studyReport{}
		for _, study := range studies {
			list = append(list, reportOn(study))
		}
		return writeJSON(s.out, list)
	}
	t := &console.Table{}
	t.Column("study", false)
	t.Column("statements", true)
	t.Column("on", false)
	t.Column("paper", false)
	for _, study := range studies {
		var on []string
		for _, k := range slices.Backward(transport.All) {
			if k.Virtual || study.Sockets != nil {
				on = append(on, k.Name)
			}
		}
		t.Add(study.Name, fmt.Sprint(len(study.Statements)), strings.Join(on, ", "),
			console.Short(study.Paper))
	}
	t.Write(s.text())
	return nil
}

// runStudies runs one after the other, and ends with what all of them came to.
func (s *streams) runStudies(f *reproduceFlags, studies []*reproduce.Study, named bool) error {
	ctx, stop := s.interruptible(context.Background())
	defer stop()
	var sum outcome.Tally
	reports := []studyReport{}
	if f.markdown {
		fmt.Fprint(s.out, markdownHead)
	}
	rows, skipped := 0, []string{}
	for _, study := range studies {
		if transport.Real(f.transport) && study.Sockets == nil {
			if named {
				return usage("bench reproduce: study %s is too large for real processes; "+
					"leave out --transport", study.Name)
			}
			skipped = append(skipped, study.Name)
			continue
		}
		r, err := s.runStudy(ctx, f, study, &sum)
		if err != nil {
			return err
		}
		rows += len(r.rows)
		switch {
		case f.json:
			reports = append(reports, r)
		case f.markdown:
			r.markdown(s.out)
		default:
			r.print(s.text())
		}
	}
	if f.json {
		if err := writeJSON(s.out, reports); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(s.out, "%s, %d not as expected\n", report.Plural(rows, "verdict", "verdicts"), sum.Missed)
	}
	if len(skipped) > 0 {
		s.say("in simulation only: " + strings.Join(skipped, ", "))
	}
	if code := sum.Code(); code != Good {
		return exit(code)
	}
	return nil
}

// runStudy runs the study's experiment into a folder of its own, as bench run does,
// and judges it. What its trials and verdicts come to adds to sum.
func (s *streams) runStudy(ctx context.Context, f *reproduceFlags, study *reproduce.Study,
	sum *outcome.Tally) (studyReport, error) {
	r := reportOn(study)
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
	fmt.Fprintf(s.err, "reproduce  %s: %s\n", study.Name, report.Plural(len(e.Trials()), "trial", "trials"))
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
	r.Dir = folder.Dir()
	if r.rows, err = study.Judge(e, r.Dir, cut); err != nil {
		return r, err
	}
	r.Rows = []rowReport{}
	for i := range r.rows {
		r.Rows = append(r.Rows, reportOf(&r.rows[i]))
		if !r.rows[i].Expected {
			sum.Missed++
		}
	}
	return r, nil
}

// The machine's form of a study. A figure that does not exist is null.
type (
	studyReport struct {
		Name       string      `json:"name"`
		Paper      string      `json:"paper"`
		Sockets    bool        `json:"sockets"`
		Statements int         `json:"statements"`
		Dir        string      `json:"dir,omitempty"`
		Rows       []rowReport `json:"rows,omitempty"`

		rows []reproduce.Row
	}
	rowReport struct {
		Says     string   `json:"says"`
		Section  string   `json:"section"`
		Note     string   `json:"note,omitempty"`
		Case     string   `json:"case"`
		Metric   string   `json:"metric"`
		Stat     string   `json:"stat"`
		Paper    string   `json:"paper"`
		Stated   *float64 `json:"stated"`
		Theory   string   `json:"theory,omitempty"`
		Derived  *float64 `json:"derived"`
		Measured *float64 `json:"measured"`
		Low      *float64 `json:"low"`
		High     *float64 `json:"high"`
		N        int      `json:"n"`
		Verdict  string   `json:"verdict"`
		OfTheory string   `json:"verdict_on_theory,omitempty"`
		Expected bool     `json:"expected"`
	}
)

// reportOn is what is known of a study before it runs.
func reportOn(study *reproduce.Study) studyReport {
	return studyReport{Name: study.Name, Paper: study.Paper, Sockets: study.Sockets != nil,
		Statements: len(study.Statements)}
}

func reportOf(r *reproduce.Row) rowReport {
	st := r.Statement
	return rowReport{
		Says: st.Says, Section: st.Section, Note: st.Note, Case: r.Case, Metric: st.Metric,
		Stat: cmp.Or(st.Stat, "every"), Paper: r.Paper, Stated: results.Finite(r.Stated),
		Theory: r.Theory, Derived: results.Finite(r.Derived), Measured: results.Finite(r.Measured.Value),
		Low: results.Finite(r.Measured.Low), High: results.Finite(r.Measured.High), N: r.Measured.N,
		Verdict: string(r.Verdict), OfTheory: string(r.OfTheory), Expected: r.Expected,
	}
}

// groups are the rows, those of one statement together.
func (r *studyReport) groups() (out [][]reproduce.Row) {
	for i, row := range r.rows {
		if i == 0 || row.Statement != r.rows[i-1].Statement {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], row)
	}
	return out
}

// print writes a study for people: each statement, and below it a line for each cell
// that it is about, in columns that are those of the whole study.
func (r *studyReport) print(w io.Writer) {
	fmt.Fprintf(w, "%s\n", r.Name)
	fmt.Fprintf(w, "%s\n", console.Wrap(r.Paper, 2))
	t := &console.Table{}
	for _, name := range []string{"case", "paper", "theory", "measured"} {
		t.Column(name, false)
	}
	t.Column("n", true)
	t.Column("verdict", false)
	for i := range r.rows {
		row := &r.rows[i]
		t.Add(row.Case, row.Paper, row.Theory, row.Measured.String(), fmt.Sprint(row.Measured.N),
			row.Outcome())
	}
	lines := t.Lines()
	fmt.Fprintf(w, "\n    %s\n", lines[0])
	next := 1
	for _, group := range r.groups() {
		st := group[0].Statement
		fmt.Fprintf(w, "%s\n", console.Wrap(fmt.Sprintf("%q (%s): %s", st.Says, st.Section, subject(st)), 2))
		for range group {
			fmt.Fprintf(w, "    %s\n", lines[next])
			next++
		}
		if st.Note != "" {
			fmt.Fprintf(w, "%s\n", console.Wrap(st.Note, 4))
		}
	}
	fmt.Fprintf(w, "  results: %s\n\n", r.Dir)
}

// subject is what a statement is about: a metric, and how its trials are condensed.
func subject(st *reproduce.Statement) string {
	if st.Stat == "" {
		return st.Metric
	}
	return st.Metric + ", " + st.Stat
}

// markdownHead begins the page that docs/reproduced.md is.
const markdownHead = `# Published statements beside theory and measurement

<!-- Written by "make reproduce"; do not edit. -->

What ` + "`bench reproduce --markdown`" + ` prints. [reproduce.md](reproduce.md) says how to read it, and
what to think of the differences. Each study is an experiment in ` + "`configs/papers/`" + `. *n* is how
many trials a figure is of; in square brackets stands its 95 % interval.

`

// markdown writes a study as a section with a table.
func (r *studyReport) markdown(w io.Writer) {
	cell := func(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
	fmt.Fprintf(w, "## %s\n\n%s\n\n", r.Name, r.Paper)
	fmt.Fprint(w, "| case | paper | theory | measured | n | verdict |\n|---|---|---|---|---|---|\n")
	for _, group := range r.groups() {
		st := group[0].Statement
		title := fmt.Sprintf("*\"%s\"*, %s: `%s`", st.Says, st.Section, subject(st))
		if st.Note != "" {
			title += "<br>" + st.Note
		}
		fmt.Fprintf(w, "| %s | | | | | |\n", cell(title))
		for i := range group {
			row := &group[i]
			fmt.Fprintf(w, "| %s | %s | %s | %s | %d | %s |\n", cell(row.Case), cell(row.Paper),
				cell(row.Theory), row.Measured, row.Measured.N, row.Outcome())
		}
	}
	fmt.Fprintln(w)
}
