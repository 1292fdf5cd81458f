package reproduce

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

const papers = "../../../configs/papers"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func studies(t *testing.T) (all []*Study) {
	t.Helper()
	names, err := Names(papers)
	must(t, err)
	for _, name := range names {
		s, err := Load(papers, name)
		must(t, err)
		all = append(all, s)
	}
	return all
}

// judged runs a study in simulation.
func judged(t *testing.T, s *Study, quick bool) ([]Row, error) {
	t.Helper()
	settings, cut := s.Quick, s.Quick != nil
	if !quick {
		settings, cut = nil, false
	}
	e, err := s.Experiment(settings...)
	must(t, err)
	config, err := e.Resolved()
	must(t, err)
	folder, err := results.Create(t.TempDir(), runner.Header(e, nil), config)
	must(t, err)
	_, err = runner.Run(context.Background(), e, folder, runner.Options{})
	must(t, err)
	must(t, folder.Close())
	return s.Judge(e, folder.Dir(), cut)
}

// TestStudies runs them all, cut down unless it is night, and wants the verdicts that
// they expect. What is undecided is counted: hardly anything may be.
func TestStudies(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "runs every study at a reduced length")
	full := slowtest.Night()
	rows, undecided := 0, 0
	for _, s := range studies(t) {
		rowsOf, err := judged(t, s, !full)
		must(t, err)
		for i := range rowsOf {
			r := &rowsOf[i]
			rows++
			if r.Verdict == Undecided || r.OfTheory == Undecided {
				undecided++
			}
			if !r.Expected {
				t.Errorf("%s: %q: %s: %s; theory %s; measured %v: %s", s.Name, r.Statement.Says, r.Case,
					r.Paper, r.Theory, r.Measured, r.Outcome())
			}
		}
	}
	if full && undecided > 0 || undecided > rows/20 {
		t.Errorf("%d of %d verdicts are undecided", undecided, rows)
	}
}

// TestStudies_Sound: files come in pairs, the cut-down forms load, and each statement is
// about some cell; no formula is there that nobody states.
func TestStudies_Sound(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, s := range studies(t) {
		e, err := s.Experiment()
		must(t, err)
		for _, settings := range [][]string{s.Quick, append([]string{"transport=nats"}, s.Sockets...)} {
			if _, err := s.Experiment(settings...); err != nil {
				t.Error(err)
			}
		}
		for _, st := range s.Statements {
			if !slices.ContainsFunc(e.Cells, func(c experiment.Cell) bool { return st.about(&c) }) {
				t.Errorf("%s: %q is about no cell", s.Name, st.Says)
			}
			if st.Expect != "" && st.Note == "" {
				t.Errorf("%s: %q is refuted, and no note says why", s.Name, st.Says)
			}
			for _, a := range []*assertion{st.paper, st.theory} {
				if a != nil {
					used[a.formula] = true
				}
			}
		}
	}
	for _, f := range formulaNames() {
		if !used[f] {
			t.Errorf("no statement has formula %s", f)
		}
	}
	experiments, err := filepath.Glob(filepath.Join(papers, "*.yaml"))
	must(t, err)
	for _, path := range experiments {
		pair := strings.TrimSuffix(path, ".yaml") + suffix
		if _, err := os.Stat(pair); err != nil && !strings.HasSuffix(path, suffix) {
			t.Errorf("nothing is said about %s: want %s", path, filepath.Base(pair))
		}
	}
}

// cellOf is a cell of an experiment without a file.
func cellOf(t *testing.T, algorithm, nodes string, settings ...string) *experiment.Cell {
	t.Helper()
	settings = append(settings, "transport=sim")
	e, err := experiment.Build([]string{algorithm}, nodes, experiment.Overrides{Set: settings})
	must(t, err)
	return &e.Cells[0]
}

// TestFormulas_Claims: where an algorithm's own Spec claims what a paper states, the two
// are the same.
func TestFormulas_Claims(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ algorithm, metric, load, formula string }{
		{"mutex/lamport", "messages/entry", "light", "3(N-1)"},
		{"mutex/ricart-agrawala", "messages/entry", "burst", "2(N-1)"},
		{"mutex/naimi-trehel", "messages/entry", "light", "H(N-1)"},
		{"mutex/suzuki-kasami", "messages/entry", "light", "N-1"},
		{"mutex/raynal-modified", "messages/entry", "worst", "N(N-1)"},
		{"mutex/raynal-modified", "messages/entry", "heavy", "N-1"},
		{"mutex/raynal-original", "messages/entry", "best", "2(N-1)"},
		{"election/bully", "messages/election", "one begins", "N²-N-1"},
		{"election/bully", "messages/election", "best", "N-1"},
		{"election/bully-modified", "messages/election", "light", "3N-4"},
		{"election/bully-modified", "messages/election", "all begin", "N²+N-5"},
		{"election/bully-next-in-line", "messages/election", "light", "N"},
		{"election/tree", "messages/election", "worst", "4N-4"},
		{"election/ring-list", "messages/election", "light", "2N"},
		{"election/invitation", "messages/election", "best", "2(N-1)"},
	} {
		for _, n := range []string{"4", "9"} {
			cell := cellOf(t, c.algorithm, n)
			p := &point{cell: cell}
			lo, hi := p.claim(c.metric, c.load)
			must(t, p.err)
			got, err := evaluate(c.formula, cell)
			must(t, err)
			if math.Abs(got-(lo+hi)/2) > 1e-9 {
				t.Errorf("%s, %s, N = %s: %s is %v, and the Spec claims %v to %v", c.algorithm, c.load, n,
					c.formula, got, lo, hi)
			}
		}
	}
}

// TestFormulas_Raft draws time-outs, to see whether what was derived of them is so.
func TestFormulas_Raft(t *testing.T) {
	t.Parallel()
	const draws, spread, tau = 100_000, 100.0, 150.0
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		nodes   string
		n       int
		latency float64
	}{{"3", 3, 20}, {"4", 4, 20}, {"5", 5, 30}, {"9", 9, 30}} {
		split, downtimes := 0, make([]float64, draws)
		for i := range draws {
			timers := make([]float64, c.n-1)
			for j := range timers {
				timers[j] = spread * rng.Float64()
			}
			slices.Sort(timers)
			votes := 1
			for _, other := range timers[1:] {
				if other > timers[0]+c.latency {
					votes++
				}
			}
			if votes <= c.n/2 {
				split++
			}
			downtimes[i] = tau + timers[0] - tau/2*rng.Float64()
		}
		slices.Sort(downtimes)
		cell := cellOf(t, "election/raft", c.nodes, "network.latency="+figure(c.latency)+"ms",
			"params.heartbeat=75ms", "params.t_election=150ms", "params.t_election_spread=100ms")
		for formula, drawn := range map[string]float64{
			"P(split)": float64(split) / draws, "m(τ,s)": downtimes[draws/2] / spread,
		} {
			got, err := evaluate(formula, cell)
			must(t, err)
			if formula == "m(τ,s)" {
				got /= spread
			}
			if math.Abs(got-drawn) > 0.005 {
				t.Errorf("N = %d: %s is %.4f, and of %d draws %.4f", c.n, formula, got, draws, drawn)
			}
		}
	}
}

// TestFormulas_Links: as the Spec claims for its own graph, and by hand for a grid of four.
func TestFormulas_Links(t *testing.T) {
	t.Parallel()
	const id = "election/gallager-humblet-spira"
	own, grid := cellOf(t, id, "9"), cellOf(t, id, "4", "topology=grid")
	lo, hi := (&point{cell: own}).claim("messages/election", "best")
	for formula, want := range map[string][2]float64{"2E+2N+1": {lo, 17}, "2E+5N log2 N+N-1": {hi, 51}} {
		for i, cell := range []*experiment.Cell{own, grid} {
			got, err := evaluate(formula, cell)
			must(t, err)
			if math.Abs(got-want[i]) > 1e-9 {
				t.Errorf("%s, %d processes: %v, want %v", formula, cell.Plan.Nodes, got, want[i])
			}
		}
	}
}

// TestFormulas_Diameter: by hand.
func TestFormulas_Diameter(t *testing.T) {
	t.Parallel()
	for shape, want := range map[string]float64{"path": 6, "star": 2, "binary": 4} {
		got, err := evaluate("2D", cellOf(t, "election/tree", "7",
			"topology={kind: tree, shape: "+shape+"}"))
		must(t, err)
		if got != 2*want {
			t.Errorf("%s: 2D is %v, want %v", shape, got, 2*want)
		}
	}
	if _, err := evaluate("P(split)", cellOf(t, "mutex/central", "3")); err == nil {
		t.Error("an algorithm without election time-outs has a split vote")
	}
}
