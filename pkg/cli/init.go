package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/pkg/experiment"
)

func (s *streams) initCommand() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a commented experiment file to begin with",
		Example: `  bench init
  bench init experiment.yaml
  bench init experiment.yaml --force`,
		Args: cobra.ArbitraryArgs,
	}
	c.Flags().BoolVar(&force, "force", false, "replace FILE if it exists")
	return s.answering(c, func(args []string) (*answer.Document, error) {
		d := answer.New("init", "An experiment to begin with")
		switch len(args) {
		case 0:
			d.Add(answer.File{Name: "experiment", Text: experiment.Template()})
			return d, nil
		case 1:
			d.Add(answer.File{Name: "experiment", Path: args[0]})
			if err := writeTemplate(args[0], force); err != nil {
				return nil, err
			}
			fmt.Fprintf(s.aside(), "wrote %s; run it with: %s\n", args[0], program.Command("run", args[0]))
			return d, nil
		}
		return nil, usage("bench init: %d files, expected one or none", len(args))
	})
}

func writeTemplate(path string, force bool) error {
	write := files.Create
	if force {
		write = func(path string, text []byte) error { return os.WriteFile(path, text, 0o644) }
	}
	err := write(path, []byte(experiment.Template()))
	if errors.Is(err, fs.ErrExist) {
		return usage("init: %s exists; --force replaces it", path)
	}
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	return nil
}
