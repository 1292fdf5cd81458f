package clock

import (
	"sync"
	"time"
)

// Every calls f again and again, a duration apart, in a goroutine of its own. When stop returns, f does not
// run and is not called any more.
func Every(d time.Duration, f func()) (stop func()) {
	done := make(chan struct{})
	var caller sync.WaitGroup
	caller.Go(func() {
		tick := time.NewTicker(d)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				f()
			}
		}
	})
	return func() { close(done); caller.Wait() }
}
