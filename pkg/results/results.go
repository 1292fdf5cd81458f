// Package results keeps a run on disk: a folder whose journal is the truth, and
// the tables that are derived from it; or all of that in memory. It does not run, judge or compare
// anything; docs/reference/results.md describes every file, and docs/reference/metrics.md every column.
//
// Its promises: a trial that Append has accepted survives the death of the
// process and of the machine; no reader sees half a table or half a record; two
// processes never write into one folder; and the same trials give the same
// bytes in every table, in whatever order they were appended.
package results

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Schema is the version of the folder's format, written into the journal and
// the manifest.
const Schema = 3

// A Design is the values of the columns that tell the cells of a run apart.
type Design []metric.Field

// A Trial is one attempt at a planned trial, with everything that the tables
// say about it. Trial, Cell, Repetition, Round, Order and Attempts count from 1.
// Its figures are those of Figure, wherever the trial comes from.
type Trial struct {
	Trial      int          `json:"trial"`
	Status     trace.Status `json:"status"`
	Attempts   int          `json:"attempts"` // this one included
	Cell       int          `json:"cell"`
	Repetition int          `json:"repetition"`
	// Everything was started anew before the trial's round; 0 is the first, too.
	Round    int    `json:"round,omitempty"`
	RunOrder int    `json:"run_order"` // position in execution
	Seed     uint64 `json:"seed"`      // below 2^53
	// Host is, of a shard on real nodes, the machine's name; "": it does not matter.
	Host   string `json:"host,omitempty"`
	Design Design `json:"design"`
	// Reason is that of the status, or of a mark. It is made one line of printable characters.
	Reason  string `json:"reason,omitempty"`
	InModel bool   `json:"in_model"`

	// Unseen: messages are not seen, so that their figures mean nothing, and are empty in the tables.
	Unseen bool `json:"-"`

	Ops     []trace.Operation    `json:"-"`
	Outages []trace.Outage       `json:"-"` // definition by definition
	Kinds   []trace.MessageCount `json:"-"`

	own  []metric.Value // figures that are no table's
	held *columns       // of the table that has the others; nil: there is none
	row  int32          // of held
}

// Marked says whether the trial counts, but for a reason that a reader should know: the
// machine may have lengthened its times.
func (t *Trial) Marked() bool { return t.Status == trace.OK && t.Reason != "" }

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
