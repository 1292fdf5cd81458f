package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A record is a Trial as the journal holds it. JSON has no NaN: a figure that
// is not finite is null. Names of design columns stand in the header alone, and
// operations by column, since a trial may have tens of thousands of them.
type record struct {
	Trial         int            `json:"trial"`
	Status        trace.Status   `json:"status"`
	Attempts      int            `json:"attempts"`
	Cell          int            `json:"cell"`
	Repetition    int            `json:"repetition"`
	Round         int            `json:"round,omitempty"` // 0: the first
	RunOrder      int            `json:"run_order"`
	Seed          uint64         `json:"seed"`
	Host          string         `json:"host,omitempty"`
	Design        []string       `json:"design"`
	Reason        string         `json:"reason,omitempty"`
	InModel       bool           `json:"in_model"`
	Operations    int            `json:"operations"`
	Completed     int            `json:"completed"`
	DurationMS    number         `json:"duration_ms"`
	Messages      int64          `json:"messages"`
	Delivered     int64          `json:"delivered"`
	Lost          int64          `json:"lost"`
	Duplicated    int64          `json:"duplicated"`
	Undeliverable int64          `json:"undeliverable"`
	Bytes         int64          `json:"bytes"`
	Detector      int64          `json:"detector_messages"`
	Unseen        bool           `json:"unseen,omitempty"`
	LateShare     number         `json:"late_share"`
	SchedDelayP99 number         `json:"sched_delay_p99_ms"`
	Metrics       []metricRecord `json:"metrics,omitempty"`
	Kinds         []kindRecord   `json:"kinds,omitempty"`
	Ops           *opsRecord     `json:"operation_columns,omitempty"`
	Outages       *outagesRecord `json:"outage_columns,omitempty"`
}

type metricRecord struct {
	Name  string `json:"name"`
	Value number `json:"value"`
}

type kindRecord struct {
	Name      string `json:"kind"`
	Sent      int64  `json:"sent"`
	Delivered int64  `json:"delivered"`
	Lost      int64  `json:"lost"`
	Bytes     int64  `json:"bytes"`
}

type opsRecord struct {
	Process []uint32         `json:"process"`
	Cause   numbers          `json:"cause_ms"`
	Begin   numbers          `json:"begin_ms"`
	End     numbers          `json:"end_ms"`
	Status  []trace.Progress `json:"status"`
	Origin  []trace.Origin   `json:"cause,omitempty"` // of elections
	Phase   numbers          `json:"phase,omitempty"` // of those that have one; 0: this one has none
}

type outagesRecord struct {
	Spec       string           `json:"spec,omitempty"` // the definition that the Spec names, if it has some
	Definition []string         `json:"definition"`
	Begin      numbers          `json:"begin_ms"`
	Cause      numbers          `json:"cause_ms"`
	End        numbers          `json:"end_ms"`
	Status     []trace.Progress `json:"status"`
	Origin     []trace.Origin   `json:"cause"`
	Operation  []int            `json:"operation"`
}

// packOutages makes columns of outages; nil of none.
func packOutages(outages []trace.Outage) *outagesRecord {
	if len(outages) == 0 {
		return nil
	}
	r := new(outagesRecord)
	for i := range outages {
		o := &outages[i]
		if o.Spec {
			r.Spec = o.Definition
		}
		r.Definition = append(r.Definition, o.Definition)
		r.Begin, r.Cause = append(r.Begin, inMS(o.Begin)), append(r.Cause, inMS(o.Cause))
		r.End, r.Status = append(r.End, inMS(o.End)), append(r.Status, o.Status)
		r.Origin, r.Operation = append(r.Origin, o.Origin), append(r.Operation, o.Operation)
	}
	return r
}

// unpack is the inverse of packOutages.
func (r *outagesRecord) unpack() ([]trace.Outage, error) {
	if r == nil {
		return nil, nil
	}
	n := len(r.Definition)
	if len(r.Begin) != n || len(r.Cause) != n || len(r.End) != n || len(r.Status) != n ||
		len(r.Origin) != n || len(r.Operation) != n {
		return nil, errors.New("columns of outages differ in length")
	}
	out := make([]trace.Outage, n)
	for i := range out {
		out[i] = trace.Outage{Definition: r.Definition[i], Spec: r.Definition[i] == r.Spec,
			Begin: instant(r.Begin[i]), Cause: instant(r.Cause[i]), End: instant(r.End[i]),
			Origin: r.Origin[i], Status: r.Status[i], Operation: r.Operation[i]}
	}
	return out, nil
}

// pack makes a record of t, with its texts cleaned.
func pack(t *Trial) *record {
	r := &record{
		Trial: t.Trial, Status: t.Status, Attempts: t.Attempts,
		Cell: t.Cell, Repetition: t.Repetition, Round: t.Round, RunOrder: t.RunOrder, Seed: t.Seed,
		Host:   clean(t.Host),
		Design: make([]string, len(t.Design)), Reason: clean(t.Reason), InModel: t.InModel,
		Operations: t.Operations, Completed: t.Completed, DurationMS: number(t.DurationMS),
		Messages: t.Messages, Delivered: t.Delivered, Lost: t.Lost, Duplicated: t.Duplicated,
		Undeliverable: t.Undeliverable, Bytes: t.Bytes, Detector: t.DetectorMessages,
		Unseen:    t.Unseen,
		LateShare: number(t.LateShare), SchedDelayP99: number(t.SchedDelayP99MS),
	}
	for i, f := range t.Design {
		r.Design[i] = clean(f.Value)
	}
	for _, m := range t.Metrics {
		r.Metrics = append(r.Metrics, metricRecord{m.Name, number(m.Value)})
	}
	for _, k := range t.Kinds {
		k.Name = clean(k.Name)
		r.Kinds = append(r.Kinds, kindRecord(k))
	}
	r.Outages = packOutages(t.Outages)
	if n := len(t.Ops); n > 0 {
		r.Ops = &opsRecord{make([]uint32, n), make(numbers, n), make(numbers, n), make(numbers, n),
			make([]trace.Progress, n), nil, nil}
		if t.Ops[0].Origin != "" {
			r.Ops.Origin = make([]trace.Origin, n)
		}
		if slices.ContainsFunc(t.Ops, func(o trace.Operation) bool { return o.Phase > 0 }) {
			r.Ops.Phase = make(numbers, n)
		}
		for i, o := range t.Ops {
			if r.Ops.Phase != nil {
				r.Ops.Phase[i] = o.Phase
			}
			r.Ops.Process[i], r.Ops.Status[i] = o.Process, o.Status
			if r.Ops.Origin != nil {
				r.Ops.Origin[i] = o.Origin
			}
			r.Ops.Cause[i], r.Ops.Begin[i], r.Ops.End[i] = inMS(o.Cause), inMS(o.Begin), inMS(o.End)
		}
	}
	return r
}

// EncodeTrial is an attempt as JSON, as it stands in a journal.
func EncodeTrial(t *Trial) ([]byte, error) { return json.Marshal(pack(t)) }

// DecodeTrial is the attempt that EncodeTrial has encoded, for a run with these columns of
// the design.
func DecodeTrial(data []byte, design []string) (*Trial, error) {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, err
	}
	return r.unpack(design)
}

// unpack makes a Trial of r, naming its design after the header's columns.
func (r *record) unpack(design []string) (*Trial, error) {
	t := &Trial{
		Trial: r.Trial, Status: r.Status, Attempts: r.Attempts,
		Cell: r.Cell, Repetition: r.Repetition, Round: max(r.Round, 1), RunOrder: r.RunOrder, Seed: r.Seed,
		Host:   r.Host,
		Design: make([]metric.Field, len(design)), Reason: r.Reason, InModel: r.InModel,
		Operations: r.Operations, Completed: r.Completed, DurationMS: float64(r.DurationMS),
		Messages: r.Messages, Delivered: r.Delivered, Lost: r.Lost, Duplicated: r.Duplicated,
		Undeliverable: r.Undeliverable, Bytes: r.Bytes, DetectorMessages: r.Detector,
		Unseen:    r.Unseen,
		LateShare: float64(r.LateShare), SchedDelayP99MS: float64(r.SchedDelayP99),
	}
	if len(r.Design) != len(design) {
		return nil, fmt.Errorf("trial %d: %d design values, want %d", r.Trial, len(r.Design), len(design))
	}
	for i, name := range design {
		t.Design[i] = metric.Field{Name: name, Value: r.Design[i]}
	}
	for _, m := range r.Metrics {
		t.Metrics = append(t.Metrics, metric.Value{Name: m.Name, Value: float64(m.Value)})
	}
	for _, k := range r.Kinds {
		t.Kinds = append(t.Kinds, trace.MessageCount(k))
	}
	var err error
	if t.Outages, err = r.Outages.unpack(); err != nil {
		return nil, fmt.Errorf("trial %d: %w", r.Trial, err)
	}
	o := r.Ops
	if o == nil {
		return t, nil
	}
	n := len(o.Process)
	if len(o.Cause) != n || len(o.Begin) != n || len(o.End) != n || len(o.Status) != n ||
		len(o.Origin) != n && o.Origin != nil || len(o.Phase) != n && o.Phase != nil {
		return nil, fmt.Errorf("trial %d: columns of operations differ in length", r.Trial)
	}
	t.Ops = make([]trace.Operation, n)
	for i := range t.Ops {
		t.Ops[i] = trace.Operation{Process: o.Process[i], Status: o.Status[i],
			Cause: instant(o.Cause[i]), Begin: instant(o.Begin[i]), End: instant(o.End[i])}
		if o.Origin != nil {
			t.Ops[i].Origin = o.Origin[i]
		}
		if o.Phase != nil {
			t.Ops[i].Phase = o.Phase[i]
		}
	}
	return t, nil
}

// A number is a float64 whose NaN is null.
type number float64

// MarshalJSON implements json.Marshaler.
func (v number) MarshalJSON() ([]byte, error) { return appendNumber(nil, float64(v)), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (v *number) UnmarshalJSON(b []byte) error {
	f, err := parseNumber(b)
	*v = number(f)
	return err
}

// numbers is an array of them, read and written without reflection.
type numbers []float64

// MarshalJSON implements json.Marshaler.
func (a numbers) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 2+8*len(a))
	b = append(b, '[')
	for i, v := range a {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNumber(b, v)
	}
	return append(b, ']'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *numbers) UnmarshalJSON(b []byte) error {
	b, open := bytes.CutPrefix(b, []byte("["))
	b, closed := bytes.CutSuffix(b, []byte("]"))
	if !open || !closed {
		return fmt.Errorf("column of numbers: %q, want an array", b)
	}
	*a = nil
	if len(bytes.TrimSpace(b)) == 0 {
		return nil
	}
	*a = make(numbers, 0, bytes.Count(b, []byte(","))+1)
	for field := range bytes.SplitSeq(b, []byte(",")) {
		v, err := parseNumber(bytes.TrimSpace(field))
		if err != nil {
			return err
		}
		*a = append(*a, v)
	}
	return nil
}

func appendNumber(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

func parseNumber(b []byte) (float64, error) {
	if string(b) == "null" {
		return math.NaN(), nil
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return 0, fmt.Errorf("number: %q, want a decimal or null", b)
	}
	return v, nil
}

var (
	_ json.Marshaler   = number(0)
	_ json.Unmarshaler = (*number)(nil)
	_ json.Marshaler   = numbers(nil)
	_ json.Unmarshaler = (*numbers)(nil)
)
