package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

func (s *streams) planCommand() *cobra.Command {
	var f source
	var asJSON, resolved bool
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
		RunE: func(c *cobra.Command, args []string) error {
			by, err := d.change()
			if err != nil {
				return err
			}
			e, err := f.load(s, args)
			if err != nil {
				return err
			}
			s.overridden(runner.Header(e, nil).Overrides, true)
			switch {
			case resolved:
				config, err := e.Resolved()
				if err == nil {
					_, err = s.out.Write(config)
				}
				return err
			}
			var found *detection
			if by > 0 {
				if found, err = s.detect(c.Context(), &f, args, &d, e, by); err != nil {
					return err
				}
			}
			if asJSON {
				plan := planOf(e)
				plan.Detect = found.document()
				return writeJSON(s.out, plan)
			}
			s.printPlan(e)
			if found != nil {
				s.printDetection(found, e)
			}
			return nil
		},
	}
	f.register(c)
	d.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the plan as JSON")
	c.Flags().BoolVar(&resolved, "resolved", false,
		"print the experiment with every default written out instead")
	return c
}

func (s *streams) printPlan(e *experiment.Experiment) {
	w := s.text()
	fmt.Fprintf(w, "experiment  %s: %s, %s\n", e.Name, e.Problem, e.Transport)
	fmt.Fprintf(w, "trials      %s x %s = %s\n", report.Plural(len(e.Cells), "cell", "cells"),
		repetitions(e), between(e.Least(), e.Most()))
	if u := e.Until; u != nil {
		holds := ""
		if u.Anytime {
			holds = ", and that holds whenever it stops (anytime)"
		}
		fmt.Fprintf(w, "until       %s is known to %s in a cell%s\n", u.Metric, results.Percent(u.CI),
			holds)
	}
	fmt.Fprintf(w, "time        %s\n", howLong(e))
	fmt.Fprintf(w, "seed        %d\n", e.Seed)
	if text := settling(e); text != "" {
		fmt.Fprintf(w, "settle      %s\n", text)
	}
	fmt.Fprintln(w)
	t, d := &console.Table{}, designOf(e)
	t.Column("cell", true)
	t.Column("algorithm", false)
	d.head(t, e)
	t.Keyed(len(t.Head))
	t.Column("trials", true)
	t.Column("in_model", false)
	for i := range e.Cells {
		c := &e.Cells[i]
		row := append([]string{fmt.Sprint(c.Number), c.Label}, d.values(c)...)
		t.Add(append(row, between(e.Fewest, e.Repetitions), fmt.Sprint(c.Plan.InModel))...)
	}
	t.Write(w)
	for i, n := range e.Notes {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "[%d] %s\n", i+1, n)
	}
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

type planReport struct {
	Schema      int         `json:"schema_version"`
	Name        string      `json:"name"`
	Problem     string      `json:"problem"`
	Transport   string      `json:"transport"`
	Seed        uint64      `json:"seed"`
	Repetitions int         `json:"repetitions"` // of each cell, at most
	Fewest      int         `json:"min_repetitions"`
	Until       *planUntil  `json:"until"` // null: no cell ends before its last repetition
	Rounds      int         `json:"rounds"`
	Trials      int         `json:"trials"`
	LeastTrials int         `json:"min_trials"`
	EstimateS   float64     `json:"estimate_s"` // of all trials
	LeastS      float64     `json:"min_estimate_s"`
	Config      string      `json:"config_sha256"`
	Cells       []planCell  `json:"cells"`
	Notes       []string    `json:"notes"`
	Detect      *detectJSON `json:"detect,omitempty"` // with --detect
}

type planUntil struct {
	Metric  string  `json:"metric"`
	CI      float64 `json:"ci"`
	Anytime bool    `json:"anytime"`
}

type planCell struct {
	Cell       int               `json:"cell"`
	Design     map[string]string `json:"design"`
	InModel    bool              `json:"in_model"`
	OutOfModel []string          `json:"out_of_model"`
	// SettleMS is how long the leader lives at least before something happens to it; null:
	// nothing does. PeriodMS is the longest of what it repeats; null: it repeats nothing.
	SettleMS *float64 `json:"settle_ms"`
	PeriodMS *float64 `json:"period_ms"`
}

func planOf(e *experiment.Experiment) planReport {
	least, most := e.Estimate()
	seconds := func(d time.Duration) float64 { return d.Round(100 * time.Millisecond).Seconds() }
	r := planReport{
		Schema: 1, Name: e.Name, Problem: string(e.Problem), Transport: e.Transport, Seed: e.Seed,
		Repetitions: e.Repetitions, Fewest: e.Fewest, Rounds: e.Rounds, Trials: e.Most(),
		LeastTrials: e.Least(),
		EstimateS:   seconds(most), LeastS: seconds(least), Config: e.Hash(),
		Notes: append([]string{}, e.Notes...),
	}
	if u := e.Until; u != nil {
		r.Until = &planUntil{u.Metric, u.CI, u.Anytime}
	}
	for i := range e.Cells {
		c := &e.Cells[i]
		r.Cells = append(r.Cells, planCell{c.Number, metric.ByName(c.Design), c.Plan.InModel,
			append([]string{}, c.Plan.OutOfModel...), inMS(c.Plan.Scenario.Settle),
			inMS(c.Plan.Period().Length)})
	}
	return r
}

// inMS is a span in milliseconds; nil where there is none.
func inMS(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	ms := float64(d) / float64(time.Millisecond)
	return &ms
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
