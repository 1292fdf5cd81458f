// Package runner runs the trials of an experiment, in simulation or as real processes, has
// them judged, and puts them on disk. It decides nothing about networks, algorithms
// or statistics.
package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/internal/worlds/guest"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Options say how to run.
type Options struct {
	// Machine is where trials on real nodes run: nodes.Machine, or that of nodes.Hosts.
	// nil: nowhere. The sites are those of the programs that have the nodes; none: this
	// process has.
	Machine  func(context.Context, *experiment.Experiment, Options, Room) (Machine, []results.Site, error)
	Exe      string   // the program to start as nodes and as the bus
	NodeArgs []string // arguments that make it a node
	BusArgs  []string // arguments that make it the bus
	WireArgs []string // arguments that make it what moves the packets of a wire (network.wire)
	// WorkArgs are arguments that make it a worker (work.Serve), which simulates, and which is the
	// host of a run of several rounds. None: this process does both, and shares the fate of the plugins.
	WorkArgs []string
	Workers  int // trials at a time in simulation
	// Patience is how long one event may take a simulated plugin, where WorkArgs are
	// given; 0: ten seconds.
	Patience time.Duration
	// Host is the command that starts a worker for trials on real nodes, which may be on another
	// machine; none: this process is the host, and starts the programs above.
	Host []string
	// Queue hands the trials to workers elsewhere; nil: they run here.
	Queue func(context.Context) (Queue, error)
	// Stderr is where Replay writes what a simulated plugin wrote to standard error,
	// without what a terminal would obey; nil: nowhere.
	Stderr io.Writer
	// Progress is called after every attempt, never twice at a time.
	Progress func(Progress)
}

// Progress is where a run stands.
type Progress struct {
	// Finished and Planned count trials; what was finished before a resume counts.
	// While cells go on, planned are as many as they may need.
	Finished, Planned int
	Elapsed           time.Duration
	Left              time.Duration // estimate; 0: unknown
	Trial             experiment.Trial
	Result            *results.Trial
	Final             bool // the trial is not repeated
}

// A Summary is what a run came to.
type Summary struct {
	Notes    []string      // warnings, each a sentence
	Spent    time.Duration // of the whole run
	InTrials time.Duration // of that, inside trials
	Manifest *results.Manifest
}

// Header describes e to the results folder.
func Header(e *experiment.Experiment, argv []string) results.Header {
	h := results.Header{
		Name: e.Name, Planned: len(e.Cells) * e.Repetitions, Retries: e.Retries, Seed: e.Seed,
		Design: e.Columns, Argv: argv, Simulated: e.Virtual(),
		Metrics: metric.Names(columns(e)), Until: ruleOf(e), Trace: e.Trace,
	}
	if e.Keep == trace.KeepSummary {
		h.Keep = e.Keep
	}
	var ids []string
	for i := range e.Cells {
		ids = append(ids, e.Cells[i].Algorithm)
	}
	h.Programs = guest.Origins(ids)
	for _, o := range e.Overrides {
		h.Overrides = append(h.Overrides, results.Override(o))
	}
	if e.Shard.Of > 0 {
		h.Shard = &results.Shard{Index: e.Shard.Index, Of: e.Shard.Of}
	}
	return h
}

// wired says whether some trial of e has a wire.
func wired(e *experiment.Experiment) bool {
	return slices.ContainsFunc(e.Cells, func(c experiment.Cell) bool { return c.Plan.Network.Wire })
}

// columns are the metrics that trials of e can have.
func columns(e *experiment.Experiment) []*metric.Metric {
	several := slices.ContainsFunc(e.Algorithms, func(a experiment.Algorithm) bool {
		alg, err := algo.Lookup(a.ID)
		return err == nil && alg.Spec.Admits.Several()
	})
	wired := wired(e)
	return slices.DeleteFunc(metric.Columns(e.Problem), func(m *metric.Metric) bool {
		return m.Several && !several || m.Bubble && e.Transport != transport.Bubble.Name || m.Wire && !wired
	})
}

// A Store takes in what comes of a run: a *results.Folder on disk or in memory, or what
// passes it on. Its methods may be called from several goroutines.
type Store interface {
	Header() results.Header
	// Dir is the folder for processes of their own to put traces into; "": there is none.
	Dir() string
	// Done are the trials that need no further attempt, Attempts how many one has had.
	Done() map[int]results.Outcome
	Attempts(trial int) int
	EachTrial(visit func(*results.Trial) error) error
	// AppendGroup keeps attempts: a trial that it has accepted is not run again.
	AppendGroup(trials []results.Trial) error
	NewTrace(trial, attempt int, kinds []string) (*results.TraceWriter, error)
	DropTrace(trial, attempt int) error
	SweepTraces() error
	// KeepTrace puts a trace that came from elsewhere in its place.
	KeepTrace(trial int, data []byte) error
	Finish(end results.End) (*results.Manifest, error)
}

var _ Store = (*results.Folder)(nil)

// Run executes what the store does not hold yet. When ctx ends, what is
// finished is kept and the error is ctx's cause.
func Run(ctx context.Context, e *experiment.Experiment, f Store, o Options) (
	Summary, error) {
	r := &run{experiment: e, store: f, options: o, begun: time.Now(), done: f.Done(),
		stopping: NewStopping(e)}
	r.before = len(r.done)
	if e.Until != nil {
		if err := f.EachTrial(ofCells(e, f.Dir(), r.stopping.Add)); err != nil {
			return Summary{}, err
		}
	}
	r.schedule = &schedule{experiment: e, mu: &r.mu, stopping: r.stopping, whole: o.Queue != nil}
	err := f.SweepTraces()
	if all, todo := r.batch(); err == nil && len(todo) > 0 {
		err = r.execute(ctx, all, todo)
	}
	summary, sumErr := r.conclude()
	return summary, errors.Join(err, sumErr)
}

// execute runs what is to be done here, or has it done.
func (r *run) execute(ctx context.Context, all, todo []experiment.Trial) error {
	if r.options.Queue != nil {
		return r.dispatch(ctx, all, todo)
	}
	return r.here(ctx, todo)
}

// A planner says what is to be run next; nothing: no more.
type planner interface{ next() []experiment.Trial }

// A run is one execution of a plan.
type run struct {
	experiment *experiment.Experiment
	store      Store
	options    Options
	done       map[int]results.Outcome // before this execution
	before     int                     // how many of them
	begun      time.Time
	bus        map[string]any
	network    *link.Matrix // nil: nothing is known of it
	// ahead is how many simulated trials may be under way when the next ones are asked for.
	// More than 0 is for a schedule that does not depend on what comes of them.
	ahead   int
	probed  bool             // the machines were asked whether they bear so many nodes
	sites   []results.Site   // of the programs that have the nodes, if it is not this one
	workers []results.Worker // elsewhere, by name
	firsts  results.Firsts   // of the trials that failed in this process

	mu        sync.Mutex
	stopping  *Stopping
	schedule  planner
	finished  int
	inTrials  time.Duration
	handlers  map[string]*harness.Handling // of simulated trials, by label
	attempted int                          // trials behind inTrials
	starts    []time.Duration              // of what the trials of a round run on, by round
	cal       calibration
	notes     []string
}

// next is what is to be run before anything further can be told; none at the end.
func (r *run) next() []experiment.Trial {
	_, todo := r.batch()
	return todo
}

// batch is what is to be run likewise, and all that it is the rest of.
func (r *run) batch() (all, todo []experiment.Trial) {
	for {
		all = r.schedule.next()
		if len(all) == 0 {
			return nil, nil
		}
		todo = nil
		for i := range all {
			if _, ok := r.done[all[i].Number]; !ok {
				todo = append(todo, all[i])
			}
		}
		if len(todo) > 0 {
			return all, todo
		}
	}
}

// learn takes in the last attempt at a trial.
func (r *run) learn(row *results.Trial) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopping.Add(row)
}

// conclusive takes in an attempt, reports it, and says whether it is the last.
func (r *run) conclusive(t experiment.Trial, row *results.Trial) bool {
	final := row.Status != trace.Invalid || row.Attempts > r.experiment.Retries
	if final {
		r.learn(row)
	}
	r.tell(t, row, final)
	return final
}

// tell reports an attempt.
func (r *run) tell(t experiment.Trial, result *results.Trial, final bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if final {
		r.finished++
	}
	if r.options.Progress == nil {
		return
	}
	p := Progress{
		Finished: r.before + r.finished, Planned: r.stopping.Planned(), Elapsed: time.Since(r.begun),
		Trial: t, Result: result, Final: final,
	}
	if left := p.Planned - p.Finished; r.finished > 0 && left > 0 {
		p.Left = p.Elapsed / time.Duration(r.finished) * time.Duration(left)
	}
	r.options.Progress(p)
}

// conclude writes the tables and sums up.
func (r *run) conclude() (Summary, error) {
	s := Summary{Notes: append(r.notes, r.cal.warnings(r.experiment)...), InTrials: r.inTrials,
		Spent: time.Since(r.begun)}
	if note := r.stopping.Note(); note != "" {
		s.Notes = append(s.Notes, note)
	}
	s.Notes = append(s.Notes, r.experiment.Notes...)
	manifest, err := r.store.Finish(results.End{
		Bus: r.bus, Network: r.network, Sites: r.sites, Notes: s.Notes,
		Planned: r.stopping.Planned(), Stopping: r.stopping.Record(), Costs: r.costs(),
		Workers: r.workers, Handlers: r.handlersTook()})
	if err != nil {
		return s, err
	}
	s.Manifest = manifest
	return s, nil
}

// hostRound runs the trials of one round on real nodes, one after the other, and returns the first ones
// of the next. It has a machine of its own: a bus, a host and nodes that nothing before it has started.
func (r *run) hostRound(ctx context.Context, todo []experiment.Trial) ([]experiment.Trial, error) {
	round, begun := todo[0].Round, time.Now()
	most, pause := 0, time.Duration(0)
	for _, c := range r.experiment.Cells {
		most, pause = max(most, c.Plan.Nodes), max(pause, c.Plan.LongestPause())
	}
	token := fmt.Sprintf("%x", time.Now().UnixNano()&0xffffffff)
	machine, sites, err := r.options.machine(ctx, r.experiment, Room{
		Nodes: most, Run: r.store.Header().Run + "-" + token, Pause: pause, Wire: wired(r.experiment),
	})
	if err != nil {
		return nil, err
	}
	defer machine.Close()
	if err := onePlatform(sites); err != nil {
		return nil, err
	}
	if r.sites == nil { // else an earlier round has told
		r.notes = append(r.notes, otherPrograms(results.ThisSite().Tool, sites)...)
	}
	r.sites = sites
	bus, err := machine.Baseline() // in every round, so that they begin alike
	if err != nil {
		return nil, fmt.Errorf("measure the bus alone: %w", err)
	}
	if r.bus == nil {
		r.bus = bus
	}
	r.starts = append(r.starts, time.Since(begun))
	if err := r.probe(ctx, machine, len(sites), token); err != nil {
		return nil, err
	}
	watched, err := r.watchNetwork(machine)
	if err != nil {
		return nil, err
	}
	defer watched(ctx)
	for ; len(todo) > 0 && todo[0].Round == round; todo = r.next() {
		for _, t := range todo {
			if err := r.attempts(ctx, machine, t, token); err != nil {
				return nil, err
			}
		}
	}
	return todo, nil
}

// costs are what starting a round and running a trial took; nil: nothing of that was measured.
func (r *run) costs() *results.Costs {
	if len(r.starts) == 0 || r.attempted == 0 || r.experiment.Rounds < 2 {
		return nil
	}
	var all time.Duration
	for _, d := range r.starts {
		all += d
	}
	return &results.Costs{RoundMS: ms(all) / float64(len(r.starts)),
		TrialMS: ms(r.inTrials) / float64(r.attempted)}
}

// attempts runs t until an attempt is valid or the retries are used up.
func (r *run) attempts(ctx context.Context, m Machine, t experiment.Trial,
	token string) error {
	for attempt := r.store.Attempts(t.Number) + 1; ; attempt++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		begun := time.Now()
		plan := t.Plan
		plan.Trial = fmt.Sprintf("%s-%d-%d", token, t.Number, attempt)
		o, err := r.traced(t, attempt, func(sink trace.Sink) (work.Outcome, error) {
			return work.Host(ctx, m, &plan, sink)
		})
		if err != nil {
			return err
		}
		r.inTrials += time.Since(begun)
		r.attempted++
		row := r.row(t, attempt, o)
		if err := r.store.AppendGroup([]results.Trial{row}); err != nil {
			return err
		}
		if r.conclusive(t, &row) {
			r.cal.add(t, o, &row)
			return nil
		}
	}
}
