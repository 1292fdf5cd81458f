package clock

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestEvery: it calls again and again, and not once more after stop.
func TestEvery(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	third := make(chan struct{})
	stop := Every(time.Millisecond, func() {
		if calls.Add(1) == 3 {
			close(third)
		}
	})
	<-third
	stop()
	before := calls.Load()
	time.Sleep(20 * time.Millisecond)
	if after := calls.Load(); after != before {
		t.Errorf("%d calls after stop", after-before)
	}
}
