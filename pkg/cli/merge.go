package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/commands/outcome"
	"github.com/conclave-bench/conclave/pkg/results"
)

func (s *streams) mergeCommand() *cobra.Command {
	var out string
	var wait time.Duration
	c := &cobra.Command{
		Use:   "merge DIR...",
		Short: "Make one run of its shards",
		Long: `Make one run of all shards of an experiment, which "bench run --shard" has
run on several machines. DIR is the folder of a shard, or that of an
experiment with its shards in it. The run gets a folder of its own, and the
shards stay.

A simulated run that is merged is the run in one piece, byte for byte. In one
on real nodes, column host says on which machine each trial ran.

Shards of different experiments, programs or divisions are refused, and so is
a shard that is missing, not at its end, or there twice. Then nothing is
written, and the commands are printed that run what is missing.

` + answer.Explain("run", "0", "1", "2", "3", "4", "5"),
		Example: `  bench merge results/quickstart
  bench merge results/quickstart --out merged --json`,
		Args: cobra.ArbitraryArgs,
	}
	c.Flags().StringVar(&out, "out", "results", "write the run into a folder of its own in `DIR`")
	c.Flags().DurationVar(&wait, "wait", 0, "wait up to `TIME`, as 12h, for shards that have not ended")
	return s.answering(c, func(args []string) (*answer.Document, error) {
		if len(args) == 0 {
			return nil, usage("bench merge: want the folders of shards, as results/quickstart")
		}
		return s.merge(args, out, wait)
	})
}

// look is how often merge looks for shards that it waits for.
const look = time.Second

// merge ends as the run in one piece would have.
func (s *streams) merge(paths []string, out string, wait time.Duration) (*answer.Document, error) {
	deadline := time.Now().Add(wait)
	var refused *results.MergeError
	dir, err := results.Merge(paths, out, s.argv)
	for errors.As(err, &refused) && refused.Later && time.Now().Before(deadline) {
		time.Sleep(min(look, time.Until(deadline)))
		dir, err = results.Merge(paths, out, s.argv)
	}
	if errors.As(err, &refused) {
		s.say(refused.Error())
		for _, command := range refused.Again {
			words := make([]string, len(command))
			for i, word := range command {
				words[i] = program.Quote(word)
			}
			fmt.Fprintf(s.err, "  %s\n", strings.Join(words, " "))
		}
		return nil, exit(answer.ExitOf(err))
	}
	if err != nil {
		return nil, err
	}
	e, dir, err := recorded(dir)
	if err != nil {
		return nil, err
	}
	o, err := outcome.Of(e, dir)
	if err != nil {
		return nil, err
	}
	m, err := results.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	o.Notes = m.Notes
	frugal(false)
	if err := o.Hold(); err != nil {
		return nil, err
	}
	if err := results.Conclude(dir, o.Tally.Code()); err != nil {
		return nil, err
	}
	return o.Document("merge"), nil
}
