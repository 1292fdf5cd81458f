package results

import (
	"math"
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
	TracesDir      = "traces"
	lockFile       = ".lock"
)

// tableFiles are the tables, in the order in which they are shown.
func tableFiles() []string {
	return []string{TrialsFile, OperationsFile, OutagesFile, MessagesFile, SummaryFile}
}

// HostColumn names the machine of each trial, in runs whose trials do; see Trial.Host.
const HostColumn = "host"

// In trials.csv identity stands before the design, with the host in runs whose trials name it.
// Behind the design stand outcome, the fixed metrics and the metrics of the run.
var (
	identity = []field[Trial]{
		{name: "trial", at: func(t *Trial) any { return (*ordinal)(&t.Trial) }},
		{name: "cell", at: func(t *Trial) any { return (*ordinal)(&t.Cell) }},
		{name: "repetition", at: func(t *Trial) any { return (*ordinal)(&t.Repetition) }},
		{name: "round", at: func(t *Trial) any { return &t.Round }},
		{name: "run_order", at: func(t *Trial) any { return (*ordinal)(&t.RunOrder) }},
		{name: "seed", at: func(t *Trial) any { return &t.Seed }},
	}
	host    = field[Trial]{name: HostColumn, at: func(t *Trial) any { return &t.Host }}
	outcome = []field[Trial]{
		{name: "status", at: func(t *Trial) any { return (*string)(&t.Status) }},
		{name: "reason", at: func(t *Trial) any { return &t.Reason }},
		{name: "attempts", at: func(t *Trial) any { return (*ordinal)(&t.Attempts) }},
		{name: "in_model", at: func(t *Trial) any { return &t.InModel }},
	}
	fixed = metric.Fixed()
)

// A designColumn is one that the design of every run begins with.
type designColumn struct {
	name  string
	of    Type
	check func(p *reader) // refuses what is no value; nil: every text is one
}

var designColumns = []designColumn{
	{"problem", Text, nil}, {"algorithm", Text, nil}, {"label", Text, nil}, {"transport", Text, nil},
	{"nodes", Whole, func(p *reader) { p.whole(1, mostOrdinal) }},
	{"topology", Text, nil}, {"scenario", Text, nil}, {"latency_model", Text, nil},
	{"latency_ms", Real, func(p *reader) { p.between(0, mostInstant) }},
	{"loss", Real, func(p *reader) { p.between(0, 1) }},
	{"duplication", Real, func(p *reader) { p.between(0, 1) }},
	{"crash_rate", Real, func(p *reader) { p.between(0, mostInstant) }},
}

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
	{name: "trial", at: func(o *operation) any { return &o.trial }, derived: true},
	{name: "operation", at: func(o *operation) any { return &o.number }, derived: true},
	{name: "process", at: func(o *operation) any { return &o.Process }},
	{name: "cause_ms", at: func(o *operation) any { return &o.Cause }},
	{name: "begin_ms", at: func(o *operation) any { return &o.Begin }},
	{name: "end_ms", at: func(o *operation) any { return &o.End }},
	{name: "status", at: func(o *operation) any { return (*string)(&o.Status) }},
	{name: "cause", at: func(o *operation) any { return (*string)(&o.Origin) }, seldom: true},
	{name: "phase", at: func(o *operation) any { return (*positive)(&o.Phase) }, seldom: true},
}

// An outage is a row of outages.csv.
type outage struct {
	trial, number ordinal // number is among those of its definition
	length        time.Duration
	trace.Outage
}

var outages = []field[outage]{
	{name: "trial", at: func(o *outage) any { return &o.trial }, derived: true},
	{name: "definition", at: func(o *outage) any { return &o.Definition }},
	{name: "outage", at: func(o *outage) any { return &o.number }, derived: true},
	{name: "spec", at: func(o *outage) any { return &o.Spec }, derived: true},
	{name: "begin_ms", at: func(o *outage) any { return &o.Begin }},
	{name: "cause_ms", at: func(o *outage) any { return &o.Cause }},
	{name: "end_ms", at: func(o *outage) any { return &o.End }},
	{name: "length_ms", at: func(o *outage) any { return &o.length }, derived: true},
	{name: "status", at: func(o *outage) any { return (*string)(&o.Status) }},
	{name: "cause", at: func(o *outage) any { return (*string)(&o.Origin) }},
	{name: "operation", at: func(o *outage) any { return &o.Operation }},
}

// A message is a row of messages.csv.
type message struct {
	trial ordinal
	trace.MessageCount
}

var messages = []field[message]{
	{name: "trial", at: func(m *message) any { return &m.trial }},
	{name: "kind", at: func(m *message) any { return &m.Name }},
	{name: "sent", at: func(m *message) any { return &m.Sent }},
	{name: "delivered", at: func(m *message) any { return &m.Delivered }},
	{name: "lost", at: func(m *message) any { return &m.Lost }},
	{name: "bytes", at: func(m *message) any { return &m.Bytes }},
}

// An item is what a row of summary.csv has behind the design.
type item struct {
	metric, method string
	stats.Summary
}

var items = []field[item]{
	{name: "metric", at: func(i *item) any { return &i.metric }},
	{name: "n", at: func(i *item) any { return &i.N }},
	{name: "censored", at: func(i *item) any { return &i.Censored }},
	{name: "mean", at: func(i *item) any { return &i.Mean }},
	{name: "sd", at: func(i *item) any { return &i.SD }},
	{name: "min", at: func(i *item) any { return &i.Min }},
	{name: "median", at: func(i *item) any { return &i.Median }},
	{name: "p90", at: func(i *item) any { return &i.P90 }},
	{name: "p95", at: func(i *item) any { return &i.P95 }},
	{name: "p99", at: func(i *item) any { return &i.P99 }},
	{name: "max", at: func(i *item) any { return &i.Max }},
	{name: "ci_low", at: func(i *item) any { return &i.CILow }},
	{name: "ci_high", at: func(i *item) any { return &i.CIHigh }},
	{name: "ci_method", at: func(i *item) any { return &i.method }},
}

// SummaryColumns are the columns of summary.csv behind the design.
func SummaryColumns() []string { return names(items) }

// SummaryRow is what stands in them.
func SummaryRow(name string, d stats.Summary) []string {
	one := item{name, string(d.Method), d}
	if math.IsNaN(d.CILow) && math.IsNaN(d.CIHigh) {
		one.method = ""
	}
	return appendRow(nil, items, &one)
}
