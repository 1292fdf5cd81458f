package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/catalog"
	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/explore"
	"github.com/conclave-bench/conclave/internal/files"
	"github.com/conclave-bench/conclave/internal/modelcheck"
	"github.com/conclave-bench/conclave/internal/program"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/internal/transport"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// exploreFlags are the flags of bench explore.
type exploreFlags struct {
	schedules  uint64
	limit      time.Duration
	workers    int
	seed       uint64
	nodes      string
	latency    time.Duration
	events     int
	set        []string
	faults     string
	rule       string
	maximise   string
	out        string
	progress   string
	json       bool
	exhaustive bool
}

// costWords are the words of --maximise for what is asked most.
var costWords = []string{"downtime_ms", "messages", "bypass", "outage"}

// faultModes are the values of --faults.
var faultModes = []string{string(explore.None), string(explore.Crashes), string(explore.Survived),
	string(explore.All)}

func (s *streams) exploreCommand() *cobra.Command {
	var f exploreFlags
	c := &cobra.Command{
		Use:   "explore ID",
		Short: "Search for a schedule that breaks a promise, in simulation",
		Long: `Search schedules and faults in simulation for a broken promise: first at
random, then around the instants at which earlier trials show that the order
of events matters. A finding is made as small as possible, printed, and saved
as an experiment that bench run repeats.

By default only faults that the algorithm claims to survive are tried. With
--faults all, it goes beyond: how an algorithm breaks there is a finding, and
no error. The search lasts a minute, unless --time or --schedules says
otherwise. The same seed finds the same.

With --maximise it looks for the schedule that costs most: many random ones,
of which the costliest is changed again and again. The result is a lower bound
of the worst case. It is printed with what theory allows, and saved as an
experiment that fails if it does not cost exactly that.

With --exhaustive it walks through every schedule of the smallest systems
instead, up to equal states, and prints how many there are.

` + exitHelp("explore", "0", "1", "2", "3", "130, 143"),
		Example: `  bench explore mutex/naimi-trehel --schedules 2000
  bench explore ring-list --faults all --rule highest --schedules 200
  bench explore naimi-trehel --maximise messages --schedules 300
  bench explore naimi-trehel --exhaustive`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("bench explore: %d algorithms, want one (\"bench list\" shows all)", len(args))
			}
			alg, err := catalog.Find(args[0])
			if err != nil {
				return err
			}
			if f.exhaustive {
				return s.exhaust(c, alg)
			}
			return s.explore(c, &f, alg)
		},
	}
	flags := c.Flags()
	flags.Uint64Var(&f.schedules, "schedules", 0, "try `N` schedules (default: as many as --time allows)")
	flags.DurationVar(&f.limit, "time", 0, "search for `D` (default: 1m, or until --schedules are tried)")
	flags.IntVar(&f.workers, "workers", 0, "try `N` schedules at a time (default: one per core)")
	flags.Uint64Var(&f.seed, "seed", 1, "seed `N` of the search; the same seed finds the same")
	flags.StringVar(&f.nodes, "nodes", "", "use `N` processes, or one of several as 3,5 (default: 2 to 9)")
	flags.DurationVar(&f.latency, "latency", 0, "use `D` as the largest latency (default: several)")
	flags.StringArrayVar(&f.set, "params", nil, "set a parameter with `NAME=VALUE`; repeatable")
	flags.StringVar(&f.faults, "faults", string(explore.Survived),
		"inject faults `WHICH`: "+strings.Join(faultModes, ", "))
	flags.StringVar(&f.rule, "rule", "", "look only for violations of `RULE` (default: any)")
	flags.StringVar(&f.maximise, "maximise", "", "look for the schedule with the highest `METRIC`: "+
		strings.Join(costWords, ", ")+", or any column of times or counts")
	flags.IntVar(&f.events, "events", 0, "with --maximise: at most `N` events, besides delays (default: any)")
	flags.StringVar(&f.out, "out", "", "save a finding to `FILE` (default: explore-NAME.yaml)")
	flags.StringVar(&f.progress, "progress", "auto",
		"show progress on standard error as `MODE`: "+strings.Join(progressModes, ", "))
	flags.BoolVar(&f.json, "json", false, "print the outcome as JSON")
	flags.BoolVar(&f.exhaustive, "exhaustive", false, "walk through the smallest systems instead")
	choices(c, "faults", faultModes)
	choices(c, "rule", explore.Rules())
	choices(c, "progress", progressModes)
	return c
}

// options is the search that the flags describe.
func (f *exploreFlags) options(alg *algo.Algorithm) (o explore.Options, err error) {
	if err = oneOf("faults", f.faults, faultModes); err == nil {
		err = oneOf("progress", f.progress, progressModes)
	}
	if err == nil && f.rule != "" {
		err = oneOf("rule", f.rule, explore.Rules())
	}
	switch {
	case err != nil:
		return o, err
	case f.workers < 0:
		return o, usage("--workers %d, want 1 or more", f.workers)
	case f.latency < 0 || f.latency > 0 && f.latency < 100*time.Microsecond || f.latency > time.Minute:
		return o, usage("--latency %v, want 100us to 1m", f.latency)
	case f.events < 0:
		return o, usage("--events %d, want 1 or more", f.events)
	case f.events > 0 && f.maximise == "":
		return o, usage("--events without --maximise")
	case f.seed >= 1<<53:
		return o, usage("--seed %d, want one below 2^53", f.seed)
	}
	o = explore.Options{
		Latency: f.latency, Faults: explore.Faults(f.faults), Rule: f.rule, Seed: f.seed,
		Schedules: f.schedules, Workers: f.workers, Events: f.events,
	}
	if f.maximise != "" {
		costs := explore.Costs(alg)
		if o.Maximise = costs[f.maximise]; o.Maximise == nil {
			return o, usage("--maximise %q%s; want a metric of which less is better: %s", f.maximise,
				algo.Hint(f.maximise, slices.Sorted(maps.Keys(costs))),
				strings.Join(slices.Sorted(maps.Keys(costs)), ", "))
		}
		if f.rule != "" {
			return o, usage("--rule with --maximise: want one of them")
		}
	}
	if f.nodes != "" {
		for _, word := range strings.Split(f.nodes, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(word))
			if err != nil || n < 2 || n > 100 {
				return o, usage("--nodes %q, want numbers from 2 to 100, as 3,5", f.nodes)
			}
			if needs := alg.Spec.Needs.Nodes; needs != nil && needs(n) != nil {
				return o, usage("--nodes %d is not for %s: %v", n, alg.ID, needs(n))
			}
			o.Nodes = append(o.Nodes, n)
		}
	}
	o.Params, err = given(alg, f.set, o.Nodes)
	return o, err
}

// given reads parameters as the experiment that has them would.
func given(alg *algo.Algorithm, set []string, nodes []int) (map[string]any, error) {
	if len(set) == 0 {
		return nil, nil
	}
	over := experiment.Overrides{Transport: transport.Sim.Name}
	params := map[string]any{}
	for _, word := range set {
		word = strings.TrimPrefix(word, "params.")
		name, _, ok := strings.Cut(word, "=")
		if !ok || name == "" {
			return nil, usage("--params %q, want NAME=VALUE, as t_answer=5ms", word)
		}
		params[name] = nil
		over.Set = append(over.Set, "params."+word)
	}
	if len(nodes) > 0 {
		over.Set = append(over.Set, fmt.Sprintf("nodes=%d", nodes[0]))
	}
	e, err := experiment.Build([]string{alg.ID}, "", over)
	if err != nil {
		return nil, err
	}
	for name := range params {
		params[name] = e.Cells[0].Plan.Params[name]
	}
	return params, nil
}

func (s *streams) explore(c *cobra.Command, f *exploreFlags, alg *algo.Algorithm) error {
	if f.schedules == 0 && c.Flags().Changed("schedules") {
		return usage("--schedules 0, want 1 or more")
	}
	if f.limit <= 0 && c.Flags().Changed("time") {
		return usage("--time %v, want a duration above 0, as 30s", f.limit)
	}
	o, err := f.options(alg)
	if err != nil {
		return err
	}
	if err := f.vacant(); err != nil {
		return err
	}
	if f.limit == 0 && f.schedules == 0 {
		f.limit = time.Minute
	}
	o.Time = f.limit
	ctx, stop := s.interruptible(context.Background())
	defer stop()
	p := s.exploreProgress(f)
	o.Progress = p.tell
	r, err := explore.Run(ctx, alg.ID, o)
	p.close()
	if err != nil {
		return err
	}
	if r.Worst != nil {
		return s.worst(f, alg, &r)
	}
	if r.Find == nil {
		if err := s.nothing(f, alg, &r); err != nil {
			return err
		}
		return context.Cause(ctx)
	}
	return s.found(f, alg, &r)
}

// vacant says whether there is room for what may be found.
func (f *exploreFlags) vacant() error {
	if f.out == "" {
		return nil
	}
	if _, err := os.Lstat(f.out); err == nil {
		return usage("--out %s exists; name another file, or remove it", f.out)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--out: %w", err)
	}
	if !strings.HasSuffix(f.out, ".yaml") && !strings.HasSuffix(f.out, ".yml") {
		return usage("--out %s, want a file of type .yaml", f.out)
	}
	return nil
}

// nothing tells that nothing was found.
func (s *streams) nothing(f *exploreFlags, alg *algo.Algorithm, r *explore.Report) error {
	if f.json {
		return writeJSON(s.out, f.report(alg, r, ""))
	}
	fmt.Fprintf(s.text(), "%s: no broken promise in %d schedules (%.0f per second)\n", alg.ID, r.Schedules,
		perSecond(r.Schedules, r.Elapsed))
	return nil
}

func perSecond(n uint64, d time.Duration) float64 { return float64(n) / max(d.Seconds(), 1e-3) }

// worst saves and tells the schedule that costs most.
func (s *streams) worst(f *exploreFlags, alg *algo.Algorithm, r *explore.Report) error {
	w := r.Worst
	w.Command = f.again(alg, w)
	path, err := f.save("worst-"+w.Name(), w)
	if err != nil {
		return err
	}
	if err := w.Reproduces(path); err != nil {
		return fmt.Errorf("the schedule cannot be repeated from the file: %w", err)
	}
	if f.json {
		out := f.report(alg, r, path)
		out.Number, out.InModel, out.OutOfModel = w.Number, w.InModel, append([]string{}, w.OutOfModel...)
		out.Metric, out.Value = w.Metric.Name, &w.Value
		if w.Bound != nil {
			out.Bound, out.BoundText = &w.Bound.Value, w.Bound.Text
		}
		return writeJSON(s.out, out)
	}
	t := s.text()
	fmt.Fprintf(t, "%s: %s %s in schedule %d, the most of %d (%.0f per second)\n", alg.ID, w.Metric.Name,
		compare.Number(w.Value), w.Number, r.Schedules, perSecond(r.Schedules, r.Elapsed))
	fmt.Fprintf(t, "  theory:    %s\n", w.Theory())
	if !w.InModel {
		fmt.Fprintf(t, "  in_model=false: %s\n", strings.Join(w.OutOfModel, "; "))
	}
	fmt.Fprintf(t, "  scenario:  %s, %s, %s\n", path, report.Plural(w.Schedule.Nodes, "process", "processes"),
		report.Plural(len(w.Schedule.Events), "event", "events"))
	fmt.Fprintf(t, "  reproduce: %s\n", program.Command("run", path))
	return nil
}

// again is the shortest search that finds the same schedule: it ends with it.
func (f *exploreFlags) again(alg *algo.Algorithm, w *explore.Worst) string {
	words := []string{"explore", alg.Spec.Name, "--maximise", explore.Word(alg, w.Metric)}
	add := func(is bool, name string, value any) {
		if is {
			words = append(words, "--"+name, fmt.Sprint(value))
		}
	}
	add(f.faults != string(explore.Survived), "faults", f.faults)
	add(f.nodes != "", "nodes", f.nodes)
	add(f.latency > 0, "latency", f.latency)
	add(f.events > 0, "events", f.events)
	for _, word := range f.set {
		add(true, "params", word)
	}
	add(f.seed != 1, "seed", f.seed)
	add(true, "schedules", w.Number)
	return program.Command(words...)
}

type exploreReport struct {
	Schema     int      `json:"schema_version"`
	Algorithm  string   `json:"algorithm"`
	Seed       uint64   `json:"seed"`
	Schedules  uint64   `json:"schedules"`
	PerSecond  float64  `json:"schedules_per_second"`
	Rule       string   `json:"rule"` // of what was found; empty: nothing
	Text       string   `json:"text"`
	Number     uint64   `json:"schedule"`
	InModel    bool     `json:"in_model"`
	OutOfModel []string `json:"out_of_model"`
	File       string   `json:"file"`
	Trace      []string `json:"trace"`
	Metric     string   `json:"metric,omitempty"` // that was maximised
	Value      *float64 `json:"value,omitempty"`
	Bound      *float64 `json:"bound,omitempty"` // what theory allows; absent: nothing is stated
	BoundText  string   `json:"bound_text,omitempty"`
}

// report is the machine's form of a search, and of what it found and saved.
func (f *exploreFlags) report(alg *algo.Algorithm, r *explore.Report, path string) exploreReport {
	out := exploreReport{Schema: 1, Algorithm: alg.ID, Seed: f.seed, Schedules: r.Schedules,
		PerSecond: perSecond(r.Schedules, r.Elapsed), File: path, Trace: []string{}}
	if find := r.Find; find != nil {
		var trace strings.Builder
		printEvents(&trace, find.Records, alg.Codec.Kinds(), nil)
		out.Rule, out.Text, out.Number, out.InModel = find.Rule, find.Text, find.Number, find.InModel
		out.OutOfModel = append([]string{}, find.OutOfModel...)
		out.Trace = strings.Split(strings.TrimSuffix(trace.String(), "\n"), "\n")
	}
	return out
}

// found saves and tells what was found.
func (s *streams) found(f *exploreFlags, alg *algo.Algorithm, r *explore.Report) error {
	find := r.Find
	path, err := f.save("explore-"+alg.Spec.Name, find)
	if err != nil {
		return err
	}
	if err := find.Reproduces(path); err != nil {
		return fmt.Errorf("what was found cannot be repeated from the file: %w", err)
	}
	if f.json {
		if err := writeJSON(s.out, f.report(alg, r, path)); err != nil {
			return err
		}
	} else {
		s.printFind(alg, r, path)
	}
	switch {
	case find.InModel && find.Unrunnable():
		return fmt.Errorf("%s could not be run: %s", alg.ID, find.Text)
	case find.InModel:
		return exit(Violated)
	}
	return nil
}

// mostEvents are printed of a schedule: what never ends is long. Half are the last ones, since the
// promise breaks there.
const mostEvents = 600

// mostBefore are printed of what comes before something that repeats without end.
const mostBefore = 60

// printEnds writes so many events, and says what is left out between them.
func printEnds(w io.Writer, all trace.List, kinds []string, most int) {
	if len(all) <= most {
		printEvents(w, all, kinds, nil)
		return
	}
	first, last := make([]bool, len(all)), make([]bool, len(all))
	for i := range most / 2 {
		first[i], last[len(all)-1-i] = true, true
	}
	printEvents(w, all, kinds, first)
	fmt.Fprintf(w, "... %d events left out: run the scenario below, then \"bench replay DIR --events\" has "+
		"them ...\n", len(all)-most/2*2)
	printEvents(w, all, kinds, last)
}

func (s *streams) printFind(alg *algo.Algorithm, r *explore.Report, path string) {
	w, find := s.text(), r.Find
	fmt.Fprintf(w, "schedule %d breaks a promise (%.0f schedules per second); the smallest that does, "+
		"of %d tried:\n\n", find.Number, perSecond(r.Schedules, r.Elapsed), find.Tried)
	if l, repeats := find.Lasso(); repeats {
		printEnds(w, find.Records[:l.From], alg.Codec.Kinds(), mostBefore)
		fmt.Fprintf(w, "%s\n\n", l.Text(find.Records, alg.Codec.Kinds()))
	} else {
		printEnds(w, find.Records, alg.Codec.Kinds(), mostEvents)
		fmt.Fprintln(w)
	}
	what := "violation"
	if !find.InModel {
		what = "finding"
		fmt.Fprintf(w, "in_model=false: %s\n", strings.Join(find.OutOfModel, "; "))
	}
	fmt.Fprintf(w, "%s: %s: %s: %s\n", what, alg.ID, find.Rule, find.Text)
	fmt.Fprintf(w, "  scenario:  %s, %s\n", path, report.Plural(find.Schedule.Nodes, "process", "processes"))
	fmt.Fprintf(w, "  reproduce: %s\n", program.Command("run", path))
}

// save writes the schedule that was found into a file that does not exist yet.
func (f *exploreFlags) save(name string, find interface{ File() ([]byte, error) }) (string, error) {
	text, err := find.File()
	if err != nil {
		return "", err
	}
	for number := 1; ; number++ {
		path := f.out
		if path == "" {
			path = name + ".yaml"
			if number > 1 {
				path = fmt.Sprintf("%s-%d.yaml", name, number)
			}
		}
		err := files.Create(path, text)
		if errors.Is(err, fs.ErrExist) && f.out == "" {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("the scenario that was found cannot be saved: %w", err)
		}
		return path, nil
	}
}

// exhaust walks through the smallest systems and tells how large they are.
func (s *streams) exhaust(c *cobra.Command, alg *algo.Algorithm) error {
	for _, name := range []string{"schedules", "time", "workers", "seed", "nodes", "latency", "params",
		"faults", "rule", "maximise", "events", "out", "progress", "json"} {
		if c.Flags().Changed(name) {
			return usage("--%s means nothing with --exhaustive; leave one out", name)
		}
	}
	scopes, err := modelcheck.Scopes(alg.ID)
	if err != nil {
		return err
	}
	t := &console.Table{}
	for i, name := range []string{"system", "states", "steps", "depth", "ends", "schedules"} {
		t.Column(name, i > 0)
	}
	var broken []string
	panicked := false
	for _, scope := range scopes {
		scope.States = 200_000
		space, err := modelcheck.Exhaust(alg.ID, scope)
		if err != nil {
			return err
		}
		schedules := "without end"
		switch {
		case space.Find != nil:
			schedules = "broken"
			broken, panicked = append(broken, space.Find.Error()), panicked || space.Find.Panicked
		case space.Bound != "":
			schedules = "stopped at " + space.Bound
		case space.Schedules != nil:
			schedules = space.Schedules.String()
		}
		t.Add(scope.String(), fmt.Sprint(space.States), fmt.Sprint(space.Steps), fmt.Sprint(space.Depth),
			fmt.Sprint(space.Terminal), schedules)
	}
	t.Write(s.text())
	for _, text := range broken {
		fmt.Fprintf(s.text(), "\nviolation: %s: %s\n", alg.ID, text)
	}
	switch {
	case panicked:
		return fmt.Errorf("%s could not be run", alg.ID)
	case broken != nil:
		return exit(Violated)
	}
	return nil
}

// A searching tells how far a search is.
type searching struct {
	w        io.Writer
	mode     string // plain, bar, json or none
	of       uint64 // schedules; 0: until time is over
	limit    time.Duration
	reported time.Duration
}

func (s *streams) exploreProgress(f *exploreFlags) *searching {
	p := &searching{w: s.err, mode: f.progress, of: f.schedules, limit: f.limit}
	if p.mode == "auto" {
		p.mode = "plain"
		if s.terminal() != nil {
			p.mode = "bar"
		}
	}
	return p
}

func (p *searching) tell(tried uint64, elapsed time.Duration) {
	of := ""
	switch {
	case p.of > 0:
		of = fmt.Sprintf(" of %d", p.of)
	case p.limit > 0:
		of = fmt.Sprintf(" in %s of %v", span(elapsed), p.limit)
	}
	line := fmt.Sprintf("%d schedules%s, %.0f per second", tried, of, perSecond(tried, elapsed))
	switch {
	case p.mode == "json":
		// A reader that went away is no reason to end a search.
		_ = json.NewEncoder(p.w).Encode(map[string]any{"tried": tried, "planned": p.of,
			"elapsed_s": elapsed.Seconds(), "schedules_per_second": perSecond(tried, elapsed)})
	case p.mode == "bar":
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
	case p.mode == "plain" && elapsed-p.reported >= pauseAfter(elapsed):
		p.reported = elapsed
		fmt.Fprintln(p.w, line)
	}
}

func (p *searching) close() {
	if p.mode == "bar" {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
