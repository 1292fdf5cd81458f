package results

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/worlds/guest"
)

// A Header is the first entry of a journal: what the run is. The caller of
// Create fills the first part; Create fills the rest.
type Header struct {
	Name    string   `json:"name"`    // of the experiment: its folder
	Planned int      `json:"planned"` // trials
	Retries int      `json:"retries"` // of an invalid trial
	Seed    uint64   `json:"seed"`
	Design  []string `json:"design"`  // columns, DesignColumns first
	Metrics []string `json:"metrics"` // columns, in the order of the tables
	Argv    []string `json:"argv"`
	Version string   `json:"version,omitempty"` // of the tool; empty: that of the module
	// Overrides say what did not come from the experiment file.
	Overrides []Override `json:"overrides,omitempty"`
	Host      []string   `json:"host,omitempty"`  // command of the host program; none: this one was the host
	Hosts     []string   `json:"hosts,omitempty"` // names of those that each trial is spread over
	Shard     *Shard     `json:"shard,omitempty"`
	Until     *Rule      `json:"until,omitempty"` // nil: no trial decides how many there are
	// Trace is of which trials the records are kept; "": as trace.KeepAll, in runs of older versions.
	Trace string `json:"trace,omitempty"`
	// Keep is trace.KeepSummary if trials are folded, and else "".
	Keep string `json:"keep,omitempty"`
	// Queue is the name of the run in a queue, whose workers run the trials; "": they ran here.
	Queue string `json:"queue,omitempty"`
	// Simulated says that the trials are the same on every platform.
	Simulated bool `json:"simulated,omitempty"`
	// Named says that every row names the machine of its trial, which may be any.
	Named bool `json:"named,omitempty"`

	// Programs are the algorithms that are not in the program that ran them, by ID.
	Programs map[string]guest.Origin `json:"programs,omitempty"`

	Schema  int       `json:"schema_version"`
	Run     string    `json:"run"`              // id: its folder within the experiment's
	Config  string    `json:"config_sha256"`    // of ConfigFile
	Binary  string    `json:"binary_sha256"`    // of the running program; empty if unreadable
	Source  string    `json:"source,omitempty"` // what it was built from, as in Tool
	Started time.Time `json:"started"`
	Machine Machine   `json:"machine"`
	Load    string    `json:"load_average,omitempty"` // over 1, 5 and 15 minutes, at the start
	Parts   []Part    `json:"shards,omitempty"`       // of a run that was merged: what it was merged from
}

// hosts says whether the trials name their machines.
func (h *Header) hosts() bool {
	return h.Named || h.Where() != "" || len(h.Parts) > 0 && h.Parts[0].Host != ""
}

// tool identifies the program that began the run.
func (h *Header) tool() Tool { return Tool{Source: h.Source, Binary: h.Binary} }

// Where is what the column host says of a trial of this run; "" without the column.
func (h *Header) Where() string {
	if h.Shard != nil && h.Shard.Host != "" {
		return h.Shard.Host
	}
	return strings.Join(h.Hosts, "+")
}

// An Override is a value that went over that of the experiment file.
type Override struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	From  string `json:"from"` // "--set", "--transport" or "environment CONCLAVE_NODES"
}

// An entry is what one line of the journal guards. Seq counts the lines from 1.
// Synced is how many of them were known to be on disk when this one was
// written: damage to any of those is a damaged disk, whereas lines beyond the
// last known sync may be missing, or there in part, after a crash.
type entry struct {
	Seq    int             `json:"seq"`
	Synced int             `json:"synced"`
	Header json.RawMessage `json:"header,omitempty"`
	Trial  json.RawMessage `json:"trial,omitempty"`
	Block  []byte          `json:"block,omitempty"` // several attempts, see encodeBlock
	Fold   []byte          `json:"fold,omitempty"`  // what is kept of trials of a cell, see Fold
}

// heads is what the index needs of the attempts of the entry.
func (e *entry) heads() ([]head, error) {
	switch {
	case e.Trial != nil:
		h, err := headOf(e.Trial)
		return []head{h}, err
	case e.Block != nil:
		return headsOf(e.Block)
	}
	return nil, errors.New("neither header nor trial")
}

// attempts are those of the entry, for a run with these columns of the design.
func (e *entry) attempts(design []string) ([]Trial, error) {
	switch {
	case e.Trial != nil:
		t, err := DecodeTrial(e.Trial, design)
		if err != nil {
			return nil, err
		}
		return []Trial{*t}, nil
	case e.Block != nil:
		return decodeBlock(e.Block, design)
	}
	return nil, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const (
	guardOpen  = `{"crc":"`
	guardLen   = `","len":`
	guardEntry = `,"entry":`
)

// appendLine appends to b the line of payload, an encoded entry: one JSON
// object that carries the payload's length and CRC-32C, so that a line cut
// short, which might read as a smaller number, is known for what it is.
func appendLine(b, payload []byte) []byte {
	b = fmt.Appendf(b, "%s%08x%s%d%s", guardOpen, crc32.Checksum(payload, castagnoli), guardLen,
		len(payload), guardEntry)
	b = append(b, payload...)
	return append(b, '}', '\n')
}

var errGuard = errors.New("length or checksum does not agree")

// parseLine is the inverse of appendLine.
func parseLine(line []byte) (*entry, error) {
	rest, ok := bytes.CutPrefix(line, []byte(guardOpen))
	if !ok || len(rest) < 8 {
		return nil, errGuard
	}
	sum, err := strconv.ParseUint(string(rest[:8]), 16, 32)
	if err != nil {
		return nil, errGuard
	}
	rest, ok = bytes.CutPrefix(rest[8:], []byte(guardLen))
	if !ok {
		return nil, errGuard
	}
	size, rest, ok := bytes.Cut(rest, []byte(guardEntry))
	if !ok {
		return nil, errGuard
	}
	payload, ok := bytes.CutSuffix(rest, []byte("}\n"))
	if !ok || string(size) != strconv.Itoa(len(payload)) ||
		uint64(crc32.Checksum(payload, castagnoli)) != sum {
		return nil, errGuard
	}
	e := new(entry)
	if err := json.Unmarshal(payload, e); err != nil {
		return nil, err
	}
	return e, nil
}

// A position is where a line of the journal stands, in bytes.
type position struct{ at, size int64 }

// A tail is what scan found behind the last good line.
type tail struct {
	end   int64 // of the last good line
	lines int   // good ones
	torn  int64 // bytes after it, of a write that a crash cut short
}

// scan hands every good line of a journal to visit, in order. A torn tail ends
// the scan without an error; damage before it is one.
func scan(r io.Reader, visit func(*entry, position) error) (tail, error) {
	var t tail
	in := bufio.NewReaderSize(files.Lines(r, mostLine), 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return t, err
		}
		if len(line) == 0 {
			return t, nil
		}
		e, bad := parseLine(line)
		if bad != nil {
			t.torn, err = rest(in, line, t)
			return t, err
		}
		if e.Seq != t.lines+1 {
			return t, fmt.Errorf("line %d: numbered %d: lines are missing or "+
				"repeated; restore the file from a copy", t.lines+1, e.Seq)
		}
		at := position{t.end, int64(len(line))}
		t.lines++
		t.end += at.size
		if err := visit(e, at); err != nil {
			return t, fmt.Errorf("line %d: %w", t.lines, err)
		}
	}
}

// rest reads on from the bad line that follows t, and returns how many bytes
// that and what follows are. It is an error if they cannot be a torn tail:
// because a later line knew the bad one to be on disk.
func rest(in *bufio.Reader, bad []byte, t tail) (int64, error) {
	size := int64(len(bad))
	for {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return size, err
		}
		if len(line) == 0 {
			return size, nil
		}
		size += int64(len(line))
		if e, err := parseLine(line); err == nil && e.Synced > t.lines {
			return size, fmt.Errorf("line %d: damaged in the middle of the file, at byte %d: "+
				"%w; restore the file from a copy", t.lines+1, t.end, errGuard)
		}
	}
}
