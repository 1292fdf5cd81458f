package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/commands/catalog"
)

func (s *streams) listCommand() *cobra.Command {
	names := catalog.Families()
	return s.answering(&cobra.Command{
		Use:   "list [FAMILY]",
		Short: "List algorithms, scenarios, faults, metrics and more",
		Long: "List what this program has and what an experiment can use. FAMILY is one of\n" +
			console.Wrap(strings.Join(names, ", ")+"; without it, everything is listed.", 0),
		Example: `  bench list
  bench list algorithms
  bench list metrics --json`,
		Args: cobra.ArbitraryArgs,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (
			[]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}, func(args []string) (*answer.Document, error) {
		if len(args) > 1 {
			return nil, usage("bench list: %d arguments, expected one at most: %s", len(args),
				strings.Join(names, ", "))
		}
		return catalog.List(strings.Join(args, ""))
	})
}
