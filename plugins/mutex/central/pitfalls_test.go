package central_test

import (
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestRestart is pitfall P28: the coordinator crashes and comes back while 3 is inside.
// It does not know that, and lets nobody in.
func TestRestart(t *testing.T) {
	t.Parallel()
	o := algotest.RunRestartInside(t, id, 1)
	if o.Status != trace.TimedOut || o.Completed != 4 || o.Operations[3].Process != 3 {
		t.Errorf("%s: %s, entries %v; want those of 1, 2, 3 and 3, and no more",
			o.Status, o.Reason, o.Operations)
	}
}
