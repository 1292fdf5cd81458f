package view

import (
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

func of(pairs ...string) (out []metric.Field) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, metric.Field{Name: pairs[i], Value: pairs[i+1]})
	}
	return out
}

// TestNames: a cell is called by what tells it apart; what follows from the label does not.
func TestNames(t *testing.T) {
	t.Parallel()
	designs := [][]metric.Field{
		of("algorithm", "election/bully", "label", "bully", "nodes", "3", "topology", "complete"),
		of("algorithm", "election/bully", "label", "bully", "nodes", "5", "topology", "complete"),
		of("algorithm", "election/lcr", "label", "lcr", "nodes", "3", "topology", "ring"),
	}
	columns := []string{"algorithm", "label", "nodes", "topology"}
	if got := Varying(designs); !slices.Equal(got, []string{"nodes"}) {
		t.Errorf("varying: %v", got)
	}
	for _, tt := range []struct {
		designs [][]metric.Field
		columns []string
		want    string
	}{
		{designs, columns, "bully, nodes=3"},
		{designs[:2], columns, "nodes=3"},
		{designs[:1], columns, "bully"},
		{designs, []string{"algorithm", "nodes"}, "election/bully, nodes=3"},
	} {
		if got := Name(designs[0], Telling(tt.designs, tt.columns)); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.columns, got, tt.want)
		}
	}
	if got := Path(designs[1], []string{"nodes"}); got != "bully/nodes=5" {
		t.Error(got)
	}
	if got := Path(of("nodes", "3"), nil); got != "all" {
		t.Error(got)
	}
}

// TestFilter: trials are chosen by the columns of their cells and by their machine.
func TestFilter(t *testing.T) {
	t.Parallel()
	table := &results.Table{Design: []string{"algorithm", "nodes"}, Trials: []results.Trial{
		{Trial: 1, Design: of("algorithm", "election/raft", "nodes", "3"), Host: "a"},
		{Trial: 2, Design: of("algorithm", "election/raft", "nodes", "5"), Host: "b"},
	}}
	for text, want := range map[string]int{"nodes=3.0": 1, "algorithm=raft": 2, "host=b": 1, "transport=nats": 2, "nodes=4": 0} {
		where, err := ReadWhere([]string{text})
		if got := Filter(table, where); err != nil || len(got.Trials) != want {
			t.Errorf("%s: %d trials, %v, want %d", text, len(got.Trials), err, want)
		}
	}
	for text, right := range map[string]bool{"host=b": true, "host=c": false, "nodes=4": false, "node=3": false} {
		where, _ := ReadWhere([]string{text})
		if err := where.Check(Columns(table)); (err == nil) != right {
			t.Errorf("%s: %v", text, err)
		}
	}
}
