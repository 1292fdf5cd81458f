package node

import (
	"runtime"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/internal/worlds/host/control"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// handling is the time that the algorithm takes for its events. It is processor time: if the
// machine takes the processor away from a handler, that is the machine's lateness, and none of
// the algorithm's.
type handling struct {
	watch *clock.Stopwatch
	total time.Duration
	// goroutines is how many there were before the present event.
	goroutines int
	// last is when the node last handled an event for longer than brief.
	last stretch
	// ideal is the last time without a gap in which it would do so on a machine that runs
	// everything the moment it is due.
	ideal stretch
}

// A stretch is a time without a gap.
type stretch struct{ from, to time.Duration }

// overlap is how much of the stretch lies in another.
func (s stretch) overlap(with stretch) time.Duration {
	return max(min(s.to, with.to)-max(s.from, with.from), 0)
}

// brief is what an event may take without a record. The latencies of what it sends hide so
// little, and an idle machine's own noise is as much.
const brief = 50 * time.Microsecond

// Handling begins to measure.
func (n *node) Handling(*harness.Process) {
	n.tele.Word(control.WordInHandler).Store(1)
	n.handling.goroutines = runtime.NumGoroutine()
	n.handling.watch.Start()
}

// Handled moves the present event on by what its handler took.
func (n *node) Handled(m *harness.Process, _ time.Duration) time.Duration {
	took := n.handling.watch.Stop()
	n.tele.Word(control.WordInHandler).Store(0)
	n.handling.total += took
	n.tele.Word(control.WordHandled).Store(uint64(n.handling.total))
	n.inspect(m, took)
	if took < brief {
		return n.now
	}
	took = min(took, max(n.clock()-n.now, 0))
	n.handling.add(n.now, n.lag, took)
	n.now += took
	n.due = n.now
	n.record = trace.Record{
		At: n.now, Due: n.now, Sent: n.lag, Type: trace.Handled, Process: uint32(m.ID),
		Incarnation: m.Incarnation, Arg: uint64(took),
	}
	n.writeRecord(&n.record)
	n.reportWatched(&n.record)
	return n.now
}

// inspect looks for what the algorithm has left behind in the present event. What it then does to the
// machine is not to be taken for the machine's own.
func (n *node) inspect(m *harness.Process, took time.Duration) {
	var err error
	if runtime.NumGoroutine() > n.handling.goroutines {
		err = guard.Strays(m.Plugin())
	}
	if err == nil && took > time.Millisecond && !n.shared() && n.life == nil { // a client opens what it likes
		err = n.leftOpen()
	}
	if n.broken == nil {
		n.broken = err
	}
}

// leftOpen says whether the plugin has left many files open. Over a wire the node has connections to and
// from all others.
func (n *node) leftOpen() error {
	connections := 0
	if n.Mesh != nil {
		connections = 2 * n.setup.Nodes
	}
	return guard.Files(connections)
}

// add takes in an event that happened at now, lagged by so much, and was handled for so long.
func (h *handling) add(now, lag, took time.Duration) {
	h.last = stretch{now, now + took}
	from := now - lag
	if from < h.ideal.from || from > h.ideal.to {
		h.ideal.from = from
	}
	h.ideal.to = from + took
}

// lag is how much earlier an event that happens at now could have happened on a machine that runs
// everything the moment it is due. It was due then, and follows from an event with such a lag. It
// waits for the algorithm on that machine, too.
func (h *handling) lag(now, due, before time.Duration) time.Duration {
	could := due - before
	if could >= h.ideal.from && could < h.ideal.to {
		could = h.ideal.to
	}
	return max(max(now, due)-could, 0)
}
