package results

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/files"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Trace is what happened in a trial.
type Trace struct {
	Trial   int
	Attempt int
	Kinds   []string // names of the kinds that records of messages index
	Records trace.List
}

// traceHeader is the first line of a trace's file.
type traceHeader struct {
	Schema  int      `json:"schema_version"`
	Trial   int      `json:"trial"`
	Attempt int      `json:"attempt"`
	Records int      `json:"records"` // lines after this one
	Kinds   []string `json:"kinds"`
}

// traceLine is a record as it stands in the file. Instants are whole
// nanoseconds since the common start, so that nothing is rounded.
type traceLine struct {
	At          time.Duration  `json:"at_ns"`
	Type        string         `json:"type"`
	Process     uint32         `json:"process,omitempty"`
	Incarnation uint32         `json:"incarnation,omitempty"`
	Peer        uint32         `json:"peer,omitempty"`
	Kind        string         `json:"kind,omitempty"`
	Plane       string         `json:"plane,omitempty"` // empty: the algorithm's
	Seq         uint64         `json:"seq,omitempty"`
	Copy        uint8          `json:"copy,omitempty"`
	Sent        *time.Duration `json:"sent_ns,omitempty"`
	Due         *time.Duration `json:"due_ns,omitempty"`
	Bytes       uint32         `json:"bytes,omitempty"`
	Depth       uint32         `json:"depth,omitempty"`
	Arg         uint64         `json:"arg,omitempty"`
	Omitted     bool           `json:"omitted,omitempty"`
	Text        string         `json:"text,omitempty"`
}

const (
	heartbeat      = "HEARTBEAT" // the kind 255 of the detection plane
	heartbeatKind  = 255
	detectionPlane = "detection"
)

func tracePath(dir string, trial int) string {
	return filepath.Join(dir, TracesDir, "trial-"+strconv.Itoa(trial)+".ndjson")
}

// isMessage says whether records of type t are about a message.
func isMessage(t trace.Type) bool { return t >= trace.Send && t <= trace.Undelivered }

// WriteTrace puts the trace of a trial in place of the trace of an earlier
// attempt.
func (f *Folder) WriteTrace(t Trace) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	err := enc.Encode(traceHeader{
		Schema: Schema, Trial: t.Trial, Attempt: t.Attempt, Records: len(t.Records),
		Kinds: nonNil(t.Kinds),
	})
	for i := range t.Records {
		err = errors.Join(err, enc.Encode(lineOf(&t.Records[i], t.Kinds)))
	}
	if err != nil {
		return fmt.Errorf("trace: trial %d: %w", t.Trial, err)
	}
	// Mkdir, not MkdirAll: a run whose folder vanished must not come back.
	if err := os.Mkdir(f.path(TracesDir), 0o755); err != nil && !os.IsExist(err) {
		return fault("trace", err)
	}
	if err := writeFile(tracePath(f.dir, t.Trial), out.Bytes()); err != nil {
		return fault("trace", err)
	}
	return nil
}

func lineOf(r *trace.Record, kinds []string) *traceLine {
	l := &traceLine{
		At: r.At, Type: r.Type.String(), Process: r.Process, Incarnation: r.Incarnation, Peer: r.Peer,
		Seq: r.Seq, Copy: r.Copy, Bytes: r.Bytes, Depth: r.Depth, Arg: r.Arg, Omitted: r.Omitted,
		Text: r.Text,
	}
	if r.Type == trace.Save {
		l.Text = hex.EncodeToString([]byte(r.Text)) // encoded by the algorithm's codec: any bytes
	}
	if !isMessage(r.Type) {
		return l
	}
	l.Sent, l.Due = &r.Sent, &r.Due
	if r.Plane == trace.Detection {
		l.Plane = detectionPlane
	}
	switch {
	case r.Plane == trace.Detection && r.Kind == heartbeatKind:
		l.Kind = heartbeat
	case int(r.Kind) < len(kinds):
		l.Kind = kinds[r.Kind]
	}
	return l
}

// ReadTrace returns the trace of a trial of the run at path, which may be
// anything that Resolve takes, and is whole. The error is fs.ErrNotExist where none was kept.
func ReadTrace(path string, trial int) (*Trace, error) {
	w, err := inspect(path)
	if err != nil {
		return nil, err
	}
	if err := w.trace(trial); err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	return readTrace(w.dir, trial)
}

// ReadTrace returns the trace of a trial as it lies in the folder, of whatever attempt.
func (f *Folder) ReadTrace(trial int) (*Trace, error) { return readTrace(f.dir, trial) }

// trace holds the trace of a trial against the manifest, if that is of the journal.
func (w *whole) trace(trial int) error {
	if !w.current {
		return nil
	}
	path := tracePath(w.dir, trial)
	name := TracesDir + "/" + filepath.Base(path)
	if _, err := os.Lstat(path); err != nil && w.manifest.Files[name] == "" {
		return nil // none was kept
	}
	err := w.manifest.vouches(name, path)
	if err != nil && !w.manifest.Complete {
		return fmt.Errorf("%w; if the run was killed, bench run --resume %s goes on with it", err, w.dir)
	}
	return err
}

// traceOf is the trial of a name in a manifest, if that is the name of a trace.
func traceOf(name string) (trial int, ok bool) {
	number, isTrace := strings.CutPrefix(name, TracesDir+"/trial-")
	number, isFile := strings.CutSuffix(number, ".ndjson")
	trial, err := strconv.Atoi(number)
	return trial, isTrace && isFile && err == nil && strconv.Itoa(trial) == number
}

func readTrace(dir string, trial int) (*Trace, error) {
	name := tracePath(dir, trial)
	b, err := files.Read(name, mostTrace)
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
	in := bufio.NewScanner(bytes.NewReader(b))
	in.Buffer(nil, 1<<20)
	var h traceHeader
	if !in.Scan() {
		return nil, errGuard
	}
	if err := json.Unmarshal(in.Bytes(), &h); err != nil {
		return nil, err
	}
	if h.Schema != Schema {
		return nil, fmt.Errorf("schema version %d, want %d; read it with the release that wrote it",
			h.Schema, Schema)
	}
	t := &Trace{Trial: h.Trial, Attempt: h.Attempt, Kinds: h.Kinds}
	for in.Scan() {
		var l traceLine
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("record %d: %w", len(t.Records)+1, err)
		}
		r, err := l.record(h.Kinds)
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", len(t.Records)+1, err)
		}
		t.Records = append(t.Records, r)
	}
	if len(t.Records) != h.Records || b[len(b)-1] != '\n' {
		return nil, fmt.Errorf("%w: %d records, want %d", errGuard, len(t.Records), h.Records)
	}
	return t, in.Err()
}

func (l *traceLine) record(kinds []string) (trace.Record, error) {
	r := trace.Record{
		At: l.At, Process: l.Process, Incarnation: l.Incarnation, Peer: l.Peer, Seq: l.Seq,
		Copy: l.Copy, Bytes: l.Bytes, Depth: l.Depth, Arg: l.Arg, Omitted: l.Omitted, Text: l.Text,
	}
	var known bool
	if r.Type, known = trace.TypeOf(l.Type); !known {
		return r, fmt.Errorf("unknown type %q", l.Type)
	}
	if r.Type == trace.Save {
		b, err := hex.DecodeString(l.Text)
		if err != nil {
			return r, err
		}
		r.Text = string(b)
	}
	if !isMessage(r.Type) {
		return r, nil
	}
	if l.Sent == nil || l.Due == nil {
		return r, errors.New("a message without sent_ns or due_ns")
	}
	r.Sent, r.Due = *l.Sent, *l.Due
	if l.Plane == detectionPlane {
		r.Plane = trace.Detection
	}
	kind := slices.Index(kinds, l.Kind)
	if l.Kind == heartbeat && r.Plane == trace.Detection {
		kind = heartbeatKind
	}
	if kind < 0 {
		return r, fmt.Errorf("unknown kind %q", l.Kind)
	}
	r.Kind = uint8(kind)
	return r, nil
}
