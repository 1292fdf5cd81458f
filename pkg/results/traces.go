package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Trace is what happened in a trial.
type Trace struct {
	Trial   int
	Attempt int
	Kinds   []string // names of the kinds that records of messages index
	Lines   []string // texts of the Log records, in their order
	Records trace.List
}

// traceHeader is the first line of a trace's file.
type traceHeader struct {
	Schema  int      `json:"schema_version"`
	Trial   int      `json:"trial"`
	Attempt int      `json:"attempt"`
	Records int      `json:"records"` // of trace.Size bytes each, after this line
	Sum     string   `json:"crc32c"`  // of them
	Kinds   []string `json:"kinds"`
	Lines   []string `json:"lines"`
}

func tracePath(dir string, trial int) string {
	return filepath.Join(dir, TracesDir, "trial-"+strconv.Itoa(trial)+".trace")
}

// WriteTrace puts the trace of a trial in place of the trace of an earlier
// attempt.
func (f *Folder) WriteTrace(t Trace) error {
	body := make([]byte, trace.Size*len(t.Records))
	for i := range t.Records {
		t.Records[i].Put(body[i*trace.Size:])
	}
	head, err := json.Marshal(traceHeader{
		Schema: Schema, Trial: t.Trial, Attempt: t.Attempt, Records: len(t.Records),
		Sum:   fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli)),
		Kinds: nonNil(t.Kinds), Lines: nonNil(t.Lines),
	})
	if err != nil {
		return fmt.Errorf("trace: trial %d: %w", t.Trial, err)
	}
	// Mkdir, not MkdirAll: a run whose folder vanished must not come back.
	if err := os.Mkdir(f.path(TracesDir), 0o755); err != nil && !os.IsExist(err) {
		return fault("trace", err)
	}
	err = writeFile(tracePath(f.dir, t.Trial), append(append(head, '\n'), body...))
	if err != nil {
		return fault("trace", err)
	}
	return nil
}

// ReadTrace returns the trace of a trial of the run at path, which may be
// anything that Resolve takes. The error is fs.ErrNotExist where none was kept.
func ReadTrace(path string, trial int) (*Trace, error) {
	dir, err := Resolve(path)
	if err != nil {
		return nil, err
	}
	name := tracePath(dir, trial)
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, fault("trace", err)
	}
	t, err := parseTrace(b)
	if err != nil {
		return nil, fmt.Errorf("trace: %s: %w", name, err)
	}
	return t, nil
}

func parseTrace(b []byte) (*Trace, error) {
	line, body, _ := bytes.Cut(b, []byte("\n"))
	var h traceHeader
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, err
	}
	if h.Schema != Schema {
		return nil, fmt.Errorf("schema version %d, want %d; read it with the release that wrote it",
			h.Schema, Schema)
	}
	sum := fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli))
	if len(body)%trace.Size != 0 || len(body)/trace.Size != h.Records || sum != h.Sum {
		return nil, fmt.Errorf("%w: %d bytes of records, want %d records", errGuard, len(body), h.Records)
	}
	t := &Trace{Trial: h.Trial, Attempt: h.Attempt, Kinds: h.Kinds, Lines: h.Lines,
		Records: make(trace.List, h.Records)}
	for i := range t.Records {
		if err := t.Records[i].Get(body[i*trace.Size:]); err != nil {
			return nil, fmt.Errorf("record %d: %w", i+1, err)
		}
	}
	return t, nil
}
