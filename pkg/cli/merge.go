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
	"github.com/conclave-bench/conclave/internal/commands/replay"
	"github.com/conclave-bench/conclave/pkg/results"
)

func (s *streams) mergeCommand() *cobra.Command {
	var out string
	var wait time.Duration
	var notes bool
	c := &cobra.Command{
		Use:   "merge DIR...",
		Short: "Merge the shards of a run",
		Long: `Merge the shards of an experiment, which "bench run --shard" ran on several
machines, into one run in a folder of its own. DIR is the folder of a shard, or
of an experiment with its shards. Merged shards of a simulation equal an
unsharded run, byte for byte.

Shards of different experiments, programs or divisions are refused, and so are
missing, unfinished and duplicate shards. Then nothing is written, and the
commands that run what is missing are printed. Builds of one commit for several
platforms are one program for simulated trials: a sample of the trials from
other platforms is run again here, and a difference refuses the merge.

` + answer.Explain("run", "0", "1", "2", "3", "4", "5"),
		Example: `  bench merge results/quickstart
  bench merge results/quickstart --out merged --json`,
		Args: cobra.ArbitraryArgs,
	}
	c.Flags().StringVar(&out, "out", "results", "write the run into a folder of its own in `DIR`")
	notesFlag(c, &notes)
	c.Flags().DurationVar(&wait, "wait", 0, "wait up to `TIME`, as 12h, for shards that have not ended")
	return s.answering(c, func(args []string) (*answer.Document, error) {
		if len(args) == 0 {
			return nil, usage("bench merge: expected the folders of shards, as results/quickstart")
		}
		return s.merge(args, out, wait, notes)
	})
}

// look is how often merge looks for shards that it waits for.
const look = time.Second

// merge ends as the run in one piece would have.
func (s *streams) merge(paths []string, out string, wait time.Duration, notes bool) (
	*answer.Document, error) {
	deadline := time.Now().Add(wait)
	var refused *results.MergeError
	recheck := func(dir string) (int, string, error) { return replay.Sample(dir, s.again("")) }
	dir, err := results.Merge(paths, out, s.argv, recheck)
	for errors.As(err, &refused) && refused.Later && time.Now().Before(deadline) {
		time.Sleep(min(look, time.Until(deadline)))
		dir, err = results.Merge(paths, out, s.argv, recheck)
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
	o.Notes, o.Whole = m.Notes, notes
	frugal(false)
	if err := o.Hold(); err != nil {
		return nil, err
	}
	if err := results.Conclude(dir, o.Tally.Code()); err != nil {
		return nil, err
	}
	return o.Document("merge"), nil
}
