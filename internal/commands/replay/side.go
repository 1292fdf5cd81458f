package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/report/diagram"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Side is a trial, as "bench replay --json" has it, to be compared with another.
type Side struct {
	Name       string            `json:"-"`
	Design     map[string]string `json:"design"`
	Status     trace.Status      `json:"status"`
	Reason     string            `json:"reason"`
	DurationMS float64           `json:"duration_ms"`
	Messages   int64             `json:"messages"`
	Metrics    Figures           `json:"metrics"`
	Events     []diagram.Event   `json:"events"`
	Note       string            `json:"-"` // what is not known of it; "": nothing
}

// Figures are metrics by name; nil: the trial has none of that name.
type Figures map[string]*float64

// UnmarshalJSON reads the rows of a table, and the block that earlier versions wrote.
func (f *Figures) UnmarshalJSON(text []byte) error {
	var rows []struct {
		Metric string   `json:"metric"`
		Value  *float64 `json:"value"`
	}
	if json.Unmarshal(text, &rows) != nil {
		return json.Unmarshal(text, (*map[string]*float64)(f))
	}
	*f = Figures{}
	for _, row := range rows {
		(*f)[row.Metric] = row.Value
	}
	return nil
}

// Figure is a metric of a trial; nil: it has none.
func (s *Side) Figure(name string) *float64 {
	switch name {
	case metric.Messages.Name:
		v := float64(s.Messages)
		return &v
	case metric.Duration.Name:
		return &s.DurationMS
	}
	return s.Metrics[name]
}

// Folder is a trial of a run: that of its trace, which another build may have written, or simulated
// again.
func Folder(path string, number int, again Again) (*Side, error) {
	t, err := recordedTrial(path, number)
	if err != nil {
		return nil, err
	}
	if !t.Of.Virtual() {
		return nil, answer.Mistaken("%s ran on real nodes, which never repeat exactly; bench diff is for "+
			"simulations", path)
	}
	if err := unrepeatable(t.Of, path); err != nil {
		return nil, err
	}
	old, err := t.latest()
	if err != nil {
		return nil, err
	}
	r := &Replay{Trial: t, Recorded: old}
	kept, err := results.ReadTrace(t.dir, number)
	if err == nil && old != nil {
		r.Rerun, r.kinds = &Rerun{Records: kept.Records}, kept.Kinds
		r.Verdict.Status, r.Verdict.Reason, r.Verdict.Metrics = old.Status, old.Reason, old.Metrics()
		out, err := r.side(path)
		out.DurationMS, out.Messages = old.Value(metric.Duration), old.Count(metric.Messages)
		return out, err
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	out, err := r.simulated(path, again)
	if err == nil && old != nil {
		if differs := r.Differences(); len(differs) > 0 {
			return nil, fmt.Errorf("trial %d differs from the record in %s: %s; another build ran it: give "+
				"both builds, as bench diff OLD NEW %s --trial %d", number, t.dir,
				strings.Join(differs, "; "),
				program.Quote(path), number)
		}
	}
	return out, err
}

// Simulated is a trial that is simulated now.
func Simulated(name string, t *Trial, again Again) (*Side, error) {
	return (&Replay{Trial: t}).simulated(name, again)
}

func (r *Replay) simulated(name string, again Again) (*Side, error) {
	setup, err := r.Plan.Setup()
	if err != nil {
		return nil, err
	}
	if r.Rerun, err = again(r.Of, r.Trial.Trial); err != nil {
		return nil, err
	}
	r.kinds = setup.Alg.Codec.Kinds()
	return r.side(name)
}

// side is the trial with its events, and with what messages hold if that is certain.
func (r *Replay) side(name string) (*Side, error) {
	out := &Side{Name: name, Design: metric.ByName(r.Design().Design), Status: r.Verdict.Status,
		Reason: r.Verdict.Reason, DurationMS: float64(r.End.At) / 1e6, Messages: r.Verdict.Totals.Sent,
		Metrics: Figures{}}
	for _, m := range r.Verdict.Metrics {
		if out.Metrics[m.Name] = nil; !math.IsNaN(m.Value) && !math.IsInf(m.Value, 0) {
			out.Metrics[m.Name] = &m.Value
		}
	}
	setup, err := r.Plan.Setup()
	if err != nil {
		return out, err
	}
	if setup.Nodes*len(r.Records) <= mostStates {
		if err := r.tell(setup); err != nil {
			return out, err
		}
		if r.doubt != "" {
			r.details = nil
		}
	}
	if r.details == nil {
		out.Note = name + ": the content of messages is not known, and not compared"
	}
	out.Events = diagram.Events(r.Records, r.kinds, r.details)
	return out, nil
}
