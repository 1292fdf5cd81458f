package results

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Trace is what happened in a trial.
type Trace struct {
	Trial   int
	Attempt int
	Kinds   []string // names of the kinds that records of messages index
	Records trace.List
	End     time.Duration // of the trial; 0 in traces of versions that did not write it down
}

// traceHeader is the first line of a trace's file.
type traceHeader struct {
	Schema  int      `json:"schema_version"`
	Trial   int      `json:"trial"`
	Attempt int      `json:"attempt"`
	Kinds   []string `json:"kinds"`
}

// traceEnd is the last line: without it, the file is not whole.
type traceEnd struct {
	Records *int          `json:"records"` // lines between the first one and this
	End     time.Duration `json:"end_ns"`  // of the trial; files of versions before have none
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

// Heartbeat names the kind of the heartbeats of failure detectors.
const Heartbeat = "HEARTBEAT"

const (
	heartbeatKind  = 255 // of the detection plane
	detectionPlane = "detection"
)

// packedSuffix is of the traces that are compressed: those of trace.KeepFailures.
const packedSuffix = ".gz"

// traceName is what the trace of a trial is called in the manifest.
func traceName(trial int, packed bool) string {
	name := TracesDir + "/trial-" + strconv.Itoa(trial) + ".ndjson"
	if packed {
		name += packedSuffix
	}
	return name
}

// traceNames are all that a trace of a trial may be called.
func traceNames(trial int) []string { return []string{traceName(trial, false), traceName(trial, true)} }

// A TraceWriter puts a trace on disk while its trial runs, so that it may be larger
// than the memory. It is a trace.Sink. End it with Commit or Discard.
type TraceWriter struct {
	to    store
	file  draft
	pack  *gzip.Writer // nil: the file is not compressed
	out   *bufio.Writer
	lines *json.Encoder
	trial int
	kinds []string
	n     int
	err   error // the first
}

// NewTrace begins the trace of an attempt at a trial of the run in dir, out of the way
// of that of an earlier attempt. It is compressed if keep, the run's key trace, is trace.KeepFailures.
func NewTrace(dir, keep string, trial, attempt int, kinds []string) (*TraceWriter, error) {
	return newTrace(&disk{dir}, keep == trace.KeepFailures, trial, attempt, kinds)
}

// NewTrace begins the trace of an attempt at a trial, likewise.
func (f *Folder) NewTrace(trial, attempt int, kinds []string) (*TraceWriter, error) {
	return newTrace(f.files, f.Header().Trace == trace.KeepFailures, trial, attempt, kinds)
}

// DropTrace removes the trace of a trial, if it is that of an attempt.
func (f *Folder) DropTrace(trial, attempt int) error {
	old, err := f.ReadTrace(trial)
	if err != nil || old.Attempt != attempt {
		return nil
	}
	return notMeant(f.removeTrace(trial))
}

func (f *Folder) removeTrace(trial int) (err error) {
	for _, name := range traceNames(trial) {
		err = errors.Join(err, f.files.remove(name))
	}
	return err
}

// KeepTrace puts the trace of a trial, as TakeTrace gave it on another machine, in its place.
func (f *Folder) KeepTrace(trial int, data []byte) error {
	if _, err := parseTrace(data); err != nil {
		return fmt.Errorf("trial %d: trace: %w", trial, err)
	}
	file, err := f.files.create(traceName(trial, packed(data)))
	if err == nil {
		err = put(file, data)
	}
	if err != nil {
		return fmt.Errorf("trial %d: %w", trial, fault("trace", err))
	}
	return nil
}

// TakeTrace removes the trace of a trial and returns it; nil if none was kept.
func (f *Folder) TakeTrace(trial int) ([]byte, error) {
	data, err := anyTrace(f.files, trial)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("trial %d: %w", trial, fault("trace", err))
	}
	return data, notMeant(f.removeTrace(trial))
}

// SweepTraces removes what a run left that was killed: the halves of traces, and those that are kept no more.
func (f *Folder) SweepTraces() error {
	err := f.files.sweep()
	if f.log == nil || f.log.header.Trace != trace.KeepFailures {
		return notMeant(err)
	}
	names, bad := f.files.traces()
	err = errors.Join(err, bad)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range names {
		trial, _ := traceOf(name)
		if _, judged := f.log.last[trial]; judged && !f.log.firsts.keeps(trial) {
			err = errors.Join(err, f.files.remove(name))
		}
	}
	return notMeant(err)
}

func notMeant(err error) error {
	if err != nil {
		return fmt.Errorf("remove a trace that is no longer meant: %w", err)
	}
	return nil
}

func newTrace(to store, packed bool, trial, attempt int, kinds []string) (*TraceWriter, error) {
	file, err := to.create(traceName(trial, packed))
	if err != nil {
		return nil, fault("trace", err)
	}
	w := &TraceWriter{to: to, file: file, trial: trial, kinds: kinds}
	var out io.Writer = file
	if packed {
		w.pack = gzip.NewWriter(file)
		out = w.pack
	}
	w.out = bufio.NewWriterSize(out, 64<<10)
	w.lines = json.NewEncoder(w.out)
	w.err = w.lines.Encode(traceHeader{Schema: Schema, Trial: trial, Attempt: attempt, Kinds: nonNil(kinds)})
	return w, nil
}

// Record writes r down. Commit says if that failed.
func (w *TraceWriter) Record(r *trace.Record) {
	if w.err == nil {
		w.err = w.lines.Encode(lineOf(r, w.kinds))
		w.n++
	}
}

// Len is how many records were written down.
func (w *TraceWriter) Len() int { return w.n }

// Commit puts the trace of a trial that ended then in its place, where that of an earlier attempt may be.
func (w *TraceWriter) Commit(end time.Duration) error {
	defer w.file.discard()
	err := w.err
	if err == nil {
		err = w.lines.Encode(traceEnd{&w.n, end})
	}
	if err == nil {
		err = w.out.Flush()
	}
	if err == nil && w.pack != nil {
		err = w.pack.Close()
	}
	if err == nil {
		err = w.file.publish()
	}
	if err == nil { // of a build that wrote it the other way
		err = w.to.remove(traceName(w.trial, w.pack == nil))
	}
	if err != nil {
		return fmt.Errorf("trial %d: %w", w.trial, fault("trace", err))
	}
	return nil
}

// Discard leaves nothing of the trace.
func (w *TraceWriter) Discard() { w.file.discard() }

func lineOf(r *trace.Record, kinds []string) *traceLine {
	l := &traceLine{
		At: r.At, Type: r.Type.String(), Process: r.Process, Incarnation: r.Incarnation, Peer: r.Peer,
		Seq: r.Seq, Copy: r.Copy, Bytes: r.Bytes, Depth: r.Depth, Arg: r.Arg, Omitted: r.Omitted,
		Text: r.Text,
	}
	if r.Type == trace.Save {
		l.Text = hex.EncodeToString([]byte(r.Text)) // encoded by the algorithm's codec: any bytes
	}
	if !r.Type.IsMessage() {
		return l
	}
	l.Sent, l.Due = &r.Sent, &r.Due
	if r.Plane == trace.Detection {
		l.Plane = detectionPlane
	}
	switch {
	case r.Plane == trace.Detection && r.Kind == heartbeatKind:
		l.Kind = Heartbeat
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
	return readTrace(&disk{w.dir}, w.dir, trial)
}

// ReadTrace returns the trace of a trial as it lies in the folder, of whatever attempt.
func (f *Folder) ReadTrace(trial int) (*Trace, error) { return readTrace(f.files, f.dir, trial) }

// trace holds the trace of a trial against the manifest, if that is of the journal.
func (w *whole) trace(trial int) error {
	if !w.current {
		return nil
	}
	for _, name := range traceNames(trial) {
		path := filepath.Join(w.dir, filepath.FromSlash(name))
		if _, err := os.Lstat(path); err != nil && w.manifest.Files[name] == "" {
			continue // none was kept
		}
		err := w.manifest.vouches(name, path)
		if err != nil && !w.manifest.Complete {
			return fmt.Errorf("%w; if the run was killed, %s continues it", err, resuming(w.dir))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// traceOf is the trial of a name in a manifest, if that is the name of a trace.
func traceOf(name string) (trial int, ok bool) {
	number, isTrace := strings.CutPrefix(name, TracesDir+"/trial-")
	number, isFile := strings.CutSuffix(strings.TrimSuffix(number, packedSuffix), ".ndjson")
	trial, err := strconv.Atoi(number)
	return trial, isTrace && isFile && err == nil && strconv.Itoa(trial) == number
}

func readTrace(from store, dir string, trial int) (*Trace, error) {
	b, err := anyTrace(from, trial)
	if err != nil {
		return nil, fault("trace", err)
	}
	t, err := parseTrace(b)
	if err != nil {
		path := filepath.Join(dir, filepath.FromSlash(traceName(trial, packed(b))))
		return nil, fmt.Errorf("trace: %s: %w", path, err)
	}
	return t, nil
}

// anyTrace is the file of the trace of a trial, whatever it is called. The error is fs.ErrNotExist where
// there is none.
func anyTrace(from store, trial int) (b []byte, err error) {
	for _, name := range traceNames(trial) {
		if b, err = from.read(name, mostTrace); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return b, err
}

// packed says whether the file of a trace is compressed.
func packed(b []byte) bool { return bytes.HasPrefix(b, []byte("\x1f\x8b")) }

// unpack returns the lines of a trace.
func unpack(b []byte) ([]byte, error) {
	if !packed(b) {
		return b, nil
	}
	in, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	b, err = io.ReadAll(io.LimitReader(in, mostTrace+1))
	if err == nil && len(b) > mostTrace {
		err = fmt.Errorf("larger than %d MiB", mostTrace/files.MiB)
	}
	return b, err
}

func parseTrace(b []byte) (*Trace, error) {
	b, err := unpack(b)
	if err != nil {
		return nil, err
	}
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
		return nil, fmt.Errorf("schema version %d, expected %d; read it with the release that wrote it",
			h.Schema, Schema)
	}
	t := &Trace{Trial: h.Trial, Attempt: h.Attempt, Kinds: h.Kinds}
	var l struct { // a record, or the end
		traceLine
		traceEnd
	}
	for l.traceEnd.Records == nil && in.Scan() {
		l.traceLine = traceLine{}
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("record %d: %w", len(t.Records)+1, err)
		}
		if l.traceEnd.Records != nil {
			t.End = l.traceEnd.End
			break
		}
		r, err := l.record(h.Kinds)
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", len(t.Records)+1, err)
		}
		t.Records = append(t.Records, r)
	}
	switch {
	case in.Err() != nil:
		return nil, in.Err()
	case l.traceEnd.Records == nil || b[len(b)-1] != '\n' || in.Scan():
		return nil, fmt.Errorf("%w: %d records and no end", errGuard, len(t.Records))
	case *l.traceEnd.Records != len(t.Records):
		return nil, fmt.Errorf("%w: %d records, expected %d", errGuard, len(t.Records), *l.traceEnd.Records)
	}
	return t, nil
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
	if !r.Type.IsMessage() {
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
	if l.Kind == Heartbeat && r.Plane == trace.Detection {
		kind = heartbeatKind
	}
	if kind < 0 {
		return r, fmt.Errorf("unknown kind %q", l.Kind)
	}
	r.Kind = uint8(kind)
	return r, nil
}
