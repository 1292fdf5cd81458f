package atlas

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// The sizes of graphs that are enumerated. There are 5096 with seven vertices, and 45 960
// directed ones with five.
const (
	Least        = 2
	Most         = 6
	MostDirected = 4
)

// A Graph is a network with a marked leader: vertex 1. Two graphs are the same if one is the
// other with the vertices but the leader renamed; of all its names a graph has the greatest,
// by the vector of its links from 1 to 2, from 1 to 3 and so on.
type Graph struct {
	Vertices int
	Directed bool
	out      [Most]uint8 // by vertex - 1: bit v - 1 of it, whether a link goes to v
}

// Has says whether messages pass from one vertex to another.
func (g *Graph) Has(from, to int) bool { return g.out[from-1]&(1<<(to-1)) != 0 }

func (g *Graph) add(from, to int) {
	g.out[from-1] |= 1 << (to - 1)
	if !g.Directed {
		g.out[to-1] |= 1 << (from - 1)
	}
}

// pairs are the places of the links of a graph, in their order.
func pairs(n int, directed bool) (out [][2]int) {
	for from := 1; from <= n; from++ {
		for to := 1; to <= n; to++ {
			if from < to || directed && from != to {
				out = append(out, [2]int{from, to})
			}
		}
	}
	return out
}

// Links are those that the graph has, an undirected one once.
func (g *Graph) Links() [][2]int {
	return slices.DeleteFunc(pairs(g.Vertices, g.Directed), func(l [2]int) bool { return !g.Has(l[0], l[1]) })
}

// Cuts are the links, in one direction each, that a whole network has and this one lacks,
// where vertex v is process of[v-1].
func (g *Graph) Cuts(of []uint32) (out [][2]uint32) {
	for _, l := range pairs(g.Vertices, true) {
		if !g.Has(l[0], l[1]) {
			out = append(out, [2]uint32{of[l[0]-1], of[l[1]-1]})
		}
	}
	return out
}

// String is the graph in text: "5;1;1-2,2-3" has five vertices, the leader 1 and two links,
// "3d;1;1>2" one link in one direction.
func (g *Graph) String() string {
	mark, arrow := "", "-"
	if g.Directed {
		mark, arrow = "d", ">"
	}
	var links []string
	for _, l := range g.Links() {
		links = append(links, fmt.Sprint(l[0], arrow, l[1]))
	}
	return fmt.Sprintf("%d%s;1;%s", g.Vertices, mark, strings.ReplaceAll(strings.Join(links, ","), " ", ""))
}

// Parse reads what String writes, whatever the vertices are called, and whichever leads.
func Parse(text string) (g Graph, err error) {
	wrong := func(why string, args ...any) (Graph, error) {
		return g, fmt.Errorf("graph %q: %s; a graph is written as 5;1;1-2,2-3: vertices, leader, links", text,
			fmt.Sprintf(why, args...))
	}
	size, rest, _ := strings.Cut(text, ";")
	leaderText, links, ok := strings.Cut(rest, ";")
	if !ok {
		return wrong("it has no two semicolons")
	}
	size, g.Directed = strings.CutSuffix(size, "d")
	arrow, most := "-", Most
	if g.Directed {
		arrow, most = ">", MostDirected
	}
	if g.Vertices, err = strconv.Atoi(size); err != nil || g.Vertices < Least || g.Vertices > most {
		return wrong("%q vertices, expected %d to %d", size, Least, most)
	}
	vertex := func(word string) (int, bool) {
		v, err := strconv.Atoi(word)
		return v, err == nil && v >= 1 && v <= g.Vertices
	}
	leader, ok := vertex(leaderText)
	if !ok {
		return wrong("leader %q, expected a vertex", leaderText)
	}
	for _, word := range strings.Split(links, ",") {
		if links == "" {
			break
		}
		a, b, _ := strings.Cut(word, arrow)
		from, ok := vertex(a)
		to, also := vertex(b)
		if !ok || !also || from == to || g.Has(from, to) {
			return wrong("link %q", word)
		}
		g.add(from, to)
	}
	names := make([]int, g.Vertices)
	for i := range names {
		names[i] = i + 1
	}
	names[leader-1], names[0] = 1, leader
	g = g.renamed(names)
	return g.canonical(permutations(g.Vertices)), nil
}

// renamed has vertex v be names[v-1].
func (g *Graph) renamed(names []int) Graph {
	out := Graph{Vertices: g.Vertices, Directed: g.Directed}
	for _, l := range g.Links() {
		out.add(names[l[0]-1], names[l[1]-1])
	}
	return out
}

// vector is the graph's links as a number, the first pair its highest bit.
func (g *Graph) vector() (bits uint64) {
	for _, l := range pairs(g.Vertices, g.Directed) {
		bits <<= 1
		if g.Has(l[0], l[1]) {
			bits |= 1
		}
	}
	return bits
}

// canonical is the graph by the greatest of its names.
func (g *Graph) canonical(names [][]int) (best Graph) {
	best = *g
	for _, p := range names {
		if other := g.renamed(p); other.vector() > best.vector() {
			best = other
		}
	}
	return best
}

// permutations are all names that keep vertex 1.
func permutations(n int) (out [][]int) {
	names := []int{1}
	var extend func()
	extend = func() {
		if len(names) == n {
			out = append(out, slices.Clone(names))
			return
		}
		for v := 2; v <= n; v++ {
			if !slices.Contains(names, v) {
				names = append(names, v)
				extend()
				names = names[:len(names)-1]
			}
		}
	}
	extend()
	return out
}

// All is every graph of so many vertices once, those with the fewest links first.
func All(vertices int, directed bool) (out []Graph) {
	places := pairs(vertices, directed)
	// Where each name takes each place.
	var moves [][]int
	for _, p := range permutations(vertices) {
		move := make([]int, len(places))
		for i, l := range places {
			to := [2]int{p[l[0]-1], p[l[1]-1]}
			if !directed && to[0] > to[1] {
				to[0], to[1] = to[1], to[0]
			}
			move[i] = slices.Index(places, to)
		}
		moves = append(moves, move)
	}
	for vector := range uint64(1) << len(places) {
		if !greatest(vector, moves) {
			continue
		}
		g := Graph{Vertices: vertices, Directed: directed}
		for i, l := range places {
			if vector>>(len(places)-1-i)&1 == 1 {
				g.add(l[0], l[1])
			}
		}
		out = append(out, g)
	}
	slices.SortStableFunc(out, func(a, b Graph) int {
		return cmp.Or(cmp.Compare(bits.OnesCount64(a.vector()), bits.OnesCount64(b.vector())),
			cmp.Compare(b.vector(), a.vector()))
	})
	return out
}

// greatest says whether no name gives a greater vector.
func greatest(vector uint64, moves [][]int) bool {
	for _, move := range moves {
		var other uint64
		for i, to := range move {
			if vector>>(len(move)-1-i)&1 == 1 {
				other |= 1 << (len(move) - 1 - to)
			}
		}
		if other > vector {
			return false
		}
	}
	return true
}

// Sample draws so many of the graphs, and keeps their order.
func Sample(all []Graph, size int, seed uint64) (out []Graph) {
	if size >= len(all) {
		return all
	}
	drawn := rand.New(rand.NewPCG(seed, 0)).Perm(len(all))[:size]
	slices.Sort(drawn)
	for _, i := range drawn {
		out = append(out, all[i])
	}
	return out
}

// Majority is how many vertices are more than half.
func (g *Graph) Majority() int { return g.Vertices/2 + 1 }

// both says whether two vertices reach each other.
func (g *Graph) both(v, w int) bool { return v != w && g.Has(v, w) && g.Has(w, v) }

// Quorum says whether a vertex has links in both directions to a majority, itself included.
func (g *Graph) Quorum(v int) bool {
	n := 1
	for w := 1; w <= g.Vertices; w++ {
		if g.both(v, w) {
			n++
		}
	}
	return n >= g.Majority()
}

// QuorumConnected says whether some vertex has links in both directions to a majority.
func (g *Graph) QuorumConnected() bool {
	for v := 1; v <= g.Vertices; v++ {
		if g.Quorum(v) {
			return true
		}
	}
	return false
}

// A Named is a graph that has a name.
type Named struct {
	Name, Doc string
	Graph     string
}

// Shapes are graphs that others have named.
var Shapes = []Named{
	{"chained", "one follower has lost the leader, and reaches only the other follower",
		"3;1;1-2,2-3"},
	{"quorum-loss", "one follower keeps links to all others, which have no other links",
		"5;1;1-2,2-3,2-4,2-5"},
	{"constrained-election", "like quorum-loss, and the leader has no links", "5;1;2-3,2-4,2-5"},
	{"old-leader-bridge", "three followers reach each other, and one of them also reaches the leader",
		"5;1;1-2,2-3,2-4,3-4"},
	{"two-leaves", "the leader and two followers reach each other; the leader and one of these each " +
		"reach one more follower", "5;1;1-2,1-3,1-4,2-3,2-5"},
}

// Name is the name of the graph; "" if it has none.
func (g *Graph) Name() string {
	text := g.String()
	for i := range Shapes {
		if Shapes[i].Graph == text {
			return Shapes[i].Name
		}
	}
	return ""
}
