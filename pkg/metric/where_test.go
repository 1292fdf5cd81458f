package metric

import (
	"testing"
)

// TestCovers: all the values of where are those of the cell; only an algorithm has a short
// name, and numbers are equal however they are written.
func TestCovers(t *testing.T) {
	t.Parallel()
	of := func(pairs ...string) (out []Field) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, Field{pairs[i], pairs[i+1]})
		}
		return out
	}
	design := of("algorithm", "election/raft", "label", "mine/raft", "nodes", "5", "loss", "0.1")
	for _, tt := range []struct {
		where []Field
		want  bool
	}{
		{nil, true},
		{of("algorithm", "raft"), true},
		{of("algorithm", "election/raft", "nodes", "5"), true},
		{of("algorithm", "raft", "nodes", "3"), false},
		{of("algorithm", "aft"), false},
		{of("label", "raft"), false},
		{of("speed", "5"), false},
		{of("loss", "0.10", "nodes", "5.0"), true},
		{of("loss", "0.01"), false},
	} {
		if got := Covers(tt.where, design); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.where, got, tt.want)
		}
	}
}
