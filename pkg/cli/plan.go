package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answer"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

func (s *streams) planCommand() *cobra.Command {
	var f source
	var resolved bool
	var d detectFlags
	c := &cobra.Command{
		Use:   "plan [FILE]",
		Short: "Check an experiment and show what it would run",
		Long: `Read an experiment as "bench run" does, report everything that is wrong with
it, and show its cells: what would run, how many trials, and how long they
take. Nothing is run.

With --detect 5%, also say how many repetitions bench compare needs to find
that a metric became worse by 5 %, with a probability of 80 %. This follows
from a pilot: a run in DIR, or a few simulated repetitions, which know nothing
of a machine's noise.`,
		Example: `  bench plan configs/quickstart.yaml
  bench plan configs/quickstart.yaml --set nodes=50 --json
  bench plan configs/quickstart.yaml --detect 5%
  bench plan --algorithms bully --nodes 3,5,9 --resolved`,
		Args: cobra.ArbitraryArgs,
	}
	f.register(c)
	d.register(c)
	c.Flags().BoolVar(&resolved, "resolved", false,
		"print the experiment with every default written out instead")
	load := func(args []string) (*experiment.Experiment, error) {
		e, err := f.load(s, args)
		if err == nil {
			s.overridden(runner.Header(e, nil).Overrides, true)
		}
		return e, err
	}
	s.answering(c, func(args []string) (*answer.Document, error) {
		by, err := d.change()
		if err != nil {
			return nil, err
		}
		e, err := load(args)
		if err != nil {
			return nil, err
		}
		plan := planOf(e)
		if by > 0 {
			found, err := s.detect(c.Context(), &f, args, &d, e, by)
			if err != nil {
				return nil, err
			}
			found.Add(plan, designOf(e).declared(e))
		}
		return plan, nil
	})
	answers := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if !resolved {
			return answers(c, args)
		}
		e, err := load(args)
		if err != nil {
			return err
		}
		config, err := e.Resolved()
		if err == nil {
			_, err = s.out.Write(config)
		}
		return err
	}
	return c
}

// planOf is what an experiment would run.
func planOf(e *experiment.Experiment) *answer.Document {
	least, most := e.Estimate()
	seconds := func(d time.Duration) float64 { return d.Round(100 * time.Millisecond).Seconds() }
	d := answer.New("plan", e.Name+": what it would run")
	facts := answer.Facts{
		{Name: "name", Value: e.Name,
			Line: fmt.Sprintf("experiment  %s: %s, %s", e.Name, e.Problem, e.Transport)},
		{Name: "problem", Value: string(e.Problem)}, {Name: "transport", Value: e.Transport},
		{Name: "repetitions", Value: e.Repetitions, Line: fmt.Sprintf("trials      %s x %s = %s",
			report.Plural(len(e.Cells), "cell", "cells"), repetitions(e), between(e.Least(), e.Most()))},
		{Name: "min_repetitions", Value: e.Fewest}, {Name: "rounds", Value: e.Rounds},
		{Name: "trials", Value: e.Most()}, {Name: "min_trials", Value: e.Least()},
	}
	if u := e.Until; u != nil {
		holds := ""
		if u.Anytime {
			holds = ", and that holds whenever it stops (anytime)"
		}
		facts = append(facts, answer.Fact{Name: "until", Value: u.Metric, Line: fmt.Sprintf(
			"until       %s is known to %s in a cell%s", u.Metric, results.Percent(u.CI), holds)},
			answer.Fact{Name: "until_ci", Value: u.CI}, answer.Fact{Name: "until_anytime", Value: u.Anytime})
	}
	facts = append(facts,
		answer.Fact{Name: "estimate_s", Value: seconds(most), Line: "time        " + howLong(e)},
		answer.Fact{Name: "min_estimate_s", Value: seconds(least)},
		answer.Fact{Name: "seed", Value: e.Seed, Line: fmt.Sprintf("seed        %d", e.Seed)},
		answer.Fact{Name: "config_sha256", Value: e.Hash()})
	if text := settling(e); text != "" {
		facts = append(facts, answer.Fact{Name: "settle", Value: text, Line: "settle      " + text})
	}
	d.Add(facts, answer.Text(""))
	design := designOf(e)
	columns := design.declared(e)
	t := d.Table("cells", slices.Concat(answer.Columns(answer.Everybody, "cell:count algorithm"), columns,
		answer.Columns(answer.Everybody, "trials:count in_model:flag"),
		answer.Columns(answer.Nested, "design:map"),
		answer.Columns(answer.Programs, "out_of_model:list settle_ms:number period_ms:number"))...)
	t.Keys = len(columns) + 2
	for i := range e.Cells {
		c := &e.Cells[i]
		row := []answer.Value{c.Number, c.Label}
		for k, v := range design.values(c) {
			row = append(row, columns[k].Typed(v))
		}
		t.Row(append(row, answer.Shown{Value: e.Repetitions, Text: between(e.Fewest, e.Repetitions)},
			answer.Shown{Value: c.Plan.InModel, Text: fmt.Sprint(c.Plan.InModel)}, metric.ByName(c.Design),
			append([]string{}, c.Plan.OutOfModel...), inMS(c.Plan.Scenario.Settle),
			inMS(c.Plan.Period().Length))...)
	}
	for i, n := range e.Notes {
		if i == 0 {
			d.Add(answer.Text(""))
		}
		d.Add(answer.Note{Text: n, Line: fmt.Sprintf("[%d] %s", i+1, n)})
	}
	return d
}

// settling is how long the leader of each cell lives at least, in words; "": nothing is
// done to one.
func settling(e *experiment.Experiment) string {
	var all []time.Duration
	for i := range e.Cells {
		if settle := e.Cells[i].Plan.Scenario.Settle; settle > 0 {
			all = append(all, settle)
		}
	}
	if len(all) == 0 {
		return ""
	}
	if least, most := slices.Min(all), slices.Max(all); least < most {
		return fmt.Sprintf("%v to %v: at least two of what the leader repeats", least, most)
	}
	return all[0].String()
}

// inMS is a span in milliseconds; none where there is none.
func inMS(d time.Duration) answer.Value {
	if d == 0 {
		return nil
	}
	return float64(d) / float64(time.Millisecond)
}

// repetitions is how many each cell has, in words.
func repetitions(e *experiment.Experiment) string {
	if e.Until != nil {
		return between(e.Fewest, e.Repetitions) + " repetitions"
	}
	if e.Rounds > 1 {
		return fmt.Sprintf("%d repetitions (in %d rounds)", e.PerCell(), e.Rounds)
	}
	return report.Plural(e.PerCell(), "repetition", "repetitions")
}

// between is a number that is known within bounds.
func between(least, most int) string {
	if least == most {
		return fmt.Sprint(most)
	}
	return fmt.Sprintf("%d..%d", least, most)
}

// howLong is how long all trials take, in words.
func howLong(e *experiment.Experiment) string {
	least, most := e.Estimate()
	if a, b := about(least), about(most); a != b {
		return a + ", or up to " + strings.TrimPrefix(b, "about ")
	}
	return about(most)
}

// about is an estimated time in words.
func about(d time.Duration) string {
	switch {
	case d < 2*time.Second:
		return "a second or two"
	case d < 10*time.Second:
		return "about " + d.Round(time.Second).String()
	case d < 10*time.Minute:
		return "about " + d.Round(5*time.Second).String()
	case d < 2*time.Hour:
		return fmt.Sprintf("about %d minutes", int(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("about %d hours", int(d.Round(time.Hour).Hours()))
}
