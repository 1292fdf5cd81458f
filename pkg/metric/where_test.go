package metric

import (
	"testing"
)

// TestCovers: all the values of where are those of the cell; only an algorithm has a short
// name, and numbers are equal however they are written.
func TestCovers(t *testing.T) {
	t.Parallel()
	of := func(pairs ...string) (out Where) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, Field{pairs[i], pairs[i+1]})
		}
		return out
	}
	design := of("algorithm", "election/raft", "label", "mine/raft", "label", "7", "nodes", "5", "loss", "0.1")
	for _, tt := range []struct {
		where Where
		want  bool
	}{
		{nil, true},
		{of("algorithm", "raft"), true},
		{of("algorithm", "election/raft", "nodes", "5"), true},
		{of("algorithm", "raft", "nodes", "3"), false},
		{of("algorithm", "aft"), false},
		{of("label", "raft"), false},
		{of("label", "7"), true},
		{of("label", "7.0"), false},
		{of("speed", "5"), false},
		{of("loss", "0.10", "nodes", "5.0"), true},
		{of("loss", "0.01"), false},
	} {
		if got := tt.where.Covers(design); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.where, got, tt.want)
		}
	}
}

// TestCheck: a column that no cell has is a mistake, and a value that it cannot have; a declared value
// that no cell has is none.
func TestCheck(t *testing.T) {
	t.Parallel()
	columns := ColumnsOf([]Field{{"algorithm", "election/raft"}, {"label", "raft"}, {"nodes", "3"}, {"transport", "sim"}},
		[]Field{{"algorithm", "election/bully"}, {"label", "bully"}, {"nodes", "3"}, {"transport", "sim"}})
	columns[3].Declared = []string{"nats", "sim"}
	for text, want := range map[string]string{
		"nodes=3.0": "", "algorithm=raft": "", "algorithm=election/raft": "", "transport=nats": "", "label=bully": "",
		"node=3":               `unknown column "node"; did you mean "nodes"? (has: algorithm, label, nodes, transport)`,
		"nodes=4":              `unknown value of nodes "4" (has: 3)`,
		"label=bullly":         `unknown value of label "bullly"; did you mean "bully"? (has: raft, bully)`,
		"algorithm=raf":        `unknown value of algorithm "raf"; did you mean "raft"? (has: election/raft, election/bully)`,
		"algorithm=mutex/raft": `unknown value of algorithm "mutex/raft" (has: election/raft, election/bully)`,
		"transport=natz":       `unknown value of transport "natz"; did you mean "nats"? (has: sim)`,
	} {
		f, _ := ReadField(text)
		got := ""
		if err := (Where{f}).Check(columns); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
