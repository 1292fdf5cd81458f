package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/pkg/experiment"
)

// schemas are the languages that bench schema prints.
var schemas = []string{"experiment", "answer"}

func (s *streams) schemaCommand() *cobra.Command {
	return s.answering(&cobra.Command{
		Use:   "schema [OF]",
		Short: "Print the JSON Schema of experiment files, or of answers",
		Long: `Print a JSON Schema (draft 2020-12) of experiment files, with the algorithms and
parameters of this program; editors use it to complete keys and mark errors. Put
it beside your files, with this first line in each:

  # yaml-language-server: $schema=experiment.schema.json

"bench plan FILE" also checks rules between keys. "bench schema answer" prints
the schema of the JSON that commands write with --json.`,
		Example: `  bench schema
  bench schema answer`,
		Args:      cobra.ArbitraryArgs,
		ValidArgs: schemas,
	}, func(args []string) (*answer.Document, error) {
		d := answer.New("schema", "The schema of experiment files")
		switch of := strings.Join(args, " "); of {
		case "", schemas[0]:
			text, err := experiment.JSONSchema()
			d.Add(answer.File{Name: "experiment.schema.json", Text: string(text)})
			return d, err
		case schemas[1]:
			d.Title = "The schema of answers"
			d.Add(answer.File{Name: "answer.schema.json", Text: answer.JSONSchema})
			return d, nil
		default:
			return nil, usage("bench schema: %q, expected one of: %s", of, strings.Join(schemas, ", "))
		}
	})
}
