// Command convert-cases writes the cases of a file of the old form, a list in JSON, as a stream of
// experiments in YAML, which bench verify reads:
//
//	go run ./scripts/convert-cases OLD.json > NEW.yaml
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/commands/conform"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "convert-cases: want one file, as convert-cases OLD.json > NEW.yaml")
		os.Exit(2)
	}
	if err := convert(os.Args[1], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "convert-cases:", err)
		os.Exit(1)
	}
}

// convert writes the cases of the file at path, and says which of them nobody can run.
func convert(path string, out, notes io.Writer) error {
	text, err := files.Read(path, conform.MostCases)
	if err != nil {
		return err
	}
	text, _, found := conform.Convert(text)
	if found != nil {
		return found.In(path)
	}
	list, err := conform.LoadCases("converted.yaml", text)
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].Words != nil {
			fmt.Fprintf(notes, "%s says in words what a trial needs; write it as an experiment\n", list[i].ID)
		}
	}
	_, err = out.Write(text)
	return err
}
