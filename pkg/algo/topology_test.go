package algo

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func mustBuild(t testing.TB, s Shape, n int, seed uint64) *Graph {
	t.Helper()
	g, err := Build(s, n, seed)
	if err != nil {
		t.Fatalf("build %+v of %d: %v", s, n, err)
	}
	return g
}

var anyTree = rapid.SampledFrom([]string{"", "path", "star", "binary", "balanced", "random"})

// anyShape is a shape over n processes, but for kind file.
func anyShape(t *rapid.T, n int) Shape {
	s := Shape{Kind: rapid.SampledFrom([]string{
		"complete", "logical-ring", "ring", "bidirectional-ring", "tree", "grid", "random",
	}).Draw(t, "kind")}
	switch s.Kind {
	case "tree":
		s.Tree = anyTree.Draw(t, "tree")
	case "random":
		s.Degree = rapid.Float64Range(0, float64(n)).Draw(t, "degree")
	}
	if rapid.Bool().Draw(t, "ordered") {
		s.Order = anyOrder(t, n)
	}
	return s
}

func anyOrder(t *rapid.T, n int) []ID {
	ascending := make([]ID, n)
	for i := range ascending {
		ascending[i] = ID(i + 1)
	}
	return rapid.Permutation(ascending).Draw(t, "order")
}

// links is whom p has a link to: Neighbors without None and p itself.
func links(g *Graph, p ID) (out []ID) {
	for _, q := range g.Neighbors(p) {
		if q != None && q != p {
			out = append(out, q)
		}
	}
	return out
}

// reached counts the processes that a flood from p gets to.
func reached(g *Graph, p ID) int {
	seen := map[ID]bool{p: true}
	for queue := []ID{p}; len(queue) > 0; queue = queue[1:] {
		for _, q := range links(g, queue[0]) {
			if !seen[q] {
				seen[q] = true
				queue = append(queue, q)
			}
		}
	}
	return len(seen)
}

func TestBuild_EveryShape(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		s := anyShape(t, n)
		seed := rapid.Uint64().Draw(t, "seed")
		g, err := Build(s, n, seed)
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Peers()) != n || !slices.IsSorted(g.Peers()) || g.Peers()[0] != 1 {
			t.Fatalf("peers %v, want 1..%d", g.Peers(), n)
		}
		again, _ := Build(s, n, seed)
		if !reflect.DeepEqual(g, again) {
			t.Fatal("the same seed builds another graph")
		}
		for _, p := range g.Peers() {
			if got := reached(g, p); got != n {
				t.Fatalf("%d reaches %d of %d", p, got, n)
			}
			for _, q := range links(g, p) {
				if q > ID(n) {
					t.Fatalf("%d has a link to %d of %d", p, q, n)
				}
				if g.Class != Ring && !slices.Contains(links(g, q), p) {
					t.Fatalf("%d has a link to %d, but not back", p, q)
				}
			}
			if g.Class == Connected && (!slices.IsSorted(g.Neighbors(p)) ||
				len(links(g, p)) != len(g.Neighbors(p)) ||
				len(slices.Compact(slices.Clone(g.Neighbors(p)))) != len(links(g, p))) {
				t.Fatalf("neighbors of %d: %v, want others, once, ascending", p, g.Neighbors(p))
			}
		}
	})
}

func TestBuild_CompleteKnowsEverybody(t *testing.T) {
	t.Parallel()
	order := []ID{2, 3, 1}
	for _, test := range []struct {
		shape Shape
		class Topology
		ring  []ID
	}{
		{Shape{Kind: "complete"}, Complete, nil},
		{Shape{Kind: "logical-ring"}, LogicalRing, []ID{1, 2, 3}},
		{Shape{Kind: "logical-ring", Order: order}, LogicalRing, order},
	} {
		g := mustBuild(t, test.shape, 3, 1)
		if g.Class != test.class || g.Name != test.shape.Kind || !slices.Equal(g.Ring, test.ring) {
			t.Errorf("%v: class %v, name %q, ring %v", test.shape, g.Class, g.Name, g.Ring)
		}
		for p := ID(1); p <= 3; p++ {
			if got := g.Neighbors(p); !slices.Equal(got, []ID{1, 2, 3}) {
				t.Errorf("%v: neighbors of %d: %v", test.shape, p, got)
			}
		}
	}
}

func TestBuild_RingFollowsItsOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		order := anyOrder(t, n)
		one, err1 := Build(Shape{Kind: "ring", Order: order}, n, 0)
		two, err2 := Build(Shape{Kind: "bidirectional-ring", Order: order}, n, 0)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if one.Class != Ring || two.Class != BidirectionalRing ||
			!slices.Equal(one.Ring, order) || !slices.Equal(two.Ring, order) {
			t.Fatalf("classes %v, %v, rings %v, %v", one.Class, two.Class, one.Ring, two.Ring)
		}
		for i, p := range order {
			before, after := order[(i+n-1)%n], order[(i+1)%n]
			if got := one.Neighbors(p); !slices.Equal(got, []ID{after}) {
				t.Fatalf("%d sends to %v, want its successor %d", p, got, after)
			}
			if got := two.Neighbors(p); !slices.Equal(got, []ID{before, after}) {
				t.Fatalf("%d sends to %v, want %d and %d", p, got, before, after)
			}
		}
	})
}

// TestBuild_Sorted: an order in a word. A random one follows from the seed, and names everybody once.
func TestBuild_Sorted(t *testing.T) {
	t.Parallel()
	ring := func(word string, seed uint64) []ID {
		g, err := Build(Shape{Kind: "ring", Sorted: word}, 50, seed)
		if err != nil {
			t.Fatal(err)
		}
		return g.Ring
	}
	up := ring("", 1)
	if down := ring("descending", 1); up[0] != 1 || !slices.Equal(ring("ascending", 1), up) || down[0] != 50 ||
		!slices.IsSortedFunc(down, func(a, b ID) int { return int(b) - int(a) }) {
		t.Errorf("up %v, down %v", up, down)
	}
	one, again, two := ring("random", 1), ring("random", 1), ring("random", 2)
	if !slices.Equal(one, again) || slices.Equal(one, two) || !slices.Equal(slices.Sorted(slices.Values(two)), up) {
		t.Errorf("random %v, again %v, with another seed %v", one, again, two)
	}
	if _, err := Build(Shape{Kind: "ring", Sorted: "up"}, 3, 1); err == nil ||
		err.Error() != `topology: unknown order "up" (has: ascending, descending, random)` {
		t.Error(err)
	}
}

func TestBuild_Tree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		s := Shape{Kind: "tree", Tree: anyTree.Draw(t, "shape"), Order: anyOrder(t, n)}
		g, err := Build(s, n, rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		place := map[ID]int{}
		for i, p := range s.Order {
			place[p] = i
		}
		edges, most := 0, 0
		for i, p := range s.Order {
			parent, children := g.Neighbors(p)[0], g.Neighbors(p)[1:]
			if (parent == None) != (i == 0) {
				t.Fatalf("place %d: the parent of %d is %d", i, p, parent)
			}
			if parent != None && (place[parent] >= i || !slices.Contains(g.Neighbors(parent)[1:], p)) {
				t.Fatalf("%d calls %d its parent, which has %v", p, parent, g.Neighbors(parent))
			}
			if !slices.IsSortedFunc(children, func(a, b ID) int { return place[a] - place[b] }) {
				t.Fatalf("children of %d: %v, want them in the order of %v", p, children, s.Order)
			}
			edges += len(children)
			most = max(most, len(children))
		}
		if g.Class != Tree || edges != n-1 {
			t.Fatalf("class %v, %d edges for %d processes", g.Class, edges, n)
		}
		bound := map[string]int{
			"path": 1, "binary": 2, "": 2, "star": n - 1, "random": n - 1,
			"balanced": int(math.Max(2, math.Ceil(math.Sqrt(float64(n))))),
		}[s.Tree]
		if most > bound {
			t.Fatalf("%s: %d children, want at most %d", s.Tree, most, bound)
		}
	})
}

func TestBuild_ShapesByHand(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		shape Shape
		n     int
		name  string
		want  [][]ID
	}{
		"binary": {Shape{Kind: "tree"}, 6, "tree-binary",
			[][]ID{{0, 2, 3}, {1, 4, 5}, {1, 6}, {2}, {2}, {3}}},
		"path": {Shape{Kind: "tree", Tree: "path"}, 3, "tree-path", [][]ID{{0, 2}, {1, 3}, {2}}},
		"star from 2": {Shape{Kind: "tree", Tree: "star", Order: []ID{2, 1, 4, 3}}, 4, "tree-star",
			[][]ID{{2}, {0, 1, 4, 3}, {2}, {2}}},
		"balanced": {Shape{Kind: "tree", Tree: "balanced"}, 8, "tree-balanced",
			[][]ID{{0, 2, 3, 4}, {1, 5, 6, 7}, {1, 8}, {1}, {2}, {2}, {2}, {3}}},
		"one": {Shape{Kind: "tree", Tree: "star"}, 1, "tree-star", [][]ID{{0}}},
		"grid of 3 by 2, short": {Shape{Kind: "grid"}, 5, "grid",
			[][]ID{{2, 4}, {1, 3, 5}, {2}, {1, 5}, {2, 4}}},
		"square": {Shape{Kind: "grid"}, 9, "grid", [][]ID{{2, 4}, {1, 3, 5}, {2, 6},
			{1, 5, 7}, {2, 4, 6, 8}, {3, 5, 9}, {4, 8}, {5, 7, 9}, {6, 8}}},
		"ring of one": {Shape{Kind: "ring"}, 1, "ring", [][]ID{{1}}},
		"ring of two": {Shape{Kind: "bidirectional-ring"}, 2, "bidirectional-ring",
			[][]ID{{2, 2}, {1, 1}}},
		"file": {Shape{Kind: "file", Edges: [][2]ID{{3, 1}, {2, 3}}}, 3, "file",
			[][]ID{{3}, {3}, {1, 2}}},
		"file of one": {Shape{Kind: "file"}, 1, "file", [][]ID{nil}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := mustBuild(t, test.shape, test.n, 1)
			if g.Name != test.name {
				t.Errorf("name %q, want %q", g.Name, test.name)
			}
			for i, want := range test.want {
				if got := g.Neighbors(ID(i + 1)); !slices.Equal(got, want) {
					t.Errorf("neighbors of %d: %v, want %v", i+1, got, want)
				}
			}
		})
	}
}

func TestBuild_GridHasTheEdgesOfAGrid(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 60; n++ {
		g := mustBuild(t, Shape{Kind: "grid"}, n, 0)
		width := int(math.Ceil(math.Sqrt(float64(n))))
		for i := range n {
			for j := range n {
				down, across := i/width-j/width, i%width-j%width
				want := down*down+across*across == 1
				if got := slices.Contains(g.Neighbors(ID(i+1)), ID(j+1)); got != want {
					t.Fatalf("n = %d: link between %d and %d: %v, want %v", n, i+1, j+1, got, want)
				}
			}
		}
	}
}

func TestEdges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		shape Shape
		n     int
		want  [][2]ID
	}{
		"file":     {Shape{Kind: "file", Edges: [][2]ID{{3, 1}, {2, 3}}}, 3, [][2]ID{{1, 3}, {2, 3}}},
		"complete": {Shape{Kind: "complete"}, 3, [][2]ID{{1, 2}, {1, 3}, {2, 3}}},
		"ring":     {Shape{Kind: "ring"}, 3, [][2]ID{{1, 2}, {1, 3}, {2, 3}}},
		"two":      {Shape{Kind: "bidirectional-ring"}, 2, [][2]ID{{1, 2}}},
		"tree":     {Shape{Kind: "tree", Tree: "path", Order: []ID{2, 3, 1}}, 3, [][2]ID{{1, 3}, {2, 3}}},
		"alone":    {Shape{Kind: "complete"}, 1, nil},
	} {
		if got := mustBuild(t, test.shape, test.n, 1).Edges(); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestBuild_RandomHasTheDegree(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		n            int
		degree, want float64
	}{
		{100, 0, 4}, {100, 4, 4}, {100, 10, 10}, {50, 3.5, 3.48},
		{100, 1, 1.98}, // a tree at least
		{10, 9, 9},     // complete
		{10, 1e300, 9}, // not more than everybody
		{2, 4, 1}, {1, 4, 0}, {10, math.Inf(1), 9},
	} {
		g := mustBuild(t, Shape{Kind: "random", Degree: test.degree}, test.n, 7)
		sum := 0
		for _, p := range g.Peers() {
			sum += len(g.Neighbors(p))
		}
		if got := float64(sum) / float64(test.n); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("n = %d, degree %v: mean degree %v, want %v", test.n, test.degree, got, test.want)
		}
		if edges := RandomEdges(test.n, test.degree); 2*edges != sum {
			t.Errorf("n = %d, degree %v: %d edges said, the neighbors are %d", test.n, test.degree, edges, sum)
		}
	}
	shape := Shape{Kind: "random"}
	if reflect.DeepEqual(mustBuild(t, shape, 20, 1), mustBuild(t, shape, 20, 2)) {
		t.Error("two seeds build the same graph")
	}
	shape = Shape{Kind: "tree", Tree: "random"}
	if reflect.DeepEqual(mustBuild(t, shape, 20, 1), mustBuild(t, shape, 20, 2)) {
		t.Error("two seeds build the same tree")
	}
}

func TestBuild_Refuses(t *testing.T) {
	t.Parallel()
	file := func(edges ...[2]ID) Shape { return Shape{Kind: "file", Edges: edges} }
	for name, test := range map[string]struct {
		shape Shape
		n     int
		want  string
	}{
		"nobody":          {Shape{Kind: "complete"}, 0, "0 processes, want at least 1"},
		"fewer":           {Shape{Kind: "complete"}, -1, "-1 processes, want at least 1"},
		"kind":            {Shape{Kind: "torus"}, 3, `unknown topology "torus" (has: complete, `},
		"tree":            {Shape{Kind: "tree", Tree: "oak"}, 3, `unknown tree shape "oak" (has: path, `},
		"negative degree": {Shape{Kind: "random", Degree: -1}, 3, "degree -1"},
		"no degree":       {Shape{Kind: "random", Degree: math.NaN()}, 3, "degree NaN"},
		"order, short":    {Shape{Kind: "ring", Order: []ID{1, 2}}, 3, "each of 1..3 once"},
		"order, long":     {Shape{Kind: "ring", Order: []ID{1, 2, 3, 4}}, 3, "each of 1..3 once"},
		"order, empty":    {Shape{Kind: "tree", Order: []ID{}}, 1, "each of 1..1 once"},
		"order, twice":    {Shape{Kind: "complete", Order: []ID{1, 2, 2}}, 3, "each of 1..3 once"},
		"order, none":     {Shape{Kind: "ring", Order: []ID{0, 1, 2}}, 3, "each of 1..3 once"},
		"edge to none":    {file([2]ID{1, 2}, [2]ID{0, 2}), 2, "edge 0 2: want processes 1..2"},
		"edge to a third": {file([2]ID{3, 1}), 2, "edge 3 1: want processes 1..2"},
		"loop":            {file([2]ID{1, 2}, [2]ID{2, 2}), 2, "edge 2 2 joins a process to itself"},
		"edge twice":      {file([2]ID{1, 2}, [2]ID{2, 1}), 2, "edge 1 2 stands twice"},
		"two parts":       {file([2]ID{1, 2}, [2]ID{3, 4}), 4, "process 3 cannot be reached from 1"},
		"no edges":        {file(), 2, "process 2 cannot be reached"},
		"weights, word":   {Shape{Kind: "complete", Weighing: "light"}, 3, `unknown weights "light" (has: random, by-ids)`},
		"weights, short":  {Shape{Kind: "tree", Tree: "path", Weights: []Weight{2}}, 3, "1 weights for 2 links, expected one for each in the order [[1 2] [2 3]]"},
		"weights, long":   {Shape{Kind: "bidirectional-ring", Weights: []Weight{2, 3}}, 2, "2 weights for 1 links"},
		"weights, empty":  {Shape{Kind: "complete", Weights: []Weight{}}, 11, "[1 10] [1 11] ...]"},
		"weights, twice":  {Shape{Kind: "complete", Weights: []Weight{2, 3, 2}}, 3, "weight 2 stands twice, for links 1-2 and 2-3"},
		"weights, none":   {Shape{Kind: "complete", Weights: []Weight{2, 0, 3}}, 3, "weight 0 of link 1-3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, err := Build(test.shape, test.n, 1)
			if g != nil || err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, error %v; want an error with %q", g, err, test.want)
			}
		})
	}
}

func TestSatisfies(t *testing.T) {
	t.Parallel()
	good := map[[2]Topology]bool{ // graph, need
		{LogicalRing, Complete}: true,
	}
	classes := []Topology{Complete, LogicalRing, Ring, BidirectionalRing, Tree, Connected}
	for _, class := range classes {
		for _, weighed := range []bool{false, true} {
			g := &Graph{Class: class}
			if weighed {
				g.weights = map[[2]ID]Weight{}
			}
			if got, want := g.Satisfies(Weighted), weighed && class != Ring; got != want {
				t.Errorf("a %v graph, with weights: %t, for an algorithm that needs them: %t", class, weighed, got)
			}
		}
		good[[2]Topology{class, class}] = true
		good[[2]Topology{class, Connected}] = class != Ring // there, no answer finds back
	}
	for _, class := range classes {
		for _, need := range classes {
			g := &Graph{Class: class}
			if got := g.Satisfies(need); got != good[[2]Topology{class, need}] {
				t.Errorf("a %v graph for an algorithm that needs %v: %v", class, need, got)
			}
		}
		if g := mustBuild(t, DefaultShape(class), 7, 1); g.Class != class || !g.Satisfies(class) {
			t.Errorf("the default of %v is %v", class, g.Class)
		}
	}
	if !mustBuild(t, DefaultShape(Weighted), 7, 1).Satisfies(Weighted) {
		t.Error("the default of weighted has no weights")
	}
}

// TestWeights: each link has a weight of its own, which both ends know.
func TestWeights(t *testing.T) {
	t.Parallel()
	edges := [][2]ID{{3, 2}, {1, 3}, {2, 1}, {3, 4}}
	for name, test := range map[string]struct {
		shape Shape
		n     int
		want  [][]Weight // by process, in the order of Adjacent
	}{
		"none":          {Shape{Kind: "complete"}, 2, [][]Weight{nil, nil}},
		"a path":        {Shape{Kind: "tree", Tree: "path", Weighing: "by-ids"}, 3, [][]Weight{{1}, {1, 2}, {2}}},
		"complete":      {Shape{Kind: "complete", Weighing: "by-ids"}, 3, [][]Weight{{1, 2}, {1, 3}, {2, 3}}},
		"as Edges has":  {Shape{Kind: "complete", Weights: []Weight{7, 3, 5}}, 3, [][]Weight{{7, 3}, {7, 5}, {3, 5}}},
		"a list first":  {Shape{Kind: "tree", Weights: []Weight{7}, Weighing: "random"}, 2, [][]Weight{{7}, {7}}},
		"two in a ring": {Shape{Kind: "bidirectional-ring", Weighing: "random"}, 2, [][]Weight{{1}, {1}}},
		"of a file":     {Shape{Kind: "file", Edges: edges, Weights: []Weight{9, 8, 1, 2}}, 4, [][]Weight{{1, 8}, {1, 9}, {8, 9, 2}, {2}}},
		"a file's IDs":  {Shape{Kind: "file", Edges: edges, Weighing: "by-ids"}, 4, [][]Weight{{1, 2}, {1, 3}, {2, 3, 4}, {4}}},
		"alone":         {Shape{Kind: "complete", Weighing: "random"}, 1, [][]Weight{nil}},
	} {
		g := mustBuild(t, test.shape, test.n, 1)
		for i, want := range test.want {
			if got := g.Weights(ID(i + 1)); !slices.Equal(got, want) {
				t.Errorf("%s: process %d has %v, want %v", name, i+1, got, want)
			}
		}
	}
}

// TestRandomWeights: they are 1 to the number of links, in another order for another seed, both ends of a
// link know it, and the graph is the same as without.
func TestRandomWeights(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		shape := anyShape(t, n)
		if shape.Kind == "ring" { // of which a link is known at one end
			shape.Kind = "bidirectional-ring"
		}
		build := func(weighing string, seed uint64) *Graph {
			shape.Weighing = weighing
			g, err := Build(shape, n, seed)
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		plain, g, again, other := build("", 1), build("random", 1), build("random", 1), build("random", 2)
		seen, same := map[Weight]int{}, true
		for _, p := range g.Peers() {
			if !slices.Equal(g.Neighbors(p), plain.Neighbors(p)) {
				t.Fatalf("process %d has neighbors %v, and %v without weights", p, g.Neighbors(p), plain.Neighbors(p))
			}
			if !slices.Equal(g.Weights(p), again.Weights(p)) {
				t.Fatalf("process %d has %v and then %v", p, g.Weights(p), again.Weights(p))
			}
			same = same && slices.Equal(g.Weights(p), other.Weights(p))
			for _, w := range g.Weights(p) {
				seen[w]++
			}
		}
		links := len(g.Edges())
		for w := range links {
			if seen[Weight(w+1)] != 2 {
				t.Fatalf("weight %d stands at %d ends, want 2", w+1, seen[Weight(w+1)])
			}
		}
		if len(seen) != links || links > 10 && same {
			t.Fatalf("%d weights of %d links; those of another seed are the same: %t", len(seen), links, same)
		}
	})
}

func TestReadEdges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want [][2]ID
		errs []string
	}{
		"nothing":       {"", nil, nil},
		"spaces":        {"1 2\n 2  3 \n", [][2]ID{{1, 2}, {2, 3}}, nil},
		"tabs, commas":  {"1\t2\n2,3\n3, 4", [][2]ID{{1, 2}, {2, 3}, {3, 4}}, nil},
		"comments":      {"# edges\n\n1 2 # a link\n   \n", [][2]ID{{1, 2}}, nil},
		"Windows":       {"1 2\r\n2 3\r\n", [][2]ID{{1, 2}, {2, 3}}, nil},
		"largest":       {"2147483647 1", [][2]ID{{1<<31 - 1, 1}}, nil},
		"one word":      {"1 2\n3\n", [][2]ID{{1, 2}}, []string{`line 2: "3", want two process IDs`}},
		"four words":    {"1 2 3 4", nil, []string{`line 1: "1 2 3 4", want`}},
		"a weight late": {"1 2\n2 3 7\n3 1", [][2]ID{{1, 2}, {3, 1}}, []string{`line 2: "2 3 7", want a weight in every line or in none`}},
		"no weight":     {"1 2 0", nil, []string{`line 1: "1 2 0", want`}},
		"a huge weight": {"1 2 4294967296", nil, []string{`line 1: "1 2 4294967296", want`}},
		"no number":     {"1 b", nil, []string{`line 1: "1 b", want`}},
		"negative":      {"1 -2", nil, []string{`line 1: "1 -2", want`}},
		"zero":          {"0 1", nil, []string{`line 1: "0 1", want`}},
		"too large":     {"1 2147483648", nil, []string{`line 1: "1 2147483648", want`}},
		"far too large": {"1 99999999999999999999", nil, []string{"line 1: "}},
		"all of them":   {"x\n1 2\n\n#\ny\n", [][2]ID{{1, 2}}, []string{"line 1: ", "line 5: "}},
		"a line too long": {"1 2\nx\n" + strings.Repeat("1", 1<<17), [][2]ID{{1, 2}},
			[]string{"line 2: ", "line 3: bufio.Scanner: token too long"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, weights, err := ReadEdges(strings.NewReader(test.text))
			if !slices.Equal(got, test.want) || weights != nil {
				t.Errorf("edges %v, weights %v, want %v and none", got, weights, test.want)
			}
			var lines []string
			if err != nil {
				lines = strings.Split(err.Error(), "\n")
			}
			if len(lines) != len(test.errs) {
				t.Fatalf("error %v, want %d lines", err, len(test.errs))
			}
			for i, want := range test.errs {
				if !strings.HasPrefix(lines[i], want) {
					t.Errorf("error %q, want %q", lines[i], want)
				}
			}
		})
	}
}

func TestReadEdges_ReportsItsReader(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	r := io.MultiReader(strings.NewReader("1 2\n"), iotest.ErrReader(broken))
	edges, _, err := ReadEdges(r)
	if !slices.Equal(edges, [][2]ID{{1, 2}}) || !errors.Is(err, broken) {
		t.Errorf("edges %v, error %v", edges, err)
	}
}

func FuzzReadEdges(f *testing.F) {
	for _, text := range []string{
		"", "1 2\n2,3 # x\n", "1\t2\r\n", "a b\n0 0\n", "1 4294967296\n", ",,\n#",
		"1 2 3\n2 3 3\n3 1\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		edges, weights, err := ReadEdges(strings.NewReader(text))
		most := ID(0)
		var out strings.Builder
		for i, e := range edges {
			if e[0] == None || e[1] == None {
				t.Fatalf("edge %v of %q", e, text)
			}
			most = max(most, e[0], e[1])
			fmt.Fprint(&out, e[0], e[1])
			if weights != nil {
				fmt.Fprint(&out, " ", weights[i])
			}
			fmt.Fprintln(&out)
		}
		again, same, err2 := ReadEdges(strings.NewReader(out.String()))
		if err2 != nil || !slices.Equal(again, edges) || !slices.Equal(same, weights) {
			t.Fatalf("%q reads as %v, %v, %v; want %v, %v", out.String(), again, same, err2, edges, weights)
		}
		if err != nil || most > 1000 {
			return
		}
		// Whatever the list says: a connected graph or an error.
		n := max(1, int(most))
		if g, err := Build(Shape{Kind: "file", Edges: edges, Weights: weights}, n, 0); err == nil && reached(g, 1) != n {
			t.Fatalf("%q: %d of %d are reached", text, reached(g, 1), n)
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	for _, kind := range []string{"tree", "grid", "random"} {
		b.Run(kind, func(b *testing.B) {
			for b.Loop() {
				mustBuild(b, Shape{Kind: kind}, 1000, 1)
			}
		})
	}
}

func TestReadEdges_Weights(t *testing.T) {
	t.Parallel()
	edges, weights, err := ReadEdges(strings.NewReader("1 2 7 # a link\n\n2,3,4294967295\n3 1 8 9\n3 1\n1\t3\t8\n"))
	if !slices.Equal(edges, [][2]ID{{1, 2}, {2, 3}, {1, 3}}) || !slices.Equal(weights, []Weight{7, 1<<32 - 1, 8}) {
		t.Errorf("edges %v, weights %v", edges, weights)
	}
	if text := fmt.Sprint(err); !strings.Contains(text, `line 4: "3 1 8 9", want two`) ||
		!strings.Contains(text, `line 5: "3 1", want a weight in every line or in none`) {
		t.Error(err)
	}
}
