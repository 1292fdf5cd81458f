package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/commands/gate"
)

func (s *streams) gateCommand() *cobra.Command {
	q := gate.Request{Say: s.say, Meaning: func(code int) string { return answer.Meaning("gate", code) }}
	c := &cobra.Command{
		Use:   "gate --base REF FILE...",
		Short: "Compare the working tree with its base; for pull requests",
		Long: `Build the command of the Go module in this folder twice, as the working tree
has it (head) and as the commit has it at which HEAD left REF (base). Run each
experiment with both, compare the runs as bench compare does, and fail if head
is worse. So a pull request is compared with what it began from, and not with
what others did meanwhile. Uncommitted changes are part of head.

An experiment in simulation runs once with each build. One on real processes
runs in turns, base first in one and head first in the next, with another seed
in each turn: so a machine that grows slower does so for both. FILE is read as
it is now, by both builds; if base refuses that, as it does where head adds an
algorithm, it runs FILE as it was. If it had none, head is judged alone.

DIR always gets ` + gate.Markdown + `, for a comment on the pull request, and
` + gate.JUnit + `. If there is no base, or head does not build or breaks a promise,
they say so first. DIR keeps both builds and their runs, and the commands that
reproduce what broke name them.

` + answer.Explain("gate", "0", "1", "2", "3", "4", "5", "130, 143"),
		Example: `  bench gate --base origin/main configs/ci.yaml
  bench gate --base HEAD~1 configs/ci.yaml configs/quickstart.yaml --turns 6
  bench gate --base main experiment.yaml --package . --threshold 1%`,
		Args: cobra.ArbitraryArgs,
	}
	flags := c.Flags()
	flags.StringVar(&q.Base, "base", "", "compare with the commit at which HEAD left `REF`")
	flags.StringVar(&q.Package, "package", "./cmd/bench",
		"build the command in the Go package `PATH`, as seen from this folder")
	flags.StringVar(&q.Out, "out", "gate", "write the comparison, the builds and their runs into `DIR`")
	flags.IntVar(&q.Turns, "turns", 3, "run experiments on real processes `N` times with each build")
	judging(c, &q.Judged)
	return s.answering(c, func(args []string) (*answer.Document, error) {
		switch {
		case q.Base == "":
			return nil, usage("bench gate: want --base, the branch or commit to compare with, as " +
				"--base origin/main")
		case len(args) == 0:
			return nil, usage("bench gate: want FILE, an experiment, as bench gate --base %s configs/ci.yaml",
				q.Base)
		case q.Turns < 1:
			return nil, usage("--turns %d, want 1 or more", q.Turns)
		}
		for _, file := range args {
			if strings.HasPrefix(file, "-") { // both builds would take it for an option
				file = "./" + file
			}
			q.Files = append(q.Files, file)
		}
		ctx, stop := s.interruptible(context.Background())
		defer stop()
		return gate.Run(ctx, q)
	})
}
