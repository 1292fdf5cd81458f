package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/commands/catalog"
	"github.com/conclave-bench/conclave/internal/commands/conform"
	"github.com/conclave-bench/conclave/internal/commands/mutate"
)

func (s *streams) verifyCommand() *cobra.Command {
	var schedules int
	var cases, junit, mutants string
	c := &cobra.Command{
		Use:   "verify ID",
		Short: "Run the conformance tests of an algorithm",
		Long: `Run the conformance tests of an algorithm in simulation: its declaration,
determinism, safety and liveness over random schedules within its model,
claimed complexity, the smallest systems, and its reference cases. A failure
exits with 3 and names the schedule that repeats it; an algorithm that panics or
starts goroutines exits with 1.

With --cases, run only your own cases: exact scripts with exact outcomes
(docs/reference/cases.md). One that only the algorithm's own tests can check
exits with 5. With --mutants, count how many planted mistakes the tests notice.`,
		Example: `  bench verify mutex/naimi-trehel --schedules 50
  bench verify bully --schedules 50
  bench verify bully --cases cases.yaml`,
		Args: cobra.ArbitraryArgs,
	}
	c.Flags().IntVar(&schedules, "schedules", 1000, "run `N` random schedules")
	c.Flags().StringVar(&cases, "cases", "", "run the cases in `FILE` instead of the kit")
	c.Flags().StringVar(&junit, "junit", "",
		"also write a report in JUnit's XML to `FILE`, with a test for each rule or case")
	c.Flags().StringVar(&mutants, "mutants", "", "plant mistakes into the package in `DIR`, and "+
		"count those noticed")
	return s.answering(c, func(args []string) (*answer.Document, error) {
		if len(args) != 1 {
			return nil, usage("bench verify: %d algorithms, expected one (\"bench list\" shows "+
				"all)", len(args))
		}
		if schedules < 1 {
			return nil, usage("bench verify: --schedules %d, expected 1 or more", schedules)
		}
		alg, err := catalog.Simulated(args[0])
		if err != nil {
			return nil, err
		}
		if c.Flags().Changed("cases") && c.Flags().Changed("schedules") {
			return nil, usage("bench verify: --schedules means nothing with --cases; leave one out")
		}
		if mutants != "" && (cases != "" || junit != "") {
			return nil, usage("bench verify: --mutants with --cases or --junit; leave one out")
		}
		busy, done := s.busy()
		defer done()
		if mutants != "" {
			ctx, stop := s.interruptible(context.Background())
			defer stop()
			q := mutate.Request{ID: alg.ID, Dir: mutants, Schedules: schedules, Busy: busy}
			return q.Answer(ctx)
		}
		var d *answer.Document
		if c.Flags().Changed("cases") {
			d, err = conform.AnswerCases(alg.ID, cases, busy)
		} else {
			d, err = conform.Answer(alg.ID, conform.Options{Schedules: schedules}, busy)
		}
		if d != nil && junit != "" {
			err = errors.Join(err, writeDocument(junit, "junit", d))
		}
		return d, err
	})
}
