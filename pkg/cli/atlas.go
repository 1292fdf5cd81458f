package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answer"
	"github.com/conclave-bench/conclave/internal/atlas"
	"github.com/conclave-bench/conclave/internal/files"
	"github.com/conclave-bench/conclave/internal/outcome"
	"github.com/conclave-bench/conclave/internal/program"
	"github.com/conclave-bench/conclave/internal/rare"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/internal/transport"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// atlasFlags are the flags of bench atlas.
type atlasFlags struct {
	processes, sample, workers int
	directed, lockstep         bool
	graphs                     []string
	outage                     string
	timeOut                    time.Duration
	params, set                []string
	csv, svg                   string
	quiet                      bool
}

// What an elector without a file is given: a time-out of atlasTimeOut, heartbeats five times
// as often, and messages that take a fiftieth of it.
const (
	atlasTimeOut     = 50 * time.Millisecond
	atlasBeat        = atlasTimeOut / 5
	atlasLatency     = atlasTimeOut / 50
	atlasRepetitions = 20
)

func (s *streams) atlasCommand() *cobra.Command {
	var f atlasFlags
	services := make([]string, 0, 3)
	for _, service := range algo.Services() {
		services = append(services, service.String())
	}
	c := &cobra.Command{
		Use:   "atlas ID...",
		Short: "Try electors in every small network that cuts may leave",
		Long: `Try electors in simulation in every network that cuts may leave of a few
processes, up to their names: each graph with a marked leader, cut from the
start, a hundred time-outs long. An elector serves in a graph if a leader is
there for 97 % of the second half or more, with every seed; it never serves if
none is there, with any; otherwise it flaps. Five processes have 90 graphs,
and in 85 of them somebody reaches a majority.

Each algorithm gets a time-out of 50 ms, heartbeats every 10 ms and a latency
of 1 ms; --params and --set say otherwise. In place of algorithms there may be
an experiment FILE, whose algorithms, network and failure detector count, and
not its scenario. The same seed gives the same, so that a share that has
changed is a change of the algorithm. docs/atlas.md has the definitions.

` + exitHelp("atlas", "0", "1", "2", "3", "130, 143"),
		Example: `  bench atlas raft --processes 3 --csv atlas.csv
  bench atlas raft --processes 4 --params pre_vote=true --svg atlas.svg
  bench atlas raft bully --graph chained --graph quorum-loss`,
		Args: cobra.ArbitraryArgs,
	}
	flags := c.Flags()
	flags.IntVar(&f.processes, "processes", 0, "draw graphs of `N` processes (default: 5, or what FILE says)")
	flags.BoolVar(&f.directed, "directed", false, "cut each direction of a link on its own")
	flags.IntVar(&f.sample, "sample", 0, "draw `K` of the graphs at random (default: all)")
	flags.StringArrayVar(&f.graphs, "graph", nil,
		"try only `GRAPH`, as \"3;1;1-2,2-3\": processes, leader, links; or the name of one; repeatable")
	flags.StringVar(&f.outage, "outage", algo.Led.String(),
		"a leader is there by `DEFINITION`: "+strings.Join(services, ", "))
	flags.DurationVar(&f.timeOut, "time-out", atlasTimeOut,
		"measure in units of `D`, where there is no time-out")
	flags.BoolVar(&f.lockstep, "lockstep", false,
		"let all clocks run alike, so that failure detectors suspect at one instant")
	flags.StringArrayVar(&f.params, "params", nil, "set a parameter with `NAME=VALUE`; repeatable")
	flags.StringArrayVar(&f.set, "set", nil,
		"override a key of the experiment with `KEY=VALUE`, as repetitions=5; repeatable")
	flags.IntVar(&f.workers, "workers", 0, "run `N` trials at a time (default: one per core)")
	flags.StringVar(&f.csv, "csv", "", "write a row for each graph to `FILE`")
	flags.StringVar(&f.svg, "svg", "", "draw all graphs, each in the colour of its class, to `FILE`")
	flags.BoolVar(&f.quiet, "quiet", false, "print only results and errors")
	choices(c, "outage", services)
	return s.answering(c, func(args []string) (*answer.Document, error) { return s.atlas(&f, args) })
}

// A surveyed is an elector with what came of it.
type surveyed struct {
	atlas.Atlas
	plan    *harness.Plan
	options atlas.Options
	graphs  []atlas.Graph
}

func (s *streams) atlas(f *atlasFlags, args []string) (*answer.Document, error) {
	list, err := f.electors(s, args)
	if err != nil {
		return nil, err
	}
	ctx, stop := s.interruptible(context.Background())
	defer stop()
	sum := outcome.Tally{}
	for i := range list {
		if err := s.survey(ctx, f, &list[i], &sum); err != nil {
			return nil, err
		}
	}
	d := f.document(list)
	d.End(sum.Code(), meaning("atlas", sum.Code()))
	if f.csv != "" {
		if err := writeDocument(f.csv, "csv", d); err != nil {
			return nil, err
		}
	}
	if f.svg != "" {
		atlases := make([]atlas.Atlas, len(list))
		for i := range list {
			atlases[i] = list[i].Atlas
		}
		if err := files.Write(f.svg, atlas.SVG(atlases, tried(list, f))); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// electors are those of the arguments, with the graphs of each.
func (f *atlasFlags) electors(s *streams, args []string) (list []surveyed, err error) {
	var services []string
	service := algo.Led
	for _, d := range algo.Services() {
		if services = append(services, d.String()); d.String() == f.outage {
			service = d
		}
	}
	switch {
	case len(args) == 0:
		return nil, usage("no elector: want ID..., or an experiment FILE (\"bench list\" shows all)")
	case f.processes != 0 && (f.processes < atlas.Least || f.processes > atlas.Most):
		return nil, usage("--processes %d, want %d to %d", f.processes, atlas.Least, atlas.Most)
	case f.sample < 0:
		return nil, usage("--sample %d, want 1 or more", f.sample)
	case f.workers < 0:
		return nil, usage("--workers %d, want 1 or more", f.workers)
	case f.timeOut < time.Millisecond || f.timeOut > time.Hour:
		return nil, usage("--time-out %v, want 1ms to 1h", f.timeOut)
	case len(f.graphs) > 0 && (f.directed || f.sample > 0 || f.processes > 0):
		return nil, usage("--graph says which graphs; leave --processes, --directed and --sample out")
	}
	if err := oneOf("outage", f.outage, services); err != nil {
		return nil, err
	}
	sizes, err := f.sizes()
	if err != nil {
		return nil, err
	}
	for _, size := range sizes {
		for _, arg := range args {
			var e *experiment.Experiment
			if slices.Contains(extensions, strings.TrimPrefix(filepath.Ext(arg), ".")) {
				e, err = experiment.Load(arg, f.overrides(s, nil, size))
			} else {
				var alg *algo.Algorithm
				if alg, err = find(arg); err == nil {
					e, err = experiment.Build([]string{alg.ID}, "", f.overrides(s, alg, size))
				}
			}
			if err != nil {
				return nil, err
			}
			if f.workers == 0 {
				f.workers = runtime.GOMAXPROCS(0)
			}
			o := atlas.Options{Service: service, Seeds: e.Repetitions, Seed: e.Seed, Workers: f.workers,
				Lockstep: f.lockstep}
			if err := f.add(&list, e, o, size); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// sizes are the numbers of processes to build experiments for; 0: what a file says, or five.
func (f *atlasFlags) sizes() (sizes []int, err error) {
	for i, text := range f.graphs {
		for _, shape := range atlas.Shapes {
			if shape.Name == text {
				f.graphs[i] = shape.Graph
			}
		}
		g, err := atlas.Parse(f.graphs[i])
		if err != nil {
			return nil, usage("--graph: %v", err)
		}
		if !slices.Contains(sizes, g.Vertices) {
			sizes = append(sizes, g.Vertices)
		}
	}
	if sizes == nil {
		sizes = []int{f.processes}
	}
	return sizes, nil
}

// overrides are the flags and, for an algorithm without a file, what it is given unless they
// say otherwise.
func (f *atlasFlags) overrides(s *streams, alg *algo.Algorithm, size int) experiment.Overrides {
	over := experiment.Overrides{Transport: transport.Sim.Name, Env: s.env, Set: slices.Clone(f.set)}
	for _, word := range f.params {
		over.Set = append(over.Set, "params."+strings.TrimPrefix(word, "params."))
	}
	if size > 0 {
		over.Set = append(over.Set, fmt.Sprintf("nodes=%d", size))
	}
	given := slices.Clone(over.Set)
	set := func(key, value string) {
		if !slices.ContainsFunc(given, func(word string) bool {
			name, _, _ := strings.Cut(word, "=")
			return name == key || strings.HasPrefix(key, name+".") || strings.HasPrefix(name, key+".")
		}) {
			over.Set = append(over.Set, key+"="+value)
		}
	}
	// What breaks a promise beyond the model is not to be judged; cuts are what the atlas has.
	set("scenario", "{kind: script, leader: 1, until: 1s, events: []}")
	if alg == nil {
		return over
	}
	set("nodes", "5")
	set("repetitions", strconv.Itoa(atlasRepetitions))
	set("network.latency", atlasLatency.String())
	for i := range alg.Spec.Params {
		p := &alg.Spec.Params[i]
		switch {
		case p.Tunes == algo.Patience:
			set("params."+p.Name, atlasTimeOut.String())
		case slices.ContainsFunc(alg.Spec.Periods, func(x algo.Period) bool { return x.Param == p.Name }):
			set("params."+p.Name, atlasBeat.String())
		}
	}
	if alg.Spec.Needs.Detector != algo.NoDetector {
		set("detector", fmt.Sprintf("{kind: heartbeat, interval: %v, timeout: %v}", atlasBeat, atlasTimeOut))
	}
	return over
}

// add appends the electors of an experiment.
func (f *atlasFlags) add(list *[]surveyed, e *experiment.Experiment, o atlas.Options, size int) error {
	design := designOf(e)
	for i := range e.Cells {
		cell := &e.Cells[i]
		if err := atlas.Refuse(&cell.Plan); err != nil {
			return usage("bench atlas: %v", err)
		}
		x := surveyed{plan: &cell.Plan, options: o}
		x.Label = design.name(cell)
		for _, word := range f.params {
			x.Label += " " + strings.TrimPrefix(word, "params.")
		}
		if _, x.options.TimeOut = rare.Patience(x.plan); x.options.TimeOut == 0 {
			x.options.TimeOut = f.timeOut
		}
		n, most := cell.Plan.Nodes, atlas.Most
		if f.directed {
			most = atlas.MostDirected
		}
		switch {
		case n < atlas.Least || n > most:
			return usage("bench atlas: %d processes, want %d to %d; say --processes N", n, atlas.Least, most)
		case f.graphs != nil:
			for _, text := range f.graphs {
				if g, err := atlas.Parse(text); err == nil && g.Vertices == size {
					x.graphs = append(x.graphs, g)
				}
			}
		case f.sample > 0:
			x.graphs = atlas.Sample(atlas.All(n, f.directed), f.sample, e.Seed)
		default:
			x.graphs = atlas.All(n, f.directed)
		}
		*list = append(*list, x)
	}
	return nil
}

// survey makes the atlas of one elector.
func (s *streams) survey(ctx context.Context, f *atlasFlags, x *surveyed, sum *outcome.Tally) (err error) {
	begun, told := time.Now(), time.Duration(0)
	if !f.quiet {
		x.options.Progress = func(done int) {
			if elapsed := time.Since(begun); elapsed-told >= pauseAfter(elapsed) {
				told = elapsed
				fmt.Fprintf(s.aside(), "%s: trial %d of %d\n", x.Label, done, len(x.graphs)*x.options.Seeds)
			}
		}
	}
	x.Entries, err = atlas.Survey(ctx, x.plan, x.graphs, x.options)
	s.denounce(x, sum)
	return err
}

// denounce says which promises were broken, and where.
func (s *streams) denounce(x *surveyed, sum *outcome.Tally) {
	for i := range x.Entries {
		for _, text := range x.Entries[i].Broken {
			if sum.Violations++; sum.Violations <= outcome.MostTold {
				s.say(fmt.Sprintf("violation: %s in %v: %s", x.Label, &x.Entries[i].Graph, text))
			}
		}
	}
}

// tried says what was tried.
func tried(list []surveyed, f *atlasFlags) string {
	var kinds []string
	for i := range list {
		n := list[i].plan.Nodes
		kind := report.Plural(len(list[i].graphs), "graph", "graphs")
		switch {
		case f.sample > 0:
			kind = fmt.Sprintf("%d of the %d graphs", len(list[i].graphs), len(atlas.All(n, f.directed)))
		case f.directed:
			kind = report.Plural(len(list[i].graphs), "directed graph", "directed graphs")
		}
		if kind += fmt.Sprintf(" of %d processes", n); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return fmt.Sprintf("%s, %s each; trials of %d time-outs; a leader is there by %q",
		strings.Join(kinds, " and "), report.Plural(list[0].options.Seeds, "seed", "seeds"),
		atlas.Length, f.outage)
}

// document is what came of all electors.
func (f *atlasFlags) document(list []surveyed) *answer.Document {
	d := answer.New("atlas", "Electors in small networks")
	d.Add(answer.Facts{{Name: "outage", Value: f.outage}, {Name: "directed", Value: f.directed}})
	electorsOf(d, list)
	graphsOf(d, list)
	told, more := f.told(list)
	if len(told.Rows) > 0 {
		d.Say("")
		d.Add(told)
	}
	d.Say("\n" + tried(list, f))
	if len(told.Rows) > 0 {
		spread := ""
		if len(list) == 1 {
			spread = "; from, to: the least and the most"
		}
		d.Say("share: of the second half, the mean over the seeds" + spread + "; outage: the longest, in " +
			"time-outs")
	}
	if more {
		which := "those that have a name"
		if len(list) == 1 {
			which += ", and those where somebody reaches a majority and the elector does not serve"
		}
		d.Say("graphs above: " + which + "; --csv and --svg have all")
	}
	for _, path := range []string{f.csv, f.svg} {
		if path != "" {
			d.Say("results: " + program.Quote(path))
		}
	}
	return d
}

// electorsOf adds a row for each elector: in how many graphs it serves, flaps, and never serves.
func electorsOf(d *answer.Document, list []surveyed) {
	columns := []answer.Column{{Name: "elector", Kind: answer.Words}, {Name: "processes", Kind: answer.Count},
		{Name: "graphs", Kind: answer.Count}}
	for _, class := range atlas.Classes {
		columns = append(columns, answer.Column{Name: class.Name, Kind: answer.Count})
	}
	t := d.Table("electors", append(columns, answer.Column{Name: "time_out_ms", Head: "time-out",
		Kind: answer.Number, Unit: "ms"})...)
	for i := range list {
		x := &list[i]
		row := []answer.Value{x.Label, x.plan.Nodes, len(x.Entries)}
		for _, n := range atlas.Count(x.Entries) {
			row = append(row, n)
		}
		t.Row(append(row, answer.Shown{Value: milliseconds(float64(x.options.TimeOut)),
			Text: x.options.TimeOut.String()})...)
	}
}

// graphsOf adds a row for each elector in each graph, for programs.
func graphsOf(d *answer.Document, list []surveyed) {
	number := func(name string) answer.Column {
		return answer.Column{Name: name, Kind: answer.Number, Digits: 6}
	}
	t := d.Table("graphs",
		answer.Column{Name: "elector", Kind: answer.Words}, answer.Column{Name: "graph", Kind: answer.Words},
		answer.Column{Name: "name", Kind: answer.Words},
		answer.Column{Name: "quorum_connected", Kind: answer.Flag},
		answer.Column{Name: "class", Kind: answer.Words},
		number("share"), number("share_least"), number("share_most"),
		answer.Column{Name: "seeds", Kind: answer.Count},
		answer.Column{Name: "seeds_serve", Kind: answer.Count},
		answer.Column{Name: "seeds_never", Kind: answer.Count}, number("longest_outage"),
		answer.Column{Name: "shares", Kind: answer.List, Only: answer.Nested}) // by seed
	t.Only, t.Main = answer.Programs, true
	for i := range list {
		x := &list[i]
		for k := range x.Entries {
			e := &x.Entries[k]
			serve, never := e.Seeds()
			t.Row(x.Label, e.Graph.String(), e.Graph.Name(), e.Graph.QuorumConnected(), e.Class().String(),
				e.Share(), slices.Min(e.Shares), slices.Max(e.Shares), len(e.Shares), serve, never,
				x.timeOuts(e), e.Shares)
		}
	}
}

// told is the table of the graphs that people see, and whether there are more. One elector's
// are in the order of the atlas; several are side by side in each graph.
func (f *atlasFlags) told(list []surveyed) (t *answer.Table, more bool) {
	alone := len(list) == 1
	several, spread := answer.People, answer.Programs
	if alone {
		several, spread = spread, several
	}
	t = &answer.Table{Name: "told", Only: answer.People, Columns: []answer.Column{
		{Name: "graph", Kind: answer.Words}, {Name: "elector", Kind: answer.Words, Only: several},
		{Name: "class", Kind: answer.Words}, {Name: "share", Kind: answer.Number},
		{Name: "from", Kind: answer.Number, Only: spread}, {Name: "to", Kind: answer.Number, Only: spread},
		{Name: "outage", Kind: answer.Number}}}
	for i := range list {
		x := &list[i]
		for k := range x.Entries {
			e := &x.Entries[k]
			name := e.Graph.Name()
			amiss := alone && e.Class() != atlas.Serves && e.Graph.QuorumConnected()
			if f.graphs == nil && name == "" && !amiss {
				more = true
				continue
			}
			t.Row(cmp.Or(name, e.Graph.String()), x.Label, e.Class().String(), atlas.Decimal(e.Share()),
				atlas.Decimal(slices.Min(e.Shares)), atlas.Decimal(slices.Max(e.Shares)),
				strconv.FormatFloat(x.timeOuts(e), 'f', 2, 64))
		}
	}
	if !alone {
		t.Keys = 2
		slices.SortStableFunc(t.Rows, func(a, b []answer.Value) int {
			return cmp.Compare(a[0].(string), b[0].(string))
		})
	}
	return t, more
}

// timeOuts is the longest outage in a graph.
func (x *surveyed) timeOuts(e *atlas.Entry) float64 {
	return float64(e.Worst) / float64(x.options.TimeOut)
}
