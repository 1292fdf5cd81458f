package results

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/internal/worlds/guest"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Manifest describes a run as a whole. It is written last: the files that it
// names are complete, and have the checksums that it gives.
type Manifest struct {
	Schema   int    `json:"schema_version"`
	Name     string `json:"name"`
	Run      string `json:"run"`
	Complete bool   `json:"complete"` // every planned trial is finished
	Planned  int    `json:"planned"`  // what no cell needs is not planned
	Finished int    `json:"finished"` // trials that need no further attempt
	// Exit is the exit code of the command that made the run. Nil: it was killed, or it goes on.
	Exit *int `json:"exit_code,omitempty"`
	// Statuses counts the rows of trials.csv, every status included.
	Statuses map[trace.Status]int `json:"statuses"`
	Attempts int                  `json:"attempts"` // recorded in the journal
	// Lines are those of the journal; 0: the header, and one for each attempt.
	Lines int `json:"journal_lines,omitempty"`

	Started string   `json:"started"`     // RFC 3339, UTC
	Finish  string   `json:"finished_at"` // likewise: when this file was written
	Seed    uint64   `json:"seed"`
	Argv    []string `json:"argv"`
	// Overrides say what did not come from the experiment file.
	Overrides []Override `json:"overrides"`
	Config    string     `json:"config_sha256"`
	Tool      Tool       `json:"tool"`
	Machine   Machine    `json:"machine"`
	Host      *Site      `json:"host,omitempty"`          // of the nodes, where a host program started them
	Hosts     []Site     `json:"hosts,omitempty"`         // likewise, where each trial is spread over several
	LoadThen  string     `json:"load_at_start,omitempty"` // averages over 1, 5, 15 minutes
	LoadNow   string     `json:"load_at_end,omitempty"`

	Shard *Shard `json:"shard,omitempty"`  // where the run is one
	Parts []Part `json:"shards,omitempty"` // of a run that was merged

	// Workers ran the trials, of a run on real nodes by a queue. Sorted by Host.
	Workers []Worker `json:"workers,omitempty"`

	// Stopping says how many repetitions the cells had and why, if a rule decided.
	Stopping *Stopping `json:"stopping,omitempty"`

	// Costs are what rounds and trials took, in a run of several rounds on real nodes.
	Costs *Costs `json:"costs,omitempty"`

	// Handlers are what the algorithms' handlers cost, in a simulated run. Sorted by Label.
	Handlers []Handlers `json:"handlers,omitempty"`

	// Programs are the algorithms that are not in the program that ran them, by ID.
	Programs map[string]guest.Origin `json:"programs,omitempty"`

	// Traced says of which trials that failed no trace is kept, since others failed alike.
	Traced []Traced `json:"traces,omitempty"`

	// Bus is what the runner measured of the bus alone.
	Bus map[string]any `json:"bus"`

	// Network is what the network between the hosts did to messages and probes.
	Network *link.Matrix `json:"network,omitempty"`

	Percentiles string            `json:"percentiles"`
	Intervals   string            `json:"intervals"`
	Notes       []string          `json:"notes"`
	Files       map[string]string `json:"sha256"`
	// Self is the SHA-256 of this file with as many noughts in place of these digits.
	Self string `json:"manifest_sha256"`
}

// Where is the machine whose times the run has measured.
func (m *Manifest) Where() Machine {
	if m.Host != nil {
		return m.Host.Machine
	}
	return m.Machine
}

// A Tool is the program that made the run.
type Tool struct {
	Version string `json:"version"`              // of Conclave
	Own     string `json:"own_module,omitempty"` // of a program that is not Conclave's own
	Commit  string `json:"commit"`               // empty if it was built outside a repository
	Dirty   bool   `json:"dirty"`                // built from uncommitted changes
	Binary  string `json:"binary_sha256"`
	// Source names what it was built from, the same on all platforms; "": that is not known.
	Source  string            `json:"source,omitempty"`
	Go      string            `json:"go"`
	Modules map[string]string `json:"modules"`
}

// Same says whether o is the same program: the same file, or, for simulated trials, the same sources built
// for another platform. The platform is in the times of real nodes.
func (t Tool) Same(o Tool, simulated bool) bool { return t.build(simulated).Same(o.build(simulated)) }

// Remedy says how o could be the same program as t.
func (t Tool) Remedy(o Tool, simulated bool) string {
	if !simulated {
		return "trials on real nodes want the same file on every machine"
	}
	return t.build(true).Remedy(o.build(true))
}

func (t Tool) build(simulated bool) program.Build {
	if simulated {
		return program.Build{Source: t.Source, Binary: t.Binary}
	}
	return program.Build{Binary: t.Binary}
}

// A Site is a machine and the program that a part of a run is on it.
type Site struct {
	Name    string  `json:"name,omitempty"` // that the hosts file gives the machine
	Machine Machine `json:"machine"`
	Tool    Tool    `json:"tool"`
	// ClockSource is what the bounds of its clock to those of the other hosts rested on before the first
	// trial, as in links.csv; empty: there are none.
	ClockSource string `json:"clock_source,omitempty"`
}

// ThisSite is this machine and this program.
func ThisSite() Site {
	return Site{Machine: thisMachine(), Tool: thisTool(&Header{Binary: binaryDigest()})}
}

// resuming is the command that continues with a run.
func resuming(dir string) string { return program.Command("run", "--resume", dir) }

// thisTool reads what the linker left in the program.
func thisTool(h *Header) Tool {
	t := Tool{Version: h.Version, Binary: h.Binary, Modules: map[string]string{}}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return t
	}
	t.Go = info.GoVersion
	version, own := program.Versions(info)
	t.Source = thisSource()
	t.Version, t.Own = cmp.Or(t.Version, version), own
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			t.Commit = s.Value
		case "vcs.modified":
			t.Dirty = s.Value == "true"
		}
	}
	for _, m := range info.Deps {
		t.Modules[m.Path] = m.Version
		if m.Replace != nil {
			t.Modules[m.Path] = strings.TrimSpace(m.Replace.Path + " " + m.Replace.Version)
		}
	}
	return t
}

// An End is what the runner adds to the manifest.
type End struct {
	Bus map[string]any // measured of the bus alone; must encode as JSON
	// Network is what this execution has measured of the network between hosts; nil: nothing.
	Network *link.Matrix
	Notes   []string // warnings, each a sentence
	// Planned, unless 0, is how many trials the run has in place of those that it
	// was created with, which are then the most that it could have.
	Planned  int
	Stopping *Stopping
	Sites    []Site // of the programs that have the nodes, if it is not this one
	Costs    *Costs
	Workers  []Worker // that the runner has heard of
	Handlers []Handlers
}

// Handlers is processor time in the handlers of an algorithm, as the last process that ran trials of the
// run measured it, of one event in some hundred.
type Handlers struct {
	Label   string  `json:"label"`
	Events  uint64  `json:"events"`  // that it handled
	Sampled uint64  `json:"sampled"` // those that were measured
	MeanUS  float64 `json:"mean_us"` // of these
	// PerSecond is how many events a program in another language answered in a second; 0: it is none.
	PerSecond float64 `json:"events_per_s,omitempty"`
}

// Costs are mean times in ms, as the last process that ran trials of the run measured them.
type Costs struct {
	RoundMS float64 `json:"round_ms"` // to start everything anew, without its trials
	TrialMS float64 `json:"trial_ms"` // of a trial from beginning to end, each attempt by itself
}

// A Rule says when a cell has had enough repetitions.
type Rule struct {
	Metric     string  `json:"metric"`
	CI         float64 `json:"ci"` // half-width of the interval over the median, at most
	Confidence float64 `json:"confidence"`
	Anytime    bool    `json:"anytime,omitempty"` // that interval is of a confidence sequence
	Min        int     `json:"min"`               // repetitions before the first look
	Max        int     `json:"max"`
}

// Method is how the intervals of a run under the rule are found; without one, n is fixed.
func (r *Rule) Method() stats.Method {
	if r != nil && r.Anytime {
		return stats.Anytime
	}
	return stats.FixedN
}

// Promise is what the figures of a run under the rule hold, in words.
func (r *Rule) Promise() string {
	if r.Anytime {
		return "intervals hold whenever a cell stops (anytime), but tests assume a fixed n " +
			"(docs/explanation/stopping.md)"
	}
	return "intervals and tests assume a fixed n, and are wrong more often than they state where the " +
		"results " +
		"decide it (docs/explanation/stopping.md): until: {anytime: true} has valid intervals"
}

// A Stopping is the rule by which the cells of a run ended, and what came of it.
type Stopping struct {
	Rule
	Cells []Stopped `json:"cells"`
}

// The reasons for which a cell ends.
const (
	Precise = "precise" // the interval is narrow enough
	AtMost  = "max"     // it has had the most repetitions
)

// Stopped is what a rule came to in one cell.
type Stopped struct {
	Cell        int      `json:"cell"`
	Repetitions int      `json:"repetitions"`
	Stopped     string   `json:"stopped"`    // a reason; empty: the cell is not at its end
	HalfWidth   *float64 `json:"half_width"` // over the median; null: there is no interval
}

// Precision is how wide the interval is, in words.
func (s *Stopped) Precision() string {
	if s.HalfWidth == nil {
		return "no interval"
	}
	return Percent(*s.HalfWidth)
}

// Percent is a half-width in words.
func Percent(v float64) string {
	text := strconv.FormatFloat(100*v, 'g', 3, 64)
	if v >= 1 { // where that could give an exponent
		text = strconv.FormatFloat(100*v, 'f', 0, 64)
	}
	return "±" + text + " %"
}

// Finish derives the tables from the journal and writes the manifest. It serves
// for an interrupted run too, whose manifest says that it is not complete, and
// may be called again. A failure leaves the older tables as they were.
func (f *Folder) Finish(end End) (*Manifest, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.log.file == nil {
		return nil, f.failed
	}
	if err := f.files.present(f.log.file); err != nil {
		return nil, fault("results folder", err)
	}
	if f.log.header.folds() && f.log.fresh > 0 {
		if err := f.condense(); err != nil {
			f.failed = fault("journal", err)
			return nil, f.failed
		}
	}
	network, err := f.network(end.Network)
	if err != nil {
		return nil, fault("manifest", err)
	}
	end.Network = network
	t, err := f.derive(network)
	if err != nil {
		return nil, fault("tables", err)
	}
	defer t.discard()
	m, err := f.describe(end, t)
	if err != nil {
		return nil, fault("manifest", err)
	}
	b, err := seal(m)
	if err != nil {
		return nil, fmt.Errorf("manifest: %s: %w", f.dir, err)
	}
	for _, s := range t.all() {
		if err := s.file.publish(); err != nil {
			return nil, fault("tables", err)
		}
	}
	if err := putManifest(f.files, b); err != nil {
		return nil, err
	}
	f.manifest = m
	return m, nil
}

func putManifest(to store, b []byte) error {
	d, err := to.create(ManifestFile)
	if err == nil {
		err = put(d, b)
	}
	if err != nil {
		return fault("manifest", err)
	}
	if err := to.settle(); err != nil {
		return fault("results folder", err)
	}
	return nil
}

// Conclude adds the exit code of the command to the manifest that Finish has written, if it
// has.
func (f *Folder) Conclude(code int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.manifest == nil || f.log.file == nil {
		return nil
	}
	m := *f.manifest // whoever called Finish has the other
	f.manifest = &m
	return m.conclude(code, f.files)
}

// Conclude does so for a run that is written already.
func Conclude(dir string, code int) error {
	l, err := lock(dir)
	if err != nil {
		return fault("results folder", err)
	}
	defer func() { _ = unlock(l) }()
	m, err := ReadManifest(dir)
	if err != nil {
		return err
	}
	return m.conclude(code, &disk{dir})
}

func (m *Manifest) conclude(code int, in store) error {
	m.Exit = &code
	b, err := seal(m)
	if err != nil {
		return fault("manifest", err)
	}
	return putManifest(in, b)
}

// network is what this execution and those before it have measured of the network.
func (f *Folder) network(now *link.Matrix) (*link.Matrix, error) {
	var old Manifest
	b, err := f.files.read(ManifestFile, mostManifest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return now, nil
	case err != nil:
		return nil, err
	case json.Unmarshal(b, &old) != nil || old.Run != f.log.header.Run || old.Network == nil:
		return now, nil
	case now != nil:
		old.Network.Join(now)
	}
	return old.Network, nil
}

// recall takes over where the trials ran from the manifest that the folder has, if there is
// one.
func (f *Folder) recall(m *Manifest) {
	var old Manifest
	b, err := f.files.read(ManifestFile, mostManifest)
	if err != nil || json.Unmarshal(b, &old) != nil || old.Run != m.Run {
		return
	}
	m.Bus, m.Host, m.Hosts = old.Bus, old.Host, old.Hosts
	for _, w := range old.Workers {
		if !slices.ContainsFunc(m.Workers, func(o Worker) bool { return o.Host == w.Host }) {
			m.Workers = append(m.Workers, w)
		}
	}
	slices.SortFunc(m.Workers, func(a, b Worker) int { return strings.Compare(a.Host, b.Host) })
	if m.Costs == nil {
		m.Costs = old.Costs
		m.Handlers = old.Handlers
	}
}

// describe makes the manifest.
func (f *Folder) describe(end End, t *tables) (*Manifest, error) {
	h := &f.log.header
	m := &Manifest{
		Schema: Schema, Name: h.Name, Run: h.Run, Planned: h.Planned,
		Statuses: map[trace.Status]int{}, Attempts: f.log.taken,
		Started: stamp(h.Started), Finish: stamp(f.now()),
		Seed: h.Seed, Argv: nonNil(h.Argv), Overrides: append([]Override{}, h.Overrides...),
		Config: h.Config, Tool: thisTool(h),
		Machine: h.Machine, LoadThen: h.Load, LoadNow: LoadAverage(), Bus: end.Bus, Network: end.Network,
		Shard: h.Shard, Parts: h.Parts, Workers: slices.Clone(end.Workers),
		Stopping:    end.Stopping,
		Costs:       end.Costs,
		Handlers:    end.Handlers,
		Programs:    h.Programs,
		Traced:      f.log.traced(),
		Percentiles: stats.QuantileType,
		Intervals:   fmt.Sprintf("of the median, %s, 95 %%", h.Until.Method().Words()),
		Notes:       append(nonNil(f.notes), end.Notes...),
	}
	if m.Lines = f.log.tail.lines; m.Lines == m.Attempts+1 {
		m.Lines = 0
	}
	if end.Planned > 0 {
		m.Planned = end.Planned
	}
	switch {
	case len(h.Hosts) > 0:
		m.Hosts = end.Sites
	case len(end.Sites) > 0:
		m.Host = &end.Sites[0]
	}
	if end.Bus == nil && end.Sites == nil { // nothing ran: what is known of earlier executions stays
		f.recall(m)
	}
	if m.Bus == nil {
		m.Bus = map[string]any{}
	}
	if m.Shard != nil {
		m.Notes = append(m.Notes, m.Shard.Note())
	}
	if len(m.Parts) > 0 {
		m.LoadNow = "" // of the machine that merged, which measured nothing
	}
	for _, status := range trace.Statuses() {
		m.Statuses[status] = 0
	}
	for _, s := range f.log.last {
		m.Statuses[s.Status]++
		if h.final(s.Outcome) {
			m.Finished++
		}
	}
	m.Complete = m.Finished == m.Planned
	var err error
	m.Files, err = f.digests(t)
	return m, err
}

// digests hashes every file of the run: the tables as they were written, the
// others from the disk. What else lies in the folder, such as a report, is not its.
func (f *Folder) digests(t *tables) (map[string]string, error) {
	sums := map[string]string{}
	for _, s := range t.all() {
		sums[s.name] = s.digest()
	}
	names, err := f.files.traces()
	if err != nil {
		return nil, err
	}
	for _, name := range append(names, ConfigFile, JournalFile) {
		if sums[name], err = f.files.digest(name); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

// encode keeps the order of the fields and sorts the maps, so that one manifest
// has one encoding.
func encode(m *Manifest) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(m)
	return b.Bytes(), err
}

// selfKey is what stands in the encoding of a manifest before its own checksum.
const selfKey = `"manifest_sha256": "`

// seal encodes m with its own checksum.
func seal(m *Manifest) ([]byte, error) {
	m.Self = strings.Repeat("0", 2*sha256.Size)
	b, err := encode(m)
	if err != nil {
		return nil, err
	}
	m.Self = digest(b)
	return encode(m)
}

// sealed says whether b is a manifest as it was written.
func sealed(b []byte) bool {
	b = bytes.Clone(b)
	at := bytes.LastIndex(b, []byte(selfKey)) + len(selfKey)
	if at < len(selfKey) || len(b) < at+2*sha256.Size {
		return false
	}
	own := b[at : at+2*sha256.Size]
	want := string(own)
	copy(own, strings.Repeat("0", len(own)))
	return digest(b) == want
}

// ReadManifest returns the manifest of the run at path, which may be anything
// that Resolve takes, and checks it alone. A run that goes on or was killed may have
// none: the error is then fs.ErrNotExist.
func ReadManifest(path string) (*Manifest, error) {
	dir, err := Resolve(path)
	if err != nil {
		return nil, err
	}
	return readManifest(filepath.Join(dir, ManifestFile))
}

func readManifest(path string) (*Manifest, error) {
	b, err := files.Read(path, mostManifest)
	if err != nil {
		return nil, fault("manifest", err)
	}
	m := new(Manifest)
	bad, whole := json.Unmarshal(b, m), sealed(b)
	other := bad == nil && m.Schema != Schema
	switch {
	case other && (whole || m.Schema > Schema):
		return nil, fmt.Errorf("manifest: %s: schema version %d, expected %d; read it with the release that "+
			"wrote it, or restore it from a copy", path, m.Schema, Schema)
	case !whole:
		return nil, fmt.Errorf("manifest: %s was edited or damaged, or written by a build without "+
			"manifest_sha256: its checksum does not match; restore it from a copy; or remove it, and "+
			"%s derives it from the journal again", path, resuming(filepath.Dir(path)))
	case bad != nil:
		return nil, fmt.Errorf("manifest: %s: %w", path, bad)
	}
	return m, nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// nonNil makes an absent list an empty one, which JSON readers expect.
func nonNil(s []string) []string { return append([]string{}, s...) }
