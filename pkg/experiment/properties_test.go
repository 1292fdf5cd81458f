package experiment

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/pkg/harness"
	"pgregory.net/rapid"

	"github.com/conclave-bench/conclave/pkg/config"
)

// drawn is a random experiment: its text, and the lengths of its dimensions,
// outermost first.
type drawn struct {
	text        string
	lengths     []int
	repetitions int
}

func draw(t *rapid.T) drawn {
	d := drawn{repetitions: rapid.IntRange(1, 5).Draw(t, "repetitions")}
	algorithms := rapid.IntRange(1, 3).Draw(t, "algorithms")
	d.lengths = append(d.lengths, algorithms)
	var b strings.Builder
	fmt.Fprintf(&b, "problem: election\nrepetitions: %d\nseed: %d\nalgorithms:\n", d.repetitions,
		rapid.IntRange(0, 1<<40).Draw(t, "seed"))
	for i := range algorithms {
		fmt.Fprintf(&b, "  - {name: bully, label: l%d}\n", i)
	}
	values := map[string][]string{
		"nodes":               {"3", "4", "5", "9"},
		"network.loss":        {"0", "0.01", "0.5"},
		"network.latency":     {"1ms", "2ms", "{distribution: uniform, min: 1ms, max: 3ms}"},
		"params.level":        {"1", "2", "10"},
		"scenario.settle":     {"10ms", "20ms"},
		"detector.delay":      {"1ms", "2ms", "3ms"},
		"network.duplication": {"0", "1"},
		"faults.crash_rate":   {"0", "0.5", "2"},
		"scenario.elections":  {"1", "3"},
	}
	keys := []string{"nodes", "network.loss", "network.latency", "params.level", "scenario.settle",
		"detector.delay", "network.duplication", "faults.crash_rate", "scenario.elections"}
	keys = rapid.Permutation(keys).Draw(t, "keys")[:rapid.IntRange(0, 4).Draw(t, "dimensions")]
	b.WriteString("sweep:\n")
	for _, k := range keys {
		n := rapid.IntRange(1, len(values[k])).Draw(t, k)
		d.lengths = append(d.lengths, n)
		fmt.Fprintf(&b, "  - {vary: %s, over: [%s]}\n", k, strings.Join(values[k][:n], ", "))
	}
	if len(keys) == 0 {
		b.WriteString("  []\n")
	}
	d.text = b.String()
	return d
}

func (d *drawn) load(t *rapid.T) *Experiment {
	e, err := Parse("drawn.yaml", []byte(d.text), Overrides{})
	if err != nil {
		t.Fatalf("%s\n%v", d.text, err)
	}
	return e
}

func TestTrialsAreRandomisedCompleteBlocks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		e := d.load(t)
		cells := 1
		for _, n := range d.lengths {
			cells *= n
		}
		trials := e.Trials()
		if len(e.Cells) != cells || len(trials) != cells*d.repetitions {
			t.Fatalf("%d cells and %d trials, want %d and %d", len(e.Cells), len(trials), cells,
				cells*d.repetitions)
		}
		numbers := map[int]bool{}
		for i, trial := range trials {
			block := i/cells + 1
			numbers[trial.Number] = true
			switch {
			case trial.Order != i+1 || trial.Repetition != block:
				t.Fatalf("position %d: %+v", i, trial)
			case trial.Number != (trial.Cell-1)*d.repetitions+trial.Repetition:
				t.Fatalf("trial %d is repetition %d of cell %d", trial.Number, block, trial.Cell)
			case trial.Seed != harness.Derive(e.Seed, "trial", uint64(block)) ||
				trial.Plan.Seed != trial.Seed:
				t.Fatalf("trial %d has the seed %d", trial.Number, trial.Seed)
			}
			plan := trial.Plan
			plan.Seed = 0
			if !reflect.DeepEqual(plan, e.Cells[trial.Cell-1].Plan) {
				t.Fatalf("trial %d has another plan than its cell", trial.Number)
			}
		}
		if len(numbers) != len(trials) || !numbers[1] || !numbers[len(trials)] {
			t.Fatalf("numbers of the trials are not 1..%d", len(trials))
		}
		if !reflect.DeepEqual(trials, e.Trials()) {
			t.Fatal("another order the second time")
		}
	})
}

// A cell that is done leaves the blocks of the others as they were.
func TestBlocksOfSomeCellsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		e := d.load(t)
		done := rapid.SliceOfNDistinct(rapid.IntRange(1, len(e.Cells)), 0, len(e.Cells), rapid.ID).
			Draw(t, "done")
		var want []Trial
		for _, trial := range e.Trials() {
			if trial.Repetition == d.repetitions && !slices.Contains(done, trial.Cell) {
				trial.Order = 1000 + len(want) + 1
				want = append(want, trial)
			}
		}
		got := e.Block(d.repetitions, 1000, func(cell int) bool { return !slices.Contains(done, cell) })
		if len(got) != len(e.Cells)-len(done) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("without %v:\n%+v\nwant\n%+v", done, got, want)
		}
	})
}

func TestLastDimensionVariesFastest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		e := d.load(t)
		// The cells of two numbers agree in each dimension in which the mixed
		// radix digits of the numbers do.
		a := rapid.IntRange(0, len(e.Cells)-1).Draw(t, "a")
		b := rapid.IntRange(0, len(e.Cells)-1).Draw(t, "b")
		same := sameDigits(a, b, d.lengths)
		differ := len(d.lengths) - same
		found := 0
		columns := map[string]bool{}
		for i, f := range e.Cells[a].Design {
			if f != e.Cells[b].Design[i] {
				columns[strings.TrimPrefix(f.Name, "latency_")] = true
			}
		}
		if columns["ms"] || columns["model"] { // two columns, one dimension
			delete(columns, "ms")
			columns["model"] = true
		}
		found = len(columns)
		if found != differ {
			t.Fatalf("%s\ncells %d and %d differ in %v, want %d dimensions", d.text, a+1, b+1,
				columns, differ)
		}
	})
}

func sameDigits(a, b int, lengths []int) (same int) {
	for _, n := range slices.Backward(lengths) {
		if a%n == b%n {
			same++
		}
		a, b = a/n, b/n
	}
	return same
}

func TestGrowingSweepKeepsItsRows(t *testing.T) {
	t.Parallel()
	const text = "problem: election\nalgorithms: [bully]\nsweep: [{vary: nodes, over: [%s]}]\n"
	rows := func(over string) map[string]bool {
		e, err := Parse("e.yaml", fmt.Appendf(nil, text, over), Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]bool{}
		for _, trial := range e.Trials() {
			out[fmt.Sprint(trial.Repetition, trial.Seed, e.Cells[trial.Cell-1].Design)] = true
		}
		return out
	}
	larger := rows("2, 3, 5, 9")
	for row := range rows("3, 5") {
		if !larger[row] {
			t.Errorf("%s is gone", row)
		}
	}
}

func TestResolvedRoundTripOfRandomExperiments(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		e := d.load(t)
		again, err := Parse("other.yaml", e.resolved, Overrides{})
		if err != nil {
			t.Fatalf("%s\n%v", e.resolved, err)
		}
		if !reflect.DeepEqual(e, again) {
			t.Fatalf("%s\nbecame\n%s", e.resolved, again.resolved)
		}
	})
}

func TestTimeoutsOfEachProcessAreChecked(t *testing.T) {
	t.Parallel()
	e, err := Parse("e.yaml", []byte("problem: election\nnodes: 3\nalgorithms:\n"+
		"  - {name: bully, params: {t_answer: [5ms, 3ms, 5ms]}}\n"), Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"process 2: t_answer is below 2d"}
	if p := e.Cells[0].Plan; p.InModel || !reflect.DeepEqual(p.OutOfModel, want) {
		t.Errorf("in model: %v, %q, want %q", p.InModel, p.OutOfModel, want)
	}
}

func TestEstimateGrowsWithTheExperiment(t *testing.T) {
	t.Parallel()
	total := func(text string) time.Duration {
		e, err := Parse("e.yaml", []byte(text), Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		least, most := e.Estimate()
		if least <= 0 || most < least {
			t.Errorf("%s: from %v to %v", text, least, most)
		}
		return most
	}
	const (
		mutex     = "algorithms: [mutex/naimi-trehel]\nscenario: "
		elections = "algorithms: [election/bully]"
		churned   = "algorithms: [election/bully]\ntransport: sim\nscenario: {kind: churn}\n"
	)
	for _, pair := range [][2]string{
		{"algorithms: [election/bully]\ntransport: sim", "algorithms: [election/bully]"},
		{"algorithms: [election/bully]", "algorithms: [election/bully]\nscenario: {settle: 1s}"},
		{"algorithms: [election/bully]\nscenario: {kind: cold-start}", "algorithms: [election/bully]"},
		{mutex + "{kind: burst, initiators: 2}", mutex + "{kind: burst}"},
		{mutex + "{kind: sequential, requests: 10}", mutex + "{kind: sequential}"},
		{mutex + "{kind: closed, requests: 50}", mutex + "{kind: closed, duration: 5s}"},
		{mutex + "{kind: open, rate: 50}", mutex + "{kind: open, rate: 20}"},
		{mutex + "{kind: open, rate: 50}", mutex + "{kind: open, rate: 50, duration: 8s}"},
		{mutex + "{kind: script, events: [{at: 1s, do: request, node: 1}]}",
			mutex + "{kind: script, until: 2s, events: [{at: 1s, do: request, node: 1}]}"},
		{elections, elections + "\nscenario: {elections: 20}"},
		{elections, elections + "\nscenario: {kind: partition}"},
		{elections + "\nscenario: {kind: partition, duration: 1s}",
			elections + "\nscenario: {kind: partition}"},
		{elections + "\nscenario: {kind: churn, duration: 1s}\nfaults: {crash_rate: 1}",
			elections + "\nscenario: {kind: churn}\nfaults: {crash_rate: 1}"},
		{elections + "\nscenario: {kind: leader-restart}", elections + "\nscenario: {settle: 200ms}"},
		{elections, elections + "\ndetector: {kind: phi, interval: 100ms}"},
		{churned + "faults: {crash_rate: 0.1}", churned + "faults: {crash_rate: 10}"},
		{churned + "faults: {crash_rate: 1}",
			churned + "faults: {crash_rate: 1}\ndetector: {kind: heartbeat}"},
		{churned + "faults: {crash_rate: 1}\ndetector: {kind: heartbeat, scope: leader}",
			churned + "faults: {crash_rate: 1}\ndetector: {kind: heartbeat}"},
		{churned + "faults: {events: [{every: 1s, times: 2, do: crash, who: leader}]}",
			churned + "faults: {events: [{every: 1s, do: crash, who: leader}]}"},
	} {
		if a, b := total(pair[0]), total(pair[1]); a >= b {
			t.Errorf("%v for\n%s\nand %v for\n%s", a, pair[0], b, pair[1])
		}
	}
}

func TestKeysAreDocumented(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range Keys() {
		if k.Doc == "" || k.Type == "" || seen[k.Path] {
			t.Errorf("%+v: no doc, no type, or twice", k)
		}
		if k.Default == "" && k.Path != "algorithms" {
			t.Errorf("%s: no default and no word about it", k.Path)
		}
		seen[k.Path] = true
	}
	if err := newDraft("x.yaml", folder{}).Err(); err != nil {
		t.Errorf("defaults of the schema: %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	extensions := []string{".yaml", ".toml", ".json"}
	for _, folder := range []string{"bad", "good"} {
		for _, path := range inputs(f, folder) {
			for i, ext := range extensions {
				if strings.HasSuffix(path, ext) {
					f.Add(must(files.Read(path, config.MaxSize)), byte(i), "nodes=3")
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, format byte, set string) {
		path := "fuzz" + extensions[int(format)%len(extensions)]
		e, err := Parse(path, data, Overrides{Set: []string{set},
			Env: []string{"CONCLAVE_" + set}})
		if err != nil {
			for _, one := range err.(*Error).Unwrap() {
				if strings.ContainsAny(one.Error(), "\n\x00") {
					t.Errorf("a message of two lines: %q", one)
				}
			}
			return
		}
		again, err := Parse("resolved.yaml", e.resolved, Overrides{})
		if err != nil {
			t.Fatalf("%s\n%v", e.resolved, err)
		}
		if !reflect.DeepEqual(e.Cells, again.Cells) || e.Hash() != again.Hash() {
			t.Fatalf("%s\nbecame\n%s", e.resolved, again.resolved)
		}
	})
}

// TestTitle: a column is called in prose, with its unit.
func TestTitle(t *testing.T) {
	t.Parallel()
	for column, want := range map[string]string{
		"loss": "message loss", "label": "algorithm", "latency_ms": "latency (ms)", "nodes": "nodes",
		"params_t_answer_ms": "t answer (ms)", "scenario_hold_ms": "time in the critical section (ms)",
		"faults_downtime_ms": "time from crash to restart (ms)", "detector_kind": "detector kind",
	} {
		if got := Title(column); got != want {
			t.Errorf("%s is titled %q, want %q", column, got, want)
		}
	}
}
