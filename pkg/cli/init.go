package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/files"
	"github.com/conclave-bench/conclave/internal/program"
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
		RunE: func(_ *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				_, err := io.WriteString(s.out, experiment.Template())
				return err
			case 1:
				return s.writeTemplate(args[0], force)
			}
			return usage("bench init: %d files, want one or none", len(args))
		},
	}
	c.Flags().BoolVar(&force, "force", false, "replace FILE if it exists")
	return c
}

func (s *streams) writeTemplate(path string, force bool) error {
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
	fmt.Fprintf(s.aside(), "wrote %s; run it with: %s\n", path, program.Command("run", path))
	return nil
}
