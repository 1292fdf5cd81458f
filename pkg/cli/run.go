package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// runFlags are the flags of bench run.
type runFlags struct {
	transport  string
	set        []string
	out        string
	resume     string
	algorithms []string
	nodes      string
	workers    int
}

func (s *streams) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:  "run [FILE]",
		RunE: func(_ *cobra.Command, args []string) error { return s.run(&f, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.transport, "transport", "", "nats or sim")
	flags.StringArrayVar(&f.set, "set", nil, "KEY=VALUE")
	flags.StringVar(&f.out, "out", "results", "where results go")
	flags.IntVar(&f.workers, "workers", 0, "trials at a time in simulation")
	return c
}

func (s *streams) run(f *runFlags, args []string) error {
	set := f.set
	if f.transport != "" {
		set = append([]string{"transport=" + f.transport}, set...)
	}
	e, err := experiment.Load(args[0], experiment.Overrides{Set: set, Env: s.env})
	if err != nil {
		return err
	}
	config, err := e.Resolved()
	if err != nil {
		return err
	}
	folder, err := results.Create(f.out, runner.Header(e, os.Args), config)
	if err != nil {
		return err
	}
	defer folder.Close()
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, stop := s.interruptible(context.Background())
	defer stop()
	sum, err := runner.Run(ctx, e, folder, runner.Options{
		Exe: exe, NodeArgs: []string{nodeRole}, BusArgs: []string{busRole}, Workers: f.workers,
		Progress: func(p runner.Progress) {
			fmt.Fprintf(s.err, "trial %d/%d status=%s %s\n", p.Finished, p.Planned, p.Result.Status,
				p.Result.Reason)
		},
	})
	fmt.Fprintln(s.out, folder.Dir(), sum.Statuses, sum.Notes)
	return err
}
