package results

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/metric"
)

// A batch is attempts on their way from a worker. The names of figures stand once.
type batch struct {
	Names  []string
	Trials []carried
}

// A carried attempt is one with its figures, by the index of their names.
type carried struct {
	Trial  Trial
	Of     []int
	Values []float64
	Unseen bool
}

// EncodeTrials is attempts in a form that is fast to read, for the way between programs of one build. They
// lose their design, which follows from their cell.
func EncodeTrials(trials []Trial) ([]byte, error) {
	var all batch
	index := map[string]int{}
	for i := range trials {
		one := carried{Trial: trials[i], Unseen: trials[i].Unseen}
		one.Trial.Design = nil
		add := func(v metric.Value) {
			at, known := index[v.Name]
			if !known {
				at, all.Names = len(all.Names), append(all.Names, v.Name)
				index[v.Name] = at
			}
			one.Of, one.Values = append(one.Of, at), append(one.Values, v.Value)
		}
		for _, m := range fixed {
			v, _ := trials[i].figure(m.Name)
			add(m.Of(v))
		}
		for _, v := range trials[i].Metrics() {
			add(v)
		}
		all.Trials = append(all.Trials, one)
	}
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(&all)
	return b.Bytes(), err
}

// DecodeTrials is the inverse of EncodeTrials. Design gives the design of a cell, nil if there is no such.
func DecodeTrials(data []byte, design func(cell int) Design) ([]Trial, error) {
	var all batch
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&all); err != nil {
		return nil, err
	}
	out := make([]Trial, len(all.Trials))
	for i := range all.Trials {
		one := &all.Trials[i]
		out[i] = one.Trial
		t := &out[i]
		if t.Design = design(t.Cell); t.Design == nil || len(one.Of) != len(one.Values) ||
			slices.ContainsFunc(one.Of, func(at int) bool { return at < 0 || at >= len(all.Names) }) {
			return nil, fmt.Errorf("trial %d is of no cell of this run, or damaged", t.Trial)
		}
		t.Round, t.Unseen = max(t.Round, 1), one.Unseen
		t.own = make([]metric.Value, len(one.Of))
		for k, at := range one.Of {
			t.own[k] = metric.Value{Name: all.Names[at], Value: one.Values[k]}
		}
	}
	return out, nil
}
