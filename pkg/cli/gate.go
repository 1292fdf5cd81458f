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
		Long: `Build this module's command twice: from the working tree (head) and from the
merge base of HEAD and REF (base). Run each FILE with both, compare the runs as
bench compare does, and fail if head is worse. Uncommitted changes are part of
head. FILE is read as it is now, unless base cannot read it.

Real processes run in turns, alternating which build goes first. DIR gets
` + gate.Markdown + ` for the pull request, ` + gate.JUnit + `, both builds and their runs;
docs/how-to/gate.md explains them.

` + answer.Explain("gate", "0", "1", "2", "3", "4", "5", "130, 143"),
		Example: `  bench gate --base origin/main configs/ci.yaml
  bench gate --base HEAD~1 configs/ci.yaml configs/quickstart.yaml --turns 6
  bench gate --base main experiment.yaml --package . --threshold 1%`,
		Args: cobra.ArbitraryArgs,
	}
	flags := c.Flags()
	flags.StringVar(&q.Base, "base", "", "compare with the merge base of HEAD and `REF`")
	flags.StringVar(&q.Package, "package", "./cmd/bench",
		"build the command in the Go package `PATH`, as seen from this folder")
	flags.StringVar(&q.Out, "out", "gate", "write the comparison, the builds and their runs into `DIR`")
	flags.IntVar(&q.Turns, "turns", 3, "run experiments on real processes `N` times with each build")
	judging(c, &q.Judged)
	return s.answering(c, func(args []string) (*answer.Document, error) {
		switch {
		case q.Base == "":
			return nil, usage("bench gate: expected --base, the branch or commit to compare with, as " +
				"--base origin/main")
		case len(args) == 0:
			return nil, usage("bench gate: expected FILE, an experiment, as bench gate --base %s "+
				"configs/ci.yaml",
				q.Base)
		case q.Turns < 1:
			return nil, usage("--turns %d, expected 1 or more", q.Turns)
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
