package history

import (
	"context"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/commits"
	"github.com/conclave-bench/conclave/internal/base/stats"
)

// Fewest is how many runs it takes to say anything of a noisy series, and Behind how many behind a
// change.
const (
	Fewest = stats.MinimumCourse
	Behind = stats.ShortestStretch
)

// Describe is the commit of a name. One that no repository here knows must be a whole hash.
func Describe(ctx context.Context, name string) (commits.Commit, error) {
	repo, err := commits.Open(ctx, ".")
	if err == nil {
		var c *commits.Commit
		if c, err = repo.Find(ctx, name); err == nil {
			return *c, nil
		}
	}
	if isHash(name) {
		return commits.Commit{Hash: name}, nil
	}
	return commits.Commit{}, err
}

func isHash(name string) bool {
	return (len(name) == 40 || len(name) == 64) && strings.Trim(name, "0123456789abcdef") == ""
}
