package results

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// The files of a run's folder.
const (
	ManifestFile   = "manifest.json"
	ConfigFile     = "config.resolved.yaml"
	JournalFile    = "journal.ndjson"
	TrialsFile     = "trials.csv"
	OperationsFile = "operations.csv"
	OutagesFile    = "outages.csv"
	MessagesFile   = "messages.csv"
	SummaryFile    = "summary.csv"
	RoutesFile     = "links.csv"
	TracesDir      = "traces"
	lockFile       = ".lock"
)

// tableFiles are the tables, in the order in which they are shown.
func tableFiles() []string {
	return []string{TrialsFile, OperationsFile, OutagesFile, MessagesFile, SummaryFile, RoutesFile}
}

// HostColumn names the machine of each trial, in runs whose trials do; see Trial.Host.
const HostColumn = "host"

// In trials.csv identity stands before the design, with the host in runs whose trials name it.
// Behind the design stand outcome, the fixed metrics and the metrics of the run.
var (
	identity = []field[Trial]{
		{name: "trial", at: func(t *Trial) any { return (*ordinal)(&t.Trial) },
			doc: "(cell − 1) · repetitions + repetition. Under a rule, repetitions is its maximum, so " +
				"the numbers of trials that a cell did not need are absent",
			see: "explanation/stopping.md#repetitions-until-precise"},
		{name: "cell", at: func(t *Trial) any { return (*ordinal)(&t.Cell) },
			doc: "number of the combination of swept values: algorithms outermost, the last `vary` " +
				"fastest"},
		{name: "repetition", at: func(t *Trial) any { return (*ordinal)(&t.Repetition) },
			doc: "within the cell"},
		{name: "round", at: func(t *Trial) any { return &t.Round },
			doc: "part of the run; before each everything is started anew. 1 for all, unless `rounds` " +
				"says otherwise",
			see: "explanation/statistics.md#rounds"},
		{name: "run_order", at: func(t *Trial) any { return (*ordinal)(&t.RunOrder) },
			doc: "position in execution"},
		{name: "seed", at: func(t *Trial) any { return &t.Seed },
			doc: "of the trial, below 2^53"},
	}
	host = field[Trial]{name: HostColumn, at: func(t *Trial) any { return &t.Host },
		doc: "only in a shard on real nodes and in a run that was merged from such: the name of the " +
			"machine " +
			"that ran the trial",
		see: "how-to/shards.md#shards-on-real-nodes"}
	outcome = []field[Trial]{
		{name: "status", at: func(t *Trial) any { return (*string)(&t.Status) },
			doc: "how the trial ended: see [below](#statuses)"},
		{name: "reason", at: func(t *Trial) any { return &t.Reason },
			doc: "why the status is not `ok`; of an `ok` trial, why it is marked: it counts, but the " +
				"machine may have lengthened its times by a tenth or more",
			see: "explanation/validity.md#lateness"},
		{name: "attempts", at: func(t *Trial) any { return (*ordinal)(&t.Attempts) },
			doc: "number of attempts, including this one, which is the last"},
		{name: "in_model", at: func(t *Trial) any { return &t.InModel },
			doc: "whether the algorithm claims to survive what was done to it, with these parameters. " +
				"`bench plan` says why not, and `bench replay` where only the records show it",
			see: "explanation/faults.md#in-or-out-of-the-model"},
	}
	fixed = metric.Fixed()
)

// A designColumn is one that the design of every run begins with.
type designColumn struct {
	name  string
	of    Type
	check func(p *reader) // refuses what is no value; nil: every text is one
	doc   string
	see   string
}

var designColumns = []designColumn{
	{name: "problem", of: Text, doc: "`election` or `mutex`"},
	{name: "algorithm", of: Text, doc: "its id, such as `election/bully`", see: "reference/algorithms.md"},
	{name: "label", of: Text, doc: "the name of this configuration of the algorithm, where an experiment " +
		"compares it with itself; else the name of the algorithm"},
	{name: "transport", of: Text, doc: "`nats`: real processes and sockets; `sim`: virtual time"},
	{name: "nodes", of: Whole, check: func(p *reader) { p.whole(1, mostOrdinal) },
		doc: "number of processes"},
	{name: "topology", of: Text, doc: "which processes may send to which",
		see: "explanation/model.md#topology"},
	{name: "scenario", of: Text, doc: "what happens in the trial",
		see: "explanation/model.md#scenarios"},
	{name: "latency_model", of: Text, doc: "distribution of the latency of a link: `network.latency` " +
		"alone, " +
		"without `variation`, `bandwidth` and `links`", see: "explanation/model.md#latency"},
	{name: "latency_ms", of: Real, check: func(p *reader) { p.between(0, mostInstant) },
		doc: "its mean, cut-offs (`min`, `max`) included; for `regions`, the mean over the links between " +
			"different places"},
	{name: "loss", of: Real, check: func(p *reader) { p.between(0, 1) },
		doc: "probability that a message is lost; for bursts of loss, the share in the long run"},
	{name: "duplication", of: Real, check: func(p *reader) { p.between(0, 1) },
		doc: "probability that a message arrives twice"},
	{name: "crash_rate", of: Real, check: func(p *reader) { p.between(0, mostInstant) },
		doc: "crashes per live process and second"},
}

// seldomColumns are those that a design has where the experiment asks for it.
var seldomColumns = slices.Concat(serviceColumns(), []Column{
	{Name: metric.HostingColumn, Type: Text,
		Doc: "only in runs on real nodes with `hosting.run_as: goroutine` or `hosting.reuse: true` in a " +
			"cell, and in runs of algorithms in other languages: " +
			"what the processes of the algorithm ran as, `process`, `goroutine` or `reused-process`; " +
			"`program` or `wasm` if `--plugin` named it, and `simulator` beside those in simulation. A run " +
			"without the column ran each as an operating-system process, a new one in every trial, or in " +
			"the simulator. " +
			"`bench compare` refuses to compare them unless told to (`--ignore hosting`)",
		See: "explanation/validity.md#many-processes-in-one"},
	{Name: metric.ReplayColumn, Type: Text,
		Doc: "only in runs of `transport: bubble`: `no`. Nothing controls the order of a library's " +
			"goroutines, so no trial can be run again as it was",
		See: "explanation/worlds.md"},
	{Name: "...", Type: Text,
		Doc: "a column for each other swept key; every character that is not a letter or digit becomes an " +
			"underscore"},
})

// serviceColumns are those of systems.
func serviceColumns() (out []Column) {
	for _, c := range metric.ServiceColumns {
		out = append(out, Column{Name: c.Name, Type: Text, Doc: "only in runs with systems: " + c.Doc,
			See: "explanation/services.md"})
	}
	return out
}

// doubt stands behind the columns of summary.csv where nodes of a trial may have several clocks.
var doubt = Column{Name: DoubtColumn, Type: Real,
	Doc: "only with `--hosts`: what the clocks of the hosts can be wrong by, in ms, if that is more than " +
		"`median`, which other outputs then mark with a `?`. Empty if it is not",
	See: "explanation/validity.md#clocks-of-several-hosts"}

// A Section is columns of a table that stand side by side, under a title.
type Section struct {
	Title   string
	Columns []Column
}

// Documented are the columns of each table, in the order of the files, with what they mean. In trials.csv
// the metrics follow, and in summary.csv the design comes first.
func Documented() map[string][]Section {
	design := make([]Column, len(designColumns))
	for i, c := range designColumns {
		design[i] = Column{Name: c.name, Type: c.of, Doc: c.doc, See: c.see}
	}
	return map[string][]Section{
		TrialsFile: {
			{"Which trial it is", slices.Concat(columnsOf(identity), columnsOf([]field[Trial]{host}))},
			{"The design of its cell", append(design, seldomColumns...)},
			{"How it ended", columnsOf(outcome)},
		},
		OperationsFile: {{"", columnsOf(operations)}},
		OutagesFile:    {{"", columnsOf(outages)}},
		MessagesFile:   {{"", columnsOf(messages)}},
		SummaryFile:    {{"", append(columnsOf(items), doubt)}},
		RoutesFile:     {{"", columnsOf(routes)}},
	}
}

// Files lists the tables of a run, in the order in which they are shown.
func Files() []string { return tableFiles() }

// DesignColumns are the columns that the design of every run begins with.
func DesignColumns() (names []string) {
	for _, c := range designColumns {
		names = append(names, c.name)
	}
	return names
}

// An operation is a row of operations.csv.
type operation struct {
	trial, number ordinal // number follows from the order
	trace.Operation
}

var operations = []field[operation]{
	{name: "trial", at: func(o *operation) any { return &o.trial }, derived: true,
		doc: "the trial"},
	{name: "operation", at: func(o *operation) any { return &o.number }, derived: true,
		doc: "its number in the trial, from 1"},
	{name: "process", at: func(o *operation) any { return &o.Process },
		doc: "election: the process that was elected; entry: the process that entered"},
	{name: "cause_ms", at: func(o *operation) any { return &o.Cause },
		doc: "election: agreement is lost, for instance by a crash; entry: the (intended) request"},
	{name: "begin_ms", at: func(o *operation) any { return &o.Begin },
		doc: "election: the first process begins, which is the first `elect` of a process, or " +
			"`elected` without a leader, from `cause_ms` on; if there is none until agreement, " +
			"`cause_ms`. Entry: the request. An election that ends and begins again at one instant " +
			"is one election: the first such event in all of it counts"},
	{name: "end_ms", at: func(o *operation) any { return &o.End },
		doc: "election: agreement; entry: the grant"},
	{name: "status", at: func(o *operation) any { return (*string)(&o.Status) },
		doc: "how far it came: see [below](#what-becomes-of-operations). Only `ok` ones count in the " +
			"metrics"},
	{name: "cause", at: func(o *operation) any { return (*string)(&o.Origin) }, seldom: true,
		doc: "of elections: what began it, see [below](#causes)",
		see: "explanation/outages.md#causes"},
	{name: "phase", at: func(o *operation) any { return (*positive)(&o.Phase) }, seldom: true,
		doc: "of elections whose cause was done to the processes or the network: the share of its " +
			"longest period, such as that between two heartbeats, that the leader of before had " +
			"behind it; above 0, and up to 1, or little more where its timer was late. Empty where " +
			"it repeats nothing, or at random intervals, has ceased to for more than two periods, or " +
			"by its last `elected` names another leader or none. The leader of before is the last on " +
			"which all agreed",
		see: "explanation/faults.md#the-phase-of-a-crash"},
}

// An outage is a row of outages.csv.
type outage struct {
	trial, number ordinal // number is among those of its definition
	length        time.Duration
	trace.Outage
}

var outages = []field[outage]{
	{name: "trial", at: func(o *outage) any { return &o.trial }, derived: true,
		doc: "the trial"},
	{name: "definition", at: func(o *outage) any { return &o.Definition },
		doc: "`agreed`, `led` or `served`",
		see: "explanation/outages.md"},
	{name: "outage", at: func(o *outage) any { return &o.number }, derived: true,
		doc: "its number among those of the trial by that definition: `outages_agreed` and so on is " +
			"the last one"},
	{name: "spec", at: func(o *outage) any { return &o.Spec }, derived: true,
		doc: "whether that definition is the one that the Spec of the algorithm names: `downtime_ms` " +
			"and `availability` are about these rows"},
	{name: "begin_ms", at: func(o *outage) any { return &o.Begin },
		doc: "from here on there is no leader"},
	{name: "cause_ms", at: func(o *outage) any { return &o.Cause },
		doc: "from here on the downtime counts: `begin_ms`, or the later crash of the leader in an " +
			"outage whose cause the scenario does not measure"},
	{name: "end_ms", at: func(o *outage) any { return &o.End },
		doc: "there is a leader again; empty if there was none when the trial ended"},
	{name: "length_ms", at: func(o *outage) any { return &o.length }, derived: true,
		doc: "from `begin_ms` to `end_ms`, or to the end of the trial: `longest_outage_..._ms` is " +
			"the largest one, and `availability_agreed` and `availability_led` are what their sum " +
			"leaves of the trial"},
	{name: "status", at: func(o *outage) any { return (*string)(&o.Status) },
		doc: "`ok`: the downtime counts, `end_ms` − `cause_ms`; `pending`: it would count, but had " +
			"not ended; `other`: it began for a reason that the scenario does not measure, whether " +
			"it ended or not; `hastened`: the change of leader that ended it was on its way before " +
			"the leader was lost. `downtime_..._ms` is the time from `cause_ms` on of those with " +
			"`ok` and `pending`, divided by the number of those with `ok`",
		see: "explanation/outages.md#hastened-elections"},
	{name: "cause", at: func(o *outage) any { return (*string)(&o.Origin) },
		doc: "what began it, or what was lost at `cause_ms`, as in `operations.csv`"},
	{name: "operation", at: func(o *outage) any { return &o.Operation },
		doc: "the first operation of `operations.csv` that went on during it; 0 if none did, for " +
			"instance where all live processes agree on a leader that reaches no majority"},
}

// A message is a row of messages.csv.
type message struct {
	trial ordinal
	trace.MessageCount
}

var messages = []field[message]{
	{name: "trial", at: func(m *message) any { return &m.trial }, derived: true,
		doc: "the trial"},
	{name: "kind", at: func(m *message) any { return &m.Name },
		doc: "name of the message"},
	{name: "sent", at: func(m *message) any { return &m.Sent },
		doc: "messages of the kind sent"},
	{name: "delivered", at: func(m *message) any { return &m.Delivered },
		doc: "messages of the kind delivered"},
	{name: "lost", at: func(m *message) any { return &m.Lost },
		doc: "messages of the kind lost"},
	{name: "bytes", at: func(m *message) any { return &m.Bytes },
		doc: "bytes of the messages sent"},
}

// An item is what a row of summary.csv has behind the design.
type item struct {
	metric, method, with, inModel string
	stats.Summary
	share, low, high, events, exposure float64
}

var items = []field[item]{
	{name: "metric", at: func(i *item) any { return &i.metric },
		doc: "`duration_ms`, `messages`, or another metric of `trials.csv`"},
	{name: "n", at: func(i *item) any { return &i.N },
		doc: "trials with status `ok` that have a value"},
	{name: "censored", at: func(i *item) any { return &i.Censored },
		doc: "timed-out trials, for times; of `knee_per_s` and `warmup_found`, trials with status " +
			"`ok` in which they are beyond what was looked at"},
	{name: "mean", at: func(i *item) any { return &i.Mean },
		doc: "of the values; of a pooled metric weighted by the exposure",
		see: "explanation/statistics.md#which-figure-stands-for-a-cell"},
	{name: "sd", at: func(i *item) any { return &i.SD },
		doc: "standard deviation of a sample, with n − 1"},
	{name: "min", at: func(i *item) any { return &i.Min },
		doc: "the smallest value"},
	{name: "median", at: func(i *item) any { return &i.Median },
		doc: "quantile of type 7, as R, NumPy and Excel compute it"},
	{name: "p90", at: func(i *item) any { return &i.P90 },
		doc: "likewise"},
	{name: "p95", at: func(i *item) any { return &i.P95 },
		doc: "likewise"},
	{name: "p99", at: func(i *item) any { return &i.P99 },
		doc: "likewise"},
	{name: "max", at: func(i *item) any { return &i.Max },
		doc: "the largest value"},
	{name: "ci_low", at: func(i *item) any { return &i.CILow },
		doc: "lower end of the 95 % interval of the median, whatever the distribution; of a pooled " +
			"metric, of the mean",
		see: "explanation/statistics.md#intervals-of-quantiles"},
	{name: "ci_high", at: func(i *item) any { return &i.CIHigh },
		doc: "its upper end"},
	{name: "ci_method", at: func(i *item) any { return &i.method },
		doc: "`fixed-n`: by order statistics; `anytime`: of a confidence sequence, which holds " +
			"although the trials decided how many they are; `rounds`: of several rounds on real " +
			"nodes, one that respects them; `pooled`: of the mean of a pooled metric. Empty without " +
			"an interval",
		see: "explanation/stopping.md"},
	{name: "trials_with", at: func(i *item) any { return &i.with },
		doc: "of a pooled metric: in how many of the n trials what it is about happened at all, so " +
			"that the value is not 0; of a share of which more is better, not 1. Empty for other " +
			"metrics"},
	{name: "events", at: func(i *item) any { return &i.events },
		doc: "of a pooled metric that counts events, or is a rate of elections or demotions: how " +
			"many events the n trials saw. Empty for other metrics"},
	{name: "exposure_s", at: func(i *item) any { return &i.exposure },
		doc: "of a pooled metric: how long the n trials lasted together, in s. Empty for other " +
			"metrics"},
	{name: "share_ok", at: func(i *item) any { return &i.share },
		doc: "share of the trials of the cell with status `ok`"},
	{name: "low", at: func(i *item) any { return &i.low },
		doc: "what the figure of the cell (the median, or the mean of a pooled metric) would be if " +
			"each trial that is not `ok`, and of which not even a lower bound is known, had been " +
			"like the smallest that the cell has seen (Manski, 1990). In a pooled metric such a " +
			"trial weighs as much as the others do on average. Empty if there is no such trial, or " +
			"if the figure would lie among what the time limit cut off"},
	{name: "high", at: func(i *item) any { return &i.high },
		doc: "likewise, had each been like the largest"},
	{name: "in_model", at: func(i *item) any { return &i.inModel },
		doc: "whether no trial of the cell asks more of the algorithm than it promises"},
}

// SummaryColumns are the columns of summary.csv behind the design.
func SummaryColumns() []string { return names(items) }

// SummaryRow is what stands in them of a metric of a cell.
func SummaryRow(c *Cell, name string, d stats.Summary) []string {
	one := item{metric: name, method: string(d.Method), inModel: strconv.FormatBool(c.InModel()), Summary: d,
		share: float64(c.Count(trace.OK)) / float64(c.Size())}
	one.low, one.high = c.Bounds(name)
	one.events, one.exposure = c.Events(name)
	if d.Method == stats.Whole && d.N > 0 {
		one.with = strconv.Itoa(d.Seen)
	}
	if math.IsNaN(d.CILow) && math.IsNaN(d.CIHigh) {
		one.method = ""
	}
	return appendRow(nil, items, &one)
}
