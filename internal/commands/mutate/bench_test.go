package mutate

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// packages are those whose tests must notice every change of a handler.
var packages = []string{
	"plugins/election/bully", "plugins/election/raft", "plugins/mutex/naimitrehel",
	"plugins/election/afekgafni", "plugins/election/ble", "plugins/election/changroberts",
	"plugins/election/dolevklawerodeh", "plugins/election/echoextinction",
	"plugins/election/franklin", "plugins/election/gallagerhumbletspira",
	"plugins/election/hirschbergsinclair", "plugins/election/itairodeh",
	"plugins/election/lease", "plugins/election/leasecas", "plugins/election/lelann",
	"plugins/election/viewstampedreplication",
	"plugins/mutex/agrawalelabbadi", "plugins/mutex/carvalhoroucairol",
	"plugins/mutex/chandymisra", "plugins/mutex/grid", "plugins/mutex/jounggroup",
	"plugins/mutex/lodhakshemkalyani", "plugins/mutex/neilsenmizuno", "plugins/mutex/quorum",
	"plugins/mutex/raymondk", "plugins/mutex/ricartagrawalatoken", "plugins/mutex/singhal",
}

// A judge is a package without handlers on whose figures others rely.
type judge struct {
	files []string // in which every function is broken
	// skip are the tests that are left out: whole simulations and servers, which take seconds for each mutant.
	skip string
}

var judges = map[string]judge{
	"internal/runs/queue": {files: []string{"aside.go", "confide.go", "feed.go", "sign.go"},
		skip: "^Test(Queue|Host)|^TestSession(_SentBack|_Ends|_WriteDeadline)?$"},
	"internal/base/stats": {files: []string{"binomial.go", "bootstrap.go", "clusters.go", "clusters_ratio.go", "drift.go",
		"exchange.go", "figures.go", "kaplanmeier.go", "kaplanmeier_clusters.go", "levels.go", "logmean.go",
		"lograte.go", "maxt.go", "paired.go", "poisson.go", "pooled.go", "quantile.go", "rank.go", "sequence.go",
		"skewed.go", "stats.go", "stepdown.go", "uniform.go", "variate.go"},
		skip: "Cover|Alarms|AtMostHolm|Stratify_(Promises|Finds)|ControlVariate$|_Power$|" +
			"(Everywhere|Unbiased|Pays|AgainstHunter|OfEqualPairs|DriftOfNone)$"},
	"pkg/check": {files: []string{"faults.go", "outages.go"},
		skip: "^Test(Museum|Explore.*|NoFalseAlarm|RightOnes|NonDeterminism|" +
			"Phase(_Teeth|_Scenarios)?|Knee|Count_Shares)$"},
}

// mutantsOf are those of a package, of a handler's or of a judge's.
func mutantsOf(t *testing.T, dir string) (mutants []Mutant) {
	t.Helper()
	abs, err := filepath.Abs("../../../" + dir)
	if err == nil {
		if j, ok := judges[dir]; ok {
			mutants, err = OfFiles(abs, j.files)
		} else {
			mutants, err = Of(abs, Handlers)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return mutants
}

// users have the tests of rules that they share.
var users = map[string][]string{
	"plugins/mutex/quorum": {"plugins/mutex/grid", "plugins/mutex/maekawa"},
}

// newBench tries mutants of a package with a hundred random schedules: what
// escapes those must be caught by a rule that a test quotes.
func newBench(t *testing.T, dir string) *Bench {
	t.Helper()
	abs, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	return &Bench{Dir: abs, Temp: t.TempDir(), Limit: 2 * time.Minute,
		Env: []string{"CONCLAVE_NIGHTLY=", "CONCLAVE_SCHEDULES=100"}}
}

// try wants these verdicts about mutants, by name; "" is the package as it is.
func try(t *testing.T, b *Bench, roots []string, want map[string]Verdict) {
	t.Helper()
	mutants, err := Of(b.Dir, roots)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Build(mutants); err != nil {
		t.Fatal(err)
	}
	for name, want := range want {
		i := slices.IndexFunc(mutants, func(m Mutant) bool { return m.Name == name })
		if i < 0 && name != "" {
			t.Fatalf("there is no mutant %q", name)
		}
		if got, out, err := b.Try(i); err != nil || got != want {
			t.Errorf("%q: %s, want %s: %v\n%s", name, got, want, err, out)
		}
	}
}

// TestTry: what a bad test misses survives, and what it sees is noticed.
func TestTry(t *testing.T) {
	if !slowtest.Night() {
		t.Skip("builds a program several times: CONCLAVE_NIGHTLY=1 runs it")
	}
	b := newBench(t, "testdata/weak")
	b.Limit = 2 * time.Second
	try(t, b, []string{"Clip", "Zero"}, map[string]Verdict{
		"":                      Survived,
		"Clip: v = 1":           Noticed,
		"Clip: delete v = 0":    Noticed,
		"Clip: if v < 1":        Survived,
		"Clip: delete v = most": Survived,
		"Clip: delete return v": Stillborn,
		"Zero: delete v--":      Noticed, // it hangs
	})
}

// TestKnown: the tests of a plugin notice a line that is known to be broken.
func TestKnown(t *testing.T) {
	if !slowtest.Night() {
		t.Skip("runs a plugin's tests three times; set CONCLAVE_NIGHTLY=1")
	}
	b := newBench(t, "../../../plugins/mutex/naimitrehel")
	try(t, b, Handlers, map[string]Verdict{
		"":                                   Survived,
		"onReq: delete n.father = k":         Noticed,
		"Release: delete n.next = algo.None": Noticed,
	})
}

// explained is the survivors of the list.
func explained(t *testing.T) []Survivor {
	t.Helper()
	return listed(t, "survivors.txt")
}

// listed reads a list of survivors.
func listed(t *testing.T, file string) []Survivor {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Survivors(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestExplained: each survivor of the list is a mutant that exists.
func TestExplained(t *testing.T) {
	mutants := map[string][]Mutant{}
	for _, dir := range all() {
		mutants[dir] = mutantsOf(t, dir)
	}
	for _, s := range explained(t) {
		if !slices.ContainsFunc(mutants[s.Dir], func(m Mutant) bool { return m.Name == s.Name }) {
			t.Errorf("%s has no mutant %q: take it off the list", s.Dir, s.Name)
		}
	}
}

// all are the packages that are tried.
func all() []string { return slices.Concat(packages, slices.Sorted(maps.Keys(judges))) }

// TestPackages tries every mutant of every package, which takes up to a second
// for each.
func TestPackages(t *testing.T) {
	if !slowtest.Night() {
		t.Skip("takes about an hour: make mutants runs it")
	}
	list := explained(t)
	for _, dir := range all() {
		t.Run(dir, func(t *testing.T) { tryAll(t, dir, list) })
	}
}

func tryAll(t *testing.T, dir string, list []Survivor) {
	tests := users[dir]
	if tests == nil {
		tests = []string{dir}
	}
	mutants := mutantsOf(t, dir)
	var benches []*Bench
	for _, dir := range tests {
		b := newBench(t, "../../../"+dir)
		b.Skip = judges[dir].skip
		if err := b.Build(mutants); err != nil {
			t.Fatal(err)
		}
		if got, out, err := b.Try(-1); err != nil || got != Survived {
			t.Fatalf("as it is: %s, %v\n%s", got, err, out)
		}
		b.Limit = max(20*time.Second, 5*b.Took) // what takes longer hangs
		benches = append(benches, b)
	}
	count := map[Verdict]int{}
	for i, m := range mutants {
		got := Survived
		for _, b := range benches {
			if got != Survived {
				break
			}
			var err error
			if got, _, err = b.Try(i); err != nil {
				t.Fatal(err)
			}
		}
		count[got]++
		known := slices.ContainsFunc(list, func(s Survivor) bool { return s.Dir == dir && s.Name == m.Name })
		switch {
		case got == Survived && !known:
			t.Errorf("no test notices %q: add one, or explain it in survivors.txt", m.Name)
		case got == Noticed && known:
			t.Errorf("%q is noticed: take it off survivors.txt", m.Name)
		}
	}
	t.Logf("%d mutants: %v", len(mutants), count)
}
