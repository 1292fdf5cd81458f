package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/commands/catalog"
	"github.com/conclave-bench/conclave/internal/commands/prove"
	proof "github.com/conclave-bench/conclave/internal/judgement/prove"
	"github.com/conclave-bench/conclave/pkg/results"
)

func (s *streams) proveCommand() *cobra.Command {
	var q prove.Request
	var quiet bool
	c := &cobra.Command{
		Use:   "prove ID",
		Short: "Check every schedule of a small system",
		Long: `Visit every state that a small system can reach, under every order of its
events, with a budget of faults. The first promise that breaks is printed as the
shortest schedule, and saved as an experiment for bench run.

States are compared by fingerprints of 64 bits; the probability that one was
missed is printed. A search that stops early exits with 5, and says how far it
came.

` + answer.Explain("prove", "0", "1", "2", "3", "5", "130, 143"),
		Example: `  bench prove ricart-agrawala
  bench prove raft --nodes 3 --crashes 1 --losses 1
  bench prove lamport --states 100000`,
		Args: cobra.ArbitraryArgs,
	}
	proveFlags(c, &q, &quiet)
	return s.answering(c, func(args []string) (*answer.Document, error) {
		if len(args) != 1 {
			return nil, usage("bench prove: %d algorithms, expected one (\"bench list\" shows "+
				"all)", len(args))
		}
		alg, err := catalog.Simulated(args[0])
		if err != nil {
			return nil, err
		}
		if err := proveWords(c, &q); err != nil {
			return nil, err
		}
		requests, timeouts, err := proof.Defaults(alg.ID)
		if err != nil {
			return nil, err
		}
		if !c.Flags().Changed("requests") {
			q.Requests = requests
		}
		if !c.Flags().Changed("time-outs") {
			q.Timeouts = timeouts
		}
		if q.Checkpoint.Path != "" {
			tool := results.ThisSite().Tool
			q.Checkpoint.Version = strings.TrimSpace(tool.Version + " " + tool.Own)
			q.Checkpoint.Program = program.Build{Source: tool.Source, Binary: tool.Binary}
		}
		if !quiet {
			busy, done := s.busy()
			defer done()
			q.Progress = func(p proof.Progress) { busy(prove.Shown(p)) }
		}
		ctx, stop := s.interruptible(context.Background())
		defer stop()
		return q.Answer(ctx, alg)
	})
}

func proveFlags(c *cobra.Command, q *prove.Request, quiet *bool) {
	flags := c.Flags()
	flags.IntVar(&q.Nodes, "nodes", 3, "use `N` processes")
	flags.IntVar(&q.Requests, "requests", 2, "each process requests `N` times; of an election, N are started")
	flags.IntVar(&q.Crashes, "crashes", 0, "at most `N` crashes, with restarts if it survives them")
	flags.IntVar(&q.Losses, "losses", 0, "at most `N` messages are lost")
	flags.IntVar(&q.Copies, "copies", 0, "at most `N` messages arrive twice")
	flags.IntVar(&q.Overtakes, "overtakes", 0, "at most `N` messages overtake others on a FIFO link")
	flags.IntVar(&q.Suspicions, "suspicions", 0, "at most `N` false suspicions by the failure detector")
	flags.IntVar(&q.Cuts, "cuts", 0, "at most `N` cuts of a link, or between two groups, which heal")
	flags.IntVar(&q.Timeouts, "time-outs", 0, "at most `N` timers expire; -1: any number (default: 0, or "+
		"any if it needs bounded delays)")
	flags.BoolVar(&q.Live, "live", true, "check, too, that everything can still complete in every state, of "+
		"up to two million")
	flags.BoolVar(&q.Canonical, "canonical", true, "compare states by deadlines that are left, without "+
		"clocks that are not read, and nil as empty")
	flags.IntVar(&q.States, "states", 0, "stop after about `N` states (default: none)")
	flags.Int64Var(&q.MiB, "memory", 0, "stop at about `N` MiB of memory (default: half of the machine's)")
	flags.DurationVar(&q.Time, "time", 0, "stop after `D` (default: never)")
	flags.IntVar(&q.Workers, "workers", 0, "use `N` cores, up to 16 (default: all)")
	flags.StringArrayVar(&q.Words, "params", nil, "set a parameter with `NAME=VALUE`; repeatable")
	flags.StringVar(&q.Checkpoint.Path, "checkpoint", "", "keep a search that stops early in `FILE`, or "+
		"continue it")
	flags.StringVar(&q.Out, "out", "", "save a finding to `FILE` (default: prove-NAME.yaml)")
	flags.BoolVar(quiet, "quiet", false, "print only results and errors")
}

// proveWords refuses numbers of nothing.
func proveWords(c *cobra.Command, q *prove.Request) error {
	flags := c.Flags()
	switch {
	case q.States < 0 || q.States == 0 && flags.Changed("states"):
		return usage("--states %d, expected 1 or more", q.States)
	case q.MiB < 0 || q.MiB == 0 && flags.Changed("memory") || q.MiB > 1<<30:
		return usage("--memory %d, expected 1 or more", q.MiB)
	case q.Time < 0 || q.Time == 0 && flags.Changed("time"):
		return usage("--time %v, expected a duration above 0, as 30s", q.Time)
	case q.Workers < 0 || q.Workers == 0 && flags.Changed("workers") || q.Workers > 16:
		return usage("--workers %d, expected 1 to 16", q.Workers)
	}
	q.Time = min(q.Time, 1000*time.Hour)
	return nil
}
