package harness

import (
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// TestConfig_TreeIsRootedAtTheHolder: of a mutex, the first neighbor is the one on
// the way to the token; of an election, the tree stays as it is.
func TestConfig_TreeIsRootedAtTheHolder(t *testing.T) {
	t.Parallel()
	//   1        The binary tree of seven: 2 and 3 below 1, 4 and 5 below 2, 6 and 7
	//  2 3       below 3.
	// 45 67
	for holder, want := range map[algo.ID][][]algo.ID{
		algo.None: {{0, 2, 3}, {1, 4, 5}, {1, 6, 7}, {2}, {2}, {3}, {3}},
		1:         {{0, 2, 3}, {1, 4, 5}, {1, 6, 7}, {2}, {2}, {3}, {3}},
		2:         {{2, 3}, {0, 1, 4, 5}, {1, 6, 7}, {2}, {2}, {3}, {3}},
		7:         {{3, 2}, {1, 4, 5}, {7, 1, 6}, {2}, {2}, {3}, {0, 3}},
	} {
		for _, problem := range []algo.Problem{algo.MutualExclusion, algo.Election} {
			graph, err := algo.Build(algo.Shape{Kind: "tree"}, 7, 1)
			if err != nil {
				t.Fatal(err)
			}
			s := &Setup{
				Plan: Plan{Nodes: 7, Holder: holder}, Graph: graph,
				Alg: &algo.Algorithm{Problem: problem},
			}
			for i := range want {
				p := algo.ID(i + 1)
				expected := want[i]
				if problem == algo.Election {
					expected = graph.Neighbors(p)
				}
				if got := s.Config(p, 0, nil).Neighbors; !slices.Equal(got, expected) {
					t.Errorf("%s, holder %d: neighbors of %d are %v, want %v",
						problem, holder, p, got, expected)
				}
			}
		}
	}
}
