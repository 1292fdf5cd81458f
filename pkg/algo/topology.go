package algo

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Topology is the class of graphs that an algorithm needs.
type Topology uint8

// The classes of graphs.
const (
	Complete          Topology = iota
	LogicalRing                // complete, and all know a ring order: crashed processes can be skipped
	Ring                       // each process sends to its successor alone
	BidirectionalRing          // each process sends to its predecessor and its successor
	Tree
	Connected
	Weighted // connected, and each link has a weight of its own
)

var topologyNames = []string{
	"complete", "logical-ring", "ring", "bidirectional-ring", "tree", "connected", "weighted",
}

func (t Topology) String() string { return topologyNames[t] }

// Arbitrary says whether an algorithm that needs t runs on any connected graph.
func (t Topology) Arbitrary() bool { return t == Connected || t == Weighted }

// A Weight is that of a link, from 1 on. No two links of a graph have the same.
type Weight uint32

// A Shape describes a graph to build.
type Shape struct {
	// Kind is complete, logical-ring, ring, bidirectional-ring, tree, grid,
	// random or file.
	Kind string
	// Tree is path, star, binary, balanced (degree sqrt(n)) or random.
	Tree string
	// Degree is the mean number of neighbors of a random graph; 0: MeanDegree.
	Degree float64
	// Order is the order of IDs around a ring, or from the root of a tree in
	// breadth-first order; nil: ascending, or as Sorted says.
	Order []ID
	// Sorted is the order in a word, where there is no list: ascending (or ""), descending or random.
	Sorted string `json:",omitempty"`
	// Edges is the edge list of kind file.
	Edges [][2]ID
	// Weights is those of the links: in the order of Edges, or where there is none, of Graph.Edges;
	// nil: as Weighing says.
	Weights []Weight `json:",omitempty"`
	// Weighing is the weights in a word, where there is no list: random, by-ids (ascending, in the
	// order of Graph.Edges) or "" for none.
	Weighing string `json:",omitempty"`
}

// A Graph is a built topology.
type Graph struct {
	Class     Topology
	Name      string // "complete", "tree-binary"
	Ring      []ID   // the ring's order; nil if it is none
	neighbors [][]ID // by ID - 1; nil: complete
	peers     []ID
	weights   map[[2]ID]Weight // by edge, as in Edges; nil: links have none
}

// Peers is every process, ascending. Shared: not to be modified.
func (g *Graph) Peers() []ID { return g.peers }

// Neighbors are the processes that p may send to, in the topology's order.
// Ring: the successor. Bidirectional ring: predecessor, successor. Tree: the
// parent (None at the root), then the children. Otherwise ascending.
func (g *Graph) Neighbors(p ID) []ID {
	if g.neighbors == nil {
		return g.peers
	}
	return g.neighbors[p-1]
}

// Adjacent is the other processes that p has a link to, each once, ascending: what
// an algorithm for connected graphs knows, whatever graph it runs on.
func (g *Graph) Adjacent(p ID) []ID {
	others := slices.DeleteFunc(slices.Clone(g.Neighbors(p)),
		func(q ID) bool { return q == None || q == p })
	slices.Sort(others)
	return slices.Compact(others)
}

// Edges is every pair of processes with a link between them, the smaller ID first, in ascending order.
func (g *Graph) Edges() (edges [][2]ID) {
	for _, p := range g.peers {
		for _, q := range g.Adjacent(p) {
			edges = append(edges, edge(p, q))
		}
	}
	slices.SortFunc(edges, func(a, b [2]ID) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(edges)
}

// Weights is those of the links of p to the processes of Adjacent, in that order; nil: links have none.
func (g *Graph) Weights(p ID) (weights []Weight) {
	if g.weights == nil {
		return nil
	}
	for _, q := range g.Adjacent(p) {
		weights = append(weights, g.weights[edge(p, q)])
	}
	return weights
}

// edge is the one between two processes.
func edge(p, q ID) [2]ID { return [2]ID{min(p, q), max(p, q)} }

// Satisfies says whether an algorithm that needs class t can run on g. A ring of
// one direction is not Connected, where every link has a way back.
func (g *Graph) Satisfies(t Topology) bool {
	if t == Weighted {
		return g.weights != nil && g.Satisfies(Connected)
	}
	return g.Class == t || t == Connected && g.Class != Ring || t == Complete && g.Class == LogicalRing
}

// DefaultShape is the shape that topology "auto" builds for class t.
func DefaultShape(t Topology) Shape {
	switch t {
	case Tree:
		return Shape{Kind: "tree", Tree: "binary"}
	case Connected:
		return Shape{Kind: "random"}
	case Weighted:
		return Shape{Kind: "random", Weighing: "random"}
	default:
		return Shape{Kind: t.String()}
	}
}

// Build makes the graph of shape s over processes 1..n. Seed decides what is
// random in it.
func Build(s Shape, n int, seed uint64) (*Graph, error) {
	if n < 1 {
		return nil, fmt.Errorf("topology: %d processes, want at least 1", n)
	}
	g := &Graph{Name: s.Kind, peers: make([]ID, n)}
	for i := range g.peers {
		g.peers[i] = ID(i + 1)
	}
	rng := rand.New(rand.NewPCG(seed, 0x746f706f6c6f6779))
	order, err := s.order(g.peers, rng)
	if err != nil {
		return nil, err
	}
	switch s.Kind {
	case "complete":
		g.Class = Complete
	case "logical-ring":
		g.Class, g.Ring = LogicalRing, order
	case "ring", "bidirectional-ring":
		g.buildRing(order, s.Kind == "ring")
	case "tree":
		if err := g.buildTree(s.Tree, order, rng); err != nil {
			return nil, err
		}
	case "grid":
		g.buildGrid(n)
	case "random":
		if !(s.Degree >= 0) {
			return nil, fmt.Errorf("topology: degree %v, want a mean from 0 on", s.Degree)
		}
		g.buildRandom(n, s.Degree, rng)
	case "file":
		if err := g.buildEdges(s.Edges, n); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("unknown topology %q (has: complete, logical-ring, ring, "+
			"bidirectional-ring, tree, grid, random, file)", s.Kind)
	}
	if err := g.weigh(&s, rng); err != nil {
		return nil, err
	}
	return g, nil
}

// order is that of these processes, 1..n.
func (s *Shape) order(peers []ID, rng *rand.Rand) ([]ID, error) {
	if s.Order != nil {
		return s.Order, permutation(s.Order, len(peers))
	}
	switch s.Sorted {
	case "", "ascending":
		return peers, nil
	case "descending":
		order := slices.Clone(peers)
		slices.Reverse(order)
		return order, nil
	case "random":
		order := slices.Clone(peers)
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		return order, nil
	}
	return nil, fmt.Errorf("topology: unknown order %q (has: ascending, descending, random)", s.Sorted)
}

func permutation(order []ID, n int) error {
	sorted := slices.Clone(order)
	slices.Sort(sorted)
	for i, p := range sorted {
		if len(order) != n || p != ID(i+1) {
			return fmt.Errorf("topology: order %v does not name each of 1..%d once", order, n)
		}
	}
	if len(order) != n {
		return fmt.Errorf("topology: order %v does not name each of 1..%d once", order, n)
	}
	return nil
}

func (g *Graph) buildRing(order []ID, oneWay bool) {
	n := len(order)
	g.Class, g.Ring, g.neighbors = BidirectionalRing, order, make([][]ID, n)
	if oneWay {
		g.Class = Ring
	}
	for i, p := range order {
		before, after := order[(i+n-1)%n], order[(i+1)%n]
		if oneWay {
			g.neighbors[p-1] = []ID{after}
		} else {
			g.neighbors[p-1] = []ID{before, after}
		}
	}
}

func (g *Graph) buildTree(shape string, order []ID, rng *rand.Rand) error {
	n := len(order)
	degree := map[string]int{"path": 1, "binary": 2, "": 2, "star": n, "balanced": 2}[shape]
	for shape == "balanced" && degree*degree < n {
		degree++
	}
	if degree == 0 && shape != "random" {
		return fmt.Errorf("unknown tree shape %q (has: path, star, binary, balanced, random)", shape)
	}
	if shape == "" {
		shape = "binary"
	}
	g.Class, g.Name, g.neighbors = Tree, "tree-"+shape, make([][]ID, n)
	for i, p := range order {
		if i == 0 {
			g.neighbors[p-1] = []ID{None}
			continue
		}
		at := 0
		if shape == "random" {
			at = rng.IntN(i)
		} else {
			at = (i - 1) / degree
		}
		parent := order[at]
		g.neighbors[p-1] = []ID{parent}
		g.neighbors[parent-1] = append(g.neighbors[parent-1], p)
	}
	return nil
}

// buildGrid lays the processes out row by row in the squarest rectangle; the
// last row may be short.
func (g *Graph) buildGrid(n int) {
	width := 1
	for width*width < n {
		width++
	}
	edges := make([][2]ID, 0, 2*n)
	for i := range n {
		if (i+1)%width != 0 && i+1 < n {
			edges = append(edges, [2]ID{ID(i + 1), ID(i + 2)})
		}
		if i+width < n {
			edges = append(edges, [2]ID{ID(i + 1), ID(i + width + 1)})
		}
	}
	g.link(edges, n)
}

// MeanDegree is the mean number of neighbors of a random graph that names none.
const MeanDegree = 4

// RandomEdges is how many edges a random graph of n processes has.
func RandomEdges(n int, degree float64) int {
	if degree == 0 {
		degree = MeanDegree
	}
	degree = min(degree, float64(n-1)) // everybody else
	return max(int(degree*float64(n)/2), n-1)
}

// buildRandom joins a random spanning tree with random further edges until the
// mean degree is reached. It is connected by construction.
func (g *Graph) buildRandom(n int, degree float64, rng *rand.Rand) {
	want := RandomEdges(n, degree)
	seen := map[[2]ID]bool{}
	edges := make([][2]ID, 0, want)
	add := func(a, b ID) {
		e := edge(a, b)
		if a != b && !seen[e] {
			seen[e] = true
			edges = append(edges, e)
		}
	}
	order := rng.Perm(n)
	for i := 1; i < n; i++ {
		add(ID(order[i]+1), ID(order[rng.IntN(i)]+1))
	}
	for len(edges) < want {
		add(ID(rng.IntN(n)+1), ID(rng.IntN(n)+1))
	}
	g.link(edges, n)
}

func (g *Graph) buildEdges(edges [][2]ID, n int) error {
	seen := map[[2]ID]bool{}
	for _, e := range edges {
		a, b := min(e[0], e[1]), max(e[0], e[1])
		switch {
		case a < 1 || b > ID(n):
			return fmt.Errorf("topology: edge %d %d: want processes 1..%d", e[0], e[1], n)
		case a == b:
			return fmt.Errorf("topology: edge %d %d joins a process to itself", a, b)
		case seen[[2]ID{a, b}]:
			return fmt.Errorf("topology: edge %d %d stands twice", a, b)
		}
		seen[[2]ID{a, b}] = true
	}
	g.link(edges, n)
	if lost := g.unreachable(); lost != None {
		return fmt.Errorf("topology: process %d cannot be reached from 1: the graph must be connected",
			lost)
	}
	return nil
}

func (g *Graph) link(edges [][2]ID, n int) {
	g.Class, g.neighbors = Connected, make([][]ID, n)
	for _, e := range edges {
		g.neighbors[e[0]-1] = append(g.neighbors[e[0]-1], e[1])
		g.neighbors[e[1]-1] = append(g.neighbors[e[1]-1], e[0])
	}
	for _, list := range g.neighbors {
		slices.Sort(list)
	}
}

// weigh gives each link its weight.
func (g *Graph) weigh(s *Shape, rng *rand.Rand) error {
	if s.Weights == nil && s.Weighing == "" {
		return nil
	}
	edges, weights := s.Edges, s.Weights
	if edges == nil || weights == nil {
		edges = g.Edges()
	}
	if weights == nil {
		for i := range edges {
			weights = append(weights, Weight(i+1))
		}
		switch s.Weighing {
		case "by-ids":
		case "random":
			rng.Shuffle(len(weights), func(i, j int) { weights[i], weights[j] = weights[j], weights[i] })
		default:
			return fmt.Errorf("topology: unknown weights %q (has: random, by-ids)", s.Weighing)
		}
	}
	if len(weights) != len(edges) {
		text := fmt.Sprint(edges[:min(len(edges), 10)])
		if len(edges) > 10 {
			text = strings.TrimSuffix(text, "]") + " ...]"
		}
		return fmt.Errorf("topology: %d weights for %d links, expected one for each in the order %s",
			len(weights), len(edges), text)
	}
	g.weights = make(map[[2]ID]Weight, len(edges))
	owner := make(map[Weight][2]ID, len(edges))
	for i, e := range edges {
		w := weights[i]
		if w == 0 {
			return fmt.Errorf("topology: weight 0 of link %d-%d, want a whole number from 1 on", e[0], e[1])
		}
		if o, taken := owner[w]; taken {
			return fmt.Errorf("topology: weight %d stands twice, for links %d-%d and %d-%d; "+
				"write another for one of them", w, o[0], o[1], e[0], e[1])
		}
		owner[w], g.weights[edge(e[0], e[1])] = e, w
	}
	return nil
}

func (g *Graph) unreachable() ID {
	seen := make([]bool, len(g.peers)+1)
	seen[1] = true
	for stack := []ID{1}; len(stack) > 0; {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, q := range g.Neighbors(p) {
			if q != None && !seen[q] {
				seen[q] = true
				stack = append(stack, q)
			}
		}
	}
	for _, p := range g.peers {
		if !seen[p] {
			return p
		}
	}
	return None
}

// ReadEdges reads an edge list: one edge a line, two process IDs and, in every line or in none, a
// weight, separated by white space or a comma; '#' begins a comment.
func ReadEdges(r io.Reader) (edges [][2]ID, weights []Weight, err error) {
	in := bufio.NewScanner(r)
	var errs []error
	line, columns := 1, 0
	for ; in.Scan(); line++ {
		text, _, _ := strings.Cut(in.Text(), "#")
		words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
		if len(words) == 0 {
			continue
		}
		var x [3]uint64 // two IDs and a weight
		bad := len(words) < 2 || len(words) > 3
		for i := 0; i < len(words) && !bad; i++ {
			bits := 31 + i/2
			x[i], err = strconv.ParseUint(words[i], 10, bits)
			bad = err != nil || x[i] == 0
		}
		if bad {
			errs = append(errs, fmt.Errorf("line %d: %q, want two process IDs, and a weight or none",
				line, in.Text()))
			continue
		}
		if columns == 0 {
			columns = len(words)
		}
		if columns != len(words) {
			errs = append(errs, fmt.Errorf("line %d: %q, want a weight in every line or in none",
				line, in.Text()))
			continue
		}
		edges = append(edges, [2]ID{ID(x[0]), ID(x[1])})
		if columns == 3 {
			weights = append(weights, Weight(x[2]))
		}
	}
	if err := in.Err(); err != nil {
		errs = append(errs, fmt.Errorf("line %d: %w", line, err))
	}
	return edges, weights, errors.Join(errs...)
}
