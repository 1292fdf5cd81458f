package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/internal/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// detectFlags are those of bench plan that ask how many repetitions it takes.
type detectFlags struct {
	by, pilot string
	metrics   []string
}

func (d *detectFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&d.by, "detect", "", "say how many repetitions find a `CHANGE`, as 5%")
	flags.StringVar(&d.pilot, "pilot", "", "for --detect, take the spread from the run in `DIR`, not from "+
		"a simulation")
	flags.StringSliceVar(&d.metrics, "metrics", nil, "for --detect, of `METRICS` (default: the main ones)")
}

// change is the part that is to be detected; 0: nothing is.
func (d *detectFlags) change() (float64, error) {
	if d.by == "" {
		if d.pilot != "" || len(d.metrics) > 0 {
			return 0, usage("--pilot and --metrics go with --detect CHANGE, as --detect 5%%")
		}
		return 0, nil
	}
	by, err := compare.ReadShare(d.by)
	if err != nil || by == 0 || by >= 1 {
		return 0, usage("--detect %s: want a percentage between 0%% and 100%%, as 5%%", d.by)
	}
	return by, nil
}

// A detection is what it takes to find a change.
type detection struct {
	by        float64
	pilot     string // what it was, in words
	simulated bool
	needs     []compare.Need
	tests     int
	without   []string // cells that the pilot lacks
	legend    compare.Legend
}

// The pilot that is simulated unless one is given.
const (
	pilotTrials = 30
	longPilot   = 2 * time.Minute
)

// detect works out how many trials it takes, from a pilot.
func (s *streams) detect(ctx context.Context, f *source, args []string, d *detectFlags,
	e *experiment.Experiment, by float64) (*detection, error) {
	found := &detection{by: by}
	metrics := metric.Shown(e.Problem, metric.Main)
	if len(d.metrics) > 0 {
		metrics = nil
	}
	for _, name := range d.metrics {
		m := metric.Named(name)
		if m == nil || !m.Applies(e.Problem) {
			return nil, usage("--metrics: no metric %q of %s (docs/results.md has all)", name, e.Problem)
		}
		metrics = append(metrics, m)
	}
	var table *results.Table
	var err error
	if d.pilot != "" {
		table, err = results.ReadTable(d.pilot)
		found.pilot = "the run in " + d.pilot
	} else {
		table, err = s.simulatedPilot(ctx, *f, args)
		found.simulated = true
		found.pilot = fmt.Sprintf("%d simulated repetitions of each cell", pilotTrials)
	}
	if err != nil {
		return nil, err
	}
	table.Trials = planned(table.Trials, e, &found.without)
	found.needs, found.tests = compare.Needs(table, metrics, by, compare.DefaultAlpha, e.Virtual())
	if len(found.needs) == 0 {
		return nil, fmt.Errorf("--detect: %s has no value of a metric in the cells of this experiment",
			found.pilot)
	}
	return found, nil
}

// simulatedPilot runs a few repetitions of the experiment in simulation.
func (s *streams) simulatedPilot(ctx context.Context, f source, args []string) (*results.Table, error) {
	f.transport = "sim"
	own := []string{fmt.Sprintf("repetitions=%d", pilotTrials), "trace=none"}
	f.set = slices.DeleteFunc(slices.Clone(f.set), func(set string) bool {
		key, _, _ := strings.Cut(set, "=")
		return slices.Contains([]string{"transport", "repetitions", "trace"}, key)
	})
	f.set = append(f.set, own...)
	pilot, err := f.load(s, args)
	if err != nil {
		return nil, fmt.Errorf("--detect: no pilot can be simulated: %w; give the folder of a run with "+
			"--pilot", err)
	}
	if _, most := pilot.Estimate(); most > longPilot {
		return nil, usage("--detect: a pilot takes %s in simulation: give the folder of a run with --pilot, "+
			"or plan fewer cells", about(most))
	}
	config, err := pilot.Resolved()
	if err != nil {
		return nil, err
	}
	folder, err := results.InMemory(runner.Header(pilot, nil), config)
	if err != nil {
		return nil, err
	}
	options, err := programs()
	if err != nil {
		return nil, err
	}
	if _, err := runner.Run(ctx, pilot, folder, options); err != nil {
		return nil, fmt.Errorf("--detect: the pilot: %w", err)
	}
	err = folder.EachTrial(func(t *results.Trial) error {
		if t.Status == trace.Failed {
			return fmt.Errorf("--detect: the pilot: %s: a trial could not be run: %s",
				pilot.Cells[t.Cell-1].Algorithm, t.Reason)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return folder.Table()
}

// planned are the trials of a pilot in the cells of the experiment, whatever carried
// their messages.
func planned(trials []results.Trial, e *experiment.Experiment, without *[]string) (out []results.Trial) {
	d := designOf(e)
	for i := range e.Cells {
		design := slices.DeleteFunc(slices.Clone(e.Cells[i].Design), func(f metric.Field) bool {
			return f.Name == "transport"
		})
		before := len(out)
		for _, t := range trials {
			if metric.Covers(design, t.Design) {
				out = append(out, t)
			}
		}
		if len(out) == before {
			*without = append(*without, strings.Join(append([]string{e.Cells[i].Label},
				d.values(&e.Cells[i])...), " "))
		}
	}
	return out
}

// most is the number that every metric in every cell needs.
func (f *detection) most() (most int) {
	for i := range f.needs {
		most = max(most, f.needs[i].Needed())
	}
	return most
}

func (s *streams) printDetection(f *detection, e *experiment.Experiment) {
	w := s.text()
	fmt.Fprintf(w, "\ndetect      %s worse, with probability %v (alpha %v, %s, Holm)\n", compare.Share(f.by),
		compare.Power, compare.DefaultAlpha, report.Plural(f.tests, "test", "tests"))
	fmt.Fprintf(w, "pilot       %s\n\n", f.pilot)
	t, d := &console.Table{}, designOf(e)
	t.Column("algorithm", false)
	d.head(t, e)
	t.Column("metric", false)
	t.Keyed(len(t.Head))
	t.Column("n", true)
	t.Column("median", true)
	if e.Virtual() {
		t.Column("pairs", true)
	}
	t.Column("ranks", true)
	for i := range f.needs {
		n := &f.needs[i]
		row := []string{n.Cell.Get("label")}
		for _, name := range d.columns {
			row = append(row, n.Cell.Get(name))
		}
		median := compare.Number(n.Median)
		if n.Censored > 0 {
			median = compare.OrBeyond(n.Median)
		}
		median += f.legend.Mark(stats.Doubtful(n.Median, n.Cell.Doubt(n.Metric)))
		row = append(row, n.Metric.Name, fmt.Sprint(n.N+n.Censored), median)
		switch {
		case n.Exact:
			row = append(row, "exact")
		case e.Virtual():
			row = append(row, fmt.Sprint(n.Pairs))
		}
		ranks := fmt.Sprint(n.Ranks)
		if n.Ranks == 0 {
			ranks = ""
		}
		t.Add(append(row, ranks)...)
	}
	t.Write(w)
	fmt.Fprintf(w, "\n%s\n", strings.Join(f.remarks(e), "\n"))
	verdict := "enough"
	if f.most() > e.Repetitions {
		verdict = "too few"
	}
	fmt.Fprintf(w, "repetitions: planned %d, needed %d: %s\n", e.Repetitions, f.most(), verdict)
}

// remarks say what the numbers assume.
func (f *detection) remarks(e *experiment.Experiment) (out []string) {
	by := compare.Share(f.by)
	if e.Virtual() {
		out = append(out, "pairs: trials with equal seeds on each side, if all of them change by "+by+
			"; what changes some of them only needs more", "exact: counts with equal seeds: one trial tells")
	}
	out = append(out, "ranks: trials on each side, whatever their seeds, if each value changes by "+by+
		" and they spread as in the pilot (Noether 1987)")
	for i := range f.needs {
		if n := &f.needs[i]; n.Why != "" && !slices.Contains(out, "no number: "+n.Why) {
			out = append(out, "no number: "+n.Why)
		}
	}
	if f.simulated && !e.Virtual() {
		out = append(out, "careful: a simulated pilot knows nothing of the machine's noise, and real nodes "+
			"need more: give the folder of a run on them with --pilot")
	}
	out = append(out, f.legend.Notes()...)
	for _, name := range f.without {
		out = append(out, "not in the pilot: "+name)
	}
	return append(out, "bench compare calls nothing worse that is below its --threshold ("+
		compare.Share(compare.DefaultThreshold)+"): give it less, as "+compare.Share(f.by/2))
}

// detectJSON is a detection for programs.
type detectJSON struct {
	Change  float64    `json:"change"`
	Power   float64    `json:"power"`
	Alpha   float64    `json:"alpha"`
	Tests   int        `json:"tests"`
	Pilot   string     `json:"pilot"`
	Needed  int        `json:"needed"` // by all
	Needs   []needJSON `json:"needs"`
	Without []string   `json:"not_in_pilot"`
}

type needJSON struct {
	Design   map[string]string `json:"design"`
	Metric   string            `json:"metric"`
	N        int               `json:"n"`
	Censored int               `json:"censored"`
	Median   *float64          `json:"median"`
	Exact    bool              `json:"exact"`
	Pairs    int               `json:"pairs,omitempty"`
	Ranks    int               `json:"ranks,omitempty"`
	Needed   int               `json:"needed"` // 0: no number is known
}

// document is the detection for programs; nil for none.
func (f *detection) document() *detectJSON {
	if f == nil {
		return nil
	}
	d := &detectJSON{f.by, compare.Power, compare.DefaultAlpha, f.tests, f.pilot, f.most(), nil,
		append([]string{}, f.without...)}
	for i := range f.needs {
		n := &f.needs[i]
		d.Needs = append(d.Needs, needJSON{metric.ByName(n.Cell.Design), n.Metric.Name, n.N, n.Censored,
			results.Finite(n.Median), n.Exact, n.Pairs, n.Ranks, n.Needed()})
	}
	return d
}
