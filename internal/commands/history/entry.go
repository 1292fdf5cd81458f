// Package history keeps what runs found at each commit, and says what became of their figures.
//
// A store is a folder, or a reference of a git repository: files that are written
// once and never changed, so that concurrent additions lose nothing.
// A run is kept as an Entry: what was measured, where, and each cell's figures.
//
// Figures of simulations are exact: the first commit at which a trial is another changed it.
// Figures of real processes are noisy: stats.FollowCourse finds where they step or drift.
package history

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/commits"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Schema is the version of what a store holds.
const Schema = 1

// An Entry is what a history keeps of a run.
type Entry struct {
	Schema     int            `json:"schema_version"`
	Experiment string         `json:"experiment"`
	Config     string         `json:"config_sha256"`
	Run        string         `json:"run"`
	Commit     commits.Commit `json:"commit"`
	// Started is when the run was, RFC 3339.
	Started string          `json:"started"`
	Version string          `json:"version"`
	Go      string          `json:"go"`
	Machine results.Machine `json:"machine"`
	// Bus is the time of a round trip over the bare bus in µs, the median of those that the run
	// measured; 0 if it did not. No figure follows it: docs/how-to/history.md.
	Bus   float64 `json:"bus_round_trip_us,omitempty"`
	Cells []Cell  `json:"cells"`
}

// A Design is the values of a cell, or those that cells must have. In JSON each is a pair of name and
// value.
type Design []metric.Field

// MarshalJSON writes the pairs.
func (d Design) MarshalJSON() ([]byte, error) {
	var pairs [][2]string
	for _, f := range d {
		pairs = append(pairs, [2]string{f.Name, f.Value})
	}
	return json.Marshal(pairs)
}

// UnmarshalJSON reads the pairs.
func (d *Design) UnmarshalJSON(b []byte) error {
	var pairs [][2]string
	err := json.Unmarshal(b, &pairs)
	*d = nil
	for _, p := range pairs {
		*d = append(*d, metric.Field{Name: p[0], Value: p[1]})
	}
	return err
}

// A Cell is the trials of a run that have one design.
type Cell struct {
	Design Design `json:"design"`
	// Exact says that the cell was simulated: equal programs give equal figures.
	Exact    bool           `json:"exact,omitempty"`
	Trials   int            `json:"trials"`
	Statuses map[string]int `json:"statuses"`
	// First is the number of the first trial, and Digests has eight digits for each trial of an
	// exact cell, of all that its row says.
	First   int               `json:"first_trial"`
	Digests string            `json:"digests,omitempty"`
	Seeds   string            `json:"seeds"` // digest of the seeds of the trials
	Figures map[string]Figure `json:"figures"`
}

// A Figure is what the trials of a cell found of a metric.
type Figure struct {
	N        int      `json:"n"`                  // trials that observed it
	Censored int      `json:"censored,omitempty"` // that are known only to have more of it
	Median   *float64 `json:"median"`             // null: beyond what was seen
	Mean     *float64 `json:"mean"`
	// Digest is of the value of each trial, of an exact cell.
	Digest string `json:"digest,omitempty"`
}

// NewEntry reduces a run.
func NewEntry(t *results.Table, c commits.Commit) (*Entry, error) {
	m := t.Manifest
	switch {
	case m == nil:
		return nil, fmt.Errorf("%s has no %s, which says where and when it ran", t.Path, results.ManifestFile)
	case !m.Complete:
		return nil, fmt.Errorf("%s is not complete: %s continues it", t.Path,
			program.Command("run", "--resume", t.Path))
	case len(m.Machines()) > 1 && slices.ContainsFunc(t.Cells(), onNodes):
		return nil, fmt.Errorf("%s ran on %d machines; a history takes runs on one machine", t.Path,
			len(m.Machines()))
	case len(t.Trials) == 0:
		return nil, fmt.Errorf("%s has no trials", t.Path)
	}
	e := &Entry{Schema: Schema, Experiment: t.Name, Config: m.Config, Run: m.Run, Commit: c,
		Started: m.Started, Version: m.Tool.Version, Go: m.Tool.Go, Machine: m.Where()}
	if v, ok := m.Bus["round_trip_p50_us"].(float64); ok {
		e.Bus = v
	}
	names := t.Known()
	for _, cell := range t.Cells() {
		e.Cells = append(e.Cells, newCell(cell, names))
	}
	return e, nil
}

func onNodes(c *results.Cell) bool { return !transport.Virtual(c.Get("transport")) }

func newCell(from *results.Cell, metrics []string) Cell {
	c := Cell{Design: from.Design, Trials: len(from.Trials),
		First: from.Trials[0].Trial, Statuses: map[string]int{},
		Exact: transport.Repeats(from.Get("transport")), Figures: map[string]Figure{}}
	seeds := fnv.New32a()
	var digests strings.Builder
	for _, t := range from.Trials {
		c.Statuses[string(t.Status)]++
		fmt.Fprintln(seeds, t.Repetition, t.Seed)
		if c.Exact {
			digests.WriteString(rowDigest(t, metrics))
		}
	}
	c.Digests, c.Seeds = digests.String(), hex8(seeds.Sum32())
	for _, name := range metrics {
		if f := newFigure(from, name, c.Exact); f.N+f.Censored > 0 {
			c.Figures[name] = f
		}
	}
	return c
}

// rowDigest tells two rows of a simulated trial apart.
func rowDigest(t *results.Trial, metrics []string) string {
	h := fnv.New32a()
	fmt.Fprintln(h, t.Status, t.Reason)
	for _, name := range metrics {
		v, seen := t.Observe(name)
		fmt.Fprintln(h, name, seen, exactText(v))
	}
	return hex8(h.Sum32())
}

func hex8(v uint32) string { return fmt.Sprintf("%08x", v) }

func exactText(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func newFigure(c *results.Cell, name string, exact bool) Figure {
	d := c.Describe(name)
	f := Figure{N: d.N, Censored: d.Censored}
	if f.N+f.Censored == 0 {
		return f
	}
	f.Median, f.Mean = results.Finite(d.Median), results.Finite(d.Mean)
	if exact {
		h := fnv.New32a()
		for _, t := range c.Trials {
			v, seen := t.Observe(name)
			fmt.Fprintln(h, t.Repetition, seen, exactText(v))
		}
		f.Digest = hex8(h.Sum32())
	}
	return f
}

// of is the figure that stands for the trials in tables; nil: beyond what was seen.
func (f *Figure) of(m *metric.Metric) *float64 {
	if m != nil && m.Kind.Pooled() {
		return f.Mean
	}
	return f.Median
}

// name is that of the entry's file: entries of one run are one file, by whomever they are added.
func (e *Entry) name(content []byte) string {
	stamp := strings.NewReplacer(":", "", "-", "").Replace(e.Started)
	if len(stamp) > 15 {
		stamp = stamp[:15]
	}
	return fmt.Sprintf("%s-%s-%s", stamp, e.Commit.Short(), checksum(content, entrySum))
}

// encode writes an entry: equal ones as equal bytes.
func (e *Entry) encode() ([]byte, error) {
	b, err := json.Marshal(e)
	return append(b, '\n'), err
}

// bad says what is wrong with an entry that was read.
func (e *Entry) bad() error {
	switch {
	case e.Schema > Schema:
		return fmt.Errorf("schema_version %d is of a newer version of the program; this one reads up to %d",
			e.Schema, Schema)
	case e.Schema < 1 || e.Commit.Hash == "" || e.Experiment == "" || len(e.Cells) == 0:
		return fmt.Errorf("no entry: expected schema_version, commit, experiment and cells; remove the " +
			"file " +
			"if it is not of a history")
	}
	return nil
}

// when is the instant of the run.
func (e *Entry) when() time.Time {
	at, _ := time.Parse(time.RFC3339Nano, e.Started)
	return at
}

// committed is the instant of the commit, or of the run if that is not known.
func (e *Entry) committed() time.Time {
	at, err := time.Parse(time.RFC3339, e.Commit.Date)
	if err != nil {
		return e.when()
	}
	return at
}

// Fingerprint tells machines apart whose times are not comparable. The kernel is not part of it:
// it changes every week where others keep the machine, and a page of trends marks it.
func Fingerprint(m results.Machine) string {
	var parts []string
	for _, p := range []struct{ name, value string }{
		{"", m.OS + "/" + m.Arch}, {"", m.CPU},
		{"cores ", strconv.Itoa(m.Cores)}, {"GOMAXPROCS ", strconv.Itoa(m.MaxProcs)},
		{"governor ", m.Governor}, {"turbo ", m.Turbo}, {"SMT ", m.SMT}, {"quota ", m.CPULimit},
		{"on ", m.Virtual},
	} {
		if p.value != "" {
			parts = append(parts, p.name+p.value)
		}
	}
	return strings.Join(parts, ", ")
}

// violations is how many trials broke a promise.
func (c *Cell) violations() int { return c.Statuses[string(trace.Violated)] }

// key tells cells of an experiment apart.
func (c *Cell) key() string {
	parts := make([]string, len(c.Design))
	for i, f := range c.Design {
		parts[i] = f.Name + "=" + f.Value
	}
	slices.Sort(parts)
	return strings.Join(parts, "\x00")
}
