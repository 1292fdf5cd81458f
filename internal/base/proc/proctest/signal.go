package proctest

import (
	"os"
	"os/signal"
)

// OnSignal has this process call do whenever it gets the signal s. The goroutine that waits for it is
// this package's: a plugin that the test's package declares must have none of its own.
func OnSignal(s os.Signal, do func()) {
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, s)
	go func() {
		for range arrived {
			do()
		}
	}()
}
