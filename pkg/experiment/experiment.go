// Package experiment turns a configuration into a plan: a file, the environment
// and the command line into a validated experiment, its cells and its trials.
//
// It starts nothing and measures nothing. Whatever is wrong with a
// configuration is found here, all of it at once, and said with file, line and
// remedy.
package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// The bounds of an experiment.
const (
	maxCells  = 10_000
	maxTrials = 1_000_000
)

// An Experiment is a validated configuration with every default filled in. It
// does not change.
type Experiment struct {
	Name        string
	Problem     algo.Problem
	Algorithms  []Algorithm
	Transport   string // nats or sim
	Hosting     Hosting
	Repetitions int    // of each cell; at most, if Until ends it earlier
	Fewest      int    // repetitions that each cell has in any case
	Until       *Until // nil: no cell ends before its last repetition
	Rounds      int    // parts into which the repetitions are divided; everything restarts between them
	Seed        uint64
	TimeLimit   time.Duration // of a trial
	Trace       string        // none, failures or all
	Keep        string        // of each trial: all, or summary, what its cell needs
	Retries     int           // of an invalid trial
	Allow       Allow
	Thresholds  []Threshold
	Bus         Bus

	// Columns are the names of the design, the same for every cell.
	Columns []string
	Cells   []Cell

	Overrides []Override // what the environment and the command line have set, in that order
	Notes     []string   // what an experimenter should know before the start
	AsSet     string     // the note that time-outs are not tuned to each other; "": they are

	Shard  Shard // the part of the plan that is meant; zero: all of it
	shares []int // of a shard: how many trials of each cell it has

	resolved []byte
}

// Hosting is where processes live.
type Hosting struct {
	RunAs string // process or goroutine; where it is swept, see Plan.PerProcess
}

// Allow is how many trials may fail before a run counts as incomplete.
type Allow struct {
	Invalid, Timeout int
	Marked           *float64 // share of the trials with status ok; nil: any
}

// TooMarked says whether more of so many trials with status ok are marked than is allowed.
func (a *Allow) TooMarked(marked, ok int) bool {
	return a.Marked != nil && float64(marked) > *a.Marked*float64(ok)
}

// Bus is an external NATS server; without URL the embedded one serves.
type Bus struct {
	URL         string
	Credentials string // path of a .creds file
	TLS         TLS
}

// TLS names the files of an encrypted connection; "" is none.
type TLS struct{ CA, Cert, Key string }

// An Algorithm is one of those that are compared.
type Algorithm struct {
	ID     string         // "election/bully"
	Label  string         // unique; "bully" unless the file says otherwise
	Set    string         // of parameters, that Params begin with; "": none
	Params map[string]any // as given; those that follow from the network are in the cells' plans
}

// A Cell is one combination of swept values.
type Cell struct {
	Number    int // from 1
	Algorithm string
	Label     string
	Design    []metric.Field // a value for each of the experiment's Columns
	Plan      harness.Plan   // of its trials, without token and seed; shared, not to be modified
}

// A Trial is one seeded repetition of a cell.
type Trial struct {
	Number     int // from 1; (cell - 1) * the most repetitions + repetition
	Cell       int
	Repetition int
	Round      int // from 1
	Order      int // position in execution, from 1
	Seed       uint64
	Plan       harness.Plan // without the token, which is each attempt's own
}

// hosting is what the processes of a plan run as.
func (e *Experiment) hosting(p *harness.Plan) string {
	alg, err := algo.Lookup(p.Algorithm)
	hosted := err == nil && alg.Hosting != ""
	switch {
	case hosted && p.PerProcess > 0:
		return metric.RunAsGoroutine + "+" + alg.Hosting
	case hosted:
		return alg.Hosting
	case e.Virtual():
		return metric.InSimulation
	case p.PerProcess > 0:
		return metric.RunAsGoroutine
	case p.Reuse:
		return metric.RunAsReused
	}
	return metric.RunAsProcess
}

// Virtual says whether the trials are simulated.
func (e *Experiment) Virtual() bool { return transport.Virtual(e.Transport) }

// Trials is every trial in the order of execution, if no cell ends before its last
// repetition; of a shard, its own.
func (e *Experiment) Trials() []Trial {
	out := make([]Trial, 0, e.Most())
	for r := 1; r <= e.Repetitions; r++ {
		out = append(out, e.Block(r, len(out), nil)...)
	}
	return out
}

// Most is how many trials there are at most.
func (e *Experiment) Most() (n int) {
	for i := range e.Cells {
		n += e.MostOf(i + 1)
	}
	return n
}

// Least is how many trials there are at least.
func (e *Experiment) Least() int {
	if e.Shard.Of > 0 { // it has no rule that ends cells early
		return e.Most()
	}
	return len(e.Cells) * e.Fewest
}

// MostOf is how many trials the cell of that number has at most.
func (e *Experiment) MostOf(cell int) int {
	if e.Shard.Of > 0 {
		return e.shares[cell-1]
	}
	return e.Repetitions
}

// PerCell is how many trials each cell has at most.
func (e *Experiment) PerCell() (most int) {
	for i := range e.Cells {
		most = max(most, e.MostOf(i+1))
	}
	return most
}

// Block is the trials of one repetition, when so many trials were before it: each
// cell that needs it stands there once, in an order drawn from the seed, so that a
// machine that grows slower does not do so at the expense of one cell. All cells of
// a repetition share its seed, and so their random draws. Needs is asked for each cell by
// its number; nil: all need it. Of a shard, only its own trials are there.
func (e *Experiment) Block(repetition, before int, needs func(cell int) bool) []Trial {
	if e.Shard.Of > 0 {
		before = (repetition - 1) * len(e.Cells) // as in the whole plan
	}
	out := make([]Trial, 0, len(e.Cells))
	for _, i := range e.order(repetition) {
		if needs != nil && !needs(i+1) {
			continue
		}
		before++
		if e.Shard.Of == 0 || e.Shard.has(e.Virtual(), repetition, before) {
			out = append(out, e.Trial(i+1, repetition, before))
		}
	}
	return out
}

// order is that of the cells in a repetition, each by its number from 0.
func (e *Experiment) order(repetition int) []int {
	order := make([]int, len(e.Cells))
	for i := range order {
		order[i] = i
	}
	block := harness.Derive(e.Seed, "order", uint64(repetition))
	rand.New(rand.NewPCG(block, block)).Shuffle(len(order), func(i, j int) {
		order[i], order[j] = order[j], order[i]
	})
	return order
}

// Trial is a repetition of a cell, both from 1, at that position in execution.
func (e *Experiment) Trial(cell, repetition, order int) Trial {
	t := Trial{
		Number: (cell-1)*e.Repetitions + repetition, Cell: cell, Repetition: repetition,
		Round: e.RoundOf(repetition), Order: order,
		Seed: harness.Derive(e.Seed, "trial", uint64(repetition)), Plan: e.Cells[cell-1].Plan,
	}
	t.Plan.Seed = t.Seed
	return t
}

// Numbered is the trial of that number, at that position in execution. It is false if there is none.
func (e *Experiment) Numbered(number, order int) (Trial, bool) {
	if number < 1 || number > len(e.Cells)*e.Repetitions {
		return Trial{}, false
	}
	return e.Trial((number-1)/e.Repetitions+1, (number-1)%e.Repetitions+1, order), true
}

// RoundOf is the round of a repetition, from 1. Rounds differ by one repetition at most.
func (e *Experiment) RoundOf(repetition int) int {
	return 1 + (repetition-1)*max(e.Rounds, 1)/e.Repetitions
}

// What the disk is reckoned with, in bytes: measured of the experiments in configs.
const (
	diskTrial     = 3800    // in the journal and the tables, with one election or a few entries
	diskFolded    = 250_000 // of a cell, with keep: summary
	diskOperation = 60      // likewise, of each operation
	diskCell      = 8500    // in summary.csv
	diskRecord    = 130     // of a trace
	diskPacked    = 10      // likewise, compressed
)

// A Disk is what a run takes of it, in bytes, about.
type Disk struct {
	Tables float64 // and the journal
	Traces float64 // of all trials, where all are kept
	Trace  float64 // of one that failed, at most, where those are kept
}

// Disk estimates what the run takes of the disk.
func (e *Experiment) Disk() (d Disk) {
	for i := range e.Cells {
		p := &e.Cells[i].Plan
		usual, most := p.Records()
		trials := float64(e.MostOf(i + 1))
		if e.Keep == trace.KeepSummary {
			d.Tables += diskCell + min(diskFolded, diskTrial*trials)
		} else {
			d.Tables += diskCell + trials*(diskTrial+diskOperation*float64(p.Operations()))
		}
		switch e.Trace {
		case trace.KeepAll:
			d.Traces += trials * diskRecord * usual
		case trace.KeepFailures:
			d.Trace = max(d.Trace, diskPacked*most)
		}
	}
	return d
}

// Memory is what the largest trial takes, in bytes, about. Simulated trials run beside others, one for each
// processor.
func (e *Experiment) Memory() (most float64) {
	for i := range e.Cells {
		most = max(most, e.Cells[i].Plan.Memory(e.Virtual()))
	}
	return most
}

// Estimate is roughly how long all trials take on this machine: at least, where cells end
// as early as their repetitions allow and elections cost what claims say of the least
// load, and at most. Simulated trials run beside others.
func (e *Experiment) Estimate() (least, most time.Duration) {
	const begin, summary = 110 * time.Millisecond, 3 * time.Millisecond // of a cell
	fewest := begin + time.Duration(len(e.Cells))*summary
	all := fewest
	for i := range e.Cells {
		few, many := e.Cells[i].Plan.Cost(e.Virtual())
		if e.Virtual() {
			least, most = max(least, few), max(most, many) // a trial is not divided
			few, many = few/time.Duration(runtime.NumCPU()), many/time.Duration(runtime.NumCPU())
		}
		fewest += few * time.Duration(min(e.Fewest, e.MostOf(i+1)))
		all += many * time.Duration(e.MostOf(i+1))
	}
	return max(least, fewest), max(most, all)
}

// Resolved is the experiment as a file with every default written out. It loads
// to the same experiment. A parameter whose default follows from what is swept
// is left out, since it has no single value.
func (e *Experiment) Resolved() ([]byte, error) {
	if len(e.resolved) > config.MaxSize {
		return nil, fmt.Errorf("the resolved copy of the experiment has %d bytes, and %d is the most that "+
			"can be read again: use shorter records of the network", len(e.resolved), config.MaxSize)
	}
	return slices.Clone(e.resolved), nil
}

// Hash identifies the configuration: the SHA-256 of its resolved form.
func (e *Experiment) Hash() string {
	sum := sha256.Sum256(e.resolved)
	return hex.EncodeToString(sum[:])
}

// A Threshold is what a figure must not go beyond in any of the cells that it is
// about; bench run exits 4 if one does.
type Threshold struct {
	Metric   string
	Stat     string       // one of stats.FigureNames
	Over     string       // what it is a figure of: one of Overs, empty for the first
	Max, Min *float64     // in the metric's unit; nil: no bound
	Where    metric.Where // columns of the design and their values; empty: every cell
}

// String is the threshold in words.
func (t Threshold) String() string {
	var bounds []string
	if t.Max != nil {
		bounds = append(bounds, "at most "+config.FormatFloat(*t.Max))
	}
	if t.Min != nil {
		bounds = append(bounds, "at least "+config.FormatFloat(*t.Min))
	}
	over := ""
	if t.Over == OverOperations {
		over = " over " + OverOperations
	}
	return t.Stat + " of " + t.Metric + over + " " + strings.Join(bounds, " and ")
}

// OverOperations has a threshold judge the operations of all trials of a cell, and not
// the trials, of which each has the mean over its operations.
const OverOperations = "operations"

// Overs are what a threshold can be a figure of; the first is meant where none is named.
var Overs = []string{"trials", OverOperations}

// An Until ends a cell before its last repetition, once enough is known.
type Until struct {
	Metric string
	// CI is the half-width of the 95 % interval of the metric's median, relative
	// to the median, at which a cell is precise: above 0, and 1 at most.
	CI float64
	// Anytime says that the interval is of a confidence sequence, as all of the run are then:
	// it holds with 95 % although the cell ended because of it.
	Anytime bool
}

// An Override is a value that went over that of the file.
type Override struct {
	Key, Value string // the value as it was given, or Hidden
	From       string // "--set", "--transport", "--rounds" or "environment CONCLAVE_NODES"
}

// FromEnvironment says whether nobody typed the override beside the command.
func (o Override) FromEnvironment() bool { return strings.HasPrefix(o.From, "environment ") }

func (o Override) String() string {
	return fmt.Sprintf("%s=%s (%s)", config.Clip(o.Key), config.Clip(o.Value), o.From)
}

// Hidden is in place of a value that may hold a password.
const Hidden = "(not shown)"

// An Error is everything that is wrong with an experiment, and a Mistake one thing.
type (
	Error   = config.Error
	Mistake = config.Mistake
	Key     = config.Key
)
