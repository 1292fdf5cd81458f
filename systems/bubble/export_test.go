package bubble

import (
	"sync/atomic"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// RunReal runs a trial of a library outside of every bubble, in real time.
func RunReal(setup *harness.Setup, sink trace.Sink) harness.End {
	l, err := lookup(setup.Algorithm)
	if err != nil {
		panic(err)
	}
	var beat atomic.Uint64
	return newWorld(setup, sink, l, &beat).run()
}
