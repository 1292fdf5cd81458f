package commits

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// An UntestableError says why a commit cannot be tested: it does not build, for example.
type UntestableError struct{ Reason string }

func (e *UntestableError) Error() string { return e.Reason }

// A Search is for the first commit between Good and Bad that changed something.
type Search struct {
	Good, Bad *Commit
	// FirstParent takes a merge for one change: what it merged is not looked into.
	FirstParent bool
	// Test says whether a commit is not as Good is; so many more may have to be tested. An
	// UntestableError has it skipped.
	Test func(ctx context.Context, c *Commit, left int) (changed bool, err error)
}

// A Found is what a search came to.
type Found struct {
	First   *Commit   // the commit that changed it, or the last of those that may have
	Others  []*Commit // that may have changed it before, and cannot be tested; oldest first
	Before  *Commit   // its parent, or the nearest ancestor that can be tested; nil: there is none
	Between int       // how many commits lie between Good and Bad
}

// First searches as git bisect does: of the commits that Bad has and Good has not, it tests the one
// that leaves the fewest whatever it shows. So it knows its way through merges.
func (r *Repo) First(ctx context.Context, s *Search) (*Found, error) {
	test := func(hash string, left int) (changed bool, err error) {
		c, err := r.Find(ctx, hash)
		if err != nil {
			return false, err
		}
		return s.Test(ctx, c, left)
	}
	if err := r.common(ctx, s, test); err != nil {
		return nil, err
	}
	good, bad := []string{s.Good.Hash}, s.Bad.Hash
	skipped := map[string]bool{}
	found := &Found{Between: -1}
	for {
		all, err := r.between(ctx, s, bad, good)
		if err != nil {
			return nil, err
		}
		if found.Between < 0 {
			found.Between = len(all)
		}
		open := slices.DeleteFunc(slices.Clone(all), func(hash string) bool { return skipped[hash] })
		if len(open) == 0 {
			return found, r.conclude(ctx, found, bad, good, all)
		}
		// What lies beside a commit that does not build often does not either: look elsewhere.
		next := open[len(open)*((len(all)-len(open))%4)/4]
		changed, err := test(next, len(open))
		untestable := (*UntestableError)(nil)
		switch {
		case errors.As(err, &untestable):
			skipped[next] = true
		case err != nil:
			return nil, err
		case changed:
			bad = next
		default:
			good = append(good, next)
		}
	}
}

// Bases are the last commits that Good and Bad have in common. It is a Mistake if nothing
// can be found between the two, whatever the tests show.
func (r *Repo) Bases(ctx context.Context, good, bad *Commit) ([]string, error) {
	out, err := r.git(ctx, "merge-base", "--all", good.Hash, bad.Hash)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, mistaken("%s and %s have no commit in common", good.Short(), bad.Short())
	case out == bad.Hash:
		return nil, mistaken("%s comes before %s: name the older one first, whichever is better", bad.Short(),
			good.Short())
	}
	return strings.Fields(out), nil
}

// common tests the merge bases of Good and Bad, if Bad does not descend from Good: what changed on Good's
// side cannot be found among Bad's commits.
func (r *Repo) common(ctx context.Context, s *Search, test func(string, int) (bool, error)) error {
	bases, err := r.Bases(ctx, s.Good, s.Bad)
	if err != nil || bases[0] == s.Good.Hash {
		return err
	}
	for _, base := range bases {
		changed, err := test(base, 1)
		if err != nil {
			return fmt.Errorf("%.12s, the merge base of %s and %s: "+
				"%w", base, s.Good.Short(), s.Bad.Short(), err)
		}
		if changed {
			return mistaken("%.12s, the merge base of %s and %s, differs from %[2]s: the change is between "+
				"these two; search from %.12[1]s to %[2]s", base, s.Good.Short(), s.Bad.Short())
		}
	}
	return nil
}

// between are the commits that may have changed it, without bad, the best to test first.
func (r *Repo) between(ctx context.Context, s *Search, bad string, good []string) ([]string, error) {
	args := []string{"rev-list", "--bisect-all"}
	if s.FirstParent {
		args = append(args, "--first-parent")
	}
	out, err := r.git(ctx, append(append(args, bad, "--not"), good...)...)
	if err != nil {
		return nil, err
	}
	var all []string
	for line := range strings.Lines(out) {
		if hash, _, _ := strings.Cut(strings.TrimSpace(line), " "); hash != bad {
			all = append(all, hash)
		}
	}
	return all, nil
}

// conclude fills in what is left: bad changed it, or one of those that cannot be tested did.
func (r *Repo) conclude(ctx context.Context, found *Found, bad string, good, untestable []string) error {
	args := append([]string{"rev-list", "--topo-order", "--reverse", bad, "--not"}, good...)
	tree, err := r.git(ctx, args...)
	if err != nil {
		return err
	}
	for hash := range strings.FieldsSeq(tree) {
		if !slices.Contains(untestable, hash) {
			continue
		}
		c, err := r.Find(ctx, hash)
		if err != nil {
			return err
		}
		found.Others = append(found.Others, c)
	}
	if found.First, err = r.Find(ctx, bad); err != nil {
		return err
	}
	trunk, err := r.git(ctx, "rev-list", "--first-parent", bad)
	if err != nil {
		return err
	}
	for _, hash := range strings.Fields(trunk)[1:] {
		if !slices.Contains(untestable, hash) {
			found.Before, err = r.Find(ctx, hash)
			return err
		}
	}
	return nil
}
