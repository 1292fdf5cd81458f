package atlas

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestAll: there are as many graphs as the sequence A000666 of the OEIS says, and each stands
// there once.
func TestAll(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		vertices                           int
		directed                           bool
		graphs, connected, quorum, leaders int
	}{
		{2, false, 2, 1, 1, 1}, {3, false, 6, 3, 5, 4}, {4, false, 20, 11, 16, 10}, {5, false, 90, 58, 85, 59},
		{6, false, 544, 407, 500, 272}, {3, true, 36, 10, 21, 15},
	} {
		graphs, connected, quorum, leaders := 0, 0, 0, 0
		seen := map[string]bool{}
		before := Graph{Vertices: test.vertices, Directed: test.directed}
		for _, g := range All(test.vertices, test.directed) {
			graphs++
			if reaches(&g) {
				connected++
			}
			if g.QuorumConnected() {
				quorum++
			}
			if g.Quorum(1) {
				leaders++
			}
			if other, err := Parse(g.String()); err != nil || other != g || seen[g.String()] {
				t.Errorf("%v is read as %v: %v", &g, &other, err)
			}
			seen[g.String()] = true
			if a, b := len(before.Links()), len(g.Links()); a > b || a == b && before.vector() < g.vector() {
				t.Errorf("%v after %v", &g, &before)
			}
			before = g
		}
		got := [4]int{graphs, connected, quorum, leaders}
		if want := [4]int{test.graphs, test.connected, test.quorum, test.leaders}; got != want {
			t.Errorf("%d vertices, directed %v: got %v, want %v", test.vertices, test.directed, got, want)
		}
	}
}

// reaches says whether everybody reaches everybody, by way of others.
func reaches(g *Graph) bool {
	for from := 1; from <= g.Vertices; from++ {
		seen := []int{from}
		for i := 0; i < len(seen); i++ {
			for v := 1; v <= g.Vertices; v++ {
				if g.Has(seen[i], v) && !slices.Contains(seen, v) {
					seen = append(seen, v)
				}
			}
		}
		if len(seen) < g.Vertices {
			return false
		}
	}
	return true
}

// TestParse: a graph is the same whatever its vertices are called, and whoever is written first.
func TestParse(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for _, directed := range []bool{false, true} {
		size := 5
		arrow := "-"
		if directed {
			size, arrow = 3, ">"
		}
		for _, g := range All(size, directed) {
			names := rng.Perm(size)
			var links []string
			for _, l := range g.Links() {
				if !directed && rng.IntN(2) == 0 {
					l[0], l[1] = l[1], l[0]
				}
				links = append(links, digit(names[l[0]-1])+arrow+digit(names[l[1]-1]))
			}
			text := strings.SplitAfterN(g.String(), ";", 2)[0] + digit(names[0]) + ";" + strings.Join(links, ",")
			if got, err := Parse(text); err != nil || got != g {
				t.Errorf("%s is %v, want %v: %v", text, &got, &g, err)
			}
		}
	}
	for _, s := range Shapes {
		if g, err := Parse(s.Graph); err != nil || g.String() != s.Graph || g.Name() != s.Name {
			t.Errorf("%s: %s is called %v: %v", s.Name, s.Graph, &g, err)
		}
	}
	for text, want := range map[string]string{
		"": "two semicolons", "5;1": "two semicolons", "9;1;": `"9" vertices, expected 2 to 6`, "5d;1;": "expected 2 to 4",
		"x;1;": `"x" vertices`, "3;4;": `leader "4"`, "3;1;1-1": `link "1-1"`, "3;1;1-4": `link "1-4"`,
		"3;1;1>2": `link "1>2"`, "3;1;1-2,": `link ""`, "3;1;1-2,2-1": `link "2-1"`,
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func digit(n int) string { return string(rune('1' + n)) }

// TestCuts: what is cut is what the graph lacks, each direction on its own.
func TestCuts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][][2]uint32{
		"3;1;1-2,1-3,2-3": nil, "3;1;1-2,2-3": {{30, 20}, {20, 30}}, "3d;1;1>2,1>3,2>1,2>3,3>1": {{20, 10}},
	} {
		g, err := Parse(text)
		if got := g.Cuts([]uint32{30, 10, 20}); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v: %v", text, got, want, err)
		}
	}
}

// TestSample: so many of them in their order, the same with the same seed.
func TestSample(t *testing.T) {
	t.Parallel()
	all := All(4, true)
	some := Sample(all, 30, 1)
	last := -1
	for _, g := range some {
		at := slices.Index(all, g)
		if at <= last {
			t.Fatalf("graph %d after %d", at, last)
		}
		last = at
	}
	if len(some) != 30 || !slices.Equal(some, Sample(all, 30, 1)) || slices.Equal(some, Sample(all, 30, 2)) ||
		len(Sample(all, 1000, 1)) != len(all) {
		t.Errorf("%d drawn", len(some))
	}
}

// TestDocument: docs/how-to/atlas.md has the classes of the reference, and the names of graphs.
func TestDocument(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/how-to/atlas.md")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open("../../../results/reference/atlas/atlas.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string][3]int{}
	for _, row := range rows[1:] {
		n := counts[row[0]]
		n[slices.IndexFunc(Classes, func(c struct{ Name, Doc string }) bool { return c.Name == row[4] })]++
		counts[row[0]] = n
	}
	for elector, n := range counts {
		for _, line := range []string{fmt.Sprintf("| %s | %d | %d | %d |", elector, n[0], n[1], n[2]),
			fmt.Sprintf("| %s | %d/%d/%d |", elector, n[0], n[1], n[2])} {
			if !strings.Contains(string(page), line) {
				t.Errorf("docs/how-to/atlas.md has no row %q", line)
			}
		}
	}
	for _, s := range Shapes {
		if !strings.Contains(string(page), fmt.Sprintf("| `%s` | `%s` |", s.Name, s.Graph)) {
			t.Errorf("docs/how-to/atlas.md has no %s", s.Name)
		}
	}
}
