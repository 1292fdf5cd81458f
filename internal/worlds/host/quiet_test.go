package host

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
)

// TestCameDue: what comes due while the host looks at the nodes is not to be taken for done.
func TestCameDue(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	own := harness.Instruction{At: 5 * ms, Do: harness.DoRequest, Node: 1}
	crash := harness.Instruction{At: 8 * ms, Do: harness.DoCrash, Node: 2}
	x := &trial{timeline: []harness.Instruction{own, crash}}
	x.queue.Push(crash.At, harness.ClassOf(&crash), crash.Node, crash)
	for _, test := range []struct {
		after, now time.Duration
		want       bool
	}{
		{4 * ms, 5*ms - 1, false},
		{4 * ms, 5 * ms, true},
		{5 * ms, 6 * ms, false}, // the looks began with it
		{6 * ms, 8*ms - 1, false},
		{7 * ms, 8 * ms, true},
		{8 * ms, 9 * ms, true}, // it waits to be carried out
	} {
		if got := x.cameDue(test.after, test.now); got != test.want {
			t.Errorf("from %v to %v: %t", test.after, test.now, got)
		}
	}
}
