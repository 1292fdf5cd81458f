package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/catalog"
	"github.com/conclave-bench/conclave/internal/conform"
)

func (s *streams) verifyCommand() *cobra.Command {
	var schedules int
	var cases string
	c := &cobra.Command{
		Use:   "verify ID",
		Short: "Run the conformance tests of an algorithm",
		Long: `Run the conformance tests of an algorithm in simulation: its declaration,
determinism, safety and liveness over random schedules within its model, its
claimed complexity, the smallest systems, and the reference cases that come
with bench. It exits with 3 if any fails, and says which schedule repeats the
failure; with 1 if the algorithm cannot be run, as when it panics or starts
goroutines.

With --cases it runs the cases of that algorithm in a file of your own
instead: exact scripts with exact outcomes (docs/adding-an-algorithm.md
describes the format). It exits with 3 if an outcome differs, and with 5 if
only the algorithm's own tests can check what a case expects.`,
		Example: `  bench verify mutex/naimi-trehel --schedules 50
  bench verify bully --schedules 50
  bench verify bully --cases cases.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("bench verify: %d algorithms, want one (\"bench list\" shows all)", len(args))
			}
			if schedules < 1 {
				return usage("bench verify: --schedules %d, want 1 or more", schedules)
			}
			alg, err := catalog.Find(args[0])
			if err != nil {
				return err
			}
			if c.Flags().Changed("cases") {
				if c.Flags().Changed("schedules") {
					return usage("bench verify: --schedules means nothing with --cases; leave one out")
				}
				return s.verifyCases(alg.ID, cases)
			}
			failed := conform.Verify(alg.ID, conform.Options{
				Schedules: schedules, Progress: s.tellRule,
			})
			var unrunnable *conform.Unrunnable
			switch {
			case errors.As(failed, &unrunnable):
				return fmt.Errorf("%s could not be run", alg.ID)
			case failed != nil:
				return exit(Violated)
			}
			return nil
		},
	}
	c.Flags().IntVar(&schedules, "schedules", 1000, "run `N` random schedules")
	c.Flags().StringVar(&cases, "cases", "", "run the cases in `FILE` instead of the kit")
	return c
}

// tellRule prints what a rule of the kit found.
func (s *streams) tellRule(c conform.Rule, err error) {
	if err == nil {
		fmt.Fprintf(s.text(), "ok      %-12s %s\n", c.Name, c.Sentence)
		return
	}
	fmt.Fprintf(s.text(), "FAILED  %-12s %v\n", c.Name, err)
}
