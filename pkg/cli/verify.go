package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/pkg/algo/algotest"
)

func (s *streams) verifyCommand() *cobra.Command {
	var schedules int
	var cases string
	c := &cobra.Command{
		Use:   "verify ID",
		Short: "Hold an algorithm against the conformance kit, in simulation",
		Long: `verify runs an algorithm through the cases that every algorithm must satisfy, in simulation:
its declaration, determinism, safety and liveness over random schedules within its
model, the complexity that it claims, the smallest systems, and the reference cases that
come with bench. It exits 3 if any fails, and says which schedule repeats the failure.

With --cases it runs the cases of that algorithm in a file of your own instead: exact
scripts, and what each leads to (docs/adding-an-algorithm.md describes the format). It
exits 3 if one comes out otherwise, and 5 if all that a case expects can only be checked
by the algorithm's own tests.`,
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
			alg, err := find(args[0])
			if err != nil {
				return err
			}
			if c.Flags().Changed("cases") {
				if c.Flags().Changed("schedules") {
					return usage("bench verify: --schedules means nothing with --cases; leave one out")
				}
				return s.verifyCases(alg.ID, cases)
			}
			failed := algotest.Verify(alg.ID, algotest.Options{
				Schedules: schedules, Progress: s.tellRule,
			})
			if failed != nil {
				return exit(Violated)
			}
			return nil
		},
	}
	c.Flags().IntVar(&schedules, "schedules", 1000, "how many random schedules to run")
	c.Flags().StringVar(&cases, "cases", "", "a `FILE` of cases to run instead of the kit")
	return c
}

// tellRule prints what a rule of the kit found.
func (s *streams) tellRule(c algotest.Rule, err error) {
	if err == nil {
		fmt.Fprintf(s.out, "ok      %-12s %s\n", c.Name, c.Sentence)
		return
	}
	fmt.Fprintf(s.out, "FAILED  %-12s %v\n", c.Name, err)
}
