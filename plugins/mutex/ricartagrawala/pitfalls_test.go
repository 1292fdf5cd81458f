package ricartagrawala_test

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestRestart is pitfall P28: 2 crashes and comes back while 3 is inside. It has seen
// no number, and yet its request does not come before that of 3.
func TestRestart(t *testing.T) {
	t.Parallel()
	o := algotest.RunRestartInside(t, id, 2)
	last := o.Operations[len(o.Operations)-1]
	if o.Status != trace.OK || o.Completed != 5 || last.Process != 2 || last.End <= 120*time.Millisecond {
		t.Errorf("%s: %s, entries %v; want those of 1, 2, 3, 3, and of 2 when 3 has left",
			o.Status, o.Reason, o.Operations)
	}
}
