// Package results keeps a run on disk: a folder whose journal is the truth, and
// the tables that are derived from it; or all of that in memory. It does not run, judge or compare
// anything; docs/results.md describes every file and column.
//
// Its promises: a trial that Append has accepted survives the death of the
// process and of the machine; no reader sees half a table or half a record; two
// processes never write into one folder; and the same trials give the same
// bytes in every table, in whatever order they were appended.
package results

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Schema is the version of the folder's format, written into the journal and
// the manifest.
const Schema = 3

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

// A Trial is one attempt at a planned trial, with everything that the tables
// say about it. Trial, Cell, Repetition, Round, Order and Attempts count from 1.
type Trial struct {
	Trial, Cell, Repetition int
	Round                   int    // everything was started anew before it; 0 is the first, too
	RunOrder                int    // position in execution
	Seed                    uint64 // below 2^53
	Host                    string // of a shard on real nodes: the machine's name; "": it does not matter
	Design                  []metric.Field
	Status                  trace.Status
	Reason                  string // of the status, or of a mark; made one line of printable characters
	Attempts                int    // this one included
	InModel                 bool
	row                     int32     // of held
	held                    *findings // what it found, in place of Metrics; nil: nothing beside those

	Operations, Completed int
	DurationMS            float64

	// Algorithm messages, counted as docs/results.md says, and those of the
	// failure detector, sent.
	Messages, Delivered, Lost, Duplicated, Undeliverable, Bytes int64
	DetectorMessages                                            int64
	// Unseen: messages are not seen, so that these mean nothing, and are empty in the tables.
	Unseen bool

	LateShare       float64 // share of messages delivered late, 0 to 1; NaN in simulation
	SchedDelayP99MS float64 // NaN in simulation

	Metrics []metric.Value // NaN is a figure that the trial could have had; see Survey
	Ops     []trace.Operation
	Outages []trace.Outage // definition by definition
	Kinds   []trace.MessageCount
}

// Marked says whether the trial counts, but for a reason that a reader should know: the
// machine may have lengthened its times.
func (t *Trial) Marked() bool { return t.Status == trace.OK && t.Reason != "" }

// HostColumn names the machine of each trial, in runs whose trials do; see Trial.Host.
const HostColumn = "host"

// DesignColumns are the columns that the design of every run begins with.
func DesignColumns() []string {
	return []string{
		"problem", "algorithm", "label", "transport", "nodes", "topology", "scenario",
		"latency_model", "latency_ms", "loss", "duplication", "crash_rate",
	}
}

// Number formats v for a table: the shortest decimal fraction that reads back
// as v, without an exponent; empty if v is not finite.
func Number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	if v == 0 {
		v = 0 // a negative zero would print its sign
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Finite is v for JSON, which has no NaN: nil, and so null, if v is not finite.
func Finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// textLimit bounds free text in bytes: a reason may quote the whole output of a
// node.
const textLimit = 2000

// clean makes s one line of valid UTF-8 without control characters, so that a
// table has one line per row for readers that know no quoting.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == '\uFEFF' {
			return ' '
		}
		return r
	}, s)
	s = strings.TrimSpace(s)
	if len(s) <= textLimit {
		return s
	}
	cut := textLimit - len("…")
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
