package history

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/answers/theme"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/commits"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A Request is a question about a history, in the words of the command line.
type Request struct {
	Store     string // a place
	At, Since string // commits
	Alpha     float64
	Least     string // a share
	Metrics   []string
	Where     []string // COLUMN=VALUE
	All       bool
	Package   string // of the command that is built of commits
	Again     bool   // build also those whose runs the history has
	Cause     bool   // look for causes
	Say       func(text string)
}

// Usual is the request with every default.
func Usual(store string) Request {
	return Request{Store: store, At: "HEAD", Alpha: DefaultAlpha, Least: "1%"}
}

// Trends is the page of trends of a history as it is usually asked for: of the commits that the current one
// has, or else, as outside of their repository, of all runs by date. Links are what stands beside it.
func Trends(ctx context.Context, store string, links ...theme.Link) ([]byte, error) {
	f := Usual(store)
	from, a, err := f.Analysis(ctx)
	if err != nil {
		f.All = true
		from, a, err = f.Analysis(ctx)
	}
	if err != nil {
		return nil, err
	}
	return Page(from.String(), a, links...)
}

// Is says whether a folder is a history.
func Is(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, entriesIn))
	return err == nil && info.IsDir()
}

// open opens the history to write to it.
func (f *Request) open(ctx context.Context) (*Store, error) {
	store, err := Open(ctx, f.Store)
	if err == nil {
		err = store.Writable(ctx)
	}
	if err != nil {
		return nil, answer.Mistaken("--store: %v", err)
	}
	return store, nil
}

// Analysis reads the history and analyzes it.
func (f *Request) Analysis(ctx context.Context) (*Store, *Analysis, error) {
	o := Options{Alpha: f.Alpha, Metrics: f.Metrics}
	var err error
	if o.Least, err = compare.ReadShare(f.Least); err != nil {
		return nil, nil, answer.Mistaken("--least %s: %v, expected a percentage as 1%%, or a fraction as "+
			"0.01",
			f.Least, err)
	}
	if !(f.Alpha > 0 && f.Alpha < 1) {
		return nil, nil, answer.Mistaken("--alpha %v: expected a probability between 0 and 1, as "+
			"0.01", f.Alpha)
	}
	where, err := view.ReadWhere(f.Where)
	if err != nil {
		return nil, nil, err
	}
	store, err := Open(ctx, f.Store)
	if err != nil {
		return nil, nil, answer.Mistaken("--store: %v", err)
	}
	entries, err := store.Entries(ctx)
	if err != nil {
		return nil, nil, err
	}
	if len(entries) == 0 {
		return nil, nil, answer.Mistaken("%s has no runs; bench history add RUN adds one", f.Store)
	}
	blessings, err := store.Blessings(ctx)
	if err != nil {
		return nil, nil, err
	}
	if !f.All {
		if o.Line, err = ancestry(ctx, f.At); err != nil {
			return nil, nil, fmt.Errorf("%w; with --all, the runs are taken by the dates of their commits",
				err)
		}
	}
	if entries, err = Select(entries, where); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", store, err)
	}
	a := Analyze(entries, blessings, o)
	if len(entries) == 0 {
		a.Notes = append(a.Notes, view.None(where))
	}
	lack := ""
	if !f.All {
		lack = older(ctx)
	}
	switch {
	case a.Runs == 0 && len(entries) > 0:
		return nil, nil, answer.Mistaken("none of the %d runs of %s is of a commit that %s has%s",
			len(entries), f.Store, f.At, cmp.Or(lack, "; choose another --at, or --all"))
	case a.Elsewhere > 0 && lack != "":
		a.Notes = append(a.Notes, "commits are missing"+lack)
	}
	if f.Since != "" {
		c, err := Describe(ctx, f.Since)
		if err == nil {
			err = a.After(c.Hash)
		}
		if err != nil {
			return nil, nil, answer.Mistaken("--since %s: %v", f.Since, err)
		}
	}
	if f.Cause {
		err = f.explain(ctx, store, a)
	}
	return store, a, err
}

// older says where commits are that this repository lacks, "" if it lacks none.
func older(ctx context.Context) string {
	repo, err := commits.Open(ctx, ".")
	if err != nil {
		return ""
	}
	if text := repo.Shallow(ctx); text != "" {
		return " in this repository, " + text
	}
	return ""
}

// ancestry is the commits that led to the one of a name.
func ancestry(ctx context.Context, name string) ([]*commits.Commit, error) {
	repo, err := commits.Open(ctx, ".")
	if err != nil {
		return nil, err
	}
	c, err := repo.Find(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("--at: %w", err)
	}
	return repo.Line(ctx, c)
}

// Add keeps runs, all of one commit unless that is what their manifests say, and then exchanges the history
// with a remote repository, if one is named.
func (f *Request) Add(ctx context.Context, runs []string, commit, push string) (*answer.Document, error) {
	store, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	d := answer.New("history add", "Runs of the history "+store.String())
	for _, path := range runs {
		if err := add(ctx, d, store, path, commit); err != nil {
			return nil, err
		}
	}
	if push != "" {
		err = store.Sync(ctx, push)
	}
	return d, err
}

// add keeps a run, and says so.
func add(ctx context.Context, d *answer.Document, store *Store, path, commit string) error {
	t, err := results.ReadTable(path)
	if err != nil {
		return err
	}
	if commit == "" && t.Manifest != nil {
		switch tool := t.Manifest.Tool; {
		case tool.Dirty:
			return answer.Mistaken("%s: the program was built from uncommitted changes on top of %.12s, so "+
				"that it cannot be rebuilt; commit them, or name a commit with --commit", path,
				tool.Commit)
		case tool.Commit == "":
			return answer.Mistaken("%s: the manifest does not name the commit of the program (go "+
				"run does not record it); use go build, or name the commit with --commit HEAD", path)
		default:
			commit = tool.Commit
		}
	}
	of, err := Describe(ctx, commit)
	if err != nil {
		return answer.Mistaken("--commit: %v", err)
	}
	e, err := NewEntry(t, of)
	if err != nil {
		return err
	}
	if err := store.Add(ctx, e, t.Config); err != nil {
		return err
	}
	d.Say(fmt.Sprintf("%s: %s, %s, of %s", store, e.Experiment, console.Plural(len(e.Cells), "cell", "cells"),
		commitText(&of)))
	return nil
}

// commitText is a commit in a line.
func commitText(c *commits.Commit) string { return strings.TrimSpace(c.Short() + " " + c.Subject) }

// Bless accepts what a commit changed.
func (f *Request) Bless(ctx context.Context, commit, metricName, reason string) (*answer.Document, error) {
	store, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	c, err := Describe(ctx, commit)
	if err != nil {
		return nil, answer.Mistaken("bench history bless: %v", err)
	}
	b := &Blessing{Commit: c.Hash, Metric: metricName, Reason: reason,
		At: time.Now().UTC().Format(time.RFC3339)}
	if repo, err := commits.Open(ctx, "."); err == nil {
		b.By = repo.User(ctx)
	}
	where, err := view.ReadWhere(f.Where)
	if err != nil {
		return nil, err
	}
	b.Where = Design(where)
	entries, err := store.Entries(ctx)
	if err != nil {
		return nil, err
	}
	if len(entries) > 0 { // what is blessed may be measured later
		if _, err := Select(entries, where); err != nil {
			return nil, fmt.Errorf("%s: %w", store, err)
		}
	}
	if err := store.Bless(ctx, b); err != nil {
		return nil, err
	}
	d := answer.New("history bless", "Blessed")
	d.Say(fmt.Sprintf("%s: blessed %s", store, commitText(&c)))
	return d, nil
}
