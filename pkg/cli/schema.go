package cli

import (
	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/pkg/experiment"
)

func (s *streams) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of experiment files, for editors",
		Long: `Print the language of experiment files as a JSON Schema (draft 2020-12), with
the algorithms and parameters that are linked in. An editor that reads it
completes keys and marks mistakes. Put it beside your files, and write this as
the first line of each:

  # yaml-language-server: $schema=experiment.schema.json

The schema does not check rules between keys, such as a time-out that is too
short for the network. "bench plan FILE" does.`,
		Example: `  bench schema`,
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			text, err := experiment.JSONSchema()
			if err == nil {
				_, err = s.out.Write(text)
			}
			return err
		},
	}
}
