package history

import (
	"context"
	"fmt"
	"strings"

	"github.com/conclave-bench/conclave/internal/stats"
)

// Fewest is how many runs it takes to say anything of a noisy series, and Behind how many behind a
// change.
const (
	Fewest = stats.MinimumCourse
	Behind = stats.ShortestStretch
)

// Line lists the commits that led to one, the oldest first, without those of branches that were merged.
func Line(ctx context.Context, name string) ([]Commit, error) {
	hash, err := Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	return log(ctx, "--first-parent", "--reverse", hash)
}

func log(ctx context.Context, args ...string) (out []Commit, err error) {
	text, err := git(ctx, nil, nil, append([]string{"log", "--format=%H%x09%cI%x09%aN%x09%s"}, args...)...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), "\t", 4)
		if len(f) == 4 {
			out = append(out, Commit{Hash: f[0], Date: f[1], Author: f[2], Subject: f[3]})
		}
	}
	return out, nil
}

// Resolve is the hash of a commit that somebody names.
func Resolve(ctx context.Context, name string) (string, error) {
	if _, err := git(ctx, nil, nil, "rev-parse", "--git-dir"); err != nil {
		return "", err
	}
	hash, err := git(ctx, nil, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("%q is no commit of this repository", name)
	}
	return hash, nil
}

// Describe is the commit of a name. One that no repository here knows must be a whole hash.
func Describe(ctx context.Context, name string) (Commit, error) {
	hash, err := Resolve(ctx, name)
	if err != nil {
		if isHash(name) {
			return Commit{Hash: name}, nil
		}
		return Commit{}, err
	}
	list, err := log(ctx, "-1", hash)
	if err != nil || len(list) != 1 {
		return Commit{}, fmt.Errorf("%s: git log tells nothing of it: %w", hash, err)
	}
	return list[0], nil
}

func isHash(name string) bool {
	return (len(name) == 40 || len(name) == 64) && strings.Trim(name, "0123456789abcdef") == ""
}

// User is who uses the repository, "" if it does not say.
func User(ctx context.Context) string {
	name, err := git(ctx, nil, nil, "config", "user.name")
	if err != nil {
		return ""
	}
	return name
}
