package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answer"
	"github.com/conclave-bench/conclave/internal/bisect"
	"github.com/conclave-bench/conclave/internal/commits"
	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/diff"
	"github.com/conclave-bench/conclave/internal/history"
	"github.com/conclave-bench/conclave/internal/proc"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
)

func (s *streams) historyBackfillCommand() *cobra.Command {
	var f historyFlags
	var pkg string
	var again bool
	c := &cobra.Command{
		Use:   "backfill RANGE FILE",
		Short: "Run an experiment with the programs of past commits",
		Long: `Run the experiment of FILE, as it is now, with the program of each commit in
RANGE, and keep the figures. RANGE is as git has it: v1.0..HEAD, or HEAD~20..;
of merged branches the merges alone count. Each commit is checked out into a
temporary folder and built. The repository and its working tree stay as they
are.

Commits of which the history has a run of this experiment are left out, on
real processes a run on a machine like this one. So a backfill that was
interrupted goes on where it was. Commits that do not build, or cannot run the
experiment, are skipped.

` + answer.Explain("history", "0", "1", "2", "5", "130, 143"),
		Example: `  bench history backfill v1.0..HEAD configs/ci.yaml
  bench history backfill HEAD~50..HEAD configs/ci.yaml --package ./cmd/mybench`,
		Args: cobra.ArbitraryArgs,
	}
	f.place(c)
	c.Flags().StringVar(&pkg, "package", "./cmd/bench",
		"build the command in the Go package `PATH`, as seen from this folder")
	c.Flags().BoolVar(&again, "again", false, "run also what the history has")
	return s.answering(c, func(args []string) (*answer.Document, error) {
		if len(args) != 2 {
			return nil, usage("bench history backfill: %s, want a range of commits and FILE, as bench "+
				"history backfill HEAD~20..HEAD configs/ci.yaml",
				console.Plural(len(args), "argument", "arguments"))
		}
		ctx, stop := s.interruptible(context.Background())
		defer stop()
		return s.backfill(ctx, &f, args[0], args[1], pkg, again)
	})
}

func (s *streams) backfill(ctx context.Context, f *historyFlags, span, file, pkg string,
	again bool) (d *answer.Document, err error) {
	e, err := experiment.Load(file, experiment.Overrides{})
	if err != nil {
		return nil, err
	}
	if file, err = filepath.Abs(file); err != nil {
		return nil, err
	}
	store, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	repo, err := commits.Open(ctx, ".")
	if err != nil {
		return nil, err
	}
	list, err := repo.Range(ctx, span)
	if err != nil {
		return nil, usage("bench history backfill: %v", err)
	}
	has := map[string]bool{}
	if !again {
		if has, err = measuredHere(ctx, store, e); err != nil {
			return nil, err
		}
	}
	builder, err := repo.Builder(pkg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, builder.Close()) }()
	ran, skipped := 0, 0
	for i, c := range list {
		if has[c.Hash] {
			continue
		}
		s.say(fmt.Sprintf("%d left, running %s", len(list)-i, c.Title()))
		err := s.fill(ctx, store, builder, c, file)
		skip := (*commits.UntestableError)(nil)
		switch {
		case errors.As(err, &skip):
			skipped++
			s.say("  skipped: " + bisect.Brief(skip.Reason))
		case err != nil:
			return nil, err
		default:
			ran++
		}
	}
	d = answer.New("history backfill", "Runs of past commits")
	d.Say(fmt.Sprintf("%s: %s of %s added, %d were there, %d skipped", store,
		console.Plural(ran, "run", "runs"), e.Name, len(list)-ran-skipped, skipped))
	d.Add(answer.Facts{{Name: "added", Value: ran}, {Name: "skipped", Value: skipped}})
	if skipped > 0 {
		d.End(Incomplete, answer.Meaning("history", Incomplete))
	}
	return d, nil
}

// measuredHere are the commits that the history has runs of an experiment of.
func measuredHere(ctx context.Context, store *history.Store, e *experiment.Experiment) (map[string]bool,
	error) {
	entries, err := store.Entries(ctx)
	if err != nil {
		return nil, err
	}
	here := history.Fingerprint(results.ThisSite().Machine)
	out := map[string]bool{}
	for _, x := range entries {
		if x.Experiment == e.Name && (e.Virtual() || history.Fingerprint(x.Machine) == here) {
			out[x.Commit.Hash] = true
		}
	}
	return out, nil
}

// fill builds a commit, runs the experiment and keeps what it found.
func (s *streams) fill(ctx context.Context, store *history.Store, b *commits.Builder, c *commits.Commit,
	file string) error {
	program, err := b.Build(ctx, c)
	if err != nil {
		return err
	}
	out, err := os.MkdirTemp("", "bench-backfill-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(out) // in the folder for what may go
	run := proc.Interruptible(ctx, program, "run", file, "--out", out, "--quiet", "--progress", "none")
	var said bytes.Buffer
	run.Stderr = &said
	err = run.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	found, _ := filepath.Glob(filepath.Join(out, "*", "latest"))
	if len(found) != 1 {
		return &commits.UntestableError{Reason: "it does not run the experiment: " +
			cmp.Or(strings.TrimSpace(proc.Harmless(said.String())), fmt.Sprint(err))}
	}
	t, err := results.ReadTable(found[0])
	var entry *history.Entry
	if err == nil {
		entry, err = history.NewEntry(t, *c)
	}
	if err != nil { // another version's results, or those of a run that ended early
		return &commits.UntestableError{Reason: err.Error()}
	}
	return store.Add(ctx, entry, t.Config)
}

// mostCauses is of how many changes the cause is looked for: each takes builds.
const mostCauses = 3

// explain looks for the causes of the newest exact changes that nobody has blessed: the commit, and the
// first message at which the trial parts from the one before.
func (s *streams) explain(ctx context.Context, store *history.Store, a *history.Analysis, pkg string) error {
	dir, err := os.MkdirTemp("", "bench-history-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // in the folder for what may go
	bad := a.Bad()
	done := 0
	for i := len(bad) - 1; i >= 0 && done < mostCauses; i-- {
		f := bad[i]
		if f.Trial == 0 || f.Kind == history.Contradiction {
			continue
		}
		done++
		config, err := store.Experiment(ctx, f.Config)
		if err != nil {
			return fmt.Errorf("%s does not have the experiment of %s: %w", store, f.Experiment, err)
		}
		file := filepath.Join(dir, f.Experiment+".yaml")
		if err := os.WriteFile(file, config, 0o644); err != nil {
			return err
		}
		q := &bisect.Question{Good: f.Before.Hash, Bad: f.Commit.Hash, Package: pkg, FirstParent: true,
			Say: s.say}
		if q.World, err = diff.ReadWorld(file, &f.Trial); err != nil {
			return err
		}
		q.World.Name = fmt.Sprintf("trial %d of %s", f.Trial, f.Experiment)
		c, err := q.Cause(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			f.Cause = "no cause found: " + err.Error()
			continue
		}
		var text strings.Builder
		if err := answer.Named("text").Write(&text, c.Answer(3)); err != nil {
			return err
		}
		f.Cause = strings.TrimSpace(text.String())
	}
	return nil
}
