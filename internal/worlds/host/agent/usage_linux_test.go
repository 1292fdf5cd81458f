package agent

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/worlds/host/control"
)

// TestUsage: what a node used before its process started does not count; a node that was
// killed has no reading at its end, but the system has; and one that never started is nothing.
func TestUsage(t *testing.T) {
	t.Parallel()
	s := proc.NewSpawner()
	defer func() { _ = s.Close() }()
	child, err := s.Start(proc.Command{Path: "/bin/sh", Args: []string{"-c", "i=0; while [ $i -lt 9999 ]; do i=$((i+1)); done"}})
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	life := child.Usage()
	if life.CPU <= 0 || life.Voluntary+life.Involuntary == 0 {
		t.Fatalf("its whole life: %+v", life)
	}
	before := proc.Usage{CPU: life.CPU / 3, Voluntary: life.Voluntary / 2}
	for name, test := range map[string]struct{ before, after, want proc.Usage }{
		"told to stop": {proc.Usage{CPU: 3 * time.Millisecond, Voluntary: 5, Involuntary: 1},
			proc.Usage{CPU: 10 * time.Millisecond, Voluntary: 9, Involuntary: 1},
			proc.Usage{CPU: 7 * time.Millisecond, Voluntary: 4}},
		"killed": {before, proc.Usage{}, proc.Usage{CPU: life.CPU - before.CPU,
			Voluntary: life.Voluntary - before.Voluntary, Involuntary: life.Involuntary}},
		"never started": {proc.Usage{}, proc.Usage{}, proc.Usage{}},
		"nonsense":      {proc.Usage{CPU: life.CPU + 1}, proc.Usage{}, proc.Usage{}},
	} {
		l, w := sharing(t, 1)
		for word, u := range map[int]proc.Usage{control.WordBefore: test.before, control.WordAfter: test.after} {
			w[0].Word(word).Store(uint64(u.CPU))
			w[0].Word(word + 1).Store(u.Voluntary)
			w[0].Word(word + 2).Store(u.Involuntary)
		}
		n := l.session.nodes[0]
		n.life = alone{child}
		if got := n.usage(n.reader.Load()); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}
