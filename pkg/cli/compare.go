package cli

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/files"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/internal/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// compareFlags are the flags of bench compare.
type compareFlags struct {
	failIf          []string
	failFrom        string
	metrics, ignore []string
	where           []string
	alpha           float64
	threshold       string
	prove           string
	over, stat      string
	strict          bool
	format, out     string
	noFail          bool
}

var compareFormats = []string{"table", "markdown", "json", "junit"}

func (s *streams) compareCommand() *cobra.Command {
	f := &compareFlags{}
	c := &cobra.Command{
		Use:   "compare BASE NEW",
		Short: "Compare two runs; exit 4 on a regression",
		Long: `Compare two runs, cell by cell and metric by metric. BASE and NEW are folders
of results or CSV files like trials.csv.

Simulations with equal seeds are compared exactly: every changed count is
shown, and more messages are worse. Everything else is compared in pairs of
trials with equal seeds, by the signs of their differences, or, if there are
too few pairs, by Mann and Whitney's test of all trials. If both runs have
rounds on real nodes, rounds take the place of trials. If they have trials on
several machines, only trials on one machine are compared with each other.
Each row says which, and all are corrected for the number of comparisons. A
change is "worse" or "better" only if it is significant and larger than
--threshold. "small" is significant but not larger. "~" is a difference that
the test cannot tell from chance. If the machines of real processes differ, or
one was busier, that is reported first.

Any change for the worse exits with 4. With --fail-if, only the given
conditions decide: METRIC > CHANGE or METRIC < CHANGE, where CHANGE is a
percentage or a number in the metric's unit. "where COLUMN=VALUE" restricts a
condition.

That no difference was found is no proof that there is none. With --prove 5%,
a run passes only if the whole interval of every change says that nothing is
worse by more than 5 %. Where an interval allows both, the code is 5, and the
text says how many trials would decide.

A trial's time is the mean over its operations, which hides a slow one. With
--over operations, a quantile of all operations is compared, p95 or that of
--stat. The verdict is that of an interval that respects that operations of
one trial belong together.

` + exitHelp("compare", "0", "1", "2", "4", "5"),
		Example: `  bench compare results/base results/new
  bench compare results/base results/new --fail-if 'election_ms > 10%'
  bench compare results/base results/new --prove 5%
  bench compare results/base results/new --over operations --stat p95
  bench compare results/base/trials.csv results/new/trials.csv --alpha 0.01`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("bench compare: %s, want two: the base and the new run",
					report.Plural(len(args), "argument", "arguments"))
			}
			return s.compare(f, args[0], args[1])
		},
	}
	f.register(c)
	return c
}

// register adds the flags to c.
func (f *compareFlags) register(c *cobra.Command) {
	f.judging(c)
	flags := c.Flags()
	flags.StringVar(&f.over, "over", experiment.Overs[0], "compare `WHAT`: trials, or all operations of them")
	flags.StringVar(&f.stat, "stat", "", "with --over operations, compare `QUANTILE` (default: "+
		compare.DefaultTail+")")
	flags.StringVar(&f.format, "format", "table", "write `FORMAT`: "+strings.Join(compareFormats, ", "))
	flags.BoolVar(&f.noFail, "no-fail", false, "only print what changed; exit with 0")
	flags.StringVar(&f.out, "out", "", "write to `FILE` instead of standard output")
	choices(c, "format", compareFormats)
	choices(c, "over", experiment.Overs)
	choices(c, "stat", stats.QuantileNames())
}

// judging adds the flags that say what is compared, and what fails.
func (f *compareFlags) judging(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&f.failIf, "fail-if", nil,
		"fail on `CONDITION`, as 'election_ms > 10%'; repeatable")
	flags.StringVar(&f.failFrom, "fail-if-from", "", "read such conditions from `FILE`, one per line")
	flags.StringSliceVar(&f.metrics, "metrics", nil,
		"compare `METRICS`, and show also what did not change; all: every one "+
			"(default: the problem's main ones)")
	flags.StringSliceVar(&f.ignore, "ignore", nil, "ignore that `COLUMNS` differ, as transport")
	flags.StringArrayVar(&f.where, "where", nil, "compare only cells where `COLUMN=VALUE`; repeatable")
	flags.Float64Var(&f.alpha, "alpha", compare.DefaultAlpha, "accept a false alarm with probability `P`")
	flags.StringVar(&f.threshold, "threshold", percentOf(compare.DefaultThreshold),
		"ignore any change below `CHANGE`")
	flags.StringVar(&f.prove, "prove", "",
		"pass only what is shown to be worse by no more than `CHANGE`")
	flags.BoolVar(&f.strict, "strict", false, "fail on every changed count, and on what NEW lacks")
}

func percentOf(fraction float64) string { return strconv.FormatFloat(100*fraction, 'f', -1, 64) + "%" }

// options reads the flags, all of whose mistakes are usage errors.
func (f *compareFlags) options() (compare.Options, error) {
	if f.noFail && (f.strict || len(f.failIf) > 0 || f.failFrom != "") {
		return compare.Options{}, usage("--no-fail with --strict or --fail-if: one of them")
	}
	if f.prove != "" && (f.noFail || f.strict || len(f.failIf) > 0 || f.failFrom != "") {
		return compare.Options{}, usage("--prove with --no-fail, --strict or --fail-if: one of them")
	}
	o := compare.Options{
		Alpha: f.alpha, Metrics: f.metrics, Ignore: f.ignore, Strict: f.strict, NoGate: f.noFail,
	}
	var err error
	if o.Threshold, err = fraction(f.threshold); err != nil {
		return o, usage("--threshold %s: %v, want a percentage as 5%%, or a fraction as 0.05", f.threshold,
			err)
	}
	if f.prove != "" {
		if o.Prove, err = fraction(f.prove); err != nil || o.Prove == 0 || o.Prove >= 1 {
			return o, usage("--prove %s: want a percentage between 0%% and 100%%, as 5%%", f.prove)
		}
	}
	if !(f.alpha > 0 && f.alpha < 1) {
		return o, usage("--alpha %v: want a probability between 0 and 1, as 0.05", f.alpha)
	}
	if err := oneOf("format", f.format, compareFormats); err != nil {
		return o, err
	}
	if err := oneOf("over", f.over, experiment.Overs); err != nil {
		return o, err
	}
	if err := f.tails(); err != nil {
		return o, err
	}
	for _, text := range f.failIf {
		c, err := compare.ParseCondition(text)
		if err != nil {
			return o, usage("--fail-if: %v", err)
		}
		o.Conditions = append(o.Conditions, c)
	}
	if f.failFrom != "" {
		text, err := files.Read(f.failFrom, files.MiB)
		if err != nil {
			return o, usage("--fail-if-from: %v", err)
		}
		more, err := compare.ReadConditions(bytes.NewReader(text), f.failFrom)
		if err != nil {
			return o, usage("--fail-if-from: %v", err)
		}
		o.Conditions = append(o.Conditions, more...)
	}
	o.Where, err = readWhere(f.where)
	return o, err
}

// readWhere reads the values of --where.
func readWhere(where []string) (out []metric.Field, err error) {
	for _, text := range where {
		f, ok := metric.ReadField(text)
		if !ok {
			return nil, usage("--where %q, want COLUMN=VALUE, as nodes=5", text)
		}
		out = append(out, f)
	}
	return out, nil
}

// fraction reads a share: 5% or 0.05. Who writes 5 means the first, and gets an
// error rather than 500 %.
func fraction(text string) (float64, error) {
	a, ok := metric.ReadAmount(text)
	switch {
	case !ok || a.Value < 0 || a.Value > 1e6:
		return 0, fmt.Errorf("no share")
	case !a.Percent && a.Value > 1:
		return 0, fmt.Errorf("that is %v times", a.Value)
	}
	return a.Value, nil
}

func (s *streams) compare(f *compareFlags, base, new string) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	frugal(f.over == experiment.OverOperations)
	old, fresh, err := readBoth(base, new)
	if err != nil {
		return err
	}
	if f.over == experiment.OverOperations {
		return s.compareTails(f, old, fresh, o)
	}
	r, err := compare.Compare(old, fresh, o)
	if err != nil {
		return unknownName(err)
	}
	var text bytes.Buffer
	if err := printComparison(&text, r, f.format, len(f.metrics) > 0); err != nil {
		return err
	}
	if err := s.output(f.out, text.Bytes()); err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	if len(r.Failures)+len(r.Open) == 0 {
		return nil
	}
	told := f.format == compareFormats[0] && f.out == "" // above, but for what decides
	for _, text := range r.Warnings {
		if !told {
			s.say("careful: " + text)
		}
	}
	sayFailures(r, func(kind, text string) { s.say(kind + ": " + text) })
	return exit(codeOf(r))
}

// sayFailures says what decides that a comparison does not pass.
func sayFailures(r *compare.Report, say func(kind, text string)) {
	for _, text := range r.Failures {
		say("fails", text)
	}
	for _, text := range r.Open {
		say("inconclusive", text)
	}
}

// codeOf is the exit code that a comparison calls for.
func codeOf(r *compare.Report) int {
	switch {
	case len(r.Failures) > 0:
		return Missed
	case len(r.Open) > 0:
		return Incomplete
	}
	return Good
}

// unknownName makes a mistake in a flag of a name that neither run knows.
func unknownName(err error) error {
	var unknown *compare.NameError
	if !errors.As(err, &unknown) {
		return err
	}
	hint := ""
	if !console.IsNumber(unknown.Name) {
		hint = algo.Hint(unknown.Name, unknown.Known)
	}
	return usage("%v%s (has: %s)", err, hint, strings.Join(distinct(unknown.Known), ", "))
}

// distinct is list without what stands in it before.
func distinct(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// readBoth reads the two runs at a time.
func readBoth(base, new string) (a, b *results.Table, err error) {
	done := make(chan error, 1)
	go func() {
		var err error
		b, err = results.ReadTable(new)
		done <- err
	}()
	a, err = results.ReadTable(base)
	return a, b, errors.Join(err, <-done)
}
