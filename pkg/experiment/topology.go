package experiment

import (
	"fmt"
	"math"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/link"
)

// topologyType is a kind of graph in one word, or with its keys.
func (f *folder) topologyType() config.Type[algo.Shape] {
	block := config.Variants[algo.Shape]{Tag: "kind", Names: graphKinds, Fields: f.graphFields,
		Doc: "the kind of graph", Example: "tree",
		Get: func(s *algo.Shape) string { return s.Kind },
		Set: func(s *algo.Shape, kind string) { s.Kind = kind }}.Type()
	block = config.As(block, complete, complete).Unless(func(v *config.Value) string {
		kind := v.Get("kind")
		if kind != nil && kind.Text == "file" && (v.Get("path") == nil) == (v.Get("edges") == nil) {
			return "kind file: expected one of path and edges; write {kind: file, path: ...}"
		}
		return ""
	})
	word := config.As(config.Choice(graphKinds...),
		func(kind string) algo.Shape { return complete(algo.Shape{Kind: kind}) },
		func(s algo.Shape) string { return s.Kind })
	word = word.Unless(func(v *config.Value) string {
		if v.Kind == config.Text && v.Text == "file" {
			return "file without a path; write {kind: file, path: ...}"
		}
		return ""
	})
	plain := func(s algo.Shape) bool {
		return s.Kind != "tree" && s.Kind != "random" && s.Kind != "file" && s.Order == nil &&
			s.Sorted == "" && s.Weights == nil && s.Weighing == ""
	}
	t := config.Union(word, block, plain,
		func(v *config.Value) *config.Value { return config.Wrap("kind", v) })
	return t.Called(word.Name + ", or {kind: ..., ...}")
}

// graphFields are the keys that mean something for a kind of graph.
func (f *folder) graphFields(kind string, s *algo.Shape) (fields []config.Field) {
	add := func(name, example, doc string, of config.Slot) {
		fields = append(fields, config.Field{Name: name, Of: of, Example: example, Doc: doc,
			With: "kind: " + kind})
	}
	order := orderType().Through(func() order { return order{s.Sorted, s.Order} },
		func(o order) { s.Sorted, s.Order = o.word, o.ids })
	switch kind {
	case "ring", "bidirectional-ring", "logical-ring":
		add("order", "random", "IDs around the ring, or from the root of the tree on", order)
	case "tree":
		add("shape", "star", "shape of the "+
			"tree", config.Choice("path", "star", "binary", "balanced", "random").To(&s.Tree))
		add("order", "random", "IDs around the ring, or from the root of the tree on", order)
	case "random":
		add("degree", "4", "links of a process in the mean", config.Number(1, 1000).To(&s.Degree))
	case "file":
		add("path", "edges.txt", "a file with two IDs in each line, and behind them a weight or "+
			"none", f.edgesType().Into(func(of algo.Shape) { s.Edges, s.Weights = of.Edges, of.Weights }))
		add("edges", "[[1, 2], [2, 3], [3, 4], [4, 5]]", "the links, in both "+
			"directions", edgeList().To(&s.Edges))
	}
	if kind != "ring" && kind != "logical-ring" {
		add("weights", "random", "weights of the links: random, by-ids, or a "+
			"list", weightsType().Through(func() weights { return weights{s.Weighing, s.Weights} },
			func(w weights) { s.Weighing, s.Weights = w.word, w.list }))
	}
	return fields
}

// order is that of IDs around a ring or from the root of a tree: a word, or a list.
type order struct {
	word string
	ids  []algo.ID
}

func orderType() config.Type[order] {
	list := config.Each(processType()).Want(config.List,
		"ascending, descending, random, or a list of all processes")
	t := config.As(list, func(ids []algo.ID) order { return order{ids: ids} },
		func(o order) []algo.ID { return o.ids })
	for _, word := range []string{"random", "descending", "ascending"} {
		t = t.Or(word, order{word: word}, func(o order) bool { return o.word == word })
	}
	return t
}

// weights are those of the links: a word, or a list.
type weights struct {
	word string
	list []algo.Weight
}

func weightsType() config.Type[weights] {
	list := config.Each(config.Whole[algo.Weight](1, math.MaxUint32).Called("a weight")).
		Want(config.List, "random, by-ids, or a list with one weight for each link")
	t := config.As(list, func(list []algo.Weight) weights { return weights{list: list} },
		func(w weights) []algo.Weight { return w.list })
	for _, word := range []string{"random", "by-ids"} {
		t = t.Or(word, weights{word: word}, func(w weights) bool { return w.word == word })
	}
	return t
}

// complete fills in the defaults of a shape.
func complete(s algo.Shape) algo.Shape {
	if s.Kind == "tree" && s.Tree == "" {
		s.Tree = "binary"
	}
	if s.Kind == "random" && s.Degree == 0 {
		s.Degree = algo.MeanDegree
	}
	return s
}

// edgeList are edges that stand in the experiment itself.
func edgeList() config.Type[[][2]algo.ID] {
	pairs := config.Each(pairType[algo.ID]("two processes"))
	return pairs.Want(config.List, "a list of pairs, as [[1, 2], [2, 3]]")
}

// pairType is two processes; want says so in messages.
func pairType[ID ~uint32](want string) config.Type[[2]ID] {
	t := config.As(config.Each(numberType[ID]()), func(ids []ID) [2]ID { return [2]ID(ids) },
		func(pair [2]ID) []ID { return pair[:] }).Called("a pair of processes")
	return t.Unless(func(v *config.Value) string {
		if v.Kind != config.List || len(v.Items) != 2 {
			return v.Plain() + ", expected " + want
		}
		return ""
	})
}

// maxEdges bounds the graph of a file: it stands whole in the resolved copy.
const maxEdges = 20_000

// edgesType is the path of a file of edges, of which the value is what stands there.
func (f *folder) edgesType() config.Type[algo.Shape] {
	return contentsType(func(at config.Place, name string) (algo.Shape, error) {
		s, err := f.edges(at, name)
		if n := len(s.Edges); err == nil && (n == 0 || n > maxEdges) {
			err = fmt.Errorf("%d edges, expected 1 to %d", n, maxEdges)
		}
		return s, err
	})
}

// recordType is the path of a file with a record of delays, or of a folder with one for each pair.
func (f *folder) recordType() config.Type[link.Recorded] { return contentsType(f.record) }

// contentsType is the path of a file, of which the value is what read finds there.
func contentsType[T any](read func(config.Place, string) (T, error)) config.Type[T] {
	t := config.Type[T]{Name: "the path of a file"}
	path := config.SomeText(t.Name)
	t.Schema = path.Schema
	t.Read = func(r *config.Reader, key string, v *config.Value) (none T, ok bool) {
		name, ok := path.Read(r, key, v)
		if !ok {
			return none, false
		}
		x, err := read(v.At, name)
		if err != nil {
			r.Add(v.At, key, "%s: %v", config.Clip(name), err)
		}
		return x, err == nil
	}
	return t
}
