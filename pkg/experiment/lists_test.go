package experiment

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
)

// Each list holds so many items, and one more is told as what it is.
func TestListsAreBounded(t *testing.T) {
	t.Parallel()
	for _, list := range []struct {
		text, item, things string
		most               int
	}{
		{"algorithms: [%s]\n", "bully", "algorithms", 1000},
		{"algorithms: [bully]\nthresholds: [%s]\n", "{metric: downtime_ms, max: 5}", "thresholds", 1000},
		{"algorithms: [bully]\nsweep: [%s]\n", "{vary: nodes, over: [3]}", "dimensions", 64},
	} {
		for n, want := range map[int]bool{list.most: false, list.most + 1: true} {
			items := strings.Repeat(list.item+", ", n-1) + list.item
			_, err := Load(write(t, "x.yaml", "problem: election\n"+fmt.Sprintf(list.text, items)), Overrides{})
			said := fmt.Sprintf("%d %s, expected at most %d", list.most+1, list.things, list.most)
			if got := err != nil && strings.Contains(err.Error(), said); got != want {
				t.Errorf("%d %s: %.200v", n, list.things, err)
			}
		}
	}
}

// A plain number of repetitions is a fixed one: nothing is decided before the last.
func TestPlainRepetitions(t *testing.T) {
	t.Parallel()
	e := mustLoad(t, write(t, "x.yaml", "problem: election\nalgorithms: [bully]\nrepetitions: 7\n"))
	if e.Repetitions != 7 || e.Fewest != 7 || e.Until != nil {
		t.Errorf("%d repetitions, %d at least, until %+v", e.Repetitions, e.Fewest, e.Until)
	}
}

func TestThresholds(t *testing.T) {
	t.Parallel()
	e := mustLoad(t, write(t, "x.yaml", `
problem: election
algorithms: [bully, ring-list]
thresholds:
  - {metric: downtime_agreed_ms, stat: p95, over: operations, min: 250us, max: 1.5s}
  - {metric: split_brain_ms, min: -3}
  - {metric: message_delays, stat: max, max: 9, min: 9, where: {algorithm: ring-list, nodes: 5}}
`))
	v := func(x float64) *float64 { return &x }
	want := []Threshold{
		{Metric: "downtime_agreed_ms", Stat: "p95", Over: OverOperations, Min: v(0.25), Max: v(1500)},
		{Metric: "split_brain_ms", Stat: "mean", Over: "trials", Min: v(-3)},
		{Metric: "message_delays", Stat: "max", Over: "trials", Max: v(9), Min: v(9),
			Where: []metric.Field{{Name: "algorithm", Value: "ring-list"}, {Name: "nodes", Value: "5"}}},
	}
	if !reflect.DeepEqual(e.Thresholds, want) {
		t.Errorf("%v, want %v", e.Thresholds, want)
	}
	if got := e.Thresholds[0].String(); got != "p95 of downtime_agreed_ms over operations at most 1500 and at least 0.25" {
		t.Errorf("in words: %s", got)
	}
	again := mustLoad(t, write(t, "resolved.yaml", string(must(e.Resolved()))))
	if !reflect.DeepEqual(again.Thresholds, want) {
		t.Errorf("in the resolved copy: %v, want %v", again.Thresholds, want)
	}
}
