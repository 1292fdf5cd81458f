package cli

import (
	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/commands/catalog"
)

func (s *streams) describeCommand() *cobra.Command {
	return s.answering(&cobra.Command{
		Use:   "describe ID",
		Short: "Describe an algorithm",
		Long: `Show what an algorithm declares: its paper and how it departs from it, what it
needs, survives, promises and claims, its messages and parameters. ID is as in
"bench list", or the name alone where only one algorithm has it.`,
		Example: `  bench describe election/bully
  bench describe naimi-trehel
  bench describe mutex/naimi-trehel --json`,
		Args: cobra.ArbitraryArgs,
	}, func(args []string) (*answer.Document, error) {
		if len(args) != 1 {
			return nil, usage("bench describe: %d arguments, expected one ID (\"bench list\" shows all)",
				len(args))
		}
		a, err := catalog.Find(args[0])
		if err != nil {
			return nil, err
		}
		return catalog.Describe(a), nil
	})
}
