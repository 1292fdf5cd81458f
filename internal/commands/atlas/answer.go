package atlas

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

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/internal/commands/catalog"
	"github.com/conclave-bench/conclave/internal/commands/plan"
	"github.com/conclave-bench/conclave/internal/commands/rare"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// A Request is what is asked of electors.
type Request struct {
	Electors                   []string // IDs, or files of experiments
	Processes, Sample, Workers int
	Directed, Lockstep, Heal   bool
	Graphs                     []string
	Outage                     string
	TimeOut                    time.Duration
	Params, Set, Env           []string
	CSV, SVG                   string // files that the caller writes; "": none
	// Progress receives the number of trials of an elector that are done; nil: it is not called.
	Progress func(elector string, done, all int)
	// Host runs a trial of a system on real nodes; nil: systems are refused.
	Host func(context.Context, *experiment.Experiment, *harness.Plan) (check.Verdict, error)
	// Violated receives each broken promise, and where it broke.
	Violated func(where, text string)
}

// What an elector without a file is given: a time-out of UsualTimeOut, heartbeats five times
// as often, and messages that take a fiftieth of it.
const (
	UsualTimeOut     = 50 * time.Millisecond
	usualBeat        = UsualTimeOut / 5
	usualLatency     = UsualTimeOut / 50
	usualRepetitions = 20
)

// A surveyed is an elector with what came of it.
type surveyed struct {
	Atlas
	predicts *algo.Algorithm // the system before it in the list; nil: none
	plan     *harness.Plan
	options  Options
	graphs   []Graph
	further  map[int]Entry // of a system, by graph: trials where the first was not as predicted
}

// Answer tries the electors, and draws all graphs if a picture is asked for.
func Answer(ctx context.Context, q *Request) (d *answer.Document, picture []byte, err error) {
	list, err := q.electors()
	if err != nil {
		return nil, nil, err
	}
	violated := false
	atlases := make([]Atlas, len(list))
	for i := range list {
		x := &list[i]
		if q.Progress != nil {
			x.options.Progress = func(done int) { q.Progress(x.Label, done, len(x.graphs)*x.options.Seeds) }
		}
		x.Entries, err = Survey(ctx, x.plan, x.graphs, x.options)
		violated = x.denounce(q.Violated) || violated
		if err != nil {
			return nil, nil, err
		}
		atlases[i] = x.Atlas
	}
	if err := verify(ctx, list); err != nil {
		return nil, nil, err
	}
	if d = q.document(list); violated {
		d.Exit = answer.Violated
	}
	picture = SVG(atlases, tried(list, q))
	d.Add(answer.Picture{Name: "graphs", Title: "Every graph, in the colour of its class", SVG: picture})
	return d, picture, nil
}

// denounce tells which promises were broken, and where; it says whether any was.
func (x *surveyed) denounce(tell func(where, text string)) (any bool) {
	for i := range x.Entries {
		for _, text := range x.Entries[i].Broken {
			any = true
			tell(fmt.Sprintf("%s in %v", x.Label, &x.Entries[i].Graph), text)
		}
	}
	return any
}

// electors are those of the arguments, with the graphs of each.
func (q *Request) electors() (list []surveyed, err error) {
	var services []string
	service := algo.Led
	for _, d := range algo.Services() {
		if services = append(services, d.String()); d.String() == q.Outage {
			service = d
		}
	}
	switch {
	case len(q.Electors) == 0:
		return nil,
			answer.Mistaken("no elector: expected ID..., or an experiment FILE (\"bench list\" shows all)")
	case q.Processes != 0 && (q.Processes < Least || q.Processes > Most):
		return nil, answer.Mistaken("--processes %d, expected %d to %d", q.Processes, Least, Most)
	case q.Sample < 0:
		return nil, answer.Mistaken("--sample %d, expected 1 or more", q.Sample)
	case q.Workers < 0:
		return nil, answer.Mistaken("--workers %d, expected 1 or more", q.Workers)
	case q.TimeOut < time.Millisecond || q.TimeOut > time.Hour:
		return nil, answer.Mistaken("--time-out %v, expected 1ms to 1h", q.TimeOut)
	case len(q.Graphs) > 0 && (q.Directed || q.Sample > 0 || q.Processes > 0):
		return nil,
			answer.Mistaken("--graph says which graphs; leave --processes, --directed and --sample out")
	}
	if !slices.Contains(services, q.Outage) {
		return nil, answer.Mistaken("--outage %q, expected one of: "+
			"%s", q.Outage, strings.Join(services, ", "))
	}
	sizes, err := q.sizes()
	if err != nil {
		return nil, err
	}
	for _, size := range sizes {
		for _, arg := range q.Electors {
			var e *experiment.Experiment
			if slices.Contains(experiment.Extensions(), strings.TrimPrefix(filepath.Ext(arg), ".")) {
				e, err = experiment.Load(arg, q.overrides(nil, size))
			} else {
				var alg *algo.Algorithm
				if alg, err = catalog.Simulated(arg); err == nil && alg.Service {
					err = q.system(&list, alg, service, size)
					if err == nil {
						continue
					}
				} else if err == nil {
					e, err = experiment.Build([]string{alg.ID}, "", q.overrides(alg, size))
				}
			}
			if err != nil {
				return nil, err
			}
			if q.Workers == 0 {
				q.Workers = runtime.GOMAXPROCS(0)
			}
			o := Options{Service: service, Seeds: e.Repetitions, Seed: e.Seed, Workers: q.Workers,
				Lockstep: q.Lockstep, Heal: q.Heal}
			if err := q.add(&list, e, o, size); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// sizes are the numbers of processes to build experiments for; 0: what a file says, or five.
func (q *Request) sizes() (sizes []int, err error) {
	for i, text := range q.Graphs {
		for _, shape := range Shapes {
			if shape.Name == text {
				q.Graphs[i] = shape.Graph
			}
		}
		g, err := Parse(q.Graphs[i])
		if err != nil {
			return nil, answer.Mistaken("--graph: %v", err)
		}
		if !slices.Contains(sizes, g.Vertices) {
			sizes = append(sizes, g.Vertices)
		}
	}
	if sizes == nil {
		sizes = []int{q.Processes}
	}
	return sizes, nil
}

// overrides are the flags and, for an algorithm without a file, what it is given unless they
// say otherwise.
func (q *Request) overrides(alg *algo.Algorithm, size int) experiment.Overrides {
	over := q.given(transport.Sim.Name, size)
	set := unlessGiven(&over)
	// What breaks a promise beyond the model is not to be judged; cuts are what the atlas has.
	set("scenario", "{kind: script, leader: 1, until: 1s, events: []}")
	if alg == nil {
		return over
	}
	set("nodes", "5")
	set("repetitions", strconv.Itoa(usualRepetitions))
	set("network.latency", usualLatency.String())
	for i := range alg.Spec.Params {
		p := &alg.Spec.Params[i]
		switch {
		case p.Tunes == algo.Patience:
			set("params."+p.Name, UsualTimeOut.String())
		case slices.ContainsFunc(alg.Spec.Periods, func(x algo.Period) bool { return x.Param == p.Name }):
			set("params."+p.Name, usualBeat.String())
		}
	}
	if alg.Spec.Needs.Detector != algo.NoDetector {
		set("detector", fmt.Sprintf("{kind: heartbeat, interval: %v, timeout: %v}", usualBeat, UsualTimeOut))
	}
	return over
}

// given is what the flags say.
func (q *Request) given(transport string, size int) experiment.Overrides {
	over := experiment.Overrides{Transport: transport, Env: q.Env, Set: slices.Clone(q.Set)}
	for _, word := range q.Params {
		over.Set = append(over.Set, "params."+strings.TrimPrefix(word, "params."))
	}
	if size > 0 {
		over.Set = append(over.Set, fmt.Sprintf("nodes=%d", size))
	}
	return over
}

// unlessGiven sets keys in over that the flags do not.
func unlessGiven(over *experiment.Overrides) (set func(key, value string)) {
	given := slices.Clone(over.Set)
	return func(key, value string) {
		if !slices.ContainsFunc(given, func(word string) bool {
			name, _, _ := strings.Cut(word, "=")
			return name == key || strings.HasPrefix(key, name+".") || strings.HasPrefix(name, key+".")
		}) {
			over.Set = append(over.Set, key+"="+value)
		}
	}
}

// add appends the electors of an experiment.
func (q *Request) add(list *[]surveyed, e *experiment.Experiment, o Options, size int) error {
	design := plan.DesignOf(e)
	for i := range e.Cells {
		cell := &e.Cells[i]
		if err := Refuse(&cell.Plan); err != nil {
			return answer.Mistaken("bench atlas: %v", err)
		}
		x := surveyed{plan: &cell.Plan, options: o}
		x.Label = design.Name(cell)
		for _, word := range q.Params {
			x.Label += " " + strings.TrimPrefix(word, "params.")
		}
		if _, x.options.TimeOut = rare.Patience(x.plan); x.options.TimeOut == 0 {
			x.options.TimeOut = q.TimeOut
		}
		n, most := cell.Plan.Nodes, Most
		if q.Directed {
			most = MostDirected
		}
		switch {
		case n < Least || n > most:
			return answer.Mistaken("bench atlas: %d processes, expected %d to %d; say --processes N", n,
				Least, most)
		case q.Graphs != nil:
			for _, text := range q.Graphs {
				if g, err := Parse(text); err == nil && g.Vertices == size {
					x.graphs = append(x.graphs, g)
				}
			}
		case q.Sample > 0:
			x.graphs = Sample(All(n, q.Directed), q.Sample, e.Seed)
		default:
			x.graphs = All(n, q.Directed)
		}
		*list = append(*list, x)
	}
	return nil
}

// tried says what was tried.
func tried(list []surveyed, q *Request) string {
	var kinds []string
	for i := range list {
		n := list[i].plan.Nodes
		kind := console.Plural(len(list[i].graphs), "graph", "graphs")
		switch {
		case q.Sample > 0:
			kind = fmt.Sprintf("%d of the %d graphs", len(list[i].graphs), len(All(n, q.Directed)))
		case q.Directed:
			kind = console.Plural(len(list[i].graphs), "directed graph", "directed graphs")
		}
		if kind += fmt.Sprintf(" of %d processes", n); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return fmt.Sprintf("%s, %s each; trials of %d time-outs; a leader is present by %q",
		strings.Join(kinds, " and "), console.Plural(list[0].options.Seeds, "seed", "seeds"),
		Length, q.Outage)
}

// document is what came of all electors.
func (q *Request) document(list []surveyed) *answer.Document {
	d := answer.New("atlas", "Electors in small networks")
	d.Add(answer.Facts{{Name: "outage", Value: q.Outage}, {Name: "directed", Value: q.Directed}})
	electorsOf(d, list)
	q.graphsOf(d, list)
	told, more := q.told(list)
	if len(told.Rows) > 0 {
		d.Say("")
		d.Add(told)
	}
	d.Say("\n" + tried(list, q))
	if len(told.Rows) > 0 {
		spread := ""
		if len(list) == 1 {
			spread = "; from, to: minimum and maximum"
		}
		d.Say("share: of the second half with a leader, mean over the seeds" + spread + "; outage: the " +
			"longest, in " +
			"time-outs")
	}
	if q.Heal {
		d.Say("deposed: trials in which a leader lost its place although all links were back; elections " +
			"and heal_outage: those after that, per trial, and the longest outage from then on, in time-outs")
	}
	for _, text := range predictions(list) {
		d.Say(text)
	}
	if more {
		which := "those that have a name"
		if len(list) == 1 {
			which += ", and those where a process reaches a majority but the elector does not serve"
		}
		d.Say("graphs above: " + which + "; --csv and --svg have all")
	}
	for _, path := range []string{q.CSV, q.SVG} {
		if path != "" {
			d.Say("results: " + program.Quote(path))
		}
	}
	return d
}

// electorsOf adds a row for each elector: in how many graphs it serves, flaps, and never serves.
func electorsOf(d *answer.Document, list []surveyed) {
	line := "elector processes:count graphs:count"
	for _, class := range Classes {
		line += " " + class.Name + ":count"
	}
	t := d.Table("electors", answer.Columns(answer.Everybody, line+" time_out_ms:number:time-out:ms")...)
	for i := range list {
		x := &list[i]
		row := []answer.Value{x.Label, x.plan.Nodes, len(x.Entries)}
		for _, n := range Count(x.Entries) {
			row = append(row, n)
		}
		t.Row(append(row, answer.Shown{Value: float64(x.options.TimeOut) / float64(time.Millisecond),
			Text: x.options.TimeOut.String()})...)
	}
}

// graphsOf adds a row for each elector in each graph, for programs.
func (q *Request) graphsOf(d *answer.Document, list []surveyed) {
	columns := "elector graph name quorum_connected:flag class share:number share_least:number " +
		"share_most:number seeds:count seeds_serve:count seeds_never:count longest_outage:number"
	if q.Heal {
		columns += " seeds_deposed:count heal_elections:number heal_outage:number"
	}
	t := d.Table("graphs", append(answer.Columns(answer.Everybody, columns),
		answer.Columns(answer.Nested, "shares:list")...)...) // the last by seed
	for i := range t.Columns {
		t.Columns[i].Digits = 6 // of numbers
	}
	t.Only, t.Main = answer.Programs, true
	for i := range list {
		x := &list[i]
		for k := range x.Entries {
			e := &x.Entries[k]
			serve, never := e.Seeds()
			row := []answer.Value{x.Label, e.Graph.String(), e.Graph.Name(), e.Graph.QuorumConnected(),
				e.Class().String(), e.Share(), slices.Min(e.Shares), slices.Max(e.Shares), len(e.Shares),
				serve, never, x.timeOuts(e.Worst)}
			if q.Heal {
				elections, longest := e.AfterHeal()
				row = append(row, e.Deposed(), elections, x.timeOuts(longest))
			}
			t.Row(append(row, e.Shares)...)
		}
	}
}

// told is the table of the graphs that people see, and whether there are more. One elector's
// are in the order of the atlas; several are side by side in each graph.
func (q *Request) told(list []surveyed) (t *answer.Table, more bool) {
	alone := len(list) == 1
	several, spread := answer.People, answer.Programs
	if alone {
		several, spread = spread, several
	}
	t = &answer.Table{Name: "told", Only: answer.People, Columns: slices.Concat(
		answer.Columns(answer.Everybody, "graph"), answer.Columns(several, "elector"),
		answer.Columns(answer.Everybody, "class share:number"),
		answer.Columns(spread, "from:number to:number"), answer.Columns(answer.Everybody, "outage:number"))}
	if q.Heal {
		t.Columns = append(t.Columns,
			answer.Columns(answer.Everybody, "deposed:text elections:number heal_outage:number")...)
	}
	for i := range list {
		x := &list[i]
		for k := range x.Entries {
			e := &x.Entries[k]
			name := e.Graph.Name()
			amiss := alone && e.Class() != Serves && e.Graph.QuorumConnected()
			if q.Graphs == nil && name == "" && !amiss {
				more = true
				continue
			}
			row := []answer.Value{cmp.Or(name, e.Graph.String()), x.Label, e.Class().String(),
				Decimal(e.Share()), Decimal(slices.Min(e.Shares)), Decimal(slices.Max(e.Shares)),
				strconv.FormatFloat(x.timeOuts(e.Worst), 'f', 2, 64)}
			if q.Heal {
				elections, longest := e.AfterHeal()
				row = append(row, fmt.Sprintf("%d of %d", e.Deposed(), len(e.Healed)),
					strconv.FormatFloat(elections, 'f', 2, 64),
					strconv.FormatFloat(x.timeOuts(longest), 'f', 2, 64))
			}
			t.Row(row...)
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

// timeOuts is a time in time-outs.
func (x *surveyed) timeOuts(d time.Duration) float64 { return float64(d) / float64(x.options.TimeOut) }
