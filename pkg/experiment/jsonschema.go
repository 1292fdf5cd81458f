package experiment

import "github.com/conclave-bench/conclave/pkg/config"

// JSONSchema describes the language of experiment files in JSON Schema, draft
// 2020-12: for editors, which complete keys and mark mistakes by it. It knows the
// algorithms that are linked in. A file that it accepts may still be wrong, in
// what goes beyond one value: Load has the last word.
func JSONSchema() ([]byte, error) {
	return schemaOf(&settings{}).JSON(config.Object{
		"title":       "An experiment of Conclave",
		"description": "What \"bench run\" takes, in YAML, TOML or JSON.",
		"required":    []string{"algorithms"},
	})
}
