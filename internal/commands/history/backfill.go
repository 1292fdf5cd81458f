package history

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/commits"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/commands/bisect"
	"github.com/conclave-bench/conclave/internal/commands/diff"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
)

// Backfill runs the experiment of a file with the programs of commits.
func (f *Request) Backfill(ctx context.Context, span, file string) (d *answer.Document, err error) {
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
		return nil, answer.Mistaken("bench history backfill: %v", err)
	}
	has := map[string]bool{}
	if !f.Again {
		if has, err = measuredHere(ctx, store, e); err != nil {
			return nil, err
		}
	}
	builder, err := repo.Builder(f.Package)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, builder.Close()) }()
	ran, skipped := 0, 0
	for i, c := range list {
		if has[c.Hash] {
			continue
		}
		f.Say(fmt.Sprintf("%d left, running %s", len(list)-i, c.Title()))
		err := fill(ctx, store, builder, c, file)
		skip := (*commits.UntestableError)(nil)
		switch {
		case errors.As(err, &skip):
			skipped++
			f.Say("  skipped: " + bisect.Brief(skip.Reason))
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
		d.End(answer.Incomplete, answer.Meaning("history", answer.Incomplete))
	}
	return d, nil
}

// measuredHere are the commits that the history has runs of an experiment of.
func measuredHere(ctx context.Context, store *Store, e *experiment.Experiment) (map[string]bool,
	error) {
	entries, err := store.Entries(ctx)
	if err != nil {
		return nil, err
	}
	here := Fingerprint(results.ThisSite().Machine)
	out := map[string]bool{}
	for _, x := range entries {
		if x.Experiment == e.Name && (e.Virtual() || Fingerprint(x.Machine) == here) {
			out[x.Commit.Hash] = true
		}
	}
	return out, nil
}

// fill builds a commit, runs the experiment and keeps what it found.
func fill(ctx context.Context, store *Store, b *commits.Builder, c *commits.Commit,
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
	var entry *Entry
	if err == nil {
		entry, err = NewEntry(t, *c)
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
func (f *Request) explain(ctx context.Context, store *Store, a *Analysis) error {
	dir, err := os.MkdirTemp("", "bench-history-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // in the folder for what may go
	bad := a.Bad()
	done := 0
	for i := len(bad) - 1; i >= 0 && done < mostCauses; i-- {
		x := bad[i]
		if x.Trial == 0 || x.Kind == Contradiction {
			continue
		}
		done++
		config, err := store.Experiment(ctx, x.Config)
		if err != nil {
			return fmt.Errorf("%s does not have the experiment of %s: %w", store, x.Experiment, err)
		}
		file := filepath.Join(dir, x.Experiment+".yaml")
		if err := os.WriteFile(file, config, 0o644); err != nil {
			return err
		}
		q := &bisect.Question{Good: x.Before.Hash, Bad: x.Commit.Hash, Package: f.Package, FirstParent: true,
			Say: f.Say}
		if q.Subject, err = diff.ReadSubject(file, &x.Trial); err != nil {
			return err
		}
		q.Subject.Name = fmt.Sprintf("trial %d of %s", x.Trial, x.Experiment)
		c, err := q.Cause(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			x.Cause = "no cause found: " + err.Error()
			continue
		}
		text, err := c.Answer(3).In("text")
		if err != nil {
			return err
		}
		x.Cause = strings.TrimSpace(string(text))
	}
	return nil
}
